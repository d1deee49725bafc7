//! What can go wrong while debugging: one variant for each code of the debug catalogue that the
//! native debugger can give.

use std::path::PathBuf;
use std::time::Duration;

/// Why the debugger did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DebugError {
    /// No session has this id, or none is open.
    #[error("{}", match .0 { Some(id) => format!("no debug session {id}"), None => "no debug session is open".to_owned() })]
    NoSession(Option<String>),
    /// No run has this name.
    #[error("no debug session or run {name}; there are: {}", listed(.known))]
    NoRun {
        /// The name.
        name: String,
        /// Those that are there.
        known: Vec<String>,
    },
    /// The program runs; it has to be stopped to be resumed or stepped.
    #[error("{program} is running, not paused")]
    NotPaused {
        /// The program.
        program: String,
    },
    /// The program runs; only a stopped program can be looked into.
    #[error("{program} is running; its state can be read only while it is stopped")]
    NotStopped {
        /// The program.
        program: String,
    },
    /// The wait was over before anything happened.
    #[error("{what} within {} ms; {program} is still running", .after.as_millis())]
    Timeout {
        /// What did not happen.
        what: String,
        /// The program that goes on.
        program: String,
        /// How long was waited.
        after: Duration,
    },
    /// The adapter of a stopped program did not answer.
    #[error("{what} within {} ms; {program} is stopped", .after.as_millis())]
    AdapterSlow {
        /// What did not happen.
        what: String,
        /// The program.
        program: String,
        /// How long was waited.
        after: Duration,
    },
    /// A program that was asked to pause runs nothing in which it could.
    #[error("{program} is idle: it waits for events and runs no code that could be paused")]
    Idle {
        /// The program.
        program: String,
    },
    /// An expression had no value in time.
    #[error("no value within {} ms: {program} may still be busy with this expression or an earlier one", .after.as_millis())]
    EvaluateSlow {
        /// The program.
        program: String,
        /// How long was waited.
        after: Duration,
    },
    /// The request was withdrawn.
    #[error("the request was cancelled")]
    Cancelled,
    /// The session was stopped while the request was under way.
    #[error("the session was stopped: {0}")]
    Aborted(String),
    /// An argument makes no sense.
    #[error("{0}")]
    InvalidParams(String),
    /// There is no such file.
    #[error("no such file: {}", .0.display())]
    FileNotFound(PathBuf),
    /// The path is no file that can be debugged.
    #[error("{}: {reason}", .path.display())]
    InvalidPath {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file cannot be written.
    #[error("{} cannot be written: {reason}", .path.display())]
    CannotWrite {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The file has no such line.
    #[error("{} has no line {line}: it has {lines}", .path.display())]
    InvalidLine {
        /// The file.
        path: PathBuf,
        /// The line asked for.
        line: u64,
        /// How many lines there are.
        lines: u64,
    },
    /// The program could not be started or attached to.
    #[error("{0}")]
    LaunchFailed(String),
    /// A process that runs could not be attached to.
    #[error("{reason}")]
    AttachFailed {
        /// Why, as the debugger or the system reports it.
        reason: String,
        /// What to do next.
        hint: String,
    },
    /// The program has ended.
    #[error("{program} has ended: {how}")]
    ProgramExited {
        /// The program.
        program: String,
        /// How it ended.
        how: String,
    },
    /// The reference was given before the program went on.
    #[error("reference {0} is from before the program went on")]
    StaleReference(u64),
    /// The reference was never given.
    #[error("no reference {0} was ever given")]
    InvalidReference(u64),
    /// The value has nothing inside.
    #[error("{0} has no children")]
    NotExpandable(String),
    /// The debugger could not evaluate the expression or set the value.
    #[error("{0}")]
    EvaluateFailed(String),
    /// The value cannot be changed.
    #[error("{0} cannot be changed")]
    ReadOnly(String),
    /// The debug adapter cannot do it.
    #[error("{adapter} does not support {what}")]
    UnsupportedCapability {
        /// The adapter.
        adapter: String,
        /// What it cannot do.
        what: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// None of our adapters debugs the language.
    #[error("{0} is not supported natively")]
    UnsupportedLanguage(&'static str),
    /// The answer is larger than what may be returned.
    #[error("{what} is larger than {limit} bytes")]
    LargeData {
        /// What was asked for.
        what: String,
        /// The limit.
        limit: usize,
    },
    /// Another request is changing the session.
    #[error("session {0} is being started, restarted or stopped")]
    Busy(String),
    /// A limit of the server.
    #[error("{limit} debug sessions are open, which is the limit")]
    Capacity {
        /// How many may be open.
        limit: usize,
    },
    /// The debug adapter is not installed.
    #[error("no debug adapter for {language} was found: {looked}")]
    AdapterNotFound {
        /// The language.
        language: String,
        /// Where it was looked for.
        looked: String,
        /// The command that installs it.
        install: String,
    },
    /// The adapter broke the protocol or died, or the system refused something it usually grants.
    #[error("{0}")]
    Internal(String),
}

impl DebugError {
    /// The code of the debug catalogue.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSession(_) | Self::NoRun { .. } => "E_NO_SESSION",
            Self::NotPaused { .. } => "E_NOT_STOPPED",
            Self::NotStopped { .. } => "E_NOT_PAUSED",
            Self::Timeout { .. }
            | Self::AdapterSlow { .. }
            | Self::EvaluateSlow { .. }
            | Self::Idle { .. } => "E_TIMEOUT",
            Self::Cancelled => "E_CANCELLED",
            Self::Aborted(_) => "E_ABORTED",
            Self::InvalidParams(_) => "E_INVALID_PARAMS",
            Self::FileNotFound(_) => "E_FILE_NOT_FOUND",
            Self::InvalidPath { .. } | Self::CannotWrite { .. } => "E_INVALID_PATH",
            Self::InvalidLine { .. } => "E_INVALID_LINE",
            Self::LaunchFailed(_) | Self::AttachFailed { .. } => "E_LAUNCH_FAILED",
            Self::ProgramExited { .. } => "E_PROGRAM_EXITED",
            Self::StaleReference(_) => "E_STALE_REFERENCE",
            Self::InvalidReference(_) => "E_INVALID_REFERENCE",
            Self::NotExpandable(_) => "E_NOT_EXPANDABLE",
            Self::EvaluateFailed(_) => "E_EVALUATE_FAILED",
            Self::ReadOnly(_) => "E_READ_ONLY",
            Self::UnsupportedCapability { .. } | Self::UnsupportedLanguage(_) => {
                "E_UNSUPPORTED_CAPABILITY"
            }
            Self::LargeData { .. } => "E_LARGE_DATA",
            Self::Busy(_) => "E_BUSY",
            Self::Capacity { .. } => "E_CAPACITY",
            Self::AdapterNotFound { .. } => "E_ADAPTER_NOT_FOUND",
            Self::Internal(_) => "E_INTERNAL",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::NoSession(_) => "start one with debug_start",
            Self::NoRun { .. } => "give one of these; debug_tracker says more of them",
            Self::NotPaused { .. } => "wait for a stop with debug_wait_for_hit, or use debug_pause",
            Self::NotStopped { .. } => {
                "stop it with debug_pause or wait for a breakpoint with debug_wait_for_hit"
            }
            Self::Timeout { .. } => {
                "wait longer with debug_wait_for_hit; look where it is with debug_pause, or end it with debug_stop"
            }
            Self::AdapterSlow { .. } => {
                "call again: the debugger may still be reading symbols; or ask for less"
            }
            Self::Idle { .. } => {
                "set a breakpoint in the code that handles an event, and cause that event (send it a request)"
            }
            Self::EvaluateSlow { .. } => {
                "until it is done nothing else can be read there: debug_restart or debug_stop ends the program; then call \
                 nothing that waits or loops"
            }
            Self::Cancelled | Self::Aborted(_) => "see debug_status for what is still open",
            Self::InvalidParams(_) => "correct the arguments and call again",
            Self::FileNotFound(_) => {
                "give the path of an existing file, absolute or relative to the workspace"
            }
            Self::InvalidPath { .. } => {
                "correct the path; it is absolute or relative to the workspace"
            }
            Self::CannotWrite { .. } => "give a file in an existing folder that you may write to",
            Self::InvalidLine { .. } => "choose a line of the file that holds code",
            Self::LaunchFailed(_) => "correct the configuration; dap_logs shows what the adapter said",
            Self::AttachFailed { hint, .. } => hint,
            Self::ProgramExited { .. } => "start it again with debug_restart or debug_start",
            Self::StaleReference(_) => "ask again with debug_stack or debug_list_variables",
            Self::InvalidReference(_) => {
                "use a frameId from debug_stack or a variablesReference from a listing"
            }
            Self::NotExpandable(_) => "its value is all there is",
            Self::EvaluateFailed(_) => "correct the expression, or choose another frame with frameId",
            Self::ReadOnly(_) => "change a variable it is made from",
            Self::UnsupportedCapability { instead, .. } => instead,
            Self::UnsupportedLanguage(language) => {
                return format!(
                    "open the folder in an editor that has a {language} debugger and the termbridge extension"
                );
            }
            Self::LargeData { .. } => {
                "read it by pages with debug_get_variable or write it to a file with debug_save_variable"
            }
            Self::Busy(_) => "call again when it is done; debug_status shows the state",
            Self::Capacity { .. } => "end one with debug_stop",
            Self::AdapterNotFound { install, .. } => return format!("install it with: {install}"),
            Self::Internal(_) => "restart the session with debug_restart",
        }
        .to_owned()
    }
}

/// Names of an error that are listed.
const MAX_LISTED: usize = 20;

fn listed(names: &[String]) -> String {
    match names.split_at_checked(MAX_LISTED) {
        _ if names.is_empty() => "none".to_owned(),
        Some((first, rest)) if !rest.is_empty() => {
            format!("{}, and {} more", first.join(", "), rest.len())
        }
        _ => names.join(", "),
    }
}
