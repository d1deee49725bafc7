//! `dap.*` and `debug.tracker`: questions to the event store.
//!
//! Finished sessions are in files, so a question is answered beside the runtime ([`ask`]), a few at a time.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::json;
use termbridge_dap::DebugError;
use termbridge_dap::events::{
    CompareBy, EventFilter, EventStore, ExceptionEntry, ExceptionQuery, Granularity, GroupBy,
    LogLine, LogQuery, Record, SearchQuery, Stats, TimelineQuery,
};

use super::{NativeDebugger, view};
use crate::debug::DebugFailure;
use crate::debug::answer::{
    self, Answer, Comparison, Difference, Entries, EntryRecord, Group, HowEnded, LogEntry, Match,
    Matches, Moment, Output, Place, Repeated, RunSummary, Runs, TrackedRun, Visited,
};

/// Events that mark where a session is, for a timeline of milestones.
const MILESTONES: [&str; 7] =
    ["initialized", "process", "stopped", "stopLocation", "exceptionInfo", "exited", "ended"];
/// The session that stands for all, in `dap.stats`.
const ALL_SESSIONS: &str = "all";

/// Questions that are answered at once, each over at most two sessions' records.
pub(super) const MAX_QUESTIONS: usize = 4;

/// Answers a question on a thread that may block. The place is given back when the answer is made, also
/// when nobody waits for it any more.
pub(super) async fn ask<A: Send + 'static>(
    native: &NativeDebugger,
    asked: A,
    answer: fn(&EventStore, A) -> Result<Answer, DebugFailure>,
) -> Result<Answer, DebugFailure> {
    let internal = |error: String| DebugFailure::new("E_INTERNAL", error);
    let place = native.questions().acquire_owned().await;
    let place = place.map_err(|error| internal(error.to_string()))?;
    let store = native.debugger().events().clone();
    let answered = tokio::task::spawn_blocking(move || {
        let answer = answer(&store, asked);
        drop(place);
        answer
    });
    answered.await.map_err(|error| internal(error.to_string()))?
}

pub(super) fn tracker(store: &EventStore) -> Answer {
    let tracker = store.tracker();
    let runs = tracker.sessions.into_iter().map(|run| TrackedRun {
        session_id: run.label.id,
        name: run.label.name,
        adapter: run.label.adapter,
        live: run.live,
        events: run.records,
        dropped: dropped(run.dropped),
        started_at: run.span.map(|(first, _)| first),
        ended_at: run.span.filter(|_| !run.live).map(|(_, last)| last),
    });
    let sessions: Vec<_> = runs.collect();
    let folder = tracker.folder.map(|folder| folder.to_string_lossy().into_owned());
    Answer::Runs(Runs { total: sessions.len(), sessions, folder })
}

