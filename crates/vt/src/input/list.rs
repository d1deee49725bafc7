//! Keys separated by blanks: `C-x C-s`, `Down Down Enter`.
//!
//! A name in a list of keys counts in any case. Beside words that are text, only what is plainly
//! meant as a key makes a mixture: a name with a capital, or a chord with `+`. So `ls Enter` is
//! refused, while `docker compose up` and `grep ^a file` are text. With keys in brackets everything else
//! is text, unless it begins with a chord.

use super::chord::whole;
use super::error::KeyError;
use super::key::{Key, KeyPress, Modifiers};

/// Longest input that an error repeats, in bytes.
const MAX_SHOWN: usize = 120;

/// The keys of a list; `None` when the input is text.
pub(super) fn parse_list(input: &str) -> Result<Option<Vec<KeyPress>>, KeyError> {
    let mut presses = Vec::new();
    let (mut named, mut plainly_named, mut text) = (false, false, false);
    let mut unknown = None;
    for piece in input.split_inclusive(BLANKS) {
        let word = word_of(piece);
        let is_name = word.chars().nth(1).is_some();
        match whole(word) {
            _ if word.is_empty() => {}
            Ok(None) => text = true,
            Ok(Some(press)) => {
                named |= is_name;
                plainly_named |= is_name && is_plainly_key(word);
                presses.push(press);
            }
            Err(error) => {
                named = true;
                plainly_named |= is_plainly_key(word);
                unknown.get_or_insert(error);
            }
        }
        presses.extend(control(piece));
    }
    match (named, text, unknown) {
        (true, true, _) if plainly_named => Err(mixture(input)),
        (false, ..) | (_, true, _) => Ok(None),
        (true, false, Some(error)) => Err(error),
        (true, false, None) => Ok(Some(presses)),
    }
}

/// Refuses text with `<Name>` in it that begins with a chord outside brackets, such as
/// `M-x goto-line<Enter>`: typed as it stands it would never be what was meant.
pub(super) fn refuse_leading_chord(input: &str) -> Result<(), KeyError> {
    let first = input.split(BLANKS).next().unwrap_or_default();
    let (word, _) = split_bracket(first);
    let modifiers = Modifiers::CTRL | Modifiers::ALT;
    let is_chord = |press: KeyPress| press.modifiers.intersects(modifiers);
    // A caret begins a pattern as often as a chord.
    match whole(word) {
        Ok(Some(press)) if is_chord(press) && !word.starts_with('^') => Err(mixture(input)),
        _ => Ok(()),
    }
}

/// A word, and what begins with a bracket behind it.
fn split_bracket(word: &str) -> (&str, &str) {
    word.split_at(word.find('<').filter(|at| *at > 0).unwrap_or(word.len()))
}

/// What separates keys; a line feed and a tab are keys themselves.
const BLANKS: [char; 3] = [' ', '\t', '\n'];

fn word_of(piece: &str) -> &str {
    let word = piece.trim_end_matches(BLANKS);
    if piece.ends_with('\n') { word.trim_end_matches('\r') } else { word }
}

fn control(piece: &str) -> Option<KeyPress> {
    match piece.as_bytes().last() {
        Some(b'\n') => Some(Key::Enter.into()),
        Some(b'\t') => Some(Key::Tab.into()),
        _ => None,
    }
}

/// A name that nobody writes among words unless a key is meant.
fn is_plainly_key(name: &str) -> bool {
    name.contains(|c: char| c == '+' || c.is_uppercase())
}

/// The error for a mixture, with the same input as text with keys in brackets.
fn mixture(input: &str) -> KeyError {
    let cut = |text: &str| {
        let end = text.floor_char_boundary(MAX_SHOWN);
        if end < text.len() { format!("{}…", &text[..end]) } else { text.to_owned() }
    };
    let mut bracketed = String::new();
    // A blank between two words is text; one beside a key separates.
    let mut after_word = false;
    for word in input.split(' ').filter(|word| !word.is_empty()) {
        let (key, behind) = split_bracket(word.trim_end());
        let name = key.rsplit_once('*').map_or(key, |(name, _)| name);
        let is_key = is_plainly_key(name)
            && name.chars().nth(1).is_some()
            && !matches!(whole(name), Ok(None));
        match (is_key, after_word) {
            (true, _) => bracketed.push_str(&format!("<{key}>{behind}")),
            (false, true) => bracketed.push_str(&format!(" {word}")),
            (false, false) => bracketed.push_str(word),
        }
        after_word = !is_key || !behind.is_empty();
        if bracketed.len() > MAX_SHOWN {
            break;
        }
    }
    KeyError::Mixture { written: cut(input), bracketed: cut(&bracketed) }
}
