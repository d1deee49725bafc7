//! The terminal of a process that is not ours: its size, and who uses it.
//!
//! Linux: `/proc/PID/fd/0` of a process of this user is its terminal, which may be opened and asked. On other systems
//! nothing is known.

/// Columns and rows of the terminal that a process reads, if it reads one.
#[cfg(target_os = "linux")]
pub fn terminal_size_of(pid: u32) -> Option<(u16, u16)> {
    use rustix::fs::{Mode, OFlags};
    // Neither waits for the device nor makes it ours.
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let device = rustix::fs::open(format!("/proc/{pid}/fd/0"), flags, Mode::empty()).ok()?;
    let size = rustix::termios::tcgetwinsize(&device).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

/// Whether a process is the one that its terminal's keys are for: a shell is not while a command of it runs.
#[cfg(target_os = "linux")]
pub fn is_in_foreground(pid: u32) -> Option<bool> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Behind the name, which may hold anything: state, parent, group, session, terminal, the terminal's group.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let (group, foreground) = (fields.get(2)?, fields.get(5)?);
    (*foreground != "-1").then_some(group == foreground)
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
pub fn is_in_foreground(_pid: u32) -> Option<bool> {
    None
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
pub fn terminal_size_of(_pid: u32) -> Option<(u16, u16)> {
    None
}
