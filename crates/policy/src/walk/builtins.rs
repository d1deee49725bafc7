//! Builtins that change what the shell knows.

use std::rc::Rc;

use super::aliases;
use super::state::{Arg, Feed, State};

/// Applies a builtin to the state. Other programs change nothing.
pub(super) fn apply(args: &[Arg], fish: bool, state: &mut State) {
    let [program, rest @ ..] = args else { return };
    match program.text.as_str() {
        "cd" | "chdir" | "pushd" => {
            let target = rest.iter().map(|arg| arg.text.as_str()).find(|text| is_operand(text));
            state.change_directory(target);
        }
        "popd" => state.change_directory(Some("-")),
        "export" | "declare" | "local" | "typeset" | "readonly" => {
            for arg in rest {
                if let Some((name, value)) = arg.text.split_once('=') {
                    state.assign(name, vec![value.to_owned()]);
                }
            }
        }
        "unset" => rest.iter().for_each(|arg| {
            state.forget(&arg.text);
            state.undefine(&arg.text);
        }),
        "alias" => aliases::define(rest, state),
        "unalias" => state.aliases = Rc::default(),
        "read" => read(rest, state),
        "printf" => {
            if let [flag, name, words @ ..] = rest
                && flag.text == "-v"
                && let Some(text) = super::output::printf(words)
            {
                state.assign(&name.text, vec![text]);
            }
        }
        "set" if fish => set_of_fish(rest, state),
        "set" => {
            let errexit = |arg: &Arg| {
                let letters = arg.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
                letters.is_some_and(|letters| letters.contains('e')) || arg.text == "errexit"
            };
            state.exits_on_error |= !state.conditional && rest.iter().any(errexit);
            let mut words = rest.iter().map(|arg| arg.text.clone());
            if words.by_ref().any(|word| word == "--") {
                state.positional = Some(Rc::new(words.collect()));
            }
        }
        "shift" => {
            let count = rest.first().map_or(Ok(1), |arg| arg.text.parse()).unwrap_or(1);
            state.positional = state
                .positional
                .as_ref()
                .map(|all| Rc::new(all.iter().skip(count).cloned().collect()));
        }
        "return" | "exit" => state.may_have_left |= state.conditional,
        _ => {}
    }
}

/// `set name values` and `set -e name` of fish.
fn set_of_fish(rest: &[Arg], state: &mut State) {
    let options = rest.iter().take_while(|arg| arg.text.starts_with('-'));
    let erases = options.clone().any(|arg| matches!(arg.text.as_str(), "-e" | "--erase"));
    let mut words = rest.iter().skip(options.count()).map(|arg| arg.text.clone());
    if let Some(name) = words.next() {
        if erases {
            state.forget(&name);
        } else {
            state.assign(&name, words.collect());
        }
    }
}

/// The directory that a command changes to, if it names one.
pub(super) fn directory(args: &[Arg]) -> Option<&str> {
    let [program, rest @ ..] = args else { return None };
    if !matches!(program.text.as_str(), "cd" | "chdir" | "pushd") {
        return None;
    }
    rest.iter().map(|arg| arg.text.as_str()).find(|text| is_operand(text))
}

/// The variables that a command sets.
pub(super) fn assigned(args: &[Arg], fish: bool) -> Vec<&str> {
    let [program, rest @ ..] = args else { return Vec::new() };
    let words = || rest.iter().map(|arg| arg.text.as_str());
    match program.text.as_str() {
        "export" | "declare" | "local" | "typeset" | "readonly" | "integer" | "float" | "read"
        | "mapfile" | "readarray" | "getopts" | "vared" | "unset" | "wait" => {
            words().filter(|word| is_operand(word)).map(name_of).collect()
        }
        "set" if fish => words().filter(|word| is_operand(word)).take(1).map(name_of).collect(),
        "printf" | "print" => {
            let attached = words().filter_map(|word| word.strip_prefix("-v"));
            let next = words().skip_while(|word| *word != "-v").skip(1).take(1);
            attached.filter(|name| !name.is_empty()).chain(next).map(name_of).collect()
        }
        _ => Vec::new(),
    }
}

/// The name in `name=value`, `name+=value`, `name[index]`.
fn name_of(word: &str) -> &str {
    word.split(['=', '+', '[']).next().unwrap_or(word)
}

/// Whether bash evaluates the subscript of a variable that such a command is given.
pub(super) fn evaluates_subscripts(program: &str) -> bool {
    matches!(
        program,
        "let"
            | "declare"
            | "typeset"
            | "local"
            | "export"
            | "readonly"
            | "unset"
            | "printf"
            | "read"
            | "test"
            | "["
            | "wait"
            | "mapfile"
    )
}

fn is_operand(text: &str) -> bool {
    text == "-" || !text.starts_with(['-', '+'])
}

/// `read`: the last name takes the rest of the line.
fn read(args: &[Arg], state: &mut State) {
    let names: Vec<&str> =
        args.iter().map(|arg| arg.text.as_str()).filter(|text| is_operand(text)).collect();
    let Feed::Text(text) = &state.feed else {
        names.iter().for_each(|name| state.forget(name));
        return;
    };
    let line = text.lines().next().unwrap_or_default().trim().to_owned();
    let mut rest = line.as_str();
    for (index, name) in names.iter().enumerate() {
        let (value, after) = if index + 1 == names.len() {
            (rest, "")
        } else {
            rest.split_once([' ', '\t']).unwrap_or((rest, ""))
        };
        state.assign(name, vec![value.to_owned()]);
        rest = after.trim_start();
    }
}
