//! Commands in a shell: what is asked, and what came of it.

use std::path::PathBuf;
use std::time::Duration;

use termbridge_pty::Signal;
use termbridge_shell::CommandSetup;
use termbridge_vt::Seq;

/// A command for a shell session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewCommand {
    /// The text.
    pub text: String,
    /// The name of its request. [`Session::keyed`](crate::Session::keyed) finds it again after another server has adopted
    /// the session.
    pub key: Option<String>,
    /// The directory and variables of this command alone.
    pub setup: CommandSetup,
}

/// A command that ran, or runs, in a shell session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandReport {
    /// Its number within the session, from 1.
    pub id: u64,
    /// The text.
    pub command: String,
    /// Whether it is over.
    pub state: CommandState,
    /// What it printed, as far as asked for; whole characters.
    pub output: String,
    /// The byte of all output at which that begins: later than asked for where output was dropped. It
    /// ends where output was dropped, too; the next read goes on behind that.
    pub output_start: u64,
    /// Bytes from the beginning that will not change any more.
    pub final_bytes: u64,
    /// Bytes of output in all.
    pub output_bytes: u64,
    /// Lines of output in all, an unfinished last one included.
    pub output_lines: u64,
    /// The last line has no newline, or not yet.
    pub ends_within_line: bool,
    /// The byte at which output is missing, if any is.
    pub dropped_from: u64,
    /// Bytes that were dropped there: too many to keep, or more than a full disk took.
    pub dropped_bytes: u64,
    /// Bytes that background jobs printed after it, before the next command.
    pub background_bytes: u64,
    /// A full-screen program ran: its screen is not part of the output.
    pub full_screen: bool,
    /// How long it ran, or runs.
    pub duration: Duration,
    /// The shell's working directory, after the command where it is over.
    pub cwd: Option<PathBuf>,
    /// The terminal's change counter at this moment: what is on its main screen then is the command's
    /// output and what came before it.
    pub seq: Seq,
    /// What there is to know of the shell: that another one was started, and why.
    pub notice: Option<String>,
}

impl CommandReport {
    /// A command that runs and has printed nothing.
    pub fn new(id: u64, command: impl Into<String>) -> Self {
        Self {
            id,
            command: command.into(),
            state: CommandState::Running,
            output: String::new(),
            output_start: 0,
            final_bytes: 0,
            output_bytes: 0,
            output_lines: 0,
            ends_within_line: false,
            dropped_from: 0,
            dropped_bytes: 0,
            background_bytes: 0,
            full_screen: false,
            duration: Duration::ZERO,
            cwd: None,
            seq: Seq(0),
            notice: None,
        }
    }

    /// `output` is all of the output.
    pub fn is_whole(&self) -> bool {
        self.output_start == 0 && self.output.len() as u64 == self.output_bytes
    }

    /// Its exit code, or that of the shell that ended with it.
    pub fn exit_code(&self) -> Option<i32> {
        match self.state {
            CommandState::Done { exit_code } => Some(exit_code),
            CommandState::SessionEnded { exit_code } => exit_code,
            _ => None,
        }
    }

    /// The signal that ended it, by the shell's way of telling: 128 + N.
    pub fn signal(&self) -> Option<String> {
        let number = self.exit_code()?.checked_sub(128)?;
        Signal::from_number(number).map(|signal| signal.to_string())
    }

    /// It runs.
    pub fn is_running(&self) -> bool {
        self.state == CommandState::Running
    }
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
    /// It was given to a terminal that cannot be read: what it prints and how it ends is not known.
    Sent,
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
