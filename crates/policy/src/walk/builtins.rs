//! Builtins that change what the shell knows.

use std::rc::Rc;

use super::state::{Arg, Feed, State};

/// Applies a builtin to the state. Other programs change nothing.
pub(super) fn apply(args: &[Arg], state: &mut State) {
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
        "unset" => rest.iter().for_each(|arg| state.forget(&arg.text)),
        "read" => read(rest, state),
        "printf" => {
            if let [flag, name, words @ ..] = rest
                && flag.text == "-v"
                && let Some(text) = super::output::printf(words)
            {
                state.assign(&name.text, vec![text]);
            }
        }
        "set" => {
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
        _ => {}
    }
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
