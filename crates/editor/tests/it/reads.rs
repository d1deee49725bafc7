//! [`Reads`]: whether somebody reads a file. Only Linux tells.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::inotify;

use crate::support::LIMIT;

/// Tells when somebody has opened a file, read it and closed it.
pub(crate) struct Reads(OwnedFd);

impl Reads {
    pub(crate) fn of(file: &Path) -> Self {
        let events = inotify::init(inotify::CreateFlags::CLOEXEC).expect("inotify");
        inotify::add_watch(&events, file, inotify::WatchFlags::CLOSE_NOWRITE).expect("a watch");
        Self(events)
    }

    /// Waits until that has happened.
    pub(crate) fn wait_for_one(&self) {
        let limit = Timespec { tv_sec: LIMIT.as_secs() as i64, tv_nsec: 0 };
        let ready = rustix::event::poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&limit));
        assert_eq!(ready, Ok(1), "nobody reads the file");
    }
}
