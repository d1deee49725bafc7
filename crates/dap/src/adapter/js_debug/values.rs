//! Values of JavaScript in one line, as the language writes them: `[{id: 1, v: 'a'}]`, `Map(1) {'1' => 1}`.
//!
//! js-debug gives previews. They leave out what is nested, and in maps and sets also the quotes of strings. A
//! preview that holds nothing but plain values is read and written again. What is inside any other value has to be
//! fetched. No code of the program is run for that.

use super::super::looks::{Container, Look, Part};
use crate::protocol::Variable;

/// What js-debug puts in the place of what it leaves out.
const CUT: char = '…';
/// What js-debug puts in the place of a getter.
const ACCESSOR: &str = "<accessor>";
/// Bytes of a function's source.
const FUNCTION: usize = 80;
/// Where the stack begins in the text of an error.
const STACK: [&str; 2] = ["\n    at ", "\\n    at "];
/// Where its fields begin in the preview of an error. A message may have the same words without a quote.
const FIELDS: [&str; 4] = [" {stack: '", " {stack: \"", " {message: '", " {message: \""];

/// How a value is shown.
pub(super) fn look(variable: &Variable) -> Look {
    let (value, kind) = (variable.value.as_str(), variable.kind.as_deref().unwrap_or_default());
    if is_getter(variable) {
        return Look::Text("[Getter]".to_owned());
    }
    if kind == "string" {
        return Look::Text(rewritten(value).unwrap_or_else(|| value.to_owned()));
    }
    // An object whose prototype is a function has a preview.
    if (kind.ends_with("Function") || kind == "function") && !value.starts_with("Function {") {
        return Look::Text(function(value));
    }
    if kind.ends_with("Error") || is_stack(value) {
        let end = STACK.iter().chain(&FIELDS).filter_map(|mark| value.find(mark)).min();
        return Look::Text(value[..end.unwrap_or(value.len())].replace('\n', "\\n"));
    }
    if value == "write-only" {
        return Look::Text("[Setter]".to_owned());
    }
    let is_internal = matches!(variable.name.as_str(), "[[Prototype]]" | "[[Scopes]]");
    // A set's entry that is a proxy: only the proxy itself has a preview.
    let is_bare_proxy = value.starts_with("Proxy(") && value.ends_with(')') && is_entry(variable);
    if variable.variables_reference == 0
        || is_internal
        || (is_opaque(kind, value) && !is_bare_proxy)
    {
        return Look::Text(value.to_owned());
    }
    if has_lost_quotes(kind, value) {
        let title = value.split('{').next().unwrap_or_default().trim_end();
        return Look::Text(format!("{title} {{…}}"));
    }
    if is_entry(variable) {
        return Look::Parts(Container::Entry);
    }
    let (name, length) = title(value);
    let title = if name.is_empty() { String::new() } else { format!("{name}({length}) ") };
    let size = [format!("size: {length},"), format!("size: {length}}}")];
    if value.starts_with(&format!("{title}{{")) && size.iter().any(|size| value.contains(size)) {
        return match length {
            0 if value.ends_with("{size: 0}") => Look::Text(format!("{title}{{}}")),
            _ => Look::Parts(Container::Entries { title, length }),
        };
    }
    if let Some(text) = flat(value) {
        return Look::Text(text);
    }
    if is_list(value) {
        return Look::Parts(Container::List { title, length });
    }
    if let Some(look) = bare(kind, value) {
        return look;
    }
    let title = if kind == "Object" { String::new() } else { format!("{kind} ") };
    let container = Container::Fields { title };
    match beginning(value) {
        Some(text) => Look::Preview(text, container),
        None => Look::Parts(container),
    }
}

/// A preview of an object whose first fields hold nothing but plain values, and which has others.
fn beginning(preview: &str) -> Option<String> {
    let first = preview.strip_suffix(", …}")?;
    let text = flat(&format!("{first}}}"))?;
    Some(format!("{}, … more}}", text.strip_suffix('}')?))
}

