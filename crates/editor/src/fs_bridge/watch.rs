//! Notice of changes in job folders: one watcher per bridge, one wake-up per job.
//!
//! A watcher may miss nothing it promised: a job is watched before its command is there to be seen.
//! What it cannot promise (the system's watches are used up, a file system without notices) the
//! caller's polling covers, so a watcher that cannot be made is no error.
//!
//! Linux has its own, with only the events that matter and nothing to wait for when a job is watched;
//! other systems go through the `notify` crate, which would wake its thread for each file opened.

#[cfg(target_os = "linux")]
mod inotify;
#[cfg(any(test, not(target_os = "linux")))]
mod portable;

use std::path::Path;
use std::sync::Arc;

use tokio::sync::Notify;

#[cfg(target_os = "linux")]
use inotify as system;
#[cfg(not(target_os = "linux"))]
use portable as system;

/// The files whose appearance or growth means something to whoever waits. The answer comes before
/// `done`, and a claim matters only when it is missing: to be woken for them would cost each call.
const TELLING: [&str; 2] = ["events.ndjson", "done"];

/// Watches the job folders of one bridge.
#[derive(Debug)]
pub(super) struct Watcher(Option<system::Watcher>);

impl Watcher {
    /// Notices nothing.
    pub(super) fn blind() -> Self {
        Self(None)
    }

    /// Starts.
    pub(super) fn start(execute: &Path) -> Self {
        match system::Watcher::start(execute) {
            Ok(watcher) => Self(Some(watcher)),
            Err(error) => {
                tracing::warn!(%error, "the editor's answers are polled for");
                Self(None)
            }
        }
    }

    /// Watches a folder until the watch is dropped; none when that cannot be done.
    pub(super) fn watch(&self, folder: &Path) -> Option<Watch> {
        let watcher = self.0.as_ref()?;
        match watcher.watch(folder) {
            Ok(watch) => Some(watch),
            Err(error) => {
                tracing::warn!(%error, "a call to the editor is polled for");
                None
            }
        }
    }
}

/// One folder's wake-ups.
#[derive(Debug)]
pub(super) struct Watch {
    changed: Arc<Notify>,
    _registration: system::Registration,
}

impl Watch {
    /// Returns when something changed since the last return, at once if it already has.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    /// The same promises from both: a job's telling files wake it, others and other jobs do not.
    macro_rules! promises {
        ($name:ident, $system:ident) => {
            #[tokio::test]
            async fn $name() {
                let folder = tempfile::tempdir().unwrap();
                let execute = folder.path().canonicalize().unwrap();
                let (first, second) = (execute.join("first"), execute.join("second"));
                fs::create_dir(&first).unwrap();
                fs::create_dir(&second).unwrap();
                // Afterwards: on Linux `notify` needs a while for new folders, elsewhere none.
                let watcher = $system::Watcher::start(&execute).unwrap();
                let (first_changed, registration) = watcher.register(&first).unwrap();
                let (second_changed, _other) = watcher.register(&second).unwrap();
                fs::write(first.join("command.json"), "{}").unwrap();
                fs::write(first.join(".done.tmp"), "").unwrap();
                fs::rename(first.join(".done.tmp"), first.join("done")).unwrap();
                tokio::time::timeout(LIMIT, first_changed.notified()).await.expect("rename");
                fs::write(second.join("done"), "").unwrap();
                tokio::time::timeout(LIMIT, second_changed.notified()).await.expect("create");
                fs::write(second.join("other"), "").unwrap();
                drop(registration);
                fs::write(first.join("events.ndjson"), "").unwrap();
                fs::write(second.join("events.ndjson"), "{}\n").unwrap();
                // Notices come in order: had the first job's come, it would be there by now.
                tokio::time::timeout(LIMIT, second_changed.notified()).await.expect("write");
            }
        };
    }

    #[cfg(target_os = "linux")]
    promises!(inotify_wakes_the_job_that_changed, inotify);
    promises!(notify_wakes_the_job_that_changed, portable);
}
