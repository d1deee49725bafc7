//! Redirections.

use std::cell::OnceCell;
use std::rc::Rc;

use super::ast::{Redirect, RedirectKind};
use super::cursor::{Parsed, Parser, PendingHere};
use super::here;

/// Operators that only zsh has. Longer ones come first.
const ZSH_OPERATORS: [(&str, RedirectKind); 14] = [
    ("&>>|", RedirectKind::Append),
    ("&>>!", RedirectKind::Append),
    (">>&|", RedirectKind::Append),
    (">>&!", RedirectKind::Append),
    ("&>|", RedirectKind::Write),
    ("&>!", RedirectKind::Write),
    (">&|", RedirectKind::Write),
    (">&!", RedirectKind::Write),
    (">>&", RedirectKind::Append),
    (">>|", RedirectKind::Append),
    (">>!", RedirectKind::Append),
    (">|", RedirectKind::Write),
    (">!", RedirectKind::Write),
    ("<>", RedirectKind::Write),
];

const OPERATORS: [(&str, RedirectKind); 11] = [
    ("&>>", RedirectKind::Append),
    ("&>", RedirectKind::Write),
    ("<<<", RedirectKind::HereString),
    ("<<", RedirectKind::HereDocument),
    ("<&", RedirectKind::Duplicate),
    ("<>", RedirectKind::Write),
    ("<", RedirectKind::Read),
    (">>", RedirectKind::Append),
    (">|", RedirectKind::Write),
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
        if ahead == 0 && self.extended() && self.peek() == Some(b'{') {
            ahead = self.named_descriptor();
            // It sets a variable, whatever its name.
            self.evaluates |= ahead > 0;
        }
        let operator = self.peek_at(ahead);
        // To dash, `&>` is `&` and then `>`.
        let both = self.extended()
            && ahead == 0
            && operator == Some(b'&')
            && self.peek_at(1) == Some(b'>');
        let process = ahead == 0 && self.extended() && self.peek_at(1) == Some(b'(');
        if !(both || matches!(operator, Some(b'<' | b'>'))) || process {
            return Ok(None);
        }
        if ahead == 0 && self.numeric_range().is_some() {
            return Ok(None);
        }
        self.at += ahead;
        let of_zsh = ZSH_OPERATORS.iter().filter(|_| self.is_zsh());
        let Some((text, mut kind)) =
            of_zsh.chain(&OPERATORS).copied().find(|(text, _)| self.looking_at(text))
        else {
            return self.expected("a redirection");
        };
        self.at += text.len();
        self.count(1)?;
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
            let (delimiter, literal) = here::delimiter(&written, self.grammar);
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

    /// The length of a pattern such as `<1-9>`, which zsh reads before a redirection.
    pub(super) fn numeric_range(&self) -> Option<usize> {
        if !self.is_zsh() || self.peek() != Some(b'<') {
            return None;
        }
        let digits = |mut ahead: usize| {
            while self.peek_at(ahead).is_some_and(|byte| byte.is_ascii_digit()) {
                ahead += 1;
            }
            ahead
        };
        let dash = digits(1);
        if self.peek_at(dash) != Some(b'-') {
            return None;
        }
        let close = digits(dash + 1);
        (self.peek_at(close) == Some(b'>')).then_some(close + 1)
    }
}
