//! Fork, and what the child does up to `execve`.
//!
//! Everything the child needs is allocated in a [`Plan`] before the fork; after it the child
//! makes system calls only. If it cannot go on it writes a report (failure, error number, which
//! candidate) to a close-on-exec pipe and exits; if `execve` succeeds the pipe closes unwritten.
//!
//! The search for the program is `execvp`'s: each directory of `PATH`, past those that lack it or
//! forbid it; a text file without `#!` is run by `/bin/sh`.

use std::ffi::{CStr, CString, NulError, c_char};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;

use super::inherited::Inherited;
use crate::protocol::{Failure, Spawn};
use crate::sys::{self, Descriptors};

const SHELL: &CStr = c"/bin/sh";

/// Failure, error number, candidate: one byte and two little-endian words.
const REPORT_SIZE: usize = 9;

/// How much of a file is looked at to tell a script from a binary.
const SCRIPT_PROBE: usize = 256;

/// Everything `execve` needs, as it needs it.
pub(super) struct Plan {
    candidates: Vec<CString>,
    cwd: CString,
    /// `/bin/sh`, a place for the script, then the arguments, then null. The program's own list
    /// is this one from the second entry on.
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    program: CString,
    /// What the pointers point at.
    _strings: Vec<CString>,
}

/// The pid of a forked child.
pub(super) struct Forked(pub(super) i32);

/// Why a child did not become the program.
pub(super) struct Report {
    pub(super) failure: Failure,
    pub(super) errno: i32,
    pub(super) candidate: usize,
}

impl Plan {
    pub(super) fn new(spawn: &Spawn) -> Result<Self, NulError> {
        let c_strings = |list: &[Vec<u8>]| -> Result<Vec<CString>, NulError> {
            list.iter().map(|bytes| CString::new(bytes.as_slice())).collect()
        };
        let program = CString::new(spawn.program.as_slice())?;
        let mut strings = c_strings(&spawn.args)?;
        let count = strings.len();
        strings.extend(c_strings(&spawn.env)?);
        // The strings' own memory does not move when the vector of them does.
        let pointer = |string: &CString| string.as_ptr();
        let head = [SHELL.as_ptr(), program.as_ptr()];
        let end = [ptr::null()];
        let arguments = strings[..count].iter().map(pointer);
        let environment = strings[count..].iter().map(pointer);
        Ok(Self {
            candidates: c_strings(&candidates(spawn))?,
            cwd: CString::new(spawn.cwd.as_slice())?,
            arguments: head.into_iter().chain(arguments).chain(end).collect(),
            environment: environment.chain(end).collect(),
            program,
            _strings: strings,
        })
    }

    pub(super) fn candidates(&self) -> Vec<Vec<u8>> {
        self.candidates.iter().map(|path| path.to_bytes().to_vec()).collect()
    }
}

/// Forks; the child executes the plan on the terminal and never returns here.
pub(super) fn fork(
    plan: &Plan,
    slave: &OwnedFd,
    report: &OwnedFd,
    inherited: &Inherited,
) -> io::Result<Forked> {
    // Written by the child only, in its copy; here, because the child must not allocate.
    let mut shell_arguments = plan.arguments.clone();
    // SAFETY: the keeper has one thread, so the child's copy of memory is consistent; the child
    // makes async-signal-safe calls only and ends in execve or _exit.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let _never_unwinds = AbortOnUnwind;
            let (failure, errno, candidate) =
                become_program(plan, &mut shell_arguments, slave, inherited);
            write_report(report, failure, errno, candidate);
            sys::exit_now(127)
        }
        pid => Ok(Forked(pid)),
    }
}

/// A panic must not unwind into the child's copy of the keeper, whose destructors remove folders.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        std::process::abort();
    }
}

/// The report in the pipe, if the child wrote one. Does not wait when the pipe is readable.
pub(super) fn read_report(pipe: &OwnedFd) -> Option<Report> {
    let mut bytes = [0; REPORT_SIZE];
    let count = rustix::io::retry_on_intr(|| rustix::io::read(pipe, &mut bytes)).ok()?;
    if count != REPORT_SIZE {
        return None;
    }
    let (errno, candidate) = bytes[1..].split_first_chunk()?;
    Some(Report {
        failure: Failure::from_code(bytes[0]).ok()?,
        errno: i32::from_le_bytes(*errno),
        candidate: u32::from_le_bytes(*candidate.first_chunk()?) as usize,
    })
}

