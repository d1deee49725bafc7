//! Variables that have no value yet, in languages in which a declaration has to be run first.

use std::collections::BTreeSet;

use crate::protocol::Scope;

/// The names that a scope declares.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) all: BTreeSet<String>,
    /// Those whose declaration was not run yet.
    pub(crate) unset: BTreeSet<String>,
}

/// A language's rules.
pub(crate) trait Declarations: Sync {
    /// What a scope of a source declares for a frame that stands at a line and a column.
    fn declared(&self, source: &str, scope: &Scope, line: u64, column: u64) -> Declared;

    /// Whether a scope is the last that belongs to the frame itself, and not to a function around it.
    fn is_outermost(&self, scope: &Scope) -> bool;

    /// Whether a variable of a function around the frame may be one without a value, by the type that is shown.
    fn may_be_unset(&self, kind: &str) -> bool;

    /// What asks which of some variables of functions around a frame have a value: the answer has a digit for
    /// each, 0 for those that have none.
    fn set_request(&self, names: &[&str]) -> String;

    /// The names that an expression reads.
    fn names_read<'a>(&self, expression: &'a str) -> Vec<&'a str>;

    /// The variable that an expression assigns and whose value it then is.
    fn assigned<'a>(&self, expression: &'a str) -> Option<&'a str>;

    /// A log message for a line of a source, with `unset` in the place of what reads a variable without a value.
    fn log_message(&self, message: &str, source: &str, line: u64, unset: &str) -> String;

    /// A condition for a line of a source that fails where it reads a variable without a value.
    fn condition(&self, condition: &str, source: &str, line: u64) -> String;

    /// What the language says of a variable that is read too early.
    fn error(&self, name: &str) -> String;
}

impl Declared {
    pub(crate) fn add(&mut self, names: Vec<&str>, is_unset: bool) {
        for name in names {
            self.all.insert(name.to_owned());
            if is_unset {
                self.unset.insert(name.to_owned());
            }
        }
    }
}
