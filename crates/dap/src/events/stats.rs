//! Counts of events.

use std::collections::BTreeMap;

use super::record::Record;
use super::store::EventStore;
use crate::error::DebugError;

/// Rows in one answer; the rest is one row.
const MAX_ROWS: usize = 50;
/// Characters of the longest bar.
const BAR: u64 = 20;

/// What is counted together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// Output by its category, other events by their name.
    #[default]
    Category,
    /// The event's name.
    Event,
    /// The thread, as the adapter numbers it.
    Thread,
    /// The reason, of events that have one.
    Reason,
    /// The second in which it came, from the session's first.
    Second,
    /// The hour in which it came, from the session's first.
    Hour,
    /// The source that it names, of events that name one.
    Source,
}

/// A count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatsRow {
    /// What was counted.
    pub key: String,
    /// How many.
    pub count: u64,
    /// Bytes of output among them.
    pub bytes: u64,
    /// A bar, as long as the count is large.
    pub bar: String,
}

/// Counts of a session's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// The counts, the largest first; by time where that is the group.
    pub rows: Vec<StatsRow>,
    /// Events in all.
    pub total: u64,
    /// Events that are not held any more.
    pub dropped: u64,
}

impl EventStore {
    /// Counts a session's events.
    pub fn stats(&self, session: Option<&str>, group: GroupBy) -> Result<Stats, DebugError> {
        let log = self.log(session)?;
        let first = log.records.front().map_or(0, |record| record.time);
        let mut counts: BTreeMap<(u64, String), (u64, u64)> = BTreeMap::new();
        for record in &log.records {
            let Some(key) = key(record, group, first) else { continue };
            let (count, bytes) = counts.entry(key).or_default();
            *count += 1;
            *bytes += record.output().map_or(0, |output| output.len() as u64);
        }
        let mut rows: Vec<_> =
            counts.into_iter().map(|((_, key), (count, bytes))| (key, count, bytes)).collect();
        if !matches!(group, GroupBy::Second | GroupBy::Hour) {
            rows.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
        }
        let rest = rows.split_off(rows.len().min(MAX_ROWS));
        if !rest.is_empty() {
            let sum = |pick: fn(&(String, u64, u64)) -> u64| rest.iter().map(pick).sum();
            rows.push((format!("{} others", rest.len()), sum(|row| row.1), sum(|row| row.2)));
        }
        let longest = rows.iter().map(|(_, count, _)| *count).max().unwrap_or(1);
        let shown = rows.into_iter().map(|(key, count, bytes)| {
            let bar = "█".repeat((count * BAR).div_ceil(longest) as usize);
            StatsRow { key, count, bytes, bar }
        });
        let (total, dropped) = (log.records.len() as u64, log.dropped());
        Ok(Stats { rows: shown.collect(), total, dropped })
    }
}

/// What an event counts as, and its place among the others.
fn key(record: &Record, group: GroupBy, first: u64) -> Option<(u64, String)> {
    let name = |name: &str| Some((0, name.to_owned()));
    match group {
        GroupBy::Category => name(record.category().unwrap_or(&record.event)),
        GroupBy::Event => name(&record.event),
        GroupBy::Thread => Some((0, record.body["threadId"].as_i64()?.to_string())),
        GroupBy::Reason => name(record.body["reason"].as_str()?),
        GroupBy::Second => {
            let second = record.time.saturating_sub(first) / 1000;
            Some((second, format!("{second} s")))
        }
        GroupBy::Hour => {
            let hour = record.time.saturating_sub(first) / 3_600_000;
            Some((hour, format!("{hour} h")))
        }
        GroupBy::Source => name(record.location()?.0),
    }
}
