//! One event as it is kept.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Bytes that a record takes beside its body, about.
const OVERHEAD: usize = 100;

/// The bounds of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventLimits {
    /// Records of one session.
    pub records: usize,
    /// Bytes of one session's records.
    pub bytes: usize,
    /// Bytes of one record; what is longer is cut.
    pub record_bytes: usize,
    /// Finished sessions that are kept.
    pub finished: usize,
    /// Bytes of finished sessions, in files or, without a folder, in memory.
    pub finished_bytes: u64,
    /// How long the file of a finished session is kept.
    pub finished_age: Duration,
}

impl Default for EventLimits {
    fn default() -> Self {
        Self {
            records: 20_000,
            bytes: 8 * 1024 * 1024,
            record_bytes: 64 * 1024,
            finished: 50,
            finished_bytes: 64 * 1024 * 1024,
            finished_age: Duration::from_hours(7 * 24),
        }
    }
}

/// What a session is called in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionLabel {
    /// The session's id.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Who debugs: an adapter's name.
    pub adapter: String,
}

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Its number in the session, from 1, with no gaps as it came.
    pub seq: u64,
    /// When it came, in milliseconds since 1970.
    pub time: u64,
    /// The name of the DAP event.
    pub event: String,
    /// Its body, perhaps cut.
    pub body: Value,
    /// About how many bytes it takes.
    #[serde(skip)]
    pub(super) size: usize,
}

impl Record {
    /// A record of now.
    pub(super) fn new(seq: u64, event: &str, body: Value, limit: usize) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let (body, size) = bounded(body, limit);
        Self { seq, time, event: event.to_owned(), size: size + OVERHEAD, body }
    }

    /// A record of a line of JSON.
    pub(super) fn from_line(line: &str) -> Option<Self> {
        let record: Self = serde_json::from_str(line).ok()?;
        Some(Self { size: line.len(), ..record })
    }

    /// The category of an output, as the specification reads a missing one.
    pub fn category(&self) -> Option<&str> {
        let named = self.body["category"].as_str();
        (self.event == "output").then(|| named.unwrap_or("console"))
    }

    /// The text of an output, telemetry excepted.
    pub fn output(&self) -> Option<&str> {
        let is_text = self.category().is_some_and(|category| category != "telemetry");
        self.body["output"].as_str().filter(|_| is_text)
    }

    /// The file and line that the event is about, where it says so.
    pub fn location(&self) -> Option<(&str, u64)> {
        Some((self.body["source"]["path"].as_str()?, self.body["line"].as_u64()?))
    }
}

/// A body within the limit and its size; what is cut says so.
fn bounded(mut body: Value, limit: usize) -> (Value, usize) {
    let size = body.to_string().len();
    if size <= limit {
        return (body, size);
    }
    let Some(output) = body["output"].as_str() else {
        return (json!({"cut": format!("{size} bytes")}), OVERHEAD);
    };
    // It stays as many lines as it was, or the next would go on where it is cut.
    let end = if output.ends_with('\n') { "\n" } else { "" };
    let cut = format!("{}{end}", cut_text(output, limit));
    body["output"] = json!(cut);
    // What adapters add to an output is small beside it, or is left out.
    if let Some(fields) = body.as_object_mut() {
        fields.retain(|name, _| matches!(name.as_str(), "output" | "category" | "source" | "line"));
    }
    (body, limit)
}

/// The beginning of a text and how much is missing.
pub(crate) fn cut_text(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}… ({} bytes more)", &text[..end], text.len() - end)
}
