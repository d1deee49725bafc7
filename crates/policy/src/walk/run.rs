//! Simple commands: expanded, shown to the judge, and followed into what they run.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::decision::{Decision, Judged, Verdict};
use crate::judge::Hit;
use crate::parse::{Operation, Piece, Redirect, RedirectKind, Simple, Word};

use super::state::{Arg, Feed, State};
use super::wrap::{self, Inner};
use super::{MAX_EXPLAINED, Purpose, Stop, Walker, builtins, output};

/// Most combinations of variable values tried for one command.
const MAX_COMBINATIONS: usize = 64;

impl Walker<'_> {
    /// A simple command, once for each combination of the values its variables may have.
    pub(super) fn simple(
        &mut self,
        simple: &Simple,
        source: &Rc<str>,
        state: &mut State,
    ) -> Result<Feed, Stop> {
        let many = variables_with_choices(simple, state);
        let combinations = many
            .iter()
            .map(|(_, count)| *count)
            .fold(1usize, usize::saturating_mul)
            .min(MAX_COMBINATIONS);
        for mut combination in 1..combinations {
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
        let mut args = Vec::new();
        for word in &simple.words {
            args.extend(self.fields(word, state)?);
        }
        for assignment in &simple.assignments {
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
                state.feed = Feed::text(text.text);
            }
            RedirectKind::Read => state.feed = text.feed.unwrap_or_default(),
            RedirectKind::Write | RedirectKind::Append => {
                let append = redirect.kind == RedirectKind::Append;
                let hit = self.judge.write(&text, append, state.cwd.as_deref());
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
        if let Some(body) = state.functions.get(&program.text).cloned() {
            let mut inner = state.reached(format!("function {}", program.text));
            inner.positional =
                Some(Rc::new(args[1..].iter().map(|arg| arg.text.clone()).collect()));
            return self.deeper(|walker| walker.call(&program.text, &body, inner, part));
        }
        let unwrapped = wrap::unwrap(args, state);
        let hit = self.judge.command(args, state, unwrapped.transparent);
        self.record(args, state, hit.as_ref());
        self.refuse(hit, part)?;
        builtins::apply(args, state);
        let mut written = None;
        for inner in unwrapped.inner {
            let feed = self.deeper(|walker| walker.inner(inner, part, args, state))?;
            written.get_or_insert(feed);
        }
        Ok(written.unwrap_or_else(|| output::of(args, state)))
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
                let mut inner = state.reached(name);
                // `command cd /` and the like change this shell.
                let in_place = matches!(wrap::base_name(outer), "command" | "builtin" | "exec");
                if let Some(directory) = cwd {
                    inner.change_directory(Some(&directory));
                }
                let feed = self.run(&args, part, &mut inner)?;
                if in_place {
                    inner.via = state.via.clone();
                    *state = inner;
                }
                Ok(feed)
            }
            Inner::Text { text, positional, in_place, remote } => {
                let mut inner = state.reached(name);
                if let Some(positional) = positional {
                    inner.positional = Some(Rc::new(positional));
                }
                if remote {
                    inner.change_directory(None);
                }
                let feed = self.text(&text, &mut inner)?;
                if in_place {
                    inner.via = state.via.clone();
                    *state = inner;
                }
                Ok(feed)
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
