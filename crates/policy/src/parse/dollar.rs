//! What a dollar sign begins: parameters, substitutions, arithmetic, `$'…'`.

use std::iter::Peekable;
use std::str::Chars;

use super::ast::{Operation, Piece, Word};
use super::cursor::{Parsed, Parser, is_name, is_name_start};
use super::word::push;
use crate::dialect::Grammar;

impl Parser {
    pub(super) fn dollar(&mut self, pieces: &mut Vec<Piece>, quoted: bool) -> Parsed<()> {
        self.at += 1;
        match self.peek() {
            Some(b'(') if self.peek_at(1) == Some(b'(') && self.arithmetic_end(2).is_some() => {
                let close = self.arithmetic_end(2).unwrap_or(self.end);
                self.at += 2;
                let inner = self.arithmetic(close)?;
                pieces.push(Piece::Unknown { inner });
            }
            Some(b'(') => {
                self.at += 1;
                let script = self.substitution()?;
                pieces.push(Piece::Command { script, quoted });
            }
            Some(b'{') if self.opens_command() => {
                self.at += 2;
                let script = self.substitution_until("}", "`}`")?;
                pieces.push(Piece::Command { script, quoted });
            }
            Some(b'{') => {
                self.at += 1;
                let piece = self.nested(|parser| parser.braced_parameter(quoted))?;
                pieces.push(piece);
            }
            Some(b'[') if self.extended() => {
                self.at += 1;
                let inner = self.nested(Self::subscript)?;
                pieces.push(Piece::Unknown { inner });
            }
            Some(b'\'') if !quoted && self.extended() => {
                self.at += 1;
                let text = self.ansi_c_quoted()?;
                pieces.push(Piece::Literal { text, quoted: true });
            }
            // `$"…"`: the quote is read as such.
            Some(b'"') if !quoted && self.grammar == Grammar::Bash => {}
            Some(byte) if is_name_start(byte) => self.plain_variable(pieces, quoted)?,
            // zsh: `$=name`, `$~name`, `$^name`, `$+name`, `$#name`.
            Some(b'=' | b'~' | b'^' | b'+' | b'#')
                if self.is_zsh() && self.peek_at(1).is_some_and(is_name_start) =>
            {
                // `$~name`: signs in the value are a pattern, whose qualifiers may run code.
                self.evaluates |= self.peek() == Some(b'~');
                self.at += 1;
                self.plain_variable(pieces, quoted)?;
            }
            Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') => {
                let name = self.take().map(String::from).unwrap_or_default();
                pieces.push(Piece::Variable { name, operation: Operation::Plain, quoted });
                self.zsh_subscript(pieces)?;
            }
            _ => push(pieces, '$', quoted),
        }
        Ok(())
    }

    /// `${ commands; }` and `${|commands;}`: bash 5.3, ksh and mksh run them.
    fn opens_command(&self) -> bool {
        matches!(self.peek_at(1), Some(b' ' | b'\t' | b'\n' | b'|'))
    }

    fn plain_variable(&mut self, pieces: &mut Vec<Piece>, quoted: bool) -> Parsed<()> {
        let name = self.name();
        pieces.push(Piece::Variable { name, operation: Operation::Plain, quoted });
        self.zsh_subscript(pieces)
    }

    /// zsh: `$name[…]`.
    fn zsh_subscript(&mut self, pieces: &mut Vec<Piece>) -> Parsed<()> {
        if self.is_zsh() && self.peek() == Some(b'[') {
            self.at += 1;
            let inner = self.nested(Self::subscript)?;
            pieces.push(Piece::Subscript { inner });
        }
        Ok(())
    }

    pub(super) fn name(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(is_name) {
            self.at += 1;
        }
        self.text(start..self.at).to_owned()
    }

    /// Where arithmetic that opens with `((` here ends: the place of its `))`. `None` if it is no
    /// arithmetic.
    pub(super) fn arithmetic_end(&self, opened: usize) -> Option<usize> {
        let bytes = self.source.as_bytes();
        let mut open = opened;
        let mut at = self.at + opened;
        while at < self.end {
            match bytes[at] {
                b'\\' => at += 1,
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 1 {
                        let closed = at + 1 < self.end && bytes[at + 1] == b')';
                        return closed.then_some(at);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Arithmetic up to its `))`, which is stepped over.
    pub(super) fn arithmetic(&mut self, close: usize) -> Parsed<Word> {
        if self.text(self.at..close).contains(['\'', '"']) {
            // Where it ends depends on whether the shell takes it for arithmetic.
            self.doubtful();
        }
        self.evaluate(self.at, close);
        let end = std::mem::replace(&mut self.end, close);
        let pieces = self.nested(|parser| parser.quoted_text(None));
        self.end = end;
        self.at = close + 2;
        let pieces = pieces?;
        self.count(1 + pieces.len())?;
        Ok(Word { pieces })
    }

    fn ansi_c_quoted(&mut self) -> Parsed<String> {
        let start = self.at;
        loop {
            match self.take() {
                None => return self.expected("a closing quote"),
                Some('\'') => return Ok(ansi_c_text(self.text(start..self.at - 1))),
                Some('\\') => {
                    self.take();
                }
                Some(_) => {}
            }
        }
    }
}

/// The text that stands between the quotes of `$'…'`.
pub(super) fn ansi_c_text(written: &str) -> String {
    let mut text = Vec::new();
    let mut signs = written.chars().peekable();
    while let Some(sign) = signs.next() {
        if sign == '\\' {
            ansi_c_escape(&mut signs, &mut text);
        } else {
            text.extend(sign.encode_utf8(&mut [0; 4]).bytes());
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

pub(super) fn ansi_c_escape(signs: &mut Peekable<Chars<'_>>, text: &mut Vec<u8>) {
    let Some(kind) = signs.next() else { return };
    let byte = match kind {
        'n' => b'\n',
        't' => b'\t',
        'r' => b'\r',
        'a' => 7,
        'b' => 8,
        'e' | 'E' => 27,
        'f' => 12,
        'v' => 11,
        'x' | 'X' => number(signs, 16, 2, 0) as u8,
        '0'..='7' => number(signs, 8, 2, kind.to_digit(8).unwrap_or(0)) as u8,
        'u' | 'U' => {
            let code = number(signs, 16, if kind == 'u' { 4 } else { 8 }, 0);
            let decoded = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            text.extend(decoded.encode_utf8(&mut [0; 4]).bytes());
            return;
        }
        'c' => signs.next().map_or(0, |control| control as u8 & 0x1f),
        '\\' | '\'' | '"' | '?' => kind as u8,
        other => {
            text.push(b'\\');
            text.extend(other.encode_utf8(&mut [0; 4]).bytes());
            return;
        }
    };
    text.push(byte);
}

fn number(signs: &mut Peekable<Chars<'_>>, radix: u32, digits: usize, first: u32) -> u32 {
    let mut value = first;
    for _ in 0..digits {
        let digit = signs.peek().and_then(|sign| sign.to_digit(radix));
        let Some(digit) = digit else { break };
        signs.next();
        value = value * radix + digit;
    }
    value
}
