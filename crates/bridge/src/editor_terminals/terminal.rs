//! One terminal of an editor as a session: its commands, and a screen that is fed from their output.
//!
//! The editor shows neither its screen nor its size. The screen here is fed with what commands print, so it lacks the
//! prompts between them; the size is that of the shell's own terminal device, and without one there is no screen.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use termbridge_session::{
    CommandState, EndReason, Ended, ExitStatus, Owner, SessionError, SessionId, SessionInfo, Shell,
    ShellInfo, Snapshot, SnapshotRequest,
};
use tokio::sync::watch;

use super::state::{ASSUMED_SIZE, Integration, TerminalState};
use super::windows::WindowKey;

/// The shell that programs are started from: their words are quoted for it.
pub(super) const PROGRAM_SHELL: &str = "bash";

/// Shells for which the editor has no shell integration. One that reports itself later is read from then on.
const UNREADABLE_SHELLS: [&str; 12] =
    ["sh", "dash", "ash", "busybox", "ksh", "mksh", "csh", "tcsh", "nu", "elvish", "xonsh", "rc"];

/// Windows of a terminal that are known.
const MAX_WINDOWS: usize = 8;

/// What a terminal was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Commands.
    Shell,
    /// One program, with which the session ends.
    Program,
}

/// A terminal.
pub(super) struct EditorTerminal {
    pub(super) id: SessionId,
    pub(super) owner: Owner,
    /// The windows that have it, the last one last: one that is loaded anew is another, and two may show the same terminal.
    windows: Mutex<Vec<WindowKey>>,
    /// What the editor calls it.
    pub(super) terminal_id: String,
    pub(super) purpose: Purpose,
    pub(super) name: Option<String>,
    pub(super) project: Option<String>,
    /// The shell, or the program's command line.
    pub(super) command: String,
    pub(super) created: SystemTime,
    state: Mutex<TerminalState>,
    /// Moves with every change.
    pub(super) changed: watch::Sender<()>,
}

/// A terminal to keep as a session.
pub(super) struct NewTerminal {
    pub(super) owner: Owner,
    pub(super) windows: Vec<WindowKey>,
    pub(super) terminal_id: String,
    pub(super) purpose: Purpose,
    pub(super) name: Option<String>,
    pub(super) project: Option<String>,
    pub(super) command: String,
    pub(super) cwd: PathBuf,
    pub(super) pid: Option<u32>,
}

impl EditorTerminal {
    pub(super) fn new(id: SessionId, new: NewTerminal) -> Self {
        let NewTerminal { owner, windows, terminal_id, purpose, name, project, command, cwd, pid } =
            new;
        let mut state = TerminalState::new(pid, cwd);
        if purpose == Purpose::Shell && !is_readable(&command) {
            state.integration = Integration::Missing;
        }
        Self {
            id,
            owner,
            windows: Mutex::new(windows),
            terminal_id,
            purpose,
            name,
            project,
            command,
            created: SystemTime::now(),
            state: Mutex::new(state),
            changed: watch::channel(()).0,
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, TerminalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_windows(&self) -> MutexGuard<'_, Vec<WindowKey>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The windows that have it, the last one last.
    pub(super) fn windows(&self) -> Vec<WindowKey> {
        self.lock_windows().clone()
    }

    pub(super) fn is_of(&self, window: &WindowKey) -> bool {
        self.lock_windows().contains(window)
    }

    /// Whether it is in an editor of our own extension.
    pub(super) fn is_in_ours(&self) -> bool {
        self.lock_windows().iter().all(WindowKey::is_ours)
    }

    /// A further window has it.
    pub(super) fn add_window(&self, window: WindowKey) {
        let mut windows = self.lock_windows();
        windows.push(window);
        if windows.len() > MAX_WINDOWS {
            windows.remove(0);
        }
    }

    /// A window has it no longer; whether another has.
    pub(super) fn leave_window(&self, window: &WindowKey) -> bool {
        let mut windows = self.lock_windows();
        windows.retain(|own| own != window);
        !windows.is_empty()
    }

    /// Changes something and wakes whoever waits for it.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut TerminalState) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.send_replace(());
        result
    }

    /// The shell that reads its commands.
    pub(super) fn shell(&self) -> Shell {
        let program = match self.purpose {
            Purpose::Program => PROGRAM_SHELL,
            Purpose::Shell => &self.command,
        };
        Shell::known(base_name(program)).unwrap_or(Shell::Posix)
    }

    /// Refuses what only a living terminal can do.
    pub(super) fn check_alive(&self) -> Result<(), SessionError> {
        let (state, id) = (self.lock(), self.id.clone());
        match (&state.ended, state.withdrawn) {
            (None, _) => Ok(()),
            (Some(_), Some(why)) => Err(SessionError::Withdrawn { id, why }),
            (Some(ended), None) => Err(SessionError::Dead { id, how: ended.to_string() }),
        }
    }

    /// The editor has it no longer for agents.
    pub(super) fn withdraw(&self, why: &'static str) {
        self.change(|state| {
            if state.ended.is_none() {
                state.withdrawn = Some(why);
                if let Some(command) = state.running_mut() {
                    command.notice = Some(why.to_owned());
                }
            }
            state.is_left_open = false;
        });
        self.end(None, EndReason::Itself);
    }

    /// The terminal is gone, or what it was made for is.
    pub(super) fn end(&self, exit_code: Option<i32>, reason: EndReason) -> (Ended, bool) {
        self.change(|state| {
            if let Some(ended) = &state.ended {
                return (ended.clone(), true);
            }
            let status = exit_code.map_or(ExitStatus::Lost, ExitStatus::Code);
            let ended = Ended { status, reason, at: SystemTime::now() };
            state.ended = Some(ended.clone());
            if let Some(command) = state.running_mut() {
                command.end(CommandState::SessionEnded { exit_code });
            }
            (ended, false)
        })
    }

    pub(super) fn info(&self) -> SessionInfo {
        let mut state = self.lock();
        let size = state.follow_size().unwrap_or(ASSUMED_SIZE);
        // One that has ended at an earlier server does not make the shell busy.
        let is_over = state.is_restored_and_over();
        let running = state.running().filter(|_| !is_over).map(|command| command.id);
        let kept = state.commands.front().zip(state.commands.back());
        let shell = ShellInfo {
            shell: self.shell(),
            running,
            idle: running.is_none() && state.ended.is_none(),
            kept: kept.map(|(first, last)| (first.id, last.id)),
        };
        SessionInfo {
            name: self.name.clone(),
            owner: self.owner.clone(),
            project: self.project.clone(),
            pid: state.pid.map(|pid| pid as i32),
            shell: (self.purpose == Purpose::Shell).then_some(shell),
            size,
            state: state.state(),
            is_shell: self.purpose == Purpose::Shell,
            created: self.created,
            last_active: state.last_active,
            title: state.screen.title().to_owned(),
            printed: state.printed,
            ..SessionInfo::new(self.id.clone(), self.command.clone(), state.cwd.clone())
        }
    }

    /// A copy of the screen.
    pub(super) fn snapshot(&self, request: SnapshotRequest) -> Result<Snapshot, SessionError> {
        let mut state = self.lock();
        state.check_visible()?;
        Ok(state.snapshot(request))
    }
}

/// Whether the editor may have shell integration for a shell.
pub(super) fn is_readable(shell: &str) -> bool {
    !UNREADABLE_SHELLS.contains(&base_name(shell))
}

pub(super) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or_default()
}
