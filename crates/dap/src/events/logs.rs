//! Output as lines: read, searched.

use regex::RegexBuilder;

use super::record::{Record, cut_text};
use super::store::{EventStore, Log};
use crate::error::DebugError;

/// Lines in one answer.
const MAX_LINES: usize = 1000;
/// Bytes of one line.
const MAX_LINE: usize = 4 * 1024;
/// Bytes of a pattern once it is compiled.
const MAX_PATTERN: usize = 1024 * 1024;

/// A line of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// The number of the event that ended it.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub time: u64,
    /// `stdout`, `stderr`, `console` or what else the adapter says.
    pub category: String,
    /// The line, perhaps cut.
    pub text: String,
    /// Where it was written, where the adapter says so.
    pub location: Option<(String, u64)>,
}

/// Which lines are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogQuery {
    /// The session; without one that which began last.
    pub session: Option<String>,
    /// How many lines, the last ones; 0 for as many as may be.
    pub count: usize,
    /// Only of this category.
    pub category: Option<String>,
    /// Only those that contain this, whatever the case.
    pub search: Option<String>,
    /// Only those since this time, in milliseconds since 1970.
    pub since: Option<u64>,
    /// The latest first.
    pub reverse: bool,
}

/// Lines of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logs {
    /// The lines.
    pub lines: Vec<LogLine>,
    /// How many there are in all.
    pub total: usize,
    /// Events that are not held any more.
    pub dropped: u64,
}

/// What is searched for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// A regular expression.
    pub pattern: String,
    /// The session; without one that which began last.
    pub session: Option<String>,
    /// Only in this category.
    pub category: Option<String>,
    /// Lines before and after each hit.
    pub context_lines: usize,
    /// Hits in the answer; 0 for as many as may be.
    pub limit: usize,
    /// Whether case matters.
    pub case_sensitive: bool,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// The line.
    pub line: LogLine,
    /// Those before it.
    pub before: Vec<LogLine>,
    /// Those after it.
    pub after: Vec<LogLine>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResult {
    /// The first hits.
    pub hits: Vec<SearchHit>,
    /// How many there are in all.
    pub total: usize,
}

impl EventStore {
    /// Output of a session.
    pub fn logs(&self, query: &LogQuery) -> Result<Logs, DebugError> {
        let log = self.log(query.session.as_deref())?;
        let search = query.search.as_ref().map(|search| search.to_lowercase());
        let mut lines = lines(&log);
        lines.retain(|line| {
            query.category.as_ref().is_none_or(|category| *category == line.category)
                && query.since.is_none_or(|since| line.time >= since)
                && search.as_ref().is_none_or(|text| line.text.to_lowercase().contains(text))
        });
        let total = lines.len();
        let count = if query.count == 0 { MAX_LINES } else { query.count.min(MAX_LINES) };
        lines.drain(..total.saturating_sub(count));
        if query.reverse {
            lines.reverse();
        }
        Ok(Logs { lines, total, dropped: log.dropped() })
    }

    /// Lines of a session's output that match a pattern.
    pub fn search(&self, query: &SearchQuery) -> Result<SearchResult, DebugError> {
        let pattern = RegexBuilder::new(&query.pattern)
            .case_insensitive(!query.case_sensitive)
            .size_limit(MAX_PATTERN)
            .build()
            .map_err(|error| DebugError::InvalidParams(format!("not a pattern: {error}")))?;
        let mut lines = lines(&self.log(query.session.as_deref())?);
        lines.retain(|line| {
            query.category.as_ref().is_none_or(|category| *category == line.category)
        });
        let matching: Vec<usize> =
            (0..lines.len()).filter(|index| pattern.is_match(&lines[*index].text)).collect();
        let limit = if query.limit == 0 { MAX_LINES } else { query.limit.min(MAX_LINES) };
        let hit = |index: &usize| SearchHit {
            line: lines[*index].clone(),
            before: lines[index.saturating_sub(query.context_lines)..*index].to_vec(),
            after: lines[index + 1..lines.len().min(index + 1 + query.context_lines)].to_vec(),
        };
        let hits = matching.iter().take(limit).map(hit).collect();
        Ok(SearchResult { hits, total: matching.len() })
    }
}

/// The output of a log as lines: adapters send it in pieces, categories interleaved.
pub(super) fn lines(log: &Log) -> Vec<LogLine> {
    let mut lines = Vec::new();
    let mut open: Vec<LogLine> = Vec::new();
    for record in &log.records {
        let (Some(category), Some(output)) = (record.category(), record.output()) else { continue };
        for piece in output.split_inclusive('\n') {
            let place = open.iter().position(|line| line.category == category);
            let mut line = place.map_or_else(|| empty(record, category), |at| open.swap_remove(at));
            line.text.push_str(piece.trim_end_matches(['\n', '\r']));
            (line.seq, line.time) = (record.seq, record.time);
            if piece.ends_with('\n') {
                lines.push(finish(line));
            } else {
                open.push(line);
            }
        }
    }
    open.sort_by_key(|line| line.seq);
    lines.extend(open.into_iter().map(finish));
    lines
}

fn empty(record: &Record, category: &str) -> LogLine {
    LogLine {
        seq: record.seq,
        time: record.time,
        category: category.to_owned(),
        text: String::new(),
        location: record.location().map(|(path, line)| (path.to_owned(), line)),
    }
}

fn finish(mut line: LogLine) -> LogLine {
    if line.text.len() > MAX_LINE {
        line.text = cut_text(&line.text, MAX_LINE);
    }
    line
}
