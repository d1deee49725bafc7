//! The process table from `/proc`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::{Process, walk};
use crate::{ProcessInfo, ProcessStart};

/// Whether orphans come to the keeper.
pub(crate) const IS_SUBREAPER: bool = true;

/// Longer environments are looked through up to here.
const MAX_ENVIRONMENT: u64 = 4 << 20;

/// One process, if it is there.
pub(crate) fn read(pid: i32) -> Option<Process> {
    let mut buffer = [0; 1024];
    let mut file = File::open(format!("/proc/{pid}/stat")).ok()?;
    let length = file.read(&mut buffer).ok()?;
    parse_stat(&buffer[..length])
}

/// Every living process of the system.
pub(crate) fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(read)
        .filter(Process::is_alive)
        .collect()
}

/// The living processes among `roots` and their descendants.
///
/// Costs in proportion to the tree, not to the system. A child whose sibling ends during the
/// walk may be missed; callers who must not miss one look again or at [`all`].
pub(crate) fn tree(roots: &[i32]) -> Vec<Process> {
    if !kernel_lists_children() {
        return tree_within(all(), roots);
    }
    walk(roots, |process| children(process.info.pid, process.threads))
}

/// The pids of this single-threaded process's children, zombies included.
pub(crate) fn children_of_self() -> Vec<i32> {
    let own = std::process::id() as i32;
    if kernel_lists_children() {
        return children(own, 1);
    }
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?))
        .filter(|process| process.info.parent == own)
        .map(|process| process.info.pid)
        .collect()
}

/// Processes that lost their parent and may descend from this one: they came to this process.
pub(crate) fn orphans(_of: i32) -> Vec<i32> {
    children_of_self()
}

/// Whether the process was started with this `NAME=value` in its environment.
pub(crate) fn has_environment(pid: i32, entry: &[u8]) -> bool {
    let Ok(file) = File::open(format!("/proc/{pid}/environ")) else {
        return false;
    };
    let mut environment = Vec::new();
    let _ = file.take(MAX_ENVIRONMENT).read_to_end(&mut environment);
    environment.split(|&byte| byte == 0).any(|found| found == entry)
}

/// Whether the process was started with this text among its arguments or its environment; not
/// known where the kernel would not say.
pub(crate) fn started_with(pid: i32, text: &[u8]) -> Option<bool> {
    let mut found = false;
    for file in ["cmdline", "environ"] {
        let mut bytes = Vec::new();
        let file = File::open(format!("/proc/{pid}/{file}")).ok()?;
        file.take(MAX_ENVIRONMENT).read_to_end(&mut bytes).ok()?;
        found |= bytes.windows(text.len().max(1)).any(|window| window == text);
    }
    Some(found)
}

/// What the process was started with, and where it is now.
pub(crate) fn start_of(pid: i32) -> Option<ProcessStart> {
    let list = |file: &str| {
        let mut bytes = Vec::new();
        let file = File::open(format!("/proc/{pid}/{file}")).ok()?;
        file.take(MAX_ENVIRONMENT).read_to_end(&mut bytes).ok()?;
        let items = bytes.split(|&byte| byte == 0).filter(|item| !item.is_empty());
        Some(items.map(|item| OsStr::from_bytes(item).to_owned()).collect::<Vec<_>>())
    };
    let variable = |entry: &OsString| {
        let equals = entry.as_bytes().iter().position(|&byte| byte == b'=')?;
        let (name, value) = entry.as_bytes().split_at(equals);
        Some((OsStr::from_bytes(name).to_owned(), OsStr::from_bytes(&value[1..]).to_owned()))
    };
    Some(ProcessStart {
        program: executable(pid)?,
        args: list("cmdline")?.into_iter().skip(1).collect(),
        env: list("environ")?.iter().filter_map(variable).collect(),
        cwd: working_directory(pid)?,
    })
}

