//! Which variables have no value yet where a program stands.
//!
//! delve hides a variable at the line of its name and before. In the later lines of a declaration over several lines it
//! shows what was in its place before. There the source tells: what a statement declares is set when it ends.

use super::statements::Statements;
use super::tokens::{Token, Tokens};
use crate::adapter::log_message::{pieces, with_unset};
use crate::adapter::{Declarations, Declared, SourceDeclarations};
use crate::protocol::Scope;
use crate::reference::FramePlace;

/// The rules of Go.
pub(super) struct Go;

impl Declarations for Go {
    fn read(&self, source: String) -> Box<dyn SourceDeclarations> {
        Box::new(Statements::of(&source))
    }

    fn has_one_scope(&self) -> bool {
        true
    }

    // It has what a function uses of those around it, too.
    fn is_outermost(&self, scope: &Scope) -> bool {
        scope.name == "Locals"
    }

    fn names_read<'a>(&self, expression: &'a str) -> Vec<&'a str> {
        names_read(expression).map(|name| name.text).collect()
    }

    fn error(&self, name: &str) -> String {
        format!("{name} is not initialised: step over its declaration first")
    }
}

impl SourceDeclarations for Statements {
    fn declared(&self, _scope: &Scope, place: &FramePlace) -> Declared {
        let mut declared = Declared::default();
        declared.add(self.unset(place.line, literals_around(&place.function)), true);
        declared
    }

    fn log_message(&self, message: &str, line: u64, unset: &str) -> String {
        let names = self.unset_at(line);
        let is_unset = |name: Token<'_>| names.contains(&name.text);
        // delve counts brackets in strings, too.
        let pieces = pieces(message, |behind| {
            let mut depth = 1;
            behind.find(|c| {
                depth += i32::from(c == '{') - i32::from(c == '}');
                depth == 0
            })
        });
        with_unset(pieces, unset, |expression| names_read(expression).any(is_unset))
    }

    // What fails says why.
    fn condition(&self, condition: &str, line: u64) -> String {
        let names = self.unset_at(line);
        let (mut written, mut from) = (String::new(), 0);
        for name in names_read(condition).filter(|name| names.contains(&name.text)) {
            let end = name.start + name.text.len();
            written.push_str(&condition[from..end]);
            written.push_str("_is_not_initialised");
            from = end;
        }
        written + &condition[from..]
    }
}

/// The names in an expression, without fields and methods.
fn names_read(expression: &str) -> impl Iterator<Item = Token<'_>> {
    let mut is_member = false;
    Tokens::new(expression).filter(move |token| {
        let is_name = token.is_word() && !is_member;
        is_member = token.is(".");
        is_name
    })
}

/// How many function literals are around the code of a function, itself included: `main.run.func1.2` is the second
/// within the first of `main.run`.
fn literals_around(function: &str) -> usize {
    let is_literal = |part: &&str| {
        let number = part.strip_prefix("func").unwrap_or(part);
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let name = function.rsplit('/').next().unwrap_or_default();
    // The package and the function around them.
    let behind: Vec<_> = name.split('.').skip(2).collect();
    behind.into_iter().rev().take_while(is_literal).count()
}

#[cfg(test)]
mod tests;
