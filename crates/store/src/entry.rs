//! One command of the history.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::limits::Limits;
use crate::output::Output;

/// How far a command got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// It has not ended, as far as is known.
    Running,
    /// It ended.
    Done,
    /// How it ended is not known: its server was gone before it, or its shell did not tell.
    Lost,
    /// The text was not a whole command: its unfinished part did not run.
    Incomplete,
}

impl State {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Lost => "lost",
            Self::Incomplete => "incomplete",
        }
    }
}

/// Bytes of a command line that lists show.
const MAX_SHOWN: usize = 300;

/// A command, when and where it ran, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The command's id: unique among all processes that share the file.
    pub id: String,
    /// The session it ran in.
    pub session: String,
    /// The command line.
    pub command: String,
    /// How far it got.
    pub state: State,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended it, by name.
    pub signal: Option<String>,
    /// The folder it started in.
    pub cwd: String,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The agent that ran it.
    pub agent: Option<String>,
    /// On whose behalf it ran, where that is not the user that the history belongs to.
    pub principal: Option<String>,
    /// The shell that ran it.
    pub shell: Option<String>,
    /// When it started, in milliseconds since 1970.
    pub started_ms: i64,
    /// How long it took.
    pub duration_ms: Option<u64>,
}

impl Run {
    /// It ended with a non-zero exit code or by a signal.
    pub fn failed(&self) -> bool {
        self.exit_code.is_some_and(|code| code != 0) || self.signal.is_some()
    }

    /// How it ended, or its state if that is not known: `exit 130 (SIGINT)`, `ended by SIGHUP`, `running`.
    pub fn end(&self) -> String {
        match (self.exit_code, &self.signal) {
            (Some(code), Some(signal)) => format!("exit {code} ({signal})"),
            (Some(code), None) => format!("exit {code}"),
            (None, Some(signal)) => format!("ended by {signal}"),
            (None, None) => self.state.as_str().to_owned(),
        }
    }

    /// The beginning of the command line, as lists show it.
    pub fn short_command(&self) -> String {
        let command = self.command.trim_end();
        let most = command.floor_char_boundary(MAX_SHOWN);
        let cut = if most < command.len() { "…" } else { "" };
        format!("{}{cut}", &command[..most])
    }
}

/// A run with its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The command and how it went.
    pub run: Run,
    /// What it printed, without escape sequences.
    pub output: Output,
}

impl Entry {
    /// A command that starts now.
    pub fn new(
        id: impl Into<String>,
        session: impl Into<String>,
        command: impl Into<String>,
    ) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let run = Run {
            id: id.into(),
            session: session.into(),
            command: command.into(),
            state: State::Running,
            exit_code: None,
            signal: None,
            cwd: String::new(),
            project: None,
            agent: None,
            principal: None,
            shell: None,
            started_ms: now.as_millis() as i64,
            duration_ms: None,
        };
        Self { run, output: Output::default() }
    }

    /// What it printed.
    pub fn output(mut self, output: impl Into<Output>) -> Self {
        self.output = output.into();
        self
    }

    /// It ended with this code.
    pub fn exit_code(mut self, code: i32) -> Self {
        self.run.state = State::Done;
        self.run.exit_code = Some(code);
        self
    }

    /// The same within the limits.
    pub(crate) fn bounded(mut self, limits: &Limits) -> Self {
        self.output = self.output.bounded(limits.max_output_bytes);
        if self.run.command.len() > limits.max_output_bytes {
            let command = Output::from(self.run.command).bounded(limits.max_output_bytes);
            self.run.command = command.display();
        }
        self
    }

    /// Bytes of text.
    pub(crate) fn bytes(&self) -> usize {
        self.run.command.len() + self.output.text.len()
    }
}
