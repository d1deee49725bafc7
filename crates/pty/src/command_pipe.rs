//! A named pipe through which a shell is given commands.
//!
//! The server holds it open for reading and writing, so that neither a write nor a shell's opening
//! of it ever waits for the other. What it holds is bounded (`PIPE_SIZE` on Linux, 8 KiB on macOS); a command
//! that does not fit is refused whole.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

/// Bytes that the pipe holds; the most that an unprivileged process may ask for.
#[cfg(target_os = "linux")]
const PIPE_SIZE: usize = 1024 * 1024;

/// The server's end of the pipe.
#[derive(Debug)]
pub struct CommandPipe {
    /// Until it is closed.
    descriptor: Option<OwnedFd>,
    capacity: usize,
}

impl CommandPipe {
    /// Makes the pipe in a folder that is ours; only its owner may open it, whatever the umask.
    pub fn create(path: &Path) -> io::Result<Self> {
        let owner_only = Mode::RUSR | Mode::WUSR;
        make_fifo(path, owner_only)?;
        rustix::fs::chmod(path, owner_only)?;
        let descriptor = Self::open(path)?;
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&descriptor, PIPE_SIZE);
        Self::of(descriptor)
    }

    /// Opens a pipe that was made so: for reading and writing, so that it never waits.
    pub(crate) fn open(path: &Path) -> io::Result<OwnedFd> {
        let owner_only = Mode::RUSR | Mode::WUSR;
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open(path, flags, Mode::empty())?;
        let found = rustix::fs::fstat(&descriptor)?;
        let is_ours = FileType::from_raw_mode(found.st_mode) == FileType::Fifo
            && Mode::from_raw_mode(found.st_mode) == owner_only
            && found.st_uid == rustix::process::geteuid().as_raw();
        if !is_ours {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the pipe is not private"));
        }
        Ok(descriptor)
    }

    /// A pipe that is open already.
    pub(crate) fn of(descriptor: OwnedFd) -> io::Result<Self> {
        let capacity = capacity(&descriptor)?;
        Ok(Self { descriptor: Some(descriptor), capacity })
    }

    fn descriptor(&self) -> io::Result<&OwnedFd> {
        let closed = || io::Error::new(io::ErrorKind::NotConnected, "the pipe is closed");
        self.descriptor.as_ref().ok_or_else(closed)
    }

    /// Closes it: nobody will read it any more.
    pub fn close(&mut self) {
        self.descriptor = None;
    }

    /// The longest message that fits.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Writes a message, whole or not at all.
    pub fn write(&self, message: &[u8]) -> io::Result<()> {
        if message.len() > self.capacity {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let descriptor = self.descriptor()?;
        let mut rest = message;
        while !rest.is_empty() {
            let count = rustix::io::retry_on_intr(|| rustix::io::write(descriptor, rest))?;
            rest = &rest[count..];
        }
        Ok(())
    }

    /// Bytes that nobody has read.
    pub fn unread(&self) -> io::Result<u64> {
        Ok(rustix::io::ioctl_fionread(self.descriptor()?)?)
    }

    /// Throws away what nobody read.
    pub fn drain(&self) -> io::Result<()> {
        if self.unread()? == 0 {
            return Ok(());
        }
        let descriptor = self.descriptor()?;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match rustix::io::retry_on_intr(|| rustix::io::read(descriptor, &mut buffer)) {
                Ok(0) | Err(Errno::AGAIN) => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn capacity(pipe: &OwnedFd) -> io::Result<usize> {
    Ok(rustix::pipe::fcntl_getpipe_size(pipe)?)
}

/// What a named pipe of macOS takes (`net.local.stream.recvspace`): it is a pair of sockets there, whose size
/// cannot be asked for or changed.
#[cfg(not(target_os = "linux"))]
#[allow(clippy::unnecessary_wraps)]
fn capacity(_pipe: &OwnedFd) -> io::Result<usize> {
    Ok(8 * 1024)
}

#[cfg(not(target_vendor = "apple"))]
fn make_fifo(path: &Path, mode: Mode) -> io::Result<()> {
    Ok(rustix::fs::mkfifoat(rustix::fs::CWD, path, mode)?)
}

#[cfg(target_vendor = "apple")]
fn make_fifo(path: &Path, mode: Mode) -> io::Result<()> {
    crate::sys::make_fifo(path, mode.as_raw_mode())
}
