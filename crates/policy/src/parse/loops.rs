//! `if`, loops, `case` and `[[ … ]]`, with the short forms of zsh.

use super::ast::{Item, Word};
use super::compound::Contents;
use super::cursor::{Parsed, Parser};

impl Parser {
    pub(super) fn if_command(&mut self) -> Parsed<Contents> {
        self.at += "if".len();
        let mut bodies = vec![self.list()?];
        let mut short = self.branch(&mut bodies)?;
        loop {
            // zsh: after `{ … }` neither `else` nor `fi` has to follow.
            let start = self.at;
            self.skip_lines()?;
            if self.eat_reserved("elif") {
                bodies.push(self.list()?);
                short = self.branch(&mut bodies)?;
            } else if self.eat_reserved("else") {
                self.skip_lines()?;
                let braces = self.is_zsh() && self.peek() == Some(b'{');
                bodies.push(if braces { self.single_command()? } else { self.list()? });
                short = braces;
            } else if short {
                self.at = start;
                return Ok(Contents::of(bodies));
            } else {
                self.close("fi", "`fi`")?;
                return Ok(Contents::of(bodies));
            }
        }
    }

    /// What runs if a test was true. Whether it was written in a short form, without `then`.
    fn branch(&mut self, bodies: &mut Vec<Vec<Item>>) -> Parsed<bool> {
        self.skip_lines()?;
        if self.is_zsh() && self.bare_word() != "then" {
            bodies.push(self.short_body()?);
            return Ok(true);
        }
        self.close("then", "`then`")?;
        bodies.push(self.list()?);
        Ok(false)
    }

    pub(super) fn loop_body(&mut self) -> Parsed<Vec<Item>> {
        self.skip_lines()?;
        let close = if self.extended() && self.eat_reserved("{") {
            "}"
        } else if self.is_zsh() && self.bare_word() != "do" {
            return self.short_body();
        } else {
            self.close("do", "`do`")?;
            "done"
        };
        let body = self.list()?;
        self.close(close, "the end of the loop")?;
        Ok(body)
    }

    /// zsh: a pipeline in the place of `do … done` or `then … fi`.
    fn short_body(&mut self) -> Parsed<Vec<Item>> {
        let stages = self.pipeline()?;
        Ok(vec![Item { stages, joint: super::Joint::Always, background: false }])
    }

    pub(super) fn for_command(&mut self) -> Parsed<Contents> {
        let until_end = self.bare_word() == "foreach";
        self.at += self.bare_word().len();
        self.skip_blanks();
        if self.extended() && self.looking_at("((") {
            let Some(close) = self.arithmetic_end(2) else { return self.expected("`))`") };
            self.at += 2;
            let words = vec![self.arithmetic(close)?];
            self.skip_blanks();
            let _ = self.eat(";");
            let bodies = vec![self.loop_body()?];
            return Ok(Contents { words, bodies, ..Contents::default() });
        }
        let name = self.loop_names()?;
        let mut words = Vec::new();
        if self.eat_reserved("in") {
            loop {
                self.skip_blanks();
                match self.word()? {
                    Some(word) => words.push(word),
                    None => break,
                }
            }
        } else if self.is_zsh() && self.eat("(") {
            words = self.array()?;
        }
        self.skip_blanks();
        let _ = self.eat(";");
        let body = if until_end {
            let body = self.list()?;
            self.close("end", "`end`")?;
            body
        } else {
            self.loop_body()?
        };
        Ok(Contents { variable: Some((name, words)), bodies: vec![body], ..Contents::default() })
    }

    /// The variable of a loop. zsh takes several, whose values are not told apart.
    fn loop_names(&mut self) -> Parsed<String> {
        let mut name = String::new();
        loop {
            self.skip_lines()?;
            let done = matches!(self.bare_word(), "in" | "do" | "{");
            if done || (!name.is_empty() && !self.is_zsh()) {
                return Ok(name);
            }
            let start = self.at;
            if self.word()?.is_none() {
                return Ok(name);
            }
            if name.is_empty() {
                self.text(start..self.at).clone_into(&mut name);
            } else {
                self.doubtful();
            }
        }
    }

    pub(super) fn case_command(&mut self) -> Parsed<Contents> {
        self.at += "case".len();
        self.skip_blanks();
        let mut words: Vec<Word> = self.word()?.into_iter().collect();
        self.skip_lines()?;
        let closing = if self.is_zsh() && self.eat("{") {
            "}"
        } else {
            self.close("in", "`in`")?;
            "esac"
        };
        let mut bodies = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat_reserved(closing) {
                return Ok(Contents { words, bodies, ..Contents::default() });
            }
            self.case_patterns(&mut words)?;
            bodies.push(self.list()?);
            let _ = self.eat(";;&") || self.eat(";;") || self.eat(";&") || self.eat(";|");
        }
    }

    /// `(a|b)`, with or without the first parenthesis.
    fn case_patterns(&mut self, words: &mut Vec<Word>) -> Parsed<()> {
        let opened = self.eat("(");
        loop {
            self.skip_blanks();
            match self.word()? {
                Some(word) => words.push(word),
                None => return self.expected("a pattern"),
            }
            self.skip_blanks();
            if !self.eat("|") {
                break;
            }
        }
        self.close(")", "`)`")?;
        // zsh: `(a|b)c)`, where the first parenthesis was part of the pattern.
        let ended = matches!(self.peek(), None | Some(b' ' | b'\t' | b'\n' | b';'));
        if opened && self.is_zsh() && !ended {
            words.extend(self.word()?);
            self.close(")", "`)`")?;
        }
        Ok(())
    }

    /// `[[ … ]]`: words and operators that run nothing, up to the closing word.
    pub(super) fn test_command(&mut self) -> Parsed<Contents> {
        self.at += "[[".len();
        let (mut words, mut written) = (Vec::new(), Vec::new());
        loop {
            self.skip_lines()?;
            if self.eat_reserved("]]") {
                self.evaluate_test(&written);
                return Ok(Contents { words, ..Contents::default() });
            }
            let start = self.at;
            match self.word()? {
                Some(word) => {
                    words.push(word);
                    written.push(self.text(start..self.at).to_owned());
                }
                None if self.at < self.end => self.at += 1,
                None => return self.expected("`]]`"),
            }
        }
    }
}
