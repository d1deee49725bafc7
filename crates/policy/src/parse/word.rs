//! Words: literals, quotes, and the expansions in them.

use std::rc::Rc;

use super::ast::{Piece, Script, Word};
use super::cursor::{Parsed, Parser, is_separator};

impl Parser {
    /// A word, if one is next.
    pub(super) fn word(&mut self) -> Parsed<Option<Word>> {
        let start = self.at;
        let mut pieces = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    self.at += 2;
                    let script = self.substitution()?;
                    pieces.push(Piece::Process { script });
                }
                b'(' if self.at > start && self.after_pattern_sign() => {
                    self.skip_balanced()?;
                    push(&mut pieces, '*', false);
                }
                b'(' if self.at > start && self.source.as_bytes()[self.at - 1] == b'=' => {
                    // `declare name=(…)`.
                    self.at += 1;
                    pieces.extend(self.array()?.into_iter().map(|inner| Piece::Unknown { inner }));
                }
                _ if is_separator(byte) => break,
                b'\'' => {
                    self.at += 1;
                    let text = self.single_quoted()?;
                    pieces.push(Piece::Literal { text, quoted: true });
                }
                b'"' => {
                    self.at += 1;
                    // Even an empty string makes a word.
                    pieces.push(Piece::Literal { text: String::new(), quoted: true });
                    pieces.extend(self.nested(|parser| parser.quoted_text(Some(b'"')))?);
                }
                b'`' => pieces.push(self.backticks(false)?),
                b'$' => self.dollar(&mut pieces, false)?,
                b'\\' => {
                    self.at += 1;
                    match self.take() {
                        Some('\n') => {}
                        Some(escaped) => push(&mut pieces, escaped, true),
                        None => push(&mut pieces, '\\', true),
                    }
                }
                _ => {
                    let Some(next) = self.take() else { break };
                    push(&mut pieces, next, false);
                }
            }
        }
        Ok((self.at > start).then_some(Word { pieces }))
    }

    /// Text as between double quotes, up to the closing byte or the end of the text.
    pub(super) fn quoted_text(&mut self, close: Option<u8>) -> Parsed<Vec<Piece>> {
        let mut pieces = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                _ if Some(byte) == close => {
                    self.at += 1;
                    return Ok(pieces);
                }
                b'`' => pieces.push(self.backticks(true)?),
                b'$' => self.dollar(&mut pieces, true)?,
                b'\\' if matches!(self.peek_at(1), Some(b'$' | b'`' | b'"' | b'\\' | b'\n')) => {
                    self.at += 1;
                    match self.take() {
                        Some('\n') | None => {}
                        Some(escaped) => push(&mut pieces, escaped, true),
                    }
                }
                _ => {
                    let Some(next) = self.take() else { break };
                    push(&mut pieces, next, true);
                }
            }
        }
        if close.is_none() { Ok(pieces) } else { self.expected("a closing quote") }
    }

    pub(super) fn single_quoted(&mut self) -> Parsed<String> {
        let rest = &self.source.as_bytes()[self.at..self.end];
        let Some(length) = rest.iter().position(|byte| *byte == b'\'') else {
            return self.expected("a closing quote");
        };
        let text = self.text(self.at..self.at + length).to_owned();
        self.at += length + 1;
        Ok(text)
    }

    /// The commands up to a closing parenthesis.
    pub(super) fn substitution(&mut self) -> Parsed<Rc<Script>> {
        let items = self.nested(Self::list_until_parenthesis)?;
        Ok(Rc::new(Script { source: self.source.clone(), items }))
    }

    /// Backticks: their text is unescaped first and parsed on its own.
    pub(super) fn backticks(&mut self, quoted: bool) -> Parsed<Piece> {
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.take() {
                None => return self.expected("a closing backtick"),
                Some('`') => break,
                Some('\\') => match self.take() {
                    Some(escaped @ ('`' | '\\' | '$')) => text.push(escaped),
                    Some('"') if quoted => text.push('"'),
                    Some(other) => text.extend(['\\', other]),
                    None => text.push('\\'),
                },
                Some(other) => text.push(other),
            }
        }
        let script = self.nested(|parser| {
            let source: Rc<str> = Rc::from(text);
            let mut inner = Self::new(source.clone(), parser.depth);
            let mut items = Vec::new();
            inner.whole(&mut items)?;
            Ok(Rc::new(Script { source, items }))
        })?;
        Ok(Piece::Command { script, quoted })
    }

    /// Whether an extended pattern such as `!(…)`, or a glob qualifier of zsh, starts here.
    fn after_pattern_sign(&self) -> bool {
        matches!(self.source.as_bytes()[self.at - 1], b'?' | b'*' | b'+' | b'@' | b'!')
    }

    fn skip_balanced(&mut self) -> Parsed<()> {
        let mut open = 0usize;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => open += 1,
                b')' if open == 1 => return Ok(()),
                b')' => open -= 1,
                _ => {}
            }
        }
        self.expected("`)`")
    }
}

/// Adds a character, to the last literal where its quoting is the same.
pub(super) fn push(pieces: &mut Vec<Piece>, next: char, quote: bool) {
    if let Some(Piece::Literal { text, quoted }) = pieces.last_mut()
        && *quoted == quote
    {
        text.push(next);
        return;
    }
    pieces.push(Piece::Literal { text: next.to_string(), quoted: quote });
}
