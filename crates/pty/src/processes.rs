//! What other crates ask about processes that are not programs on terminals: adapters, servers, and whatever
//! a person wants to attach a debugger to.

use std::path::PathBuf;

use crate::{ProcessInfo, process_table};

/// Every living process that the system shows.
pub fn processes() -> Vec<ProcessInfo> {
    process_table::all().into_iter().map(|process| process.info).collect()
}

/// One process, a zombie too, and when it started, in the system's units: with the pid, its identity.
pub fn process(pid: i32) -> Option<(ProcessInfo, u64)> {
    process_table::read(pid).map(|process| (process.info, process.start))
}

/// Whether a process of that number is there, and is no zombie.
pub fn is_running(pid: i32) -> bool {
    let is_there = rustix::process::Pid::from_raw(pid).is_some_and(|pid| {
        let tested = rustix::process::test_kill_process(pid);
        !matches!(tested, Err(rustix::io::Errno::SRCH))
    });
    let is_dead = |(found, _): (ProcessInfo, u64)| matches!(found.state, 'Z' | 'X' | 'x');
    is_there && !process(pid).is_some_and(is_dead)
}

/// The user that this process acts as; `None` where users have no numbers.
#[allow(clippy::unnecessary_wraps)]
pub fn own_user() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

/// The file that a process runs, where the system shows it.
pub fn executable_of(pid: i32) -> Option<PathBuf> {
    process_table::executable(pid)
}

/// The user that a process belongs to.
pub fn owner_of(pid: i32) -> Option<u32> {
    process_table::owner(pid)
}

/// What a process holds in memory, in bytes, where the system shows it.
pub fn resident_memory(pid: i32) -> Option<u64> {
    process_table::resident_memory(pid)
}
