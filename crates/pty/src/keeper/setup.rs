//! Makes this process a keeper: its session, its descriptors, its signals.
//!
//! It leaves the server's session, so that a Ctrl+C in the user's terminal does not end it
//! before it has cleaned up. It has no descriptors but its socket (which came as standard input),
//! `/dev/null` as standard input and output, and the server's standard error for a panic's last
//! words, which is let go as soon as the server is gone so that nobody waits for its end.
//!
//! A socket that listens is that of a lasting keeper. It has no standard error, and is nobody's child:
//! the process that was started goes at once, so that the server has no more to reap.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::net::SocketType;

use super::inherited::Inherited;
use crate::sys::{self, Descriptors};

/// What the keeper has to work with.
pub(super) struct Own {
    pub(super) socket: OwnedFd,
    pub(super) is_lasting: bool,
    pub(super) child_pipe: OwnedFd,
    pub(super) inherited: Inherited,
}

pub(super) fn become_keeper() -> io::Result<Own> {
    let is_lasting = is_listening(rustix::stdio::stdin());
    if is_lasting {
        sys::fork_away()?;
    }
    let _ = rustix::process::setsid();
    sys::reset_signals();
    // The last is for a journal that is larger than a file may be: an error then.
    let ignored = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGPIPE, libc::SIGXFSZ];
    for signal in ignored {
        sys::ignore_signal(signal);
    }
    sys::set_process_name(c"tb-keeper");

    // Nothing of ours is open yet: whatever is there was inherited.
    sys::close_from(3, Descriptors::Close);
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    if rustix::net::sockopt::socket_type(&socket)? != SocketType::STREAM {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    set_nonblocking(&socket)?;
    let null = open_null()?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::process::chdir("/")?;

    #[cfg(target_os = "linux")]
    match rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        // Every kernel can; qemu-user cannot. Orphans are lost there then, and programs work.
        Ok(()) | Err(rustix::io::Errno::INVAL) => {}
        Err(error) => return Err(error.into()),
    }
    let (child_pipe, written) = pipe()?;
    set_nonblocking(&child_pipe)?;
    set_nonblocking(&written)?;
    sys::write_on_child_exit(written)?;
    Ok(Own { socket, is_lasting, child_pipe, inherited: Inherited::replace() })
}

/// Whether a socket listens.
#[cfg(not(target_vendor = "apple"))]
fn is_listening(socket: BorrowedFd<'_>) -> bool {
    rustix::net::sockopt::socket_acceptconn(socket).unwrap_or(false)
}

/// The system does not tell, but a socket that listens has no other end.
#[cfg(target_vendor = "apple")]
fn is_listening(socket: BorrowedFd<'_>) -> bool {
    matches!(rustix::net::getpeername(socket), Err(rustix::io::Errno::NOTCONN))
}

/// Lets go of the server's standard error.
pub(super) fn release_stderr() {
    if let Ok(null) = open_null() {
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

/// A pipe, both ends close-on-exec: (read, write).
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    #[cfg(not(target_vendor = "apple"))]
    return Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?);
    #[cfg(target_vendor = "apple")]
    {
        // Single-threaded: no fork can come between.
        let ends = rustix::pipe::pipe()?;
        rustix::io::fcntl_setfd(&ends.0, rustix::io::FdFlags::CLOEXEC)?;
        rustix::io::fcntl_setfd(&ends.1, rustix::io::FdFlags::CLOEXEC)?;
        Ok(ends)
    }
}

pub(super) fn set_nonblocking(descriptor: &OwnedFd) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(descriptor)?;
    Ok(rustix::fs::fcntl_setfl(descriptor, flags | OFlags::NONBLOCK)?)
}

fn open_null() -> io::Result<OwnedFd> {
    Ok(rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}
