//! Events by what they are.

use std::borrow::Cow;

use regex::RegexBuilder;

use super::record::Record;
use super::store::EventStore;
use crate::error::DebugError;

/// Events in one answer.
const MAX_EVENTS: usize = 500;

/// Which events are wanted; an event has to pass everything that is set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// One of these events.
    pub events: Vec<String>,
    /// Output of one of these categories.
    pub categories: Vec<String>,
    /// A stop for one of these reasons.
    pub reasons: Vec<String>,
    /// Of this thread, as the adapter numbers it.
    pub thread: Option<i64>,
    /// Its text has one of these, whatever the case.
    pub include: Vec<String>,
    /// Its text has none of these, whatever the case.
    pub exclude: Vec<String>,
    /// About one of these sources, by a part of the path.
    pub sources: Vec<String>,
    /// The least and the greatest length of its text, in characters.
    pub length: (usize, Option<usize>),
    /// A regular expression that the event's body, as text, matches.
    pub text: Option<String>,
    /// After this event.
    pub after: Option<u64>,
    /// Before this event.
    pub before: Option<u64>,
    /// Not before this time, in milliseconds since 1970.
    pub from_time: Option<u64>,
    /// Not after this time.
    pub to_time: Option<u64>,
    /// How many, the last ones; 0 for as many as may be.
    pub limit: usize,
}

impl EventStore {
    /// The events of a session that pass a filter, and how many there are in all.
    pub fn filter(
        &self,
        session: Option<&str>,
        filter: &EventFilter,
    ) -> Result<(Vec<Record>, usize), DebugError> {
        let text = filter.text.as_ref().map(|text| {
            RegexBuilder::new(text).case_insensitive(true).size_limit(1024 * 1024).build()
        });
        let text = text.transpose();
        let text =
            text.map_err(|error| DebugError::InvalidParams(format!("not a pattern: {error}")))?;
        let mut records: Vec<Record> = self.log(session)?.records.into();
        let one_of = |list: &[String], value: Option<&str>| {
            list.is_empty() || value.is_some_and(|value| list.iter().any(|known| known == value))
        };
        records.retain(|record| {
            one_of(&filter.events, Some(&record.event))
                && one_of(&filter.categories, record.category())
                && one_of(&filter.reasons, record.body["reason"].as_str())
                && filter.thread.is_none_or(|id| record.body["threadId"].as_i64() == Some(id))
                && filter.after.is_none_or(|after| record.seq > after)
                && filter.before.is_none_or(|before| record.seq < before)
                && filter.from_time.is_none_or(|from| record.time >= from)
                && filter.to_time.is_none_or(|to| record.time <= to)
                && has_source(&filter.sources, record)
                && has_words(filter, record)
                && text.as_ref().is_none_or(|text| text.is_match(&text_of(record)))
        });
        let total = records.len();
        let limit = if filter.limit == 0 { MAX_EVENTS } else { filter.limit.min(MAX_EVENTS) };
        records.drain(..total.saturating_sub(limit));
        Ok((records, total))
    }
}

/// The text of an output, and all of any other event.
fn text_of(record: &Record) -> Cow<'_, str> {
    match record.output() {
        Some(output) => Cow::Borrowed(output),
        None => Cow::Owned(record.body.to_string()),
    }
}

fn has_source(sources: &[String], record: &Record) -> bool {
    let path = record.location().map_or("", |(path, _)| path);
    sources.is_empty() || sources.iter().any(|source| path.contains(source.as_str()))
}

fn has_words(filter: &EventFilter, record: &Record) -> bool {
    let (least, most) = filter.length;
    if filter.include.is_empty() && filter.exclude.is_empty() && (least, most) == (0, None) {
        return true;
    }
    let text = text_of(record).to_lowercase();
    let has = |word: &String| text.contains(&word.to_lowercase());
    let length = text.trim_end().chars().count();
    (filter.include.is_empty() || filter.include.iter().any(has))
        && !filter.exclude.iter().any(has)
        && length >= least
        && most.is_none_or(|most| length <= most)
}
