//! Signals.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end a process, caught from now on.
pub(in crate::commands) struct EndingSignals {
    hang_up: Signal,
    interrupt: Signal,
    terminate: Signal,
}

impl EndingSignals {
    pub(in crate::commands) fn catch() -> io::Result<Self> {
        // A file larger than a limit allows is an error, not the end. A handler that does nothing, because
        // programs would inherit an ignored signal.
        drop(signal(SignalKind::from_raw(termbridge_session::Signal::XFSZ.number()))?);
        Ok(Self {
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for one; the exit code is what shells report for it.
    pub(in crate::commands) async fn next(&mut self) -> ExitCode {
        tokio::select! {
            _ = self.hang_up.recv() => ExitCode::from(129),
            _ = self.interrupt.recv() => ExitCode::from(130),
            _ = self.terminate.recv() => ExitCode::from(143),
        }
    }
}

/// Puts a program into a group of its own, so that Ctrl+C does not reach it.
pub(in crate::commands) fn without_ctrl_c(command: &mut Command) {
    command.process_group(0);
}
