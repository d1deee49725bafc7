//! What a caller wrote, as keys and text.
//!
//! The rules stand at [`parse_keys`]; their aim is that prose with plus signs, dashes and angle
//! brackets passes as it is, and that only what is plainly a chord can be an error.

use super::error::KeyError;
use super::key::{Key, KeyPress, Modifiers};
use super::list;
use super::names::{self, Scope};

/// Longest input that [`parse_keys`] takes, in bytes.
pub const MAX_INPUT_BYTES: usize = 1 << 20;

/// Most items that [`parse_keys`] gives, repeats counted.
pub const MAX_INPUT_ITEMS: usize = 1 << 20;

/// Most times that one `<Name*n>` repeats its key.
pub const MAX_REPEAT: usize = 1000;

/// Longest name, in bytes; anything longer is text.
const MAX_NAME: usize = 64;

/// One step of input.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum InputItem {
    /// Characters, typed one after the other.
    Text(String),
    /// A key.
    Press(KeyPress),
}

/// Reads keys and text.
///
/// A string that is exactly a key name or a chord is that key. With a `<Name>` in it, a string is
/// text in which `<Name>` is a key, `<Name*3>` that key three times, and an unknown `<name>` is
/// itself; one that begins with a chord outside brackets is an error. Any other string is split at blanks: keys if all parts are keys or single characters and
/// at least one is named or a chord, text if none is, and an error if it is a mixture:
///
/// | written | is |
/// | --- | --- |
/// | `Enter`, `ctrl+c`, `C-x`, `Ctrl-C`, `^C`, `a`, `+` | a key |
/// | `C-x C-s`, `Down Down Enter`, `C-b c`, `y Enter` | keys |
/// | `iHello<Escape>:wq<Enter>`, `<C-x><C-s>` | text and keys |
/// | `a+b`, `C-style`, `<div>`, `<c-widget>`, `a b c`, `docker compose up` | text |
/// | `ls Enter`, `Enter name`, `Ctrl+C to stop`, `M-x goto-line<Enter>` | an error: a mixture |
/// | `Ctrl+Nope`, `<Ctrl+Nope>`, `<C-Nope>`, `<Down*0>` | an error |
///
/// Case does not matter in names, nor in a letter after a modifier: `Ctrl+C` and `Alt+X` have no
/// Shift. The exception is `M-X`, which is Alt, Shift and `x`, as in Emacs and Vim.
///
/// A line feed in text is Enter, as is CR LF, and a tab is Tab; other control characters stay as
/// they are.
pub fn parse_keys(input: &str) -> Result<Vec<InputItem>, KeyError> {
    if input.len() > MAX_INPUT_BYTES {
        return Err(KeyError::TooLong { bytes: input.len() });
    }
    if let Some(press) = whole(input)? {
        return Ok(vec![InputItem::Press(press)]);
    }
    let text = parse_text(input)?;
    if text.has_brackets {
        list::refuse_leading_chord(input)?;
        return text.finish();
    }
    match list::parse_list(input)? {
        Some(items) => Ok(items),
        None => text.finish(),
    }
}

/// Reads exactly one key name or chord.
pub(super) fn parse_press(name: &str) -> Result<KeyPress, KeyError> {
    whole(name)?.ok_or_else(|| KeyError::NotAKey {
        name: name.chars().take(MAX_NAME).collect(),
        suggestion: names::nearest_key_name(name),
    })
}

pub(super) fn whole(input: &str) -> Result<Option<KeyPress>, KeyError> {
    match single_key(input) {
        Some(press) => Ok(Some(press)),
        None => parse_name(input, Scope::Whole),
    }
}

fn parse_text(input: &str) -> Result<Items, KeyError> {
    let mut items = Items::default();
    let mut rest = input;
    while let Some(character) = rest.chars().next() {
        let mut taken = character.len_utf8();
        match character {
            '<' => match bracket(rest)? {
                Some(found) => {
                    taken = found.bytes;
                    items.has_brackets = true;
                    items.press(found.press, found.count)?;
                }
                None => items.text('<'),
            },
            '\r' if rest.starts_with("\r\n") => {
                taken = 2;
                items.press(Key::Enter.into(), 1)?;
            }
            '\n' => items.press(Key::Enter.into(), 1)?,
            '\t' => items.press(Key::Tab.into(), 1)?,
            _ => items.text(character),
        }
        rest = &rest[taken..];
    }
    Ok(items)
}

/// Items as they are gathered: neighbouring characters join, and presses are counted.
#[derive(Default)]
struct Items {
    done: Vec<InputItem>,
    text: String,
    /// A `<Name>` was among them.
    has_brackets: bool,
}

impl Items {
    fn text(&mut self, character: char) {
        self.text.push(character);
    }

    fn press(&mut self, press: KeyPress, count: usize) -> Result<(), KeyError> {
        self.flush();
        if self.done.len() + count > MAX_INPUT_ITEMS {
            return Err(KeyError::TooMany);
        }
        self.done.extend(std::iter::repeat_n(InputItem::Press(press), count));
        Ok(())
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.done.push(InputItem::Text(std::mem::take(&mut self.text)));
        }
    }

    fn finish(mut self) -> Result<Vec<InputItem>, KeyError> {
        self.flush();
        if self.done.len() > MAX_INPUT_ITEMS {
            return Err(KeyError::TooMany);
        }
        Ok(self.done)
    }
}

/// A key found between angle brackets.
struct Bracket {
    press: KeyPress,
    count: usize,
    bytes: usize,
}

/// The key that `text`, which begins with `<`, begins with; `None` when it is text.
fn bracket(text: &str) -> Result<Option<Bracket>, KeyError> {
    let end = text.bytes().take(MAX_NAME + 2).position(|byte| byte == b'>');
    let Some(end) = end.filter(|end| *end > 1) else {
        return Ok(None);
    };
    let inner = &text[1..end];
    if inner.contains(char::is_whitespace) || inner.strip_suffix('<').unwrap_or(inner).contains('<')
    {
        return Ok(None);
    }
    // `<Ctrl+>>` is Ctrl and `>`.
    if inner.ends_with(['+', '-'])
        && text[end + 1..].starts_with('>')
        && let Ok(Some(press)) = parse_name(&text[1..=end], Scope::Bracket)
    {
        return Ok(Some(Bracket { press, count: 1, bytes: end + 2 }));
    }
    let (name, count) = match inner.rsplit_once('*') {
        Some((name, count)) if !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit()) => {
            (name, Some(count))
        }
        _ => (inner, None),
    };
    let Some(press) = parse_name(name, Scope::Bracket)? else {
        return Ok(None);
    };
    let written = count.unwrap_or("1");
    let Some(count) = written.parse().ok().filter(|count| (1..=MAX_REPEAT).contains(count)) else {
        return Err(KeyError::Repeat { name: inner.to_owned(), count: written.to_owned() });
    };
    Ok(Some(Bracket { press, count, bytes: end + 1 }))
}

/// The key that a name or chord stands for; `None` when it is text.
fn parse_name(name: &str, scope: Scope) -> Result<Option<KeyPress>, KeyError> {
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
