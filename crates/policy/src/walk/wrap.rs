//! What a command runs in its turn: `sudo rm`, `find -exec`, `ssh host cmd`, `bash -c`.
//!
//! Interpreters of other languages (`python -c`, `perl -e`, `awk`) and script files are opaque.

use crate::dialect::Dialect;

use super::shells;
use super::state::{Arg, Feed, State, UNKNOWN};
use super::wrappers::{self, Wrapper};

/// A command found inside another.
#[derive(Debug)]
pub(super) enum Inner {
    /// Given as arguments, perhaps run in another directory.
    Args { args: Vec<Arg>, cwd: Option<String> },
    /// A text that the shell at hand runs, as `eval` does.
    Here { text: String },
    /// Given as text for another shell.
    Text {
        text: String,
        /// `$0` and what follows it.
        positional: Option<Vec<String>>,
        dialect: Dialect,
        /// Runs on another machine, in the home directory there.
        remote: bool,
    },
    /// Judged by the built-in rules only: what several commands do together.
    BuiltIn { args: Vec<Arg> },
    /// A text for a shell that nobody has read.
    Fetched,
}

impl Inner {
    pub(super) fn args(args: &[Arg]) -> Self {
        Self::Args { args: args.to_vec(), cwd: None }
    }

    /// For `sh`.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::for_shell(text, Dialect::Posix)
    }

    pub(super) fn for_shell(text: impl Into<String>, dialect: Dialect) -> Self {
        Self::Text { text: text.into(), positional: None, dialect, remote: false }
    }
}

/// What is inside a command.
#[derive(Debug, Default)]
pub(super) struct Unwrapped {
    pub(super) inner: Vec<Inner>,
    /// The command itself does nothing but run what is inside.
    pub(super) transparent: bool,
    /// The variables that it sets for what is inside.
    pub(super) variables: Vec<(String, String)>,
    /// What is inside may be something else.
    pub(super) doubt: bool,
}

/// Whether a command runs what follows in the shell itself, functions and all.
pub(super) fn runs_functions(name: &str) -> bool {
    matches!(name, "noglob" | "nocorrect" | "not" | "and" | "or" | "then" | "do" | "else" | "time")
}

