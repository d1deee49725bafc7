//! [`Answer`]: what scripts answer, in the shapes that the catalogue promises. Both backends make these,
//! and this is where they become JSON.

mod events;
mod program;

use serde::Serialize;
use serde_json::Value;
use termbridge_code::diagnostics::Findings;
use termbridge_code::symbols::{Calls, Locations, Renamed, ReplacedMethod, Symbols};

pub use self::events::{
    Comparison, Difference, Entries, EntryRecord, ExceptionEntry, Exceptions, Group, HowEnded,
    LogEntry, Logs, Match, Matches, Moment, Output, Repeated, RunSummary, Runs, Stats, Timeline,
    TrackedRun, Visited,
};
pub use self::program::{
    Breakpoint, DataChange, End, Exception, Exit, Frame, Halt, Location, Page, Place, Saved, Scope,
    ScopeRest, SessionView, Stack, Started, Starting, Status, Stop, TestFacts, Thread, Threads,
    Variable, Variables, marked,
};

/// What a script answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// `breakpoint.set`
    Breakpoint {
        /// With its true state.
        breakpoint: Box<Breakpoint>,
    },
    /// `breakpoint.list`
    Breakpoints {
        /// All.
        breakpoints: Vec<Breakpoint>,
        /// How many.
        total: usize,
    },
    /// `breakpoint.remove`
    Removed {
        /// Whether there was one.
        removed: bool,
    },
    /// `breakpoint.clear.*`
    Cleared {
        /// How many.
        cleared: usize,
    },
    /// `debug.start`, `debug.attach`, `debug.restart`
    Started(Box<Started>),
    /// A start that takes longer than its call waited.
    Starting(Starting),
    /// A program that was let go.
    Running {
        /// `running`.
        state: &'static str,
        /// The session.
        #[serde(rename = "sessionId")]
        session_id: String,
    },
    /// A stop or an end.
    Halt(Halt),
    /// `debug.status`
    Status(Status),
    /// `debug.stack`
    Stack(Stack),
    /// `debug.threads`
    Threads(Threads),
    /// `debug.scopes`
    Scopes {
        /// Of the frame.
        scopes: Vec<Scope>,
    },
    /// `debug.evaluate`
    Evaluated(Evaluated),
    /// `debug.list-variables`
    Variables(Variables),
    /// `debug.get-variable`
    Page(Page),
    /// `debug.set-variable`
    Set(Variable),
    /// `debug.save-variable`
    Saved(Saved),
    /// `debug.tracker`
    Runs(Runs),
    /// `dap.logs`
    Logs(Logs),
    /// `dap.search`
    Matches(Matches),
    /// `dap.exceptions`
    Exceptions(Exceptions),
    /// `dap.filter`
    Entries(Entries),
    /// `dap.stats`
    Stats(Stats),
    /// `dap.summary`
    Summary(Box<RunSummary>),
    /// `dap.timeline`
    Timeline(Timeline),
    /// `dap.compare`
    Comparison(Comparison),
    /// `diagnostic.collect`
    Diagnostics(Findings),
    /// `symbol.navigate`
    Locations(Locations),
    /// `symbol.calls`
    Calls(Calls),
    /// `symbol.rename`
    Renamed(Renamed),
    /// `code.replace-method`
    Replaced(ReplacedMethod),
    /// `search.symbol-search`
    Symbols(Symbols),
    /// Scripts that only tell something, and those of a workspace: in their own shape.
    Other(Value),
}

/// The value of an expression.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluated {
    /// As text.
    pub result: String,
    /// How many bytes of it were cut.
    pub cut: Option<usize>,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The reference of its parts; 0 when it has none.
    pub variables_reference: u64,
    /// How many parts have a name.
    pub named_variables: Option<u64>,
    /// How many parts have an index.
    pub indexed_variables: Option<u64>,
}

impl Answer {
    /// As JSON: what is not known is left out.
    pub fn to_json(&self) -> Value {
        let mut json = serde_json::to_value(self).unwrap_or_default();
        // What others made is as they made it.
        if !matches!(self, Self::Other(_) | Self::Entries(_)) {
            leave_out_nulls(&mut json);
        }
        json
    }
}

fn leave_out_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(leave_out_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(leave_out_nulls),
        _ => {}
    }
}
