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

mod aliases;
mod braces;
mod builtins;
mod evaluated;
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
use crate::dialect::{Dialect, Grammar};
use crate::directories::ReadLink;
use crate::judge::Judge;
use crate::parse::{
    self, Command, Compound, Item, Joint, MAX_NESTING, ParseError, Scope, Script, Word,
};
use crate::scan;

use state::Values;
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
    /// The shell may read the line in another way.
    pub(crate) doubt: bool,
    /// Some of it is evaluated as arithmetic or as a name, and is more than plain numbers.
    pub(crate) evaluates: bool,
    pub(crate) stop: Option<Stop>,
    /// A shell that may be dash or bash was met.
    met_posix: bool,
}

/// Where a line runs.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) cwd: &'a Path,
    pub(crate) home: &'a Path,
    pub(crate) links: &'a dyn ReadLink,
}

/// What to walk.
#[derive(Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// A command line.
    Line(&'a str),
    /// A program with its arguments, which no shell reads.
    Program(&'a [Arg]),
    /// A text that a shell expands, such as a prompt.
    Prompt(&'a str),
}

pub(crate) struct Walker<'p> {
    judge: Judge<'p>,
    links: &'p dyn ReadLink,
    purpose: Purpose,
    findings: Findings,
    /// How the text at hand is read.
    grammar: Grammar,
    /// What `sh` is taken for.
    posix: Grammar,
    /// Words of the commands so far: one may have made the directory that a later `cd` names.
    mentioned: Vec<String>,
    depth: usize,
    steps: usize,
    bytes: usize,
}

/// Walks a subject. With an allow list it is walked a second time, by its text alone.
pub(crate) fn walk<'p>(
    judge: Judge<'p>,
    subject: Subject<'_>,
    scene: Scene<'p>,
    purpose: Purpose,
) -> Findings {
    let first = walk_as_either(judge, subject, scene, purpose, Values::Followed);
    if judge.allow.is_none() || first.is_refused() {
        return first;
    }
    let second = walk_as_either(judge, subject, scene, purpose, Values::Unknown);
    if second.is_refused() { second } else { first.and(second) }
}

impl Findings {
    fn is_refused(&self) -> bool {
        self.denial.is_some() || self.stop.is_some()
    }

    /// With the doubts of another walk.
    fn and(mut self, other: Self) -> Self {
        self.syntax_error = other.syntax_error.or(self.syntax_error);
        self.doubt |= other.doubt;
        self.evaluates |= other.evaluates;
        self
    }
}

/// Where a shell may be dash or bash, a subject is walked as either.
fn walk_as_either<'p>(
    judge: Judge<'p>,
    subject: Subject<'_>,
    scene: Scene<'p>,
    purpose: Purpose,
    values: Values,
) -> Findings {
    let first = walk_as(judge, subject, scene, purpose, (Grammar::Dash, values));
    if !first.met_posix || first.is_refused() {
        return first;
    }
    walk_as(judge, subject, scene, purpose, (Grammar::Bash, values)).and(first)
}

fn walk_as<'p>(
    judge: Judge<'p>,
    subject: Subject<'_>,
    scene: Scene<'p>,
    purpose: Purpose,
    (posix, values): (Grammar, Values),
) -> Findings {
    let mut walker = Walker {
        judge,
        links: scene.links,
        purpose,
        findings: Findings::default(),
        grammar: posix,
        posix,
        mentioned: Vec::new(),
        depth: 0,
        steps: 0,
        bytes: 0,
    };
    let mut state = State::new(scene.cwd, scene.home, values);
    walker.grammar = walker.grammar_of(scene.dialect);
    let walked = match subject {
        Subject::Line(text) => walker.text(text, walker.grammar, &mut state).map(drop),
        Subject::Program(args) => {
            let part = args.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
            walker.run(args, &part, &mut state).map(drop)
        }
        Subject::Prompt(text) => walker.quoted(text, &state),
    };
    walker.findings.stop = walked.err();
    walker.findings
}

