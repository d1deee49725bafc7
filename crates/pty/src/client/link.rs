//! What handles hold of the connection: a way to ask, and a way to let go.
//!
//! Asking goes through a bounded queue, so a keeper that is slow slows its callers. Letting go
//! must work from `Drop`, which cannot wait: it puts the program on a list that is as long as
//! there are programs at most.
//!
//! A lasting keeper keeps the programs when the link is over. Then the [`Gate`] is closed first: who
//! reads terminals has finished and begins no more, and letting go is no release.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::RequestId;
use crate::protocol::{Failure, ProgramId};
use crate::{ExitStatus, HeldProgram, KeeperLoss, StopReport, Survey};

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
    Listed(Vec<HeldProgram>),
}

/// A started program. Dropped on the way to its caller, it is let go.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) lease: Lease,
    pub(super) pid: i32,
    pub(super) tty: String,
    pub(super) master: OwnedFd,
    pub(super) journal: Option<OwnedFd>,
    pub(super) command_pipe: Option<OwnedFd>,
    pub(super) exit: watch::Receiver<Option<ExitStatus>>,
}

/// The right to a program; dropping it tells the keeper what to do with it.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) program: ProgramId,
    pub(super) then: Then,
    pub(super) abandoned: Arc<Abandoned>,
    pub(super) gate: Arc<Gate>,
}

/// What becomes of a program that is let go of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// What still runs is ended, and it is forgotten.
    End,
    /// It is kept: its adoption came to nothing.
    Keep,
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.gate.is_closed() {
            return;
        }
        self.abandoned.programs().push((self.program, self.then));
        self.abandoned.wake.notify_one();
    }
}

/// Programs let go of and not yet told to the keeper.
#[derive(Debug, Default)]
pub(super) struct Abandoned {
    programs: Mutex<Vec<(ProgramId, Then)>>,
    wake: Notify,
}

impl Abandoned {
    /// Waits until there may be some. Cancel safe.
    pub(super) async fn some(&self) {
        self.wake.notified().await;
    }

    pub(super) fn take(&self) -> Vec<(ProgramId, Then)> {
        std::mem::take(&mut *self.programs())
    }

    fn programs(&self) -> std::sync::MutexGuard<'_, Vec<(ProgramId, Then)>> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether terminals may be read: closed when they are another server's, or are left to the next one.
#[derive(Debug)]
pub(super) struct Gate {
    is_closed: AtomicBool,
    /// Read while a terminal is.
    reading: RwLock<()>,
    leave: Notify,
    /// Set once the link is over and the keeper is not dead.
    loss: watch::Sender<Option<KeeperLoss>>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            is_closed: AtomicBool::new(false),
            reading: RwLock::new(()),
            leave: Notify::new(),
            loss: watch::Sender::new(None),
        }
    }
}

impl Gate {
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Lets a terminal be read once, if it may be.
    pub(super) fn read(&self) -> io::Result<RwLockReadGuard<'_, ()>> {
        let guard = self.reading.read().unwrap_or_else(PoisonError::into_inner);
        // Within the lock: who closes waits for those that saw it open.
        match self.is_closed() {
            false => Ok(guard),
            true => Err(handed_over()),
        }
    }

    /// Nobody reads a terminal after this; waits for those who do, which is one system call.
    pub(super) fn close(&self) {
        let _nobody = self.reading.write().unwrap_or_else(PoisonError::into_inner);
        self.is_closed.store(true, Ordering::Release);
    }

    /// Closes it and tells the connection task to end.
    pub(super) fn leave(&self) {
        self.close();
        self.leave.notify_one();
    }

    /// Waits until somebody leaves. Cancel safe.
    pub(super) async fn left(&self) {
        self.leave.notified().await;
    }

    pub(super) fn set_loss(&self, loss: KeeperLoss) {
        self.loss.send_replace(Some(loss));
    }

    pub(super) fn loss(&self) -> Option<KeeperLoss> {
        *self.loss.borrow()
    }

    /// Waits until the link is over and the keeper is not dead.
    pub(super) async fn lost(&self) -> KeeperLoss {
        let mut loss = self.loss.subscribe();
        let lost = loss.wait_for(Option::is_some).await;
        lost.ok().and_then(|loss| *loss).unwrap_or(KeeperLoss::Gone)
    }
}

/// What a terminal that was handed over says.
pub(super) fn handed_over() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the terminal was left to another server")
}

/// A handle on the connection task; the connection lives as long as one of these.
#[derive(Debug, Clone)]
pub(super) struct Link {
    calls: mpsc::Sender<Call>,
    requests: Arc<AtomicU64>,
    /// Closed when the task has ended and the keeper was reaped.
    ended: watch::Receiver<()>,
    keeper: u32,
    gate: Arc<Gate>,
}

impl Link {
    pub(super) fn new(
        calls: mpsc::Sender<Call>,
        ended: watch::Receiver<()>,
        keeper: u32,
        gate: Arc<Gate>,
    ) -> Self {
        Self { calls, requests: Arc::new(AtomicU64::new(1)), ended, keeper, gate }
    }

    pub(super) fn gate(&self) -> &Arc<Gate> {
        &self.gate
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