fn write_report(pipe: &OwnedFd, failure: Failure, errno: i32, candidate: usize) {
    let mut bytes = [0; REPORT_SIZE];
    bytes[0] = failure as u8;
    bytes[1..5].copy_from_slice(&errno.to_le_bytes());
    bytes[5..].copy_from_slice(&(candidate as u32).to_le_bytes());
    let _ = rustix::io::write(pipe, &bytes);
}

/// In the child. Returns only with what went wrong.
fn become_program(
    plan: &Plan,
    shell_arguments: &mut [*const c_char],
    slave: &OwnedFd,
    inherited: &Inherited,
) -> (Failure, i32, usize) {
    let terminal = |errno: rustix::io::Errno| (Failure::Terminal, errno.raw_os_error(), 0);
    sys::reset_signals();
    if let Err(errno) = rustix::process::setsid() {
        return terminal(errno);
    }
    if let Err(errno) = rustix::process::ioctl_tiocsctty(slave) {
        return terminal(errno);
    }
    for target in 0..3 {
        // SAFETY: dup2 takes integers. The keeper's own 0, 1 and 2 are /dev/null, which nothing
        // in this child uses any more.
        if unsafe { libc::dup2(slave.as_raw_fd(), target) } < 0 {
            return (Failure::Terminal, errno(), 0);
        }
    }
    inherited.restore();
    // Every descriptor of the keeper is close-on-exec by itself; this is for one that is not.
    sys::close_from(3, Descriptors::CloseOnExec);
    if let Err(errno) = rustix::process::chdir(plan.cwd.as_c_str()) {
        return (Failure::Cwd, errno.raw_os_error(), 0);
    }
    execute(plan, shell_arguments)
}

fn execute(plan: &Plan, shell_arguments: &mut [*const c_char]) -> (Failure, i32, usize) {
    debug_assert_eq!(plan.arguments.get(1), Some(&plan.program.as_ptr()));
    let mut found = (Failure::NotFound, libc::ENOENT, 0);
    for (index, path) in plan.candidates.iter().enumerate() {
        execve(path, &plan.arguments[1..], &plan.environment);
        match errno() {
            libc::ENOEXEC if is_text(path) => {
                shell_arguments[1] = path.as_ptr();
                execve(SHELL, shell_arguments, &plan.environment);
                return (Failure::Exec, errno(), index);
            }
            libc::ENOENT if is_there(path) => return (Failure::Interpreter, libc::ENOENT, index),
            libc::ENOENT | libc::ENOTDIR | libc::ENODEV | libc::ESTALE | libc::ETIMEDOUT => {}
            libc::EACCES if found.0 == Failure::NotFound => {
                let failure = if is_directory(path) { Failure::Directory } else { Failure::Denied };
                found = (failure, libc::EACCES, index);
            }
            libc::EACCES => {}
            other => return (Failure::Exec, other, index),
        }
    }
    found
}

/// Returns only when it failed, with errno set.
fn execve(path: &CStr, arguments: &[*const c_char], environment: &[*const c_char]) {
    // SAFETY: both lists end in null and hold pointers to NUL-terminated strings that live in the
    // plan, which lives as long as this process image.
    unsafe {
        libc::execve(path.as_ptr(), arguments.as_ptr(), environment.as_ptr());
    }
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

fn is_there(path: &CStr) -> bool {
    rustix::fs::stat(path).is_ok()
}

fn is_directory(path: &CStr) -> bool {
    rustix::fs::stat(path)
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir())
}

/// A file whose beginning holds no NUL: a script, as shells judge.
fn is_text(path: &CStr) -> bool {
    // SAFETY: a NUL-terminated path and constant flags.
    let descriptor = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if descriptor < 0 {
        return false;
    }
    // SAFETY: just opened and owned by nobody else; it is closed by exec or exit.
    let file = unsafe { BorrowedFd::borrow_raw(descriptor) };
    let mut bytes = [0; SCRIPT_PROBE];
    rustix::io::read(file, &mut bytes).is_ok_and(|count| !bytes[..count].contains(&0))
}

/// The paths to try, in order.
fn candidates(spawn: &Spawn) -> Vec<Vec<u8>> {
    if spawn.program.is_empty() || spawn.program.contains(&b'/') {
        return vec![spawn.program.clone()];
    }
    let directories = spawn.search_path().split(|&byte| byte == b':');
    directories
        .map(|directory| {
            // An empty entry means the working directory.
            let directory = if directory.is_empty() { b"." } else { directory };
            [directory, b"/", &spawn.program].concat()
        })
        .collect()
}
