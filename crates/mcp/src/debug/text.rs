//! What a model reads of an answer: stops and values as a person would write them down, other data
//! as compact JSON.

use std::path::Path;

use serde_json::Value;
use termbridge_session::vt::{CleanOutput, MAX_COLS, Size};

/// The tool that has all of a program's output.
const LOGS: &str = "dap_logs";
const MORE_IN_LOGS: &str = ": dap_logs)";

/// The tool that takes references of values.
const REFERENCES: &str = "debug_get_variable";

/// Longest value on a line.
const LONGEST_VALUE: usize = 300;

/// Fields that are paths.
const PATHS: [&str; 3] = ["path", "program", "outputPath"];

/// The text of an answer's data; paths inside the workspace are relative to it. `offered` tells whether the
/// client has a tool.
pub(super) fn of(data: &Value, workspace: &Path, offered: &dyn Fn(&str) -> bool) -> String {
    let mut data = data.clone();
    shorten(&mut data, workspace);
    clean_strings(&mut data);
    if !offered(REFERENCES) {
        without_references(&mut data);
    }
    let text = shown(&data);
    // The one tool that is named here and may be missing.
    if offered(LOGS) { text } else { text.replacen(MORE_IN_LOGS, " left out)", 1) }
}

/// What a program printed, as a terminal would show it: no escape sequences, only what stayed of a line
/// that was rewritten.
pub(super) fn cleaned(text: String) -> String {
    if !text.contains(['\x1b', '\r', '\x07', '\x08']) {
        return text;
    }
    // As wide as a terminal can be: lines are not wrapped.
    let mut clean = CleanOutput::new(Size { cols: MAX_COLS, rows: 24 }, 0);
    clean.feed(text.replace('\n', "\r\n").as_bytes());
    clean.finish()
}

fn clean_strings(value: &mut Value) {
    match value {
        Value::String(text) => *text = cleaned(std::mem::take(text)),
        Value::Array(items) => items.iter_mut().for_each(clean_strings),
        Value::Object(fields) => fields.values_mut().for_each(clean_strings),
        _ => {}
    }
}

fn without_references(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("variablesReference");
            fields.values_mut().for_each(without_references);
        }
        Value::Array(items) => items.iter_mut().for_each(without_references),
        _ => {}
    }
}

/// Only where a field is a path: a program's own words and source are as they are.
fn shorten(value: &mut Value, workspace: &Path) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if PATHS.contains(&name.as_str()) => {
                        if let Ok(inside) = Path::new(&text).strip_prefix(workspace)
                            && !inside.as_os_str().is_empty()
                        {
                            *text = inside.to_string_lossy().into_owned();
                        }
                    }
                    _ => shorten(value, workspace),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, workspace)),
        _ => {}
    }
}

fn shown(data: &Value) -> String {
    let text = shape(data);
    match data["terminal"].as_str() {
        Some(session) => format!("{text}\nIts terminal is session {session}."),
        None => text,
    }
}

fn shape(data: &Value) -> String {
    match data["state"].as_str() {
        Some("running") if data["sessionId"].is_string() && data["stop"].is_null() => {
            let program = data["program"].as_str().map(|program| format!("{program} "));
            format!("{}runs [session {}]", program.unwrap_or_default(), text(&data["sessionId"]))
        }
        Some("starting") if data["what"].is_string() => starting(data),
        Some("stopped") if data["location"].is_object() && data["frames"].is_array() => stop(data),
        Some("exited") if data["exit"].is_object() && data["stop"].is_null() => end(data),
        _ if data["stop"].is_object() => {
            let all: Vec<&str> = match data["sessions"].as_array() {
                Some(sessions) => sessions.iter().map(text).collect(),
                None => vec![text(&data["sessionId"])],
            };
            match all.as_slice() {
                // Its stop names it.
                [_] => shown(&data["stop"]),
                all => format!("Sessions {} started.\n{}", all.join(", "), shown(&data["stop"])),
            }
        }
        _ if data["variables"].is_array() => variables(data),
        _ if data["frames"].is_array() && data["state"].is_null() => stack(data),
        _ if data["breakpoint"]["path"].is_string() => breakpoint(&data["breakpoint"]),
        _ if data["breakpoints"].is_array() => breakpoints(data),
        _ if data["removed"].is_boolean() => match data["removed"] == true {
            true => "Removed.".to_owned(),
            false => "There was none.".to_owned(),
        },
        _ if data["result"] == "" => "(no value)".to_owned(),
        _ if data["result"].is_string() => result(data),
        _ if data["name"].is_string() && data["value"].is_string() => {
            variable(data).trim().to_owned()
        }
        _ if data["text"].is_string() && data["title"].is_string() => {
            text(&data["text"]).to_owned()
        }
        _ => data.to_string(),
    }
}

