//! The syntax of fish: statements and blocks. Words are in `fish_word`.
//!
//! A text with an error in it runs nothing in fish, so reading one is only to find what it may hold.

use std::rc::Rc;

use super::ast::{
    Assignment, Command, Compound, Item, Joint, Redirect, RedirectKind, Scope, Script, Simple, Word,
};
use super::cursor::{Parsed, Parser, is_name, is_name_start};

/// Redirections, longer ones first.
const OPERATORS: [(&str, RedirectKind); 10] = [
    ("&>>", RedirectKind::Append),
    ("&>?", RedirectKind::Write),
    ("&>", RedirectKind::Write),
    (">>", RedirectKind::Append),
    (">?", RedirectKind::Write),
    (">&", RedirectKind::Duplicate),
    (">", RedirectKind::Write),
    ("<&", RedirectKind::Duplicate),
    ("<?", RedirectKind::Read),
    ("<", RedirectKind::Read),
];

impl Parser {
    /// Statements up to the end, a closing parenthesis or the end of a block, left standing.
    pub(super) fn fish_items(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        let mut joint = Joint::Always;
        loop {
            loop {
                self.skip_lines()?;
                if !self.eat(";") {
                    break;
                }
            }
            let ended = matches!(self.peek(), None | Some(b')' | b'}'))
                || matches!(self.fish_keyword().as_str(), "end" | "else" | "case");
            if ended {
                return if joint == Joint::Always { Ok(()) } else { self.expected("a command") };
            }
            let word = self.fish_keyword();
            if matches!(word.as_str(), "and" | "or") {
                self.fish_word()?;
                joint = if word == "and" { Joint::And } else { Joint::Or };
            }
            let stages = self.fish_pipeline()?;
            let mut item = Item { stages, joint, background: false };
            self.skip_blanks();
            joint = Joint::Always;
            let more = if self.eat("&&") {
                joint = Joint::And;
                true
            } else if self.eat("||") {
                joint = Joint::Or;
                true
            } else if self.eat("&") {
                item.background = true;
                true
            } else {
                matches!(self.peek(), Some(b';' | b'\n'))
            };
            items.push(item);
            if !more {
                return Ok(());
            }
        }
    }

    fn fish_pipeline(&mut self) -> Parsed<Vec<Command>> {
        let mut stages = vec![self.fish_statement()?];
        loop {
            self.skip_blanks();
            if !self.eat_pipe() {
                return Ok(stages);
            }
            self.skip_lines()?;
            stages.push(self.fish_statement()?);
        }
    }

    /// `|`, `&|`, `>|` and `2>|`.
    fn eat_pipe(&mut self) -> bool {
        if self.looking_at("||") {
            return false;
        }
        let mut digits = 0;
        while self.peek_at(digits).is_some_and(|byte| byte.is_ascii_digit()) {
            digits += 1;
        }
        let numbered = self.peek_at(digits) == Some(b'>') && self.peek_at(digits + 1) == Some(b'|');
        if numbered {
            self.at += digits + 2;
            return true;
        }
        self.eat("&|") || self.eat("|")
    }

    fn fish_statement(&mut self) -> Parsed<Command> {
        self.count(1)?;
        self.nested(|parser| {
            loop {
                parser.skip_blanks();
                if !matches!(parser.fish_keyword().as_str(), "not" | "!" | "time") {
                    break;
                }
                parser.fish_word()?;
            }
            if parser.peek() == Some(b'{') && matches!(parser.peek_at(1), Some(b' ' | b'\n' | b';'))
            {
                // A block in fish 4, a word in fish 3.
                parser.doubtful();
                return parser.fish_block(Scope::Group, |parser, block| {
                    parser.at += 1;
                    block.bodies.push(parser.fish_list()?);
                    parser.close("}", "`}`")
                });
            }
            match parser.fish_keyword().as_str() {
                "begin" => parser.fish_block(Scope::Group, |parser, block| {
                    parser.fish_word()?;
                    block.bodies.push(parser.fish_list()?);
                    parser.fish_end()
                }),
                "if" | "while" => parser.fish_block(Scope::Conditional, Self::fish_branches),
                "for" => parser.fish_block(Scope::Conditional, |parser, block| {
                    let mut words = parser.fish_header()?.into_iter();
                    let name = words.next().map(|(text, _)| text).unwrap_or_default();
                    // The word `in`.
                    words.next();
                    let words = words.map(|(_, word)| word).collect();
                    block.variable = Some((name, words));
                    block.bodies.push(parser.fish_list()?);
                    parser.fish_end()
                }),
                "switch" => parser.fish_block(Scope::Conditional, |parser, block| {
                    let header = parser.fish_header()?;
                    block.words.extend(header.into_iter().map(|(_, word)| word));
                    // Nothing stands before the first `case`.
                    block.bodies.push(parser.fish_list()?);
                    while parser.fish_keyword() == "case" {
                        let patterns = parser.fish_header()?;
                        block.words.extend(patterns.into_iter().map(|(_, word)| word));
                        block.bodies.push(parser.fish_list()?);
                    }
                    parser.fish_end()
                }),
                "function" => {
                    let header = parser.fish_header()?;
                    let name = header.into_iter().next().map(|(text, _)| text);
                    let items = parser.fish_list()?;
                    parser.fish_end()?;
                    let body = Rc::new(Script { source: parser.source.clone(), items });
                    Ok(Command::Function { names: name.into_iter().collect(), body })
                }
                _ => parser.fish_simple(),
            }
        })
    }

