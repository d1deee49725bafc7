//! Simple commands: expanded, shown to the judge, and followed into what they run.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

use crate::allow;
use crate::decision::{Decision, Judged, Verdict};
use crate::dialect::Grammar;
use crate::judge::Hit;
use crate::parse::{Operation, Piece, Redirect, RedirectKind, Simple, Word, is_plain_arithmetic};

use super::expand::WORD_COST;
use super::state::{Arg, Feed, State, UNKNOWN, Values};
use super::wrap::{self, Inner};
use super::{MAX_EXPLAINED, Purpose, Stop, Walker, aliases, builtins, evaluated, output};

/// Most combinations of variable values tried for one command.
const MAX_COMBINATIONS: usize = 256;

/// Most words remembered of the commands of a line.
const MAX_MENTIONED: usize = 256;

impl Walker<'_> {
    /// A simple command, once for each combination of the values its variables may have.
    pub(super) fn simple(
        &mut self,
        simple: &Simple,
        source: &Rc<str>,
        state: &mut State,
    ) -> Result<Feed, Stop> {
        let many = variables_with_choices(simple, state);
        let all = many.iter().map(|(_, count)| *count).fold(1usize, usize::saturating_mul);
        if all > MAX_COMBINATIONS {
            // The rest may be anything.
            let mut chosen = state.clone();
            for (name, _) in &many {
                let value = Rc::new(vec![vec![UNKNOWN.to_string()]]);
                Rc::make_mut(&mut chosen.variables).insert(name.clone(), value);
            }
            self.simple_once(simple, source, &mut chosen)?;
        }
        for mut combination in 1..all.min(MAX_COMBINATIONS) {
            let mut chosen = state.clone();
            for (name, count) in &many {
                let value = state.variables[name][combination % count].clone();
                Rc::make_mut(&mut chosen.variables).insert(name.clone(), Rc::new(vec![value]));
                combination /= count;
            }
            self.simple_once(simple, source, &mut chosen)?;
        }
        self.simple_once(simple, source, state)
    }

    fn simple_once(
        &mut self,
        simple: &Simple,
        source: &Rc<str>,
        state: &mut State,
    ) -> Result<Feed, Stop> {
        self.step()?;
        let part = source.get(simple.span.clone()).unwrap_or_default();
        let mut args = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            args.extend(self.fields(word, state)?);
        }
        for assignment in &simple.assignments {
            for index in &assignment.index {
                self.single(index, state)?;
            }
            let mut value = Vec::new();
            if assignment.append {
                value.extend(state.value(&assignment.name).unwrap_or_default());
            }
            for (index, word) in assignment.values.iter().enumerate() {
                let next = self.single(word, state)?.text;
                match value.last_mut() {
                    Some(last)
                        if index == 0 && assignment.append && assignment.values.len() == 1 =>
                    {
                        last.push_str(&next);
                    }
                    _ => value.push(next),
                }
            }
            for text in &value {
                self.subscripts(text, state)?;
            }
            self.findings.evaluates |= allow::is_arithmetic(&assignment.name)
                && !value.iter().all(|text| is_plain_arithmetic(text));
            let before = (!args.is_empty()).then(|| value.join(" "));
            let hit = self.judge.variable(&assignment.name, before.as_deref());
            self.refuse(hit, part)?;
            state.assign(&assignment.name, value);
        }
        let outer_feed = state.feed.clone();
        for redirect in &simple.redirects {
            self.redirect(redirect, part, state)?;
        }
        let result = self.run(&args, part, state);
        state.feed = outer_feed;
        // `$(< file)` is the text of the file.
        let reads = simple.redirects.iter().any(|redirect| redirect.kind == RedirectKind::Read);
        if args.is_empty() && reads { result.map(|_| Feed::Unknown) } else { result }
    }

    /// Judges a redirection and takes what it gives to read.
    pub(super) fn redirect(
        &mut self,
        redirect: &Redirect,
        part: &str,
        state: &mut State,
    ) -> Result<(), Stop> {
        let text = match &redirect.here {
            // A here-document whose text never came was given an empty one by the parser.
            Some(body) => match body.get() {
                Some(word) => self.single(word, state)?,
                None => Arg::default(),
            },
            None => self.single(&redirect.target, state)?,
        };
        match redirect.kind {
            RedirectKind::HereDocument | RedirectKind::HereString => {
                state.feed = match state.followed {
                    Values::Followed => Feed::text(text.text),
                    Values::Unknown => Feed::Unknown,
                };
            }
            RedirectKind::Read => {
                let hit = self.judge.read(&text, state);
                self.refuse(hit, part)?;
                state.feed = text.feed.unwrap_or_default();
            }
            RedirectKind::Write | RedirectKind::Append => {
                let append = redirect.kind == RedirectKind::Append;
                let hit = self.judge.write(&text, append, state);
                self.refuse(hit, part)?;
            }
            RedirectKind::Duplicate => {}
        }
        Ok(())
    }

    /// Judges a command by its arguments and follows it into what it runs.
    pub(super) fn run(
        &mut self,
        args: &[Arg],
        part: &str,
        state: &mut State,
    ) -> Result<Feed, Stop> {
        self.step()?;
        let Some(program) = args.first() else { return Ok(Feed::empty()) };
        if let Some(mut aliased) = aliases::expand(args, state) {
            self.text(&aliased.text, self.grammar, &mut aliased.state)?;
        }
        if let Some(defined) = state.functions.get(&program.text).cloned() {
            let hit = if defined.certain {
                self.judge.named(args, state)
            } else {
                self.judge.command(args, state, false)
            };
            self.refuse(hit, part)?;
            let mut inner = state.reached(format!("function {}", program.text));
            inner.positional =
                Some(Rc::new(args[1..].iter().map(|arg| arg.text.clone()).collect()));
            return self.deeper(|walker| walker.call(&program.text, &defined.body, inner, part));
        }
        let unwrapped = wrap::unwrap(args, state);
        self.findings.doubt |= unwrapped.doubt;
        let hit = self.judge.command(args, state, unwrapped.transparent);
        self.record(args, state, hit.as_ref());
        self.refuse(hit, part)?;
        for (name, value) in &unwrapped.variables {
            let hit = self.judge.variable(name, Some(value));
            self.refuse(hit, part)?;
        }
        self.builtin(args, part, state)?;
        let mut written = None;
        for inner in unwrapped.inner {
            let feed = self.deeper(|walker| walker.inner(inner, part, args, state))?;
            written.get_or_insert(feed);
        }
        if state.followed == Values::Unknown {
            return Ok(Feed::Unknown);
        }
        Ok(written.unwrap_or_else(|| output::of(args, state)))
    }

    /// Applies a builtin to the state.
    fn builtin(&mut self, args: &[Arg], part: &str, state: &mut State) -> Result<(), Stop> {
        let fish = self.grammar == Grammar::Fish;
        if builtins::evaluates_subscripts(wrap::base_name(args)) {
            for arg in &args[1..] {
                self.subscripts(&arg.text, state)?;
            }
        }
        self.findings.evaluates |= evaluated::evaluates(args, self.grammar);
        let hit = self.judge.redefinition(evaluated::redefines(args));
        self.refuse(hit, part)?;
        for name in builtins::assigned(args, fish) {
            self.findings.evaluates |= allow::is_arithmetic(name);
            let hit = self.judge.variable(name, None);
            self.refuse(hit, part)?;
        }
        let target = builtins::directory(args);
        let fallback = target.and_then(|target| self.may_fail(target, state));
        builtins::apply(args, fish, state);
        state.fall_back_to(fallback.into_iter().collect());
        self.mention(args);
        Ok(())
    }

    /// The directory that the shell stays in if changing to `target` fails, when it would fail now.
    fn may_fail(&self, target: &str, state: &State) -> Option<PathBuf> {
        let here = state.cwd.clone()?;
        if state.exits_on_error
            || target == "-"
            || target.contains(['\u{f8fd}', '\u{f8fe}', UNKNOWN])
        {
            return None;
        }
        let name = target.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        if self.mentioned.iter().any(|word| word.contains(name)) {
            return None;
        }
        let missing = self
            .links
            .read_link(&here.join(target))
            .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
        missing.then_some(here)
    }

    /// Remembers words of a command that may make a directory of that name.
    fn mention(&mut self, args: &[Arg]) {
        if matches!(wrap::base_name(args), "cd" | "pushd" | "rm" | "rmdir" | "ls" | "echo" | "test")
        {
            return;
        }
        let room = MAX_MENTIONED.saturating_sub(self.mentioned.len());
        let words = args.iter().skip(1).map(|arg| &arg.text);
        let words = words.filter(|text| !text.contains(char::is_whitespace));
        self.mentioned.extend(words.take(room).cloned());
    }

    /// Arithmetic evaluates the subscripts in a variable's text, and with them what they expand.
    fn subscripts(&mut self, text: &str, state: &State) -> Result<(), Stop> {
        let runs = text.contains("[$(") || text.contains("[`") || text.contains("[$((");
        if runs { self.quoted(text, state) } else { Ok(()) }
    }

    fn inner(
        &mut self,
        inner: Inner,
        part: &str,
        outer: &[Arg],
        state: &mut State,
    ) -> Result<Feed, Stop> {
        let name = outer.first().map(|arg| render(&arg.text)).unwrap_or_default();
        match inner {
            Inner::Args { args, cwd } => {
                // They are a copy, and copies of copies would be kept at once.
                self.spend(args.iter().map(|arg| arg.text.len() + WORD_COST).sum())?;
                let mut inner = state.reached(name);
                let program = wrap::base_name(outer);
                if !wrap::runs_functions(program) {
                    inner = inner.outside();
                }
                // `command cd /` and the like change this shell.
                let in_place = wrap::runs_functions(program)
                    || matches!(program, "command" | "builtin" | "exec");
                if let Some(directory) = cwd {
                    inner.change_directory(Some(&directory));
                }
                let feed = self.run(&args, part, &mut inner)?;
                if in_place {
                    inner.via = state.via.clone();
                    inner.functions = state.functions.clone();
                    inner.aliases = state.aliases.clone();
                    *state = inner;
                }
                Ok(feed)
            }
            Inner::Here { text } => {
                let mut inner = state.reached(name);
                if wrap::base_name(outer) == "trap" && state.followed == Values::Unknown {
                    // By the time it runs a function may have another body, or none.
                    return self.text(&text, self.grammar, &mut inner.outside());
                }
                let feed = self.text(&text, self.grammar, &mut inner)?;
                inner.via = state.via.clone();
                *state = inner;
                Ok(feed)
            }
            Inner::Text { text, positional, dialect, remote } => {
                let mut inner = state.reached(name).outside();
                if let Some(mut positional) = positional {
                    inner.program_name = positional.first().cloned();
                    positional.drain(..positional.len().min(1));
                    inner.positional = Some(Rc::new(positional));
                }
                if remote {
                    inner.change_directory(None);
                }
                let grammar = self.grammar_of(dialect);
                self.text(&text, grammar, &mut inner)
            }
            Inner::BuiltIn { args } => {
                let hit = self.judge.built_in(&args, state);
                self.refuse(hit, part)?;
                Ok(Feed::Unknown)
            }
            Inner::Fetched => {
                let hit = self.judge.fetched();
                self.refuse(hit, part)?;
                Ok(Feed::Unknown)
            }
        }
    }

    fn record(&mut self, args: &[Arg], state: &State, hit: Option<&Hit>) {
        if self.purpose == Purpose::Decide {
            return;
        }
        if self.findings.commands.len() >= MAX_EXPLAINED {
            self.findings.left_out += 1;
            return;
        }
        let verdict = hit.map_or(Verdict::Passed, |hit| Verdict::Denied {
            rule: hit.rule.clone(),
            reason: hit.reason.clone(),
        });
        let words = args.iter().map(|arg| render(&arg.text)).collect();
        self.findings.commands.push(Judged { words, via: state.via.to_vec(), verdict });
    }

    pub(super) fn refuse(&mut self, hit: Option<Hit>, part: &str) -> Result<(), Stop> {
        let Some(hit) = hit else { return Ok(()) };
        self.findings.denial.get_or_insert_with(|| Decision::deny(hit.rule, hit.reason, part));
        match self.purpose {
            Purpose::Decide => Err(Stop::Decided),
            Purpose::Explain => Ok(()),
        }
    }
}

/// A text for people: what is not known shows as an ellipsis.
pub(super) fn render(text: &str) -> String {
    text.replace([super::UNKNOWN, super::FETCHED], "…")
}

/// The variables of a command that may have more than one value here, with how many.
fn variables_with_choices(simple: &Simple, state: &State) -> Vec<(String, usize)> {
    if state.variables.values().all(|values| values.len() < 2) {
        return Vec::new();
    }
    let mut names = BTreeSet::new();
    let targets = simple.redirects.iter().map(|redirect| &redirect.target);
    let values = simple.assignments.iter().flat_map(|assignment| &assignment.values);
    for word in simple.words.iter().chain(targets).chain(values) {
        collect(word, &mut names);
    }
    names
        .into_iter()
        .filter_map(|name| {
            let count = state.variables.get(name)?.len();
            (count > 1).then(|| (name.to_owned(), count))
        })
        .collect()
}

fn collect<'w>(word: &'w Word, names: &mut BTreeSet<&'w str>) {
    for piece in &word.pieces {
        if let Piece::Variable { name, operation, .. } = piece {
            names.insert(name);
            if let Operation::Default(word) | Operation::Alternative(word) = operation {
                collect(word, names);
            }
        }
    }
}
