//! Where a program runs when its adapter asks for a terminal (`runInTerminal`).
//!
//! The caller may give a [`TerminalLauncher`] that runs it in one of its own terminals, where people
//! see it and type to it. Without one it is a plain child process, its output goes to the session's
//! events and its input is empty.

use std::pin::Pin;

use crate::process::CommandLine;

/// A future that can be kept behind a trait.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What an adapter wants to be run in a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalRequest {
    /// What to call the terminal.
    pub title: String,
    /// What to run.
    pub command: CommandLine,
    /// The session it belongs to.
    pub session: String,
}

/// A program that runs in a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalProcess {
    /// The program's process.
    pub pid: u32,
}

/// Runs programs in terminals. The terminal is the launcher's: it also ends it.
pub trait TerminalLauncher: Send + Sync {
    /// Starts the program; an error is told to the adapter, which then fails to launch.
    fn launch(&self, request: TerminalRequest) -> BoxFuture<'_, Result<TerminalProcess, String>>;
}
