//! What handles hold of the connection: a way to ask, and a way to let go.
//!
//! Asking goes through a bounded queue, so a keeper that is slow slows its callers. Letting go
//! must work from `Drop`, which cannot wait: it puts the program on a list that is as long as
//! there are programs at most.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::RequestId;
use crate::protocol::{Failure, ProgramId};
use crate::{ExitStatus, StopReport, Survey};

/// Questions that wait for the connection task.
pub(super) const CALL_QUEUE: usize = 64;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// The keeper died.
    Gone,
    /// It did not answer within this time.
    Silent(Duration),
}

/// A question on its way.
pub(super) struct Call {
    pub(super) request: RequestId,
    pub(super) frame: Vec<u8>,
    /// For a spawn: the label of what is to be started.
    pub(super) label: String,
    pub(super) reply: oneshot::Sender<Answer>,
}

/// What a question comes back as.
#[derive(Debug)]
pub(super) enum Answer {
    Launched(Launched),
    SpawnFailed { failure: Failure, errno: i32, path: Vec<u8> },
    Done { errno: i32 },
    Stopped(StopReport),
    Surveyed(Survey),
}

/// A started program. Dropped on the way to its caller, it is let go.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) lease: Lease,
    pub(super) pid: i32,
    pub(super) tty: String,
    pub(super) master: OwnedFd,
    pub(super) exit: watch::Receiver<Option<ExitStatus>>,
}

/// The right to a program; dropping it tells the keeper to end what still runs and forget it.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) program: ProgramId,
    pub(super) abandoned: Arc<Abandoned>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.abandoned.programs().push(self.program);
        self.abandoned.wake.notify_one();
    }
}

/// Programs let go of and not yet told to the keeper.
#[derive(Debug, Default)]
pub(super) struct Abandoned {
    programs: Mutex<Vec<ProgramId>>,
    wake: Notify,
}

impl Abandoned {
    /// Waits until there may be some. Cancel safe.
    pub(super) async fn some(&self) {
        self.wake.notified().await;
    }

    pub(super) fn take(&self) -> Vec<ProgramId> {
        std::mem::take(&mut *self.programs())
    }

    fn programs(&self) -> std::sync::MutexGuard<'_, Vec<ProgramId>> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handle on the connection task; the connection lives as long as one of these.
#[derive(Debug, Clone)]
pub(super) struct Link {
    calls: mpsc::Sender<Call>,
    requests: Arc<AtomicU64>,
    /// Closed when the task has ended and the keeper was reaped.
    ended: watch::Receiver<()>,
    keeper: u32,
}

impl Link {
    pub(super) fn new(calls: mpsc::Sender<Call>, ended: watch::Receiver<()>, keeper: u32) -> Self {
        Self { calls, requests: Arc::new(AtomicU64::new(1)), ended, keeper }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.calls.is_closed()
    }

    pub(super) fn keeper_pid(&self) -> u32 {
        self.keeper
    }

    pub(super) fn next_request(&self) -> RequestId {
        RequestId(self.requests.fetch_add(1, Ordering::Relaxed))
    }

    /// Asks and waits for the answer, no longer than `limit`.
    pub(super) async fn ask(
        &self,
        request: RequestId,
        frame: Vec<u8>,
        label: String,
        limit: Duration,
    ) -> Result<Answer, NoAnswer> {
        let (reply, answer) = oneshot::channel();
        let asked = async {
            self.calls
                .send(Call { request, frame, label, reply })
                .await
                .map_err(|_| NoAnswer::Gone)?;
            answer.await.map_err(|_| NoAnswer::Gone)
        };
        tokio::time::timeout(limit, asked).await.unwrap_or(Err(NoAnswer::Silent(limit)))
    }

    /// Lets go of the link and waits for the connection's end, no longer than `limit`.
    pub(super) async fn ended(self, limit: Duration) {
        let Self { calls, mut ended, .. } = self;
        drop(calls);
        let _ = tokio::time::timeout(limit, async { while ended.changed().await.is_ok() {} }).await;
    }
}
