//! Here-documents: where they end, and what is expanded in them.

use super::ast::{Piece, Word};
use super::cursor::{Parsed, Parser, PendingHere};
use super::dollar::ansi_c_text;
use crate::dialect::Grammar;

impl Parser {
    /// Reads the text of a here-document, which starts here.
    pub(super) fn here_document(&mut self, here: PendingHere) -> Parsed<()> {
        let start = self.at;
        let (mut stop, mut after) = (self.end, self.end);
        let mut ended = false;
        let mut line = start;
        while line < self.end {
            let (text, next) = self.here_line(line, &here);
            if text == here.delimiter {
                (stop, after) = (line, next);
                ended = true;
                break;
            }
            line = next;
        }
        if !ended {
            // Some shells wait for the rest, some run what there is.
            self.doubtful();
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

    /// A line as it is compared with the delimiter, and where the next one starts. Without quotes in
    /// the delimiter a backslash joins lines first.
    fn here_line(&self, start: usize, here: &PendingHere) -> (String, usize) {
        let mut text = String::new();
        let mut line = start;
        loop {
            let rest = &self.source.as_bytes()[line..self.end];
            let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let mut more = self.text(line..line + length);
            if here.strip_tabs && line == start {
                more = more.trim_start_matches('\t');
            }
            line = (line + length + 1).min(self.end);
            let backslashes = more.bytes().rev().take_while(|byte| *byte == b'\\').count();
            let joined = !here.literal && backslashes % 2 == 1 && line < self.end;
            // What is longer than the delimiter cannot be it.
            if text.len() <= here.delimiter.len() {
                text.push_str(if joined { &more[..more.len() - 1] } else { more });
            }
            if !joined {
                return (text, line);
            }
        }
    }
}

/// The delimiter that a word stands for, and whether quotes in it keep the text as it is.
pub(super) fn delimiter(written: &str, grammar: Grammar) -> (String, bool) {
    let mut text = String::new();
    let mut quoted = false;
    let mut signs = written.chars().peekable();
    while let Some(sign) = signs.next() {
        match (sign, signs.peek()) {
            ('\\', Some('\n')) => {
                signs.next();
            }
            ('\\', _) => {
                quoted = true;
                text.extend(signs.next());
            }
            ('$', Some('\'')) if grammar != Grammar::Dash => {
                quoted = true;
                signs.next();
                let mut raw = String::new();
                while let Some(sign) = signs.next().filter(|sign| *sign != '\'') {
                    raw.push(sign);
                    if sign == '\\' {
                        raw.extend(signs.next());
                    }
                }
                text.push_str(&ansi_c_text(&raw));
            }
            ('$', Some('"')) if grammar == Grammar::Bash => {}
            ('\'', _) => {
                quoted = true;
                text.extend(signs.by_ref().take_while(|sign| *sign != '\''));
            }
            ('"', _) => {
                quoted = true;
                while let Some(sign) = signs.next().filter(|sign| *sign != '"') {
                    match signs.peek() {
                        Some('"' | '\\' | '$' | '`') if sign == '\\' => text.extend(signs.next()),
                        _ => text.push(sign),
                    }
                }
            }
            _ => text.push(sign),
        }
    }
    (text, quoted)
}
