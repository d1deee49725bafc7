//! Our entry in a JSON file, which may contain comments and trailing commas.
//!
//! The parser gives the places of values; the edits are made in the text (`members`), so that everything else
//! stays byte for byte. A new text is parsed again and must mean the old one with or without the entry.

mod layout;
mod meaning;
mod members;

use std::borrow::Cow;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::entry::{Addition, Entry, FoundEntry, Origin, Refusal, Removal};
use crate::text::{Edit, edited, is_blank, line_end, problem, split_mark, without_line_end};
use crate::{Overwrite, Problem};
use layout::{Layout, Node};

/// Where a client looks for servers, and what an entry looks like there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JsonFormat {
    /// The key of the object with the servers.
    pub(crate) container: &'static str,
    pub(crate) shape: Shape,
}

/// The form of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `command` and `args`
    Plain,
    /// The same with `type: stdio`
    Stdio,
    /// `type: local` and a `command` that includes the arguments. `OpenCode` 2 prefers the servers in `mcp.servers`
    /// and still reads them from `mcp`, as version 1 does; the first is used where it is there.
    OpenCode,
}

/// The key of the inner object in files of `OpenCode` 2.
const INNER: &str = "servers";

/// Adds or updates the entry. No text is the same as an empty one.
pub(crate) fn add(
    text: &str,
    format: JsonFormat,
    entry: &Entry,
    overwrite: Overwrite,
) -> Result<Addition, Refusal> {
    let (mark, body) = split_mark(text);
    let parsed = readable(body);
    let root = parse(&parsed)?;
    let slot = Slot::find(body, root.as_ref(), format)?;
    let mut entry = entry.clone();
    if let Slot::Container(container) = &slot
        && let Some(property) = only(body, container, entry.name())?
    {
        let found = found_entry(&property.value);
        if entry.recognizes(&found) {
            entry = entry.in_place_of(&found);
        }
    }
    let entry = &entry;
    let node = node_of(entry, format.shape);
    let inner = || Node::Object(vec![(entry.name().to_owned(), node.clone())]);
    let outer = || Node::Object(vec![(format.container.to_owned(), inner())]);
    let layout = Layout::of(body, root.as_ref().and_then(Value::as_object));
    let mut kind: fn(String) -> Addition = Addition::Added;
    let edits = match &slot {
        Slot::NoRoot => {
            let end = line_end(body);
            let before = if body.is_empty() { "" } else { end };
            let rendered = outer().render(&layout.lines(""));
            vec![Edit::insert(body.len(), format!("{before}{rendered}{end}"))]
        }
        Slot::NoContainer(root) => members::insert(body, root, &layout, format.container, &inner()),
        Slot::Null(null) => {
            let lines = layout.around(body, null.start);
            vec![Edit::replace(null.start..null.end, inner().render(&lines))]
        }
        Slot::Container(container) => match only(body, container, entry.name())? {
            None => members::insert(body, container, &layout, entry.name(), &node),
            Some(property) => {
                let found = found_entry(&property.value);
                if entry.recognizes(&found) {
                    if entry.is_same(&found) {
                        return Ok(Addition::Same);
                    }
                    kind = Addition::Updated;
                    updates(body, &property.value, &layout, &node)?
                } else if overwrite == Overwrite::Foreign {
                    kind = Addition::Replaced;
                    let range = property.value.range();
                    let lines = layout.around(body, property.range.start);
                    vec![Edit::replace(range.start..range.end, node.render(&lines))]
                } else {
                    return Err(Refusal::Foreign);
                }
            }
        },
    };
    let new = edited(body, edits);
    if !meaning::is_added(root.as_ref(), &new, format, entry) {
        return Err(Refusal::Uneditable);
    }
    Ok(kind(format!("{mark}{new}")))
}

