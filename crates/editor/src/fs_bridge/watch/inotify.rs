//! Linux: one inotify descriptor per bridge, read by one thread.
//!
//! A thread and not a task: it outlives no runtime, belongs to none, and needs nothing unsafe.

use std::collections::HashMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
use rustix::fs::inotify::{Event, remove_watch};
use rustix::io::Errno;
use tokio::sync::Notify;

use super::{TELLING, Watch};

/// Room for a few dozen events at a time.
const BUFFER: usize = 4096;

/// The descriptor and the thread that reads it; both end with this.
#[derive(Debug)]
pub(super) struct Watcher {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    inotify: OwnedFd,
    /// Readable when the thread is to end.
    stop: OwnedFd,
    /// By watch descriptor, which the kernel does not use again.
    jobs: Mutex<HashMap<i32, Arc<Notify>>>,
}

/// A watched folder; dropping it ends the watch.
#[derive(Debug)]
pub(super) struct Registration {
    shared: Weak<Shared>,
    descriptor: i32,
}

impl Watcher {
    pub(super) fn start(_execute: &Path) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            inotify: init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?,
            stop: eventfd(0, EventfdFlags::CLOEXEC)?,
            jobs: Mutex::default(),
        });
        let reading = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("editor-watch".into()).stack_size(128 << 10);
        thread.spawn(move || {
            if let Err(error) = read(&reading) {
                tracing::warn!(%error, "notices of the editor's answers have ended");
            }
        })?;
        Ok(Self { shared })
    }

    pub(super) fn watch(&self, folder: &Path) -> io::Result<Watch> {
        let (changed, registration) = self.register(folder)?;
        Ok(Watch { changed, _registration: registration })
    }

    pub(super) fn register(&self, folder: &Path) -> io::Result<(Arc<Notify>, Registration)> {
        let changed = Arc::new(Notify::new());
        let flags =
            WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::MODIFY | WatchFlags::ONLYDIR;
        // Held while the watch is made: an event of it must find its job.
        let mut jobs = self.shared.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let descriptor = add_watch(&self.shared.inotify, folder, flags)?;
        jobs.insert(descriptor, Arc::clone(&changed));
        Ok((changed, Registration { shared: Arc::downgrade(&self.shared), descriptor }))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // Not waited for: closing the descriptor can take the kernel a while.
        rustix::io::write(&self.shared.stop, &1_u64.to_ne_bytes()).ok();
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            let mut jobs = shared.jobs.lock().unwrap_or_else(PoisonError::into_inner);
            jobs.remove(&self.descriptor);
            // The folder may be gone already, and its watch with it.
            remove_watch(&shared.inotify, self.descriptor).ok();
        }
    }
}

fn read(shared: &Shared) -> io::Result<()> {
    loop {
        let mut ready =
            [PollFd::new(&shared.inotify, PollFlags::IN), PollFd::new(&shared.stop, PollFlags::IN)];
        match poll(&mut ready, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if ready[1].revents().contains(PollFlags::IN) {
            return Ok(());
        }
        drain(shared)?;
    }
}

/// Reads until there is nothing left.
fn drain(shared: &Shared) -> io::Result<()> {
    let mut buffer = [MaybeUninit::uninit(); BUFFER];
    let mut reader = Reader::new(&shared.inotify, &mut buffer);
    loop {
        let event = match reader.next() {
            Ok(event) => event,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let jobs = shared.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
            jobs.values().for_each(|job| job.notify_one());
        } else if is_telling(&event)
            && let Some(job) = jobs.get(&event.wd())
        {
            job.notify_one();
        }
    }
}

fn is_telling(event: &Event<'_>) -> bool {
    let name = event.file_name().and_then(|name| name.to_str().ok());
    name.is_some_and(|name| TELLING.contains(&name))
}
