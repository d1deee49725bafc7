//! From the text of a file to checked metadata.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Track;

use crate::check;
use crate::document::Document;
use crate::metadata::Metadata;

/// Something wrong with metadata.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct Problem {
    /// Where, from 1.
    pub line: usize,
    /// What.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

/// How much is forgiven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// Ours: unknown fields and missing words are wrong too.
    Own,
    /// A workspace's: what we do not know is left out.
    Workspace,
}

/// Reads and checks one tool's metadata.
pub fn read(text: &str, strictness: Strictness) -> Result<Metadata, Problem> {
    let document = Document::parse(text)?;
    let metadata = decode(document.value.clone(), &document, "", strictness)?;
    checked(metadata, &document, "", strictness)
}

/// Metadata that is a part of a larger file, at a path of it.
pub(crate) fn read_part(
    value: Value,
    document: &Document,
    path: &str,
) -> Result<Metadata, Problem> {
    let metadata = decode(value, document, path, Strictness::Workspace)?;
    checked(metadata, document, path, Strictness::Workspace)
}

fn checked(
    metadata: Metadata,
    document: &Document,
    path: &str,
    strictness: Strictness,
) -> Result<Metadata, Problem> {
    let mut metadata = metadata;
    if metadata.category.is_empty() {
        let first = metadata.alias.split('.').next().unwrap_or_default();
        metadata.category = String::from(first);
    }
    match check::check(&metadata, strictness) {
        Ok(()) => Ok(metadata),
        Err(wrong) => {
            let line = document.line(&join(path, &wrong.path));
            Err(Problem::new(line, wrong.message))
        }
    }
}

/// A value as a type, with the line of what does not fit.
pub(crate) fn decode<T: DeserializeOwned>(
    value: Value,
    document: &Document,
    path: &str,
    strictness: Strictness,
) -> Result<T, Problem> {
    let mut unknown = Vec::new();
    let mut track = Track::new();
    let tracked = serde_path_to_error::Deserializer::new(value, &mut track);
    let mut note = |ignored: serde_ignored::Path<'_>| {
        // Optional parts are shown as `?`, which is no part of the file.
        unknown.push(ignored.to_string().replace(".?", ""));
    };
    let decoded = T::deserialize(serde_ignored::Deserializer::new(tracked, &mut note));
    let decoded = decoded.map_err(|error| {
        let at = track.path().to_string();
        let at = if at == "." { String::new() } else { at };
        let line = document.line(&join(path, &at));
        let place = if at.is_empty() { String::new() } else { format!("{at}: ") };
        Problem::new(line, format!("{place}{error}"))
    })?;
    match unknown.first() {
        Some(field) if strictness == Strictness::Own => {
            let line = document.line(&join(path, field));
            Err(Problem::new(line, format!("unknown field `{field}`")))
        }
        _ => Ok(decoded),
    }
}

fn join(path: &str, rest: &str) -> String {
    match (path.is_empty(), rest.is_empty()) {
        (true, _) => rest.to_owned(),
        (_, true) => path.to_owned(),
        _ => format!("{path}.{rest}"),
    }
}
