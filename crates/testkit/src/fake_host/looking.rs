//! How a host finds its jobs: by notices of the folder and of each job's folder.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use notify::event::{ModifyKind, RenameMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::Inner;
use super::job;

/// How often the thread looks up from its work.
const TICK: Duration = Duration::from_millis(20);

pub(super) fn start(inner: &Arc<Inner>, execute: &Path) -> (RecommendedWatcher, JoinHandle<()>) {
    let (sender, receiver) = channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        let appeared = matches!(
            event.kind,
            EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(RenameMode::To))
        );
        if appeared {
            event.paths.into_iter().for_each(|path| {
                sender.send(path).ok();
            });
        }
    })
    .expect("folders can be watched");
    watcher.watch(execute, RecursiveMode::NonRecursive).expect("the folder can be watched");
    let jobs = notify::recommended_watcher(forward(inner)).expect("folders can be watched");
    let (inner, execute) = (Arc::clone(inner), execute.to_owned());
    let thread = std::thread::spawn(move || look(&inner, &execute, &receiver, jobs));
    (watcher, thread)
}

/// A command that appears in a watched folder is a job.
fn forward(inner: &Arc<Inner>) -> impl Fn(notify::Result<notify::Event>) + Send + use<> {
    let inner = Arc::clone(inner);
    move |event| {
        let Ok(event) = event else { return };
        for path in &event.paths {
            let renamed = matches!(event.kind, EventKind::Modify(ModifyKind::Name(_)));
            if renamed && path.ends_with("command.json") {
                job::begin(&inner, path.parent().expect("a command lies in a folder"));
            }
        }
    }
}

fn look(
    inner: &Arc<Inner>,
    execute: &Path,
    appeared: &Receiver<PathBuf>,
    mut jobs: RecommendedWatcher,
) {
    let mut watched = HashSet::new();
    if let Ok(entries) = execute.read_dir() {
        for entry in entries.flatten() {
            job::begin(inner, &entry.path());
        }
    }
    while !inner.stopped.load(Ordering::SeqCst) {
        match appeared.recv_timeout(TICK) {
            Ok(folder) => {
                // The command may be there before the watch is.
                if jobs.watch(&folder, RecursiveMode::NonRecursive).is_ok() {
                    watched.insert(folder.clone());
                }
                job::begin(inner, &folder);
            }
            Err(RecvTimeoutError::Timeout) => {
                watched.retain(|folder| {
                    let keep = folder.exists();
                    if !keep {
                        jobs.unwatch(folder).ok();
                    }
                    keep
                });
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
