//! The shape of a command line.
//!
//! Only what a judge needs is kept: which simple commands there are, what they are fed and under
//! which conditions they run. Spans are byte ranges of [`Script::source`].

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

/// A parsed text.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) source: Rc<str>,
    pub(crate) items: Vec<Item>,
}

/// One pipeline of a list.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) stages: Vec<Command>,
    pub(crate) joint: Joint,
    /// Ends with `&`.
    pub(crate) background: bool,
}

/// How a pipeline is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joint {
    /// It runs whatever became of that.
    Always,
    /// It runs if that succeeded.
    And,
    /// It runs if that failed.
    Or,
}

#[derive(Debug)]
pub(crate) enum Command {
    Simple(Simple),
    Compound(Compound),
    /// A function under all of its names; without one it runs where it stands.
    Function {
        names: Vec<String>,
        body: Rc<Script>,
    },
}

#[derive(Debug)]
pub(crate) struct Simple {
    pub(crate) span: Range<usize>,
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    /// The expansions of `name[index]`.
    pub(crate) index: Vec<Word>,
    /// `name+=value`.
    pub(crate) append: bool,
    /// One word, or the elements of an array.
    pub(crate) values: Vec<Word>,
}

/// A subshell, group, loop or conditional.
#[derive(Debug)]
pub(crate) struct Compound {
    pub(crate) span: Range<usize>,
    pub(crate) scope: Scope,
    /// The variable of a `for` or `select`, with the words it takes.
    pub(crate) variable: Option<(String, Vec<Word>)>,
    /// Words that are expanded but not run: patterns, conditions, arithmetic.
    pub(crate) words: Vec<Word>,
    pub(crate) bodies: Vec<Vec<Item>>,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// What it changes is lost at its end.
    Subshell,
    /// Runs in place.
    Group,
    /// Runs in place, or not: a loop or a choice whose first body is the test, or has none.
    Conditional,
}

#[derive(Debug)]
pub(crate) struct Redirect {
    pub(crate) span: Range<usize>,
    pub(crate) kind: RedirectKind,
    pub(crate) target: Word,
    /// The text of a here-document; it comes after the line that asks for it.
    pub(crate) here: Option<Rc<OnceCell<Word>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    Read,
    /// Truncates its target.
    Write,
    Append,
    /// `<&`, `>&` with a descriptor.
    Duplicate,
    HereDocument,
    HereString,
}

#[derive(Debug, Default)]
pub(crate) struct Word {
    pub(crate) pieces: Vec<Piece>,
}

#[derive(Debug)]
pub(crate) enum Piece {
    Literal {
        text: String,
        quoted: bool,
    },
    Variable {
        name: String,
        operation: Operation,
        quoted: bool,
    },
    /// `$(…)` and backticks.
    Command {
        script: Rc<Script>,
        quoted: bool,
    },
    /// `<(…)` and `>(…)`.
    Process {
        script: Rc<Script>,
    },
    /// Arithmetic and patterns: a value not followed, with the expansions inside it.
    Unknown {
        inner: Word,
    },
    /// The expansions of a subscript: they run, and are no part of the word.
    Subscript {
        inner: Word,
    },
    /// A text that is run as code, as in zsh's glob qualifier `(e:code:)`.
    Code {
        text: String,
    },
}

#[derive(Debug)]
pub(crate) enum Operation {
    Plain,
    /// `${name[@]}`, `${name[*]}`.
    All,
    /// `${name[index]}`.
    Element(usize),
    /// `${!name}`.
    Indirect,
    /// `${name:-word}`.
    Default(Word),
    /// `${name:=word}`: sets the variable too.
    Assign(Word),
    /// `${name:+word}`.
    Alternative(Word),
    /// `${name:?word}`, `${name%/}`: the value itself, but for a slash at its end.
    Value(Word),
    /// `${name:offset:length}`.
    Substring(usize, Option<usize>),
    /// `${(e)name}` of zsh, `${name@P}` of bash: the value is expanded once more.
    Evaluated(Word),
    /// Anything else: a value not followed.
    Other(Word),
}
