//! Reading a message of which a part has the wrong type: that part is lost, the rest is kept.
//!
//! A body is read as it is. Only where that fails it is taken apart: each field of an object and each item
//! of a list is tried by itself, and what does not fit is repaired where its meaning is plain (`"3"` or
//! `3.0` for 3, `5` for a text) and dropped elsewhere, which is logged.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Reads a body; fields that do not fit have their default, items that do not fit are left out.
pub(crate) fn read<T: DeserializeOwned + Default>(body: &Value) -> T {
    match T::deserialize(body) {
        Ok(read) => read,
        // There is nothing in it, which the adapter may mean so.
        Err(_) if body.is_null() => T::default(),
        Err(error) => {
            tracing::debug!(%error, kind = std::any::type_name::<T>(), "a message does not fit");
            let fitting = fitting("body", body, &|part| T::deserialize(part).is_ok());
            fitting.and_then(|body| T::deserialize(body).ok()).unwrap_or_default()
        }
    }
}

/// What of a value fits where it stands, if anything does. `fits` puts it there.
fn fitting(name: &str, value: &Value, fits: &dyn Fn(&Value) -> bool) -> Option<Value> {
    if fits(value) {
        return Some(value.clone());
    }
    let part = match value {
        Value::Object(fields) => fitting_fields(fields, fits),
        Value::Array(items) => {
            let alone = |item: &Value| fits(&json!([item]));
            let items = items.iter().filter_map(|item| fitting(name, item, &alone));
            Value::Array(items.collect())
        }
        scalar => repaired(scalar),
    };
    if fits(&part) {
        return Some(part);
    }
    tracing::debug!(name, %value, "dropped from a message");
    // Where an item may be missing, those behind it keep their places.
    fits(&Value::Null).then_some(Value::Null)
}

fn fitting_fields(fields: &Map<String, Value>, fits: &dyn Fn(&Value) -> bool) -> Value {
    let mut kept = Map::new();
    for (name, value) in fields.iter().take(MAX_FIELDS) {
        // With those before it: two names may stand for one field.
        let with = |value: &Value| {
            let mut all = kept.clone();
            all.insert(name.clone(), value.clone());
            fits(&Value::Object(all))
        };
        if let Some(value) = fitting(name, value, &with) {
            kept.insert(name.clone(), value);
        }
    }
    Value::Object(kept)
}

/// The value of another type that one stands for: a number in a text, a whole number with a fraction of
/// nothing, a number for a text.
fn repaired(value: &Value) -> Value {
    match value {
        Value::String(text) => text.trim().parse().map_or(Value::Null, |number: i64| json!(number)),
        // Exact: a float of that size has no fraction, and no whole number is lost below 2^53.
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < WHOLE => {
                json!(float as i64)
            }
            _ => json!(number.to_string()),
        },
        _ => Value::Null,
    }
}

/// Fields of an object that are tried one by one; the specification has none with half as many.
const MAX_FIELDS: usize = 128;
/// Below this every whole number is a float of its own.
const WHOLE: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::read;
    use crate::protocol::{
        Breakpoints, Capabilities, Message, Scopes, StackTrace, StoppedEvent, Variable, Variables,
    };

    #[test]
    fn one_bad_field_costs_that_field() {
        let frames: StackTrace = read(&json!({
            "stackFrames": [
                {"id": 1, "name": "a", "line": "3", "column": {}, "source": {"path": 7, "name": "x"}},
                {"id": 2.0, "name": "b", "line": 4, "source": {"sourceReference": 1}},
                {"id": 3, "name": "c", "line": -1, "source": "nowhere"},
            ],
            "totalFrames": "many",
        }));
        let seen: Vec<_> = frames.stack_frames.iter().map(|f| (f.id, &*f.name, f.line)).collect();
        assert_eq!(seen, [(1, "a", 3), (2, "b", 4), (3, "c", 0)]);
        let source = frames.stack_frames[0].source.as_ref().expect("a source");
        assert_eq!((source.path.as_deref(), source.name.as_deref()), (Some("7"), Some("x")));
        assert!(frames.stack_frames[2].source.is_none());
        assert_eq!(frames.total_frames, None);
    }

    #[test]
    fn lists_keep_what_is_good() {
        let variables: Variables = read(&json!({"variables": [
            {"name": "ok", "value": "1", "variablesReference": null},
            7,
            {"name": 5, "value": true},
            {"name": "last", "value": "2", "presentationHint": {"attributes": ["readOnly", 3, {}]}},
        ]}));
        let seen: Vec<_> = variables.variables.iter().map(|v| (&*v.name, &*v.value)).collect();
        assert_eq!(seen, [("ok", "1"), ("5", ""), ("last", "2")]);
        let hint = variables.variables[2].presentation_hint.as_ref().expect("a hint");
        assert_eq!(hint.attributes, ["readOnly", "3"]);
        let scopes: Scopes = read(&json!({"scopes": [{"name": "Locals", "variablesReference": 4,
            "expensive": "no"}]}));
        assert_eq!((&*scopes.scopes[0].name, scopes.scopes[0].variables_reference), ("Locals", 4));
    }

    #[test]
    fn answers_about_breakpoints_keep_their_places() {
        let set: Breakpoints = read(&json!({"breakpoints": [
            "no", {"id": null, "verified": true, "line": "9"}, {"id": 3, "verified": 1},
        ]}));
        let seen: Vec<_> = set
            .breakpoints
            .iter()
            .map(|b| b.as_ref().map(|b| (b.id, b.verified, b.line)))
            .collect();
        assert_eq!(seen, [None, Some((None, true, Some(9))), Some((Some(3), false, None))]);
    }

    #[test]
    fn events_capabilities_and_envelopes_too() {
        let stop: StoppedEvent = read(&json!({"reason": "breakpoint", "threadId": "1",
            "allThreadsStopped": "yes", "hitBreakpointIds": ["2", 3, null], "text": []}));
        assert_eq!((&*stop.reason, stop.thread_id), ("breakpoint", Some(1)));
        assert_eq!((stop.hit_breakpoint_ids, stop.text), (vec![2, 3], None));
        let can: Capabilities = read(&json!({"supportsLogPoints": true,
            "supportsSetVariable": "maybe", "exceptionBreakpointFilters": [{"filter": "raised",
            "default": 0}, null]}));
        assert!(can.supports_log_points && !can.supports_set_variable);
        assert_eq!(can.exception_breakpoint_filters[0].filter, "raised");
        let message: Message = read(&json!({"seq": "4", "type": "response", "success": true,
            "request_seq": 2.0, "body": {"x": 1}}));
        assert_eq!((message.seq, message.request_seq, &message.body["x"]), (4, 2, &json!(1)));
    }

    #[test]
    fn two_names_of_one_field_are_no_loss() {
        let value: Variable = read(&json!({"result": "1", "value": "2", "type": "int"}));
        assert_eq!((&*value.value, value.kind.as_deref()), ("1", Some("int")));
        let nothing: Variable = read(&json!("what"));
        assert_eq!(nothing.value, "");
    }
}
