//! What a dollar sign begins: parameters, substitutions, arithmetic, `$'…'`.

use super::ast::{Operation, Piece, Word};
use super::cursor::{Parsed, Parser, is_name, is_name_start};
use super::word::push;

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
            Some(b'{') => {
                self.at += 1;
                let piece = self.nested(|parser| parser.braced_parameter(quoted))?;
                pieces.push(piece);
            }
            Some(b'\'') if !quoted => {
                self.at += 1;
                let text = self.ansi_c_quoted()?;
                pieces.push(Piece::Literal { text, quoted: true });
            }
            // `$"…"`: the quote is read as such.
            Some(b'"') if !quoted => {}
            Some(byte) if is_name_start(byte) => {
                let name = self.name();
                pieces.push(Piece::Variable { name, operation: Operation::Plain, quoted });
            }
            Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') => {
                let name = self.take().map(String::from).unwrap_or_default();
                pieces.push(Piece::Variable { name, operation: Operation::Plain, quoted });
            }
            _ => push(pieces, '$', quoted),
        }
        Ok(())
    }

    fn name(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(is_name) {
            self.at += 1;
        }
        self.text(start..self.at).to_owned()
    }

    /// What follows `${`.
    fn braced_parameter(&mut self, quoted: bool) -> Parsed<Piece> {
        let length = self.peek() == Some(b'#') && self.peek_at(1) != Some(b'}') && self.eat("#");
        let indirect = self.peek_at(1).is_some_and(is_name_start) && self.eat("!");
        let mut name = self.name();
        if name.is_empty() {
            name = self.take().map(String::from).unwrap_or_default();
        }
        let mut subscript = String::new();
        if self.eat("[") {
            let start = self.at;
            while self.peek().is_some_and(|byte| byte != b']' && byte != b'}') {
                self.at += 1;
            }
            self.text(start..self.at).clone_into(&mut subscript);
            let _ = self.eat("]");
        }
        let operation = if self.eat("}") {
            match subscript.as_str() {
                _ if length => Operation::Other(Word::default()),
                _ if indirect => Operation::Indirect,
                "" => Operation::Plain,
                "@" | "*" => Operation::All,
                index => match index.parse() {
                    Ok(index) => Operation::Element(index),
                    Err(_) => Operation::Other(Word::default()),
                },
            }
        } else if self.eat(":-") || self.eat("-") || self.eat(":=") || self.eat("=") {
            Operation::Default(self.braced_word(quoted)?)
        } else if self.eat(":+") || self.eat("+") {
            Operation::Alternative(self.braced_word(quoted)?)
        } else {
            let start = self.at;
            let word = self.braced_word(quoted)?;
            substring(self.text(start..self.at)).unwrap_or(Operation::Other(word))
        };
        Ok(Piece::Variable { name, operation, quoted })
    }

    /// A word up to the closing brace.
    fn braced_word(&mut self, quoted: bool) -> Parsed<Word> {
        let mut pieces = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b'}' => {
                    self.at += 1;
                    return Ok(Word { pieces });
                }
                b'\'' if !quoted => {
                    self.at += 1;
                    let text = self.single_quoted()?;
                    pieces.push(Piece::Literal { text, quoted: true });
                }
                b'"' => {
                    self.at += 1;
                    pieces.extend(self.nested(|parser| parser.quoted_text(Some(b'"')))?);
                }
                b'`' => pieces.push(self.backticks(quoted)?),
                b'$' => self.dollar(&mut pieces, quoted)?,
                b'\\' => {
                    self.at += 1;
                    if let Some(escaped) = self.take() {
                        push(&mut pieces, escaped, true);
                    }
                }
                _ => {
                    let Some(next) = self.take() else { break };
                    push(&mut pieces, next, quoted);
                }
            }
        }
        self.expected("`}`")
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
        let end = std::mem::replace(&mut self.end, close);
        let pieces = self.nested(|parser| parser.quoted_text(None));
        self.end = end;
        self.at = close + 2;
        Ok(Word { pieces: pieces? })
    }

    fn ansi_c_quoted(&mut self) -> Parsed<String> {
        let mut text = Vec::new();
        loop {
            match self.take() {
                None => return self.expected("a closing quote"),
                Some('\'') => return Ok(String::from_utf8_lossy(&text).into_owned()),
                Some('\\') => self.ansi_c_escape(&mut text),
                Some(other) => text.extend(other.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
    }

    fn ansi_c_escape(&mut self, text: &mut Vec<u8>) {
        let Some(kind) = self.take() else { return };
        let byte = match kind {
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'v' => 11,
            'x' => self.number(16, 2) as u8,
            '0'..='7' => {
                self.at -= 1;
                self.number(8, 3) as u8
            }
            'u' | 'U' => {
                let code = self.number(16, if kind == 'u' { 4 } else { 8 });
                let decoded = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                text.extend(decoded.encode_utf8(&mut [0; 4]).bytes());
                return;
            }
            'c' => self.take().map_or(0, |control| control as u8 & 0x1f),
            '\\' | '\'' | '"' | '?' => kind as u8,
            other => {
                text.push(b'\\');
                text.extend(other.encode_utf8(&mut [0; 4]).bytes());
                return;
            }
        };
        text.push(byte);
    }

    fn number(&mut self, radix: u32, digits: usize) -> u32 {
        let mut value = 0;
        for _ in 0..digits {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(radix));
            let Some(digit) = digit else { break };
            self.at += 1;
            value = value * radix + digit;
        }
        value
    }
}

/// `:offset}` or `:offset:length}` with plain numbers.
fn substring(text: &str) -> Option<Operation> {
    let text = text.strip_prefix(':')?.strip_suffix('}')?;
    let (offset, length) = match text.split_once(':') {
        Some((offset, length)) => (offset, Some(length.trim().parse().ok()?)),
        None => (text, None),
    };
    Some(Operation::Substring(offset.trim().parse().ok()?, length))
}
