//! The statements of a source of Go that declare variables and take several lines.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{LINE_END, Token, Tokens};

/// Tokens of a signature that are read, without what is in brackets.
const MAX_SIGNATURE: usize = 500;

/// The multi-line declarations and function literals of a source.
#[derive(Debug, Default)]
pub(super) struct Statements {
    declared: Vec<Declaration>,
    literals: Vec<Literal>,
}

/// A variable that is declared within a statement.
#[derive(Debug)]
struct Declaration {
    name: String,
    /// The line of the name.
    line: u64,
    /// The last line in which it has no value.
    last: u64,
    /// How many literals of functions are around it.
    literals: usize,
}

/// The body of a function that has no name.
#[derive(Debug)]
struct Literal {
    first: u64,
    last: u64,
    /// How many are around its code, itself included.
    literals: usize,
}

impl Statements {
    pub(super) fn of(source: &str) -> Self {
        let tokens: Vec<_> = Tokens::new(source).collect();
        Reader::new(&tokens).read()
    }

    /// The variables that have no value at a line, in code with so many literals of functions around it.
    pub(super) fn unset(&self, line: u64, literals: usize) -> Vec<&str> {
        let is_unset =
            |one: &&Declaration| one.literals == literals && one.line < line && line <= one.last;
        self.declared.iter().filter(is_unset).map(|one| &*one.name).collect()
    }

    /// The variables that have no value at a line, in the innermost function that has it to itself.
    pub(super) fn unset_at(&self, line: u64) -> Vec<&str> {
        let around = self.literals.iter().filter(|one| one.first < line && line < one.last);
        self.unset(line, around.map(|one| one.literals).max().unwrap_or(0))
    }
}

/// What an opened bracket is.
struct Open<'a> {
    bracket: &'a str,
    line: u64,
    /// The body of a function literal.
    is_literal: bool,
    /// Behind `var`: each statement inside is a declaration.
    is_group: bool,
    /// The fields or methods of a type.
    is_type: bool,
    /// The variables of the block, the parameters of a function among them.
    names: BTreeSet<&'a str>,
}

/// A statement that has begun to declare variables.
struct Begun<'a> {
    names: Vec<Token<'a>>,
    /// Brackets that are open around it.
    depth: usize,
    head: Head,
    /// The last line with more than the end of brackets.
    last: u64,
}

/// What a declaration is the head of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    /// Nothing.
    None,
    /// A block.
    Block,
    /// A case of a `select`.
    Case,
}

/// The body of a function that comes.
struct Body<'a> {
    parameters: BTreeSet<&'a str>,
    is_literal: bool,
}

struct Reader<'a> {
    tokens: &'a [Token<'a>],
    /// For each bracket that opens, where it is closed.
    ends: BTreeMap<usize, usize>,
    bodies: BTreeMap<usize, Body<'a>>,
    open: Vec<Open<'a>>,
    /// Function literals and blocks of those that are open.
    literals: usize,
    blocks: usize,
    /// Where the last fields or methods of a type end.
    type_end: Option<usize>,
    begun: Vec<Begun<'a>>,
    found: Statements,
}

