//! What callers get to see: stops, ends, frames, values. Plain data, every cut visible.

use crate::breakpoint::BreakpointPlace;
use crate::id::DebugSessionId;

/// Why a wait is over.
#[derive(Debug, Clone, PartialEq)]
pub enum Halt {
    /// The program stopped.
    Stopped(Box<StopReport>),
    /// The program ended.
    Ended(EndReport),
}

/// A stop, with all that is usually asked next.
#[derive(Debug, Clone, PartialEq)]
pub struct StopReport {
    /// Conditions of breakpoints that could not be evaluated, in words.
    pub condition_failures: Vec<String>,
    /// The session.
    pub session: DebugSessionId,
    /// Why: `breakpoint`, `step`, `exception`, `pause`, `entry` or what else the adapter says.
    pub reason: String,
    /// More about it, in the adapter's words.
    pub description: Option<String>,
    /// The thread that stopped.
    pub thread: ThreadInfo,
    /// Where: the frame that the stop is about.
    pub location: Option<Location>,
    /// The innermost frame, where an exception was raised by a runtime or library that the location's
    /// function called.
    pub raised_in: Option<FrameInfo>,
    /// Lines of source around that.
    pub source: Vec<SourceLine>,
    /// The innermost frames.
    pub frames: Vec<FrameInfo>,
    /// How many frames there are, where the adapter knows.
    pub total_frames: Option<u64>,
    /// How many other threads stopped at the same moment, and are reported before the program continues.
    pub waiting: usize,
    /// Local variables of the location's frame, within a budget.
    pub locals: Vec<VariableInfo>,
    /// How many local variables were left out.
    pub locals_left_out: usize,
    /// Whether they were not read in time.
    pub locals_unread: bool,
    /// The breakpoints that were hit.
    pub hit: Vec<BreakpointPlace>,
    /// What data breakpoints saw, when they are the reason.
    pub data_changes: Vec<DataChange>,
    /// The exception, when that is the reason.
    pub exception: Option<ExceptionReport>,
    /// What the program wrote since the last report.
    pub output: OutputSince,
}

/// What was written or read at a data breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataChange {
    /// The expression that is watched.
    pub expression: String,
    /// It is watched for nothing but being written.
    pub written: bool,
    /// The value before, where it is known.
    pub old: Option<String>,
    /// The value now, where it can be read.
    pub new: Option<String>,
    /// The function whose local variable it is, when that has returned: something else is there now.
    pub returned: Option<String>,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndReport {
    /// The signal that the adapter would tell by the same exit code.
    pub perhaps_signal: Option<String>,
    /// Conditions of breakpoints that could not be evaluated, in words.
    pub condition_failures: Vec<String>,
    /// The session.
    pub session: DebugSessionId,
    /// The program.
    pub program: String,
    /// Its exit code, where known.
    pub exit_code: Option<i64>,
    /// Why it ended, where it is not by itself.
    pub reason: EndReason,
    /// Breakpoints that were never bound to code in this run.
    pub unbound: Vec<BreakpointPlace>,
    /// What the program wrote since the last report.
    pub output: OutputSince,
}

/// Why a session is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReason {
    /// The program ended by itself.
    Exited,
    /// A signal ended it.
    Signalled(String),
    /// Someone stopped the session.
    Stopped,
    /// Someone stopped the session, and the program, which was attached to, goes on.
    Detached,
    /// The adapter went away.
    AdapterLost(String),
}

impl EndReport {
    /// How it ended, in a few words.
    pub fn how(&self) -> String {
        match (&self.reason, self.exit_code) {
            (EndReason::Exited, Some(code)) => match &self.perhaps_signal {
                Some(signal) => format!("exit code {code}, which also stands for {signal} here"),
                None => format!("exit code {code}"),
            },
            (EndReason::Exited, None) => "it exited; the debugger does not say how".to_owned(),
            (EndReason::Signalled(signal), _) => format!("ended by {signal}"),
            (EndReason::Stopped, _) => "it was stopped by request".to_owned(),
            (EndReason::Detached, _) => "the debugger left it; it keeps running".to_owned(),
            (EndReason::AdapterLost(reason), _) => reason.clone(),
        }
    }
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadInfo {
    /// Its number in the session.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Whether it is stopped.
    pub stopped: bool,
    /// The reason of its own stop; `None` if another thread stopped it.
    pub reason: Option<String>,
}

/// A place in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file, or what the adapter calls a source without one.
    pub path: String,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1; 0 when unknown.
    pub column: u64,
    /// The function.
    pub function: String,
}

/// A line of source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// Its number, from 1.
    pub number: u64,
    /// Its text.
    pub text: String,
    /// Whether the program stopped here.
    pub current: bool,
}

/// A frame of a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameInfo {
    /// The reference for scopes and evaluation; stale once the program goes on.
    pub id: u64,
    /// The function.
    pub name: String,
    /// The file, or what the adapter calls a source without one.
    pub path: Option<String>,
    /// The line, from 1; 0 when unknown.
    pub line: u64,
    /// The column, from 1; 0 when unknown.
    pub column: u64,
    /// Whether it is the runtime's and not the user's, as far as the adapter tells.
    pub subtle: bool,
    /// The adapter's number of a source that is no file.
    pub(crate) source_reference: Option<i64>,
}

/// A page of a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackPage {
    /// The thread.
    pub thread: i64,
    /// The frames.
    pub frames: Vec<FrameInfo>,
    /// How many there are, where the adapter knows.
    pub total: Option<u64>,
}

/// A scope of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeInfo {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: ScopeKind,
    /// The reference of its variables.
    pub reference: u64,
    /// Whether reading it takes long.
    pub expensive: bool,
}

/// What a scope holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    /// Locals and arguments.
    Local,
    /// What a closure captured.
    Closure,
    /// Globals, statics, module variables.
    Global,
    /// Registers.
    Registers,
}

/// A variable or the result of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableInfo {
    /// Its name; empty for a result.
    pub name: String,
    /// Its value, perhaps cut.
    pub value: String,
    /// How many bytes of the value were cut.
    pub cut: usize,
    /// Its type.
    pub kind: Option<String>,
    /// The reference of what is inside; 0 when nothing is.
    pub reference: u64,
    /// How many children have a name, where known.
    pub named: Option<u64>,
    /// How many children have an index, where known.
    pub indexed: Option<u64>,
    /// An expression for it.
    pub evaluate_name: Option<String>,
    /// Whether it cannot be changed.
    pub read_only: bool,
}

/// A variable and what is inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableNode {
    /// The variable.
    pub variable: VariableInfo,
    /// What is inside, as far as it was asked for and fits.
    pub children: Vec<VariableNode>,
    /// How many children were left out for want of room.
    pub left_out: usize,
}

/// An exception that stopped the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExceptionReport {
    /// Its type.
    pub id: String,
    /// What it says.
    pub message: Option<String>,
}

/// Output since the last report: the end of it, when it is too long.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputSince {
    /// The text.
    pub text: String,
    /// How many bytes before it were left out.
    pub left_out: usize,
}
