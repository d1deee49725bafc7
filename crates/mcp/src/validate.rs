//! Arguments against a tool's schema: the keywords that our schemas use, with errors that name the
//! argument, what it got and what it takes.

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::error::ToolError;

/// Checks `arguments`; the first fault is the error.
pub(crate) fn validate(schema: &JsonObject, arguments: &JsonObject) -> Result<(), ToolError> {
    object(schema, arguments, "")
}

/// Checks the object that the argument `path` holds.
pub(crate) fn validate_part(
    schema: &JsonObject,
    value: &JsonObject,
    path: &str,
) -> Result<(), ToolError> {
    object(schema, value, path)
}

/// Leaves out what is not given: null, and an empty text where a text may be left out, as some models fill in
/// every argument.
pub(crate) fn leave_out_empty(schema: &JsonObject, arguments: &mut JsonObject) {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    arguments.retain(|name, value| {
        !(value.is_null() || (value.as_str() == Some("") && !is_required(name)))
    });
}

/// The arguments that a schema names, if it takes no others.
pub(crate) fn only_properties(schema: &JsonObject) -> Option<&JsonObject> {
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    schema.get("properties").and_then(Value::as_object).filter(|_| is_closed)
}

fn object(schema: &JsonObject, value: &JsonObject, path: &str) -> Result<(), ToolError> {
    let empty = JsonObject::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    for (name, value) in value {
        match (properties.get(name), schema.get("additionalProperties")) {
            (None, Some(any @ Value::Object(_))) => check(any, value, &join(path, name))?,
            // An absent argument and null are the same to a model.
            _ if value.is_null() => {}
            (Some(schema), _) => check(schema, value, &join(path, name))?,
            (None, Some(Value::Bool(false))) => return Err(unknown(properties, path, name)),
            (None, _) => {}
        }
    }
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        if value.get(name).is_none_or(Value::is_null) {
            let mut hint = properties.get(name).map(takes).unwrap_or_default();
            if name == "session_id" {
                hint.push_str(" list_sessions has the ids.");
            }
            return Err(ToolError::invalid(
                format!("argument `{}` is missing", join(path, name)),
                hint,
            ));
        }
    }
    Ok(())
}

fn check(schema: &Value, value: &Value, path: &str) -> Result<(), ToolError> {
    let Value::Object(schema) = schema else {
        return Ok(());
    };
    let wrong = || {
        let mut hint = takes(&Value::Object(schema.clone()));
        if let (Some("object"), Some(what)) = (
            schema.get("type").and_then(Value::as_str),
            schema.get("description").and_then(Value::as_str),
        ) {
            hint.push_str(&format!(" {what}."));
        }
        ToolError::invalid(format!("argument `{path}` is {}", shown(value)), hint)
    };
    let fits = match schema.get("type").and_then(Value::as_str) {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    if !fits {
        return Err(wrong());
    }
    if let Some(Value::Array(options)) = schema.get("enum")
        && !options.contains(value)
    {
        return Err(wrong());
    }
    if let (Some(Value::String(pattern)), Some(text)) = (schema.get("pattern"), value.as_str())
        // A pattern that is none was refused with the metadata it came from.
        && regex::Regex::new(pattern).is_ok_and(|pattern| !pattern.is_match(text))
    {
        return Err(wrong());
    }
    if let Some(number) = value.as_f64() {
        let bound = |name| schema.get(name).and_then(Value::as_f64);
        if bound("minimum").is_some_and(|least| number < least)
            || bound("maximum").is_some_and(|most| number > most)
        {
            return Err(wrong());
        }
    }
    match value {
        Value::Array(items) => match schema.get("items") {
            Some(schema) => items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| check(schema, item, &format!("{path}[{index}]"))),
            None => Ok(()),
        },
        Value::Object(fields) => object(schema, fields, path),
        _ => Ok(()),
    }
}

