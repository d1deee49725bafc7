//! Shells and other programs that run text they are given.

use super::state::{Arg, Feed, State};
use super::wrap::Inner;

const SHELLS: &[&str] =
    &["sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "rbash", "yash", "fish", "csh", "tcsh"];

/// Interpreters that run what they read when they are given no program.
const INTERPRETERS: &[&str] =
    &["python", "python2", "python3", "perl", "ruby", "node", "php", "lua", "deno", "bun"];

pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Whether a shell is given its text on the command line.
pub(super) fn runs_text(name: &str, rest: &[Arg]) -> bool {
    is_shell(name) && rest.iter().any(|arg| is_command_flag(&arg.text))
}

/// What a shell or interpreter runs that was written in this line.
pub(super) fn unwrap(name: &str, rest: &[Arg], state: &State) -> Vec<Inner> {
    if matches!(name, "source" | ".") {
        return match rest.first() {
            Some(Arg { feed: Some(feed), .. }) => of_feed(feed),
            Some(arg) if reads_input(&arg.text) => of_feed(&state.feed),
            _ => Vec::new(),
        };
    }
    let interpreter = INTERPRETERS.contains(&name);
    if interpreter && state.feed == Feed::Fetched {
        let nothing_given = rest.iter().all(|arg| arg.text == "-");
        return if nothing_given { vec![Inner::Fetched] } else { Vec::new() };
    }
    if is_shell(name) { shell(rest, state) } else { Vec::new() }
}

/// A text that a shell reads.
pub(super) fn of_feed(feed: &Feed) -> Vec<Inner> {
    match feed {
        Feed::Text(text) => vec![Inner::text(text.as_ref())],
        Feed::Fetched => vec![Inner::Fetched],
        Feed::Unknown => Vec::new(),
    }
}

fn shell(rest: &[Arg], state: &State) -> Vec<Inner> {
    let mut command = false;
    let mut reads = false;
    let mut at = 0;
    while let Some(arg) = rest.get(at) {
        let text = arg.text.as_str();
        if text == "--" || text == "-" {
            at += 1;
            break;
        }
        if matches!(text, "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file") {
            at += 2;
            continue;
        }
        if !text.starts_with(['-', '+']) {
            break;
        }
        command |= is_command_flag(text);
        reads |= !text.starts_with("--") && text.contains('s');
        at += 1;
    }
    let operands = rest.get(at..).unwrap_or_default();
    if command {
        let [text, names @ ..] = operands else { return Vec::new() };
        let positional = names.iter().skip(1).map(|arg| arg.text.clone()).collect();
        let (text, positional) = (text.text.clone(), Some(positional));
        return vec![Inner::Text { text, positional, in_place: false, remote: false }];
    }
    match operands.first() {
        Some(Arg { feed: Some(feed), .. }) if !reads => of_feed(feed),
        Some(arg) if !reads && !reads_input(&arg.text) => Vec::new(),
        _ => of_feed(&state.feed),
    }
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
