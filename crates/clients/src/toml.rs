//! Our entry in a TOML file: a table in `mcp_servers`.
//!
//! `toml_edit` gives the places; the edits are made in the text, because it does not keep all line ends. The entry
//! is a table of its own at the end of the file, unless `mcp_servers` is an inline table. A new text is parsed again
//! and must mean the old one with or without the entry.

use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Key, Table, TableLike, Value};

use crate::Overwrite;
use crate::entry::{Addition, Entry, FoundEntry, Origin, Refusal, Removal};
use crate::text::{
    Edit, edited, is_blank, line_end, line_start, problem, split_mark, without_line_end,
};

/// The key of the table with the servers.
const CONTAINER: &str = "mcp_servers";

/// Adds or updates the entry. No text is the same as an empty one.
pub(crate) fn add(text: &str, entry: &Entry, overwrite: Overwrite) -> Result<Addition, Refusal> {
    let (mark, body) = split_mark(text);
    let document = parse(body)?;
    let container = container(body, &document)?;
    let found = container.and_then(|(_, servers)| servers.get_key_value(entry.name()));
    let there = found.map(|(_, item)| found_entry(item)).filter(|there| entry.recognizes(there));
    let entry = &there.map_or_else(|| entry.clone(), |there| entry.in_place_of(&there));
    let mut kind: fn(String) -> Addition = Addition::Added;
    let edits = match found {
        None => vec![insertion(body, container.map(|(item, _)| item), entry)?],
        Some((key, item)) => {
            let is_ours = entry.recognizes(&found_entry(item));
            if is_ours && entry.is_same(&found_entry(item)) {
                return Ok(Addition::Same);
            }
            match (is_ours, overwrite) {
                (true, _) => {
                    kind = Addition::Updated;
                    updates(body, key, item, entry)?
                }
                (false, Overwrite::Foreign) => {
                    kind = Addition::Replaced;
                    let without = edited(body, deletions(body, &document, entry, Origin::Unknown)?);
                    let again = add(&without, entry, Overwrite::Never)?;
                    let Addition::Added(new) = again else { return Err(Refusal::Uneditable) };
                    vec![Edit::replace(0..body.len(), new)]
                }
                (false, Overwrite::Never) => return Err(Refusal::Foreign),
            }
        }
    };
    let new = edited(body, edits);
    let parsed = parse(&new).map_err(|_| Refusal::Uneditable)?;
    let is_there = servers(&parsed)
        .and_then(|servers| servers.get(entry.name()))
        .is_some_and(|item| entry.is_same(&found_entry(item)));
    if !is_there || rest(&document, entry) != rest(&parsed, entry) {
        return Err(Refusal::Uneditable);
    }
    Ok(kind(format!("{mark}{new}")))
}

/// Takes the entry out.
pub(crate) fn remove(
    text: &str,
    entry: &Entry,
    overwrite: Overwrite,
    origin: Origin<'_>,
) -> Result<Removal, Refusal> {
    let (mark, body) = split_mark(text);
    let document = parse(body)?;
    let found = container(body, &document)?.and_then(|(_, servers)| servers.get(entry.name()));
    let Some(item) = found else { return Ok(Removal::NotThere) };
    if overwrite == Overwrite::Never && !entry.recognizes(&found_entry(item)) {
        return Err(Refusal::Foreign);
    }
    let new = edited(body, deletions(body, &document, entry, origin)?);
    let parsed = parse(&new).map_err(|_| Refusal::Uneditable)?;
    let is_there = servers(&parsed).is_some_and(|servers| servers.contains_key(entry.name()));
    if is_there || rest(&document, entry) != rest(&parsed, entry) {
        return Err(Refusal::Uneditable);
    }
    if matches!(origin, Origin::Absent) && is_blank(&new) {
        return Ok(Removal::Nothing);
    }
    Ok(Removal::Text(format!("{mark}{new}")))
}