/// A start that takes longer than its call waited.
fn starting(data: &Value) -> String {
    let said = data["said"].as_str().map(|said| format!(" Last line: {said}"));
    format!(
        "Still starting {} ({} s): debug_wait_for_hit waits on, debug_stop ends it.{}",
        text(&data["what"]),
        data["seconds"],
        said.unwrap_or_default()
    )
}

fn stop(data: &Value) -> String {
    let place = &data["location"];
    let mut lines = vec![format!(
        "Stopped ({}) at {}:{} in {} [session {}]",
        text(&data["reason"]),
        text(&place["path"]),
        place["line"],
        text(&place["function"]),
        text(&data["sessionId"]),
    )];
    lines.extend(test(data));
    lines.extend(condition_failures(data));
    if let Some(thread) = data["thread"].as_str().filter(|name| !is_main(name)) {
        lines.push(format!("Thread {} ({thread})", data["threadId"]));
    }
    if let Some(exception) = data.get("exception") {
        let message = text(&exception["message"]);
        lines.push(format!("{}: {message}", text(&exception["type"])));
    }
    lines.extend(data["source"].as_str().map(str::to_owned));
    if let Some(locals) = data["locals"].as_array().filter(|locals| !locals.is_empty()) {
        lines.push("Locals:".to_owned());
        lines.extend(locals.iter().map(variable));
    }
    if let Some(left_out) = data["localsLeftOut"].as_u64() {
        lines.push(format!("  … {left_out} more: debug_list_variables"));
    }
    let frames = data["frames"].as_array().map_or(&[][..], Vec::as_slice);
    if frames.len() > 1 {
        lines.push("Stack:".to_owned());
        lines.extend(frames.iter().map(frame));
    }
    lines.extend(output(data));
    lines.join("\n")
}

/// The thread that everyone expects.
fn is_main(name: &str) -> bool {
    name.is_empty() || name.to_lowercase().contains("main")
}

fn end(data: &Value) -> String {
    let (program, how) = (text(&data["program"]), text(&data["exit"]["how"]));
    let mut lines = vec![format!("{program} ended: {how} [session {}]", text(&data["sessionId"]))];
    lines.extend(test(data));
    lines.extend(condition_failures(data));
    for place in data["unboundBreakpoints"].as_array().into_iter().flatten() {
        let path = text(&place["path"]);
        lines.push(format!("Breakpoint {path}:{} was never bound to code", place["line"]));
    }
    lines.extend(output(data));
    lines.join("\n")
}

fn condition_failures(data: &Value) -> Vec<String> {
    let all = data["conditionFailures"].as_array().into_iter().flatten();
    all.map(|words| text(words).to_owned()).collect()
}

fn test(data: &Value) -> Option<String> {
    Some(format!("Test {} ({})", data["test"].as_str()?, text(&data["runner"])))
}

fn output(data: &Value) -> Option<String> {
    let output = data["output"].as_str()?.trim_end();
    let left_out = data["outputLeftOut"].as_u64();
    let left_out =
        left_out.map(|bytes| format!(" (the last; {bytes} bytes before it{MORE_IN_LOGS}"));
    Some(format!("Output{}:\n{output}", left_out.unwrap_or_default()))
}

