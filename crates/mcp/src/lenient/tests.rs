//! Spellings that are accepted, and those that are left to validation.

use serde_json::{Value, json};

use super::accept;

fn accepted(schema: Value, arguments: Value) -> Value {
    let (Value::Object(schema), Value::Object(mut arguments)) = (schema, arguments) else {
        panic!("objects")
    };
    accept(&schema, &mut arguments);
    Value::Object(arguments)
}

#[test]
fn texts_become_the_numbers_booleans_and_words_of_the_schema() {
    let schema = json!({"type": "object", "properties": {
        "rows": {"type": "integer"}, "share": {"type": "number"}, "all": {"type": "boolean"},
        "args": {"type": "array", "items": {"type": "string"}}, "text": {"type": "string"},
        "mouse": {"type": "object", "properties": {"row": {"type": "integer"}}},
        "steps": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        "limits": {"type": "object", "additionalProperties": {"type": "integer"}},
    }});
    let written = json!({
        "rows": " 24 ", "share": "0.5", "all": "True", "args": "-n 'two words' $HOME", "text": "5",
        "mouse": {"row": "3"}, "steps": [{"n": "4.0"}, {"n": 5.0}], "limits": {"a": "1"},
    });
    let meant = json!({
        "rows": 24, "share": 0.5, "all": true, "args": ["-n", "two words", "$HOME"], "text": "5",
        "mouse": {"row": 3}, "steps": [{"n": 4}, {"n": 5}], "limits": {"a": 1},
    });
    assert_eq!(accepted(schema.clone(), written), meant);
    let wrong = json!({"rows": "many", "all": "yes", "args": "an 'open quote", "mouse": "3"});
    assert_eq!(accepted(schema, wrong.clone()), wrong, "validation says what is wrong");
}

#[test]
fn numbers_and_booleans_become_the_texts_of_variables_and_arguments() {
    let schema = json!({"type": "object", "properties": {
        "env": {"type": "object", "additionalProperties": {"type": "string"}},
        "args": {"type": "array", "items": {"type": "string"}},
        "signal": {"type": "string"}, "text": {"type": "string"}, "command_id": {"type": "integer"},
        "steps": {"type": "array", "items": {"type": "object", "additionalProperties": false,
            "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}}}},
    }});
    let written = json!({
        "env": {"PORT": 3000, "X": true, "V": 1.0, "N": null}, "args": ["-n", 5, 0.5], "signal": 9,
        "text": 5, "command_id": "#1", "steps": "[{\"tool\": \"t\", \"args\": {\"a\": 1.0}}]",
    });
    let meant = json!({
        "env": {"PORT": "3000", "X": "true", "V": "1.0", "N": null}, "args": ["-n", "5", "0.5"],
        "signal": "9", "text": 5, "command_id": 1, "steps": [{"tool": "t", "arguments": {"a": 1}}],
    });
    assert_eq!(accepted(schema.clone(), written), meant);
    let wrong = json!({"steps": "all", "command_id": "#", "args": [[1]]});
    assert_eq!(accepted(schema, wrong.clone()), wrong);
}

#[test]
fn names_are_found_in_snake_and_camel_case_and_a_description_is_ignored() {
    let schema = json!({"type": "object", "additionalProperties": false, "properties": {
        "sessionId": {"type": "string"}, "timeoutMs": {"type": "integer"}, "env": {"type": "object"},
    }});
    let written = json!({
        "session_id": "s", "timeout_ms": "5", "description": "why", "env": {"description": "a variable"},
        "unknown": 1,
    });
    let meant = json!({
        "sessionId": "s", "timeoutMs": 5, "env": {"description": "a variable"}, "unknown": 1,
    });
    assert_eq!(accepted(schema.clone(), written), meant);
    let both = json!({"session_id": "a", "sessionId": "b"});
    assert_eq!(accepted(schema, both.clone()), both);
    let described = json!({
        "type": "object", "additionalProperties": false,
        "properties": {"description": {"type": "string"}},
    });
    let kept = json!({"description": "why"});
    assert_eq!(accepted(described, kept.clone()), kept);
}

#[test]
fn an_array_of_keys_is_the_keys_and_texts_in_it() {
    let schema = json!({"type": "object", "properties": {"keys": {"type": "string"}}});
    for (written, meant) in [
        (json!(["Ctrl+x", "Ctrl+s"]), json!("<Ctrl+x><Ctrl+s>")),
        (json!(["ls -l", "Enter"]), json!("ls -l<Enter>")),
        (json!(["C-b", "c"]), json!("<C-b>c")),
        (json!(["i", "Hello<Escape>", ":wq", "enter"]), json!("iHello<Escape>:wq<enter>")),
        (json!(["Ctrl+Nope", "x"]), json!("<Ctrl+Nope>x")),
        (json!(["Down Down Enter"]), json!("Down Down Enter")),
        (json!([1, 2]), json!([1, 2])),
    ] {
        assert_eq!(accepted(schema.clone(), json!({"keys": written}))["keys"], meant);
    }
}
