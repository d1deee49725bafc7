//! The editor extension's end of the filesystem bridge, as the published extension behaves, with
//! switches for what can go wrong.
//!
//! ```text
//! execute/ID appears ─► watched ─► command.json ─► claimed.json ─► script ─► error.json | response.json ─► done
//! ```
//!
//! A [`Reply`] decides what is left in the folder; [`Reply::Custom`] leaves it all to the test: torn and
//! late files, a crash in the middle, an answer without `done`.

mod job;
mod looking;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use serde_json::json;

pub use job::{Job, Reply};

type Script = dyn Fn(&Job) -> Reply + Send + Sync;

/// How a host behaves.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// The id in `host.json` and in claims.
    pub bridge_id: String,
    /// Calls at once; more get `E_CAPACITY`.
    pub capacity: usize,
    /// Failures that open the breaker; more get `E_CIRCUIT_OPEN`.
    pub breaker: usize,
    /// Whether it takes jobs at all.
    pub claims: bool,
    /// Whether it writes `host.json` and touches it every five seconds.
    pub owner: bool,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self {
            bridge_id: "extHost-0123abcd".into(),
            capacity: 10,
            breaker: usize::MAX,
            claims: true,
            owner: true,
        }
    }
}

/// A running host. Dropping it ends it as a crash would: the folder stays as it is.
#[derive(Debug)]
pub struct FakeHost {
    inner: Arc<Inner>,
    threads: Vec<JoinHandle<()>>,
    _watcher: notify::RecommendedWatcher,
}

struct Inner {
    bridge: PathBuf,
    options: HostOptions,
    script: Box<Script>,
    stopped: AtomicBool,
    /// Held while `host.json` is touched, so that nobody touches it after the end.
    heart: Mutex<()>,
    running: AtomicUsize,
    most_running: AtomicUsize,
    failures: AtomicUsize,
    ran: Mutex<Vec<String>>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").field("bridge", &self.bridge).finish_non_exhaustive()
    }
}

impl FakeHost {
    /// Serves a workspace with a script that answers every job.
    ///
    /// # Panics
    /// When the bridge's folder cannot be made or watched.
    pub fn start(workspace: &Path, script: impl Fn(&Job) -> Reply + Send + Sync + 'static) -> Self {
        Self::with_options(workspace, HostOptions::default(), script)
    }

    /// As [`FakeHost::start`], with other habits.
    ///
    /// # Panics
    /// When the bridge's folder cannot be made or watched.
    pub fn with_options(
        workspace: &Path,
        options: HostOptions,
        script: impl Fn(&Job) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let bridge = workspace.join(".vsc-bridge");
        let execute = bridge.join("execute");
        fs::create_dir_all(&execute).expect("the bridge's folder can be made");
        fs::write(bridge.join(".gitignore"), "*\n").expect(".gitignore can be written");
        if options.owner {
            let host = json!({
                "bridgeId": options.bridge_id, "version": 1, "platform": "linux",
                "workspace": workspace, "pid": std::process::id(),
                "startedAt": "2025-11-15T08:00:00.000Z", "wslAware": true,
            });
            fs::write(bridge.join("host.lock"), "").expect("host.lock can be written");
            job::write_atomically(&bridge.join("host.json"), &host);
        }
        let inner = Arc::new(Inner {
            bridge,
            options,
            script: Box::new(script),
            stopped: AtomicBool::new(false),
            heart: Mutex::default(),
            running: AtomicUsize::new(0),
            most_running: AtomicUsize::new(0),
            failures: AtomicUsize::new(0),
            ran: Mutex::default(),
        });
        let (watcher, looking) = looking::start(&inner, &execute);
        let mut threads = vec![looking];
        if inner.options.owner {
            let beating = Arc::clone(&inner);
            threads.push(std::thread::spawn(move || beating.beat()));
        }
        Self { inner, threads, _watcher: watcher }
    }

    /// The jobs that were run, by id.
    pub fn ran(&self) -> Vec<String> {
        self.inner.ran.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Most jobs that ran at once.
    pub fn most_running(&self) -> usize {
        self.inner.most_running.load(Ordering::SeqCst)
    }

    /// Makes `host.json` as old as this, and stops the heartbeat.
    ///
    /// # Panics
    /// When there is no `host.json`.
    pub fn age(&self, age: Duration) {
        let _heart = self.inner.heart.lock().unwrap_or_else(PoisonError::into_inner);
        self.inner.stopped.store(true, Ordering::SeqCst);
        set_age(&self.inner.bridge, age);
    }

    /// The folder of jobs.
    pub fn execute(&self) -> PathBuf {
        self.inner.bridge.join("execute")
    }
}

/// Makes the `host.json` of a bridge as old as this.
pub(crate) fn set_age(bridge: &Path, age: Duration) {
    let host = fs::File::options().write(true).open(bridge.join("host.json"));
    let touched = host.and_then(|host| host.set_modified(SystemTime::now() - age));
    touched.expect("host.json can be touched");
}

impl Drop for FakeHost {
    fn drop(&mut self) {
        self.inner.stopped.store(true, Ordering::SeqCst);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            thread.join().ok();
        }
    }
}

impl Inner {
    fn beat(&self) {
        loop {
            {
                let _heart = self.heart.lock().unwrap_or_else(PoisonError::into_inner);
                if self.stopped.load(Ordering::SeqCst) {
                    return;
                }
                set_age(&self.bridge, Duration::ZERO);
            }
            std::thread::park_timeout(Duration::from_secs(5));
        }
    }
}
