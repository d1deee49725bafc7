//! [`Terminals`]: who uses the editors' own terminals, and what our extension reports of them.

use std::path::PathBuf;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;

use crate::peer::Peer;

/// What the editors' own terminals are for. Implemented by the backend that runs commands in them.
#[async_trait]
pub trait Terminals: Send + Sync + 'static {
    /// A peer has connected, and it is known whether it is a window of ours.
    fn joined(&self, peer: &Peer);

    /// A window reports something. Called in the order of the reports, one at a time. It must not wait for a reply of
    /// this peer: while it waits and the queue of reports is full, no replies are read.
    async fn event(&self, peer: &Peer, event: TerminalEvent);

    /// Its connection has ended.
    fn left(&self, peer: &Peer);
}

/// What our extension reports of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum TerminalEvent {
    /// A command has printed something.
    #[serde(rename_all = "camelCase")]
    ExecutionOutput {
        /// The terminal.
        terminal_id: String,
        /// The command, as the reply to `execute` named it.
        execution_id: String,
        /// Text with control sequences.
        data: String,
        /// What of the command's output is before it, in UTF-16 units: after a reconnect it is reported again.
        #[serde(default)]
        at: Option<u64>,
    },
    /// A command is over.
    #[serde(rename_all = "camelCase")]
    ExecutionEnded {
        /// The terminal.
        terminal_id: String,
        /// The command.
        execution_id: String,
        /// None where the shell does not report it.
        exit_code: Option<i32>,
        /// Where the shell is now.
        cwd: Option<PathBuf>,
    },
    /// A terminal is gone.
    #[serde(rename_all = "camelCase")]
    TerminalClosed {
        /// The terminal.
        terminal_id: String,
        /// That of its shell.
        exit_code: Option<i32>,
    },
    /// The shell can be read from now on.
    #[serde(rename_all = "camelCase")]
    TerminalIntegration {
        /// The terminal.
        terminal_id: String,
        /// The shell, by name or path.
        shell: Option<String>,
        /// Where it is.
        cwd: Option<PathBuf>,
    },
    /// The window has connected anew, and still has the terminal. The output and the end of the command that it names
    /// are reported again.
    #[serde(rename_all = "camelCase")]
    TerminalResumed {
        /// The terminal.
        terminal_id: String,
        /// The windows that had it before, by the names that they gave in `hello`: one that is loaded anew is another.
        #[serde(default)]
        windows: Vec<String>,
        /// The last command that it was given, which runs or has ended.
        #[serde(default)]
        execution_id: Option<String>,
        /// It runs.
        #[serde(default)]
        is_running: bool,
        /// The window was reloaded since it was given that command: what it printed meanwhile is not reported.
        #[serde(default)]
        is_reloaded: bool,
    },
    /// A person gives agents a terminal.
    #[serde(rename_all = "camelCase")]
    TerminalShared {
        /// The terminal.
        terminal_id: String,
        /// What it is called.
        terminal_name: String,
        /// The shell's process.
        pid: Option<u32>,
        /// Where it is.
        cwd: Option<PathBuf>,
        /// The shell, by name or path.
        shell: Option<String>,
    },
    /// The person takes it back.
    #[serde(rename_all = "camelCase")]
    TerminalUnshared {
        /// The terminal.
        terminal_id: String,
    },
}

impl TerminalEvent {
    /// The types of all reports.
    pub(crate) const TYPES: [&'static str; 7] = [
        "execution_output",
        "execution_ended",
        "terminal_closed",
        "terminal_integration",
        "terminal_resumed",
        "terminal_shared",
        "terminal_unshared",
    ];

    pub(crate) fn parse(kind: &str, data: Value) -> Result<Self, serde_json::Error> {
        serde_json::from_value(serde_json::json!({ "type": kind, "data": data }))
    }

    /// The terminal that it is about.
    pub fn terminal_id(&self) -> &str {
        match self {
            Self::ExecutionOutput { terminal_id, .. }
            | Self::ExecutionEnded { terminal_id, .. }
            | Self::TerminalClosed { terminal_id, .. }
            | Self::TerminalIntegration { terminal_id, .. }
            | Self::TerminalResumed { terminal_id, .. }
            | Self::TerminalShared { terminal_id, .. }
            | Self::TerminalUnshared { terminal_id } => terminal_id,
        }
    }
}
