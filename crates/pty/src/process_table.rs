//! What processes there are: who descends from whom, in which session, waiting for what.
//!
//! Reads `/proc` on Linux; elsewhere a stub knows nothing and [`KNOWS_SESSIONS`] says so, and
//! the keeper falls back on process groups. Nothing here signals or waits.
//!
//! Every answer is a snapshot that may be old when it is read. A pid in it can only have been
//! reused if its process was reaped since by a parent other than the keeper.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod relay;
#[cfg(not(target_os = "linux"))]
mod stub;
#[cfg(target_os = "linux")]
mod waiting;

#[cfg(target_os = "linux")]
pub(crate) use linux::{
    KNOWS_SESSIONS, all, children_of_self, has_environment, read, start_of, started_with, switches,
    tree, working_directory,
};
#[cfg(target_os = "linux")]
pub(crate) use relay::beyond;
#[cfg(not(target_os = "linux"))]
pub(crate) use stub::{
    KNOWS_SESSIONS, all, beyond, children_of_self, has_environment, read, start_of, started_with,
    switches, tree, waiting, waiting_elsewhere, waiting_for_file, waiting_for_terminal,
    working_directory,
};
#[cfg(target_os = "linux")]
pub(crate) use waiting::{waiting, waiting_elsewhere, waiting_for_file, waiting_for_terminal};

use crate::ProcessInfo;

/// One process at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) info: ProcessInfo,
    pub(crate) threads: u32,
    /// The controlling terminal's device number as `/proc` has it; 0 for none.
    pub(crate) terminal: u32,
    /// The foreground group of that terminal; -1 for none.
    pub(crate) foreground: i32,
    /// When it started, in ticks since boot: with the pid, its identity.
    pub(crate) start: u64,
}

impl Process {
    /// Whether it still runs. A zombie with threads left is a process whose main thread ended.
    pub(crate) fn is_alive(&self) -> bool {
        !matches!(self.info.state, 'Z' | 'X' | 'x') || self.threads > 1
    }
}
