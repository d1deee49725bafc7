//! Words of fish: quotes, escapes, variables, command substitutions.

use std::rc::Rc;

use super::ast::{Command, Operation, Piece, Script, Word};
use super::cursor::{Parsed, Parser, is_name};
use super::dollar::ansi_c_escape;
use super::word::push;

/// Longest keyword that is looked for.
const LONGEST_KEYWORD: usize = 16;
/// Longest escape after its backslash: `U` and eight digits, or `c` and a character.
const LONGEST_ESCAPE: usize = 9;

impl Parser {
    /// The word that comes next as a keyword would be compared: without its quotes.
    pub(super) fn fish_keyword(&self) -> String {
        let rest = &self.source.as_bytes()[self.at..self.end];
        let window = &rest[..rest.len().min(LONGEST_KEYWORD)];
        let end = window.iter().position(|byte| ends_word(*byte)).unwrap_or(window.len());
        self.text(self.at..self.at + end).replace(['\'', '"'], "")
    }

    /// A word, if one is next.
    pub(super) fn fish_word(&mut self) -> Parsed<Option<Word>> {
        let start = self.at;
        let mut pieces = Vec::new();
        let mut braces = 0usize;
        while let Some(byte) = self.peek() {
            self.bounded(pieces.len())?;
            match byte {
                b'(' => {
                    self.at += 1;
                    pieces.push(self.fish_substitution(false)?);
                }
                // In fish 3 blanks in braces are part of the word.
                b' ' | b'\t' | b'\n' | b'\r' if braces > 0 => {
                    self.at += 1;
                }
                b'&' if self.at > start && !self.ampersand_separates() => {
                    self.doubtful();
                    self.at += 1;
                    push(&mut pieces, '&', false);
                }
                _ if ends_word(byte) => break,
                b'\'' => {
                    self.at += 1;
                    let text = self.fish_single_quoted()?;
                    pieces.push(Piece::Literal { text, quoted: true });
                }
                b'"' => {
                    self.at += 1;
                    pieces.push(Piece::Literal { text: String::new(), quoted: true });
                    pieces.extend(self.nested(|parser| parser.fish_quoted(Some(b'"')))?);
                }
                b'$' => self.fish_dollar(&mut pieces, false)?,
                b'\\' => self.fish_escape(&mut pieces),
                _ => {
                    match byte {
                        b'{' => braces += 1,
                        b'}' if braces == 0 && self.at == start => break,
                        b'}' => braces = braces.saturating_sub(1),
                        _ => {}
                    }
                    let Some(next) = self.take() else { break };
                    push(&mut pieces, next, false);
                }
            }
        }
        if braces > 0 {
            return self.expected("`}`");
        }
        self.count(1 + pieces.len())?;
        pieces.shrink_to_fit();
        Ok((self.at > start).then_some(Word { pieces }))
    }

    /// Before fish 3.5 an ampersand always ended the word.
    fn ampersand_separates(&self) -> bool {
        self.peek_at(1).is_none_or(ends_word)
    }

    /// Text as between double quotes, up to the closing byte or the end of the text.
    pub(super) fn fish_quoted(&mut self, close: Option<u8>) -> Parsed<Vec<Piece>> {
        let mut pieces = Vec::new();
        while let Some(byte) = self.peek() {
            self.bounded(pieces.len())?;
            match byte {
                _ if Some(byte) == close => {
                    self.at += 1;
                    return Ok(pieces);
                }
                b'$' => self.fish_dollar(&mut pieces, true)?,
                b'\\' if matches!(self.peek_at(1), Some(b'$' | b'"' | b'\\' | b'\n')) => {
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

    fn fish_single_quoted(&mut self) -> Parsed<String> {
        let mut text = String::new();
        loop {
            match self.take() {
                None => return self.expected("a closing quote"),
                Some('\'') => return Ok(text),
                Some('\\') if matches!(self.peek(), Some(b'\'' | b'\\')) => {
                    text.extend(self.take());
                }
                Some(other) => text.push(other),
            }
        }
    }

    /// An escape outside quotes.
    fn fish_escape(&mut self, pieces: &mut Vec<Piece>) {
        self.at += 1;
        let Some(next) = self.peek() else {
            push(pieces, '\\', true);
            return;
        };
        if next == b'\n' {
            self.at += 1;
            return;
        }
        if !b"abefnrtvxXuUc01234567".contains(&next) {
            let escaped = self.take();
            escaped.into_iter().for_each(|sign| push(pieces, sign, true));
            return;
        }
        let rest = self.source.get(self.at..self.end).unwrap_or_default();
        let window = &rest[..rest.floor_char_boundary(LONGEST_ESCAPE)];
        let mut signs = window.chars().peekable();
        let mut bytes = Vec::new();
        ansi_c_escape(&mut signs, &mut bytes);
        self.at += window.len() - signs.map(char::len_utf8).sum::<usize>();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        pieces.push(Piece::Literal { text, quoted: true });
    }

    /// `$name`, `$name[…]`, `$$name`, `$(…)`.
    fn fish_dollar(&mut self, pieces: &mut Vec<Piece>, quoted: bool) -> Parsed<()> {
        self.at += 1;
        if self.eat("(") {
            pieces.push(self.fish_substitution(quoted)?);
            return Ok(());
        }
        let mut indirect = false;
        while self.eat("$") {
            indirect = true;
        }
        let start = self.at;
        while self.peek().is_some_and(is_name) {
            self.at += 1;
        }
        let name = self.text(start..self.at).to_owned();
        if name.is_empty() {
            push(pieces, '$', quoted);
            return Ok(());
        }
        let operation = if indirect { Operation::Indirect } else { Operation::All };
        pieces.push(Piece::Variable { name, operation, quoted });
        if self.eat("[") {
            let inner = self.nested(Self::fish_index)?;
            pieces.push(Piece::Subscript { inner });
        }
        Ok(())
    }

    fn fish_index(&mut self) -> Parsed<Word> {
        let mut pieces = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b']' => {
                    self.at += 1;
                    return Ok(Word { pieces });
                }
                b'(' => {
                    self.at += 1;
                    pieces.push(self.fish_substitution(true)?);
                }
                b'$' => self.fish_dollar(&mut pieces, true)?,
                _ => {
                    self.take();
                }
            }
        }
        self.expected("`]`")
    }

    /// The statements up to a closing parenthesis. One that ends in `psub` is a file to read.
    fn fish_substitution(&mut self, quoted: bool) -> Parsed<Piece> {
        let items = self.nested(Self::fish_list)?;
        self.close(")", "`)`")?;
        let last = items.last().and_then(|item| item.stages.last());
        let psub = matches!(last, Some(Command::Simple(simple)) if is_psub(&simple.words));
        let script = Rc::new(Script { source: self.source.clone(), items });
        Ok(if psub { Piece::Process { script } } else { Piece::Command { script, quoted } })
    }
}

fn is_psub(words: &[Word]) -> bool {
    let first = words.first().map(|word| word.pieces.as_slice());
    matches!(first, Some([Piece::Literal { text, .. }]) if text == "psub")
}

fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}
