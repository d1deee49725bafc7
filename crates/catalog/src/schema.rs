//! JSON Schemas of arguments and answers, in as few bytes as a model can read them.

use serde_json::{Map, Value, json};

use crate::metadata::{Kind, Metadata, Param};

/// The schema of a tool's arguments: unknown ones are refused.
pub(crate) fn input(tool: &Metadata) -> Value {
    let properties: Map<String, Value> =
        tool.params.iter().map(|(name, param)| (name.clone(), property(param))).collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    let required: Vec<&String> =
        tool.params.iter().filter(|(_, param)| param.required).map(|(name, _)| name).collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// The schema of an answer: the envelope, and what is known of its data. Nothing is required: clients
/// check errors against it too.
pub(crate) fn output(tool: &Metadata) -> Value {
    let fields: Map<String, Value> = tool
        .result
        .iter()
        .map(|(name, field)| {
            let kind = kind(field.kind).map_or_else(|| json!({}), |kind| json!({"type": kind}));
            (name.clone(), kind)
        })
        .collect();
    // Scripts of a workspace answer in any shape.
    let data =
        if fields.is_empty() { json!({}) } else { json!({"type": "object", "properties": fields}) };
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"},
            "type": text,
            "data": data,
            "error": {"type": "object", "properties": {"code": text, "message": text, "hint": text}},
            "meta": {"type": "object"},
        },
    })
}

fn property(param: &Param) -> Value {
    let mut schema = Map::new();
    // The values of a choice say its type.
    if let Some(kind) = kind(param.kind).filter(|_| param.options.is_empty()) {
        schema.insert("type".into(), kind.into());
    }
    if !param.options.is_empty() {
        schema.insert("enum".into(), param.options.clone().into());
    }
    if !param.description.is_empty() {
        schema.insert("description".into(), param.description.clone().into());
    }
    let bounds = [("minimum", &param.min), ("maximum", &param.max)];
    for (name, bound) in bounds {
        if let Some(bound) = bound {
            schema.insert(name.into(), bound.clone().into());
        }
    }
    if let Some(pattern) = &param.pattern {
        schema.insert("pattern".into(), pattern.clone().into());
    }
    if let Some(items) = &param.items {
        schema.insert("items".into(), property(items));
    }
    if let Some(default) = &param.default {
        schema.insert("default".into(), default.clone());
    }
    Value::Object(schema)
}

/// The type's name in a schema; none for anything.
pub(crate) fn kind(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::String => "string",
        Kind::Number => "number",
        Kind::Integer => "integer",
        Kind::Boolean => "boolean",
        Kind::Object => "object",
        Kind::Array => "array",
        Kind::Any => return None,
    })
}
