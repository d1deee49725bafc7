//! Events in the order they came, near ones together.

use super::record::{Record, cut_text};
use super::store::{EventStore, Log};
use crate::error::DebugError;

/// Entries in one answer.
const MAX_ENTRIES: usize = 500;
/// Bytes of an entry's text.
const MAX_TEXT: usize = 160;

/// How finely time is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Granularity {
    /// Each event.
    #[default]
    All,
    /// Events of the same name that follow each other together.
    Runs,
    /// Events of the same name in one second together.
    Second,
}

/// Which part of the timeline is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimelineQuery {
    /// The session; without one that which began last.
    pub session: Option<String>,
    /// Only these events; all but loaded sources and modules when empty.
    pub events: Vec<String>,
    /// Only so many milliseconds, from the beginning or the end.
    pub window: Option<u64>,
    /// Whether the window, and the limit, are at the end.
    pub from_end: bool,
    /// How finely time is told.
    pub granularity: Granularity,
    /// Entries; 0 for as many as may be.
    pub limit: usize,
}

/// An event, or several together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineEntry {
    /// Milliseconds since the session's first event.
    pub at: u64,
    /// The number of the first of them.
    pub seq: u64,
    /// The event's name.
    pub event: String,
    /// What it says, in a few words.
    pub text: String,
    /// How many.
    pub count: usize,
}

impl EventStore {
    /// A session's events in the order they came, and how many entries there are in all.
    pub fn timeline(
        &self,
        query: &TimelineQuery,
    ) -> Result<(Vec<TimelineEntry>, usize), DebugError> {
        let log = self.log(query.session.as_deref())?;
        let mut entries = entries(&log, query);
        let total = entries.len();
        let limit = if query.limit == 0 { MAX_ENTRIES } else { query.limit.min(MAX_ENTRIES) };
        if query.from_end {
            entries.drain(..total.saturating_sub(limit));
        } else {
            entries.truncate(limit);
        }
        Ok((entries, total))
    }
}

fn entries(log: &Log, query: &TimelineQuery) -> Vec<TimelineEntry> {
    let first = log.records.front().map_or(0, |record| record.time);
    let last = log.records.back().map_or(0, |record| record.time);
    let in_window = |time: u64| match (query.window, query.from_end) {
        (None, _) => true,
        (Some(window), false) => time - first <= window,
        (Some(window), true) => last - time <= window,
    };
    let wanted = |record: &&Record| {
        let named = match query.events.as_slice() {
            [] => !matches!(record.event.as_str(), "loadedSource" | "module"),
            events => events.contains(&record.event),
        };
        named && record.category() != Some("telemetry") && in_window(record.time)
    };
    let mut entries: Vec<TimelineEntry> = Vec::new();
    for record in log.records.iter().filter(wanted) {
        let at = record.time - first;
        let joins = entries.last().is_some_and(|entry| {
            let same = entry.event == record.event;
            match query.granularity {
                Granularity::All => false,
                Granularity::Runs => same,
                Granularity::Second => same && entry.at / 1000 == at / 1000,
            }
        });
        match entries.last_mut() {
            Some(entry) if joins => entry.count += 1,
            _ => entries.push(TimelineEntry {
                at,
                seq: record.seq,
                event: record.event.clone(),
                text: describe(record),
                count: 1,
            }),
        }
    }
    entries
}

/// An event in a few words.
pub(super) fn describe(record: &Record) -> String {
    let body = &record.body;
    let text = match record.event.as_str() {
        "output" => body["output"].as_str().unwrap_or_default().trim_end().to_owned(),
        "stopped" => match body["description"].as_str() {
            Some(description) => {
                format!("{}: {description}", body["reason"].as_str().unwrap_or(""))
            }
            None => body["reason"].as_str().unwrap_or_default().to_owned(),
        },
        "stopLocation" => match record.location() {
            Some((path, line)) => {
                format!("{path}:{line} {}", body["function"].as_str().unwrap_or(""))
            }
            None => String::new(),
        },
        "ended" => body["how"].as_str().unwrap_or_default().to_owned(),
        _ if body.is_null() => String::new(),
        _ => body.to_string(),
    };
    cut_text(&text, MAX_TEXT)
}