/// Takes the entry out, and with it what install had to create around it.
pub(crate) fn remove(
    text: &str,
    format: JsonFormat,
    entry: &Entry,
    overwrite: Overwrite,
    origin: Origin<'_>,
) -> Result<Removal, Refusal> {
    let (mark, body) = split_mark(text);
    let parsed = readable(body);
    let root = parse(&parsed)?;
    let Slot::Container(container) = Slot::find(body, root.as_ref(), format)? else {
        return Ok(Removal::NotThere);
    };
    let Some(property) = only(body, container, entry.name())? else { return Ok(Removal::NotThere) };
    if overwrite == Overwrite::Never && !entry.recognizes(&found_entry(&property.value)) {
        return Err(Refusal::Foreign);
    }
    let index = container.properties.iter().position(|other| other.range == property.range);
    let Some(index) = index else { return Err(Refusal::Uneditable) };
    let created = Created::around(origin, format);
    let root_object = root.as_ref().and_then(Value::as_object);
    let outer = root_object.and_then(|root| Some((root, member_of(root, format.container)?)));
    let edits = match outer {
        Some((root, outer))
            if members::is_alone(body, container) && created != Created::Nothing =>
        {
            let in_root = root.properties.iter().position(|other| other.range == outer.range);
            let Some(in_root) = in_root else { return Err(Refusal::Uneditable) };
            let is_all = members::is_alone(body, root);
            let outside = [&body[..root.range.start], &body[root.range.end..]];
            match created {
                Created::File if is_all && outside.iter().all(|text| is_blank(text)) => {
                    return Ok(Removal::Nothing);
                }
                Created::Root | Created::File if is_all => {
                    let before = without_line_end(outside[0]).len();
                    let after = outside[1];
                    let line_end = ["\r\n", "\n"].into_iter().find(|end| after.starts_with(end));
                    let end = root.range.end + line_end.map_or(0, str::len);
                    vec![Edit::delete(before..end)]
                }
                Created::Object => {
                    let range = outer.value.range();
                    vec![Edit::replace(range.start..range.end, "null")]
                }
                _ => members::remove(body, root, in_root),
            }
        }
        _ => members::remove(body, container, index),
    };
    let new = edited(body, edits);
    if !meaning::is_removed(root.as_ref(), &new, format, entry) {
        return Err(Refusal::Uneditable);
    }
    Ok(Removal::Text(format!("{mark}{new}")))
}

/// What install had to create to have a place for its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Created {
    Nothing,
    /// An object where there was `null`.
    Object,
    /// The object with the servers.
    Container,
    /// The outermost object too.
    Root,
    /// Everything.
    File,
}

impl Created {
    fn around(origin: Origin<'_>, format: JsonFormat) -> Self {
        let text = match origin {
            Origin::Unknown => return Self::Nothing,
            Origin::Absent => return Self::File,
            Origin::Text(text) => split_mark(text).1,
        };
        let Ok(root) = parse(text) else { return Self::Nothing };
        match Slot::find(text, root.as_ref(), format) {
            Ok(Slot::NoRoot) => Self::Root,
            Ok(Slot::NoContainer(_)) => Self::Container,
            Ok(Slot::Null(_)) => Self::Object,
            Ok(Slot::Container(_)) | Err(_) => Self::Nothing,
        }
    }
}

/// Where the entries are, or would be.
enum Slot<'a, 'text> {
    /// Nothing but white space and comments.
    NoRoot,
    NoContainer(&'a Object<'text>),
    Null(std::ops::Range<usize>),
    Container(&'a Object<'text>),
}

impl<'a, 'text> Slot<'a, 'text> {
    fn find(
        body: &str,
        root: Option<&'a Value<'text>>,
        format: JsonFormat,
    ) -> Result<Self, Problem> {
        let root = match root {
            None => return Ok(Self::NoRoot),
            Some(Value::Object(root)) => root,
            Some(other) => return Err(wrong_kind(body, "the file", other)),
        };
        let container = match only(body, root, format.container)?.map(|property| &property.value) {
            None => return Ok(Self::NoContainer(root)),
            Some(Value::NullKeyword(null)) => {
                return Ok(Self::Null(null.range.start..null.range.end));
            }
            Some(Value::Object(container)) => container,
            Some(other) => {
                return Err(wrong_kind(body, &format!("`{}`", format.container), other));
            }
        };
        if format.shape == Shape::OpenCode
            && let Some(Value::Object(inner)) =
                only(body, container, INNER)?.map(|property| &property.value)
            && is_map_of_servers(inner)
        {
            return Ok(Self::Container(inner));
        }
        Ok(Self::Container(container))
    }
}

