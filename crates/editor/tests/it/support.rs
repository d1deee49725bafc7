//! A workspace with a fake host, and waits that do not hang.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use termbridge_editor::{BridgeError, EditorBridge, Envelope, Host, Settings};
use termbridge_testkit::{FakeHost, HostOptions, Job, Reply};

/// Longest wait of a test for what must happen.
pub(crate) const LIMIT: Duration = Duration::from_mins(1);

/// Waits that are short where a test waits for them to pass.
pub(crate) fn settings() -> Settings {
    Settings {
        pickup: Duration::from_millis(300),
        confirm_stale: Duration::from_millis(100),
        poll_first: Duration::from_millis(20),
        poll_last: Duration::from_millis(50),
        settle: Duration::from_millis(300),
        capacity_wait: Duration::from_millis(300),
        cancel_grace: Duration::from_millis(500),
        ..Settings::default()
    }
}

/// Waits that never pass: only notices and answers end a call.
pub(crate) fn patient() -> Settings {
    let never = LIMIT * 10;
    Settings {
        pickup: LIMIT,
        settle: LIMIT,
        capacity_wait: LIMIT,
        cancel_grace: LIMIT,
        poll_first: never,
        poll_last: never,
        ..Settings::default()
    }
}

/// A served workspace.
pub(crate) struct Fixture {
    pub(crate) fake: FakeHost,
    pub(crate) host: Host,
    pub(crate) folder: TempDir,
    _bridge: EditorBridge,
}

impl Fixture {
    pub(crate) async fn new(
        settings: Settings,
        script: impl Fn(&Job) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::with_options(settings, HostOptions::default(), script).await
    }

    pub(crate) async fn with_options(
        settings: Settings,
        options: HostOptions,
        script: impl Fn(&Job) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let fake = FakeHost::with_options(folder.path(), options, script);
        let bridge = EditorBridge::new(settings);
        let host = bridge.discover(folder.path()).await.expect("discovery").expect("a host");
        Self { fake, host, folder, _bridge: bridge }
    }

    /// Runs a script with time enough.
    pub(crate) async fn call(&self, script: &str, params: Value) -> Result<Envelope, BridgeError> {
        limited(self.host.call(script, params, LIMIT, |_| {})).await
    }

    /// The code of a call that must fail.
    pub(crate) async fn code(&self, script: &str) -> String {
        let error = self.call(script, Value::Null).await.expect_err("fails");
        error.code().to_owned()
    }

    /// Waits until no job is left.
    pub(crate) async fn empty(&self) {
        let execute = self.fake.execute();
        until("no job is left", || entries(&execute) == 0).await;
    }
}

pub(crate) fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).expect("folder").count()
}

pub(crate) async fn limited<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, work).await.expect("it ends in time")
}

/// Waits for what no event tells.
pub(crate) async fn until(what: &str, done: impl Fn() -> bool) {
    let waited = tokio::time::timeout(LIMIT, async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("{what}: not in time"));
}