fn parse(body: &str) -> Result<Document<&str>, Refusal> {
    Document::parse(body).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Refusal::Problem(problem(body, at, error.message()))
    })
}

/// The table with the servers, as an item and as what it contains.
fn container<'a>(
    body: &str,
    document: &'a Document<&str>,
) -> Result<Option<(&'a Item, &'a dyn TableLike)>, Refusal> {
    let Some((key, item)) = document.as_table().get_key_value(CONTAINER) else { return Ok(None) };
    match item.as_table_like() {
        Some(servers) => Ok(Some((item, servers))),
        None => {
            let at = key.span().map_or(0, |span| span.start);
            let reason = format!("`{CONTAINER}` is {}, not a table", kind_of(item));
            Err(problem(body, at, reason).into())
        }
    }
}

fn servers<'a>(document: &'a Document<&str>) -> Option<&'a dyn TableLike> {
    document.as_table().get(CONTAINER)?.as_table_like()
}

fn kind_of(item: &Item) -> &'static str {
    match item {
        Item::ArrayOfTables(_) => "an array of tables",
        _ => match item.type_name() {
            "array" => "an array",
            "string" => "a string",
            "boolean" => "a boolean",
            _ => "a value",
        },
    }
}

/// The entries of a text, by name.
pub(crate) fn entries(text: &str) -> Result<Vec<(String, FoundEntry)>, Refusal> {
    let body = split_mark(text).1;
    let document = parse(body)?;
    let servers = container(body, &document)?.map(|(_, servers)| servers.iter());
    Ok(servers
        .into_iter()
        .flatten()
        .map(|(name, item)| (name.to_owned(), found_entry(item)))
        .collect())
}

fn found_entry(item: &Item) -> FoundEntry {
    let Some(table) = item.as_table_like() else { return FoundEntry::default() };
    let words = table.get("args").and_then(Item::as_array).and_then(|array| {
        array.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    });
    let texts = |name: &str| {
        let pairs = table.get(name).and_then(Item::as_table_like).map(|pairs| pairs.iter());
        let pairs = pairs.into_iter().flatten();
        let pairs =
            pairs.filter_map(|(name, value)| Some((name.to_owned(), value.as_str()?.to_owned())));
        pairs.collect::<Vec<_>>()
    };
    let mut headers = texts("http_headers");
    // Codex takes these values from its environment.
    let variable = table.get("bearer_token_env_var").and_then(Item::as_str);
    let token = variable.map(|name| ("Authorization".to_owned(), format!("Bearer ${{{name}}}")));
    headers.extend(token);
    let others = texts("env_http_headers").into_iter();
    headers.extend(others.map(|(header, name)| (header, format!("${{{name}}}"))));
    FoundEntry {
        command: table.get("command").and_then(Item::as_str).map(str::to_owned),
        args: words.unwrap_or_default(),
        env: texts("env"),
        url: table.get("url").and_then(Item::as_str).map(str::to_owned),
        headers,
        is_disabled: table.get("enabled").and_then(Item::as_bool) == Some(false),
    }
}

fn insertion(body: &str, container: Option<&Item>, entry: &Entry) -> Result<Edit, Refusal> {
    let (command, args) = (quoted(entry.command()), list(entry.args()));
    let name = entry.name();
    let Some(Item::Value(Value::InlineTable(inline))) = container else {
        let end = line_end(body);
        let before = if body.is_empty() { "" } else { end };
        let header = format!("[{CONTAINER}.{name}]");
        let table = [header, format!("command = {command}"), format!("args = {args}")];
        let table = table.map(|line| line + end).concat();
        return Ok(Edit::insert(body.len(), format!("{before}{table}")));
    };
    let member = format!(" {name} = {{ command = {command}, args = {args} }}");
    let last = leaves(inline).into_iter().map(|range| range.end).max();
    match (last, inline.span()) {
        (Some(last), _) => Ok(Edit::insert(last, format!(",{member}"))),
        (None, Some(span)) => Ok(Edit::insert(span.start + 1, member)),
        (None, None) => Err(Refusal::Uneditable),
    }
}

