//! Text to commands: the structure of POSIX shell and bash, without running any of it.
//!
//! ```text
//! text ─► list (pipelines, `;` `&&` `||` `&`) ─► compound | simple ─► word ─► dollar
//! ```
//!
//! A recursive descent in one pass; expansions are parsed where they stand. Look-ahead happens only
//! to tell `$((` from `$( (`, and nesting is bounded, so the cost is linear in the text.
//!
//! What is absent: arithmetic and pattern semantics, aliases, history expansion, and the syntax of
//! shells that are not of the Bourne family.

mod ast;
mod compound;
mod cursor;
mod dollar;
mod list;
mod redirect;
mod simple;
mod word;

use std::rc::Rc;

pub(crate) use ast::{
    Command, Compound, Item, Operation, Piece, Redirect, RedirectKind, Scope, Script, Simple, Word,
};
use cursor::Parser;

/// Deepest nesting of commands that is judged: substitutions, groups, functions, `bash -c` in one
/// another.
pub const MAX_NESTING: usize = 40;

/// Why a text was not parsed to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ParseError {
    #[error("commands are nested more than {MAX_NESTING} deep")]
    TooDeep,
    #[error("{expected} expected at byte {at}")]
    Syntax { expected: &'static str, at: usize },
}

/// Parses a text found at a nesting depth. With an error comes what was parsed before it.
pub(crate) fn parse(text: &str, depth: usize) -> (Rc<Script>, Option<ParseError>) {
    let source: Rc<str> = Rc::from(text);
    let mut parser = Parser::new(source.clone(), depth);
    let mut items = Vec::new();
    let error = parser.whole(&mut items).err();
    (Rc::new(Script { source, items }), error)
}

#[cfg(test)]
mod tests;
