//! `${name.field}` in a step's arguments: what an earlier step returned.

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::error::ToolError;

/// Bytes that references may put into the arguments of a step.
const MAX_FILLED: usize = 1024 * 1024;

/// Whether a text in a value has this, and not as a literal.
pub(super) fn mentions(value: &Value, what: &str) -> bool {
    match value {
        Value::String(text) => text.match_indices(what).any(|(at, _)| !text[..at].ends_with('$')),
        Value::Array(items) => items.iter().any(|item| mentions(item, what)),
        Value::Object(fields) => fields.values().any(|field| mentions(field, what)),
        _ => false,
    }
}

/// Names that `${name.field}` in the texts of a value refers to.
pub(super) fn references(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => parts(text)
            .into_iter()
            .filter_map(|part| match part {
                Part::Reference(path) => Some(path.split('.').next().unwrap_or(path).to_owned()),
                Part::Text(_) => None,
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Object(fields) => fields.values().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

/// Puts what was saved in place of `${name.field}`; a text that is nothing else becomes the value.
/// Newlines at the end are left out, as the shell's `$(…)` does it.
pub(super) fn fill(value: &mut Value, saved: &JsonObject) -> Result<(), ToolError> {
    fill_within(value, saved, &mut { MAX_FILLED })
}

/// The same, with so many bytes of room.
fn fill_within(value: &mut Value, saved: &JsonObject, room: &mut usize) -> Result<(), ToolError> {
    let mut take = |path: &str| -> Result<Value, ToolError> {
        let found = look_up(path, saved)?;
        let bytes = found.as_str().map_or_else(|| found.to_string().len(), str::len);
        *room = room.checked_sub(bytes).ok_or_else(|| {
            let message =
                format!("the values of a step's references have more than {MAX_FILLED} bytes");
            ToolError::invalid(message, "Write long output to a file and name that.")
        })?;
        Ok(found.clone())
    };
    match value {
        Value::String(text) => {
            let parts = parts(text);
            let filled = match parts.as_slice() {
                [Part::Reference(path)] => match take(path)? {
                    Value::String(text) => text.trim_end_matches('\n').into(),
                    other => other,
                },
                parts => {
                    let mut filled = String::new();
                    for part in parts {
                        match part {
                            Part::Text(text) => filled.push_str(text),
                            Part::Reference(path) => match take(path)? {
                                Value::String(text) => {
                                    filled.push_str(text.trim_end_matches('\n'));
                                }
                                other => filled.push_str(&other.to_string()),
                            },
                        }
                    }
                    Value::String(filled)
                }
            };
            *value = filled;
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| fill_within(item, saved, room)),
        Value::Object(fields) => {
            fields.values_mut().try_for_each(|field| fill_within(field, saved, room))
        }
        _ => Ok(()),
    }
}

fn look_up<'a>(path: &str, saved: &'a JsonObject) -> Result<&'a Value, ToolError> {
    let (name, fields) = path.split_once('.').unwrap_or((path, ""));
    let field = |value: &'a Value, name: &str| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        value => value.get(name),
    };
    let found = saved.get(name).and_then(|value| fields.split('.').try_fold(value, field));
    found.ok_or_else(|| {
        let fields = saved.get(name).and_then(Value::as_object).into_iter().flatten();
        let fields: Vec<&str> = fields.map(|(field, _)| field.as_str()).collect();
        ToolError::invalid(
            format!("${{{path}}} names nothing that an earlier step returned"),
            format!("{name} has: {}.", fields.join(", ")),
        )
    })
}

enum Part<'a> {
    Text(&'a str),
    Reference(&'a str),
}

/// Cuts a text at `${path}`; a path is letters, digits, `_`, `-` and dots, anything else is text, so
/// that a shell's own `${VAR:-x}` stays. `$${` is a literal `${`, whatever follows it.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut rest, mut from) = (text, 0);
    while let Some(at) = rest[from..].find("${").map(|at| at + from) {
        if rest[..at].ends_with('$') {
            parts.push(Part::Text(&rest[..at]));
            rest = &rest[at + 1..];
            from = 1;
            continue;
        }
        let path = rest[at + 2..].find('}').map(|end| &rest[at + 2..at + 2 + end]);
        let plain = |path: &&str| {
            path.contains('.')
                && path.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
        };
        match path.filter(plain) {
            Some(path) => {
                if at > 0 {
                    parts.push(Part::Text(&rest[..at]));
                }
                parts.push(Part::Reference(path));
                rest = &rest[at + path.len() + 3..];
                from = 0;
            }
            None => from = at + 2,
        }
    }
    if !rest.is_empty() || parts.is_empty() {
        parts.push(Part::Text(rest));
    }
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{fill, references};

    #[test]
    fn references_do_not_multiply_without_bound() {
        let saved = json!({"a": {"output": "x".repeat(40_000)}});
        let saved = saved.as_object().expect("an object");
        let many = |count| json!({"command": "${a.output}".repeat(count), "cwd": "${a.output}"});
        fill(&mut many(20), saved).expect("there is room");
        assert!(fill(&mut many(100_000), saved).is_err());
        assert!(fill(&mut json!(vec!["${a.output}"; 100]), saved).is_err());
    }

    #[test]
    fn references_are_filled_and_other_braces_stay() {
        let saved = json!({"made": {"session_id": "s1", "rows": [{"n": 7}], "ok": true}});
        let saved = saved.as_object().expect("an object");
        let mut value = json!({
            "id": "${made.session_id}", "n": "${made.rows.0.n}", "ok": "${made.ok}",
            "text": "a ${made.session_id}-${made.rows.0.n} b ${HOME} ${X:-y} ${} ${made.}",
            "nested": [{"deep": "${made.session_id}"}],
        });
        assert_eq!(references(&value).len(), 7);
        value["text"] = "a ${made.session_id}-${made.rows.0.n} b ${HOME} ${X:-y} $${a.b} $".into();
        fill(&mut value, saved).expect("all are known");
        assert_eq!(
            value,
            json!({
                "id": "s1", "n": 7, "ok": true, "text": "a s1-7 b ${HOME} ${X:-y} ${a.b} $",
                "nested": [{"deep": "s1"}],
            })
        );
        let saved = json!({"ran": {"output": "one\n\ntwo\n\n"}});
        let saved = saved.as_object().expect("an object");
        let mut value = json!(["${ran.output}", "<${ran.output}>"]);
        fill(&mut value, saved).expect("known");
        assert_eq!(value, json!(["one\n\ntwo", "<one\n\ntwo>"]));
        assert!(fill(&mut json!("${made.none}"), saved).is_err());
        let mut value = json!(["echo $${HOME}", "$${X:-y} $${ran.output} $${", "$$${a.b}", "$$"]);
        assert_eq!(references(&value), [""; 0]);
        fill(&mut value, saved).expect("nothing to fill in");
        assert_eq!(value, json!(["echo ${HOME}", "${X:-y} ${ran.output} ${", "$${a.b}", "$$"]));
        assert!(fill(&mut json!("x ${made.rows.9} y"), saved).is_err());
    }
}
