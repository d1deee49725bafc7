//! Finding bridges: from the workspace upwards, the nearest one with a living extension.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::host::{self, Shared};
use super::{BridgeError, Host, HostInfo, Liveness, Settings, blocking};

/// Bridges that are kept ready for the next call.
const KEPT: usize = 16;

/// The bridges of this process: each is watched once, whoever asks for it.
#[derive(Debug, Default)]
pub struct EditorBridge {
    settings: Settings,
    kept: Mutex<HashMap<PathBuf, Arc<Shared>>>,
}

/// A bridge at or above a workspace, served or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its folder, `.vsc-bridge`.
    pub bridge: PathBuf,
    /// What its extension says of itself; none while that cannot be read.
    pub info: Option<HostInfo>,
    /// Whether the extension lives.
    pub liveness: Liveness,
}

impl EditorBridge {
    /// No bridge is looked for yet.
    pub fn new(settings: Settings) -> Self {
        Self { settings, kept: Mutex::default() }
    }

    /// The nearest living extension at or above a workspace; none when there is none.
    pub async fn discover(&self, workspace: &Path) -> Result<Option<Host>, BridgeError> {
        let found = self.survey(workspace).await?;
        let live = found.into_iter().find(|found| found.liveness.is_live());
        Ok(live.map(|found| self.host(found)))
    }

    /// As [`EditorBridge::discover`], for who wants the editor and nothing else: the error says why
    /// there is none.
    pub async fn find(&self, workspace: &Path) -> Result<Host, BridgeError> {
        let mut found = self.survey(workspace).await?;
        if let Some(live) = found.iter().position(|found| found.liveness.is_live()) {
            return Ok(self.host(found.swap_remove(live)));
        }
        let Some(nearest) = found.into_iter().next() else {
            return Err(BridgeError::NotFound(workspace.to_owned()));
        };
        let reason = match nearest.liveness {
            Liveness::Untrusted => "it belongs to someone else".to_owned(),
            Liveness::Closed => return Err(BridgeError::Closed(nearest.bridge)),
            Liveness::Live(age) | Liveness::Stale(age) => {
                format!("its last sign of life is {} s old", age.as_secs())
            }
        };
        Err(BridgeError::Unavailable { bridge: nearest.bridge, reason })
    }

    /// Every bridge at or above a workspace, the nearest first.
    pub async fn survey(&self, workspace: &Path) -> Result<Vec<Found>, BridgeError> {
        let (workspace, settings) = (workspace.to_owned(), self.settings.clone());
        blocking(workspace.clone(), move || survey(&workspace, &settings)).await?
    }

    /// Whether an extension lives for a workspace. Blocks for a look at a few files.
    pub fn has_live_host(&self, workspace: &Path) -> bool {
        let found = survey(workspace, &self.settings).unwrap_or_default();
        found.iter().any(|found| found.liveness.is_live())
    }

    fn host(&self, found: Found) -> Host {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT && !kept.contains_key(&found.bridge) {
            // Whoever still uses one keeps it alive.
            kept.retain(|_, shared| Arc::strong_count(shared) > 1);
        }
        let shared = kept
            .entry(found.bridge.clone())
            .or_insert_with(|| Shared::start(found.bridge.clone(), self.settings.clone()));
        Host { shared: Arc::clone(shared), info: found.info.unwrap_or_default() }
    }
}

fn survey(workspace: &Path, settings: &Settings) -> Result<Vec<Found>, BridgeError> {
    let invalid = |reason: String| BridgeError::InvalidPath { path: workspace.to_owned(), reason };
    let start = workspace.canonicalize().map_err(|error| invalid(error.to_string()))?;
    let owner = fs::metadata(&start).map_err(|error| invalid(error.to_string()))?;
    // A file's workspace is the folder it lies in.
    let start = if owner.is_dir() { start.as_path() } else { start.parent().unwrap_or(&start) };
    let mut found = Vec::new();
    for folder in start.ancestors() {
        let bridge = folder.join(".vsc-bridge");
        let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
        if !is_folder(&bridge) || !is_folder(&bridge.join("execute")) {
            continue;
        }
        let Ok(mut liveness) = Liveness::of(&bridge, settings) else {
            continue;
        };
        if !is_trusted(&bridge, &owner) {
            liveness = Liveness::Untrusted;
        }
        let info = host::info(&bridge);
        found.push(Found { bridge, info, liveness });
    }
    Ok(found)
}

/// A folder that anyone may write to (such as /tmp) may hold a bridge that someone else has put there
/// to be told what we do.
#[cfg(unix)]
fn is_trusted(bridge: &Path, workspace: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    let own = rustix::process::geteuid().as_raw();
    [bridge.to_owned(), bridge.join("execute"), bridge.join("host.json")].iter().all(|path| {
        fs::symlink_metadata(path)
            .is_ok_and(|meta| meta.uid() == own || meta.uid() == workspace.uid())
    })
}

#[cfg(not(unix))]
fn is_trusted(_bridge: &Path, _workspace: &fs::Metadata) -> bool {
    true
}
