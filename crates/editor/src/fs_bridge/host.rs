//! A bridge with an extension behind it: who that is, whether it lives, and calls to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::call::{self, Request};
use super::watch::Watcher;
use super::{BridgeError, Envelope, Event, Settings, blocking, clean};

/// Most bytes of `host.json`.
const MAX_HOST_FILE: u64 = 64 << 10;

/// What an extension says of itself in `host.json`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HostInfo {
    /// `extHost-` and eight hexadecimal digits, new with each start.
    pub bridge_id: String,
    /// Of the protocol.
    pub version: u32,
    /// As Node names it: `linux`, `darwin`, `win32`.
    pub platform: String,
    /// The folder that is open in the editor.
    pub workspace: String,
    /// The extension host's process.
    pub pid: u32,
    /// When it started.
    pub started_at: String,
}

/// Whether an extension serves a bridge, by the age of its `host.json`, its lock and its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// It gave a sign of life this long ago.
    Live(Duration),
    /// Its last sign of life is too old.
    Stale(Duration),
    /// It was closed: its process or its lock is gone.
    Closed,
    /// The folder belongs to someone else than the workspace and this user.
    Untrusted,
}

impl Liveness {
    /// Whether calls are worth a try.
    pub fn is_live(self) -> bool {
        matches!(self, Self::Live(_))
    }

    pub(super) fn of(bridge: &Path, settings: &Settings) -> std::io::Result<Self> {
        let found = fs::metadata(bridge.join("host.json"))?;
        if !found.is_file() {
            return Err(std::io::Error::other("not a regular file"));
        }
        let touched = found.modified()?;
        // A time to come is another clock's now.
        let age = SystemTime::now().duration_since(touched).unwrap_or_default();
        Ok(match () {
            () if age > settings.stale_after => Self::Stale(age),
            () if is_closed(bridge) => Self::Closed,
            () => Self::Live(age),
        })
    }
}

/// Whether an extension that has just given a sign of life is gone all the same.
fn is_closed(bridge: &Path) -> bool {
    let no_lock = bridge.join("host.lock").try_exists().is_ok_and(|there| !there);
    no_lock || info(bridge).is_some_and(|info| !has_process(bridge, &info))
}

/// Whether its process runs. One that sees the workspace under another name may be in a container, where
/// processes have other numbers: that is taken to run.
#[cfg(unix)]
fn has_process(bridge: &Path, info: &HostInfo) -> bool {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};

    let platform = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let workspace = Path::new(&info.workspace);
    let is_here = info.platform == platform
        && bridge.parent().is_some_and(|folder| {
            folder == workspace || workspace.canonicalize().is_ok_and(|found| found == folder)
        });
    let pid = i32::try_from(info.pid).ok().and_then(Pid::from_raw);
    let Some(pid) = pid.filter(|_| is_here) else { return true };
    test_kill_process(pid) != Err(Errno::SRCH)
}

#[cfg(not(unix))]
fn has_process(_bridge: &Path, _info: &HostInfo) -> bool {
    true
}

/// A living extension. Cheap to clone; all clones share the watcher and the places for calls.
#[derive(Debug, Clone)]
pub struct Host {
    pub(super) shared: Arc<Shared>,
    pub(super) info: HostInfo,
}

impl Host {
    /// What it said of itself when it was found.
    pub fn info(&self) -> &HostInfo {
        &self.info
    }

    /// Its folder.
    pub fn bridge(&self) -> &Path {
        &self.shared.bridge
    }

    /// Whether it lives now.
    pub async fn liveness(&self) -> Result<Liveness, BridgeError> {
        let shared = Arc::clone(&self.shared);
        let look = move || Liveness::of(&shared.bridge, &shared.settings);
        Ok(blocking(self.shared.bridge.clone(), look).await??)
    }

    /// Runs a script and returns its result; events on the way go to `progress`.
    ///
    /// Dropping the future cancels the call: the extension is told, and the folder is removed once it
    /// has ended.
    pub async fn call(
        &self,
        script: &str,
        params: Value,
        timeout: Duration,
        progress: impl FnMut(Event) + Send,
    ) -> Result<Envelope, BridgeError> {
        self.run(Request::new(script, params, timeout), progress).await
    }

    /// As [`Host::call`], with a way to cancel that gets an answer.
    pub async fn run(
        &self,
        request: Request,
        progress: impl FnMut(Event) + Send,
    ) -> Result<Envelope, BridgeError> {
        call::run(&self.shared, request, progress).await
    }
}

/// What all handles to one bridge share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) bridge: PathBuf,
    pub(super) execute: PathBuf,
    pub(super) settings: Settings,
    pub(super) watcher: Watcher,
    /// Places for calls: the extension refuses more.
    pub(super) places: Arc<Semaphore>,
    /// Calls that wait for a place.
    pub(super) waiting: AtomicUsize,
}

impl Shared {
    /// Starts watching, and removes what earlier calls of ours left behind.
    pub(super) fn start(bridge: PathBuf, settings: Settings) -> Arc<Self> {
        let execute = bridge.join("execute");
        let swept = execute.clone();
        let old = settings.leftover_after;
        tokio::task::spawn_blocking(move || clean::sweep(&swept, old));
        let watcher = if settings.notices { Watcher::start(&execute) } else { Watcher::blind() };
        Arc::new(Self {
            watcher,
            places: Arc::new(Semaphore::new(settings.capacity)),
            waiting: AtomicUsize::new(0),
            bridge,
            execute,
            settings,
        })
    }

    /// The id of the extension that serves now; an error when none does.
    pub(super) fn serving(&self) -> Result<String, BridgeError> {
        let unavailable = |reason| BridgeError::Unavailable { bridge: self.bridge.clone(), reason };
        match Liveness::of(&self.bridge, &self.settings) {
            Ok(Liveness::Live(_)) => {
                Ok(info(&self.bridge).map(|info| info.bridge_id).unwrap_or_default())
            }
            Ok(Liveness::Stale(age)) => {
                let seconds = age.as_secs();
                Err(unavailable(format!("its last sign of life is {seconds} s old")))
            }
            Ok(Liveness::Closed) => Err(BridgeError::Closed(self.bridge.clone())),
            Ok(Liveness::Untrusted) => Err(unavailable("it belongs to someone else".into())),
            Err(error) => Err(unavailable(format!("host.json cannot be read: {error}"))),
        }
    }
}

/// What `host.json` says; none while it cannot be read.
pub(super) fn info(bridge: &Path) -> Option<HostInfo> {
    let bytes = termbridge_foreign_files::read(&bridge.join("host.json"), MAX_HOST_FILE).ok()?;
    serde_json::from_slice(&bytes).ok()
}
