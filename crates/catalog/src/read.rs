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
    let Document { value, lines } = Document::parse(text)?;
    read_part(value, strictness, |path| lines.of(path))
}

/// Metadata that was parsed elsewhere; `line` is asked for the place of what is wrong.
pub(crate) fn read_part(
    value: Value,
    strictness: Strictness,
    line: impl Fn(&str) -> usize,
) -> Result<Metadata, Problem> {
    let mut metadata: Metadata = decode(value, strictness, &line)?;
    if metadata.category.is_empty() {
        let first = metadata.alias.split('.').next().unwrap_or_default();
        metadata.category = String::from(first);
    }
    match check::check(&metadata, strictness) {
        Ok(()) => Ok(metadata),
        Err(wrong) => Err(Problem::new(line(&wrong.path), wrong.message)),
    }
}

/// A value as a type, with the line of what does not fit.
pub(crate) fn decode<T: DeserializeOwned>(
    value: Value,
    strictness: Strictness,
    line: impl Fn(&str) -> usize,
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
        let path = track.path().to_string();
        let path = if path == "." { "" } else { &*path };
        let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
        Problem::new(line(path), format!("{place}{error}"))
    })?;
    match unknown.first() {
        Some(field) if strictness == Strictness::Own => {
            Err(Problem::new(line(field), format!("unknown field `{field}`")))
        }
        _ => Ok(decoded),
    }
}
