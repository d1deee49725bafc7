//! Hints without tools that the client does not have.
//!
//! A hint is clauses, separated by `. `, `; `, `, or ` or, where both name a tool, ` or `. A clause that names a
//! tool which is not offered goes; where another tool does the same, its name takes the place. Of tools that are
//! named one after the other (`debug_restart or debug_start`) those stay that are offered.

/// What stands between the clauses of a hint.
const SEPARATORS: [&str; 4] = [". ", "; ", ", or ", OR];
const OR: &str = " or ";

/// Every terminal tool that a hint may name.
pub(crate) const NAMES: [&str; 16] = [
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

/// The hint for a client that has `usable` of the tools with these names: a tool's own name, another's that
/// does the same, or none.
pub(crate) fn for_tools<'a>(
    hint: &str,
    names: &[&'a str],
    usable: impl Fn(&'a str) -> Option<&'a str>,
) -> String {
    let hint = &without_missing_choices(hint, names, &usable);
    let names_one = |text: &str| names.iter().any(|name| text.contains(name));
    let mut kept = String::new();
    let (mut rest, mut separator) = (hint.as_str(), "");
    while !rest.is_empty() {
        let splits = |at: usize, end: &str| {
            let behind = &rest[at + end.len()..];
            let behind = &behind[..behind.find([';', '.', ',']).unwrap_or(behind.len())];
            end != OR || (names_one(&rest[..at]) && names_one(behind))
        };
        let ends = SEPARATORS.iter().filter_map(|end| Some((rest.find(end)?, *end)));
        let ends = ends.filter(|(at, end)| splits(*at, end));
        let (at, end) = ends.min().unwrap_or((rest.len(), ""));
        if let Some(clause) = with_usable_names(&rest[..at], names, &usable) {
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

/// `A or B` as the one that can be used, where that is only one.
fn without_missing_choices<'a>(
    hint: &str,
    names: &[&'a str],
    usable: impl Fn(&'a str) -> Option<&'a str>,
) -> String {
    let named = |word: &str| names.iter().copied().find(|name| *name == word);
    let mut hint = hint.to_owned();
    let mut from = 0;
    while let Some(at) = hint[from..].find(OR).map(|at| at + from) {
        let begin = hint[..at].rfind(|c| !is_part(c)).map_or(0, |before| before + 1);
        let behind = at + OR.len();
        let end = hint[behind..].find(|c| !is_part(c)).map_or(hint.len(), |end| behind + end);
        from = behind;
        if let (Some(first), Some(second)) = (named(&hint[begin..at]), named(&hint[behind..end]))
            && let (Some(left), None) | (None, Some(left)) = (usable(first), usable(second))
        {
            hint.replace_range(begin..end, left);
            from = begin;
        }
    }
    hint
}

fn with_usable_names<'a>(
    clause: &str,
    names: &[&'a str],
    usable: impl Fn(&'a str) -> Option<&'a str>,
) -> Option<String> {
    let mut kept = String::new();
    let mut rest = clause;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, later) = rest.split_at(end);
        match names.iter().find(|name| **name == word) {
            Some(name) => kept.push_str(usable(name)?),
            None => kept.push_str(word),
        }
        let next = later.find(is_part).unwrap_or(later.len());
        kept.push_str(&later[..next]);
        rest = &later[next..];
    }
    Some(kept)
}

/// A letter of a name.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
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
        assert_eq!(for_tools(hint, &NAMES, Some), hint);
        let compat = |name: &'static str| (name == "list_sessions").then_some("list");
        assert_eq!(for_tools(hint, &NAMES, compat), "Use list for the ids in use.");
        assert_eq!(for_tools(hint, &NAMES, |_| None), "");
        let hint = "It runs a command. Look with get_terminal_output, or leave session_id out.";
        assert_eq!(for_tools(hint, &NAMES, |_| None), "It runs a command. Leave session_id out.");
        let hint = "stop it with debug_pause or wait for a breakpoint with debug_wait_for_hit";
        let core = |name| (name == "debug_wait_for_hit").then_some(name);
        let names = ["debug_pause", "debug_wait_for_hit"];
        assert_eq!(for_tools(hint, &names, core), "Wait for a breakpoint with debug_wait_for_hit");
        assert_eq!(for_tools("launch_app starts it; try again", &NAMES, |_| None), "Try again");
        let hint = "Start it again with debug_restart or debug_start";
        let names = ["debug_restart", "debug_start"];
        let core = |name| (name == "debug_start").then_some(name);
        assert_eq!(for_tools(hint, &names, core), "Start it again with debug_start");
        let hint = "Take a frameId from debug_stack or a variablesReference from a listing";
        assert_eq!(for_tools(hint, &["debug_stack"], |_| None), "");
    }

    #[test]
    fn all_names_are_known() {
        let tools = tools::of(Toolset::Terminal);
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.definition.name).collect();
        assert_eq!(names, NAMES);
    }
}
