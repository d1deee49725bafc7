//! `dap.*` and `debug.tracker`: questions to the event store.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::{Value, json};
use termbridge_dap::DebugError;
use termbridge_dap::events::{
    CompareBy, EventFilter, EventStore, ExceptionEntry, ExceptionQuery, Granularity, GroupBy,
    LogLine, LogQuery, Record, SearchQuery, Stats, TimelineQuery,
};

use super::{NativeDebugger, view};
use crate::debug::DebugFailure;

/// Events that mark where a session is, for a timeline of milestones.
const MILESTONES: [&str; 7] =
    ["initialized", "process", "stopped", "stopLocation", "exceptionInfo", "exited", "ended"];
/// The session that stands for all, in `dap.stats`.
const ALL_SESSIONS: &str = "all";

fn store(native: &NativeDebugger) -> &EventStore {
    native.debugger().events()
}

pub(super) fn tracker(native: &NativeDebugger) -> Value {
    let tracker = store(native).tracker();
    let sessions: Vec<Value> = tracker
        .sessions
        .iter()
        .map(|session| {
            view::present([
                ("sessionId", json!(session.label.id)),
                ("name", json!(session.label.name)),
                ("adapter", json!(session.label.adapter)),
                ("live", json!(session.live)),
                ("events", json!(session.records)),
                ("dropped", view::count(session.dropped as usize)),
                ("startedAt", json!(session.span.map(|(first, _)| first))),
                ("endedAt", json!(session.span.filter(|_| !session.live).map(|(_, last)| last))),
            ])
        })
        .collect();
    view::present([
        ("total", json!(sessions.len())),
        ("sessions", json!(sessions)),
        ("folder", json!(tracker.folder)),
    ])
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

pub(super) fn logs(native: &NativeDebugger, asked: Logs) -> Result<Value, DebugFailure> {
    let logs = store(native).logs(&LogQuery {
        session: asked.session_id,
        count: asked.count,
        category: category(Some(asked.category)),
        search: asked.search,
        since: asked.since.map(time),
        reverse: asked.reverse,
    })?;
    let show = |entry| line(entry, asked.show_source);
    Ok(view::present([
        ("entries", logs.lines.iter().map(show).collect()),
        ("total", json!(logs.total)),
        ("dropped", view::count(logs.dropped as usize)),
    ]))
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

fn line(line: &LogLine, with_source: bool) -> Value {
    let source = line.location.as_ref().filter(|_| with_source);
    view::present([
        ("seq", json!(line.seq)),
        ("time", json!(line.time)),
        ("category", json!(line.category)),
        ("text", json!(line.text)),
        ("source", json!(source.map(|(path, number)| format!("{path}:{number}")))),
    ])
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

pub(super) fn search(native: &NativeDebugger, asked: Search) -> Result<Value, DebugFailure> {
    let found = store(native).search(&SearchQuery {
        pattern: asked.pattern,
        session: asked.session_id,
        category: category(asked.category),
        context_lines: asked.context_lines,
        limit: asked.limit,
        case_sensitive: asked.case_sensitive,
    })?;
    let texts = |lines: &[LogLine]| -> Value {
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        if texts.is_empty() { Value::Null } else { json!(texts) }
    };
    let matches = found.hits.iter().map(|hit| {
        view::present([
            ("seq", json!(hit.line.seq)),
            ("category", json!(hit.line.category)),
            ("text", json!(hit.line.text)),
            ("before", texts(&hit.before)),
            ("after", texts(&hit.after)),
        ])
    });
    Ok(json!({"matches": matches.collect::<Vec<_>>(), "total": found.total}))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exceptions {
    session_id: Option<String>,
    count: usize,
    with_context: bool,
    context_lines: usize,
}

pub(super) fn exceptions(
    native: &NativeDebugger,
    asked: Exceptions,
) -> Result<Value, DebugFailure> {
    let all = ExceptionQuery { session: asked.session_id, count: 0, context_lines: 0 };
    let total = store(native).exceptions(&all)?.len();
    let context_lines = if asked.with_context { asked.context_lines } else { 0 };
    let query = ExceptionQuery { count: asked.count, context_lines, ..all };
    let exceptions = store(native).exceptions(&query)?;
    Ok(json!({"exceptions": exceptions.iter().map(exception).collect::<Vec<_>>(), "total": total}))
}

fn exception(entry: &ExceptionEntry) -> Value {
    let context: Vec<&str> = entry.context.iter().map(|line| line.text.as_str()).collect();
    let place = entry.location.as_ref();
    view::present([
        ("seq", json!(entry.seq)),
        ("time", json!(entry.time)),
        ("type", json!(entry.id)),
        ("message", json!(entry.message)),
        ("location", json!(place.map(|(path, line)| json!({"path": path, "line": line})))),
        ("stack", json!(entry.stack)),
        ("context", if context.is_empty() { Value::Null } else { json!(context) }),
    ])
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

pub(super) fn filter(native: &NativeDebugger, asked: Filter) -> Result<Value, DebugFailure> {
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
    let (records, total) = store(native).filter(asked.session_id.as_deref(), &filter)?;
    Ok(json!({"entries": records.iter().map(record).collect::<Vec<_>>(), "total": total}))
}

fn record(record: &Record) -> Value {
    json!({"seq": record.seq, "time": record.time, "event": record.event, "body": record.body})
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Counts {
    session_id: Option<String>,
    group_by: String,
    include_charts: bool,
}

pub(super) fn stats(native: &NativeDebugger, asked: Counts) -> Result<Value, DebugFailure> {
    if asked.session_id.as_deref() == Some(ALL_SESSIONS) || asked.group_by == "session" {
        return Ok(by_session(native));
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
    let stats = store(native).stats(asked.session_id.as_deref(), group)?;
    let chart = asked.include_charts.then(|| chart(&stats));
    let groups = stats.rows.iter().map(|row| {
        let share = row.count as f64 / (stats.total.max(1) as f64);
        let share = (share * 1000.0).round() / 1000.0;
        json!({"key": row.key, "count": row.count, "bytes": row.bytes, "share": share})
    });
    Ok(view::present([
        ("groups", groups.collect()),
        ("total", json!(stats.total)),
        ("dropped", view::count(stats.dropped as usize)),
        ("chart", json!(chart)),
    ]))
}

fn by_session(native: &NativeDebugger) -> Value {
    let sessions = store(native).tracker().sessions;
    let total: usize = sessions.iter().map(|session| session.records).sum();
    let groups: Vec<Value> = sessions
        .iter()
        .map(|session| {
            let (key, name) = (&session.label.id, &session.label.name);
            json!({"key": key, "name": name, "count": session.records})
        })
        .collect();
    json!({"groups": groups, "total": total})
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

pub(super) fn summary(native: &NativeDebugger, asked: Summarise) -> Result<Value, DebugFailure> {
    let summary = store(native).summary(asked.session_id.as_deref())?;
    let status = if summary.ended.is_some() { "ended" } else { "active" };
    let exceptions: Vec<Value> = summary
        .exceptions
        .iter()
        .map(|(what, count)| json!({"what": what, "count": count}))
        .collect();
    let last: Vec<&str> = summary.last_lines.iter().map(|line| line.text.as_str()).collect();
    let next: &[&str] = match (summary.ended.is_some(), exceptions.is_empty()) {
        (_, false) => &["dap_exceptions"],
        (true, true) => &["dap_logs", "debug_restart"],
        (false, true) => &["debug_status", "debug_wait_for_hit"],
    };
    let id = &summary.label.id;
    let mut shown = view::present([
        ("sessionId", json!(id)),
        ("status", json!(status)),
        ("exit", json!(summary.ended.as_ref().map(|how| json!({"how": how})))),
        ("exceptions", json!(exceptions)),
        ("output", json!({"lines": summary.output, "last": last})),
        ("next", json!(next)),
    ]);
    if !asked.compact {
        let places = summary
            .places
            .iter()
            .map(|(path, line, count)| json!({"path": path, "line": line, "count": count}));
        shown["name"] = json!(summary.label.name);
        shown["adapter"] = json!(summary.label.adapter);
        shown["durationMs"] = json!(summary.duration);
        shown["events"] = json!(summary.events);
        shown["stops"] = json!(summary.stops);
        shown["places"] = places.collect();
    }
    Ok(shown)
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

pub(super) fn timeline(native: &NativeDebugger, asked: Timeline) -> Result<Value, DebugFailure> {
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
    let (entries, total) = store(native).timeline(&query)?;
    let events = entries.iter().map(|entry| {
        view::present([
            ("time", json!(entry.at)),
            ("seq", json!(entry.seq)),
            ("type", json!(entry.event)),
            ("text", json!(entry.text)),
            ("count", json!((entry.count > 1).then_some(entry.count))),
        ])
    });
    Ok(json!({"events": events.collect::<Vec<_>>(), "total": total}))
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

pub(super) fn compare(native: &NativeDebugger, asked: Compare) -> Result<Value, DebugFailure> {
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
    let compared = store(native).compare(&asked.session_a, &asked.session_b, by)?;
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
            (a, b) => different.push(json!({"key": row.key, "a": a, "b": b})),
        }
    }
    Ok(view::present([
        ("onlyA", json!(only_a)),
        ("onlyB", json!(only_b)),
        ("different", json!(different)),
        ("same", json!(same)),
        ("differences", json!(compared.differences)),
        ("leftOut", view::count(compared.left_out)),
    ]))
}