/// A number that matters only when it is not zero.
fn dropped(count: u64) -> Option<u64> {
    (count > 0).then_some(count)
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Logs {
    session_id: Option<String>,
    count: usize,
    category: String,
    search: Option<String>,
    since: Option<i64>,
    reverse: bool,
    show_source: bool,
}

pub(super) fn logs(store: &EventStore, asked: Logs) -> Result<Answer, DebugFailure> {
    let logs = store.logs(&LogQuery {
        session: asked.session_id,
        count: asked.count,
        category: category(Some(asked.category)),
        search: asked.search,
        since: asked.since.map(time),
        reverse: asked.reverse,
    })?;
    let entries = logs.lines.into_iter().map(|entry| line(entry, asked.show_source));
    let (entries, dropped) = (entries.collect(), dropped(logs.dropped));
    Ok(Answer::Logs(answer::Logs { entries, total: logs.total, dropped }))
}

fn category(name: Option<String>) -> Option<String> {
    name.filter(|name| name != "all")
}

/// A time in milliseconds since 1970; what is negative counts back from now.
fn time(given: i64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64;
    let time = if given < 0 { now.saturating_add(given) } else { given };
    time.max(0) as u64
}

fn line(line: LogLine, with_source: bool) -> LogEntry {
    let source = line.location.filter(|_| with_source);
    LogEntry {
        seq: Some(line.seq),
        time: line.time,
        category: line.category,
        text: line.text,
        source: source.map(|(path, number)| format!("{path}:{number}")),
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Search {
    pattern: String,
    session_id: Option<String>,
    category: Option<String>,
    context_lines: usize,
    limit: usize,
    case_sensitive: bool,
}

pub(super) fn search(store: &EventStore, asked: Search) -> Result<Answer, DebugFailure> {
    let found = store.search(&SearchQuery {
        pattern: asked.pattern,
        session: asked.session_id,
        category: category(asked.category),
        context_lines: asked.context_lines,
        limit: asked.limit,
        case_sensitive: asked.case_sensitive,
    })?;
    let matches = found.hits.into_iter().map(|hit| Match {
        seq: Some(hit.line.seq),
        category: hit.line.category,
        text: hit.line.text,
        before: texts(hit.before),
        after: texts(hit.after),
    });
    Ok(Answer::Matches(Matches { matches: matches.collect(), total: found.total }))
}

fn texts(lines: Vec<LogLine>) -> Vec<String> {
    lines.into_iter().map(|line| line.text).collect()
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exceptions {
    session_id: Option<String>,
    count: usize,
    with_context: bool,
    context_lines: usize,
}

pub(super) fn exceptions(store: &EventStore, asked: Exceptions) -> Result<Answer, DebugFailure> {
    let all = ExceptionQuery { session: asked.session_id, count: 0, context_lines: 0 };
    let total = store.exceptions(&all)?.len();
    let context_lines = if asked.with_context { asked.context_lines } else { 0 };
    let query = ExceptionQuery { count: asked.count, context_lines, ..all };
    let exceptions = store.exceptions(&query)?;
    let exceptions = exceptions.into_iter().map(exception).collect();
    Ok(Answer::Exceptions(answer::Exceptions { exceptions, total }))
}

fn exception(entry: ExceptionEntry) -> answer::ExceptionEntry {
    answer::ExceptionEntry {
        seq: Some(entry.seq),
        time: Some(entry.time),
        kind: entry.id,
        message: entry.message,
        location: entry.location.map(|(path, line)| Place::line(path, line)),
        stack: entry.stack,
        context: texts(entry.context),
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Filter {
    filters: Filters,
    session_id: Option<String>,
}

/// The criteria of the published extension, and some of ours.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Filters {
    categories: Vec<String>,
    include: Vec<String>,
    exclude: Vec<String>,
    sources: Vec<String>,
    time_range: TimeRange,
    min_length: usize,
    max_length: Option<usize>,
    events: Vec<String>,
    reasons: Vec<String>,
    thread_id: Option<i64>,
    text: Option<String>,
    after: Option<u64>,
    before: Option<u64>,
    limit: usize,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TimeRange {
    start: Option<i64>,
    end: Option<i64>,
}

pub(super) fn filter(store: &EventStore, asked: Filter) -> Result<Answer, DebugFailure> {
    let wanted = asked.filters;
    let filter = EventFilter {
        events: wanted.events,
        categories: wanted.categories,
        reasons: wanted.reasons,
        thread: wanted.thread_id,
        include: wanted.include,
        exclude: wanted.exclude,
        sources: wanted.sources,
        length: (wanted.min_length, wanted.max_length),
        text: wanted.text,
        after: wanted.after,
        before: wanted.before,
        from_time: wanted.time_range.start.map(time),
        to_time: wanted.time_range.end.map(time),
        limit: wanted.limit,
    };
    let (records, total) = store.filter(asked.session_id.as_deref(), &filter)?;
    let entries = records.into_iter().map(|record: Record| EntryRecord {
        seq: Some(record.seq),
        time: record.time,
        event: record.event,
        body: record.body,
    });
    Ok(Answer::Entries(Entries { entries: entries.collect(), total }))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Counts {
    session_id: Option<String>,
    group_by: String,
    include_charts: bool,
}

pub(super) fn stats(store: &EventStore, asked: Counts) -> Result<Answer, DebugFailure> {
    if asked.session_id.as_deref() == Some(ALL_SESSIONS) || asked.group_by == "session" {
        return Ok(by_session(store));
    }
    let group = match asked.group_by.as_str() {
        "source" => GroupBy::Source,
        "hour" => GroupBy::Hour,
        "event" => GroupBy::Event,
        "thread" => GroupBy::Thread,
        "reason" => GroupBy::Reason,
        "second" => GroupBy::Second,
        _ => GroupBy::Category,
    };
    let stats = store.stats(asked.session_id.as_deref(), group)?;
    let chart = asked.include_charts.then(|| chart(&stats));
    let groups = stats.rows.iter().map(|row| {
        let share = row.count as f64 / (stats.total.max(1) as f64);
        Group {
            key: row.key.clone(),
            name: None,
            count: row.count,
            bytes: Some(row.bytes),
            share: Some((share * 1000.0).round() / 1000.0),
        }
    });
    Ok(Answer::Stats(answer::Stats {
        groups: groups.collect(),
        total: stats.total,
        dropped: dropped(stats.dropped),
        chart,
    }))
}

fn by_session(store: &EventStore) -> Answer {
    let runs = store.tracker().sessions;
    let total = runs.iter().map(|run| run.records as u64).sum();
    let groups = runs.into_iter().map(|run| Group {
        key: run.label.id,
        name: Some(run.label.name),
        count: run.records as u64,
        bytes: None,
        share: None,
    });
    let groups = groups.collect();
    Answer::Stats(answer::Stats { groups, total, dropped: None, chart: None })
}

fn chart(stats: &Stats) -> String {
    let width = stats.rows.iter().map(|row| row.key.chars().count()).max().unwrap_or(0);
    let rows = stats.rows.iter().map(|row| {
        let (key, bar, count) = (&row.key, &row.bar, row.count);
        format!("{key:<width$}  {bar} {count}")
    });
    rows.collect::<Vec<_>>().join("\n")
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Summarise {
    session_id: Option<String>,
    compact: bool,
}

pub(super) fn summary(store: &EventStore, asked: Summarise) -> Result<Answer, DebugFailure> {
    let summary = store.summary(asked.session_id.as_deref())?;
    let status = if summary.ended.is_some() { "ended" } else { "active" };
    let exceptions = summary.exceptions.into_iter();
    let exceptions: Vec<_> = exceptions.map(|(what, count)| Repeated { what, count }).collect();
    let next = match (summary.ended.is_some(), exceptions.is_empty()) {
        (_, false) => vec!["dap_exceptions"],
        (true, true) => vec!["dap_logs", "debug_restart"],
        (false, true) => vec!["debug_status", "debug_wait_for_hit"],
    };
    let places = summary.places.into_iter();
    let places = places.map(|(path, line, count)| Visited { path, line, count }).collect();
    let whole = !asked.compact;
    Ok(Answer::Summary(Box::new(RunSummary {
        session_id: summary.label.id,
        status,
        exit: summary.ended.map(|how| HowEnded { how }),
        exceptions,
        output: Output { lines: summary.output, last: texts(summary.last_lines) },
        next,
        name: whole.then_some(summary.label.name),
        adapter: whole.then_some(summary.label.adapter),
        duration_ms: whole.then_some(summary.duration),
        events: whole.then_some(summary.events),
        stops: whole.then_some(summary.stops),
        places: whole.then_some(places),
    })))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Timeline {
    session_id: Option<String>,
    #[serde(default)]
    event_types: Vec<String>,
    window: Option<u64>,
    granularity: String,
    from_end: bool,
}

pub(super) fn timeline(store: &EventStore, asked: Timeline) -> Result<Answer, DebugFailure> {
    let mut events: Vec<String> = asked.event_types.iter().map(|name| event_name(name)).collect();
    if events.is_empty() && asked.granularity == "milestones" {
        events = MILESTONES.map(str::to_owned).to_vec();
    }
    let granularity = match asked.granularity.as_str() {
        "summary" => Granularity::Second,
        _ => Granularity::All,
    };
    let query = TimelineQuery {
        session: asked.session_id,
        events,
        window: asked.window,
        from_end: asked.from_end,
        granularity,
        limit: 0,
    };
    let (entries, total) = store.timeline(&query)?;
    let events = entries.into_iter().map(|entry| Moment {
        time: entry.at,
        seq: Some(entry.seq),
        kind: entry.event,
        text: entry.text,
        count: (entry.count > 1).then_some(entry.count),
    });
    Ok(Answer::Timeline(answer::Timeline { events: events.collect(), total }))
}

/// The published extension's words for what DAP calls otherwise.
fn event_name(name: &str) -> String {
    match name {
        "exception" => "exceptionInfo",
        "exit" => "exited",
        other => other,
    }
    .to_owned()
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Compare {
    session_a: String,
    session_b: String,
    compare_by: String,
}

pub(super) fn compare(store: &EventStore, asked: Compare) -> Result<Answer, DebugFailure> {
    let by = match asked.compare_by.as_str() {
        "exceptions" => CompareBy::Exceptions,
        "timeline" => CompareBy::Timeline,
        "outputs" => CompareBy::Outputs,
        _ => CompareBy::Counts,
    };
    if asked.session_a == asked.session_b {
        let message = "sessionA and sessionB are the same session".to_owned();
        return Err(DebugError::InvalidParams(message).into());
    }
    let compared = store.compare(&asked.session_a, &asked.session_b, by)?;
    let (mut only_a, mut only_b, mut different, mut same) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for row in &compared.rows {
        let named = |value: &str| match row.key.is_empty() {
            true => json!(value),
            false => json!({"key": row.key, "value": value}),
        };
        match (&row.a, &row.b) {
            (a, b) if a == b => same += 1,
            (Some(a), None) => only_a.push(named(a)),
            (None, Some(b)) => only_b.push(named(b)),
            (a, b) => {
                different.push(Difference { key: row.key.clone(), a: a.clone(), b: b.clone() });
            }
        }
    }
    Ok(Answer::Comparison(Comparison {
        only_a,
        only_b,
        different,
        same,
        differences: compared.differences,
        left_out: view::count(compared.left_out),
    }))
}
