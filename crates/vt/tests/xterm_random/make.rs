//! Helpers that make pieces.

use std::ops::RangeInclusive;

use termbridge_vt::Size;

use crate::random::Random;
use crate::stream::Body;

/// Printable ASCII, with more letters than signs. Without `_`, which is a blank among line drawing characters, but not in
/// xterm.js.
pub(crate) const ASCII: &str = "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789abcdefghijklmnopqrstuvwxyz  .,;:!#$%&'()*+-/<=>?@[]^`{|}~\\\"";

/// Text of so many characters.
pub(crate) fn text(random: &mut Random, length: RangeInclusive<usize>, alphabet: &str) -> Body {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let length = random.within(length);
    Body::Text((0..length).map(|_| *random.pick(&alphabet)).collect())
}

/// Characters with marks behind them.
pub(crate) fn marked(random: &mut Random, bases: &str, marks: &str) -> Body {
    let [bases, marks] = [bases, marks].map(|text| text.chars().collect::<Vec<char>>());
    let mut text = Vec::new();
    for _ in 0..random.within(1..=4) {
        text.push(*random.pick(&bases));
        text.extend((0..random.below(3)).map(|_| *random.pick(&marks)));
    }
    Body::Text(text)
}

/// Bytes that never change.
pub(crate) fn fixed(bytes: &str) -> Body {
    Body::Fixed(bytes.as_bytes().to_vec())
}

/// One of these.
pub(crate) fn pick(random: &mut Random, choices: &[&str]) -> Body {
    let choice = random.pick(choices);
    fixed(choice)
}

/// A control sequence. A single parameter that is empty is none.
pub(crate) fn csi(parameters: Vec<String>, end: &'static str) -> Body {
    Body::Sequence { start: "\x1b[", parameters, end }
}

/// What moves the cursor by one column, so that no wrap is pending: see [`crate::pieces`].
pub(crate) const FORWARD: &str = "\x1b[C\x1b[";

/// A control sequence behind a move by one column.
pub(crate) fn anchored(parameters: Vec<String>, end: &'static str) -> Body {
    Body::Sequence { start: FORWARD, parameters, end }
}

/// A mode, set or reset.
pub(crate) fn switch(random: &mut Random, mode: &str) -> Body {
    fixed(&format!("{mode}{}", if random.one_in(2) { 'l' } else { 'h' }))
}

/// What saves the cursor, a move and a character in a colour, and what restores the cursor. No wrap is pending before, and
/// nothing scrolls: xterm.js saves no pending wrap, and its saved row moves with the text.
pub(crate) fn saved(random: &mut Random, size: Size, pairs: &[(&str, &str)]) -> Body {
    let (save, restore) = *random.pick(pairs);
    let (row, column) = (row(random, size), column(random, size));
    let color = random.within(30..=47);
    fixed(&format!("\x1b[C{save}\x1b[{row};{column}H\x1b[{color}mx{restore}"))
}

/// Bytes that are no UTF-8: cut, overlong, surrogates, too large, lone continuations.
pub(crate) fn bytes(random: &mut Random) -> Body {
    const CHOICES: &[&[u8]] = &[
        b"\xe6",
        b"\xe6\xbc",
        b"\xf0\x9f\x99",
        b"\xf0\x9f",
        b"\xc3",
        b"\x80",
        b"\xbf\xbf",
        b"\xc0\xaf",
        b"\xe0\x80\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xff",
        b"\xfe\xfe",
        b"\xe6\xbcx",
        b"\xf0\x9f\xe6\xbc\xa2",
        b"\xc3\xc3\xa9",
    ];
    // The end of a stream is not known: what is cut there waits.
    Body::Fixed([*random.pick(CHOICES), b"x"].concat())
}

/// A number that is mostly of `usual`, sometimes missing or 0, rarely one of `odd`.
fn number(random: &mut Random, usual: usize, odd: &[&str]) -> String {
    match random.below(24) {
        0..=2 => String::new(),
        3 => "0".to_owned(),
        4 => (*random.pick(odd)).to_owned(),
        _ => random.within(1..=usual).to_string(),
    }
}

const LARGE: &[&str] =
    &["99", "999", "32768", "65536", "65537", "2147483648", "99999999999999999999"];

/// The number of a row, or of rows.
pub(crate) fn row(random: &mut Random, size: Size) -> String {
    number(random, usize::from(size.rows) + 1, LARGE)
}

/// The number of a column, or of columns.
pub(crate) fn column(random: &mut Random, size: Size) -> String {
    number(random, usize::from(size.cols) + 1, LARGE)
}

/// A number of lines; xterm.js would take minutes for a large one.
pub(crate) fn lines(random: &mut Random, size: Size) -> String {
    number(random, usize::from(size.rows) + 1, &["99", "999"])
}

/// A small number.
pub(crate) fn few(random: &mut Random) -> String {
    number(random, 6, &["99"])
}

/// SGR 1–9 and 22–29.
pub(crate) fn attributes(random: &mut Random) -> Body {
    const CODES: [u8; 16] = [1, 2, 3, 4, 5, 7, 8, 9, 22, 23, 24, 25, 27, 28, 29, 0];
    let codes: Vec<String> =
        (0..random.within(1..=3)).map(|_| random.pick(&CODES).to_string()).collect();
    fixed(&format!("\x1b[{}m", codes.join(";")))
}

/// The 16 named colours.
pub(crate) fn colors(random: &mut Random) -> Body {
    let mut color = || random.pick(&[30, 40, 90, 100]) + random.below(8);
    let (one, other) = (color(), color());
    let reset = *random.pick(&["", ";39", ";49"]);
    fixed(&format!("\x1b[{one};{other}{reset}m"))
}

/// A colour of the palette.
pub(crate) fn indexed(random: &mut Random) -> Body {
    let ground = *random.pick(&[38, 48]);
    fixed(&format!("\x1b[{ground};5;{}m", random.below(256)))
}

/// A colour of three components.
pub(crate) fn rgb(random: &mut Random) -> Body {
    let [r, g, b] = [(); 3].map(|()| random.below(256));
    let ground = *random.pick(&[38, 48]);
    fixed(&format!("\x1b[{ground};2;{r};{g};{b}m"))
}
