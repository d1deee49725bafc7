//! Hints without tools that the client does not have.
//!
//! A hint is clauses, separated by `. `, `; ` or `, or `. A clause that names a tool which is not offered
//! goes; where another tool does the same, its name takes the place.

/// What stands between the clauses of a hint.
const SEPARATORS: [&str; 3] = [". ", "; ", ", or "];

/// Every name of ours that a hint may have.
const NAMES: [&str; 16] = [
    "execute_command",
    "get_terminal_output",
    "list_sessions",
    "create_session",
    "switch_session",
    "search_history",
    "launch_app",
    "view_screen",
    "send_keys",
    "wait_for",
    "get_cursor_position",
    "get_screen_size",
    "resize_terminal",
    "restart_app",
    "stop_app",
    "run_steps",
];

/// The hint for a client that has `usable` tools: a tool's own name, another's that does the same, or none.
pub(super) fn for_tools(
    hint: &str,
    usable: impl Fn(&'static str) -> Option<&'static str>,
) -> String {
    let mut kept = String::new();
    let (mut rest, mut separator) = (hint, "");
    while !rest.is_empty() {
        let ends = SEPARATORS.iter().filter_map(|end| Some((rest.find(end)?, *end)));
        let (at, end) = ends.min().unwrap_or((rest.len(), ""));
        if let Some(clause) = with_usable_names(&rest[..at], &usable) {
            let begins = kept.is_empty() || separator == ". ";
            if !kept.is_empty() {
                kept.push_str(separator);
            }
            kept.push_str(&if begins { capitalised(&clause) } else { clause });
            separator = end;
        }
        rest = &rest[at + end.len()..];
    }
    let is_sentence = hint.ends_with('.') && !kept.is_empty() && !kept.ends_with('.');
    kept + if is_sentence { "." } else { "" }
}

fn with_usable_names(
    clause: &str,
    usable: impl Fn(&'static str) -> Option<&'static str>,
) -> Option<String> {
    let mut clause = clause.to_owned();
    for name in NAMES.into_iter().filter(|name| clause.contains(name)).collect::<Vec<_>>() {
        clause = clause.replace(name, usable(name)?);
    }
    Some(clause)
}

fn capitalised(text: &str) -> String {
    // A tool's name stays as it is.
    let starts_with_name = text.split([' ', '.']).next().is_some_and(|word| word.contains('_'));
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if !starts_with_name => first.to_uppercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{NAMES, for_tools};
    use crate::tools;
    use crate::toolset::Toolset;

    #[test]
    fn clauses_that_name_missing_tools_go() {
        let hint = "Use list_sessions for the ids in use, or launch_app for a new session.";
        assert_eq!(for_tools(hint, Some), hint);
        let compat = |name: &'static str| (name == "list_sessions").then_some("list");
        assert_eq!(for_tools(hint, compat), "Use list for the ids in use.");
        assert_eq!(for_tools(hint, |_| None), "");
        let hint = "It runs a command. Look with get_terminal_output, or leave session_id out.";
        assert_eq!(for_tools(hint, |_| None), "It runs a command. Leave session_id out.");
        assert_eq!(for_tools("launch_app starts it; try again", |_| None), "Try again");
    }

    #[test]
    fn all_names_are_known() {
        let tools = tools::of(Toolset::Terminal);
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.definition.name).collect();
        assert_eq!(names, NAMES);
    }
}
