//! Puts one simple command before the rules, in their order: deny list, built-in rules, allow list.

use std::path::Path;

use crate::pattern::{Pattern, Use};
use crate::rules::{self, Rule, Subject};
use crate::walk::{Arg, FETCHED, State};

/// A rule that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) rule: String,
    pub(crate) reason: String,
}

impl Hit {
    fn of(rule: Rule, reason: String) -> Self {
        Self { rule: rule.name().to_owned(), reason }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Judge<'p> {
    pub(crate) deny: &'p [Pattern],
    pub(crate) allow: &'p [Pattern],
    pub(crate) rules: &'p [Rule],
}

impl Judge<'_> {
    /// Judges a command. One that only runs another need not be on the allow list itself.
    pub(crate) fn command(&self, args: &[Arg], state: &State, transparent: bool) -> Option<Hit> {
        let (cwd, home) = (state.cwd(), state.home());
        if let Some(rule) = self.deny.iter().find(|rule| rule.matches(args, cwd, home, Use::Deny)) {
            let reason = "the deny list of the configuration names this command".to_owned();
            return Some(Hit { rule: rule.source().to_owned(), reason });
        }
        if args.first().is_some_and(|program| program.text.contains(FETCHED)) {
            return self.fetched();
        }
        if let Some(hit) = self.built_in(args, state) {
            return Some(hit);
        }
        if self.allow.is_empty()
            || transparent
            || self.allow.iter().any(|rule| rule.matches(args, cwd, home, Use::Allow))
        {
            return None;
        }
        let reason = "the allow list of the configuration does not name this command".to_owned();
        Some(Hit { rule: "allow".to_owned(), reason })
    }

    /// Judges a command by the built-in rules alone.
    pub(crate) fn built_in(&self, args: &[Arg], state: &State) -> Option<Hit> {
        let subject = Subject { args, cwd: state.cwd(), home: state.home() };
        let (rule, reason) = rules::check(&subject, self.rules)?;
        Some(Hit::of(rule, reason))
    }

    /// Judges a redirection to a file.
    pub(crate) fn write(&self, target: &Arg, append: bool, cwd: Option<&Path>) -> Option<Hit> {
        let (rule, reason) = rules::check_write(target, append, cwd, self.rules)?;
        Some(Hit::of(rule, reason))
    }

    /// Judges text from the network or out of a decoder that is run.
    pub(crate) fn fetched(&self) -> Option<Hit> {
        self.rules.contains(&Rule::PipeToShell).then(|| {
            let reason = "text from the network or out of a decoder would be run unread: save it \
                          to a file and look at it first";
            Hit::of(Rule::PipeToShell, reason.to_owned())
        })
    }

    /// Judges a function that starts itself in more than one process.
    pub(crate) fn fork_bomb(&self, name: &str) -> Option<Hit> {
        self.rules.contains(&Rule::ForkBomb).then(|| {
            let reason = format!("the function `{name}` starts itself again and again");
            Hit::of(Rule::ForkBomb, reason)
        })
    }
}
