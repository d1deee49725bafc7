//! One key by its name, or a chord: `Enter`, `Ctrl+C`, `C-x`, `^C`.

use std::str::FromStr;

use super::error::KeyError;
use super::key::{Key, KeyPress, Modifiers};
use super::names::{self, Scope};

/// Longest name, in bytes; anything longer is text.
pub(super) const MAX_NAME: usize = 64;

impl FromStr for KeyPress {
    type Err = KeyError;

    /// Reads one key name or chord, as [`parse_keys`](super::parse_keys) does of a whole string.
    fn from_str(name: &str) -> Result<Self, KeyError> {
        whole(name)?.ok_or_else(|| KeyError::NotAKey {
            name: name.chars().take(MAX_NAME).collect(),
            suggestion: names::nearest_key_name(name),
        })
    }
}

/// The key that a whole string is; `None` when it is text.
pub(super) fn whole(input: &str) -> Result<Option<KeyPress>, KeyError> {
    match single_key(input) {
        Some(press) => Ok(Some(press)),
        None => parse_name(input, Scope::Whole),
    }
}

/// The key that a name or chord stands for; `None` when it is text.
pub(super) fn parse_name(name: &str, scope: Scope) -> Result<Option<KeyPress>, KeyError> {
    if name.len() > MAX_NAME {
        return Ok(None);
    }
    if let Some(press) = caret(name).or_else(|| names::key_named(name, scope)) {
        return Ok(Some(press));
    }
    if let Some((modifiers, key)) = names::split_chord(name, '+', names::modifier_named) {
        if let Some(press) = chord(modifiers, key) {
            return Ok(Some(press));
        }
        let prose = key.contains(|c: char| c == '+' || c.is_whitespace());
        let unfinished = key.is_empty() && scope == Scope::Whole;
        return if prose || unfinished { Ok(None) } else { Err(unknown(name, modifiers, key)) };
    }
    dashed(name, scope)
}

/// A chord written with dashes: `C-x`, `Ctrl-Alt-Delete`.
///
/// As a whole string it is a chord only when its key is known, and only with capital `C`, `M` and
/// `S` or the modifiers that such chords are really written with: prose has dashes. Between
/// brackets every modifier counts, and capitals make an unknown key an error.
fn dashed(name: &str, scope: Scope) -> Result<Option<KeyPress>, KeyError> {
    let modifier = |part: &str| match scope {
        Scope::Whole if part.len() == 1 => {
            matches!(part, "C" | "M" | "S").then(|| names::short_modifier(part)).flatten()
        }
        Scope::Whole => {
            let usual = ["ctrl", "control", "alt", "meta", "shift"];
            let known = usual.iter().any(|word| word.eq_ignore_ascii_case(part));
            known.then(|| names::modifier_named(part)).flatten()
        }
        _ => names::short_modifier(part).or_else(|| names::modifier_named(part)),
    };
    let Some((modifiers, key)) = names::split_chord(name, '-', modifier) else {
        return Ok(None);
    };
    if let Some(press) = chord(modifiers, key) {
        let upper = key.len() == 1 && key.bytes().all(|b| b.is_ascii_uppercase());
        let short = name.as_bytes().get(1) == Some(&b'-');
        let shifts = upper && short && modifiers.contains(Modifiers::ALT);
        let shift = shifts && !modifiers.contains(Modifiers::CTRL);
        let added = if shift { Modifiers::SHIFT } else { Modifiers::empty() };
        return Ok(Some(KeyPress::new(press.key, press.modifiers | added)));
    }
    let written = &name[..name.len() - key.len()];
    let capital = written.split_terminator('-').all(|m| m.starts_with(|c: char| c.is_uppercase()));
    if scope == Scope::Whole || !capital { Ok(None) } else { Err(unknown(name, modifiers, key)) }
}

/// The press of a key by its name, which may be one character, with modifiers.
fn chord(modifiers: Modifiers, key: &str) -> Option<KeyPress> {
    let press = single_key(key).or_else(|| names::key_named(key, Scope::Chord))?;
    Some(KeyPress::new(press.key, press.modifiers | modifiers))
}

/// The key of a string of one character; control characters are text.
fn single_key(text: &str) -> Option<KeyPress> {
    let mut characters = text.chars();
    let character = characters.next().filter(|c| !c.is_control())?;
    characters.next().is_none().then(|| Key::Char(character).into())
}

/// `^C` and its like: a caret and a character between `@` and `_`, or `?`.
fn caret(name: &str) -> Option<KeyPress> {
    let mut characters = name.strip_prefix('^')?.chars();
    let character = characters.next()?;
    let controls = matches!(character.to_ascii_uppercase(), '?'..='_');
    (controls && characters.next().is_none())
        .then(|| KeyPress::new(Key::Char(character), Modifiers::CTRL))
}

fn unknown(written: &str, modifiers: Modifiers, key: &str) -> KeyError {
    let written = written.to_owned();
    if key.is_empty() || names::modifier_named(key).is_some() {
        return KeyError::MissingKey { chord: written };
    }
    // `Ctrl+C<Enter>` is a chord and a key that want brackets both.
    let bracketed = key.split_once('<').filter(|(_, after)| after.ends_with('>'));
    let suggestion =
        match bracketed.and_then(|(first, after)| Some((chord(modifiers, first)?, after))) {
            Some((press, after)) => Some(format!("<{press}><{after}")),
            None => names::nearest_key_name(key).map(|name| format!("{modifiers}{name}")),
        };
    KeyError::UnknownKey { chord: written, key: key.to_owned(), suggestion }
}
