//! `${…}` and subscripts.

use super::ast::{Operation, Piece, Word};
use super::cursor::{Parsed, Parser, is_name_start};
use super::word::push;
use crate::dialect::Grammar;

impl Parser {
    /// What follows `${`.
    pub(super) fn braced_parameter(&mut self, quoted: bool) -> Parsed<Piece> {
        // `${!name}`: the value is the name of another.
        self.evaluates |= self.peek() == Some(b'!') && self.peek_at(1) != Some(b'}');
        let evaluated = self.is_zsh() && self.peek() == Some(b'(') && self.expansion_flags();
        if self.is_zsh() {
            self.skip_expansion_signs();
            if matches!(self.peek(), Some(b'$' | b'`' | b'"' | b':')) {
                return self.nested_parameter(quoted, evaluated);
            }
        }
        let length = self.peek() == Some(b'#') && self.peek_at(1) != Some(b'}') && self.eat("#");
        let indirect = self.peek_at(1).is_some_and(is_name_start) && self.eat("!");
        let mut name = self.name();
        if name.is_empty() {
            name = self.take().map(String::from).unwrap_or_default();
        }
        let start = self.at;
        let mut subscript = Word::default();
        if self.extended() && self.eat("[") {
            subscript = self.nested(Self::subscript)?;
        }
        let index =
            self.text(start..self.at).trim_start_matches('[').trim_end_matches(']').to_owned();
        let is_plain = index.is_empty() && !length && !indirect;
        let plain = subscript.pieces.iter().all(|piece| matches!(piece, Piece::Literal { .. }));
        let operation = if !plain {
            // The index runs; the value is not followed.
            let mut rest = if self.eat("}") { Word::default() } else { self.braced_word(quoted)? };
            rest.pieces.extend(subscript.pieces);
            Operation::Other(rest)
        } else if evaluated {
            let rest = if self.eat("}") { Word::default() } else { self.braced_word(quoted)? };
            Operation::Evaluated(rest)
        } else if self.eat("}") {
            match index.as_str() {
                _ if length => Operation::Other(Word::default()),
                _ if indirect => Operation::Indirect,
                "" => Operation::Plain,
                "@" | "*" => Operation::All,
                index => match index.parse() {
                    Ok(index) => Operation::Element(index),
                    Err(_) => Operation::Other(Word::default()),
                },
            }
        } else if self.eat(":-") || self.eat("-") {
            Operation::Default(self.braced_word(quoted)?)
        } else if self.eat(":=") || self.eat("=") {
            Operation::Assign(self.braced_word(quoted)?)
        } else if self.eat(":+") || self.eat("+") {
            Operation::Alternative(self.braced_word(quoted)?)
        } else if is_plain && (self.eat(":?") || self.eat("?")) {
            Operation::Value(self.braced_word(quoted)?)
        } else if is_plain && self.eat("%/}") {
            Operation::Value(Word::default())
        } else if self.is_zsh() && self.eat("::=") {
            Operation::Assign(self.braced_word(quoted)?)
        } else if self.looking_at("@P}") && self.grammar == Grammar::Bash {
            self.doubtful();
            self.evaluates = true;
            self.at += "@P}".len();
            Operation::Evaluated(Word::default())
        } else {
            let start = self.at;
            let word = self.braced_word(quoted)?;
            self.evaluate_substring(start, self.at - 1);
            substring(self.text(start..self.at)).unwrap_or(Operation::Other(word))
        };
        Ok(Piece::Variable { name, operation, quoted })
    }

    /// Steps over zsh's `(flags)`; whether the value is expanded once more. What flags with
    /// arguments make of a value is not followed.
    fn expansion_flags(&mut self) -> bool {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte != b')' && byte != b'}') {
            self.at += 1;
        }
        let flags = self.text(start..self.at);
        let evaluated = flags.contains('e');
        // `P` takes a name, `%` expands a prompt, the others count.
        let evaluates = flags.contains(['e', 'P', '%', '#', 'l', 'r', 'I']);
        self.evaluates |= evaluates;
        let _ = self.eat(")");
        if evaluated {
            self.doubtful();
        }
        evaluated
    }

    fn skip_expansion_signs(&mut self) {
        while matches!(self.peek(), Some(b'=' | b'~' | b'^' | b'+'))
            && self.peek_at(1).is_some_and(|byte| byte != b'}')
        {
            // Signs in the value are a pattern, whose qualifiers may run code.
            self.evaluates |= self.peek() == Some(b'~');
            self.at += 1;
        }
    }

    /// `${${name}…}`, `${$(…)…}` and `${:-word}` of zsh.
    fn nested_parameter(&mut self, quoted: bool, evaluated: bool) -> Parsed<Piece> {
        // A subscript or an offset may follow.
        self.evaluates = true;
        if self.eat(":-") {
            let word = self.braced_word(quoted)?;
            let operation =
                if evaluated { Operation::Evaluated(word) } else { Operation::Default(word) };
            return Ok(Piece::Variable { name: String::new(), operation, quoted });
        }
        let word = self.braced_word(quoted)?;
        let operation = if evaluated { Operation::Evaluated(word) } else { Operation::Other(word) };
        Ok(Piece::Variable { name: String::new(), operation, quoted })
    }

    /// A word up to the closing brace.
    fn braced_word(&mut self, quoted: bool) -> Parsed<Word> {
        let mut pieces = Vec::new();
        while let Some(byte) = self.peek() {
            self.bounded(pieces.len())?;
            match byte {
                b'}' => {
                    self.at += 1;
                    self.count(1 + pieces.len())?;
                    return Ok(Word { pieces });
                }
                b'\'' if !quoted || self.grammar == Grammar::Bash => {
                    if quoted {
                        // bash looks for the brace behind the next quote, unless in POSIX mode.
                        self.doubtful();
                    }
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
                b'<' | b'>' if !quoted && self.extended() && self.peek_at(1) == Some(b'(') => {
                    self.at += 2;
                    let script = self.substitution()?;
                    pieces.push(Piece::Process { script });
                }
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

    /// The expansions of a subscript or of `$[…]`, up to the closing bracket.
    pub(super) fn subscript(&mut self) -> Parsed<Word> {
        let start = self.at;
        let word = self.subscript_word()?;
        self.evaluate_subscript(start, self.at - 1);
        Ok(word)
    }

    fn subscript_word(&mut self) -> Parsed<Word> {
        let mut pieces = Vec::new();
        let mut open = 0usize;
        while let Some(byte) = self.peek() {
            self.bounded(pieces.len())?;
            match byte {
                b']' if open == 0 => {
                    self.at += 1;
                    self.count(1 + pieces.len())?;
                    return Ok(Word { pieces });
                }
                b'\'' => {
                    self.at += 1;
                    let text = self.single_quoted()?;
                    pieces.push(Piece::Literal { text, quoted: true });
                }
                b'"' => {
                    self.at += 1;
                    pieces.extend(self.nested(|parser| parser.quoted_text(Some(b'"')))?);
                }
                b'`' => pieces.push(self.backticks(true)?),
                b'$' => self.dollar(&mut pieces, true)?,
                b'\\' => {
                    self.at += 1;
                    if let Some(escaped) = self.take() {
                        push(&mut pieces, escaped, true);
                    }
                }
                _ => {
                    open = match byte {
                        b'[' => open + 1,
                        b']' => open - 1,
                        _ => open,
                    };
                    let Some(next) = self.take() else { break };
                    push(&mut pieces, next, true);
                }
            }
        }
        self.expected("`]`")
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