/// What is inside a container, in the order in which it is written.
pub(super) fn parts(
    container: Container,
    preview: &str,
    children: Vec<Variable>,
) -> (Container, Vec<(Part, Variable)>) {
    // Only an entry is an object of nothing.
    let is_object = children.iter().any(|child| child.name == "[[Prototype]]");
    let container = match container {
        Container::Entry if is_object => Container::Fields { title: String::new() },
        other => other,
    };
    // js-debug lists getters first, those of its class among them; the preview has the first fields, and no getter of a class.
    let find = |child: &Variable, value: &str| {
        let marks = ["{", ", "].map(|before| format!("{before}{}: {value}", child.name));
        marks.iter().filter_map(|mark| preview.find(mark)).min()
    };
    let has_class = matches!(&container, Container::Fields { title } if !title.is_empty());
    let is_of_class =
        |child: &Variable| has_class && is_getter(child) && find(child, ACCESSOR).is_none();
    let own = children.into_iter().filter(|child| !is_of_class(child));
    let mut parts: Vec<_> =
        own.filter_map(|child| Some((part(&child, &container)?, child))).collect();
    parts.sort_by_key(|(part, child)| match part {
        Part::Indexed(index) => (false, *index),
        Part::Named(name) if name.starts_with('#') => (true, 0),
        Part::Named(_) | Part::Getter(_) => (true, find(child, "").unwrap_or(usize::MAX)),
    });
    (container, parts)
}

/// The part that a child is of its container, if it is one.
fn part(child: &Variable, of: &Container) -> Option<Part> {
    let hint = child.presentation_hint.clone().unwrap_or_default();
    if child.name.starts_with("[[") || hint.visibility.as_deref() == Some("internal") {
        return None;
    }
    let is_private = child.name.starts_with('#');
    match of {
        _ if hint.lazy && is_private => None,
        Container::Fields { .. } if hint.lazy => Some(Part::Getter(key(child))),
        _ if hint.lazy => None,
        Container::Fields { .. } | Container::Entry => Some(Part::Named(key(child))),
        _ => Some(child.name.parse().map_or_else(|_| Part::Named(key(child)), Part::Indexed)),
    }
}

fn is_getter(variable: &Variable) -> bool {
    variable.presentation_hint.as_ref().is_some_and(|hint| hint.lazy)
}

fn key(child: &Variable) -> String {
    let name = child.name.as_str();
    match name {
        _ if is_name(name.strip_prefix('#').unwrap_or(name)) => name.to_owned(),
        _ if name.starts_with("Symbol(") => format!("[{name}]"),
        _ => quoted(name),
    }
}

/// Whether a value is an error, whose class may have any name: its text is its stack, and not the preview of an object.
fn is_stack(value: &str) -> bool {
    let head = STACK.iter().find_map(|mark| value.split_once(mark));
    let Some((head, _)) = head else { return false };
    let name = head.split([' ', '(', '{', '[', '\n']).next().unwrap_or_default();
    is_name(name.strip_suffix(':').unwrap_or(name)) && (name.ends_with(':') || name == head)
}

/// Values whose insides are the language's.
fn is_opaque(kind: &str, value: &str) -> bool {
    let kinds = [
        "Promise",
        "Generator",
        "AsyncGenerator",
        "WeakRef",
        "String",
        "Number",
        "Boolean",
        "BigInt",
        "Symbol",
        "symbol",
    ];
    let buffers = ["ArrayBuffer", "SharedArrayBuffer", "DataView"];
    let is_proxy = value.starts_with("Proxy(") && !has_lost_quotes(kind, value);
    kinds.contains(&kind) || buffers.contains(&kind) || is_proxy || kind == "global"
}

/// Values whose previews have strings without quotes, and whose entries are not listed as a map's are.
fn has_lost_quotes(kind: &str, value: &str) -> bool {
    matches!(kind, "WeakMap" | "WeakSet" | "Map Iterator" | "Set Iterator")
        || value.starts_with("Proxy(Map)")
        || value.starts_with("Proxy(Set)")
}

/// An entry of a map or a set: an object that has no preview of its own.
fn is_entry(variable: &Variable) -> bool {
    let (value, kind) = (variable.value.as_str(), variable.kind.as_deref());
    let is_mapping = value.starts_with('{') && value.contains(" => ");
    let is_index = variable.name.bytes().all(|byte| byte.is_ascii_digit());
    is_index && !variable.name.is_empty() && kind == Some("Object") && {
        is_mapping || !value.starts_with('{')
    }
}

/// How a collection is shown that has no preview, which private fields do not have: `Array(2)`, `Map(1)`.
fn bare(kind: &str, value: &str) -> Option<Look> {
    let length = value.strip_prefix(kind)?.strip_prefix('(')?.strip_suffix(')')?.parse().ok()?;
    let title = if kind == "Array" { String::new() } else { format!("{value} ") };
    let is_keyed = kind.ends_with("Map") || kind.ends_with("Set");
    let container = match is_keyed {
        true => Container::Entries { title, length },
        false => Container::List { title, length },
    };
    Some(match length {
        0 => Look::Text(container.with("")),
        _ => Look::Parts(container),
    })
}

