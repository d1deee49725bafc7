//! Programs that are debugged: where they are, what they hold.

use serde::Serialize;
use termbridge_dap::SourceLine;

/// A program that stopped or ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Halt {
    /// It stopped.
    Stop(Box<Stop>),
    /// It ended.
    End(Box<End>),
}

impl Halt {
    /// `stopped` or `exited`.
    pub fn state(&self) -> &'static str {
        match self {
            Self::Stop(_) => Stop::STATE,
            Self::End(_) => End::STATE,
        }
    }

    /// Says which test it was.
    pub fn set_test(&mut self, facts: TestFacts) {
        match self {
            Self::Stop(stop) => stop.test = Some(facts),
            Self::End(end) => end.test = Some(facts),
        }
    }
}

/// Where and why a program stopped.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stop {
    /// [`Stop::STATE`].
    pub state: &'static str,
    /// The session.
    pub session_id: String,
    /// Which test it is.
    #[serde(flatten)]
    pub test: Option<TestFacts>,
    /// Conditions of breakpoints that could not be evaluated, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub condition_failures: Vec<String>,
    /// Why: breakpoint, step, exception, pause, entry.
    pub reason: String,
    /// More about it, in the adapter's words.
    pub description: Option<String>,
    /// Where.
    pub location: Option<Location>,
    /// The runtime's frame in which it was raised, where the location is the user's.
    pub raised_in: Option<Frame>,
    /// The exception that stopped it.
    pub exception: Option<Exception>,
    /// The lines around the stop, the current one marked.
    pub source: Option<String>,
    /// Variables of the frame.
    pub locals: Vec<Variable>,
    /// How many were left out.
    pub locals_left_out: Option<usize>,
    /// Whether they were not read in time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub locals_unread: bool,
    /// The top frames.
    pub frames: Vec<Frame>,
    /// How many there are.
    pub total_frames: Option<u64>,
    /// What happened to variables that are watched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data_changes: Vec<DataChange>,
    /// Breakpoints that were hit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hit_breakpoints: Vec<Place>,
    /// The thread.
    pub thread_id: Option<i64>,
    /// Its name.
    pub thread: Option<String>,
    /// How many other threads stopped at the same moment, and are reported before the program continues.
    pub waiting_threads: Option<usize>,
    /// New output.
    pub output: Option<String>,
    /// Bytes before that.
    pub output_left_out: Option<usize>,
}

impl Stop {
    /// What its state says.
    pub const STATE: &'static str = "stopped";
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct End {
    /// [`End::STATE`].
    pub state: &'static str,
    /// For `debug.stop`: whether this call ended it.
    pub stopped: Option<bool>,
    /// The session; none for one that was still being started.
    pub session_id: Option<String>,
    /// Which test it is.
    #[serde(flatten)]
    pub test: Option<TestFacts>,
    /// Conditions of breakpoints that could not be evaluated, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub condition_failures: Vec<String>,
    /// Breakpoints that had no code in this run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unbound_breakpoints: Vec<Place>,
    /// The program.
    pub program: Option<String>,
    /// How it ended.
    pub exit: Option<Exit>,
    /// New output.
    pub output: Option<String>,
    /// Bytes before that.
    pub output_left_out: Option<usize>,
}

impl End {
    /// What its state says.
    pub const STATE: &'static str = "exited";
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exit {
    /// Its exit code.
    pub code: Option<i64>,
    /// The signal that ended it.
    pub signal: Option<String>,
    /// In words.
    pub how: String,
    /// It goes on, and is no longer debugged.
    #[serde(skip)]
    pub goes_on: bool,
}

/// A test that is debugged.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TestFacts {
    /// Its name.
    pub test: String,
    /// Its line.
    pub test_line: Option<u64>,
    /// Who runs it.
    pub runner: Option<String>,
    /// What the caller has to know of it.
    #[serde(rename = "testWarning", skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// A place in a source, and the function there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Location {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1.
    pub column: Option<u64>,
    /// The function.
    pub function: String,
}

/// Where a breakpoint is: a line of a file, a function or a variable.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Place {
    /// The file.
    pub path: Option<String>,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The function.
    pub function: Option<String>,
    /// The variable.
    pub variable: Option<String>,
    /// What is done with that: write, read, readWrite.
    pub access: Option<&'static str>,
}

impl Place {
    /// A line of a file.
    pub fn line(path: impl Into<String>, line: u64) -> Self {
        Self { path: Some(path.into()), line: Some(line), ..Self::default() }
    }
}

/// What happened to a variable that is watched.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DataChange {
    /// The variable.
    pub variable: String,
    /// It is watched for nothing but being written.
    #[serde(skip)]
    pub written: bool,
    /// What it was.
    pub old: Option<String>,
    /// What it is.
    pub new: Option<String>,
    /// The function that it was of, where that has returned.
    pub returned: Option<String>,
}

/// An exception.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exception {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it says.
    pub message: Option<String>,
    /// Its stack.
    pub stack: Option<String>,
}

/// A frame of a stack.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Frame {
    /// What scopes and evaluations take.
    pub id: u64,
    /// The function.
    pub name: String,
    /// The file.
    pub path: Option<String>,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The column, from 1.
    pub column: Option<u64>,
    /// Whether it is the runtime's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub subtle: bool,
}

