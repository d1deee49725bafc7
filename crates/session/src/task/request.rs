//! What a session's task is asked, and what work beside its loop reports.

use std::time::Duration;

use termbridge_pty::{Signal, StopReport, Survey};
use termbridge_vt::Size;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use super::driving::Deed;
use super::shell::Spawned;
use crate::command::{CommandReport, NewCommand};
use crate::error::SessionError;
use crate::info::{SessionInfo, Stopped};
use crate::input::{Input, Sent};
use crate::snapshot::{Page, Snapshot, SnapshotRequest};
use crate::subscription::Update;
use crate::wait::{Wait, Waited};

/// What the task is asked. The closed list of everything a session does.
#[derive(Debug)]
pub(crate) enum Command {
    Snapshot {
        request: SnapshotRequest,
        reply: oneshot::Sender<Snapshot>,
    },
    Page {
        most: usize,
        reply: oneshot::Sender<Page>,
    },
    Send {
        input: Vec<Input>,
        then: Option<(Wait, oneshot::Sender<Waited>)>,
        reply: oneshot::Sender<Result<Sent, SessionError>>,
    },
    Wait {
        wait: Wait,
        reply: oneshot::Sender<Waited>,
    },
    Submit {
        command: NewCommand,
        patience: Duration,
        reply: oneshot::Sender<Result<u64, SessionError>>,
    },
    Keyed {
        key: String,
        reply: oneshot::Sender<Option<u64>>,
    },
    Report {
        id: u64,
        background: bool,
        from: u64,
        most: u64,
        reply: oneshot::Sender<Option<CommandReport>>,
    },
    /// Ctrl+C for this command, unless it is over.
    Interrupt {
        command: u64,
        reply: oneshot::Sender<Result<bool, SessionError>>,
    },
    Resize {
        size: Size,
        reply: oneshot::Sender<Result<Size, SessionError>>,
    },
    Restart {
        reply: oneshot::Sender<Result<(), SessionError>>,
    },
    Stop {
        signal: Signal,
        grace: Duration,
        reply: oneshot::Sender<Result<Stopped, SessionError>>,
    },
    /// A person does something.
    Person {
        person: String,
        deed: Deed,
        reply: oneshot::Sender<Result<(), SessionError>>,
    },
    Watch {
        reply: oneshot::Sender<mpsc::Receiver<Update>>,
    },
    /// Nothing but a turn of the loop.
    Wake,
    Size {
        reply: oneshot::Sender<Size>,
    },
    Info {
        reply: oneshot::Sender<SessionInfo>,
    },
    EndIdle {
        reply: oneshot::Sender<bool>,
    },
    /// From a budget: this session is among the largest and should shrink to so many bytes.
    Trim {
        keep_bytes: usize,
    },
    TrimOutputMemory(usize),
    TrimOutputDisk(usize),
    /// From work that ran beside the loop.
    Surveyed(Option<Survey>),
    StopDone(Result<StopReport, String>),
    Restarted(Result<(Box<Spawned>, OwnedSemaphorePermit), SessionError>),
    /// A fault, for tests of what it leaves behind.
    #[cfg(test)]
    Panic,
    #[cfg(test)]
    PanicBeside,
}
