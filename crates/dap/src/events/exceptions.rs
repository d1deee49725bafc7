//! Exceptions that stopped a program.

use super::logs::{LogLine, lines};
use super::record::{Record, cut_text};
use super::store::{EventStore, Log};
use crate::error::DebugError;

/// Bytes of an exception's stack.
const MAX_STACK: usize = 4 * 1024;

/// Which exceptions are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExceptionQuery {
    /// The session; without one that which began last.
    pub session: Option<String>,
    /// How many, the last ones; 0 for all.
    pub count: usize,
    /// Lines of output before each; 0 for none.
    pub context_lines: usize,
}

/// An exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExceptionEntry {
    /// The number of the event.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub time: u64,
    /// The thread, as the adapter numbers it.
    pub thread: Option<i64>,
    /// Its type or what else the adapter calls it.
    pub id: Option<String>,
    /// What it says.
    pub message: Option<String>,
    /// Its stack, perhaps cut.
    pub stack: Option<String>,
    /// Where it stopped the program.
    pub location: Option<(String, u64)>,
    /// Output before it.
    pub context: Vec<LogLine>,
}

impl EventStore {
    /// The exceptions that stopped a program.
    pub fn exceptions(&self, query: &ExceptionQuery) -> Result<Vec<ExceptionEntry>, DebugError> {
        let log = self.log(query.session.as_deref())?;
        let mut entries = entries(&log);
        if query.count > 0 {
            entries.drain(..entries.len().saturating_sub(query.count));
        }
        let lines = if query.context_lines > 0 { lines(&log) } else { Vec::new() };
        for entry in &mut entries {
            let before = lines.partition_point(|line| line.seq < entry.seq);
            let first = before.saturating_sub(query.context_lines);
            entry.context = lines[first..before].to_vec();
        }
        Ok(entries)
    }
}

/// Stops by an exception, with what was learnt of them before the next stop.
pub(super) fn entries(log: &Log) -> Vec<ExceptionEntry> {
    let mut entries: Vec<ExceptionEntry> = Vec::new();
    let mut open = false;
    for record in &log.records {
        if record.event == "stopped" {
            open = record.body["reason"] == "exception";
            entries.extend(open.then(|| entry(record)));
        }
        let Some(entry) = entries.last_mut().filter(|_| open) else { continue };
        match record.event.as_str() {
            "exceptionInfo" => {
                let (body, details) = (&record.body, &record.body["details"]);
                entry.id = text(&body["exceptionId"]).or(entry.id.take());
                let message = text(&body["description"]).or(text(&details["message"]));
                entry.message = message.or(entry.message.take());
                entry.stack = text(&details["stackTrace"]).map(|stack| cut_text(&stack, MAX_STACK));
            }
            "stopLocation" => {
                entry.location = record.location().map(|(path, line)| (path.to_owned(), line));
            }
            _ => {}
        }
    }
    entries
}

fn entry(record: &Record) -> ExceptionEntry {
    ExceptionEntry {
        seq: record.seq,
        time: record.time,
        thread: record.body["threadId"].as_i64(),
        id: None,
        message: text(&record.body["text"]).or(text(&record.body["description"])),
        stack: None,
        location: None,
        context: Vec::new(),
    }
}

fn text(value: &serde_json::Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
