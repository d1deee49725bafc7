//! Safe wrappers of the libc calls that rustix has no safe form of.
//!
//! Thin: no policy. What runs between fork and exec is in `keeper::child`, which says there what
//! it may use of this module.

#[cfg(target_os = "macos")]
pub(crate) mod libproc;

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Sends a signal to one process. Pids below 2 are refused: they mean groups, all, or init.
pub(crate) fn kill(pid: i32, signal: i32) -> io::Result<()> {
    if pid < 2 {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    // SAFETY: takes two integers; touches no memory of ours.
    check(unsafe { libc::kill(pid, signal) })
}

/// Sends a signal to every process of a group.
pub(crate) fn kill_group(group: i32, signal: i32) -> io::Result<()> {
    if group < 2 {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    // SAFETY: takes two integers; touches no memory of ours.
    check(unsafe { libc::kill(-group, signal) })
}

/// Goes on in a child whose parent exits at once, so that nobody has to wait for this process. Only
/// for a process with one thread.
pub(crate) fn fork_away() -> io::Result<()> {
    // SAFETY: with one thread the child has all that the parent had; the parent only exits.
    match unsafe { libc::fork() } {
        0 => Ok(()),
        -1 => Err(io::Error::last_os_error()),
        _ => exit_now(0),
    }
}

/// Who is at the other end of a Unix socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PeerProcess {
    pub(crate) user: u32,
    /// 0 where the system does not tell.
    pub(crate) pid: u32,
}

#[cfg(target_os = "linux")]
pub(crate) fn peer(socket: impl AsFd) -> io::Result<PeerProcess> {
    let found = rustix::net::sockopt::socket_peercred(socket)?;
    Ok(PeerProcess { user: found.uid.as_raw(), pid: found.pid.as_raw_nonzero().get() as u32 })
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn peer(socket: impl AsFd) -> io::Result<PeerProcess> {
    use std::os::fd::AsRawFd;
    let socket = socket.as_fd().as_raw_fd();
    let (mut user, mut group) = (0, 0);
    // SAFETY: the two numbers live through the call, which fills them; the descriptor is open.
    check(unsafe { libc::getpeereid(socket, &raw mut user, &raw mut group) })?;
    let mut pid: libc::pid_t = 0;
    let mut size = size_of::<libc::pid_t>() as libc::socklen_t;
    let place = (&raw mut pid).cast();
    // SAFETY: as above; the size is that of the number.
    let found = check(unsafe {
        libc::getsockopt(socket, libc::SOL_LOCAL, libc::LOCAL_PEERPID, place, &raw mut size)
    });
    Ok(PeerProcess { user, pid: found.map_or(0, |()| pid as u32) })
}

/// Makes a named pipe.
#[cfg(target_vendor = "apple")]
pub(crate) fn make_fifo(path: &std::path::Path, mode: libc::mode_t) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: `path` is a NUL-terminated string that the call only reads.
    check(unsafe { libc::mkfifo(path.as_ptr(), mode) })
}

/// Names this process for `ps` and `top`.
pub(crate) fn set_process_name(name: &CStr) {
    #[cfg(target_os = "linux")]
    // SAFETY: `name` is a NUL-terminated string that the call only reads.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, name.as_ptr());
    }
    #[cfg(not(target_os = "linux"))]
    let _ = name;
}

/// What is done with a range of descriptors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Descriptors {
    Close,
    CloseOnExec,
}

/// Descriptors that are closed one by one, where there is no other way.
pub(crate) const MOST_DESCRIPTORS: i32 = 4096;

/// Closes, or marks, every descriptor from `first` on; allocates nothing.
///
/// The caller must own all of them: an `OwnedFd` among them that is used later is a bug.
pub(crate) fn close_from(first: i32, how: Descriptors) {
    #[cfg(target_os = "linux")]
    {
        const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
        let flags = if how == Descriptors::Close { 0 } else { CLOSE_RANGE_CLOEXEC };
        // SAFETY: takes three integers; that no descriptor in use is closed is the caller's word.
        let done = unsafe {
            libc::syscall(libc::SYS_close_range, first as libc::c_uint, libc::c_uint::MAX, flags)
        };
        if done == 0 {
            return;
        }
    }
    // Systems and kernels without close_range: one by one, up to a bound that is not the limit of
    // a process allowed a billion descriptors.
    for descriptor in first..MOST_DESCRIPTORS {
        // SAFETY: integers only; the caller's word as above.
        unsafe {
            match how {
                Descriptors::Close => _ = libc::close(descriptor),
                Descriptors::CloseOnExec => {
                    libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
                }
            }
        }
    }
}