fn unknown(properties: &JsonObject, path: &str, name: &str) -> ToolError {
    let known: Vec<&str> = properties.keys().map(String::as_str).collect();
    let meant = |name: &str| {
        let (_, meant) = MEANT.iter().find(|(said, _)| *said == name)?;
        meant.iter().find(|meant| known.contains(meant)).copied()
    };
    let near = known.iter().find(|known| is_near(known, name)).copied().or_else(|| meant(name));
    let near = near.map(|near| {
        let what = properties.get(near).and_then(|schema| schema.get("description"));
        let what = what.and_then(Value::as_str).map(|what| format!("({what}) "));
        format!("Did you mean `{}`? {}", join(path, near), what.unwrap_or_default())
    });
    let near = near.unwrap_or_default();
    let known = if known.is_empty() { "none".into() } else { known.join(", ") };
    ToolError::invalid(
        format!("unknown argument `{}`", join(path, name)),
        format!("{near}Arguments here: {known}."),
    )
}

/// Names that models use, and ours for what they mean.
const MEANT: [(&str, &[&str]); 34] = [
    ("wait", &["timeout_ms", "wait_ms"]),
    ("background", &["timeout_ms"]),
    ("run_in_background", &["timeout_ms"]),
    ("timeout", &["timeout_ms", "wait_ms", "timeoutMs"]),
    ("timeout_ms", &["wait_ms"]),
    ("cmd", &["command"]),
    ("script", &["command"]),
    ("program", &["command"]),
    ("pattern", &["grep", "regex", "query", "text"]),
    ("since", &["after", "from", "cursor"]),
    ("cursor", &["since"]),
    ("key", &["keys"]),
    ("input", &["keys", "text"]),
    ("width", &["cols"]),
    ("columns", &["cols"]),
    ("column", &["col"]),
    ("x", &["col"]),
    ("height", &["rows"]),
    ("line", &["row"]),
    ("y", &["row"]),
    ("working_directory", &["cwd"]),
    ("workdir", &["cwd"]),
    ("directory", &["cwd"]),
    ("dir", &["cwd"]),
    ("path", &["cwd"]),
    ("tail", &["lines"]),
    ("file", &["path", "program"]),
    ("name", &["session_id", "sessionId", "tool"]),
    ("id", &["session_id", "sessionId"]),
    ("arguments", &["args"]),
    ("command", &["arguments"]),
    ("session_name", &["name", "session_id"]),
    ("q", &["query"]),
    ("enter", &["keys"]),
];

/// Same letters apart from case, underscores and one difference at the end.
fn is_near(known: &str, given: &str) -> bool {
    let plain = |text: &str| text.replace(['_', '-'], "").to_lowercase();
    let (known, given) = (plain(known), plain(given));
    known == given
        || (known.len() > 3
            && given.len() > 3
            && (known.starts_with(&given) || given.starts_with(&known)))
}

/// What an argument takes, in words.
fn takes(schema: &Value) -> String {
    let mut words = match schema.get("enum").and_then(Value::as_array) {
        Some(options) => {
            let options: Vec<&str> = options.iter().filter_map(Value::as_str).collect();
            format!("It takes one of: {}", options.join(", "))
        }
        None => match schema.get("type").and_then(Value::as_str) {
            Some("array") => {
                let of = schema.get("items").and_then(|items| items.get("type"));
                format!("It takes an array of {}s", of.and_then(Value::as_str).unwrap_or("value"))
            }
            Some(kind @ ("integer" | "object")) => format!("It takes an {kind}"),
            Some(kind) => format!("It takes a {kind}"),
            None => return String::new(),
        },
    };
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => words.push_str(&format!(" from {least} to {most}")),
        (Some(least), None) => words.push_str(&format!(" of at least {least}")),
        (None, Some(most)) => words.push_str(&format!(" of at most {most}")),
        (None, None) => {}
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        words.push_str(&format!(" that matches {pattern}"));
    }
    words.push('.');
    words
}

fn shown(value: &Value) -> String {
    const LONGEST: usize = 80;
    let mut text = value.to_string();
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    let kind = match value {
        Value::Null => return "null".into(),
        Value::Bool(_) => "the boolean",
        Value::Number(_) => "the number",
        Value::String(_) => "the string",
        Value::Array(_) => "the array",
        Value::Object(_) => "the object",
    };
    format!("{kind} {text}")
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
