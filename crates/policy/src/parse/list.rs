//! Lists and pipelines.

use super::ast::{Command, Item};
use super::cursor::{Parsed, Parser};

impl Parser {
    /// The whole text. `items` keeps what came before an error.
    pub(super) fn whole(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        self.items(items)?;
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
        let mut conditional = false;
        loop {
            self.skip_lines()?;
            if self.at_list_end() {
                return if conditional { self.expected("a command") } else { Ok(()) };
            }
            let stages = self.pipeline()?;
            let mut item = Item { stages, conditional, background: false };
            self.skip_blanks();
            conditional = false;
            let more = if self.eat("&&") || self.eat("||") {
                conditional = true;
                true
            } else if self.looking_at(";;") || self.looking_at(";&") {
                false
            } else if self.eat(";") {
                true
            } else if self.eat("&") {
                item.background = true;
                // zsh: `&!` and `&|` disown.
                let _ = self.eat("!") || (!self.looking_at("||") && self.eat("|"));
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
            || self.looking_at(";;")
            || self.looking_at(";&")
            || matches!(
                self.bare_word(),
                "}" | "then" | "else" | "elif" | "fi" | "do" | "done" | "esac"
            )
    }

    fn pipeline(&mut self) -> Parsed<Vec<Command>> {
        self.skip_prefixes();
        let mut stages = vec![self.command()?];
        loop {
            self.skip_blanks();
            if self.looking_at("||") || !(self.eat("|&") || self.eat("|")) {
                return Ok(stages);
            }
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
            if self.eat_reserved("!") || self.eat_reserved("coproc") {
                continue;
            }
            if !self.eat_reserved("time") {
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
}
