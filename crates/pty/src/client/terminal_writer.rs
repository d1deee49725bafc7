//! Writing to a program's terminal, and waiting while it is full.
//!
//! The terminal is watched for writing only once a write has found it full. Otherwise each read by the program would wake
//! the runtime.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::sys;

/// How long a write to a full terminal waits where the process has no free descriptor to watch it with.
const RETRY_WRITE: Duration = Duration::from_millis(10);

#[derive(Debug, Default)]
pub(super) struct TerminalWriter {
    /// The last write found the terminal full.
    is_full: AtomicBool,
    /// A duplicate of the master, registered for writing by the first write that has to wait.
    watched: OnceLock<AsyncFd<OwnedFd>>,
}

impl TerminalWriter {
    pub(super) fn try_write(&self, master: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
        let is_full = |written: &io::Result<usize>| {
            written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
        };
        // The runtime has to learn that the terminal is full, and may not have heard yet that it no longer is.
        let written = self
            .watched
            .get()
            .map(|watched| watched.try_io(Interest::WRITABLE, |master| write_to(master, bytes)));
        let written = match written {
            Some(written) if !is_full(&written) => written,
            _ => write_to(master, bytes),
        };
        self.is_full.store(is_full(&written), Ordering::Relaxed);
        written
    }

    /// Waits until a write would take something, as far as is known. Cancel safe.
    pub(super) async fn writable(&self, master: &OwnedFd) -> io::Result<()> {
        if !self.is_full.load(Ordering::Relaxed) {
            return Ok(());
        }
        let watched = match self.watched.get() {
            Some(watched) => watched,
            None => {
                let Ok(duplicate) = master.try_clone() else {
                    // No descriptor is free.
                    tokio::time::sleep(RETRY_WRITE).await;
                    return Ok(());
                };
                let watched = sys::watch(duplicate, Interest::WRITABLE)?;
                self.watched.get_or_init(|| watched)
            }
        };
        watched.writable().await.map(|mut ready| ready.retain_ready())
    }
}

fn write_to(master: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    match rustix::io::retry_on_intr(|| rustix::io::write(master, bytes)) {
        Err(Errno::IO) => Err(io::ErrorKind::BrokenPipe.into()),
        written => Ok(written?),
    }
}
