//! Variables that have no value yet, where the source shows this better than the adapter.

use std::collections::BTreeSet;

use crate::protocol::Scope;
use crate::reference::FramePlace;

/// The names that a scope declares.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) all: BTreeSet<String>,
    /// Those whose declaration was not run yet.
    pub(crate) unset: BTreeSet<String>,
}

/// A language's rules.
pub(crate) trait Declarations: Sync {
    /// Reads a source.
    fn read(&self, source: String) -> Box<dyn SourceDeclarations>;

    /// Whether all variables of a frame are in one scope: its scopes are then not requested.
    fn has_one_scope(&self) -> bool {
        false
    }

    /// Whether a scope is the last that belongs to the frame itself, and not to a function around it.
    fn is_outermost(&self, scope: &Scope) -> bool;

    /// Whether a variable of a function around the frame may be one without a value, by the type that is shown.
    fn may_be_unset(&self, _kind: &str) -> bool {
        false
    }

    /// What asks which of some variables of functions around a frame have a value: the answer has a digit for
    /// each, 0 for those that have none.
    fn set_request(&self, _names: &[&str]) -> String {
        String::new()
    }

    /// The names that an expression reads.
    fn names_read<'a>(&self, expression: &'a str) -> Vec<&'a str>;

    /// The variable that an expression assigns and whose value it then is.
    fn assigned<'a>(&self, _expression: &'a str) -> Option<&'a str> {
        None
    }

    /// What the language says of a variable that is read too early.
    fn error(&self, name: &str) -> String;
}

/// What a source declares.
pub(crate) trait SourceDeclarations: Send + Sync {
    /// What a scope declares for a frame.
    fn declared(&self, scope: &Scope, place: &FramePlace) -> Declared;

    /// A log message for a line, with `unset` in the place of what reads a variable without a value.
    fn log_message(&self, message: &str, line: u64, unset: &str) -> String;

    /// A condition for a line that fails where it reads a variable without a value.
    fn condition(&self, condition: &str, line: u64) -> String;
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
