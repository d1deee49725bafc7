//! Other systems: one recursive watch of `execute`, through the `notify` crate and its thread.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

use super::TELLING;

type Jobs = Arc<Mutex<HashMap<OsString, Arc<Notify>>>>;

/// The watch of all job folders; ends with this.
#[derive(Debug)]
pub(super) struct Watcher {
    jobs: Jobs,
    _watcher: RecommendedWatcher,
}

/// A watched folder; dropping it ends the watch.
#[derive(Debug)]
pub(super) struct Registration {
    jobs: Jobs,
    name: OsString,
}

impl Watcher {
    pub(super) fn start(execute: &Path) -> io::Result<Self> {
        let jobs = Jobs::default();
        let listening = Arc::clone(&jobs);
        let mut watcher = notify::recommended_watcher(move |event| tell(&listening, event))
            .map_err(io::Error::other)?;
        watcher.watch(execute, RecursiveMode::Recursive).map_err(io::Error::other)?;
        Ok(Self { jobs, _watcher: watcher })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn watch(&self, folder: &Path) -> io::Result<super::Watch> {
        let (changed, registration) = self.register(folder)?;
        Ok(super::Watch { changed, _registration: registration })
    }

    pub(super) fn register(&self, folder: &Path) -> io::Result<(Arc<Notify>, Registration)> {
        let name = folder.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        let changed = Arc::new(Notify::new());
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.insert(name.clone(), Arc::clone(&changed));
        Ok((changed, Registration { jobs: Arc::clone(&self.jobs), name }))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
    }
}

fn tell(jobs: &Jobs, event: notify::Result<notify::Event>) {
    let jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
    let Ok(event) = event else {
        jobs.values().for_each(|job| job.notify_one());
        return;
    };
    if event.need_rescan() {
        jobs.values().for_each(|job| job.notify_one());
    }
    // Our own reading is an access too: heeding it would never let a job rest.
    if !matches!(event.kind, EventKind::Create(_) | EventKind::Modify(_) | EventKind::Any) {
        return;
    }
    for path in &event.paths {
        let name = path.file_name().and_then(OsStr::to_str);
        let folder = path.parent().and_then(Path::file_name);
        if name.is_some_and(|name| TELLING.contains(&name))
            && let Some(job) = folder.and_then(|folder| jobs.get(folder))
        {
            job.notify_one();
        }
    }
}
