//! Lists and pipelines.

use super::ast::{Command, Item, Joint};
use super::cursor::{Parsed, Parser, is_name};
use crate::dialect::Grammar;

impl Parser {
    /// The whole text. `items` keeps what came before an error.
    pub(super) fn whole(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        match self.grammar {
            Grammar::Fish => self.fish_items(items)?,
            _ => self.items(items)?,
        }
        if self.at < self.end {
            return self.expected("the end of the command");
        }
        // A here-document whose text never came is empty.
        for here in std::mem::take(&mut self.pending) {
            self.here_document(here)?;
        }
        Ok(())
    }

    /// A list up to a closing word, which is left standing.
    pub(super) fn list(&mut self) -> Parsed<Vec<Item>> {
        let mut items = Vec::new();
        self.items(&mut items)?;
        Ok(items)
    }

    fn items(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        let mut joint = Joint::Always;
        loop {
            self.skip_lines()?;
            if self.at_list_end() {
                return if joint == Joint::Always { Ok(()) } else { self.expected("a command") };
            }
            let stages = self.pipeline()?;
            let mut item = Item { stages, joint, background: false };
            self.skip_blanks();
            joint = Joint::Always;
            let more = if self.eat("&&") {
                joint = Joint::And;
                true
            } else if self.eat("||") {
                joint = Joint::Or;
                true
            } else if self.at_case_end() {
                false
            } else if self.eat(";") {
                true
            } else if self.eat("&") {
                item.background = true;
                if self.is_zsh() {
                    // `&!` and `&|` disown.
                    let _ = self.eat("!") || (!self.looking_at("||") && self.eat("|"));
                }
                true
            } else {
                self.peek() == Some(b'\n')
            };
            items.push(item);
            if !more {
                return Ok(());
            }
        }
    }

    fn at_list_end(&self) -> bool {
        matches!(self.peek(), None | Some(b')'))
            || self.at_case_end()
            || matches!(
                self.bare_word(),
                "}" | "then" | "else" | "elif" | "fi" | "do" | "done" | "esac"
            )
            || (self.is_zsh() && (self.peek() == Some(b'}') || self.bare_word() == "end"))
    }

    /// Looking at what ends a branch of a `case`.
    fn at_case_end(&self) -> bool {
        self.looking_at(";;")
            || (self.extended() && self.looking_at(";&"))
            || (self.is_zsh() && self.looking_at(";|"))
    }

    pub(super) fn pipeline(&mut self) -> Parsed<Vec<Command>> {
        self.skip_prefixes();
        let mut stages = vec![self.command()?];
        loop {
            self.skip_blanks();
            if self.looking_at("||") || !self.eat("|") {
                return Ok(stages);
            }
            let _ = self.extended() && self.eat("&");
            self.skip_lines()?;
            self.skip_prefixes();
            stages.push(self.command()?);
        }
    }

    /// `!`, `time` and `coproc` change nothing about what runs.
    fn skip_prefixes(&mut self) {
        loop {
            self.skip_blanks();
            let start = self.at;
            if self.eat_reserved("!") {
                continue;
            }
            if self.extended() && self.eat_reserved("coproc") {
                self.skip_coprocess_name();
                continue;
            }
            // To dash it is a program.
            if !(self.extended() && self.eat_reserved("time")) {
                return;
            }
            self.skip_blanks();
            if !self.eat_reserved("-p") && self.peek() == Some(b'-') {
                // The program of that name, with options.
                self.at = start;
                return;
            }
        }
    }

    /// `coproc NAME { … }`: a name stands before a compound command only.
    fn skip_coprocess_name(&mut self) {
        self.skip_blanks();
        let start = self.at;
        while self.peek().is_some_and(is_name) {
            self.at += 1;
        }
        if self.at > start {
            self.skip_blanks();
            let compound = matches!(
                self.bare_word(),
                "{" | "if" | "while" | "until" | "for" | "case" | "select" | "[["
            );
            if self.peek() == Some(b'(') || compound {
                return;
            }
        }
        self.at = start;
    }
}
