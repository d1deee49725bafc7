//! Starts a program: a terminal, a fork, and what the child needs, all made ready before.
//!
//! Whether `execve` succeeds is not waited for: the child's pipe tells the loop.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::io::Errno;
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

use super::child::{self, Forked, Plan};
use super::inherited::Inherited;
use super::setup;
use crate::journal::{self, Layout};
use crate::protocol::{Failure, Spawn};
use crate::{CommandPipe, PtySize, sys};

/// A forked child on its way to `execve`.
pub(super) struct Launched {
    pub(super) pid: i32,
    pub(super) tty: String,
    pub(super) master: OwnedFd,
    pub(super) slave: OwnedFd,
    pub(super) pipe: OwnedFd,
    pub(super) candidates: Vec<Vec<u8>>,
    pub(super) journal: Option<OwnedFd>,
    pub(super) command_pipe: Option<OwnedFd>,
}

/// Descriptors that stay free, for looks at the process table: without one, no program could be stopped.
const RESERVE: usize = 8;

/// What failed, with its error number.
pub(super) type Refusal = (Failure, i32);

pub(super) fn launch(spawn: &Spawn, inherited: &Inherited) -> Result<Launched, Refusal> {
    let plan = Plan::new(spawn).map_err(|_| (Failure::Exec, libc::EINVAL))?;
    let terminal = open_terminal(spawn.size)
        .map_err(|error| (Failure::Terminal, error.raw_os_error().unwrap_or(0)))?;
    let process = |error: std::io::Error| (Failure::Process, error.raw_os_error().unwrap_or(0));
    let (journal, command_pipe) =
        kept(spawn).map_err(|error| (Failure::Journal, error.raw_os_error().unwrap_or(0)))?;
    let (pipe, report) = setup::pipe().map_err(process)?;
    let _reserve = reserve(&terminal.master).map_err(process)?;
    let Forked(pid) = child::fork(&plan, &terminal.slave, &report, inherited).map_err(process)?;
    Ok(Launched {
        pid,
        tty: terminal.name,
        master: terminal.master,
        slave: terminal.slave,
        pipe,
        candidates: plan.candidates(),
        journal,
        command_pipe,
    })
}

/// What is held for the next server: the journal, the command pipe.
fn kept(spawn: &Spawn) -> std::io::Result<(Option<OwnedFd>, Option<OwnedFd>)> {
    let path = |bytes| Path::new(OsStr::from_bytes(bytes));
    let folder = Some(&spawn.private_folder).filter(|folder| !folder.is_empty());
    let journal = match spawn.journal {
        Some(size) => {
            let layout = Layout::of(size).ok_or(Errno::INVAL)?;
            Some(journal::make(&layout, folder.map(|folder| path(folder)))?)
        }
        None => None,
    };
    let pipe = Some(&spawn.command_pipe).filter(|pipe| !pipe.is_empty());
    let command_pipe = pipe.map(|pipe| CommandPipe::open(path(pipe))).transpose()?;
    Ok((journal, command_pipe))
}

/// Fails unless [`RESERVE`] descriptors are left.
fn reserve(any: &OwnedFd) -> std::io::Result<Vec<OwnedFd>> {
    let duplicate = |_| Ok(rustix::io::fcntl_dupfd_cloexec(any, 0)?);
    (0..RESERVE).map(duplicate).collect()
}

struct Terminal {
    master: OwnedFd,
    slave: OwnedFd,
    name: String,
}

fn open_terminal(size: PtySize) -> std::io::Result<Terminal> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    #[cfg(target_os = "linux")]
    let flags = flags | OpenptFlags::CLOEXEC;
    let master = rustix::pty::openpt(flags)?;
    rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC)?;
    rustix::pty::grantpt(&master)?;
    rustix::pty::unlockpt(&master)?;
    let name = rustix::pty::ptsname(&master, Vec::new())?;
    // By the master, where the system can: the name may mean another terminal in our /dev.
    #[cfg(target_os = "linux")]
    let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
    #[cfg(not(target_os = "linux"))]
    let slave = {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        rustix::fs::open(&*name, flags, Mode::empty())?
    };

    let mut modes = sys::modes(&slave)?;
    modes.c_iflag |= libc::IUTF8;
    sys::set_modes(&slave, &modes)?;
    let size = Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&slave, size)?;
    let status = rustix::fs::fcntl_getfl(&master)?;
    rustix::fs::fcntl_setfl(&master, status | rustix::fs::OFlags::NONBLOCK)?;
    Ok(Terminal { master, slave, name: name.to_string_lossy().into_owned() })
}
