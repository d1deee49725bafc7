//! JSON Schemas from Rust types, in as few bytes as a model can read them.
//!
//! schemars says more than a client needs: titles, number formats that some clients warn about,
//! `null` beside every optional type. All of that goes.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

// An object whose fields are described elsewhere; saves a model from reading them again.
#[derive(JsonSchema)]
pub(crate) struct AnyObject {}

/// The schema of a tool's arguments: unknown ones are refused.
pub(crate) fn input<T: JsonSchema>() -> Arc<JsonObject> {
    let mut schema = generate::<T>();
    schema.insert("additionalProperties".into(), Value::Bool(false));
    schema.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    Arc::new(schema)
}

/// The schema of a tool's answer. Nothing is required: clients check errors against it too, and an
/// error has other fields.
pub(crate) fn output<T: JsonSchema>() -> Arc<JsonObject> {
    let mut schema = Value::Object(generate::<T>());
    strip_required(&mut schema);
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}

/// The part of an argument schema that clients are shown: without keywords that tell a model nothing new. A model pays
/// for each of them in every conversation, and the refusal of a call names what an argument takes.
pub(crate) fn shown(arguments: &JsonObject) -> JsonObject {
    let mut shown = arguments.clone();
    shown.retain(|keyword, value| !goes_without_saying(keyword, value));
    for (keyword, value) in &mut shown {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.values_mut().for_each(show_part);
            }
            ("items" | "additionalProperties", part) => show_part(part),
            _ => {}
        }
    }
    shown
}

fn show_part(schema: &mut Value) {
    if let Value::Object(object) = schema {
        *object = shown(object);
    }
}

fn goes_without_saying(keyword: &str, value: &Value) -> bool {
    match keyword {
        // Unknown arguments are refused, a missing list is empty, and a count is not negative.
        "additionalProperties" => value == false,
        "default" => {
            value == false
                || value.as_array().is_some_and(Vec::is_empty)
                || value.as_object().is_some_and(JsonObject::is_empty)
        }
        "minimum" => value == 0 || value == 1,
        "maximum" => value == u16::MAX,
        _ => false,
    }
}

fn generate<T: JsonSchema>() -> JsonObject {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

fn tidy(schema: &mut Value) {
    let Value::Object(object) = schema else {
        return;
    };
    for noise in ["$schema", "title", "format"] {
        object.remove(noise);
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(options)) = object.get_mut("enum") {
        options.retain(|option| !option.is_null());
    }
    merge_nullable(object);
    merge_constants(object);
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').into();
    }
    for (key, value) in object.iter_mut() {
        match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => properties.values_mut().for_each(tidy),
            ("items" | "additionalProperties", value) => tidy(value),
            ("anyOf" | "oneOf", Value::Array(options)) => options.iter_mut().for_each(tidy),
            _ => {}
        }
    }
}

/// `anyOf: [X, null]` is X.
fn merge_nullable(object: &mut JsonObject) {
    let Some(Value::Array(options)) = object.get_mut("anyOf") else {
        return;
    };
    options.retain(|option| option.get("type") != Some(&Value::from("null")));
    if let [Value::Object(only)] = options.as_slice() {
        let only = only.clone();
        object.remove("anyOf");
        for (key, value) in only {
            // The field's own words say more than its type's.
            object.entry(key).or_insert(value);
        }
    }
}

/// `oneOf: [{const: a}, {const: b}]` is `enum: [a, b]`.
fn merge_constants(object: &mut JsonObject) {
    let Some(Value::Array(options)) = object.get("oneOf") else {
        return;
    };
    let constants: Option<Vec<Value>> =
        options.iter().map(|option| option.get("const").cloned()).collect();
    if let Some(constants) = constants {
        object.remove("oneOf");
        object.insert("type".into(), "string".into());
        object.insert("enum".into(), constants.into());
    }
}

fn strip_required(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.remove("required");
            object.remove("minimum");
            object.values_mut().for_each(strip_required);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_required),
        _ => {}
    }
}
