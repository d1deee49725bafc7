//! Simple commands: assignments, words, redirections; and `name()`.

use super::ast::{Assignment, Command, Piece, Simple, Word};
use super::cursor::{Parsed, Parser, is_name, is_name_start};

/// What begins like an assignment.
enum First {
    Assignment(Assignment),
    Word(Word),
}

impl Parser {
    pub(super) fn simple(&mut self) -> Parsed<Command> {
        let start = self.at;
        let mut end = start;
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        let mut names = Vec::new();
        loop {
            self.skip_blanks();
            let word_start = self.at;
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
            } else if words.is_empty()
                && let Some(first) = self.assignment()?
            {
                match first {
                    First::Assignment(assignment) => assignments.push(assignment),
                    First::Word(word) => words.push(word),
                }
            } else if let Some(word) = self.word()? {
                let name = self.text(word_start..self.at);
                // `{name[index]}> file` puts the descriptor there.
                let named = name.starts_with('{') && name.contains('[');
                self.evaluates |= named && matches!(self.peek(), Some(b'<' | b'>'));
                words.push(word);
                let may_define = words.len() == 1 || self.is_zsh();
                if may_define {
                    names.push(word_start..self.at);
                }
                if may_define && assignments.is_empty() && self.eat_parentheses() {
                    let names = names.into_iter().map(|name| self.text(name).to_owned());
                    let names = names.collect();
                    return self.function(names);
                }
            } else if self.is_zsh() && !words.is_empty() && self.peek() == Some(b'(') {
                // `ls (a|b)`.
                let mut pieces = Vec::new();
                self.pattern(&mut pieces)?;
                self.rest_of_word(word_start, &mut pieces)?;
                words.push(Word { pieces });
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
    pub(super) fn eat_parentheses(&mut self) -> bool {
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

    /// `name=word`, `name+=word`, `name[index]=word`, `name=(words)`, if that is next. A word that
    /// only began like one is read to its end.
    fn assignment(&mut self) -> Parsed<Option<First>> {
        if !self.peek().is_some_and(is_name_start) {
            return Ok(None);
        }
        let start = self.at;
        let mut ahead = 1;
        while self.peek_at(ahead).is_some_and(is_name) {
            ahead += 1;
        }
        let name = self.text(start..start + ahead).to_owned();
        let mut index = Vec::new();
        let subscripted = self.extended() && self.peek_at(ahead) == Some(b'[');
        if subscripted {
            self.at += ahead + 1;
            index.push(self.nested(Self::subscript)?);
            ahead = 0;
        }
        let append = self.extended() && self.peek_at(ahead) == Some(b'+');
        ahead += usize::from(append);
        if self.peek_at(ahead) != Some(b'=') {
            if !subscripted {
                return Ok(None);
            }
            let mut pieces = vec![Piece::Literal { text: format!("{name}["), quoted: false }];
            pieces.extend(index.into_iter().flat_map(|word| word.pieces));
            pieces.push(Piece::Literal { text: "]".to_owned(), quoted: false });
            self.rest_of_word(start, &mut pieces)?;
            return Ok(Some(First::Word(Word { pieces })));
        }
        self.at += ahead + 1;
        self.count(1)?;
        let values = if self.extended() && self.eat("(") {
            self.array()?
        } else {
            vec![self.word()?.unwrap_or_default()]
        };
        Ok(Some(First::Assignment(Assignment { name, index, append, values })))
    }

    pub(super) fn array(&mut self) -> Parsed<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat(")") {
                return Ok(words);
            }
            let start = self.at;
            match self.word()? {
                Some(word) => {
                    // `[index]=value`.
                    if let Some(rest) = self.text(start..self.at).strip_prefix('[') {
                        let index = rest.split(']').next().unwrap_or(rest).len();
                        self.evaluate(start + 1, start + 1 + index);
                    }
                    words.push(word);
                }
                None => return self.expected("`)`"),
            }
        }
    }
}