/// The executable's path; that of a file that was replaced since ends in ` (deleted)`.
pub(crate) fn executable(pid: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// The process's user.
pub(crate) fn owner(pid: i32) -> Option<u32> {
    fs::metadata(format!("/proc/{pid}")).ok().map(|found| found.uid())
}

/// What the process holds in memory, in bytes.
pub(crate) fn resident_memory(pid: i32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// How often the process's main thread has got a processor: the same number means that it has not run.
pub(crate) fn switches(pid: i32) -> Option<u64> {
    let times = read_short(&format!("/proc/{pid}/schedstat")).ok()?;
    // Always 0 where the kernel does not count.
    times.split_ascii_whitespace().nth(2)?.parse().ok().filter(|count| *count > 0)
}

/// A file of one short line, in one read.
pub(super) fn read_short(path: &str) -> io::Result<String> {
    let mut buffer = [0; 512];
    let count = File::open(path)?.read(&mut buffer)?;
    Ok(String::from_utf8_lossy(&buffer[..count]).into_owned())
}

/// Where the process is, as a path that exists.
pub(crate) fn working_directory(pid: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// `CONFIG_PROC_CHILDREN`, which distributions set and some small kernels do not.
fn kernel_lists_children() -> bool {
    static LISTS: OnceLock<bool> = OnceLock::new();
    *LISTS.get_or_init(|| fs::exists("/proc/thread-self/children").unwrap_or(false))
}

fn children(pid: i32, threads: u32) -> Vec<i32> {
    if threads <= 1 {
        return children_of_thread(pid, pid);
    }
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .flat_map(|thread| children_of_thread(pid, thread))
        .collect()
}

fn children_of_thread(pid: i32, thread: i32) -> Vec<i32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{thread}/children"));
    let list = list.unwrap_or_default();
    list.split_ascii_whitespace().filter_map(|child| child.parse().ok()).collect()
}

fn tree_within(processes: Vec<Process>, roots: &[i32]) -> Vec<Process> {
    let mut by_parent: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    let mut found = Vec::new();
    for process in processes {
        if roots.contains(&process.info.pid) {
            found.push(process);
        } else {
            by_parent.entry(process.info.parent).or_default().push(process);
        }
    }
    let mut index = 0;
    while index < found.len() {
        found.extend(by_parent.remove(&found[index].info.pid).unwrap_or_default());
        index += 1;
    }
    found
}

/// `pid (name) state ppid pgrp session tty …`, where the name may hold anything, `)` included.
fn parse_stat(stat: &[u8]) -> Option<Process> {
    let open = stat.iter().position(|&byte| byte == b'(')?;
    let close = stat.iter().rposition(|&byte| byte == b')')?;
    let pid = std::str::from_utf8(stat.get(..open)?).ok()?.trim().parse().ok()?;
    let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
    let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<i64>().ok();
    Some(Process {
        info: ProcessInfo {
            pid,
            parent: number(1)? as i32,
            group: number(2)? as i32,
            session: number(3)? as i32,
            state: fields.first()?.chars().next()?,
            name,
            ticks: (number(11)? + number(12)?) as u64,
        },
        threads: number(17)? as u32,
        terminal: number(4)? as u32,
        foreground: number(5)? as i32,
        start: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_brackets_and_spaces() {
        let stat = b"42 (a) (b c) S 1 40 39 34816 42 4194304 1 2 3 4 5 6 7 8 20 0 3 0 777 9 9";
        let process = parse_stat(stat).unwrap();
        assert_eq!(process.info.name, "a) (b c");
        assert_eq!((process.info.pid, process.info.parent), (42, 1));
        assert_eq!((process.info.group, process.info.session), (40, 39));
        assert_eq!((process.info.state, process.info.ticks), ('S', 11));
        assert_eq!((process.threads, process.terminal, process.start), (3, 34816, 777));
        assert_eq!(process.foreground, 42);
    }

    #[test]
    fn cut_lines_are_no_process() {
        let stat = b"42 (name) S 1 40 39 34816 42 4194304 1 2 3 4 5 6 7 8 20 0 3 0 777";
        for end in 0..stat.len() - 3 {
            assert_eq!(parse_stat(&stat[..end]), None);
        }
    }

    #[test]
    fn both_walks_find_this_process() {
        let own = std::process::id() as i32;
        assert!(tree(&[own]).iter().any(|process| process.info.pid == own));
        assert!(tree_within(all(), &[own]).iter().any(|process| process.info.pid == own));
    }
}
