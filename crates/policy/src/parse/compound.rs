//! Subshells, groups, functions; loops and conditionals are in `loops`.

use std::rc::Rc;

use super::ast::{Command, Compound, Item, Joint, Scope, Script, Word};
use super::cursor::{Parsed, Parser};

/// What stands between the opening and the closing word of a compound command.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) variable: Option<(String, Vec<Word>)>,
    pub(super) words: Vec<Word>,
    pub(super) bodies: Vec<Vec<Item>>,
}

impl Contents {
    pub(super) fn of(bodies: Vec<Vec<Item>>) -> Self {
        Self { bodies, ..Self::default() }
    }
}

impl Parser {
    pub(super) fn command(&mut self) -> Parsed<Command> {
        self.count(1)?;
        self.nested(|parser| {
            parser.skip_blanks();
            if parser.extended()
                && parser.looking_at("((")
                && let Some(close) = parser.arithmetic_end(2)
            {
                return parser.compound(Scope::Group, |parser| {
                    parser.at += 2;
                    let words = vec![parser.arithmetic(close)?];
                    Ok(Contents { words, ..Contents::default() })
                });
            }
            if parser.is_zsh() && parser.eat_parentheses() {
                // `() { … }` runs at once.
                return parser.compound(Scope::Group, |parser| {
                    parser.skip_lines()?;
                    let body = parser.single_command()?;
                    Ok(Contents::of(vec![body]))
                });
            }
            if parser.peek() == Some(b'(') {
                return parser.compound(Scope::Subshell, |parser| {
                    parser.at += 1;
                    parser.list_until_parenthesis().map(|body| Contents::of(vec![body]))
                });
            }
            if parser.is_zsh() && parser.peek() == Some(b'{') {
                return parser.compound(Scope::Group, Self::zsh_group);
            }
            match (parser.bare_word(), parser.extended(), parser.is_zsh()) {
                ("{", ..) => parser.compound(Scope::Group, |parser| {
                    parser.at += 1;
                    let body = parser.list()?;
                    parser.close("}", "`}`")?;
                    Ok(Contents::of(vec![body]))
                }),
                ("if", ..) => parser.compound(Scope::Conditional, Self::if_command),
                ("while" | "until", ..) => parser.compound(Scope::Conditional, |parser| {
                    parser.at += "while".len();
                    let test = parser.list()?;
                    Ok(Contents::of(vec![test, parser.loop_body()?]))
                }),
                ("for", ..) | ("select", true, _) | ("foreach", _, true) => {
                    parser.compound(Scope::Conditional, Self::for_command)
                }
                ("repeat", _, true) => parser.compound(Scope::Conditional, |parser| {
                    parser.at += "repeat".len();
                    parser.skip_blanks();
                    let start = parser.at;
                    let words = parser.word()?.into_iter().collect();
                    parser.evaluate(start, parser.at);
                    let bodies = vec![parser.loop_body()?];
                    Ok(Contents { words, bodies, ..Contents::default() })
                }),
                ("case", ..) => parser.compound(Scope::Conditional, Self::case_command),
                ("[[", true, _) => parser.compound(Scope::Group, Self::test_command),
                ("function", true, _) => parser.function_keyword(),
                _ => parser.simple(),
            }
        })
    }

    /// `{ … }` of zsh, with the `always { … }` that may follow.
    fn zsh_group(&mut self) -> Parsed<Contents> {
        self.at += 1;
        let mut bodies = vec![self.list()?];
        self.close("}", "`}`")?;
        self.skip_blanks();
        if self.eat_reserved("always") {
            self.close("{", "`{`")?;
            bodies.push(self.list()?);
            self.close("}", "`}`")?;
        }
        Ok(Contents::of(bodies))
    }

    fn function_keyword(&mut self) -> Parsed<Command> {
        self.at += "function".len();
        let mut names = Vec::new();
        loop {
            self.skip_blanks();
            let start = self.at;
            if self.bare_word() == "{" || self.word()?.is_none() {
                break;
            }
            names.push(self.text(start..self.at).to_owned());
            if !self.is_zsh() {
                break;
            }
        }
        self.skip_blanks();
        if self.eat("(") {
            self.skip_blanks();
            self.close(")", "`)`")?;
        }
        self.function(names)
    }

    /// One command as a list.
    pub(super) fn single_command(&mut self) -> Parsed<Vec<Item>> {
        let stages = vec![self.command()?];
        Ok(vec![Item { stages, joint: Joint::Always, background: false }])
    }

    pub(super) fn compound(
        &mut self,
        scope: Scope,
        contents: impl FnOnce(&mut Self) -> Parsed<Contents>,
    ) -> Parsed<Command> {
        let start = self.at;
        let Contents { variable, words, bodies } = contents(self)?;
        let span = start..self.at;
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        Ok(Command::Compound(Compound { span, scope, variable, words, bodies, redirects }))
    }

    /// The body of a function whose names have been read. Without a name it runs at once.
    pub(super) fn function(&mut self, names: Vec<String>) -> Parsed<Command> {
        self.skip_lines()?;
        let items = self.single_command()?;
        let body = Rc::new(Script { source: self.source.clone(), items });
        Ok(Command::Function { names, body })
    }

    pub(super) fn list_until_parenthesis(&mut self) -> Parsed<Vec<Item>> {
        let items = self.list()?;
        self.close(")", "`)`")?;
        Ok(items)
    }

    pub(super) fn close(&mut self, word: &str, expected: &'static str) -> Parsed<()> {
        self.skip_lines()?;
        if self.eat(word) { Ok(()) } else { self.expected(expected) }
    }
}
