//! What a caller wrote, as keys and text.
//!
//! The rules stand at [`parse_keys`]; their aim is that prose with plus signs, dashes and angle
//! brackets passes as it is, and that only what is plainly a chord can be an error.

use super::chord::{MAX_NAME, parse_name, whole};
use super::error::{KeyError, MAX_INPUT_BYTES, MAX_INPUT_ITEMS, MAX_REPEAT};
use super::key::{Key, KeyPress};
use super::list;
use super::names::Scope;

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
        Some(presses) => Ok(presses.into_iter().map(InputItem::Press).collect()),
        None => text.finish(),
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
