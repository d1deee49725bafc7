//! The process of a server.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use termbridge_dap::ProcessTree;
use termbridge_pty::PrivateFolder;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::symbols::client::Client;

/// How long the output of a process that ended is read.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// The place of a server's process, which whoever holds it can end.
pub(crate) type Process = Arc<Mutex<Option<RunningProcess>>>;

/// A process that a task waits for. It ends, with all it started, when this is dropped.
#[derive(Debug)]
pub(crate) struct RunningProcess {
    end: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

impl RunningProcess {
    pub(super) fn new(
        mut tree: ProcessTree,
        client: Client,
        temporary: Option<PrivateFolder>,
    ) -> Self {
        let (end, asked) = oneshot::channel();
        let ended = tokio::spawn(async move {
            let by_itself = tokio::select! {
                _ = tree.wait() => true,
                _ = asked => false,
            };
            tree.end().await;
            // Not while the process could still write there.
            drop(temporary);
            if by_itself {
                // What it wrote last is read first. Something it left may hold its output open.
                client.wait_until(Instant::now() + LAST_WORDS, |_| false).await;
                client.close("it ended");
            }
        });
        Self { end, ended }
    }

    /// Ends it, and returns when it is gone.
    pub(crate) async fn end(self) {
        drop(self.end);
        // Nothing there can panic.
        let _ = self.ended.await;
    }
}

/// Takes the process out of its place; dropped, it ends.
pub(crate) fn take(process: &Process) -> Option<RunningProcess> {
    process.lock().unwrap_or_else(PoisonError::into_inner).take()
}
