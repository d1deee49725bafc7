//! Puts one simple command before the rules, in their order: deny list, built-in rules, allow list.

use crate::allow::{self, AllowList, Direction};
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
    pub(crate) allow: Option<&'p AllowList>,
    pub(crate) rules: &'p [Rule],
}

impl Judge<'_> {
    /// Judges a command. One that only runs another need not be on the allow list itself.
    pub(crate) fn command(&self, args: &[Arg], state: &State, transparent: bool) -> Option<Hit> {
        if let Some(hit) = self.named(args, state) {
            return Some(hit);
        }
        let allow = self.allow?;
        let transparent = transparent && args.first().is_some_and(allow::is_system_program);
        if transparent || allow.command(args, state.cwd(), state.home()) {
            return None;
        }
        Some(not_allowed("this command"))
    }

    /// Judges a command by the deny list and the built-in rules.
    pub(crate) fn named(&self, args: &[Arg], state: &State) -> Option<Hit> {
        let (cwd, home) = (state.cwd(), state.home());
        if let Some(rule) = self.deny.iter().find(|rule| rule.matches(args, cwd, home, Use::Deny)) {
            let reason = "the deny list of the configuration names this command".to_owned();
            return Some(Hit { rule: rule.source().to_owned(), reason });
        }
        if args.first().is_some_and(|program| program.text.contains(FETCHED)) {
            return self.fetched();
        }
        self.built_in(args, state)
    }

    /// Judges a variable that is set. With `before` it is set for one command, to that value;
    /// without, for the shell, where only those matter that programs are found or started by.
    pub(crate) fn variable(&self, name: &str, before: Option<&str>) -> Option<Hit> {
        let allow = self.allow?;
        let matters = before.is_some() || allow::steers_programs(name);
        if !matters || allow.variable(name, before) {
            return None;
        }
        Some(not_allowed(&format!("setting {name}")))
    }

    /// Judges a command that changes what another one's name runs: no entry can name that.
    pub(crate) fn redefinition(&self, redefines: bool) -> Option<Hit> {
        (redefines && self.allow.is_some())
            .then(|| not_allowed("a change of what another command runs"))
    }

    /// Judges a command by the built-in rules alone.
    pub(crate) fn built_in(&self, args: &[Arg], state: &State) -> Option<Hit> {
        let fallbacks = state.fallbacks();
        let subject = Subject { args, cwd: state.cwd(), home: state.home(), fallbacks };
        let (rule, reason) = rules::check(&subject, self.rules)?;
        Some(Hit::of(rule, reason))
    }

    /// Judges a redirection to a file.
    pub(crate) fn write(&self, target: &Arg, append: bool, state: &State) -> Option<Hit> {
        if let Some((rule, reason)) = rules::check_write(target, append, state.cwd(), self.rules) {
            return Some(Hit::of(rule, reason));
        }
        let direction = if append { Direction::Append } else { Direction::Write };
        self.redirection(direction, target, state)
    }

    /// Judges a redirection from a file.
    pub(crate) fn read(&self, target: &Arg, state: &State) -> Option<Hit> {
        self.redirection(Direction::Read, target, state)
    }

    fn redirection(&self, direction: Direction, target: &Arg, state: &State) -> Option<Hit> {
        let allow = self.allow?;
        if allow.redirection(direction, target, state.cwd(), state.home()) {
            return None;
        }
        Some(not_allowed("this redirection"))
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

fn not_allowed(what: &str) -> Hit {
    let reason = format!("the allow list of the configuration does not name {what}");
    Hit { rule: "allow".to_owned(), reason }
}
