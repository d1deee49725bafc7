//! What a console reports: there are no signals.

use std::io;
use std::process::{Command, ExitCode};

use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, CtrlShutdown};
use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};

/// What ends a process, caught from now on.
pub(in crate::commands) struct EndingSignals {
    interrupt: CtrlC,
    breaking: CtrlBreak,
    close: CtrlClose,
    shutdown: CtrlShutdown,
}

impl EndingSignals {
    pub(in crate::commands) fn catch() -> io::Result<Self> {
        Ok(Self {
            interrupt: ctrl_c()?,
            breaking: ctrl_break()?,
            close: ctrl_close()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    /// Waits for one; the exit codes are those of the signals that mean the same elsewhere.
    pub(in crate::commands) async fn next(&mut self) -> ExitCode {
        tokio::select! {
            _ = self.interrupt.recv() => ExitCode::from(130),
            _ = self.breaking.recv() => ExitCode::from(130),
            _ = self.close.recv() => ExitCode::from(129),
            _ = self.shutdown.recv() => ExitCode::from(143),
        }
    }
}

/// Puts a program into a group of its own, so that Ctrl+C does not reach it.
pub(in crate::commands) fn without_ctrl_c(command: &mut Command) {
    termbridge_session::start_in_own_session(command);
}
