//! Runs that were recorded: what they printed, raised and did.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::Place;

/// `dap.logs`
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Logs {
    /// Lines of output.
    pub entries: Vec<LogEntry>,
    /// How many matched.
    pub total: usize,
    /// Events that were not kept.
    pub dropped: Option<u64>,
}

/// A line of output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogEntry {
    /// Its number in the run.
    pub seq: Option<u64>,
    /// Milliseconds since 1970.
    pub time: u64,
    /// stdout, stderr, console.
    pub category: String,
    /// The line.
    pub text: String,
    /// `path:line` of what printed it.
    pub source: Option<String>,
}

/// `dap.search`
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Matches {
    /// Lines that match.
    pub matches: Vec<Match>,
    /// How many do.
    pub total: usize,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Match {
    /// Its number in the run.
    pub seq: Option<u64>,
    /// stdout, stderr, console.
    pub category: String,
    /// The line.
    pub text: String,
    /// Lines before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Lines after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// `dap.exceptions`
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exceptions {
    /// The latest.
    pub exceptions: Vec<ExceptionEntry>,
    /// How many there are.
    pub total: usize,
}

/// An exception of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExceptionEntry {
    /// Its number in the run.
    pub seq: Option<u64>,
    /// Milliseconds since 1970.
    pub time: Option<u64>,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// What it says.
    pub message: Option<String>,
    /// Where it was raised.
    pub location: Option<Place>,
    /// Its stack.
    pub stack: Option<String>,
    /// Output before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
}

/// `dap.filter`
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entries {
    /// Events.
    pub entries: Vec<EntryRecord>,
    /// How many matched.
    pub total: usize,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EntryRecord {
    /// Its number in the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Milliseconds since 1970.
    pub time: u64,
    /// Its name.
    pub event: String,
    /// As the adapter sent it.
    pub body: Value,
}

/// `dap.stats`
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    /// The groups.
    pub groups: Vec<Group>,
    /// Events in all.
    pub total: u64,
    /// Events that were not kept.
    pub dropped: Option<u64>,
    /// As bars.
    pub chart: Option<String>,
}

/// Events of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The kind.
    pub key: String,
    /// A name for it.
    pub name: Option<String>,
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: Option<u64>,
    /// Of all, from 0 to 1.
    pub share: Option<f64>,
}

/// `dap.summary`
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// The run.
    pub session_id: String,
    /// active or ended.
    pub status: &'static str,
    /// How it ended.
    pub exit: Option<HowEnded>,
    /// Exceptions.
    pub exceptions: Vec<Repeated>,
    /// Output.
    pub output: Output,
    /// Tools worth calling.
    pub next: Vec<&'static str>,
    /// What ran.
    pub name: Option<String>,
    /// Who served it.
    pub adapter: Option<String>,
    /// For how long.
    pub duration_ms: Option<u64>,
    /// How many events.
    pub events: Option<usize>,
    /// How many stops, by reason.
    pub stops: Option<BTreeMap<String, usize>>,
    /// Where it stopped.
    pub places: Option<Vec<Visited>>,
}

/// Something that happened so often.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repeated {
    /// What.
    pub what: String,
    /// How often.
    pub count: usize,
}

/// A place where a run stopped.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Visited {
    /// The file.
    pub path: String,
    /// The line.
    pub line: u64,
    /// How often.
    pub count: usize,
}

/// What a run printed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Output {
    /// How many lines of which category.
    pub lines: BTreeMap<String, usize>,
    /// The last.
    pub last: Vec<String>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HowEnded {
    /// In words.
    pub how: String,
}

/// `dap.timeline`
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timeline {
    /// What happened, in order.
    pub events: Vec<Moment>,
    /// How much.
    pub total: usize,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moment {
    /// Milliseconds since the run began.
    pub time: u64,
    /// Its number in the run.
    pub seq: Option<u64>,
    /// What kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// In words.
    pub text: String,
    /// How often.
    pub count: Option<usize>,
}

/// `dap.compare`
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Only in the first.
    pub only_a: Vec<Value>,
    /// Only in the second.
    pub only_b: Vec<Value>,
    /// Not the same in both.
    pub different: Vec<Difference>,
    /// How much is the same.
    pub same: usize,
    /// How much is not.
    pub differences: usize,
    /// How much of that is not shown.
    pub left_out: Option<usize>,
}

/// What is not the same in two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// What.
    pub key: String,
    /// In the first.
    pub a: Option<String>,
    /// In the second.
    pub b: Option<String>,
}

/// `debug.tracker`
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Runs {
    /// How many.
    pub total: usize,
    /// The runs.
    pub sessions: Vec<TrackedRun>,
    /// Where they are kept.
    pub folder: Option<String>,
}

/// A run that was recorded.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrackedRun {
    /// Its name in the other tools.
    pub session_id: String,
    /// What ran.
    pub name: String,
    /// Who served it.
    pub adapter: String,
    /// Whether it goes on.
    pub live: bool,
    /// How many events.
    pub events: usize,
    /// Events that were not kept.
    pub dropped: Option<u64>,
    /// Milliseconds since 1970.
    pub started_at: Option<u64>,
    /// Milliseconds since 1970.
    pub ended_at: Option<u64>,
}
