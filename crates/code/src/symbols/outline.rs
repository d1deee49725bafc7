//! The symbols of a file, and how one is named.
//!
//! A qualified name joins the names from the outermost on with `.`, whatever the language writes
//! (`Calc.twice` for `impl Calc { fn twice }`, for `func (c *Calc) Twice` with its name, for a
//! method of a class). A node id is `kind:path:Qualified.name`. Where a file has a name more than
//! once, `@LINE` follows it: that line may move when the file changes.

use std::path::Path;
use std::sync::Arc;

use super::protocol::{DocumentSymbol, Position, Range, kind_name};
use super::text::{Encoding, Text};
use crate::CodeError;
use crate::near::distance;

/// Symbols of one file that are kept.
const MAX_SYMBOLS: usize = 20_000;
/// How deep symbols are looked for.
const MAX_DEPTH: usize = 32;
/// Symbols that an error names.
const MAX_NAMED: usize = 10;

const OBJECT: u32 = 19;
const VARIABLES: [u32; 3] = [7, 13, 14];
const FUNCTIONS: [u32; 3] = [6, 9, 12];

/// One symbol of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// The name without those around it.
    pub(crate) name: String,
    pub(crate) qualified: String,
    pub(crate) kind: u32,
    /// All of it.
    pub(crate) range: Range,
    /// Its name.
    pub(crate) selection: Range,
    /// Whether it is a variable within a function.
    pub(crate) is_local: bool,
}

impl Symbol {
    /// The line of its name, from 1.
    pub(crate) fn line(&self) -> u64 {
        u64::from(self.selection.start.line) + 1
    }

    pub(crate) fn is_function(&self) -> bool {
        FUNCTIONS.contains(&self.kind)
    }

    /// Whether it may hold a function: `const f = () => 1`.
    pub(crate) fn is_variable(&self) -> bool {
        VARIABLES.contains(&self.kind)
    }
}

/// The symbols of a file in the order of its lines.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    pub(crate) text: Arc<Text>,
    pub(crate) symbols: Vec<Symbol>,
}

impl Outline {
    /// From what a server answered.
    pub(crate) fn new(answer: Vec<DocumentSymbol>, text: Arc<Text>, encoding: Encoding) -> Self {
        let mut symbols = Vec::new();
        for entry in answer {
            collect(entry, "", false, 0, &text, encoding, &mut symbols);
        }
        symbols.sort_by_key(|symbol| (symbol.range.start, std::cmp::Reverse(symbol.range.end)));
        Self { text, symbols }
    }

    /// The id of a symbol of this file.
    pub(crate) fn node_id(&self, symbol: &Symbol, path: &str) -> String {
        let kind = kind_name(symbol.kind).to_lowercase();
        let same = self.symbols.iter().filter(|other| other.qualified == symbol.qualified);
        let line = if same.count() > 1 { format!("@{}", symbol.line()) } else { String::new() };
        format!("{kind}:{path}:{}{line}", symbol.qualified)
    }

    /// The one symbol of that name: as it is qualified, else by its last names, else with the name
    /// of the file's module before it. A kind decides between several.
    pub(crate) fn resolve(
        &self,
        wanted: &str,
        kind: Option<&str>,
        path: &str,
    ) -> Result<&Symbol, CodeError> {
        let (name, line) = normalise(wanted);
        let suffix = format!(".{name}");
        let ways: [&dyn Fn(&Symbol) -> bool; 4] = [
            &|symbol| symbol.qualified == name,
            &|symbol| !symbol.is_local && symbol.qualified.ends_with(&suffix),
            &|symbol| symbol.is_local && symbol.qualified.ends_with(&suffix),
            &|symbol| !symbol.is_local && is_within_module(&name, &symbol.qualified, path),
        ];
        for way in ways {
            let mut found: Vec<_> = self.symbols.iter().filter(|symbol| way(symbol)).collect();
            if let Some(line) = line {
                found.retain(|symbol| symbol.line() == line);
            }
            let of_kind = |symbol: &&&Symbol| {
                kind.is_none_or(|kind| kind_name(symbol.kind).eq_ignore_ascii_case(kind))
            };
            if found.len() > 1 && found.iter().any(|symbol| of_kind(&symbol)) {
                found.retain(|symbol| of_kind(&symbol));
            }
            match found.as_slice() {
                [] => {}
                [one] => return Ok(one),
                several => return Err(self.ambiguous(wanted, several, path)),
            }
        }
        Err(self.missing(wanted, &name, path))
    }

    /// The symbol that a server means by a name at a place.
    pub(crate) fn at(&self, position: Position, name: &str) -> Option<&Symbol> {
        let matches = |symbol: &&Symbol| {
            symbol.selection.contains(position) || symbol.range.start == position
        };
        let last = last_name(name);
        let found = || self.symbols.iter().filter(matches);
        found().find(|symbol| symbol.name == last).or_else(|| found().next_back())
    }

    /// The innermost function around a place.
    pub(crate) fn enclosing_function(&self, position: Position) -> Option<&Symbol> {
        let mut around = self.symbols.iter().rev();
        around.find(|symbol| symbol.is_function() && symbol.range.contains(position))
    }

    fn ambiguous(&self, wanted: &str, several: &[&Symbol], path: &str) -> CodeError {
        let named = several
            .iter()
            .take(MAX_NAMED)
            .map(|symbol| format!("line {}: {}", symbol.line(), self.node_id(symbol, path)));
        let named = named.collect::<Vec<_>>().join("; ");
        let more = match several.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let count = several.len();
        CodeError::AmbiguousSymbol(format!("{path} has {count} symbols {wanted}: {named}{more}"))
    }

