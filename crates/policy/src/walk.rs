//! Follows a parsed line as a shell would, without running it, and shows every simple command found
//! to the judge.
//!
//! ```text
//! Script ─► items ─► pipeline stages ─► simple ─► expand ─► run ─┬─► judge (rules)
//!                                          ▲                     └─► wrap: what the command runs
//!                                          └──────────── args or text of an inner command ◄──┘
//! ```
//!
//! Followed: directory changes, variables with literal values, functions, positional parameters, the
//! output of `echo` and `printf` through pipes and substitutions. All else is [`UNKNOWN`].
//!
//! Every step is paid from a budget and nesting is bounded; a line that costs more is stopped, which
//! the judge turns into a refusal.

mod braces;
mod builtins;
mod expand;
mod output;
mod run;
mod shells;
mod state;
mod wrap;
mod wrappers;

use std::path::Path;
use std::rc::Rc;

use crate::decision::{Decision, Judged};
use crate::judge::Judge;
use crate::parse::{self, Command, Compound, Item, MAX_NESTING, Scope, Script, Word};
use crate::scan;

pub(crate) use state::{Arg, FETCHED, Feed, State, UNKNOWN};
pub(crate) use wrap::base_name;

/// Most commands followed in one line, calls of functions and turns of loops counted.
pub const MAX_STEPS: usize = 20_000;
/// Most bytes that the expansions of one line may make.
pub const MAX_EXPANSION: usize = 8 << 20;
/// Most commands kept for an explanation.
pub const MAX_EXPLAINED: usize = 200;

/// Why the walk ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Refused already, and nobody wants to know more.
    Decided,
    TooDeep,
    TooMuch,
}

/// Whether to go on after a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Decide,
    Explain,
}

/// What the walk found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The first refusal.
    pub(crate) denial: Option<Decision>,
    pub(crate) commands: Vec<Judged>,
    pub(crate) left_out: usize,
    pub(crate) syntax_error: Option<String>,
    pub(crate) stop: Option<Stop>,
}

pub(crate) struct Walker<'p> {
    judge: Judge<'p>,
    purpose: Purpose,
    findings: Findings,
    depth: usize,
    steps: usize,
    bytes: usize,
}

/// Walks a command line from its text.
pub(crate) fn walk(
    judge: Judge<'_>,
    text: &str,
    cwd: &Path,
    home: &Path,
    purpose: Purpose,
) -> Findings {
    let findings = Findings::default();
    let mut walker = Walker { judge, purpose, findings, depth: 0, steps: 0, bytes: 0 };
    let mut state = State::new(cwd, home);
    let stop = walker.text(text, &mut state).err();
    walker.findings.stop = stop;
    walker.findings
}

