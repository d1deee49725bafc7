//! One event as it is kept.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
    /// Bytes of the files of finished sessions.
    pub finished_bytes: u64,
}

impl Default for EventLimits {
    fn default() -> Self {
        Self {
            records: 20_000,
            bytes: 8 * 1024 * 1024,
            record_bytes: 64 * 1024,
            finished: 50,
            finished_bytes: 64 * 1024 * 1024,
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
}

impl Record {
    /// A record of now.
    pub(super) fn new(seq: u64, event: &str, body: Value, limit: usize) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Self { seq, time, event: event.to_owned(), body: bounded(body, limit) }
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

    /// About how many bytes it takes.
    pub(super) fn size(&self) -> usize {
        // The rest of a body is small beside an output.
        96 + self.event.len() + self.body["output"].as_str().map_or(256, str::len)
    }
}

/// A body within the limit; what is cut says so.
fn bounded(mut body: Value, limit: usize) -> Value {
    if let Some(output) = body["output"].as_str() {
        if output.len() > limit {
            // It stays as many lines as it was, or the next would go on where it is cut.
            let end = if output.ends_with('\n') { "\n" } else { "" };
            let cut = format!("{}{end}", cut_text(output, limit));
            body["output"] = json!(cut);
        }
        return body;
    }
    let size = body.to_string().len();
    if size <= limit { body } else { json!({"cut": format!("{size} bytes")}) }
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