    /// The tests and branches of `if` and `while`.
    fn fish_branches(&mut self, block: &mut Compound) -> Parsed<()> {
        self.fish_word()?;
        loop {
            let mut body = self.fish_list()?;
            // What follows the test runs if that succeeded.
            if let [_, then, ..] = body.as_mut_slice()
                && then.joint == Joint::Always
            {
                then.joint = Joint::And;
            }
            block.bodies.push(body);
            if self.fish_keyword() != "else" {
                return self.fish_end();
            }
            self.fish_word()?;
            self.skip_blanks();
            if self.fish_keyword() == "if" {
                self.fish_word()?;
            }
        }
    }

    fn fish_block(
        &mut self,
        scope: Scope,
        contents: impl FnOnce(&mut Self, &mut Compound) -> Parsed<()>,
    ) -> Parsed<Command> {
        let start = self.at;
        let mut block = Compound {
            span: start..start,
            scope,
            variable: None,
            words: Vec::new(),
            bodies: Vec::new(),
            redirects: Vec::new(),
        };
        contents(self, &mut block)?;
        block.span = start..self.at;
        loop {
            self.skip_blanks();
            match self.fish_redirect()? {
                Some(redirect) => block.redirects.push(redirect),
                None => return Ok(Command::Compound(block)),
            }
        }
    }

    pub(super) fn fish_list(&mut self) -> Parsed<Vec<Item>> {
        let mut items = Vec::new();
        self.fish_items(&mut items)?;
        Ok(items)
    }

    fn fish_end(&mut self) -> Parsed<()> {
        if self.fish_keyword() == "end" {
            self.fish_word()?;
            return Ok(());
        }
        self.expected("`end`")
    }

    /// The words after a keyword, up to the end of the line, each with its text as written.
    fn fish_header(&mut self) -> Parsed<Vec<(String, Word)>> {
        self.fish_word()?;
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            let start = self.at;
            match self.fish_word()? {
                Some(word) => {
                    let written = self.text(start..self.at).replace(['\'', '"'], "");
                    words.push((written, word));
                }
                None => return Ok(words),
            }
        }
    }

    fn fish_simple(&mut self) -> Parsed<Command> {
        let start = self.at;
        let mut end = start;
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.fish_redirect()? {
                redirects.push(redirect);
            } else if words.is_empty()
                && let Some(assignment) = self.fish_assignment()?
            {
                assignments.push(assignment);
            } else if let Some(word) = self.fish_word()? {
                words.push(word);
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

    fn fish_assignment(&mut self) -> Parsed<Option<Assignment>> {
        if !self.peek().is_some_and(is_name_start) {
            return Ok(None);
        }
        let mut ahead = 1;
        while self.peek_at(ahead).is_some_and(is_name) {
            ahead += 1;
        }
        if self.peek_at(ahead) != Some(b'=') {
            return Ok(None);
        }
        let name = self.text(self.at..self.at + ahead).to_owned();
        self.at += ahead + 1;
        let values = vec![self.fish_word()?.unwrap_or_default()];
        Ok(Some(Assignment { name, index: Vec::new(), append: false, values }))
    }

    fn fish_redirect(&mut self) -> Parsed<Option<Redirect>> {
        let start = self.at;
        let mut ahead = 0;
        while self.peek_at(ahead).is_some_and(|byte| byte.is_ascii_digit()) {
            ahead += 1;
        }
        if self.peek_at(ahead) == Some(b'>') && self.peek_at(ahead + 1) == Some(b'|') {
            return Ok(None);
        }
        self.at += ahead;
        let found = OPERATORS.iter().copied().find(|(text, _)| self.looking_at(text));
        let Some((text, kind)) = found.filter(|(text, _)| ahead == 0 || !text.starts_with('&'))
        else {
            self.at = start;
            return Ok(None);
        };
        self.at += text.len();
        self.skip_blanks();
        let Some(target) = self.fish_word()? else {
            return self.expected("the target of a redirection");
        };
        Ok(Some(Redirect { span: start..self.at, kind, target, here: None }))
    }
}
