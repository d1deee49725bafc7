//! Log messages and the expressions in them.

/// A part of a log message.
pub(super) enum Piece<'a> {
    Text(&'a str),
    /// What is between `{` and `}`.
    Expression(&'a str),
}

/// The parts of a log message; `end` finds in what is behind a `{` where its expression ends.
pub(super) fn pieces<'a>(
    message: &'a str,
    end: impl Fn(&'a str) -> Option<usize>,
) -> Vec<Piece<'a>> {
    let (mut pieces, mut rest) = (Vec::new(), message);
    while let Some((text, behind)) = rest.split_once('{')
        && let Some(end) = end(behind)
    {
        pieces.extend([Piece::Text(text), Piece::Expression(&behind[..end])]);
        rest = &behind[end + 1..];
    }
    pieces.push(Piece::Text(rest));
    pieces
}

/// A log message with `unset` in the place of expressions of which `reads_unset` is true.
pub(super) fn with_unset(
    pieces: Vec<Piece<'_>>,
    unset: &str,
    reads_unset: impl Fn(&str) -> bool,
) -> String {
    let written = pieces.into_iter().map(|piece| match piece {
        Piece::Text(text) => text.to_owned(),
        Piece::Expression(expression) if reads_unset(expression) => unset.to_owned(),
        Piece::Expression(expression) => format!("{{{expression}}}"),
    });
    written.collect()
}
