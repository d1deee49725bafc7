//! Shells and other programs that run text they are given.

use crate::dialect::Dialect;

use super::state::{Arg, FETCHED, Feed, State};
use super::wrap::Inner;

const SHELLS: &[&str] =
    &["sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "rbash", "yash", "fish", "csh", "tcsh"];

/// Interpreters that run what they read when they are given no program.
const INTERPRETERS: &[&str] =
    &["python", "python2", "python3", "perl", "ruby", "node", "php", "lua", "deno", "bun"];

pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Whether a shell only runs the text it is given on the command line, with no file of its choice.
pub(super) fn runs_text(name: &str, rest: &[Arg]) -> bool {
    let plain = |text: &str| {
        matches!(text, "--" | "--norc" | "--noprofile" | "--login" | "--posix" | "--command")
            || text
                .strip_prefix('-')
                .is_some_and(|letters| letters.chars().all(|letter| "celuxvfnh".contains(letter)))
    };
    let texts = rest.iter().map(|arg| arg.text.as_str());
    let options: Vec<&str> = texts.take_while(|text| text.starts_with('-')).collect();
    is_shell(name)
        && options.iter().any(|text| is_command_flag(text))
        && options.into_iter().all(plain)
}

/// What a shell or interpreter runs that was written in this line.
pub(super) fn unwrap(name: &str, rest: &[Arg], state: &State) -> Vec<Inner> {
    if matches!(name, "source" | ".") {
        return match rest.first() {
            Some(Arg { feed: Some(feed), .. }) => here(feed),
            Some(arg) if reads_input(&arg.text) => here(&state.feed),
            Some(arg) if arg.text.contains(FETCHED) => vec![Inner::Fetched],
            Some(_) => Vec::new(),
            // fish reads its input then.
            None => here(&state.feed),
        };
    }
    if INTERPRETERS.contains(&name) {
        let nothing_given = rest.iter().all(|arg| arg.text == "-");
        let fetched = nothing_given && state.feed == Feed::Fetched
            || program_text(rest)
                .is_some_and(|arg| arg.feed == Some(Feed::Fetched) || arg.text.contains(FETCHED));
        return if fetched { vec![Inner::Fetched] } else { Vec::new() };
    }
    if is_shell(name) { shell(name, rest, state) } else { Vec::new() }
}

/// The argument that an interpreter runs: a text, or the path of a file.
fn program_text(rest: &[Arg]) -> Option<&Arg> {
    let option = rest.iter().position(|arg| {
        matches!(arg.text.as_str(), "-c" | "-e" | "-r" | "-p" | "--eval" | "--print" | "eval")
    });
    match option {
        Some(at) => rest.get(at + 1),
        None => rest.iter().find(|arg| !arg.text.starts_with('-')),
    }
}

/// A text that the shell at hand reads.
fn here(feed: &Feed) -> Vec<Inner> {
    match feed {
        Feed::Text(text) => vec![Inner::Here { text: text.to_string() }],
        other => of_feed(other, Dialect::Posix),
    }
}

/// A text that a shell reads.
pub(super) fn of_feed(feed: &Feed, dialect: Dialect) -> Vec<Inner> {
    match feed {
        Feed::Text(text) => vec![Inner::for_shell(text.as_ref(), dialect)],
        Feed::Fetched => vec![Inner::Fetched],
        Feed::Unknown | Feed::Found(_) => Vec::new(),
    }
}

fn shell(name: &str, rest: &[Arg], state: &State) -> Vec<Inner> {
    let dialect = Dialect::of(name);
    let mut inner = Vec::new();
    let mut command = false;
    let mut reads = false;
    let mut at = 0;
    while let Some(arg) = rest.get(at) {
        let text = arg.text.as_str();
        if text == "--" || text == "-" {
            at += 1;
            break;
        }
        if matches!(text, "--rcfile" | "--init-file") {
            at += 2;
            continue;
        }
        let joined = text.strip_prefix("--command=").or(text.strip_prefix("--init-command="));
        if let Some(joined) = joined {
            inner.push(Inner::for_shell(joined, dialect));
        } else if dialect == Dialect::Fish && matches!(text, "-C" | "--init-command") {
            inner.extend(rest.get(at + 1).map(|arg| Inner::for_shell(&arg.text, dialect)));
            at += 2;
            continue;
        }
        if !text.starts_with(['-', '+']) {
            break;
        }
        if text.starts_with("--") {
            command |= text == "--command";
            at += 1;
            continue;
        }
        let (letters, names) = cluster(name, &text[1..]);
        command |= letters.contains('c');
        reads |= letters.contains('s');
        at += 1 + names;
    }
    let operands = rest.get(at..).unwrap_or_default();
    if command {
        let [text, names @ ..] = operands else { return inner };
        // fish has no name before the first argument.
        let own_name = (dialect == Dialect::Fish).then(|| name.to_owned());
        let names = names.iter().map(|arg| arg.text.clone());
        let positional = Some(own_name.into_iter().chain(names).collect());
        let text = text.text.clone();
        inner.push(Inner::Text { text, positional, dialect, remote: false });
        return inner;
    }
    inner.extend(match operands.first() {
        Some(Arg { feed: Some(feed), .. }) if !reads => of_feed(feed, dialect),
        Some(arg) if !reads && arg.text.contains(FETCHED) => vec![Inner::Fetched],
        Some(arg) if !reads && !reads_input(&arg.text) => Vec::new(),
        _ => of_feed(&state.feed, dialect),
    });
    inner
}

/// The letters of an option cluster such as `-euo`, and the number of option names in the arguments after it.
///
/// In bash and dash every `o` of the cluster (and bash's `O`) takes one of the following arguments. In zsh and ksh the
/// rest of the cluster is the name; only an `o` at the end takes the following argument.
fn cluster<'a>(shell: &str, letters: &'a str) -> (&'a str, usize) {
    if matches!(shell, "zsh" | "ksh" | "mksh" | "yash") {
        let Some((before, name)) = letters.split_once('o') else { return (letters, 0) };
        return (before, usize::from(name.is_empty()));
    }
    (letters, letters.matches(['o', 'O']).count())
}

fn is_command_flag(text: &str) -> bool {
    text == "--command"
        || text
            .strip_prefix('-')
            .is_some_and(|letters| !letters.starts_with('-') && letters.contains('c'))
}

fn reads_input(text: &str) -> bool {
    matches!(text, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}