/// A terminal's modes. By libc, since rustix asks with a call that qemu-user does not know.
pub(crate) fn modes(terminal: impl AsFd) -> io::Result<libc::termios> {
    use std::os::fd::AsRawFd;
    // SAFETY: all-zero is a valid value, and the structure lives through the call, which fills it.
    unsafe {
        let mut modes: libc::termios = std::mem::zeroed();
        check(libc::tcgetattr(terminal.as_fd().as_raw_fd(), &raw mut modes))?;
        Ok(modes)
    }
}

/// Sets them at once.
pub(crate) fn set_modes(terminal: impl AsFd, modes: &libc::termios) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    // SAFETY: the structure lives through the call, which only reads it.
    check(unsafe { libc::tcsetattr(terminal.as_fd().as_raw_fd(), libc::TCSANOW, modes) })
}

/// Throws away what a terminal's program printed and nobody will read. On macOS a leader's exit is not over
/// before that was read, even when it was killed.
pub(crate) fn discard_output(master: &OwnedFd) {
    #[cfg(target_vendor = "apple")]
    let _ = rustix::termios::tcflush(master, rustix::termios::QueueSelector::OFlush);
    #[cfg(not(target_vendor = "apple"))]
    let _ = master;
}

/// Ignores a signal.
pub(crate) fn ignore_signal(signal: i32) {
    // SAFETY: SIG_IGN is a valid disposition; no handler of ours is involved.
    unsafe {
        libc::signal(signal, libc::SIG_IGN);
    }
}

/// Gives every signal its default disposition and unblocks all. Async-signal-safe.
pub(crate) fn reset_signals() {
    reset_dispositions();
    // SAFETY: the set lives on this stack, is all-zero valid and is filled before it is read.
    unsafe {
        let mut empty: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut empty);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const empty, std::ptr::null_mut());
    }
}

/// By the system call: libc hides the two signals that its threads use, and somebody may have
/// left those ignored too.
#[cfg(target_os = "linux")]
fn reset_dispositions() {
    const SIGNALS: libc::c_int = 64;
    const SET_SIZE: libc::size_t = 8;
    // Longer than the kernel's structure on any architecture; all zero is SIG_DFL, no flags.
    let default = [0u64; 8];
    for signal in 1..=SIGNALS {
        // SAFETY: the kernel reads the structure, which lives through the call; SIG_DFL is a
        // valid disposition; numbers that cannot be changed give an error of no interest.
        unsafe {
            let nowhere = std::ptr::null_mut::<u64>();
            libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), nowhere, SET_SIZE);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn reset_dispositions() {
    for signal in 1..=31 {
        // SAFETY: SIG_DFL is a valid disposition; errors are of no interest.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

static CHILD_PIPE: AtomicI32 = AtomicI32::new(-1);

/// From now on each `SIGCHLD` writes a byte to `pipe`, which must be non-blocking and is kept
/// for the rest of the process's life.
pub(crate) fn write_on_child_exit(pipe: OwnedFd) -> io::Result<()> {
    CHILD_PIPE.store(pipe.into_raw_fd(), Ordering::Relaxed);
    // SAFETY: the structure is all-zero valid and lives through the call; the handler has the
    // signature that a disposition without SA_SIGINFO asks for, and is async-signal-safe.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_child_exit as extern "C" fn(libc::c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART | libc::SA_NOCLDSTOP;
        check(libc::sigaction(libc::SIGCHLD, &raw const action, std::ptr::null_mut()))
    }
}

extern "C" fn on_child_exit(_: libc::c_int) {
    // SAFETY: write is async-signal-safe and reads one static byte; a full pipe is no loss, since
    // one byte in it wakes the loop. errno is put back for whoever was interrupted.
    unsafe {
        let errno = errno_place();
        let saved = *errno;
        libc::write(CHILD_PIPE.load(Ordering::Relaxed), b"!".as_ptr().cast(), 1);
        *errno = saved;
    }
}

/// Registers a descriptor with the runtime, which the caller must be in.
pub(crate) fn watch(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is open, and nothing replaces or closes it while the `AsyncFd` has it.
    Ok(unsafe { AsyncFd::register_with_interest(descriptor, interest) }?)
}

/// Ends the process at once: no destructors, no exit handlers.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: never returns; takes an integer.
    unsafe { libc::_exit(code) }
}

#[cfg(target_os = "linux")]
fn errno_place() -> *mut libc::c_int {
    // SAFETY: always gives this thread's valid errno location.
    unsafe { libc::__errno_location() }
}

#[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
fn errno_place() -> *mut libc::c_int {
    // SAFETY: always gives this thread's valid errno location.
    unsafe { libc::__error() }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives memory that was freed back to the system, as far as the allocator can. It may take some
/// milliseconds, so not for a task.
pub fn release_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it takes the allocator's own locks and no memory that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}