/// Edits that give an entry of ours its new command and arguments, and leave the rest of it as it is.
fn updates(body: &str, key: &Key, item: &Item, entry: &Entry) -> Result<Vec<Edit>, Refusal> {
    let value = |name: &str| item.get(name).and_then(Item::span);
    let Some(command) = value("command") else { return Err(Refusal::Uneditable) };
    let (new_command, new_args) = (quoted(entry.command()), list(entry.args()));
    let args = match value("args") {
        Some(args) => Edit::replace(args, new_args),
        None if item.is_inline_table() => Edit::insert(command.end, format!(", args = {new_args}")),
        None => {
            // The same way in which `command` is written: alone, or behind a dotted key.
            let command_key = item.as_table_like().and_then(|table| table.key("command"));
            let at = command_key.or(Some(key)).and_then(Key::span).map_or(0, |span| span.start);
            let before = &body[line_start(body, at)..at];
            let new = format!("{}{before}args = {new_args}", line_end(body));
            Edit::insert(line_rest(body, command.end), new)
        }
    };
    Ok(vec![Edit::replace(command, new_command), args])
}

/// Edits that delete the entry, wherever parts of it are.
fn deletions(
    body: &str,
    document: &Document<&str>,
    entry: &Entry,
    origin: Origin<'_>,
) -> Result<Vec<Edit>, Refusal> {
    let Some((item, servers)) = container(body, document)? else { return Err(Refusal::Uneditable) };
    let Some((key, found)) = servers.get_key_value(entry.name()) else {
        return Err(Refusal::Uneditable);
    };
    if let Item::Value(Value::InlineTable(inline)) = item {
        return inline_deletion(body, inline, entry.name());
    }
    let mut parts = Vec::new();
    match found {
        Item::Table(table) => parts_of_table(body, table, &mut parts),
        Item::Value(value) => parts.extend(lines_of(body, key, value)),
        Item::ArrayOfTables(_) | Item::None => return Err(Refusal::Uneditable),
    }
    parts.sort_by_key(|part| part.start);
    let edits = parts.into_iter().map(|part| {
        let is_table = body[part.clone()].trim_start().starts_with('[');
        let before = without_line_end(&body[..part.start]);
        // Install writes a line end before its table: an empty line, or the end of what had none.
        let ends_here =
            part.end == body.len() && matches!(origin, Origin::Text(text) if !text.ends_with('\n'));
        let is_own = before.ends_with('\n') || before.is_empty() || ends_here;
        Edit::delete(if is_table && is_own { before.len() } else { part.start }..part.end)
    });
    let edits: Vec<Edit> = edits.collect();
    if edits.is_empty() { Err(Refusal::Uneditable) } else { Ok(edits) }
}

/// The lines of a table: its header with its values, and the same of the tables in it.
fn parts_of_table(body: &str, table: &Table, parts: &mut Vec<Range<usize>>) {
    let mut lines = Vec::new();
    for (name, item) in table {
        match item {
            Item::Table(inner) => parts_of_table(body, inner, parts),
            Item::Value(value) => {
                lines.extend(table.key(name).and_then(|key| lines_of(body, key, value)));
            }
            Item::ArrayOfTables(tables) => {
                tables.iter().for_each(|inner| parts_of_table(body, inner, parts));
            }
            Item::None => {}
        }
    }
    match table.span().filter(|_| !table.is_dotted() && !table.is_implicit()) {
        None => parts.extend(lines),
        Some(header) => {
            let last = lines.iter().map(|lines| lines.end).max().unwrap_or(header.end);
            let last = last.max(whole_line(body, header.end));
            parts.push(line_start(body, header.start)..last);
        }
    }
}