fn frame(frame: &Value) -> String {
    let name = text(&frame["name"]);
    match frame["path"].as_str() {
        Some(path) => format!("  #{} {name} {path}:{}", frame["id"], frame["line"]),
        None => format!("  #{} {name}", frame["id"]),
    }
}

fn variable(variable: &Value) -> String {
    let mut line = format!("  {} = {}", text(&variable["name"]), value(&variable["value"]));
    line.extend(kind(variable, text(&variable["value"])).map(|kind| format!(" ({kind})")));
    if let Some(reference) = variable["variablesReference"].as_u64().filter(|number| *number > 0) {
        line.push_str(&format!(" [{reference}]"));
    }
    line
}

/// Variables as a tree, and how to go on.
fn variables(data: &Value) -> String {
    let mut lines = Vec::new();
    tree(&data["variables"], 0, &mut lines);
    if let Some(left_out) = data["leftOut"].as_u64() {
        lines.push(format!("… {left_out} more"));
    }
    if let Some(next) = data["next"].as_u64() {
        lines.push(format!("… more: start {next}"));
    }
    if lines.is_empty() { "(no variables)".to_owned() } else { lines.join("\n") }
}

fn tree(variables: &Value, depth: usize, lines: &mut Vec<String>) {
    let mut scope = "";
    for entry in variables.as_array().into_iter().flatten() {
        let named = text(&entry["scope"]);
        if named != scope {
            scope = named;
            lines.push(format!("{scope}:"));
        }
        let indent = "  ".repeat(depth);
        lines.push(format!("{indent}{}", variable(entry)));
        tree(&entry["children"], depth + 1, lines);
        if let Some(left_out) = entry["childrenLeftOut"].as_u64() {
            lines.push(format!("{indent}    … {left_out} more"));
        }
    }
}

fn stack(data: &Value) -> String {
    let frames = data["frames"].as_array().into_iter().flatten().map(frame);
    let next = data["next"].as_u64().map(|next| format!("… more: start {next}"));
    let thread = format!("Thread {}:", data["threadId"]);
    std::iter::once(thread).chain(frames).chain(next).collect::<Vec<_>>().join("\n")
}

fn breakpoints(data: &Value) -> String {
    let all = data["breakpoints"].as_array().map_or(&[][..], Vec::as_slice);
    match all {
        [] => "No breakpoints.".to_owned(),
        all => all.iter().map(breakpoint).collect::<Vec<_>>().join("\n"),
    }
}

fn breakpoint(breakpoint: &Value) -> String {
    let mut line = format!(
        "Breakpoint at {}:{} is {}",
        text(&breakpoint["path"]),
        breakpoint["line"],
        breakpoint["state"].as_str().unwrap_or("set"),
    );
    for (field, word) in [("condition", "if"), ("hitCondition", "hits"), ("logMessage", "logs")] {
        if let Some(given) = breakpoint[field].as_str() {
            line.push_str(&format!(", {word} {given}"));
        }
    }
    if let Some(asked) = breakpoint["requestedLine"].as_u64() {
        line.push_str(&format!(" from line {asked}, which has no code to stop at"));
    }
    if let Some(message) = breakpoint["message"].as_str() {
        line.push_str(&format!(": {message}"));
    }
    line
}

fn result(data: &Value) -> String {
    let mut line = text(&data["result"]).to_owned();
    line.extend(kind(data, text(&data["result"])).map(|kind| format!(" ({kind})")));
    if let Some(reference) = data["variablesReference"].as_u64().filter(|number| *number > 0) {
        line.push_str(&format!(" [variablesReference {reference}]"));
    }
    line
}

/// A type, unless the value says it.
fn kind<'a>(data: &'a Value, value: &str) -> Option<&'a str> {
    let kind = data["type"].as_str()?;
    let name = kind.split(['<', '[', ' ', '*', '&']).next().unwrap_or(kind);
    let name = name.rsplit("::").next().unwrap_or(name);
    let is_said = match value.chars().next()? {
        '"' | '\'' => ["str", "&str", "String", "string"].contains(&kind),
        _ if value == "true" || value == "false" => ["bool", "boolean"].contains(&kind),
        _ => {
            let after = value.strip_prefix(name).filter(|_| !name.is_empty());
            after.is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        }
    };
    (!is_said).then_some(kind)
}

