//! The process table from libproc.
//!
//! The kernel shows less than Linux does: no system call that a thread sleeps in, so whether a sleeping
//! process waits for its terminal is [`Waiting::Unknown`]; nothing but name, group and parent of another
//! user's process; and no environment of the system's own programs. There is no subreaper either: a
//! process that loses its parent becomes launchd's child, where [`orphans`] looks for it.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::arguments::Arguments;
use super::{Process, states, walk};
use crate::sys::libproc::{self, Listed};
use crate::{ProcessInfo, ProcessStart, Waiting};

/// Whether orphans come to the keeper.
pub(crate) const IS_SUBREAPER: bool = false;

/// The parent of orphans.
const LAUNCHD: i32 = 1;

/// A device number that is none.
const NO_DEVICE: u32 = u32::MAX;

/// One process, if it is there.
pub(crate) fn read(pid: i32) -> Option<Process> {
    let task = libproc::task(pid);
    let task = task.as_ref();
    let running = task.map(|task| task.pti_numrunning as u32);
    let time = task.map_or(0, |task| task.pti_total_user.wrapping_add(task.pti_total_system));
    let ticks = states::ticks(time, libproc::time_unit());
    let threads = task.map_or(1, |task| task.pti_threadnum as u32);
    let session = libproc::session(pid).unwrap_or(0);
    let Some(found) = libproc::whole(pid) else {
        let found = libproc::short(pid)?;
        return Some(Process {
            info: ProcessInfo {
                pid,
                parent: found.pbsi_ppid as i32,
                group: found.pbsi_pgid as i32,
                session,
                state: states::letter(found.pbsi_status, running),
                name: String::from_utf8_lossy(&libproc::text(&found.pbsi_comm)).into_owned(),
                ticks,
            },
            threads,
            terminal: 0,
            foreground: -1,
            start: 0,
        });
    };
    Some(Process {
        info: ProcessInfo {
            pid,
            parent: found.pbi_ppid as i32,
            group: found.pbi_pgid as i32,
            session,
            state: states::letter(found.pbi_status, running),
            name: String::from_utf8_lossy(&libproc::text(&found.pbi_comm)).into_owned(),
            ticks,
        },
        threads,
        terminal: if found.e_tdev == NO_DEVICE { 0 } else { found.e_tdev },
        foreground: found.e_tpgid as i32,
        start: found.pbi_start_tvsec * 1_000_000 + found.pbi_start_tvusec,
    })
}

/// Every living process of the system.
pub(crate) fn all() -> Vec<Process> {
    libproc::pids(Listed::All).into_iter().filter_map(read).filter(Process::is_alive).collect()
}

/// The living processes among `roots` and their descendants.
pub(crate) fn tree(roots: &[i32]) -> Vec<Process> {
    walk(roots, |process| libproc::pids(Listed::ChildrenOf(process.info.pid)))
}

/// The pids of this process's children, zombies included.
pub(crate) fn children_of_self() -> Vec<i32> {
    libproc::pids(Listed::ChildrenOf(std::process::id() as i32))
}

/// Processes that lost their parent and may descend from this one: those that did not start before it.
pub(crate) fn orphans(of: i32) -> Vec<i32> {
    let Some(since) = libproc::whole(of) else { return Vec::new() };
    let since = (since.pbi_start_tvsec, since.pbi_start_tvusec);
    let mut orphans = libproc::pids(Listed::ChildrenOf(LAUNCHD));
    orphans.retain(|&pid| {
        libproc::whole(pid)
            .is_some_and(|found| (found.pbi_start_tvsec, found.pbi_start_tvusec) >= since)
    });
    orphans
}

/// Whether the process was started with this `NAME=value` in its environment; not so where that is hidden.
pub(crate) fn has_environment(pid: i32, entry: &[u8]) -> bool {
    let Some(bytes) = libproc::arguments(pid) else { return false };
    Arguments::read(&bytes).is_some_and(|found| found.environment.contains(&entry))
}

/// Whether the process was started with this text among its arguments or its environment; not
/// known where the kernel would not say.
pub(crate) fn started_with(pid: i32, text: &[u8]) -> Option<bool> {
    Arguments::read(&libproc::arguments(pid)?)?.contain(text)
}

/// What the process was started with, and where it is now.
pub(crate) fn start_of(pid: i32) -> Option<ProcessStart> {
    let bytes = libproc::arguments(pid)?;
    let Arguments { arguments, environment } = Arguments::read(&bytes)?;
    let owned = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let variable = |entry: &&[u8]| {
        let equals = entry.iter().position(|&byte| byte == b'=')?;
        Some((owned(&entry[..equals]), owned(&entry[equals + 1..])))
    };
    let given = arguments.iter().skip(1).filter(|argument| !argument.is_empty());
    Some(ProcessStart {
        program: executable(pid)?,
        args: given.map(|argument| owned(argument)).collect(),
        env: environment.iter().filter_map(variable).collect(),
        cwd: working_directory(pid)?,
    })
}

/// The executable's path.
pub(crate) fn executable(pid: i32) -> Option<PathBuf> {
    libproc::executable(pid).map(path)
}

/// The process's user.
pub(crate) fn owner(pid: i32) -> Option<u32> {
    libproc::short(pid).map(|found| found.pbsi_uid)
}

/// What the process holds in memory, in bytes.
pub(crate) fn resident_memory(pid: i32) -> Option<u64> {
    libproc::task(pid).map(|found| found.pti_resident_size)
}

/// How often the process's threads have got a processor: the same number means that none has run.
pub(crate) fn switches(pid: i32) -> Option<u64> {
    u64::try_from(libproc::task(pid)?.pti_csw).ok()
}

/// Where the process is, as a path that exists.
pub(crate) fn working_directory(pid: i32) -> Option<PathBuf> {
    libproc::working_directory(pid).map(path)
}

/// What the processes, together the foreground group, do about the terminal.
pub(crate) fn waiting(processes: &[&Process], _terminal: &str) -> (Waiting, Vec<i32>) {
    let running = processes.iter().filter(|process| process.info.state == 'R');
    let running = running.map(|process| process.info.pid).collect();
    (states::waiting(processes.iter().copied()), running)
}

/// What the process does about its terminal; where on its stack is not told.
pub(crate) fn waiting_for_terminal(pid: i32, _terminal: &str) -> (Waiting, Option<u64>) {
    (states::waiting(read(pid).iter()), None)
}

/// What the process does about a file.
pub(crate) fn waiting_for_file(pid: i32, _file: &std::path::Path) -> Waiting {
    states::waiting(read(pid).iter())
}

/// Who waits for another's terminal is not told.
pub(crate) fn waiting_elsewhere(_pids: &[i32], _terminal: &str) -> Option<(i32, Waiting)> {
    None
}

/// Whose other end a process holds is not told.
pub(crate) fn beyond(_group: &[&Process], _detached: &[Process]) -> Option<Waiting> {
    None
}

fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}
