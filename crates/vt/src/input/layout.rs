//! What Shift and Ctrl make of a character.
//!
//! A caller names characters, not the keys of some layout, so a layout is needed only where Shift
//! is asked for explicitly (`Shift+1`): it is the US one, as in the kitty specification.

/// The character that Shift makes of this one; itself when Shift changes nothing.
pub(super) fn shifted(character: char) -> char {
    const PLAIN: &str = "`1234567890-=[]\\;',./";
    const SHIFTED: &str = "~!@#$%^&*()_+{}|:\"<>?";
    if let Some(at) = PLAIN.find(character) {
        return char::from(SHIFTED.as_bytes()[at]);
    }
    single(character.to_uppercase()).unwrap_or(character)
}

/// The key below an upper-case letter; `None` for any other character.
///
/// Symbols are keys of their own: on which key `!` sits depends on a layout nobody chose.
pub(super) fn unshifted(character: char) -> Option<char> {
    let lower = single(character.to_lowercase())?;
    (lower != character && shifted(lower) == character).then_some(lower)
}

/// The control character that Ctrl makes of this one, as Xlib and xterm map it.
pub(super) fn control(character: char) -> Option<u8> {
    Some(match character {
        ' ' | '2' => 0,
        '@'..='~' => character as u8 & 0x1f,
        '3'..='7' => character as u8 - b'3' + 0x1b,
        '/' => 0x1f,
        '8' | '?' => 0x7f,
        _ => return None,
    })
}

fn single(mut mapped: impl Iterator<Item = char>) -> Option<char> {
    let first = mapped.next()?;
    mapped.next().is_none().then_some(first)
}