fn value(value: &Value) -> String {
    let text = text(value);
    match text.len() > LONGEST_VALUE {
        true => format!("{}…", &text[..text.floor_char_boundary(LONGEST_VALUE)]),
        false => text.to_owned(),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_stop_reads_as_a_person_would_write_it() {
        let data = json!({
            "state": "stopped", "sessionId": "s1", "reason": "breakpoint",
            "location": {"path": "/w/app.py", "line": 3, "column": 1, "function": "total"},
            "source": "  2  a = \"/w/x\"\n> 3  return a",
            "locals": [{"name": "a", "value": "1", "type": "int"},
                       {"name": "items", "value": "[1, 2]", "type": "list", "variablesReference": 9}],
            "frames": [{"id": 4, "name": "total", "path": "/w/app.py", "line": 3},
                       {"id": 5, "name": "main", "path": "/lib/x.py", "line": 8}],
            "output": "hello\n", "thread": "MainThread", "threadId": 1,
        });
        let expected = "Stopped (breakpoint) at app.py:3 in total [session s1]\n  2  a = \"/w/x\"\n> 3  return a\n\
            Locals:\n  a = 1 (int)\n  items = [1, 2] (list) [9]\nStack:\n  #4 total app.py:3\n  #5 main /lib/x.py:8\n\
            Output:\nhello";
        assert_eq!(of(&data, Path::new("/w"), &|_| true), expected);
    }

    #[test]
    fn escape_sequences_do_not_reach_a_model() {
        let data = json!({
            "state": "exited", "sessionId": "s1", "program": "app.py",
            "exit": {"code": 0, "how": "exit code 0"},
            "output": "\x1b[31mred\x1b[0m\n\x1b]0;title\x07 10%\r100%\nnext\n",
        });
        let expected = "app.py ended: exit code 0 [session s1]\nOutput:\nred\n100%\nnext";
        assert_eq!(of(&data, Path::new("/w"), &|_| true), expected);
        let entries = json!({"entries": [{"text": "\x1b[1mbold"}]});
        assert_eq!(of(&entries, Path::new("/w"), &|_| true), r#"{"entries":[{"text":"bold"}]}"#);
    }

    #[test]
    fn types_are_told_where_the_value_does_not() {
        for (value, told, shown) in [
            ("User { age: 3 }", "User", "User { age: 3 }"),
            ("User", "User", "User"),
            ("Users", "User", "Users (User)"),
            ("\"a\"", "String", "\"a\""),
            ("'a'", "char", "'a' (char)"),
            ("true", "bool", "true"),
            ("7", "u8", "7 (u8)"),
            ("Some(3)", "Option<u8>", "Some(3) (Option<u8>)"),
        ] {
            let data = json!({"result": value, "type": told});
            assert_eq!(of(&data, Path::new("/w"), &|_| true), shown);
        }
        let data = json!({"result": "[1]", "type": "list", "variablesReference": 4});
        assert_eq!(of(&data, Path::new("/w"), &|_| false), "[1] (list)");
    }

    #[test]
    fn an_end_tells_how() {
        let data = json!({
            "state": "exited", "sessionId": "s1", "program": "app.py",
            "exit": {"code": 3, "how": "exit code 3"},
        });
        assert_eq!(of(&data, Path::new("/w"), &|_| true), "app.py ended: exit code 3 [session s1]");
    }

    #[test]
    fn what_has_no_form_of_its_own_is_json() {
        let data = json!({"threads": [{"id": 1}], "path": "/w/a"});
        assert_eq!(of(&data, Path::new("/w"), &|_| true), r#"{"path":"a","threads":[{"id":1}]}"#);
    }
}
