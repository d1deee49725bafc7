//! The answers of the published extension in the shapes of the catalogue. It is read field by field: what
//! is missing or of another type is left out, the rest holds.

mod code;
mod events;

use serde_json::{Map, Value, json};

pub(super) use self::events::logs;
use crate::debug::answer::{
    Answer, Breakpoint, Evaluated, Frame, Page, Place, Saved, Scope, Variable,
};

/// The answer of a script that needs no other.
pub(super) fn answer(script: &str, asked: &Map<String, Value>, data: &Value) -> Answer {
    match script {
        "breakpoint.set" => {
            Answer::Breakpoint { breakpoint: Box::new(breakpoint(&data["breakpoint"])) }
        }
        "breakpoint.list" => {
            let breakpoints: Vec<_> = list(&data["breakpoints"]).iter().map(breakpoint).collect();
            Answer::Breakpoints { total: breakpoints.len(), breakpoints }
        }
        "breakpoint.remove" => {
            let removed = &data["removed"];
            let removed = removed.as_bool().unwrap_or_else(|| number(removed).unwrap_or(0) > 0);
            Answer::Removed { removed }
        }
        "breakpoint.clear.file" | "breakpoint.clear.project" => {
            Answer::Cleared { cleared: size(&data["cleared"]) }
        }
        "debug.scopes" => {
            Answer::Scopes { scopes: list(&data["scopes"]).iter().map(scope).collect() }
        }
        "debug.evaluate" => Answer::Evaluated(evaluated(data)),
        "debug.set-variable" => {
            let name = text(asked.get("name").unwrap_or(&Value::Null));
            Answer::Set(Variable { name, ..variable(data) })
        }
        "debug.save-variable" => Answer::Saved(saved(data)),
        "dap.logs" => Answer::Logs(logs(asked, data)),
        "dap.search" => Answer::Matches(events::matches(data)),
        "dap.exceptions" => Answer::Exceptions(events::exceptions(data)),
        "dap.filter" => Answer::Entries(events::entries(data)),
        "dap.stats" => Answer::Stats(events::stats(asked, data)),
        "dap.summary" => Answer::Summary(Box::new(events::summary(data))),
        "dap.timeline" => Answer::Timeline(events::timeline(data)),
        "dap.compare" => Answer::Comparison(events::comparison(data)),
        "diagnostic.collect" => Answer::Diagnostics(code::diagnostics(data)),
        "symbol.navigate" => Answer::Locations(code::locations(data)),
        "symbol.calls" => Answer::Calls(code::calls(data)),
        "symbol.rename" => Answer::Renamed(code::renamed(data)),
        "code.replace-method" => Answer::Replaced(code::replaced(data)),
        "search.symbol-search" => Answer::Symbols(code::symbols(data)),
        "editor.get-context" | "editor.goto-line" => Answer::Other(editor_place(data)),
        "editor.show-testing-ui" => Answer::Other(json!({"shown": true})),
        _ => Answer::Other(data.clone()),
    }
}

/// A path of this machine, out of what an editor calls a file.
pub(super) fn path_of(file: &str) -> String {
    let remote = file.strip_prefix("vscode-remote://").or_else(|| file.strip_prefix("file://"));
    match remote {
        // The authority ends where the path begins.
        Some(rest) => rest.find('/').map_or(rest, |start| &rest[start..]).to_owned(),
        None => file.to_owned(),
    }
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(super) fn words(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

pub(super) fn number(value: &Value) -> Option<u64> {
    // Some ids come as texts.
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn size(value: &Value) -> usize {
    number(value).unwrap_or(0) as usize
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn path(value: &Value) -> String {
    path_of(value.as_str().unwrap_or_default())
}

fn breakpoint(data: &Value) -> Breakpoint {
    Breakpoint {
        place: Place::line(path(&data["path"]), number(&data["line"]).unwrap_or(0)),
        // It says `verified` of every one.
        state: "set",
        verified: false,
        message: (data["enabled"] == false).then(|| "it is switched off in the editor".to_owned()),
        condition: words(&data["condition"]),
        hit_condition: words(&data["hitCondition"]),
        log_message: words(&data["logMessage"]),
        requested_line: None,
    }
}

pub(super) fn scope(data: &Value) -> Scope {
    Scope {
        name: text(&data["name"]),
        variables_reference: number(&data["variablesReference"]).unwrap_or(0),
        expensive: data["expensive"] == true,
    }
}

pub(super) fn frame(data: &Value) -> Frame {
    let source = &data["source"];
    Frame {
        id: number(&data["id"]).unwrap_or(0),
        name: text(&data["name"]),
        path: words(&source["path"]).or_else(|| words(&source["name"])).map(|file| path_of(&file)),
        line: number(&data["line"]).filter(|line| *line > 0),
        column: number(&data["column"]).filter(|column| *column > 0),
        subtle: data["presentationHint"] == "subtle" || source["presentationHint"] == "deemphasize",
    }
}

/// A variable and what is inside it.
pub(super) fn variable(data: &Value) -> Variable {
    let children: Vec<Variable> =
        list(&data["children"]).iter().filter(|child| !is_internal(child)).map(variable).collect();
    Variable {
        name: text(&data["name"]),
        value: text(&data["value"]),
        kind: words(&data["type"]),
        variables_reference: number(&data["variablesReference"]).filter(|number| *number > 0),
        named_variables: number(&data["namedVariables"]),
        indexed_variables: number(&data["indexedVariables"]),
        children,
        ..Variable::default()
    }
}

/// What a runtime adds to every object.
pub(super) fn is_internal(data: &Value) -> bool {
    data["presentationHint"]["visibility"] == "internal"
}

fn evaluated(data: &Value) -> Evaluated {
    Evaluated {
        result: text(&data["result"]),
        cut: None,
        kind: words(&data["type"]),
        variables_reference: number(&data["variablesReference"]).unwrap_or(0),
        named_variables: number(&data["namedVariables"]),
        indexed_variables: number(&data["indexedVariables"]),
    }
}

pub(super) fn page(data: &Value) -> Page {
    let pagination = &data["pagination"];
    let has_more = pagination["hasMore"] == true;
    let start = number(&pagination["start"]).unwrap_or(0);
    let shown = list(&data["children"]);
    let next = start + shown.len() as u64;
    let total = number(&pagination["total"]).or_else(|| (!has_more).then_some(next));
    let variables = shown.iter().filter(|child| !is_internal(child)).map(variable).collect();
    Page { variables, total, next: has_more.then_some(next) }
}

fn saved(data: &Value) -> Saved {
    let counts = &data["counts"];
    let items = ["indexed", "named"].map(|kind| number(&counts[kind]).unwrap_or(0)).iter().sum();
    Saved {
        path: path(&data["outputPath"]),
        items,
        bytes: number(&data["bytes"]).unwrap_or(0),
        truncated: data["truncatedByLimit"] == true,
        value: None,
    }
}

/// How a program ended, as far as the editor says.
pub(super) fn how_ended(code: Option<i64>) -> String {
    match code {
        Some(code) => format!("exit code {code}"),
        None => "it ended; the editor does not say how".to_owned(),
    }
}

/// Where the cursor is.
fn editor_place(data: &Value) -> Value {
    let mut place = data.clone();
    if let Value::Object(fields) = &mut place {
        for noise in ["message", "timestamp", "contextAvailable"] {
            fields.remove(noise);
        }
        if let Some(Value::String(file)) = fields.remove("file") {
            fields.insert("path".to_owned(), json!(path_of(&file)));
        }
    }
    place
}
