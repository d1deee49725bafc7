//! A job's folder from our side: made, taken back, cancelled, removed.
//!
//! A [`Job`] that is dropped before it ended gives up by itself: it is claimed by us if nobody has, or
//! else the extension is told to stop, and the folder goes when it has.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep, timeout_at};

use super::host::Shared;
use super::watch::Watch;
use super::{blocking, clock};

/// How often a folder that is still being written to is tried to be removed.
const REMOVALS: usize = 5;

/// What a job asks for.
#[derive(Debug, Clone)]
pub(super) struct Command {
    pub(super) script: String,
    pub(super) params: Value,
    pub(super) timeout_ms: u64,
}

/// A job that has not ended.
#[derive(Debug)]
pub(super) struct Job {
    /// None when it has ended.
    open: Option<Open>,
    folder: PathBuf,
}

#[derive(Debug)]
struct Open {
    folder: PathBuf,
    shared: Arc<Shared>,
    watch: Option<Watch>,
    /// Held until the extension has ended it: it counts there too.
    place: OwnedSemaphorePermit,
}

impl Job {
    /// Makes the folder and puts the command into it. Blocks on the disk.
    pub(super) fn create(
        shared: Arc<Shared>,
        place: OwnedSemaphorePermit,
        command: &Command,
    ) -> io::Result<Self> {
        let (id, folder) = make_folder(&shared.execute)?;
        // Watched before there is anything to answer, so that no answer is missed.
        let watch = shared.watcher.watch(&folder);
        let open = Open { folder: folder.clone(), shared, watch, place };
        let mut job = Self { open: Some(open), folder };
        if let Err(error) = job.write(&id, command) {
            remove(&job.folder);
            // There is nobody to tell.
            job.open = None;
            return Err(error);
        }
        Ok(job)
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether changes are noticed.
    pub(super) fn is_watched(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.watch.is_some())
    }

    /// Returns when the folder has changed, or `until` has come.
    pub(super) async fn changed(&self, until: Instant) -> Woken {
        match self.open.as_ref().and_then(|open| open.watch.as_ref()) {
            Some(watch) => match timeout_at(until, watch.changed()).await {
                Ok(()) => Woken::Change,
                Err(_) => Woken::Time,
            },
            None => {
                tokio::time::sleep_until(until).await;
                Woken::Time
            }
        }
    }

    /// Removes the folder of a job that has ended.
    pub(super) async fn end(mut self) {
        if let Some(open) = self.open.take() {
            open.remove().await;
        }
    }

    fn write(&self, id: &str, command: &Command) -> io::Result<()> {
        let content = json!({
            "version": 1,
            "clientId": client_id(),
            "id": id,
            "createdAt": clock::iso(SystemTime::now()),
            "scriptName": command.script,
            "params": command.params,
            "timeout": command.timeout_ms,
        });
        let aside = self.folder.join(".command.json.tmp");
        let mut file = create_new(&aside)?;
        file.write_all(&serde_json::to_vec(&content)?)?;
        file.sync_all()?;
        drop(file);
        fs::rename(aside, self.folder.join("command.json"))
    }
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Woken {
    /// The folder has changed.
    Change,
    /// The time has come.
    Time,
}

impl Drop for Job {
    fn drop(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        // Here and now, because there may be no later: two small files at most.
        let withdrawn = withdraw(&open.folder);
        if !withdrawn && let Err(error) = create_new(&open.folder.join("cancel")) {
            tracing::debug!(%error, "the editor was not told to stop a call");
        }
        match Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(open.bury(withdrawn));
            }
            Err(_) if withdrawn => remove(&open.folder),
            // The extension has its own broom.
            Err(_) => {}
        }
    }
}

impl Open {
    /// Removes the folder once the extension has let go of it, or should have.
    async fn bury(self, withdrawn: bool) {
        let until = Instant::now() + self.shared.settings.cancel_grace;
        let poll = self.shared.settings.poll_blind;
        while !withdrawn && Instant::now() < until {
            let folder = self.folder.clone();
            let over = blocking(self.folder.clone(), move || {
                folder.join("done").exists() || !folder.exists()
            });
            if over.await.unwrap_or(true) {
                break;
            }
            match &self.watch {
                Some(watch) => {
                    timeout_at(until.min(Instant::now() + poll * 10), watch.changed()).await.ok();
                }
                None => sleep(poll).await,
            }
        }
        self.remove().await;
    }

    async fn remove(self) {
        let Self { folder, shared: _, watch, place } = self;
        let removed = blocking(folder.clone(), move || {
            // First the watch: nobody needs to hear of the removal.
            drop(watch);
            remove(&folder);
            drop(place);
        });
        removed.await.ok();
    }
}

/// What the name of a folder ends with that is being removed; it begins with a dot.
pub(super) const REMOVED: &str = ".removed";

/// Who we are to the extension.
pub(super) fn client_id() -> String {
    format!("{}{}", super::clean::CLIENT_PREFIX, std::process::id())
}

/// Claims the job ourselves, so that no extension runs it any more; false when one has claimed it.
pub(super) fn withdraw(folder: &Path) -> bool {
    match create_new(&folder.join("claimed.json")) {
        Ok(mut file) => {
            let claim = json!({
                "bridgeId": client_id(),
                "claimedAt": clock::iso(SystemTime::now()),
                "pid": std::process::id(),
            });
            file.write_all(claim.to_string().as_bytes()).ok();
            true
        }
        Err(_) => false,
    }
}

/// Removes a job's folder, the command first: without it nothing else is taken for a job.
pub(super) fn remove(folder: &Path) {
    fs::remove_file(folder.join("command.json")).ok();
    // A host that has read the command could claim it anew once the claim is gone but not yet the folder.
    let aside = folder
        .file_name()
        .map(|name| folder.with_file_name(format!(".{}{REMOVED}", name.to_string_lossy())));
    let renamed = aside.filter(|aside| fs::rename(folder, aside).is_ok());
    let folder = renamed.as_deref().unwrap_or(folder);
    for _ in 0..REMOVALS {
        match fs::remove_dir_all(folder) {
            Ok(()) => return,
            Err(error) if error.kind() == ErrorKind::NotFound => return,
            // Someone has just written into it.
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
            Err(error) => {
                tracing::debug!(%error, folder = %folder.display(), "a job's folder stays");
                return;
            }
        }
    }
}

fn make_folder(execute: &Path) -> io::Result<(String, PathBuf)> {
    loop {
        let id = clock::job_id(SystemTime::now());
        let folder = execute.join(&id);
        #[cfg_attr(not(unix), expect(unused_mut, reason = "folders have no mode there"))]
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(&folder) {
            Ok(()) => return Ok((id, folder)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
