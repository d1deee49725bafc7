//! Redirections and here-documents.

use std::cell::OnceCell;
use std::rc::Rc;

use super::ast::{Piece, Redirect, RedirectKind, Word};
use super::cursor::{Parsed, Parser, PendingHere};

const OPERATORS: [(&str, RedirectKind); 12] = [
    ("&>>", RedirectKind::Append),
    ("&>", RedirectKind::Write),
    ("<<<", RedirectKind::HereString),
    ("<<", RedirectKind::HereDocument),
    ("<&", RedirectKind::Duplicate),
    ("<>", RedirectKind::Write),
    ("<", RedirectKind::Read),
    (">>", RedirectKind::Append),
    (">|", RedirectKind::Write),
    (">!", RedirectKind::Write),
    (">&", RedirectKind::Duplicate),
    (">", RedirectKind::Write),
];

impl Parser {
    /// A redirection, if one is next.
    pub(super) fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        let start = self.at;
        let mut ahead = 0;
        while self.peek_at(ahead).is_some_and(|byte| byte.is_ascii_digit()) {
            ahead += 1;
        }
        if ahead == 0 && self.peek() == Some(b'{') {
            ahead = self.named_descriptor();
        }
        let operator = self.peek_at(ahead);
        let both = operator == Some(b'&') && self.peek_at(ahead + 1) == Some(b'>');
        let process = ahead == 0 && self.peek_at(1) == Some(b'(');
        if !(both || matches!(operator, Some(b'<' | b'>'))) || process {
            return Ok(None);
        }
        self.at += ahead;
        let Some((text, mut kind)) = OPERATORS.into_iter().find(|(text, _)| self.looking_at(text))
        else {
            return self.expected("a redirection");
        };
        self.at += text.len();
        let strip_tabs = kind == RedirectKind::HereDocument && self.eat("-");
        self.skip_blanks();
        let word_start = self.at;
        let Some(target) = self.word()? else {
            return self.expected("the target of a redirection");
        };
        let written = self.text(word_start..self.at).to_owned();
        if kind == RedirectKind::Duplicate
            && text == ">&"
            && !written.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
        {
            kind = RedirectKind::Write;
        }
        let here = (kind == RedirectKind::HereDocument).then(|| {
            let body = Rc::new(OnceCell::new());
            let literal = written.contains(['\'', '"', '\\']);
            let delimiter = written.replace(['\'', '"', '\\'], "");
            let pending = PendingHere { delimiter, strip_tabs, literal, body: body.clone() };
            self.pending.push(pending);
            body
        });
        Ok(Some(Redirect { span: start..self.at, kind, target, here }))
    }

    /// The length of `{name}` before a redirection operator, else 0.
    fn named_descriptor(&self) -> usize {
        let mut ahead = 1;
        while self.peek_at(ahead).is_some_and(super::cursor::is_name) {
            ahead += 1;
        }
        let closed = self.peek_at(ahead) == Some(b'}');
        if closed && matches!(self.peek_at(ahead + 1), Some(b'<' | b'>')) { ahead + 1 } else { 0 }
    }

    /// Reads the text of a here-document, which starts here.
    pub(super) fn here_document(&mut self, here: PendingHere) -> Parsed<()> {
        let start = self.at;
        let (mut stop, mut after) = (self.end, self.end);
        let mut line = start;
        while line < self.end {
            let rest = &self.source.as_bytes()[line..self.end];
            let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let mut text = self.text(line..line + length);
            if here.strip_tabs {
                text = text.trim_start_matches('\t');
            }
            if text == here.delimiter {
                (stop, after) = (line, (line + length + 1).min(self.end));
                break;
            }
            line += length + 1;
        }
        let word = if here.literal {
            let text = self.text(start..stop).to_owned();
            Word { pieces: vec![Piece::Literal { text, quoted: true }] }
        } else {
            let end = std::mem::replace(&mut self.end, stop);
            let pieces = self.nested(|parser| parser.quoted_text(None));
            self.end = end;
            Word { pieces: pieces? }
        };
        self.at = after;
        // Set once: a pending here-document is taken from the list before it is read.
        let _ = here.body.set(word);
        Ok(())
    }
}
