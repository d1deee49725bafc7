//! A session in a few lines.

use std::collections::BTreeMap;

use super::exceptions::entries;
use super::logs::{LogLine, lines};
use super::record::{Record, SessionLabel};
use super::store::EventStore;
use crate::error::DebugError;

/// Lines of output at the end of a summary.
const LAST_LINES: usize = 5;

/// What happened in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The session.
    pub label: SessionLabel,
    /// Time from the first to the last event, in milliseconds.
    pub duration: u64,
    /// Events that are held.
    pub events: usize,
    /// Events that are not held any more.
    pub dropped: u64,
    /// Lines of output by category.
    pub output: BTreeMap<String, usize>,
    /// Stops by reason.
    pub stops: BTreeMap<String, usize>,
    /// Where it stopped, and how often, the most frequent first.
    pub places: Vec<(String, u64, usize)>,
    /// Exceptions, by type or message.
    pub exceptions: BTreeMap<String, usize>,
    /// How it ended, when it did.
    pub ended: Option<String>,
    /// The last lines of output.
    pub last_lines: Vec<LogLine>,
}

impl EventStore {
    /// What happened in a session.
    pub fn summary(&self, session: Option<&str>) -> Result<Summary, DebugError> {
        let log = self.log(session)?;
        let first = log.records.front().map_or(0, |record| record.time);
        let last = log.records.back().map_or(0, |record| record.time);
        let lines = lines(&log);
        let mut places: BTreeMap<(String, u64), usize> = BTreeMap::new();
        let mut ended = None;
        for record in &log.records {
            match record.event.as_str() {
                "stopLocation" => {
                    if let Some((path, line)) = record.location() {
                        *places.entry((path.to_owned(), line)).or_default() += 1;
                    }
                }
                "ended" => ended = record.body["how"].as_str().map(str::to_owned),
                "exited" if ended.is_none() => {
                    let code = record.body["exitCode"].as_i64();
                    ended = code.map(|code| format!("exit code {code}"));
                }
                _ => {}
            }
        }
        let mut places: Vec<_> =
            places.into_iter().map(|((path, line), count)| (path, line, count)).collect();
        places.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
        let exceptions = entries(&log).into_iter();
        let exceptions = exceptions.filter_map(|entry| entry.id.or(entry.message));
        let reason =
            |record: &Record| record.body["reason"].as_str().unwrap_or("unknown").to_owned();
        let stops = log.records.iter().filter(|record| record.event == "stopped").map(reason);
        Ok(Summary {
            duration: last - first,
            events: log.records.len(),
            dropped: log.dropped(),
            output: count(lines.iter().map(|line| line.category.clone())),
            stops: count(stops),
            places,
            exceptions: count(exceptions),
            ended,
            last_lines: lines[lines.len().saturating_sub(LAST_LINES)..].to_vec(),
            label: log.label,
        })
    }
}

pub(super) fn count(keys: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
    counts
}