/// What stands before the elements of a list, and how many they are: `(2) [1, 2]`, `Map(1) {…}`.
fn title(value: &str) -> (&str, usize) {
    let Some((name, rest)) = value.split_once('(') else { return ("", 0) };
    let length = rest.split_once(") ").and_then(|(length, _)| length.parse().ok());
    length.map_or(("", 0), |length| (name, length))
}

fn is_list(value: &str) -> bool {
    let Some((name, rest)) = value.split_once('(') else { return false };
    let Some((length, behind)) = rest.split_once(") ") else { return false };
    let is_named = name.is_empty() || is_name(name);
    is_named && behind.starts_with('[') && length.parse::<usize>().is_ok()
}

/// A function without most of its source.
fn function(source: &str) -> String {
    let line = source.split(['\n', '\r']).next().unwrap_or_default();
    let line = line.split("\\n").next().unwrap_or_default().trim_end();
    let end = (0..=FUNCTION.min(line.len())).rev().find(|at| line.is_char_boundary(*at));
    match end {
        Some(end) if end < line.len() => format!("{}…", line[..end].trim_end()),
        _ if line.len() < source.len() => format!("{line} …"),
        _ => line.to_owned(),
    }
}

/// A preview that holds nothing but plain values, with its strings written as all are.
fn flat(preview: &str) -> Option<String> {
    if preview.contains(CUT) {
        return None;
    }
    let open = preview.find(['{', '['])?;
    let (title, inside) = preview.split_at(open);
    let is_list = inside.starts_with('[');
    // The length of an array is plain to see.
    let title = if is_list && title.starts_with('(') { "" } else { title };
    let inside = inside[1..].strip_suffix(if is_list { ']' } else { '}' })?;
    let (mut rest, mut parts) = (inside, Vec::new());
    while !rest.is_empty() {
        let mut part = String::new();
        if !is_list {
            let (key, behind) = rest.split_once(": ")?;
            if !is_name(key.strip_prefix('#').unwrap_or(key)) {
                return None;
            }
            part = format!("{key}: ");
            rest = behind;
        }
        let (value, behind) = plain(rest)?;
        parts.push(part + &value);
        rest = if behind.is_empty() { behind } else { behind.strip_prefix(", ")? };
    }
    // An index below 0 is a field, which the preview has without its name.
    if is_list && parts.len() > self::title(preview).1 {
        return None;
    }
    let (open, close) = if is_list { ('[', ']') } else { ('{', '}') };
    Some(format!("{title}{open}{}{close}", parts.join(", ")))
}

/// A plain value at the beginning of a preview, and what is behind it.
fn plain(text: &str) -> Option<(String, &str)> {
    if let Some((string, behind)) = unquoted(text) {
        return Some((quoted(&string), behind));
    }
    let end = text.find(", ").unwrap_or(text.len());
    let (word, behind) = text.split_at(end);
    let words = ["true", "false", "null", "undefined"];
    let number = word.strip_suffix('n').unwrap_or(word);
    let is_number = !number.is_empty() && number.parse::<f64>().is_ok();
    (words.contains(&word) || is_number).then(|| (word.to_owned(), behind))
}

/// A string as js-debug writes it, as all strings are written.
fn rewritten(value: &str) -> Option<String> {
    let (text, behind) = unquoted(value)?;
    behind.is_empty().then(|| quoted(&text))
}

/// The string at the beginning of a text, and what is behind it. js-debug escapes the quote and backslashes, and in
/// some answers also the ends of lines.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"' | '`'))?;
    let mut string = String::new();
    let mut rest = text[1..].chars();
    loop {
        match rest.next()? {
            '\\' => {
                if let Some(behind) = rest.as_str().strip_prefix("x1b") {
                    string.push('\x1b');
                    rest = behind.chars();
                    continue;
                }
                string.push(match rest.next()? {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    other => other,
                });
            }
            end if end == quote => return Some((string, rest.as_str())),
            other => string.push(other),
        }
    }
}

/// A string as node writes it: in the quotes that it does not contain, with what has no picture escaped.
fn quoted(text: &str) -> String {
    let is_free = |quote: char| !text.contains(quote);
    let quote = match () {
        () if is_free('\'') => '\'',
        () if is_free('"') => '"',
        () if is_free('`') && !text.contains("${") => '`',
        () => '\'',
    };
    let mut written = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => written.push_str("\\\\"),
            '\'' if quote == '\'' => written.push_str("\\'"),
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            '\x08' => written.push_str("\\b"),
            '\x0c' => written.push_str("\\f"),
            '\0'..='\x1f' | '\x7f'..='\u{9f}' => {
                written.push_str(&format!("\\x{:02X}", u32::from(character)));
            }
            other => written.push(other),
        }
    }
    written.push(quote);
    written
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_part)
}
