//! A start that takes longer than a call waits, because something is built first: it goes on, and
//! `debug.wait-for-hit` waits on.
//!
//! A start belongs to its call: a call that is cancelled ends it. Once the call has returned, the debugger holds it, and it
//! ends only by `debug.stop`; a wait for it that is cancelled leaves it alone.

use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use termbridge_dap::{DebugSession, LastLine};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::NativeDebugger;
use crate::debug::answer::{Starting, TestFacts};
use crate::debug::{DebugFailure, Progress};

/// How long a build may take, whatever a call waits.
pub(super) const BUILD_LIMIT: Duration = Duration::from_mins(20);

/// What was started.
#[derive(Debug, Clone)]
pub(super) struct Begun {
    pub(super) sessions: Vec<DebugSession>,
    /// Which test it is, if it is one.
    pub(super) test: Option<TestFacts>,
}

/// A start on its way; it ends with this.
pub(super) struct Pending {
    what: String,
    began: Instant,
    said: LastLine,
    task: AbortHandle,
    /// What came of it, once it is over.
    result: watch::Receiver<Option<Result<Begun, DebugFailure>>>,
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What came of waiting for a start.
pub(super) enum Outcome {
    Begun(Begun),
    /// It goes on; this says so.
    Goes(Starting),
}

impl Pending {
    pub(super) fn new(
        what: String,
        said: LastLine,
        work: impl Future<Output = Result<Begun, DebugFailure>> + Send + 'static,
    ) -> Arc<Self> {
        let (done, result) = watch::channel(None);
        let task = tokio::spawn(async move { done.send_replace(Some(work.await)) });
        let (began, task) = (Instant::now(), task.abort_handle());
        Arc::new(Self { what, began, said, task, result })
    }

    /// What is started.
    pub(super) fn what(&self) -> &str {
        &self.what
    }

    /// Ends it, whoever waits for it.
    pub(super) fn end(&self) {
        self.task.abort();
    }

    pub(super) fn is_over(&self) -> bool {
        self.result.borrow().is_some() || self.result.has_changed().is_err()
    }

    fn state(&self) -> Starting {
        Starting {
            state: "starting",
            what: self.what.clone(),
            seconds: self.began.elapsed().as_secs(),
            said: self.said.get(),
        }
    }

    async fn result(&self) -> Result<Begun, DebugFailure> {
        let mut result = self.result.clone();
        match result.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(result)) => result.clone(),
            // It was ended before there was one.
            _ => {
                Err(DebugFailure::new("E_ABORTED", format!("the start of {} was ended", self.what))
                    .hint("start it again with debug_start"))
            }
        }
    }
}

impl NativeDebugger {
    /// Waits for a start that the calling tool began; one that takes longer is kept.
    pub(super) async fn begin(
        &self,
        pending: Arc<Pending>,
        limit: Duration,
        progress: &Progress,
    ) -> Result<Outcome, DebugFailure> {
        {
            let mut begun = self.begun();
            begun.retain(|begun| begun.upgrade().is_some_and(|begun| !begun.is_over()));
            begun.push(Arc::downgrade(&pending));
        }
        let outcome = self.attend(&pending, limit, progress).await?;
        if matches!(outcome, Outcome::Goes(_)) {
            let mut kept = self.pending();
            check_over(kept.as_deref())?;
            *kept = Some(pending);
        }
        Ok(outcome)
    }

    /// Waits for a start and tells meanwhile what it does.
    pub(super) async fn attend(
        &self,
        pending: &Arc<Pending>,
        limit: Duration,
        progress: &Progress,
    ) -> Result<Outcome, DebugFailure> {
        /// How often the client is told of a build.
        const TOLD: Duration = Duration::from_secs(1);
        let deadline = Instant::now() + limit;
        loop {
            let next = deadline.min(Instant::now() + TOLD);
            if let Ok(result) = tokio::time::timeout_at(next, pending.result()).await {
                self.pending().take_if(|kept| Arc::ptr_eq(kept, pending));
                return result.map(Outcome::Begun);
            }
            if Instant::now() >= deadline {
                return Ok(Outcome::Goes(pending.state()));
            }
            let words = pending.said.get();
            progress(&words.unwrap_or_else(|| format!("starting {}", pending.what)), None);
        }
    }

    /// Refuses a second start while one is on its way.
    pub(super) fn check_pending(&self) -> Result<(), DebugFailure> {
        check_over(self.pending().as_deref())
    }

    /// The start that is on its way, if one is.
    pub(super) fn kept_pending(&self) -> Option<Arc<Pending>> {
        self.pending().clone()
    }

    /// Ends the latest start that is on its way, if one is; returns when its adapter is gone, and the sessions that it had
    /// begun by then.
    pub(super) async fn end_pending(&self) -> Option<Vec<DebugSession>> {
        let kept = self.pending().take();
        let in_call = || {
            let mut begun = self.begun();
            let mut starts = std::iter::from_fn(|| begun.pop());
            starts.find_map(|start| start.upgrade().filter(|start| !start.is_over()))
        };
        let pending = kept.or_else(in_call)?;
        pending.end();
        // Its work is dropped before this is known.
        let begun = pending.result().await;
        self.debugger().endings_over().await;
        Some(begun.map(|begun| begun.sessions).unwrap_or_default())
    }

    fn begun(&self) -> MutexGuard<'_, Vec<Weak<Pending>>> {
        self.shared.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check_over(kept: Option<&Pending>) -> Result<(), DebugFailure> {
    match kept {
        Some(pending) if !pending.is_over() => {
            let message = format!("{} is still being started", pending.what);
            let busy = DebugFailure::new("E_BUSY", message);
            Err(busy.hint("debug_wait_for_hit waits for it; debug_stop ends it"))
        }
        _ => Ok(()),
    }
}