    fn missing(&self, wanted: &str, name: &str, path: &str) -> CodeError {
        let mut near: Vec<_> = self
            .symbols
            .iter()
            .filter(|symbol| !symbol.is_local)
            .map(|symbol| (distance(last_name(name), &symbol.name), symbol))
            .collect();
        let most = 1 + last_name(name).chars().count() / 4;
        let close = near.iter().filter(|(distance, _)| *distance <= most).count();
        if close > 0 {
            near.sort_by_key(|(distance, _)| *distance);
        }
        near.truncate(if close > 0 { close.min(MAX_NAMED) } else { MAX_NAMED });
        let named =
            near.iter().map(|(_, symbol)| format!("{} (line {})", symbol.qualified, symbol.line()));
        let named = named.collect::<Vec<_>>().join(", ");
        let known = match (named.is_empty(), close > 0) {
            (true, _) => "; it has none at all".to_owned(),
            (false, true) => format!("; near: {named}"),
            (false, false) => format!("; it has {named}"),
        };
        CodeError::SymbolNotFound(format!("{path} has no symbol {wanted}{known}"))
    }
}

/// What is named, and where if that is said: `Calc::twice` and `Calc.twice()@12`.
fn normalise(wanted: &str) -> (String, Option<u64>) {
    let (name, line) = match wanted.rsplit_once('@') {
        Some((name, line)) if !name.is_empty() => match line.parse() {
            Ok(line) => (name, Some(line)),
            Err(_) => (wanted, None),
        },
        _ => (wanted, None),
    };
    let name = name.trim().trim_end_matches("()").replace("::", ".");
    (name.trim_matches('.').to_owned(), line)
}

/// Whether `wanted` is `qualified` with the module of the file before it.
fn is_within_module(wanted: &str, qualified: &str, path: &str) -> bool {
    let before = wanted.strip_suffix(qualified).and_then(|before| before.strip_suffix('.'));
    let Some(module) = before.map(last_name) else { return false };
    let path = Path::new(path).with_extension("");
    let mut names = path.iter().rev().filter_map(|name| name.to_str());
    matches!(module, "crate" | "self") || names.by_ref().take(2).any(|name| name == module)
}

fn last_name(name: &str) -> &str {
    name.rsplit(['.', ':']).next().unwrap_or(name)
}

fn collect(
    entry: DocumentSymbol,
    parent: &str,
    in_function: bool,
    depth: usize,
    text: &Text,
    encoding: Encoding,
    symbols: &mut Vec<Symbol>,
) {
    if symbols.len() >= MAX_SYMBOLS || depth > MAX_DEPTH {
        return;
    }
    let range = entry.range.or_else(|| entry.location.as_ref().map(|location| location.range));
    let Some(range) = range else { return };
    // A container of Rust that is no symbol of its own.
    let block = (entry.kind == OBJECT).then(|| impl_target(&entry.name)).flatten();
    let written = plain(block.unwrap_or(&entry.name));
    let name = last_name(&written).to_owned();
    let parent = match entry.container_name.as_deref() {
        // In a flat list, where nothing is nested.
        Some(container) if parent.is_empty() && entry.location.is_some() => container,
        _ => parent,
    };
    let qualified = match parent {
        "" => written,
        parent => format!("{parent}.{written}"),
    };
    let is_function = FUNCTIONS.contains(&entry.kind);
    if block.is_none() {
        let selection = entry.selection_range.unwrap_or_else(|| find(&name, range, text, encoding));
        let is_local = in_function && VARIABLES.contains(&entry.kind);
        let kind = entry.kind;
        let qualified = qualified.clone();
        symbols.push(Symbol { name, qualified, kind, range, selection, is_local });
    }
    for child in entry.children.unwrap_or_default() {
        let in_function = in_function || is_function;
        collect(child, &qualified, in_function, depth + 1, text, encoding, symbols);
    }
}

/// The type that `impl Trait for Type` or `impl Type` is for.
fn impl_target(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(generics) => {
            let mut depth = 1;
            let end = generics.find(|character| {
                depth += i32::from(character == '<') - i32::from(character == '>');
                depth == 0
            })?;
            &generics[end + 1..]
        }
        None => rest,
    };
    let rest = rest.strip_prefix(' ')?;
    let target = rest.split_once(" for ").map_or(rest, |(_, target)| target);
    let target = target.trim_start_matches(['&', '*']).split(['<', ' ']).next()?;
    Some(target.rsplit("::").next().unwrap_or(target))
}

/// A name as it is qualified here: `(*Calc[T]).Twice` is `Calc.Twice`.
fn plain(name: &str) -> String {
    let Some((receiver, method)) = name.strip_prefix('(').and_then(|rest| rest.split_once(")."))
    else {
        return name.to_owned();
    };
    let receiver = receiver.trim_start_matches('*').split('[').next().unwrap_or(receiver);
    format!("{receiver}.{method}")
}

/// Where a name is first written in a range, for servers that do not say.
fn find(name: &str, range: Range, text: &Text, encoding: Encoding) -> Range {
    let Some(span) = text.span(range, encoding) else { return range };
    let start = span.start;
    let within = &text.as_str()[span];
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let whole = within.match_indices(name).find(|(at, _)| {
        !within[..*at].ends_with(is_part) && !within[at + name.len()..].starts_with(is_part)
    });
    let Some((at, _)) = whole else { return range };
    let position = |offset| text.position(offset, encoding);
    Range { start: position(start + at), end: position(start + at + name.len()) }
}

#[cfg(test)]
#[path = "outline_tests.rs"]
mod tests;
