//! Where the parser stands: bytes, blanks, reserved words, nesting.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use super::ParseError;
use super::ast::Word;
use crate::dialect::Grammar;

pub(super) type Parsed<T> = Result<T, ParseError>;

/// A here-document whose text has not been reached.
pub(super) struct PendingHere {
    pub(super) delimiter: String,
    pub(super) strip_tabs: bool,
    pub(super) literal: bool,
    pub(super) body: Rc<OnceCell<Word>>,
}

pub(super) struct Parser {
    pub(super) source: Rc<str>,
    pub(super) at: usize,
    /// Where the text ends for now: less than its length inside a here-document or arithmetic.
    pub(super) end: usize,
    pub(super) depth: usize,
    pub(super) grammar: Grammar,
    pub(super) pending: Vec<PendingHere>,
    /// The first place that the shell may read in another way.
    pub(super) doubt: Option<usize>,
    /// Some of the text is evaluated, and is more than plain numbers: see `evaluated`.
    pub(super) evaluates: bool,
    /// Words, pieces, redirections and commands so far.
    pub(super) parts: usize,
}

impl Parser {
    pub(super) fn new(source: Rc<str>, depth: usize, grammar: Grammar) -> Self {
        let end = source.len();
        let (pending, doubt, evaluates, parts) = (Vec::new(), None, false, 0);
        Self { source, at: 0, end, depth, grammar, pending, doubt, evaluates, parts }
    }

    /// Notes that the shell may read what starts here in another way.
    pub(super) fn doubtful(&mut self) {
        self.doubt.get_or_insert(self.at);
    }

    /// Whether the shell knows more than POSIX: `[[`, `((`, `<(`, `$'…'`.
    pub(super) fn extended(&self) -> bool {
        self.grammar != Grammar::Dash
    }

    pub(super) fn is_zsh(&self) -> bool {
        self.grammar == Grammar::Zsh
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        (at < self.end).then(|| self.source.as_bytes()[at])
    }

    pub(super) fn looking_at(&self, text: &str) -> bool {
        self.source.as_bytes()[self.at..self.end].starts_with(text.as_bytes())
    }

    /// Steps over `text` if it is next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Takes the next character.
    pub(super) fn take(&mut self) -> Option<char> {
        let next = self.source.get(self.at..self.end)?.chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub(super) fn text(&self, range: Range<usize>) -> &str {
        self.source.get(range).unwrap_or_default()
    }

    pub(super) fn expected<T>(&self, expected: &'static str) -> Parsed<T> {
        Err(ParseError::Syntax { expected, at: self.at })
    }

    /// Counts what has been read, so that memory is bounded too.
    pub(super) fn count(&mut self, parts: usize) -> Parsed<()> {
        self.parts += parts;
        self.bounded(0)
    }

    /// Whether there is room for the pieces of a word in the making.
    pub(super) fn bounded(&self, pieces: usize) -> Parsed<()> {
        if self.parts + pieces > super::MAX_PARTS { Err(ParseError::TooMuch) } else { Ok(()) }
    }

    /// Runs `inner` one level deeper.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= super::MAX_NESTING {
            return Err(ParseError::TooDeep);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Steps over blanks, line continuations and a comment.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\r') if self.grammar == Grammar::Fish => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                Some(b'#') => {
                    while self.peek().is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Steps over blanks and newlines, reading the here-documents that begin at a newline.
    pub(super) fn skip_lines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    pub(super) fn newline(&mut self) -> Parsed<()> {
        self.at += 1;
        if self.grammar == Grammar::Fish {
            return Ok(());
        }
        for here in std::mem::take(&mut self.pending) {
            self.here_document(here)?;
        }
        Ok(())
    }

    /// The bare word that comes next, when it is short enough to be a reserved one.
    pub(super) fn bare_word(&self) -> &str {
        let rest = &self.source.as_bytes()[self.at..self.end];
        let window = &rest[..rest.len().min(LONGEST_RESERVED + 1)];
        let end = window.iter().position(|byte| is_separator(*byte)).unwrap_or(window.len());
        if end > LONGEST_RESERVED {
            return "";
        }
        self.text(self.at..self.at + end)
    }

    /// Steps over a reserved word if it is next.
    pub(super) fn eat_reserved(&mut self, word: &str) -> bool {
        let found = self.bare_word() == word;
        if found {
            self.at += word.len();
        }
        found
    }
}

/// `function` and `coproc` among them.
const LONGEST_RESERVED: usize = 8;

/// A byte that ends an unquoted word.
pub(super) fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

pub(super) fn is_name_start(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphabetic()
}

pub(super) fn is_name(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}
