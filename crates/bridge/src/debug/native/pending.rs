//! A start that takes longer than a call waits, because something is built first: it goes on, and
//! `debug.wait-for-hit` waits on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use termbridge_dap::DebugSession;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::NativeDebugger;
use crate::debug::{DebugFailure, Progress};

/// How long a build may take, whatever a call waits.
pub(super) const BUILD_LIMIT: Duration = Duration::from_mins(20);

/// What was started.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) sessions: Vec<DebugSession>,
    /// What else the answer says.
    pub(super) facts: Map<String, Value>,
}

/// A start on its way; it ends with this.
pub(super) struct Pending {
    what: String,
    began: Instant,
    task: JoinHandle<Result<Begun, DebugFailure>>,
    said: Said,
}

/// The last line that a compiler wrote.
#[derive(Clone, Default)]
pub(super) struct Said(Arc<Mutex<String>>);

impl Said {
    pub(super) fn note(&self, line: &str) {
        line.clone_into(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn last(&self) -> Option<String> {
        let line = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (!line.is_empty()).then_some(line)
    }
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
    Goes(Value),
}

impl Pending {
    pub(super) fn new(
        what: String,
        said: Said,
        work: impl Future<Output = Result<Begun, DebugFailure>> + Send + 'static,
    ) -> Self {
        Self { what, began: Instant::now(), task: tokio::spawn(work), said }
    }

    fn state(&self) -> Value {
        let seconds = self.began.elapsed().as_secs();
        let mut state = json!({"state": "starting", "what": self.what, "seconds": seconds});
        if let Some(said) = self.said.last() {
            state["said"] = json!(said);
        }
        state
    }
}

impl NativeDebugger {
    /// Waits for a start; one that takes longer is kept.
    pub(super) async fn attend(
        &self,
        mut pending: Pending,
        limit: Duration,
        progress: &Progress,
    ) -> Result<Outcome, DebugFailure> {
        /// How often the client is told of a build.
        const TOLD: Duration = Duration::from_secs(1);
        let deadline = Instant::now() + limit;
        loop {
            let next = deadline.min(Instant::now() + TOLD);
            match tokio::time::timeout_at(next, &mut pending.task).await {
                Ok(Ok(begun)) => return begun.map(Outcome::Begun),
                Ok(Err(error)) => {
                    return Err(DebugFailure::new("E_INTERNAL", error.to_string()));
                }
                Err(_) if Instant::now() < deadline => {
                    let words = pending.said.last();
                    progress(&words.unwrap_or_else(|| format!("starting {}", pending.what)), None);
                }
                Err(_) => {
                    let state = pending.state();
                    *self.pending() = Some(pending);
                    return Ok(Outcome::Goes(state));
                }
            }
        }
    }

    /// Refuses a second start while one is on its way.
    pub(super) fn check_pending(&self) -> Result<(), DebugFailure> {
        match &*self.pending() {
            Some(pending) if !pending.task.is_finished() => {
                let message = format!("{} is still being started", pending.what);
                let busy = DebugFailure::new("E_BUSY", message);
                Err(busy.hint("debug_wait_for_hit waits for it; debug_stop ends it"))
            }
            _ => Ok(()),
        }
    }

    /// The start that is on its way, if one is.
    pub(super) fn take_pending(&self) -> Option<Pending> {
        self.pending().take()
    }
}
