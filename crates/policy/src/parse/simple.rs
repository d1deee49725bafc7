//! Simple commands: assignments, words, redirections; and `name()`.

use super::ast::{Assignment, Command, Simple, Word};
use super::cursor::{Parsed, Parser, is_name, is_name_start};

impl Parser {
    pub(super) fn simple(&mut self) -> Parsed<Command> {
        let start = self.at;
        let mut end = start;
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            self.skip_blanks();
            let word_start = self.at;
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
            } else if words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                assignments.push(assignment);
            } else if let Some(word) = self.word()? {
                words.push(word);
                if words.len() == 1 && assignments.is_empty() && self.eat_parentheses() {
                    let name = self.text(word_start..self.at);
                    let name = name.split(['(', ' ', '\t']).next().unwrap_or_default().to_owned();
                    return self.function(name);
                }
            } else {
                break;
            }
            end = self.at;
        }
        if end == start {
            return self.expected("a command");
        }
        Ok(Command::Simple(Simple { span: start..end, assignments, words, redirects }))
    }

    /// Steps over `()` with blanks, if that is next.
    fn eat_parentheses(&mut self) -> bool {
        let start = self.at;
        self.skip_blanks();
        if self.eat("(") {
            self.skip_blanks();
            if self.eat(")") {
                return true;
            }
        }
        self.at = start;
        false
    }

    /// `name=word`, `name+=word`, `name[index]=word`, `name=(words)`, if that is next.
    fn assignment(&mut self) -> Parsed<Option<Assignment>> {
        if !self.peek().is_some_and(is_name_start) {
            return Ok(None);
        }
        let mut ahead = 1;
        while self.peek_at(ahead).is_some_and(is_name) {
            ahead += 1;
        }
        let name = self.text(self.at..self.at + ahead).to_owned();
        if self.peek_at(ahead) == Some(b'[') {
            while self.peek_at(ahead).is_some_and(|byte| !matches!(byte, b']' | b'\n' | b' ')) {
                ahead += 1;
            }
            ahead += 1;
        }
        let append = self.peek_at(ahead) == Some(b'+');
        ahead += usize::from(append);
        if self.peek_at(ahead) != Some(b'=') {
            return Ok(None);
        }
        self.at += ahead + 1;
        let values =
            if self.eat("(") { self.array()? } else { vec![self.word()?.unwrap_or_default()] };
        Ok(Some(Assignment { name, append, values }))
    }

    pub(super) fn array(&mut self) -> Parsed<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat(")") {
                return Ok(words);
            }
            match self.word()? {
                Some(word) => words.push(word),
                None => return self.expected("`)`"),
            }
        }
    }
}
