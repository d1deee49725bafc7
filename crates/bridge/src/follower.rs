//! Notes the end of a command in the history, in a task of its own.

use std::path::PathBuf;
use std::time::Duration;

use termbridge_session::{CommandState, SessionId};
use termbridge_store::Entry;
use tokio::runtime::Handle;
use tokio_util::task::task_tracker::TaskTrackerToken;

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

/// A command whose end belongs in the history.
pub(crate) struct Followed {
    pub(crate) bridge: Bridge,
    pub(crate) history: HistoryLog,
    pub(crate) entry: Entry,
    pub(crate) session: SessionId,
    pub(crate) command: u64,
    /// Whose command it is and where it runs, if its project is not known.
    pub(crate) place: Option<(Caller, PathBuf)>,
}

impl Followed {
    pub(crate) async fn follow(mut self) {
        let (session, command) = (&self.session, self.command);
        let backend = self.bridge.backend_of(session);
        if let Some((caller, cwd)) = self.place.take() {
            self.entry.run.project = directories::project_of(&caller, cwd).await;
            let over = backend.wait_command(session, command, Awaited::End, Duration::ZERO).await;
            if self.entry.run.project.is_some() && matches!(over, Ok(Until::TimedOut)) {
                self.history.record(self.entry.clone());
            }
        }
        while let Ok(Until::TimedOut) =
            backend.wait_command(session, command, Awaited::End, FOLLOW).await
        {}
        if let Ok((report, output)) = self.bridge.output(session, command, HISTORY_BYTES).await {
            let shell = match report.state {
                CommandState::SessionEnded { .. } => backend.session(session).await.ok(),
                _ => None,
            };
            self.history.record(ended(self.entry, &report, shell, output.into_stored()));
        }
    }
}

/// Begins to follow a command once its caller has the answer: before, the task would only compete with the command.
pub(crate) struct FollowLater {
    followed: Option<Followed>,
    runtime: Handle,
    token: TaskTrackerToken,
}

impl FollowLater {
    pub(crate) fn new(followed: Followed) -> Self {
        let token = followed.bridge.shared.followers.token();
        Self { followed: Some(followed), runtime: Handle::current(), token }
    }
}

impl Drop for FollowLater {
    fn drop(&mut self) {
        if let Some(followed) = self.followed.take() {
            let token = self.token.clone();
            self.runtime.spawn(async move {
                followed.follow().await;
                drop(token);
            });
        }
    }
}

impl std::fmt::Debug for FollowLater {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("FollowLater").finish_non_exhaustive()
    }
}
