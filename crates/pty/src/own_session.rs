//! Processes beside the programs on terminals (debug adapters, compilers, language servers): they must not
//! have our controlling terminal.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::Signal;

/// Makes a command start in a session of its own, without a controlling terminal.
///
/// A process group alone is not enough: its processes can still open `/dev/tty` and put themselves into
/// the foreground there, and whoever runs the server on that terminal is stopped when it next reads a key.
/// The process also leads a group of its own, whose number is its pid.
pub fn start_in_own_session(command: &mut Command) {
    let own_session = || Ok(rustix::process::setsid().map(drop)?);
    // SAFETY: runs between fork and exec, where only async-signal-safe calls are allowed: setsid is one,
    // and neither it nor the conversion of its error allocates.
    unsafe {
        command.pre_exec(own_session);
    }
}

/// Sends a signal to a process that is not a program of a session; one that is gone is no error.
pub fn end_process(pid: u32, signal: Signal) -> io::Result<()> {
    let pid = i32::try_from(pid).map_err(io::Error::other)?;
    unless_gone(crate::sys::kill(pid, signal.number()))
}

/// Sends a signal to a process group that is none of a session; one that is gone is no error.
pub fn end_group(group: u32, signal: Signal) -> io::Result<()> {
    let group = i32::try_from(group).map_err(io::Error::other)?;
    unless_gone(crate::sys::kill_group(group, signal.number()))
}

fn unless_gone(sent: io::Result<()>) -> io::Result<()> {
    match sent {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        sent => sent,
    }
}
