//! Commands in a shell: what is asked, and what came of it.

use std::path::PathBuf;
use std::time::Duration;

/// A command that ran, or runs, in a shell session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandReport {
    /// Its number within the session, from 1.
    pub id: u64,
    /// The text.
    pub command: String,
    /// Whether it is over.
    pub state: CommandState,
    /// What it printed, as far as asked for.
    pub output: String,
    /// Bytes of output in all.
    pub output_bytes: u64,
    /// Bytes that were too many to keep.
    pub dropped_bytes: u64,
    /// A full-screen program ran: its screen is not part of the output.
    pub full_screen: bool,
    /// How long it ran, or runs.
    pub duration: Duration,
    /// The shell's working directory, after the command where it is over.
    pub cwd: Option<PathBuf>,
}

/// Whether a command is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandState {
    /// It runs.
    Running,
    /// It ended with this status, as the shell counts it.
    Done {
        /// 0–255; 128 + N for signal N.
        exit_code: i32,
    },
    /// The shell itself ended with it.
    SessionEnded {
        /// The shell's exit code, if it exited.
        exit_code: Option<i32>,
    },
    /// It is over, as the shell's prompt shows, but the shell's word on it was lost: another program
    /// took it, or an interrupt.
    Lost,
    /// The text is not a whole command (an open quote, say). What stood in lines before the
    /// unfinished part may have run, and is the output; the rest did not.
    Incomplete,
    /// The shell waits at its prompt and did not take the command, though told several times: its key
    /// bindings are gone. Nothing of it ran; a restart of the session mends the shell.
    NotTaken,
    /// Another program took the shell's place, by `exec`, and reads the terminal: it can be typed to,
    /// but commands cannot be told apart any more. A restart of the session brings the shell back.
    Replaced {
        /// The program's name.
        program: String,
    },
}