impl Walker<'_> {
    fn grammar_of(&mut self, dialect: Dialect) -> Grammar {
        match dialect {
            Dialect::Bash => Grammar::Bash,
            Dialect::Zsh => Grammar::Zsh,
            Dialect::Fish => Grammar::Fish,
            Dialect::Posix => {
                self.findings.met_posix = true;
                self.posix
            }
        }
    }

    /// Parses a text and walks it. Text that does not parse is scanned for words.
    fn text(&mut self, text: &str, grammar: Grammar, state: &mut State) -> Result<Feed, Stop> {
        self.spend(text.len())?;
        // What is not known may hold quotes and separators.
        self.findings.doubt |= text.contains([UNKNOWN, FETCHED]);
        let outer = std::mem::replace(&mut self.grammar, grammar);
        let walked = self.deeper(|walker| {
            let reading = parse::parse(text, walker.depth, grammar);
            walker.findings.evaluates |= reading.evaluates;
            let feed = walker.script(&reading.script, state)?;
            let from = match reading.error {
                Some(ParseError::TooDeep) => return Err(Stop::TooDeep),
                Some(ParseError::TooMuch) => return Err(Stop::TooMuch),
                Some(error) => {
                    walker.findings.syntax_error.get_or_insert_with(|| error.to_string());
                    0
                }
                None => match reading.doubt {
                    Some(at) => at,
                    None => return Ok(feed),
                },
            };
            walker.findings.doubt = true;
            let mut state = state.reached("text that can be read in another way");
            for (part, args) in scan::segments(text.get(from..).unwrap_or(text)) {
                walker.run(&args, &part, &mut state)?;
            }
            Ok(Feed::Unknown)
        });
        self.grammar = outer;
        walked
    }

    /// Walks the expansions of a text that stands between double quotes.
    fn quoted(&mut self, text: &str, state: &State) -> Result<(), Stop> {
        self.spend(text.len())?;
        self.deeper(|walker| match parse::parse_quoted(text, walker.depth, walker.grammar) {
            Ok((word, evaluates)) => {
                walker.findings.evaluates |= evaluates;
                walker.single(&word, state).map(drop)
            }
            Err(ParseError::TooDeep) => Err(Stop::TooDeep),
            Err(ParseError::TooMuch) => Err(Stop::TooMuch),
            Err(error) => {
                walker.findings.syntax_error.get_or_insert_with(|| error.to_string());
                Ok(())
            }
        })
    }

    fn script(&mut self, script: &Script, state: &mut State) -> Result<Feed, Stop> {
        self.deeper(|walker| walker.items(&script.items, &script.source, state))
    }

    fn items(&mut self, items: &[Item], source: &Rc<str>, state: &mut State) -> Result<Feed, Stop> {
        let (mut text, mut known, mut other) = (String::new(), true, None);
        // Directories where a failed `cd` of the list at hand would leave the shell: what follows
        // `&&` does not run there.
        let mut held = Vec::new();
        for item in items {
            self.step()?;
            let fallbacks = state.fallbacks.clone();
            if item.joint == Joint::Always {
                state.fall_back_to(std::mem::take(&mut held));
            } else if item.joint == Joint::Or {
                state.fall_back_to(held.clone());
            }
            let base = state.fallbacks.len();
            let written = if item.background {
                self.pipeline(item, source, &mut state.forked())?
            } else {
                let outer = state.conditional;
                state.conditional |= item.joint != Joint::Always;
                let written = self.pipeline(item, source, state)?;
                state.conditional = outer;
                written
            };
            match item.joint {
                Joint::Or if leaves(item, source) => {
                    held.clear();
                    state.fallbacks = fallbacks;
                }
                Joint::Or | Joint::And => {
                    held.extend(state.fallbacks.iter().skip(base).cloned());
                    state.fallbacks = fallbacks;
                }
                Joint::Always => {
                    let all = Rc::make_mut(&mut state.fallbacks);
                    held = all.split_off(base.min(all.len()));
                }
            }
            match written {
                Feed::Text(more) => text.push_str(&more),
                Feed::Unknown => known = false,
                Feed::Fetched => other = Some(Feed::Fetched),
                found @ Feed::Found(_) => other = other.or(Some(found)),
            }
        }
        state.fall_back_to(held);
        self.spend(text.len())?;
        Ok(match (other, known) {
            (Some(other), _) => other,
            (None, true) => Feed::text(text),
            (None, false) => Feed::Unknown,
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
            Command::Function { names, body } => {
                for name in names {
                    state.define(name, body);
                }
                let name = names.first().map_or("()", String::as_str);
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
        let mut inner = match compound.scope {
            Scope::Subshell => state.forked(),
            Scope::Group | Scope::Conditional => state.clone(),
        };
        inner.conditional |= compound.scope == Scope::Conditional && !always_true(compound, source);
        for redirect in &compound.redirects {
            let part = source.get(compound.span.start..redirect.span.end).unwrap_or_default();
            self.redirect(redirect, part, &mut inner)?;
        }
        if let Some((name, words)) = &compound.variable {
            self.loop_variable(name, words, compound, source, &mut inner)?;
        }
        let fallbacks = inner.fallbacks.clone();
        let mut output = Feed::empty();
        for (index, body) in compound.bodies.iter().enumerate() {
            let written = self.items(body, source, &mut inner)?;
            if compound.scope == Scope::Conditional && compound.variable.is_none() && index == 0 {
                // Behind a test that succeeded, its `cd` succeeded too.
                inner.fallbacks.clone_from(&fallbacks);
            }
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

    fn loop_variable(
        &mut self,
        name: &str,
        words: &[Word],
        compound: &Compound,
        source: &Rc<str>,
        state: &mut State,
    ) -> Result<(), Stop> {
        let mut values = Vec::new();
        for word in words {
            values.extend(self.fields(word, state)?.into_iter().map(|arg| vec![arg.expanded()]));
        }
        let hit = self.judge.variable(name, None);
        self.refuse(hit, source.get(compound.span.clone()).unwrap_or_default())?;
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
        let guarded = state.conditional || state.may_have_left;
        if let Some(call) = state.calls.iter().find(|call| call.name == name) {
            if call.forked && !call.guarded && !guarded {
                let hit = self.judge.fork_bomb(name);
                self.refuse(hit, part)?;
            }
            return Ok(Feed::Unknown);
        }
        let calls = Rc::make_mut(&mut state.calls);
        calls.iter_mut().for_each(|call| call.guarded |= guarded);
        calls.push(state::Call { name: name.to_owned(), forked: false, guarded: false });
        (state.conditional, state.may_have_left) = (false, false);
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

/// Whether a pipeline ends the shell, function or loop that it is in.
fn leaves(item: &Item, source: &str) -> bool {
    match item.stages.as_slice() {
        [Command::Simple(simple)] => {
            let written = source.get(simple.span.clone()).unwrap_or_default();
            let first = written.split_ascii_whitespace().next().unwrap_or_default();
            matches!(first, "exit" | "return" | "break" | "continue" | "exec")
        }
        [Command::Compound(compound)] if compound.scope != Scope::Subshell => {
            let last = compound.bodies.last().and_then(|body| body.last());
            compound.bodies.len() == 1 && last.is_some_and(|item| leaves(item, source))
        }
        _ => false,
    }
}

/// Whether the test of a loop or choice is `true`: then it decides nothing.
fn always_true(compound: &Compound, source: &str) -> bool {
    let test = compound.bodies.first().map(Vec::as_slice);
    let [Item { stages, .. }] = test.unwrap_or_default() else { return false };
    let [Command::Simple(simple)] = stages.as_slice() else { return false };
    let written = source.get(simple.span.clone()).unwrap_or_default();
    compound.bodies.len() > 1 && matches!(written, "true" | ":")
}