impl<'a> Reader<'a> {
    fn new(tokens: &'a [Token<'a>]) -> Self {
        let (mut ends, mut open) = (BTreeMap::new(), Vec::new());
        for (at, token) in tokens.iter().enumerate() {
            match token.text {
                "(" | "[" | "{" => open.push(at),
                ")" | "]" | "}" => ends.extend(open.pop().map(|from| (from, at))),
                _ => {}
            }
        }
        Self {
            tokens,
            ends,
            bodies: BTreeMap::new(),
            open: Vec::new(),
            literals: 0,
            blocks: 0,
            type_end: None,
            begun: Vec::new(),
            found: Statements::default(),
        }
    }

    fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(text))
    }

    fn text_before(&self, at: usize) -> &'a str {
        at.checked_sub(1).map_or(LINE_END, |before| self.tokens[before].text)
    }

    fn read(mut self) -> Statements {
        for (at, token) in self.tokens.iter().enumerate() {
            match token.text {
                "(" | "[" | "{" => self.opens(at, token),
                ")" | "]" | "}" => self.closes(at, token),
                ";" | LINE_END => self.ends(token),
                ":" if self.is_head(Head::Case, 0) => self.ends(token),
                "func" => self.function(at),
                "case" | "default" => {
                    // Each is a block of its own.
                    self.open.last_mut().into_iter().for_each(|block| block.names.clear());
                }
                // The variable of a switch over types is in its cases.
                "type" if self.text_before(at) == "(" && self.is_head(Head::Block, 1) => {
                    self.begun.pop();
                }
                ":=" => self.short_declaration(at),
                "var" => self.declarations(at + 1),
                _ => {}
            }
            let closes = [")", "]", "}", ",", ";", LINE_END].contains(&token.text);
            if let Some(begun) = self.begun.last_mut().filter(|_| !closes) {
                begun.last = token.line;
            }
            let begins = matches!(token.text, "(" | ";" | LINE_END);
            if begins && self.open.last().is_some_and(|open| open.is_group) {
                self.declarations(at + 1);
            }
        }
        self.found
    }

    /// Whether the latest statement is such a head, and the place in so many brackets inside of it.
    fn is_head(&self, head: Head, inside: usize) -> bool {
        let is_it =
            |begun: &Begun<'_>| begun.head == head && begun.depth + inside == self.open.len();
        self.begun.last().is_some_and(is_it)
    }

    fn opens(&mut self, at: usize, token: &Token<'a>) {
        let body = self.bodies.remove(&at);
        if token.is("{") && body.is_none() && self.is_head(Head::Block, 0) && self.begins_block(at)
        {
            self.ends(token);
        }
        let is_literal = body.as_ref().is_some_and(|body| body.is_literal);
        self.literals += usize::from(is_literal);
        self.blocks += usize::from(token.is("{"));
        self.open.push(Open {
            bracket: token.text,
            line: token.line,
            is_literal,
            is_group: token.is("(") && self.text_before(at) == "var",
            is_type: ["struct", "interface"].contains(&self.text_before(at)),
            names: body.map_or_else(BTreeSet::new, |body| body.parameters),
        });
    }

    /// Whether a `{` in the head of a block begins that block, and is no part of a type or a value.
    fn begins_block(&self, at: usize) -> bool {
        let is_type = ["struct", "interface"].contains(&self.text_before(at));
        if is_type || at.checked_sub(1).is_some_and(|before| self.type_end == Some(before)) {
            return false;
        }
        // The name of a type behind that of a list or a map: `[]*list.Element{`.
        let is_name = |token: &&Token<'_>| token.is_word() || token.is(".");
        let mut behind = self.tokens[..at].iter().rev().skip_while(is_name);
        let is_value = behind.find(|token| !token.is("*")).is_some_and(|token| token.is("]"));
        !is_value || self.text_before(at) == "]"
    }

    fn closes(&mut self, at: usize, token: &Token<'a>) {
        self.ends(token);
        let Some(open) = self.open.pop() else { return };
        self.type_end = Some(at).filter(|_| open.is_type).or(self.type_end);
        self.blocks -= usize::from(open.bracket == "{");
        if open.is_literal {
            let (first, last) = (open.line, token.line);
            self.found.literals.push(Literal { first, last, literals: self.literals });
            self.literals -= 1;
        }
    }

    /// Ends the statement that a token ends, if it declares variables.
    fn ends(&mut self, token: &Token<'a>) {
        while let Some(begun) = self.begun.pop_if(|begun| begun.depth >= self.open.len()) {
            // What comes behind the head, in its last line, may be all that is in that line.
            let continues = !["}", LINE_END].contains(&token.text);
            let last = if continues { begun.last } else { token.line };
            let declared = begun.names.into_iter().filter(|name| name.line < last);
            self.found.declared.extend(declared.map(|name| Declaration {
                name: name.text.to_owned(),
                line: name.line,
                last,
                literals: self.literals,
            }));
        }
    }

    /// Finds the body and the parameters of a function or the type of one.
    fn function(&mut self, at: usize) {
        let mut parameters = BTreeSet::new();
        let mut next = at + 1;
        for _ in 0..MAX_SIGNATURE {
            let Some(token) = self.tokens.get(next) else { return };
            match token.text {
                "{" if !["struct", "interface"].contains(&self.text_before(next)) => {
                    let begins = [";", LINE_END].contains(&self.text_before(at));
                    let is_literal = !(self.open.is_empty() && begins);
                    self.bodies.insert(next, Body { parameters, is_literal });
                    return;
                }
                bracket @ ("(" | "[" | "{") => {
                    let Some(end) = self.ends.get(&next).copied() else { return };
                    if bracket == "(" {
                        self.parameters(next, end, &mut parameters);
                    }
                    next = end;
                }
                ")" | "]" | "}" | "," | ";" | ":" | "=" | ":=" | LINE_END => return,
                _ => {}
            }
            next += 1;
        }
    }

    /// The names in a list of parameters or results. Of one that has none, they are types.
    fn parameters(&self, from: usize, to: usize, names: &mut BTreeSet<&'a str>) {
        let (mut at, mut is_first) = (from + 1, true);
        while at < to {
            let token = self.tokens[at];
            if is_first && token.is_word() {
                names.insert(token.text);
            }
            is_first = token.is(",");
            at = self.ends.get(&at).map_or(at, |end| *end) + 1;
        }
    }

    /// Begins a statement `a, b := …`.
    fn short_declaration(&mut self, at: usize) {
        let mut first = at;
        while let Some(name) = first.checked_sub(1).filter(|name| self.tokens[*name].is_word()) {
            first = name;
            match first.checked_sub(1).filter(|comma| self.is(*comma, ",")) {
                Some(comma) => first = comma,
                None => break,
            }
        }
        let head = match self.text_before(first) {
            "if" | "for" | "switch" => Head::Block,
            "case" => Head::Case,
            _ => Head::None,
        };
        let Some(block) = self.open.last_mut().filter(|open| open.bracket == "{") else { return };
        let names = self.tokens[first..at].iter().filter(|name| name.is_word()).copied();
        // Those that the block has already keep their values; a head is a block of its own.
        let is_new = |name: &Token<'a>| head != Head::None || block.names.insert(name.text);
        let names = names.filter(is_new).collect();
        self.begin(names, head);
    }

    /// Begins a statement `a, b T = …`, which is behind `var`.
    fn declarations(&mut self, at: usize) {
        let mut names = Vec::new();
        let mut next = at;
        while let Some(name) = self.tokens.get(next).filter(|name| name.is_word()) {
            names.push(*name);
            if !self.is(next + 1, ",") {
                break;
            }
            next += 2;
        }
        // Others than those of functions have their values before the program runs.
        if names.is_empty() || self.blocks == 0 {
            return;
        }
        if let Some(block) = self.open.iter_mut().rev().find(|open| open.bracket == "{") {
            block.names.extend(names.iter().map(|name| name.text));
        }
        self.begin(names, Head::None);
    }

    fn begin(&mut self, mut names: Vec<Token<'a>>, head: Head) {
        names.retain(|name| !name.is("_"));
        let Some(last) = names.first().map(|name| name.line) else { return };
        self.begun.push(Begun { names, depth: self.open.len(), head, last });
    }
}
