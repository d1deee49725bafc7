//! Text to commands: the structure of dash, bash, zsh and fish, without running any of it.
//!
//! ```text
//! text ─► list (pipelines, `;` `&&` `||` `&`) ─► compound | simple ─► word ─► dollar
//!      └► fish (the same for fish) ─► fish_word
//! ```
//!
//! A recursive descent in one pass; expansions are parsed where they stand. Look-ahead happens only
//! to tell `$((` from `$( (`, and nesting is bounded, so the cost is linear in the text.
//!
//! Where versions or options of one shell read a text differently, the parser takes one reading and
//! notes the place as a doubt: the caller then has to assume that what follows may run.
//!
//! What is absent: arithmetic and pattern semantics, aliases, history expansion.

mod ast;
mod braced;
mod compound;
mod cursor;
mod dollar;
mod evaluated;
mod fish;
mod fish_word;
mod here;
mod list;
mod loops;
mod redirect;
mod simple;
mod word;

use std::rc::Rc;

use crate::dialect::Grammar;

pub(crate) use ast::{
    Command, Compound, Item, Joint, Operation, Piece, Redirect, RedirectKind, Scope, Script,
    Simple, Word,
};
use cursor::Parser;
pub(crate) use evaluated::is_plain_arithmetic;

/// Deepest nesting of commands that is judged: substitutions, groups, functions, `bash -c` in one
/// another.
pub const MAX_NESTING: usize = 40;

/// Most words, pieces of words, redirections and commands of one text. Each costs some 150 bytes while
/// it is judged.
pub const MAX_PARTS: usize = 64 * 1024;

/// Why a text was not parsed to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ParseError {
    #[error("commands are nested more than {MAX_NESTING} deep")]
    TooDeep,
    #[error("it has more than {MAX_PARTS} words")]
    TooMuch,
    #[error("{expected} expected at byte {at}")]
    Syntax { expected: &'static str, at: usize },
}

/// A parsed text.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) script: Rc<Script>,
    /// Why it was not parsed to its end; the script is what came before.
    pub(crate) error: Option<ParseError>,
    /// The first place that the shell may read in another way.
    pub(crate) doubt: Option<usize>,
    /// Some of it is evaluated as arithmetic or as a name, and is more than plain numbers.
    pub(crate) evaluates: bool,
}

/// Parses a text found at a nesting depth.
pub(crate) fn parse(text: &str, depth: usize, grammar: Grammar) -> Reading {
    let source: Rc<str> = Rc::from(text);
    let mut parser = Parser::new(source.clone(), depth, grammar);
    let mut items = Vec::new();
    let error = parser.whole(&mut items).err();
    let (doubt, evaluates) = (parser.doubt, parser.evaluates);
    Reading { script: Rc::new(Script { source, items }), error, doubt, evaluates }
}

/// Parses a text as if it stood between double quotes, as prompts and `${(e)name}` are read. Says
/// also whether some of it is evaluated, as in a [`Reading`].
pub(crate) fn parse_quoted(
    text: &str,
    depth: usize,
    grammar: Grammar,
) -> Result<(Word, bool), ParseError> {
    let mut parser = Parser::new(Rc::from(text), depth, grammar);
    let pieces = match grammar {
        Grammar::Fish => parser.fish_quoted(None)?,
        _ => parser.quoted_text(None)?,
    };
    Ok((Word { pieces }, parser.evaluates))
}

#[cfg(test)]
mod tests;
