//! Words: literals, quotes, and the expansions in them.

use std::rc::Rc;

use super::ast::{Piece, Script, Word};
use super::cursor::{Parsed, Parser, is_separator};
use crate::dialect::Grammar;

impl Parser {
    /// A word, if one is next.
    pub(super) fn word(&mut self) -> Parsed<Option<Word>> {
        let start = self.at;
        let mut pieces = Vec::new();
        self.rest_of_word(start, &mut pieces)?;
        self.count(1 + pieces.len())?;
        // Most words are one piece, of which a line may have many.
        pieces.shrink_to_fit();
        Ok((self.at > start).then_some(Word { pieces }))
    }

    /// The rest of a word that began at `start`.
    pub(super) fn rest_of_word(&mut self, start: usize, pieces: &mut Vec<Piece>) -> Parsed<()> {
        while let Some(byte) = self.peek() {
            self.bounded(pieces.len())?;
            let before = (self.at > start).then(|| self.source.as_bytes()[self.at - 1]);
            match byte {
                b'<' | b'>' if self.extended() && self.peek_at(1) == Some(b'(') => {
                    self.at += 2;
                    let script = self.substitution()?;
                    pieces.push(Piece::Process { script });
                }
                b'<' if self.numeric_range().is_some() => {
                    self.at += self.numeric_range().unwrap_or(1);
                    push(pieces, '*', false);
                }
                b'(' if before == Some(b'=') && self.is_zsh() && self.at == start + 1 => {
                    // `=(…)`: a file with the output of a command.
                    self.at += 1;
                    pieces.clear();
                    let script = self.substitution()?;
                    pieces.push(Piece::Process { script });
                }
                b'(' if before == Some(b'=') && self.extended() => {
                    // `declare name=(…)`.
                    self.at += 1;
                    pieces.extend(self.array()?.into_iter().map(|inner| Piece::Unknown { inner }));
                }
                b'(' if self.opens_pattern(before) => self.pattern(pieces)?,
                _ if is_separator(byte) => break,
                // zsh: a brace closes a group wherever it stands alone.
                b'}' if self.is_zsh() && before.is_none() => break,
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
                b'$' => self.dollar(pieces, false)?,
                b'\\' => {
                    self.at += 1;
                    match self.take() {
                        Some('\n') => {}
                        Some(escaped) => push(pieces, escaped, true),
                        None => push(pieces, '\\', true),
                    }
                }
                _ => {
                    let Some(next) = self.take() else { break };
                    push(pieces, next, false);
                }
            }
        }
        Ok(())
    }

    /// Text as between double quotes, up to the closing byte or the end of the text.
    pub(super) fn quoted_text(&mut self, close: Option<u8>) -> Parsed<Vec<Piece>> {
        let mut pieces = Vec::new();
        while let Some(byte) = self.peek() {
            self.bounded(pieces.len())?;
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
        self.substitution_until(")", "`)`")
    }

    pub(super) fn substitution_until(
        &mut self,
        close: &str,
        expected: &'static str,
    ) -> Parsed<Rc<Script>> {
        let outer = std::mem::take(&mut self.pending);
        let start = self.at;
        let items = self.nested(|parser| {
            let items = parser.list()?;
            parser.close(close, expected)?;
            Ok(items)
        })?;
        let inner = std::mem::replace(&mut self.pending, outer);
        if !self.pending.is_empty() && self.text(start..self.at).contains('\n') {
            // Whether the text of a here-document outside has been read by now depends on the shell.
            self.doubtful();
        }
        if self.grammar == Grammar::Bash && !inner.is_empty() {
            // bash 5.2 takes the text from behind the substitution, older ones take none.
            self.doubtful();
            self.pending.extend(inner);
        }
        Ok(Rc::new(Script { source: self.source.clone(), items }))
    }

    /// Backticks: their text is unescaped first and parsed on its own.
    pub(super) fn backticks(&mut self, quoted: bool) -> Parsed<Piece> {
        let start = self.at;
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
            let mut inner = Self::new(source.clone(), parser.depth, parser.grammar);
            inner.parts = parser.parts;
            let mut items = Vec::new();
            inner.whole(&mut items)?;
            parser.parts = inner.parts;
            parser.evaluates |= inner.evaluates;
            if inner.doubt.is_some() {
                parser.doubt.get_or_insert(start);
            }
            Ok(Rc::new(Script { source, items }))
        })?;
        Ok(Piece::Command { script, quoted })
    }

    /// Whether a parenthesis starts a pattern: `!(…)`, and in zsh `a(b|c)` and `*(.)`.
    fn opens_pattern(&self, before: Option<u8>) -> bool {
        match before {
            None => false,
            Some(b'?' | b'*' | b'+' | b'@' | b'!') => self.extended(),
            Some(_) => self.is_zsh() && self.peek_at(1) != Some(b')'),
        }
    }

    /// A pattern in parentheses. What is expanded in it runs.
    pub(super) fn pattern(&mut self, pieces: &mut Vec<Piece>) -> Parsed<()> {
        let start = self.at;
        self.at += 1;
        let inner = self.nested(Self::pattern_pieces)?;
        if self.is_zsh() {
            let written = self.text(start + 1..self.at - 1);
            // What may be a qualifier that runs code, in whatever way its code is delimited.
            let runs = written.contains(['e', '+', '$', '`']);
            self.evaluates |= runs;
            let written = self.text(start + 1..self.at - 1);
            pieces.extend(qualifier_code(written).map(|text| Piece::Code { text }));
        }
        pieces.push(Piece::Subscript { inner: Word { pieces: inner } });
        push(pieces, '*', false);
        Ok(())
    }

    fn pattern_pieces(&mut self) -> Parsed<Vec<Piece>> {
        let mut pieces = Vec::new();
        loop {
            let start = self.at;
            self.rest_of_word(start, &mut pieces)?;
            match self.peek() {
                Some(b')') => {
                    self.at += 1;
                    return Ok(pieces);
                }
                Some(b'(') => self.pattern(&mut pieces)?,
                Some(_) => self.at += 1,
                None => return self.expected("`)`"),
            }
        }
    }
}

/// The code in zsh's glob qualifiers: `(e:code:)`, `(+name)`. Anything that looks like one counts.
fn qualifier_code(written: &str) -> impl Iterator<Item = String> {
    let mut code = Vec::new();
    let mut rest = written;
    while let Some(at) = rest.find(['e', '+']) {
        let named = rest[at..].starts_with('+');
        rest = &rest[at + 1..];
        let mut after = rest.chars();
        if named {
            code.push(
                rest.chars().take_while(|sign| sign.is_alphanumeric() || *sign == '_').collect(),
            );
        } else if let Some(open) = after.next() {
            let close = match open {
                '[' => ']',
                '{' => '}',
                '<' => '>',
                '(' => ')',
                other => other,
            };
            let text = after.as_str();
            let end = text.find(close).unwrap_or(text.len());
            code.push(text[..end].replace(['\'', '"', '\\'], ""));
            rest = &text[end..];
        }
        if code.len() >= MAX_CODE {
            break;
        }
    }
    code.into_iter().filter(|text: &String| !text.trim().is_empty())
}

/// Most pieces of code looked for in one pattern.
const MAX_CODE: usize = 8;

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
