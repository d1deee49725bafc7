//! Settings from environment variables: an empty one is not set, and a bad one is named.

use std::ffi::{OsStr, OsString};

use clap::builder::{OsStr as Name, Resettable, StyledStr};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command, Error};

/// The command without the variables that are empty.
pub(crate) fn without_empty_variables(command: Command) -> Command {
    // The rest makes every argument of every command again, which takes time.
    if std::env::vars_os().all(|(_, value)| !value.is_empty()) {
        return command;
    }
    command
        .mut_args(|arg| match arg.get_env().and_then(std::env::var_os) {
            Some(value) if value.is_empty() => arg.env(Resettable::<Name>::Reset),
            _ => arg,
        })
        .mut_subcommands(without_empty_variables)
}

/// The error, with the variable that holds the bad value if no flag does.
pub(crate) fn name_variable(mut error: Error, command: &Command, words: &[OsString]) -> Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let (Some(argument), Some(value)) =
        (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue))
    else {
        return error;
    };
    // `--name <VALUE>`, `--name[=<VALUE>]`: the flag alone names the argument.
    let flag = argument.split([' ', '[', '=']).next().unwrap_or_default();
    let is_given = |word: &OsString| word.to_string_lossy().split('=').next() == Some(flag);
    if words.iter().any(is_given) {
        return error;
    }
    let is_bad = |arg: &&Arg| {
        let held = arg.get_env().and_then(std::env::var_os);
        arg.get_long().is_some_and(|long| flag.strip_prefix("--") == Some(long))
            && held.is_some_and(|held| held.to_string_lossy() == value)
    };
    if let Some(variable) = arguments(command).find(is_bad).and_then(Arg::get_env) {
        let note = note(variable);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![note]));
    }
    error
}

fn note(variable: &OsStr) -> StyledStr {
    format!("the value comes from the environment variable {}", variable.display()).into()
}

/// The arguments of a command and of those inside it.
fn arguments(command: &Command) -> Box<dyn Iterator<Item = &Arg> + '_> {
    Box::new(command.get_arguments().chain(command.get_subcommands().flat_map(arguments)))
}
