//! What processes there are: who descends from whom, in which session, waiting for what.
//!
//! Reads `/proc` on Linux and asks libproc on macOS, which shows less. Nothing here signals or waits.
//!
//! Every answer is a snapshot that may be old when it is read.

#[cfg(any(target_os = "macos", test))]
mod arguments;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "linux")]
mod relay;
#[cfg(any(target_os = "macos", test))]
mod states;
#[cfg(target_os = "linux")]
mod waiting;

use std::collections::BTreeSet;

#[cfg(target_os = "linux")]
pub(crate) use linux::{
    IS_SUBREAPER, all, children_of_self, executable, has_environment, orphans, owner, read,
    resident_memory, start_of, started_with, switches, tree, working_directory,
};
#[cfg(target_os = "macos")]
pub(crate) use macos::{
    IS_SUBREAPER, all, beyond, children_of_self, executable, has_environment, orphans, owner, read,
    resident_memory, start_of, started_with, switches, tree, waiting, waiting_elsewhere,
    waiting_for_file, waiting_for_terminal, working_directory,
};
#[cfg(target_os = "linux")]
pub(crate) use relay::beyond;
#[cfg(target_os = "linux")]
pub(crate) use waiting::{waiting, waiting_elsewhere, waiting_for_file, waiting_for_terminal};

use crate::ProcessInfo;

/// More processes than this in one tree are not walked: a bound for fork bombs, whose killing
/// goes on round by round.
const MAX_TREE: usize = 65_536;

/// One process at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) info: ProcessInfo,
    pub(crate) threads: u32,
    /// The controlling terminal's device number as `/proc` has it; 0 for none.
    pub(crate) terminal: u32,
    /// The foreground group of that terminal; -1 for none.
    pub(crate) foreground: i32,
    /// When it started, in the system's units: with the pid, its identity. 0 where that is not shown.
    pub(crate) start: u64,
}

impl Process {
    /// Whether it still runs. A zombie with threads left is a process whose main thread ended.
    pub(crate) fn is_alive(&self) -> bool {
        !matches!(self.info.state, 'Z' | 'X' | 'x') || self.threads > 1
    }
}

/// The living processes among `roots` and their descendants.
fn walk(roots: &[i32], children: impl Fn(&Process) -> Vec<i32>) -> Vec<Process> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut next = roots.to_vec();
    while let Some(pid) = next.pop() {
        if found.len() == MAX_TREE || !seen.insert(pid) {
            continue;
        }
        if let Some(process) = read(pid).filter(Process::is_alive) {
            next.extend(children(&process));
            found.push(process);
        }
    }
    found
}