/// Whether an object maps names to servers, rather than being a server that has the name of the map.
fn is_map_of_servers(object: &Object<'_>) -> bool {
    object.properties.iter().all(|property| matches!(property.value, Value::Object(_)))
}

fn parse(body: &str) -> Result<Option<Value<'_>>, Problem> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    match parse_to_ast(body, &CollectOptions::default(), &options) {
        Ok(parsed) => Ok(parsed.value),
        Err(error) => {
            Err(problem(body, error.range().start, lower_first(&error.kind().to_string())))
        }
    }
}

/// The text as the parser takes it, byte for byte as long: JavaScript writes half a character that was cut in two
/// as an escape of its own, which means nothing to others.
fn readable(body: &str) -> Cow<'_, str> {
    const ESCAPE: usize = r"\ud800".len();
    let unit = |at: usize| {
        let escape = body.get(at..at + ESCAPE)?.strip_prefix(r"\u")?;
        u16::from_str_radix(escape, 16).ok()
    };
    let mut result = Cow::Borrowed(body);
    let mut at = 0;
    while let Some(found) = body[at..].find('\\') {
        at += found;
        match (unit(at), unit(at + ESCAPE)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => at += 2 * ESCAPE,
            (Some(0xd800..0xe000), _) => {
                result.to_mut().replace_range(at..at + ESCAPE, r"\ufffd");
                at += ESCAPE;
            }
            (Some(_), _) => at += ESCAPE,
            // What is escaped may be another backslash, or the last of the text.
            (None, _) => at += 1 + body[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    result
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

fn wrong_kind(body: &str, what: &str, value: &Value<'_>) -> Problem {
    let kind = match value {
        Value::StringLit(_) => "a string",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "a boolean",
        Value::Object(_) => "an object",
        Value::Array(_) => "an array",
        Value::NullKeyword(_) => "null",
    };
    problem(body, value.range().start, format!("{what} is {kind}, not an object"))
}

/// The member of that name, of which there must not be two: clients differ in which one counts.
fn only<'a, 'text>(
    body: &str,
    object: &'a Object<'text>,
    name: &str,
) -> Result<Option<&'a ObjectProp<'text>>, Problem> {
    let mut named = object.properties.iter().filter(|property| property.name.as_str() == name);
    let first = named.next();
    match named.next() {
        Some(second) => {
            Err(problem(body, second.range.start, format!("`{name}` is there a second time")))
        }
        None => Ok(first),
    }
}

fn member_of<'a, 'text>(object: &'a Object<'text>, name: &str) -> Option<&'a ObjectProp<'text>> {
    object.properties.iter().find(|property| property.name.as_str() == name)
}

/// The member of that name, if it is an object.
fn object_of<'a, 'text>(object: &'a Object<'text>, name: &str) -> Option<&'a Object<'text>> {
    member_of(object, name)?.value.as_object()
}

/// The entries of a text, by name.
pub(crate) fn entries(
    text: &str,
    format: JsonFormat,
) -> Result<Vec<(String, FoundEntry)>, Refusal> {
    let body = split_mark(text).1;
    let parsed = readable(body);
    let root = parse(&parsed)?;
    let Slot::Container(container) = Slot::find(body, root.as_ref(), format)? else {
        return Ok(Vec::new());
    };
    let named = container.properties.iter();
    Ok(named.map(|one| (one.name.as_str().to_owned(), found_entry(&one.value))).collect())
}

/// The entries that Claude Code has for one folder each, by the folder and by name. What is written otherwise has none.
pub(crate) fn entries_of_folders(text: &str) -> Vec<(String, String, FoundEntry)> {
    let parsed = readable(split_mark(text).1);
    let Ok(Some(root)) = parse(&parsed) else { return Vec::new() };
    let projects = root.as_object().and_then(|root| object_of(root, "projects"));
    let mut found = Vec::new();
    for project in projects.map_or(&[][..], |projects| &projects.properties) {
        let servers = project.value.as_object().and_then(|it| object_of(it, "mcpServers"));
        for one in servers.map_or(&[][..], |servers| &servers.properties) {
            let (folder, name) = (project.name.as_str(), one.name.as_str());
            found.push((folder.to_owned(), name.to_owned(), found_entry(&one.value)));
        }
    }
    found
}

/// What an entry starts, in whichever of the forms it is written.
fn found_entry(value: &Value<'_>) -> FoundEntry {
    let Some(object) = value.as_object() else { return FoundEntry::default() };
    let member = |name: &str| member_of(object, name).map(|property| &property.value);
    let list = |name: &str| match member(name) {
        Some(Value::Array(array)) => {
            let texts = array.elements.iter().map(|element| element.as_string_lit());
            texts.map(|text| Some(text?.value.to_string())).collect::<Option<Vec<_>>>()
        }
        _ => None,
    };
    let (command, args) = match member("command") {
        Some(Value::StringLit(command)) => {
            (Some(command.value.to_string()), list("args").unwrap_or_default())
        }
        _ => {
            let mut words = list("command").unwrap_or_default().into_iter();
            (words.next(), words.collect())
        }
    };
    let texts = |names: &[&str]| {
        let objects = names.iter().filter_map(|name| member(name)?.as_object());
        let texts = objects.flat_map(|object| &object.properties).filter_map(|one| {
            Some((one.name.as_str().to_owned(), one.value.as_string_lit()?.value.to_string()))
        });
        texts.collect::<Vec<_>>()
    };
    let is = |name: &str, value: bool| matches!(member(name), Some(Value::BooleanLit(found)) if found.value == value);
    let is_disabled = is("disabled", true) || is("enabled", false);
    let url = ["url", "httpUrl", "serverUrl"].into_iter().find_map(|name| {
        Some(member(name)?.as_string_lit()?.value.to_string()).filter(|_| command.is_none())
    });
    let (env, headers) = (texts(&["env", "environment"]), texts(&["headers"]));
    FoundEntry { command, args, env, url, headers, is_disabled }
}

fn node_of(entry: &Entry, shape: Shape) -> Node {
    let text = |text: &str| Node::Text(text.to_owned());
    let list = |words: Vec<String>| Node::List(words);
    let members = match shape {
        Shape::Plain => {
            vec![("command", text(entry.command())), ("args", list(entry.args().to_vec()))]
        }
        Shape::Stdio => vec![
            ("type", text("stdio")),
            ("command", text(entry.command())),
            ("args", list(entry.args().to_vec())),
        ],
        Shape::OpenCode => {
            let words = std::iter::once(entry.command().to_owned());
            let words = words.chain(entry.args().iter().cloned()).collect();
            vec![("type", text("local")), ("command", list(words))]
        }
    };
    Node::Object(members.into_iter().map(|(name, node)| (name.to_owned(), node)).collect())
}

/// Edits that give an entry of ours its new command and arguments, and leave the rest of it (its environment, whether
/// it is enabled) as the user has it.
fn updates(
    body: &str,
    value: &Value<'_>,
    layout: &Layout,
    node: &Node,
) -> Result<Vec<Edit>, Refusal> {
    let (Some(object), Node::Object(members)) = (value.as_object(), node) else {
        return Err(Refusal::Uneditable);
    };
    let mut edits = Vec::new();
    for (name, node) in members.iter().filter(|(name, _)| name != "type") {
        match only(body, object, name)? {
            Some(property) => {
                let range = property.value.range();
                let lines = layout.around(body, property.range.start);
                edits.push(Edit::replace(range.start..range.end, node.render(&lines)));
            }
            None => edits.extend(members::insert(body, object, layout, name, node)),
        }
    }
    Ok(edits)
}
