//! What a text means, to check an edit of it.

use jsonc_parser::ast::Value;
use serde_json::{Map, Value as Meaning, json};

use super::{INNER, JsonFormat, Shape, Slot, found_entry, node_of, parse, readable};
use crate::entry::Entry;
use crate::json::layout::Node;

/// Whether the new text means the old one with the entry.
pub(super) fn is_added(
    old: Option<&Value<'_>>,
    new: &str,
    format: JsonFormat,
    entry: &Entry,
) -> bool {
    let readable = readable(new);
    let Ok(parsed) = parse(&readable) else { return false };
    let Ok(Slot::Container(container)) = Slot::find(new, parsed.as_ref(), format) else {
        return false;
    };
    let found = container.properties.iter().find(|one| one.name.as_str() == entry.name());
    if !found.is_some_and(|found| entry.is_same(&found_entry(&found.value))) {
        return false;
    }
    let is_updated = old.is_some_and(|old| {
        servers(&mut meaning(old), format, |servers| servers.contains_key(entry.name()))
    });
    if !is_updated
        && found.map(|found| meaning(&found.value)) != Some(written(&node_of(entry, format.shape)))
    {
        return false;
    }
    rest(old, format, entry) == rest(parsed.as_ref(), format, entry)
}

/// Whether the new text means the old one without the entry.
pub(super) fn is_removed(
    old: Option<&Value<'_>>,
    new: &str,
    format: JsonFormat,
    entry: &Entry,
) -> bool {
    let readable = readable(new);
    let Ok(parsed) = parse(&readable) else { return false };
    let is_there = parsed.as_ref().is_some_and(|new| {
        servers(&mut meaning(new), format, |servers| servers.contains_key(entry.name()))
    });
    !is_there && rest(old, format, entry) == rest(parsed.as_ref(), format, entry)
}

/// Everything but the entry, and but an object of servers that is otherwise empty.
fn rest(value: Option<&Value<'_>>, format: JsonFormat, entry: &Entry) -> Meaning {
    let mut meaning = value.map_or_else(|| json!({}), meaning);
    servers(&mut meaning, format, |servers| servers.remove(entry.name()).is_some());
    if let Some(root) = meaning.as_object_mut() {
        let is_empty =
            |value: &Meaning| value.is_null() || value.as_object().is_some_and(Map::is_empty);
        if root.get(format.container).is_some_and(is_empty) {
            root.remove(format.container);
        }
    }
    meaning
}

fn servers(
    root: &mut Meaning,
    format: JsonFormat,
    ask: impl FnOnce(&mut Map<String, Meaning>) -> bool,
) -> bool {
    let Some(container) = root.get_mut(format.container) else { return false };
    let is_nested = format.shape == Shape::OpenCode
        && container[INNER].as_object().is_some_and(|map| map.values().all(Meaning::is_object));
    let servers = if is_nested { &mut container[INNER] } else { container };
    servers.as_object_mut().is_some_and(ask)
}

/// A value without its places. A number is its text.
fn meaning(value: &Value<'_>) -> Meaning {
    match value {
        Value::StringLit(text) => text.value.as_ref().into(),
        Value::NumberLit(number) => json!([{ "number": number.value }]),
        Value::BooleanLit(boolean) => boolean.value.into(),
        Value::NullKeyword(_) => Meaning::Null,
        Value::Array(array) => array.elements.iter().map(meaning).collect(),
        Value::Object(object) => Meaning::Object(
            object
                .properties
                .iter()
                .map(|property| (property.name.as_str().to_owned(), meaning(&property.value)))
                .collect(),
        ),
    }
}

fn written(node: &Node) -> Meaning {
    match node {
        Node::Text(text) => text.as_str().into(),
        Node::List(words) => words.iter().map(String::as_str).collect(),
        Node::Object(members) => Meaning::Object(
            members.iter().map(|(name, node)| (name.clone(), written(node))).collect(),
        ),
    }
}
