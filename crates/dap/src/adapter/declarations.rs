//! Variables that have no value yet, where the source shows this better than the adapter.

use std::collections::BTreeSet;

use crate::protocol::Scope;
use crate::reference::FramePlace;

/// The names that a scope declares.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) all: BTreeSet<String>,
    /// Those whose declaration was not run yet.
    pub(crate) unset: BTreeSet<String>,
}

/// A language's rules.
pub(crate) trait Declarations: Sync {
    /// Reads a source.
    fn read(&self, source: String) -> Box<dyn SourceDeclarations>;

    /// Whether all variables of a frame are in one scope, so that nothing of it has to be known.
    fn has_one_scope(&self) -> bool {
        false
    }

    /// Whether a scope is the last that belongs to the frame itself, and not to a function around it.
    fn is_outermost(&self, scope: &Scope) -> bool;

    /// Whether a variable of a function around the frame may be one without a value, by the type that is shown.
    fn may_be_unset(&self, kind: &str) -> bool;

    /// What asks which of some variables of functions around a frame have a value: the answer has a digit for
    /// each, 0 for those that have none.
    fn set_request(&self, names: &[&str]) -> String;

    /// The names that an expression reads.
    fn names_read<'a>(&self, expression: &'a str) -> Vec<&'a str>;

    /// The variable that an expression assigns and whose value it then is.
    fn assigned<'a>(&self, expression: &'a str) -> Option<&'a str>;

    /// What the language says of a variable that is read too early.
    fn error(&self, name: &str) -> String;
}

/// What a source declares.
pub(crate) trait SourceDeclarations: Send + Sync {
    /// What a scope declares for a frame.
    fn declared(&self, scope: &Scope, place: &FramePlace) -> Declared;

    /// A log message for a line, with `unset` in the place of what reads a variable without a value.
    fn log_message(&self, message: &str, line: u64, unset: &str) -> String;

    /// A condition for a line that fails where it reads a variable without a value.
    fn condition(&self, condition: &str, line: u64) -> String;
}

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

impl Declared {
    pub(crate) fn add(&mut self, names: Vec<&str>, is_unset: bool) {
        for name in names {
            self.all.insert(name.to_owned());
            if is_unset {
                self.unset.insert(name.to_owned());
            }
        }
    }
}