/// A variable and, in a tree, what is inside it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    /// In a tree: the scope it is of.
    pub scope: Option<String>,
    /// Its name; none for a value alone.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its value.
    pub value: String,
    /// How many bytes of that were cut.
    pub cut: Option<usize>,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The reference of its parts, if it has any.
    pub variables_reference: Option<u64>,
    /// How many parts have a name.
    pub named_variables: Option<u64>,
    /// How many parts have an index.
    pub indexed_variables: Option<u64>,
    /// Its parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Variable>,
    /// How many parts were left out.
    pub children_left_out: Option<usize>,
}

/// A tree of variables.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Variables {
    /// The variables.
    pub variables: Vec<Variable>,
    /// Whether something was cut.
    pub truncated: bool,
    /// How many were left out.
    pub left_out: Option<usize>,
    /// Where those are, as far as that is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rest: Vec<ScopeRest>,
}

/// The variables of a scope behind those that are in a tree: a page of the scope's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScopeRest {
    /// The scope's name.
    pub scope: String,
    /// The reference of the scope.
    pub variables_reference: u64,
    /// The number of the first.
    pub start: usize,
    /// How many there are.
    pub count: usize,
}

/// A page of a variable's parts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Page {
    /// The parts.
    pub variables: Vec<Variable>,
    /// How many there are.
    pub total: Option<u64>,
    /// The start of the next page.
    pub next: Option<u64>,
}

/// A value that was written to a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Saved {
    /// The file.
    pub path: String,
    /// Lines.
    pub items: u64,
    /// Bytes.
    pub bytes: u64,
    /// Whether it is not all.
    pub truncated: bool,
    /// The value itself.
    pub value: Option<Variable>,
}

/// A page of a stack.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stack {
    /// The thread.
    pub thread_id: Option<i64>,
    /// The frames.
    pub frames: Vec<Frame>,
    /// How many there are.
    pub total: Option<u64>,
    /// The start of the next page.
    pub next: Option<u64>,
}

/// A page of the threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Threads {
    /// The threads.
    pub threads: Vec<Thread>,
    /// How many there are.
    pub total: usize,
    /// The start of the next page.
    pub next: Option<usize>,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Thread {
    /// Its number.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// `stopped` or `running`, where known.
    pub state: Option<&'static str>,
    /// Why it stopped, where it is not another thread's stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A scope of a frame.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Scope {
    /// Its name.
    pub name: String,
    /// The reference of its variables.
    pub variables_reference: u64,
    /// Whether reading it takes long.
    pub expensive: bool,
}

/// A breakpoint and its true state.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Breakpoint {
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// The line that was asked for, where that is another.
    pub requested_line: Option<u64>,
    /// verified, pending, moved; `set` where nobody knows more.
    pub state: &'static str,
    /// Whether it is bound to code, as far as is known.
    pub verified: bool,
    /// Why it is not.
    pub message: Option<String>,
    /// Stops only if this holds.
    pub condition: Option<String>,
    /// Stops only at these hits.
    pub hit_condition: Option<String>,
    /// Prints this instead.
    pub log_message: Option<String>,
}

/// A start that takes longer than its call waited.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Starting {
    /// `starting`.
    pub state: &'static str,
    /// What is started.
    pub what: String,
    /// For how long.
    pub seconds: u64,
    /// The last line that a compiler wrote.
    pub said: Option<String>,
}

/// A session that was started.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Started {
    /// The session.
    #[serde(flatten)]
    pub session: SessionView,
    /// All that were started, where they are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<String>,
    /// The first halt, where it was waited for.
    pub stop: Option<Halt>,
    /// The name of the run before a restart.
    #[serde(rename = "previousRun")]
    pub previous_run: Option<String>,
}

impl Started {
    /// With the first halt.
    pub fn stopped(&mut self, halt: Halt) {
        self.session.state = halt.state();
        self.stop = Some(halt);
    }
}

/// What is known of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// Its name in the other tools; none while something is built for it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session_id: String,
    /// starting, running, stopped, exited.
    pub state: &'static str,
    /// What was launched.
    pub configuration: Option<String>,
    /// Who serves it.
    pub adapter: Option<String>,
    /// launch or attach.
    pub request: Option<&'static str>,
    /// The program.
    pub program: Option<String>,
    /// Its process.
    pub pid: Option<i64>,
    /// Its terminal session.
    pub terminal: Option<String>,
    /// Processes and workers it started that are debugged too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<String>,
    /// Why it is stopped.
    pub reason: Option<String>,
    /// The thread that is stopped.
    pub thread_id: Option<i64>,
    /// The user's innermost frame.
    pub location: Option<Frame>,
    /// The top frames.
    pub frames: Option<Vec<Frame>>,
    /// How it ended.
    pub exit: Option<Exit>,
}

/// All sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// Whether there is one that has not ended.
    pub active: bool,
    /// Whether one is stopped.
    pub paused: bool,
    /// The sessions.
    pub sessions: Vec<SessionView>,
}

/// Lines with their numbers, the current one marked; none when there are none.
pub fn marked(lines: &[SourceLine]) -> Option<String> {
    let width = lines.last()?.number.to_string().len();
    let shown = lines.iter().map(|line| {
        let mark = if line.current { '>' } else { ' ' };
        format!("{mark} {:>width$}  {}", line.number, line.text).trim_end().to_owned()
    });
    Some(shown.collect::<Vec<_>>().join("\n"))
}