impl Walker<'_> {
    /// Parses a text and walks it. Text that does not parse is scanned for words.
    fn text(&mut self, text: &str, state: &mut State) -> Result<Feed, Stop> {
        self.spend(text.len())?;
        self.deeper(|walker| {
            let (script, error) = parse::parse(text, walker.depth);
            let feed = walker.script(&script, state)?;
            match error {
                None => Ok(feed),
                Some(parse::ParseError::TooDeep) => Err(Stop::TooDeep),
                Some(error) => {
                    walker.findings.syntax_error.get_or_insert_with(|| error.to_string());
                    let mut state = state.reached("text that does not parse");
                    for (part, args) in scan::segments(text) {
                        walker.run(&args, &part, &mut state)?;
                    }
                    Ok(Feed::Unknown)
                }
            }
        })
    }

    fn script(&mut self, script: &Script, state: &mut State) -> Result<Feed, Stop> {
        self.deeper(|walker| walker.items(&script.items, &script.source, state))
    }

    fn items(&mut self, items: &[Item], source: &Rc<str>, state: &mut State) -> Result<Feed, Stop> {
        let (mut text, mut known, mut fetched) = (String::new(), true, false);
        for item in items {
            self.step()?;
            let written = if item.background {
                self.pipeline(item, source, &mut state.forked())?
            } else {
                let outer = state.conditional;
                state.conditional |= item.conditional;
                let written = self.pipeline(item, source, state)?;
                state.conditional = outer;
                written
            };
            match written {
                Feed::Text(more) => text.push_str(&more),
                Feed::Fetched => fetched = true,
                Feed::Unknown => known = false,
            }
        }
        self.spend(text.len())?;
        Ok(match (fetched, known) {
            (true, _) => Feed::Fetched,
            (false, true) => Feed::text(text),
            (false, false) => Feed::Unknown,
        })
    }

    fn pipeline(&mut self, item: &Item, source: &Rc<str>, state: &mut State) -> Result<Feed, Stop> {
        if let [only] = item.stages.as_slice() {
            return self.command(only, source, state);
        }
        let mut feed = state.feed.clone();
        for stage in &item.stages {
            self.step()?;
            let mut inner = state.forked();
            inner.feed = feed;
            feed = self.command(stage, source, &mut inner)?;
        }
        Ok(feed)
    }

    fn command(
        &mut self,
        command: &Command,
        source: &Rc<str>,
        state: &mut State,
    ) -> Result<Feed, Stop> {
        match command {
            Command::Simple(simple) => self.simple(simple, source, state),
            Command::Compound(compound) => {
                self.deeper(|walker| walker.compound(compound, source, state))
            }
            Command::Function { name, body } => {
                if state.functions.len() < state::MAX_NAMES {
                    Rc::make_mut(&mut state.functions).insert(name.clone(), body.clone());
                }
                let mut inner = state.reached(format!("function {name}"));
                inner.positional = None;
                self.call(name, body, inner, name)?;
                Ok(Feed::empty())
            }
        }
    }

    fn compound(
        &mut self,
        compound: &Compound,
        source: &Rc<str>,
        state: &mut State,
    ) -> Result<Feed, Stop> {
        for word in &compound.words {
            self.fields(word, state)?;
        }
        let written = source.get(compound.span.clone()).unwrap_or_default();
        if compound.bodies.is_empty() && written.starts_with("((") {
            // Arithmetic in bash, a subshell in a subshell for dash.
            for (part, args) in scan::segments(written) {
                let hit = self.judge.built_in(&args, state);
                self.refuse(hit, &part)?;
            }
        }
        let mut inner = match compound.scope {
            Scope::Subshell => state.forked(),
            Scope::Group | Scope::Conditional => state.clone(),
        };
        inner.conditional |= compound.scope == Scope::Conditional;
        for redirect in &compound.redirects {
            let part = source.get(compound.span.start..redirect.span.end).unwrap_or_default();
            self.redirect(redirect, part, &mut inner)?;
        }
        if let Some((name, words)) = &compound.variable {
            self.loop_variable(name, words, &mut inner)?;
        }
        let mut output = Feed::empty();
        for body in &compound.bodies {
            let written = self.items(body, source, &mut inner)?;
            if compound.bodies.len() == 1 {
                output = written;
            } else if written == Feed::Fetched || output == Feed::Fetched {
                output = Feed::Fetched;
            } else {
                output = Feed::Unknown;
            }
        }
        if compound.scope != Scope::Subshell {
            inner.conditional = state.conditional;
            inner.feed = std::mem::take(&mut state.feed);
            *state = inner;
        }
        Ok(output)
    }

    fn loop_variable(&mut self, name: &str, words: &[Word], state: &mut State) -> Result<(), Stop> {
        let mut values = Vec::new();
        for word in words {
            values.extend(self.fields(word, state)?.into_iter().map(|arg| vec![arg.text]));
        }
        state.forget(name);
        if !values.is_empty() {
            state.assign_any(name, values);
        }
        Ok(())
    }

    /// Walks the body of a function, as when it is called.
    fn call(
        &mut self,
        name: &str,
        body: &Script,
        mut state: State,
        part: &str,
    ) -> Result<Feed, Stop> {
        if let Some((_, forked)) = state.calls.iter().find(|(called, _)| called == name) {
            if *forked {
                let hit = self.judge.fork_bomb(name);
                self.refuse(hit, part)?;
            }
            return Ok(Feed::Unknown);
        }
        Rc::make_mut(&mut state.calls).push((name.to_owned(), false));
        self.script(body, &mut state)
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Stop>) -> Result<T, Stop> {
        if self.depth >= MAX_NESTING {
            return Err(Stop::TooDeep);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn step(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps > MAX_STEPS { Err(Stop::TooMuch) } else { Ok(()) }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Stop> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_EXPANSION { Err(Stop::TooMuch) } else { Ok(()) }
    }
}
