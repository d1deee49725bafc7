//! What is known of a session beside its screen.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use termbridge_pty::{ExitStatus, ProcessInfo, Signal};
use termbridge_shell::Shell;
use termbridge_vt::Size;

use crate::id::SessionId;
use crate::owner::Owner;

/// Why a session's program is no longer there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// It ended by itself, or someone outside ended it.
    Itself,
    /// It was stopped on request.
    Stopped,
    /// Nobody had used it for the session time-out.
    Idle,
    /// The keeper process, its parent, died.
    KeeperDied,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Exit code or signal.
    pub status: ExitStatus,
    /// Why.
    pub reason: EndReason,
    /// When.
    pub at: SystemTime,
}

impl Ended {
    /// The exit code, if it exited.
    pub fn exit_code(&self) -> Option<i32> {
        match self.status {
            ExitStatus::Code(code) => Some(code),
            _ => None,
        }
    }

    /// The name of the signal that ended it, if one did.
    pub fn signal(&self) -> Option<String> {
        match self.status {
            ExitStatus::Signal { number, .. } => Some(
                Signal::from_number(number).map_or_else(|| number.to_string(), |s| s.to_string()),
            ),
            _ => None,
        }
    }

    /// The signal that ended the command of an ended shell. SIGHUP if the session was closed and the shell exited, as zsh does.
    pub fn command_signal(&self) -> Option<String> {
        let is_closed = matches!(self.reason, EndReason::Stopped | EndReason::Idle);
        self.signal().or_else(|| is_closed.then(|| Signal::HUP.to_string()))
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.exit_code(), self.signal()) {
            (Some(code), _) => write!(f, "exit code {code}")?,
            (None, Some(signal)) => write!(f, "signal {signal}")?,
            (None, None) => f.write_str("exit status unknown")?,
        }
        match self.reason {
            EndReason::Itself => Ok(()),
            EndReason::Stopped => f.write_str(", stopped on request"),
            EndReason::Idle => f.write_str(", ended because it was idle"),
            EndReason::KeeperDied => f.write_str(", lost because the keeper process died"),
        }
    }
}

/// Whether the program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Running,
    /// It ended.
    Exited(Ended),
}

impl State {
    /// The exit code, if it exited.
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Running => None,
            Self::Exited(ended) => ended.exit_code(),
        }
    }
}

/// A session's row in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    /// Handle.
    pub id: SessionId,
    /// Name for people.
    pub name: Option<String>,
    /// Whose it is.
    pub owner: Owner,
    /// The command as launched.
    pub command: String,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The shell's working directory, as the kernel has it; where another program was launched.
    pub cwd: PathBuf,
    /// Where the shell returns after the running command, if that has a directory of its own.
    pub returns_to: Option<PathBuf>,
    /// Process id of the program.
    pub pid: Option<i32>,
    /// What is known of its commands, if it is a shell that tells them apart.
    pub shell: Option<ShellInfo>,
    /// Terminal size.
    pub size: Size,
    /// Whether it runs.
    pub state: State,
    /// It is being stopped.
    pub stopping: bool,
    /// Its program is a shell, so that it has a prompt.
    pub is_shell: bool,
    /// When the session was made.
    pub created: SystemTime,
    /// When it last was used or printed.
    pub last_active: SystemTime,
    /// Name of the program in the foreground.
    pub foreground: Option<String>,
    /// The window's title.
    pub title: String,
    /// Grows with what the session prints, for [`Wait::printed_after`](crate::Wait::printed_after).
    pub printed: u64,
    /// The person who has taken over.
    pub driver: Option<String>,
    /// It is an editor's terminal, and its window is not there.
    pub away: bool,
    /// The line that asks for a password, where somebody watches the sessions.
    pub secret_prompt: Option<String>,
    /// How often a password was asked for since somebody watches.
    pub secrets_asked: u64,
    /// A window asks its person for that password now.
    pub asks_person: bool,
    /// The person whose panel sets the size while agents drive.
    pub fitted_by: Option<String>,
    /// A window shows what it prints.
    pub is_watched: bool,
}

impl SessionInfo {
    /// A session that runs, with all that may be left open left open.
    pub fn new(id: SessionId, command: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        let now = SystemTime::now();
        Self {
            id,
            name: None,
            owner: Owner::default(),
            command: command.into(),
            project: None,
            cwd: cwd.into(),
            returns_to: None,
            pid: None,
            shell: None,
            size: Size { cols: 120, rows: 40 },
            state: State::Running,
            stopping: false,
            is_shell: false,
            created: now,
            last_active: now,
            foreground: None,
            title: String::new(),
            printed: 0,
            driver: None,
            away: false,
            secret_prompt: None,
            secrets_asked: 0,
            asks_person: false,
            fitted_by: None,
            is_watched: false,
        }
    }

    /// The shell's directory, apart from that of a command.
    pub fn own_directory(&self) -> &Path {
        self.returns_to.as_ref().unwrap_or(&self.cwd)
    }

    /// The shell waits for a command.
    pub fn is_idle_shell(&self) -> bool {
        self.state == State::Running && self.shell.is_some_and(|shell| shell.idle)
    }

    /// A line runs in the shell that was typed, by the agent or by a person.
    pub fn runs_typed_line(&self) -> bool {
        let is_typed = |shell: ShellInfo| shell.running.is_none() && !shell.idle;
        self.state == State::Running && self.shell.is_some_and(is_typed)
    }

    /// It does so for an agent's: no person has taken over.
    pub fn takes_commands(&self) -> bool {
        self.is_idle_shell() && self.driver.is_none()
    }
}

/// Shells whose commands cannot be told apart, but which have a prompt.
const OTHER_SHELLS: [&str; 9] =
    ["ash", "busybox", "csh", "elvish", "ksh93", "nu", "pwsh", "tcsh", "xonsh"];

/// Whether a program of this name or path is a shell.
pub fn is_shell_name(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    Shell::known(name).is_some() || OTHER_SHELLS.contains(&name)
}

/// A shell session's commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShellInfo {
    /// Which shell reads them.
    pub shell: Shell,
    /// The command that runs.
    pub running: Option<u64>,
    /// It would take a command: nothing runs in it, a person's command neither.
    pub idle: bool,
    /// Numbers of the oldest and the newest command whose output can be read.
    pub kept: Option<(u64, u64)>,
}

/// What came of a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// How the program ended.
    pub ended: Ended,
    /// It had ended before the request.
    pub already: bool,
    /// Processes that had to be killed after the grace.
    pub killed: u32,
    /// Processes that left the terminal's session and go on.
    pub detached: Vec<ProcessInfo>,
}
