//! Subshells, groups, loops, conditionals, functions.

use std::rc::Rc;

use super::ast::{Command, Compound, Item, Scope, Script, Word};
use super::cursor::{Parsed, Parser};

/// What stands between the opening and the closing word of a compound command.
#[derive(Default)]
struct Contents {
    variable: Option<(String, Vec<Word>)>,
    words: Vec<Word>,
    bodies: Vec<Vec<Item>>,
}

impl Contents {
    fn of(bodies: Vec<Vec<Item>>) -> Self {
        Self { bodies, ..Self::default() }
    }
}

impl Parser {
    pub(super) fn command(&mut self) -> Parsed<Command> {
        self.nested(|parser| {
            parser.skip_blanks();
            if parser.looking_at("((")
                && let Some(close) = parser.arithmetic_end(2)
            {
                return parser.compound(Scope::Group, |parser| {
                    parser.at += 2;
                    let words = vec![parser.arithmetic(close)?];
                    Ok(Contents { words, ..Contents::default() })
                });
            }
            if parser.peek() == Some(b'(') {
                return parser.compound(Scope::Subshell, |parser| {
                    parser.at += 1;
                    parser.list_until_parenthesis().map(|body| Contents::of(vec![body]))
                });
            }
            match parser.bare_word() {
                "{" => parser.compound(Scope::Group, |parser| {
                    parser.at += 1;
                    let body = parser.list()?;
                    parser.close("}", "`}`")?;
                    Ok(Contents::of(vec![body]))
                }),
                "if" => parser.compound(Scope::Conditional, Self::if_command),
                "while" | "until" => parser.compound(Scope::Conditional, |parser| {
                    parser.at += 5;
                    let test = parser.list()?;
                    Ok(Contents::of(vec![test, parser.loop_body()?]))
                }),
                "for" | "select" => parser.compound(Scope::Conditional, Self::for_command),
                "case" => parser.compound(Scope::Conditional, Self::case_command),
                "[[" => parser.compound(Scope::Group, Self::test_command),
                "function" => {
                    parser.at += "function".len();
                    parser.skip_blanks();
                    let start = parser.at;
                    parser.word()?;
                    let name = parser.text(start..parser.at).to_owned();
                    parser.skip_blanks();
                    if parser.eat("(") {
                        parser.skip_blanks();
                        parser.close(")", "`)`")?;
                    }
                    parser.function(name)
                }
                _ => parser.simple(),
            }
        })
    }

    fn compound(
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

    /// The body of a function whose name has been read.
    pub(super) fn function(&mut self, name: String) -> Parsed<Command> {
        self.skip_lines()?;
        let stages = vec![self.command()?];
        let items = vec![Item { stages, conditional: false, background: false }];
        let body = Rc::new(Script { source: self.source.clone(), items });
        Ok(Command::Function { name, body })
    }

    pub(super) fn list_until_parenthesis(&mut self) -> Parsed<Vec<Item>> {
        let items = self.list()?;
        self.close(")", "`)`")?;
        Ok(items)
    }

    fn close(&mut self, word: &str, expected: &'static str) -> Parsed<()> {
        self.skip_lines()?;
        if self.eat(word) { Ok(()) } else { self.expected(expected) }
    }

    fn if_command(&mut self) -> Parsed<Contents> {
        self.at += "if".len();
        let mut bodies = vec![self.list()?];
        self.close("then", "`then`")?;
        bodies.push(self.list()?);
        loop {
            if self.eat_reserved("elif") {
                bodies.push(self.list()?);
                self.close("then", "`then`")?;
            } else if !self.eat_reserved("else") {
                break;
            }
            bodies.push(self.list()?);
        }
        self.close("fi", "`fi`")?;
        Ok(Contents::of(bodies))
    }

    fn loop_body(&mut self) -> Parsed<Vec<Item>> {
        self.skip_lines()?;
        let close = if self.eat_reserved("{") {
            "}"
        } else {
            self.close("do", "`do`")?;
            "done"
        };
        let body = self.list()?;
        self.close(close, "the end of the loop")?;
        Ok(body)
    }

    fn for_command(&mut self) -> Parsed<Contents> {
        self.at += self.bare_word().len();
        self.skip_blanks();
        if self.looking_at("((") {
            let Some(close) = self.arithmetic_end(2) else { return self.expected("`))`") };
            self.at += 2;
            let words = vec![self.arithmetic(close)?];
            self.skip_blanks();
            let _ = self.eat(";");
            let bodies = vec![self.loop_body()?];
            return Ok(Contents { words, bodies, ..Contents::default() });
        }
        let start = self.at;
        self.word()?;
        let name = self.text(start..self.at).to_owned();
        self.skip_lines()?;
        let mut words = Vec::new();
        if self.eat_reserved("in") {
            loop {
                self.skip_blanks();
                match self.word()? {
                    Some(word) => words.push(word),
                    None => break,
                }
            }
        }
        self.skip_blanks();
        let _ = self.eat(";");
        let bodies = vec![self.loop_body()?];
        Ok(Contents { variable: Some((name, words)), bodies, ..Contents::default() })
    }

    fn case_command(&mut self) -> Parsed<Contents> {
        self.at += "case".len();
        self.skip_blanks();
        let mut words: Vec<Word> = self.word()?.into_iter().collect();
        self.close("in", "`in`")?;
        let mut bodies = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat_reserved("esac") {
                return Ok(Contents { words, bodies, ..Contents::default() });
            }
            let _ = self.eat("(");
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
            bodies.push(self.list()?);
            let _ = self.eat(";;&") || self.eat(";;") || self.eat(";&");
        }
    }

    /// `[[ … ]]`: words and operators that run nothing, up to the closing word.
    fn test_command(&mut self) -> Parsed<Contents> {
        self.at += "[[".len();
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat_reserved("]]") {
                return Ok(Contents { words, ..Contents::default() });
            }
            match self.word()? {
                Some(word) => words.push(word),
                None if self.at < self.end => self.at += 1,
                None => return self.expected("`]]`"),
            }
        }
    }
}
