//! Arguments as models write them, turned into what a schema takes, before validation.
//!
//! An argument is changed only if it has a single meaning; validation refuses the rest. Schemas do not mention
//! these spellings.

use rmcp::model::JsonObject;
use serde_json::Value;
use termbridge_session::SessionId;
use termbridge_session::vt::input::{KeyError, KeyPress};
use termbridge_session::{SessionInfo, State};

use crate::tool::Context;
use crate::validate::only_properties;

/// The reason of a call. Models give one also to tools that take none.
const REASON: &str = "description";
/// The argument whose array is a sequence of keys and texts.
const KEYS: &str = "keys";
/// The argument whose text may be written as a number.
const SIGNAL: &str = "signal";
/// A name that models use, and ours.
const ALIAS: (&str, &str) = ("args", "arguments");
/// Arguments that hold a session's id.
pub(crate) const SESSIONS: [&str; 3] = ["session_id", "sessionId", "session_ids"];

/// Fills in a required argument that models leave out.
pub(crate) fn fill_in(tool: &str, arguments: &mut JsonObject) {
    if tool == "search_history" {
        arguments.entry("query").or_insert_with(|| "".into());
    }
}

/// Gives arguments the names and types of a schema.
pub(crate) fn accept(schema: &JsonObject, fields: &mut JsonObject) {
    if let Some(known) = only_properties(schema) {
        if !known.contains_key(REASON) {
            fields.remove(REASON);
        }
        rename(known, fields);
    }
    let known = schema.get("properties").and_then(Value::as_object);
    for (name, value) in fields {
        let joined = value.as_array().filter(|_| name == KEYS).and_then(|keys| join_keys(keys));
        if let Some(joined) = joined {
            *value = joined.into();
        }
        let own = known.and_then(|known| known.get(name));
        match own.or_else(|| schema.get("additionalProperties")) {
            Some(schema) => {
                if own.is_none() || name == SIGNAL {
                    spell_out(schema, value);
                }
                accept_value(schema, value);
            }
            None => make_whole(value),
        }
    }
}

/// Accepts `session_id` for `sessionId`, the reverse, and the alias.
fn rename(known: &JsonObject, arguments: &mut JsonObject) {
    let unknown = arguments.keys().filter(|name| !known.contains_key(*name));
    let meant = |name: &String| {
        let is_same = |known: &&String| {
            in_camel_case(known) == in_camel_case(name) || (name.as_str(), known.as_str()) == ALIAS
        };
        let same = known.keys().find(is_same)?;
        (!arguments.contains_key(same)).then(|| (name.clone(), same.clone()))
    };
    for (given, name) in unknown.filter_map(meant).collect::<Vec<_>>() {
        if let Some(value) = arguments.remove(&given) {
            arguments.insert(name, value);
        }
    }
}

fn in_camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let (head, tail) = part.split_at(part.ceil_char_boundary(1));
        name + &head.to_uppercase() + tail
    })
}

fn accept_value(schema: &Value, value: &mut Value) {
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    let items = schema.get("items");
    let read = match (kind, value.as_str()) {
        ("boolean", Some(text)) => text.trim().to_lowercase().parse().ok().map(Value::Bool),
        ("integer" | "number", Some(text)) => {
            // As our texts show the number of a command.
            let text = text.trim().trim_start_matches('#');
            text.parse().ok().map(Value::Number)
        }
        // As a shell splits it.
        ("array", Some(text)) if items.is_some_and(is_text) => shlex::split(text).map(Value::from),
        ("array", Some(text)) => serde_json::from_str(text).ok().map(Value::Array),
        ("object", Some(text)) => serde_json::from_str(text).ok().map(Value::Object),
        _ => None,
    };
    if let Some(read) = read {
        *value = read;
        make_whole(value);
    }
    match (value, schema) {
        (Value::Array(values), _) => {
            for value in values {
                match items {
                    Some(items) => {
                        spell_out(items, value);
                        accept_value(items, value);
                    }
                    None => make_whole(value),
                }
            }
        }
        (Value::Object(fields), Value::Object(schema)) => accept(schema, fields),
        (value, schema) if !is_text(schema) => make_whole(value),
        _ => {}
    }
}

/// Turns a number or a boolean into the text that a variable or a program's argument is.
fn spell_out(schema: &Value, value: &mut Value) {
    if is_text(schema) && (value.is_number() || value.is_boolean()) {
        *value = value.to_string().into();
    }
}

fn is_text(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("string")
}

/// `["ls", "Enter"]` as `ls<Enter>`: an element that is a key or a chord, or else text.
fn join_keys(keys: &[Value]) -> Option<String> {
    let keys: Vec<&str> = keys.iter().map(Value::as_str).collect::<Option<_>>()?;
    if let [key] = keys.as_slice() {
        return Some((*key).to_owned());
    }
    let is_text = |key: &str| {
        key.chars().nth(1).is_none()
            || matches!(key.parse::<KeyPress>(), Err(KeyError::NotAKey { .. }))
    };
    let part = |key: &&str| if is_text(key) { (*key).to_owned() } else { format!("<{key}>") };
    Some(keys.iter().map(part).collect())
}

/// Turns numbers such as 5.0 into 5: to JSON Schema both are integers, and some models write the first.
fn make_whole(value: &mut Value) {
    /// Beyond it not every integer has a float of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or_default();
            if float.fract() == 0.0 && float.abs() <= EXACT {
                *value = Value::from(float as i64);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_whole),
        Value::Object(fields) => fields.values_mut().for_each(make_whole),
        _ => {}
    }
}

/// Replaces the names of terminal sessions by their ids.
pub(crate) async fn find_named_sessions(arguments: &mut JsonObject, context: &Context) {
    for (_, value) in arguments.iter_mut().filter(|(name, _)| SESSIONS.contains(&name.as_str())) {
        let ids = match value {
            Value::Array(ids) => ids.iter_mut().collect(),
            id => vec![id],
        };
        for id in ids {
            if let Some(found) = session_named(id.as_str().unwrap_or_default(), context).await {
                *id = found.as_str().into();
            }
        }
    }
}

/// Finds a session by its name: the agent's own first, then running ones, then the newest that has ended. `None` if two
/// running sessions have the name.
async fn session_named(name: &str, context: &Context) -> Option<SessionId> {
    if name.is_empty() || context.session(name).is_ok() {
        return None;
    }
    let listed = context.bridge.sessions(&context.caller).await.ok()?;
    let is_own = |info: &SessionInfo| info.owner.agent.as_deref() == context.caller.agent();
    let rank = |info: &SessionInfo| (is_own(info), info.state == State::Running);
    let named = || listed.sessions.iter().filter(|info| info.name.as_deref() == Some(name));
    let found = named().max_by_key(|info| (rank(info), info.created))?;
    let equals = named().filter(|info| rank(info) == rank(found)).count();
    if equals > 1 && found.state == State::Running {
        return None;
    }
    let is_id = listed.sessions.iter().any(|info| info.id.as_str() == name);
    (!is_id).then(|| found.id.clone())
}

#[cfg(test)]
mod tests;
