//! The terminal of a process that is not ours: its size.
//!
//! Linux: `/proc/PID/fd/0` of a process of this user is its terminal, which may be opened and asked. On other systems
//! the size is not known.

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

/// Not known here.
#[cfg(not(target_os = "linux"))]
pub fn terminal_size_of(_pid: u32) -> Option<(u16, u16)> {
    None
}