fn lines_of(body: &str, key: &Key, value: &Value) -> Option<Range<usize>> {
    let (key, value) = (key.span()?, value.span()?);
    Some(line_start(body, key.start)..whole_line(body, value.end))
}

/// The end of the line without its line end.
fn line_rest(body: &str, at: usize) -> usize {
    let end = body[at..].find('\n').map_or(body.len(), |newline| at + newline + 1);
    without_line_end(&body[..end]).len().max(at)
}

fn whole_line(body: &str, at: usize) -> usize {
    body[at..].find('\n').map_or(body.len(), |newline| at + newline + 1)
}

/// The places of the values in an inline table, by member: dotted keys make inner tables without a place.
fn leaves(inline: &InlineTable) -> Vec<Range<usize>> {
    let values = inline.iter().flat_map(|(_, value)| match value {
        Value::InlineTable(inner) if inner.is_dotted() => leaves(inner),
        value => value.span().into_iter().collect(),
    });
    values.collect()
}

fn inline_deletion(body: &str, inline: &InlineTable, name: &str) -> Result<Vec<Edit>, Refusal> {
    let (Some(span), Some(value)) = (inline.span(), inline.get(name)) else {
        return Err(Refusal::Uneditable);
    };
    let Some(own) = value.span().filter(|own| own.end <= body.len()) else {
        return Err(Refusal::Uneditable);
    };
    let others = leaves(inline);
    let previous = others.iter().map(|other| other.end).filter(|&end| end <= own.start).max();
    let next = others.iter().map(|other| other.start).filter(|&start| start >= own.end).min();
    let range = match (previous, next) {
        (Some(previous), _) => previous..own.end,
        (None, None) => span.start + 1..own.end,
        (None, Some(_)) => {
            let rest = &body[own.end..];
            let comma = rest.find(',').filter(|&at| is_blank(&rest[..at]));
            let Some(comma) = comma else { return Err(Refusal::Uneditable) };
            span.start + 1..own.end + comma + 1
        }
    };
    Ok(vec![Edit::delete(range)])
}

/// Everything but the entry, and but a table of servers that is otherwise empty.
fn rest(document: &Document<&str>, entry: &Entry) -> serde_json::Value {
    let mut meaning = meaning_of_table(document.as_table());
    if let Some(servers) = meaning[CONTAINER].as_object_mut() {
        servers.remove(entry.name());
    }
    if let Some(root) = meaning.as_object_mut()
        && root.get(CONTAINER).is_none_or(|servers| servers.is_null() || *servers == empty())
    {
        root.remove(CONTAINER);
    }
    meaning
}

fn empty() -> serde_json::Value {
    serde_json::json!({})
}

fn meaning_of_table(table: &dyn TableLike) -> serde_json::Value {
    let members = table.iter().map(|(name, item)| {
        let value = match item {
            Item::None => serde_json::Value::Null,
            Item::Value(value) => meaning_of_value(value),
            Item::Table(table) => meaning_of_table(table),
            Item::ArrayOfTables(tables) => {
                tables.iter().map(|table| meaning_of_table(table)).collect()
            }
        };
        (name.to_owned(), value)
    });
    serde_json::Value::Object(members.collect())
}

fn meaning_of_value(value: &Value) -> serde_json::Value {
    match value {
        Value::String(text) => text.value().as_str().into(),
        Value::Integer(number) => (*number.value()).into(),
        Value::Float(number) => serde_json::json!([{ "float": number.value().to_bits() }]),
        Value::Boolean(boolean) => (*boolean.value()).into(),
        Value::Datetime(time) => serde_json::json!([{ "time": time.value().to_string() }]),
        Value::Array(array) => array.iter().map(meaning_of_value).collect(),
        Value::InlineTable(table) => meaning_of_table(table),
    }
}

fn list(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("[{}]", words.join(", "))
}

/// A basic string. JSON's escapes are TOML's, except that TOML wants one for DEL too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
