//! A look at a terminal that is not ours: what the shell of an editor's terminal and its programs do there.
//!
//! Nothing of it changes the terminal or its processes. It is a snapshot that may be old when it is read.

use crate::{LineMode, Waiting};

/// What is seen on the terminal of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalLook {
    /// How the terminal is set.
    pub line_mode: LineMode,
    /// The name of what runs under the process's pid.
    pub name: String,
    /// The keys are for the process itself, and no other process is of its group.
    pub is_in_front_alone: bool,
    /// What the foreground group does about the terminal.
    pub waiting: Waiting,
    /// The processor time that the foreground group and its descendants have used.
    pub ticks: u64,
    /// Where the process waits, where the system tells.
    pub place: Option<WaitingPlace>,
}

/// Where a process waits: the same whenever it gets there by the same calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingPlace {
    /// Where its stack begins, which changes only by `execve`.
    base: u64,
    stack: u64,
}

impl WaitingPlace {
    /// Whether both are of one program: a process that called `execve` in between is another.
    pub fn is_same_program(&self, other: &Self) -> bool {
        self.base == other.base
    }
}

/// Columns and rows of the terminal that a process reads, if it reads one.
#[cfg(target_os = "linux")]
pub fn terminal_size_of(pid: u32) -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(input_of(pid)?).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
pub fn terminal_size_of(_pid: u32) -> Option<(u16, u16)> {
    None
}

/// Whether a process is the one that its terminal's keys are for: a shell is not while a command of it runs.
#[cfg(unix)]
pub fn is_in_foreground(pid: u32) -> Option<bool> {
    let process = crate::process_table::read(i32::try_from(pid).ok()?)?;
    (process.foreground > 0).then_some(process.info.group == process.foreground)
}

/// Not known here.
#[cfg(not(unix))]
pub fn is_in_foreground(_pid: u32) -> Option<bool> {
    None
}

/// What a process reads, opened anew: neither waits for a device nor makes it ours.
#[cfg(target_os = "linux")]
fn input_of(pid: u32) -> Option<std::os::fd::OwnedFd> {
    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(format!("/proc/{pid}/fd/0"), flags, Mode::empty()).ok()
}

/// Looks at the terminal that a process reads; `None` where it reads none, or where the system does not tell.
#[cfg(target_os = "linux")]
pub fn look_at_terminal_of(pid: u32) -> Option<TerminalLook> {
    use crate::process_table::{self, Process};

    let line_mode = LineMode::of(&crate::sys::modes(input_of(pid)?).ok()?);
    let pid = i32::try_from(pid).ok()?;
    let own = process_table::read(pid).filter(|own| own.foreground > 0)?;
    let terminal = std::fs::read_link(format!("/proc/{pid}/fd/0")).ok()?;
    let family = process_table::tree(&[pid]);
    let group: Vec<&Process> =
        family.iter().filter(|each| each.info.group == own.foreground).collect();
    let terminal = terminal.to_str()?;
    let pids: Vec<i32> = group.iter().map(|each| each.info.pid).collect();
    let ticks = process_table::tree(&pids).iter().map(|each| each.info.ticks).sum();
    let is_own = |each: &&Process| each.info.pid == pid;
    Some(TerminalLook {
        line_mode,
        is_in_front_alone: !group.is_empty() && group.iter().all(is_own),
        waiting: process_table::waiting(&group, terminal).0,
        ticks,
        place: place(pid, terminal),
        name: own.info.name,
    })
}

#[cfg(target_os = "linux")]
fn place(pid: i32, terminal: &str) -> Option<WaitingPlace> {
    let stack = crate::process_table::waiting_for_terminal(pid, terminal).1?;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Behind the name, which may hold anything, the 28th field is the 26th.
    let base = stat.rsplit_once(')')?.1.split_whitespace().nth(25)?.parse().ok()?;
    Some(WaitingPlace { base, stack })
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
pub fn look_at_terminal_of(_pid: u32) -> Option<TerminalLook> {
    None
}
