//! Notes the end of a command in the history, in a task of its own.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use termbridge_session::{CommandState, SessionId};
use termbridge_store::Entry;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::backend::{Awaited, Until};
use crate::caller::Caller;
use crate::directories;
use crate::history::HistoryLog;
use crate::hub::Bridge;
use crate::recorded::ended;

/// How long the task waits at a time.
const FOLLOW: Duration = Duration::from_hours(1);
/// Bytes of output read for the history, which keeps head and tail of them.
const HISTORY_BYTES: usize = 64 * 1024;
/// How long a search waits for ends to be recorded.
const RECORD_LIMIT: Duration = Duration::from_secs(5);

/// A command whose end belongs in the history.
pub(crate) struct Followed {
    pub(crate) bridge: Bridge,
    pub(crate) history: HistoryLog,
    pub(crate) entry: Entry,
    pub(crate) session: SessionId,
    pub(crate) command: u64,
    /// The caller and directory that the project is found by, if it is not known yet.
    pub(crate) project_of: Option<(Caller, PathBuf)>,
    pub(crate) unrecorded: UnrecordedEnd,
}

/// The commands whose end is not recorded yet.
#[derive(Clone, Default)]
pub(crate) struct UnrecordedEnds(Arc<Mutex<HashMap<(SessionId, u64), CancellationToken>>>);

/// Keeps one command among the unrecorded ones until it is dropped.
pub(crate) struct UnrecordedEnd {
    key: (SessionId, u64),
    all: UnrecordedEnds,
}

impl UnrecordedEnds {
    pub(crate) fn add(&self, session: SessionId, command: u64) -> UnrecordedEnd {
        let key = (session, command);
        self.lock().insert(key.clone(), CancellationToken::new());
        UnrecordedEnd { key, all: self.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(SessionId, u64), CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnrecordedEnd {
    fn drop(&mut self) {
        if let Some(recorded) = self.all.lock().remove(&self.key) {
            recorded.cancel();
        }
    }
}

impl Bridge {
    /// Waits until the end of every command is recorded, or for `limit`.
    pub(crate) async fn all_ends_are_recorded(&self, limit: Duration) {
        let all: Vec<_> = self.shared.unrecorded.lock().values().cloned().collect();
        let _ = timeout(limit, join_all(all.iter().map(CancellationToken::cancelled))).await;
    }

    /// Waits until the end of every command that is over is recorded: its caller may know of it already.
    pub(crate) async fn ends_are_recorded(&self) {
        let all = self.shared.unrecorded.lock().clone();
        let recorded = async {
            for ((session, command), recorded) in all {
                let backend = self.backend_of(&session);
                let until = backend.wait_command(&session, command, Awaited::End, Duration::ZERO);
                if until.await.is_ok_and(|until| until != Until::Over) {
                    continue;
                }
                recorded.cancelled().await;
            }
        };
        let _ = timeout(RECORD_LIMIT, recorded).await;
    }
}

impl Followed {
    pub(crate) async fn follow(mut self) {
        let (session, command) = (&self.session, self.command);
        let backend = self.bridge.backend_of(session);
        if let Some((caller, cwd)) = self.project_of.take() {
            self.entry.run.project = directories::project_of(&caller, cwd).await;
            if self.entry.run.project.is_some() {
                self.history.record(self.entry.clone());
            }
        }
        while backend
            .wait_command(session, command, Awaited::End, FOLLOW)
            .await
            .is_ok_and(|until| until != Until::Over)
        {}
        if let Ok((report, output)) = self.bridge.output(session, command, HISTORY_BYTES).await {
            let shell = match report.state {
                CommandState::SessionEnded { .. } => backend.session(session).await.ok(),
                _ => None,
            };
            self.history.record(ended(self.entry, &report, shell, output.into_stored()));
        }
        drop(self.unrecorded);
    }
}

/// Begins to follow a command once its caller has the answer: before, the task would only compete with the command.
pub(crate) struct FollowLater {
    followed: Option<Box<Followed>>,
    runtime: Handle,
}

impl FollowLater {
    pub(crate) fn new(followed: Followed) -> Self {
        Self { followed: Some(Box::new(followed)), runtime: Handle::current() }
    }
}

impl Drop for FollowLater {
    fn drop(&mut self) {
        if let Some(followed) = self.followed.take() {
            self.runtime.spawn(followed.follow());
        }
    }
}

impl std::fmt::Debug for FollowLater {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("FollowLater").finish_non_exhaustive()
    }
}