/// The name of a command's program without its directory.
pub(crate) fn base_name(args: &[Arg]) -> &str {
    let text = args.first().map_or("", |arg| arg.text.as_str());
    let name = text.rsplit('/').next().unwrap_or_default();
    // zsh: `=rm` is the path of `rm`.
    name.strip_prefix('=').filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// Finds the commands inside a command.
pub(super) fn unwrap(args: &[Arg], state: &State) -> Unwrapped {
    let mut unwrapped = inside(args, state);
    // Words that are made when it runs may hold quotes and separators.
    let made = || args.iter().skip(1).any(|arg| arg.glob || arg.splits);
    let text = |inner: &Inner| matches!(inner, Inner::Here { .. } | Inner::Text { .. });
    unwrapped.doubt |= unwrapped.inner.iter().any(text) && made();
    unwrapped
}

fn inside(args: &[Arg], state: &State) -> Unwrapped {
    let name = base_name(args);
    let rest = args.get(1..).unwrap_or_default();
    if let Some(wrapper) = wrappers::find(name) {
        return wrapped(wrapper, rest);
    }
    let inner = match name {
        "eval" => {
            let dashes = usize::from(rest.first().is_some_and(|arg| arg.text == "--"));
            vec![Inner::Here { text: join(&rest[dashes..]) }]
        }
        "env" | "sudo" => {
            let (inner, variables, doubt) = environment(name, rest);
            let transparent = name == "env" && !inner.is_empty();
            return Unwrapped { inner, transparent, variables, doubt };
        }
        "xargs" => {
            let inner = xargs(rest, &state.feed);
            let start = wrappers::command_start(&wrappers::XARGS, rest);
            let doubt = wrappers::in_doubt(&wrappers::XARGS, rest, start);
            return Unwrapped { inner, transparent: true, doubt, ..Unwrapped::default() };
        }
        "parallel" => parallel(rest),
        "find" | "gfind" => find(rest),
        "fd" | "fdfind" => {
            let exec =
                |arg: &Arg| matches!(arg.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
            let at = rest.iter().position(exec);
            at.map(|at| Inner::args(&rest[at + 1..])).into_iter().collect()
        }
        "ssh" | "mosh" => ssh(rest),
        "git" => git(rest),
        "su" | "runuser" | "script" | "flock" | "newgrp" | "sg" => command_option(rest),
        "watch" | "entr" | "hyperfine" | "nodemon" => watched(rest),
        "tmux" | "screen" | "zellij" => rest
            .iter()
            .filter(|arg| arg.text.contains(' '))
            .map(|arg| Inner::text(&arg.text))
            .collect(),
        "trap" => {
            let mut words = rest.iter().filter(|arg| !matches!(arg.text.as_str(), "--" | "-"));
            words.next().map(|arg| Inner::Here { text: arg.text.clone() }).into_iter().collect()
        }
        "alias" => {
            let words = rest.iter().filter(|arg| !arg.text.starts_with('-'));
            let value = |(index, arg): (usize, &Arg)| match arg.text.split_once('=') {
                Some((_, value)) => Some(value.to_owned()),
                // fish: `alias name text`.
                None => (index > 0).then(|| arg.text.clone()),
            };
            words.enumerate().filter_map(value).map(|text| Inner::Here { text }).collect()
        }
        "at" | "batch" => shells::of_feed(&state.feed, Dialect::Posix),
        _ => shells::unwrap(name, rest, state),
    };
    let transparent =
        !inner.is_empty() && (matches!(name, "eval" | "trap") || shells::runs_text(name, rest));
    Unwrapped { inner, transparent, ..Unwrapped::default() }
}

fn join(args: &[Arg]) -> String {
    args.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The place of a wrapper's command among its arguments.
fn wrapped(wrapper: &Wrapper, rest: &[Arg]) -> Unwrapped {
    let queries = rest.first().is_some_and(|arg| wrapper.queries.contains(&arg.text.as_str()));
    let start = wrappers::command_start(wrapper, rest);
    if queries || start >= rest.len() {
        return Unwrapped::default();
    }
    Unwrapped {
        inner: vec![Inner::args(&rest[start..])],
        transparent: wrapper.transparent,
        doubt: wrappers::in_doubt(wrapper, rest, start),
        ..Unwrapped::default()
    }
}

/// `env` and `sudo`: options, assignments, then a command; and whether it may be another.
fn environment(name: &str, rest: &[Arg]) -> (Vec<Inner>, Vec<(String, String)>, bool) {
    let wrapper = if name == "env" { &wrappers::ENV } else { &wrappers::SUDO };
    let mut variables = Vec::new();
    let mut cwd = None;
    let mut start = 0;
    while let Some(arg) = rest.get(start) {
        let text = arg.text.as_str();
        let following = rest.get(start + 1).map(|arg| arg.text.as_str());
        if name == "env" {
            // `-S` may be the last of several letters.
            let letters =
                text.strip_prefix('-').map(|letters| letters.trim_start_matches(['i', '0', 'v']));
            let short = letters.and_then(|letters| letters.strip_prefix('S'));
            let joined = text.strip_prefix("--split-string=").or(short);
            if let Some(split) = joined.or(following.filter(|_| text == "--split-string")) {
                let used = if split.is_empty() || joined.is_none() { 2 } else { 1 };
                let first = if split.is_empty() { following.unwrap_or_default() } else { split };
                let after = rest.get(start + used..).unwrap_or_default();
                let text = format!("{first} {}", join(after));
                let split = text.split_ascii_whitespace();
                variables.extend(split.map_while(assignment));
                // It has quotes and escapes of its own.
                return (vec![Inner::text(text)], variables, true);
            }
        }
        match text {
            "-C" | "--chdir" | "-D" => cwd = following.map(str::to_owned),
            _ => cwd = text.strip_prefix("--chdir=").map(str::to_owned).or(cwd),
        }
        let step = wrappers::option_length(wrapper, text);
        if step == 0 {
            let Some(variable) = assignment(text) else { break };
            variables.push(variable);
        }
        start += step.max(1);
        if text == "--" {
            while let Some(variable) = rest.get(start).and_then(|arg| assignment(&arg.text)) {
                variables.push(variable);
                start += 1;
            }
            break;
        }
    }
    let by_shell = name == "sudo"
        && rest.iter().take(start).any(|arg| {
            matches!(arg.text.as_str(), "--shell" | "--login")
                || short_with(&arg.text, 's')
                || short_with(&arg.text, 'i')
        });
    let inner = match rest.get(start..) {
        None | Some([]) => Vec::new(),
        Some(args) if by_shell => vec![Inner::text(join(args))],
        Some(args) => vec![Inner::Args { args: args.to_vec(), cwd }],
    };
    (inner, variables, wrappers::in_doubt(wrapper, rest, start))
}

/// The name and value of `name=value`.
fn assignment(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let is_name = name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    (is_name && !name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}

/// `xargs`: what it reads becomes arguments.
fn xargs(rest: &[Arg], feed: &Feed) -> Vec<Inner> {
    let start = wrappers::command_start(&wrappers::XARGS, rest);
    let command = rest.get(start..).unwrap_or_default();
    let Some(first) = command.first() else { return Vec::new() };
    let options = &rest[..start];
    let replace = options.iter().enumerate().rev().find_map(|(index, arg)| {
        replaced_mark(&arg.text, rest.get(index + 1).map(|arg| arg.text.as_str()))
    });
    let shell = shells::is_shell(base_name(std::slice::from_ref(first)));
    let mut found = Vec::new();
    let words: Vec<Arg> = match feed {
        Feed::Fetched if shell => return vec![Inner::Fetched],
        Feed::Found(args) => {
            found.extend(removes_found(args, command));
            vec![Arg::literal(UNKNOWN)]
        }
        Feed::Text(text) if replace.is_some() => text.lines().map(Arg::literal).collect(),
        Feed::Text(text) => text.split_ascii_whitespace().map(unquoted).collect(),
        _ => vec![Arg::literal(UNKNOWN)],
    };
    let Some(mark) = replace.filter(|mark| !mark.is_empty()) else {
        found.push(Inner::Args { args: [command, &words].concat(), cwd: None });
        return found;
    };
    let put_in = |word: &Arg| {
        let put = |arg: &Arg| Some(Arg { text: replaced(&arg.text, mark, word)?, ..arg.clone() });
        let args: Option<Vec<Arg>> = command.iter().map(put).collect();
        args.map_or(Inner::Fetched, |args| Inner::Args { args, cwd: None })
    };
    found.extend(words.iter().take(MAX_LINES).map(put_in));
    found
}

/// The mark that an option of `xargs` has replaced by what is read: `-I mark`, `-imark`, `-0rI mark`.
fn replaced_mark<'a>(option: &'a str, following: Option<&'a str>) -> Option<&'a str> {
    if let Some(long) = option.strip_prefix("--") {
        return long.strip_prefix("replace=").or((long == "replace").then_some("{}"));
    }
    let cluster = option.strip_prefix('-')?;
    let at = cluster.find(wrappers::takes_value_of_xargs)?;
    let (letter, value) = cluster[at..].split_at(1);
    match (letter, value) {
        ("I" | "J", "") => following,
        ("i", "") => Some("{}"),
        ("I" | "J" | "i", value) => Some(value),
        _ => None,
    }
}

/// Removing what a `find` printed is what its `-delete` does.
fn removes_found(find: &[Arg], command: &[Arg]) -> Option<Inner> {
    let removes = |arg: &Arg| {
        let name = base_name(std::slice::from_ref(arg));
        matches!(name, "rm" | "unlink" | "shred") || arg.text.contains("rm ")
    };
    command.iter().take(4).any(removes).then(|| {
        let args = find.iter().cloned().chain([Arg::literal("-delete")]).collect();
        Inner::BuiltIn { args }
    })
}

/// A text with a word put in the place of a mark. `None` if that would be too long to look at.
fn replaced(text: &str, mark: &str, word: &Arg) -> Option<String> {
    let length = text.matches(mark).count().saturating_mul(word.text.len());
    (length <= MAX_REPLACED).then(|| text.replace(mark, &word.text))
}

/// Longest text that `xargs -I` and `parallel` are followed to.
const MAX_REPLACED: usize = 64 * 1024;

/// Most lines that `xargs -I` and `parallel` are followed for.
const MAX_LINES: usize = 64;

fn unquoted(word: &str) -> Arg {
    Arg::literal(word.replace(['\'', '"', '\\'], ""))
}

fn parallel(rest: &[Arg]) -> Vec<Inner> {
    let start = wrappers::command_start(&wrappers::PARALLEL, rest);
    let rest = rest.get(start..).unwrap_or_default();
    let mut lists = rest.split(|arg| arg.text.starts_with(":::"));
    let command = lists.next().unwrap_or_default();
    let words: Vec<&Arg> = lists.flatten().take(MAX_LINES).collect();
    if words.is_empty() {
        return vec![Inner::text(join(command))];
    }
    let line = join(command);
    words
        .into_iter()
        .map(|word| {
            if line.contains("{}") {
                replaced(&line, "{}", word).map_or(Inner::Fetched, Inner::text)
            } else {
                Inner::text(format!("{line} {}", word.text))
            }
        })
        .collect()
}

/// `find`: the commands of `-exec` and its kin, once for each place it starts from.
fn find(rest: &[Arg]) -> Vec<Inner> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < rest.len() {
        let text = rest[at].text.as_str();
        at += 1;
        if !matches!(text, "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        let length = rest[at..].iter().position(|arg| matches!(arg.text.as_str(), ";" | "+"));
        let end = length.map_or(rest.len(), |length| at + length);
        // What is found lies below the start; the rule for `find` judges the start itself.
        let put = |arg: &Arg| Arg {
            text: arg.text.replace("{}", UNKNOWN.encode_utf8(&mut [0; 4])),
            ..arg.clone()
        };
        found.push(Inner::Args { args: rest[at..end].iter().map(put).collect(), cwd: None });
        at = end;
    }
    found
}

fn ssh(rest: &[Arg]) -> Vec<Inner> {
    let mut inner: Vec<Inner> = rest
        .iter()
        .filter_map(|arg| {
            let (key, value) = arg.text.trim_start_matches("-o").split_once('=')?;
            let runs = ["proxycommand", "localcommand", "knownhostscommand"];
            runs.contains(&key.trim().to_ascii_lowercase().as_str()).then(|| Inner::text(value))
        })
        .collect();
    let start = wrappers::command_start(&wrappers::SSH, rest);
    if let Some(command @ [_, ..]) = rest.get(start..) {
        let (positional, dialect, remote) = (None, Dialect::Posix, true);
        inner.push(Inner::Text { text: join(command), positional, dialect, remote });
    }
    inner
}

/// `git`: aliases and settings that name a command, and subcommands that run one.
fn git(rest: &[Arg]) -> Vec<Inner> {
    let mut inner = Vec::new();
    for (index, arg) in rest.iter().enumerate() {
        let following = rest.get(index + 1);
        match arg.text.as_str() {
            "-c" | "--config-env" => {
                let setting = following.and_then(|arg| arg.text.split_once('='));
                inner.extend(setting.and_then(|(key, value)| git_setting(key, value)));
            }
            "-x" | "--exec" => inner.extend(following.map(|arg| Inner::text(&arg.text))),
            "foreach" => inner.push(Inner::text(join(&rest[index + 1..]))),
            "run" if index > 0 && rest[index - 1].text == "bisect" => {
                inner.push(Inner::args(&rest[index + 1..]));
            }
            text => {
                let command = text.strip_prefix("--exec=");
                inner.extend(command.map(Inner::text));
            }
        }
    }
    inner
}

fn git_setting(key: &str, value: &str) -> Option<Inner> {
    let key = key.to_ascii_lowercase();
    let runs = ["pager", "editor", "sshcommand", "fsmonitor", "external", "command", "askpass"];
    if let Some(command) = value.strip_prefix('!') {
        return Some(Inner::text(command));
    }
    runs.iter().any(|name| key.ends_with(name)).then(|| Inner::text(value))
}

/// Programs that take a command line after `-c`.
fn command_option(rest: &[Arg]) -> Vec<Inner> {
    let named = |arg: &Arg| arg.text == "--command" || short_with(&arg.text, 'c');
    let after = rest.iter().position(named).and_then(|at| rest.get(at + 1));
    let joined = rest.iter().find_map(|arg| arg.text.strip_prefix("--command="));
    let mut inner: Vec<Inner> =
        after.map(|arg| arg.text.as_str()).or(joined).map(Inner::text).into_iter().collect();
    // `flock file command`, `runuser -u user -- command`.
    if inner.is_empty() {
        let operand = |arg: &Arg| !arg.text.starts_with('-');
        if let Some(at) = rest.iter().position(operand)
            && let Some(command @ [_, ..]) = rest.get(at + 1..)
        {
            let dashes = usize::from(command[0].text == "--");
            inner.push(Inner::args(&command[dashes..]));
        }
    }
    inner
}

/// Whether an argument is a cluster of short options that ends with a letter.
pub(super) fn short_with(text: &str, letter: char) -> bool {
    text.strip_prefix('-')
        .is_some_and(|letters| !letters.starts_with('-') && letters.ends_with(letter))
}

/// Programs whose operands make a command line.
fn watched(rest: &[Arg]) -> Vec<Inner> {
    let start = wrappers::command_start(&wrappers::WATCH, rest);
    match rest.get(start..) {
        None | Some([]) => Vec::new(),
        Some(command) => vec![Inner::text(join(command))],
    }
}
