//! Aliases that the line itself defines.
//!
//! Whether one is in force where it is used depends on the shell and on line ends, so a command is
//! judged with it and without.

use std::rc::Rc;

use super::state::{Arg, State};

/// A command with an alias put in.
pub(super) struct Aliased {
    pub(super) text: String,
    /// How things stand there: an alias is not expanded in itself.
    pub(super) state: State,
}

/// The command that an alias makes of one, if it uses any.
pub(super) fn expand(args: &[Arg], state: &State) -> Option<Aliased> {
    if state.aliases.is_empty() {
        return None;
    }
    let used = |(index, arg): (usize, &Arg)| {
        state.aliases.get(&arg.text).is_some_and(|alias| index == 0 || alias.global)
    };
    let at = args.iter().enumerate().position(used)?;
    let name = &args[at].text;
    let alias = state.aliases.get(name)?;
    let words: Vec<String> = args
        .iter()
        .enumerate()
        .map(|(index, arg)| if index == at { alias.text.clone() } else { quoted(arg) })
        .collect();
    let mut inner = state.reached(format!("alias {name}"));
    Rc::make_mut(&mut inner.aliases).remove(name);
    Some(Aliased { text: words.join(" "), state: inner })
}

fn quoted(arg: &Arg) -> String {
    if arg.glob { arg.text.clone() } else { format!("'{}'", arg.text.replace('\'', r"'\''")) }
}

/// Takes the definitions of `alias name=text`, and of fish's `alias name text`.
pub(super) fn define(rest: &[Arg], state: &mut State) {
    let global = rest.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains('g'));
    let words: Vec<&str> =
        rest.iter().map(|arg| arg.text.as_str()).filter(|text| !text.starts_with('-')).collect();
    if let [name, text] = words.as_slice()
        && !name.contains('=')
    {
        state.alias(name, text, global);
        return;
    }
    for (name, text) in words.iter().filter_map(|word| word.split_once('=')) {
        state.alias(name, text, global);
    }
}
