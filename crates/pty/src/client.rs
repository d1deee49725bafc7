//! The server's end: the handle that starts programs.
//!
//! [`Keeper`] starts the keeper process with the first spawn and talks to it through a
//! [`link::Link`], whose other end is the one task that owns the socket ([`connection`]).
//! [`Program`] is one program and its terminal. A keeper that died is noticed by the task; the
//! next spawn starts another.
//!
//! A lasting keeper is found or started by [`lasting`], which blocks and so has a thread of its own.
//!
//! No lock of the standard library is held across an await. The watch's lock is held while a link to a private keeper is
//! made, which is `posix_spawn` and takes about a millisecond. An async lock guards the making of a link to a lasting
//! keeper.

mod aftermath;
mod connection;
mod lasting;
mod link;
mod process;
mod program;
mod terminal_writer;
mod translate;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::protocol::{Request, RequestId};
use crate::{
    AttachError, ControlError, HeldProgram, KeeperLoss, Lasting, ProgramId, SpawnError, SpawnSpec,
};
use link::{Answer, Link, NoAnswer};

pub use program::Program;

/// How long the keeper may take to answer what needs no waiting.
const REPLY_LIMIT: Duration = Duration::from_secs(10);

/// How long the keeper may take beyond the grace to end everything.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(15);

/// Descriptors that a new program leaves free: what runs cannot be looked at without any.
const SPARE: usize = 12;

/// Whether there are so many free descriptors.
fn room_for(count: usize) -> io::Result<()> {
    let null = File::open("/dev/null")?;
    (0..count).map(|_| null.try_clone()).collect::<io::Result<Vec<_>>>().map(drop)
}

/// Starts programs on terminals, each held by one keeper process.
///
/// Clones share the keeper. It needs a Tokio runtime with I/O and time enabled, the same one as long
/// as the keeper lives. There are two kinds:
///
/// * [`Keeper::new`] starts a private one with the first spawn. When every clone and every [`Program`]
///   is dropped, or the runtime ends, or this process dies, the keeper ends all that it started,
///   processes that detached themselves included; [`Keeper::shutdown`] does so in order.
/// * [`Keeper::lasting`] has one that outlives this process: what is not let go of before stays, for the
///   next server to adopt. A server that stops calls [`Keeper::leave`] before it drops its programs,
///   since dropping a [`Program`] ends it here as there.
#[derive(Debug, Clone, Default)]
pub struct Keeper {
    /// The last link, open or not.
    link: Arc<watch::Sender<Option<Link>>>,
    lasting: Option<Arc<Found>>,
}

/// How a lasting keeper is found again.
#[derive(Debug)]
struct Found {
    lasting: Lasting,
    /// One attempt at a time.
    attaching: tokio::sync::Mutex<()>,
}

impl Keeper {
    /// A handle on a private keeper; no process yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Becomes the server of the keeper that listens at a socket; starts one if there is none.
    ///
    /// If it dies, the next spawn starts another, as with a private one. If another server takes over,
    /// this one has lost it for good: every question is answered by `KeeperGone`, terminals are no longer
    /// read or written through this handle's programs, and [`Keeper::lost`] says who has it. A read into
    /// a journal that is under way then is finished before the other server is admitted. The descriptors stay
    /// open until the programs are dropped, so the process should end soon. It has three seconds to notice;
    /// one that does not (it was stopped) is cut off, and what it reads after that is lost.
    pub async fn lasting(mut lasting: Lasting) -> Result<Self, AttachError> {
        let path = lasting.socket.clone();
        let unreachable = |source| AttachError::Unreachable { path, source };
        lasting.socket = std::path::absolute(&lasting.socket).map_err(unreachable)?;
        let found = Found { lasting, attaching: tokio::sync::Mutex::default() };
        let keeper = Self { link: Arc::default(), lasting: Some(Arc::new(found)) };
        match keeper.link().await {
            Ok(_) => Ok(keeper),
            Err(SpawnError::Attach(error)) => Err(error),
            Err(other) => Err(unreachable_by(&keeper, io::Error::other(other))),
        }
    }

    /// Resumes a lasting keeper that is stopped (`SIGSTOP`) and answers nobody.
    pub fn resume(socket: &Path) {
        lasting::resume(socket);
    }

    /// Ends everything that a lasting keeper holds, and the keeper, when its server is gone; false when
    /// there is no keeper. `Busy` when it has a server, which is to be asked instead.
    pub async fn end_all(socket: PathBuf, grace: Duration) -> Result<bool, AttachError> {
        let path = socket.clone();
        let ended = tokio::task::spawn_blocking(move || lasting::end_all(&path, grace)).await;
        ended.unwrap_or_else(|error| {
            Err(AttachError::Unreachable { path: socket, source: io::Error::other(error) })
        })
    }

    /// What the keeper holds: programs of earlier servers and of this one.
    pub async fn held(&self) -> Result<Vec<HeldProgram>, ControlError> {
        let Some(link) = self.current() else { return Ok(Vec::new()) };
        let request = link.next_request();
        match self.question(&link, request, Request::List { request }).await? {
            Answer::Listed(programs) => Ok(programs),
            other => Err(program::refusal(&other)),
        }
    }

    /// Takes over a program that the keeper holds for an earlier server. `NoProcess` when it holds
    /// no such program; refused when this server has it already.
    ///
    /// Cancel safe: a program whose future was dropped, or that could not be used here, is kept and can be
    /// adopted again.
    pub async fn adopt(&self, program: ProgramId) -> Result<Program, ControlError> {
        let link = self.current().ok_or(ControlError::KeeperGone)?;
        let request = link.next_request();
        match self.question(&link, request, Request::Adopt { request, program }).await? {
            Answer::Launched(launched) => Program::new(launched, link)
                .map_err(|error| ControlError::Refused(io::Error::other(error))),
            Answer::SpawnFailed { errno, .. } => {
                Err(ControlError::Refused(io::Error::from_raw_os_error(errno)))
            }
            other => Err(program::refusal(&other)),
        }
    }

    /// Leaves everything to the next server of a lasting keeper: from now on dropping a program does not
    /// end it. What was dropped before is ended. Does nothing with a private keeper.
    pub async fn leave(&self) {
        if self.lasting.is_none() {
            return;
        }
        let Some(link) = self.current() else { return };
        link.gate().leave();
        link.ended(REPLY_LIMIT).await;
    }

    /// Waits until this server has lost its keeper to another server, or has left it. At once when it has
    /// none. The death of a keeper is not such a loss: the next spawn starts another.
    pub async fn lost(&self) -> KeeperLoss {
        let mut links = self.link.subscribe();
        loop {
            // Not the link: the connection lives as long as one.
            let gate = links.borrow_and_update().as_ref().map(|link| Arc::clone(link.gate()));
            let Some(gate) = gate else { return KeeperLoss::Gone };
            tokio::select! {
                loss = gate.lost() => return loss,
                // `self` has the sender, so this is another link.
                _ = links.changed() => {}
            }
        }
    }

    /// Starts a program; returns once it runs, or with why it does not.
    ///
    /// Cancel safe: a program whose future was dropped is ended.
    pub async fn spawn(&self, spec: SpawnSpec) -> Result<Program, SpawnError> {
        let spawn = translate::to_wire(&spec)?;
        room_for(SPARE).map_err(|source| {
            SpawnError::descriptor_limit(source)
                .unwrap_or_else(|source| SpawnError::Terminal { source })
        })?;
        let link = self.link().await?;
        let request = link.next_request();
        let frame = Request::Spawn { request, spawn: spawn.clone() }
            .encode()
            .map_err(|_| SpawnError::TooLarge)?;
        let label = spec.label.clone();
        match link.ask(request, frame, label, REPLY_LIMIT).await {
            Ok(Answer::Launched(launched)) => Program::new(launched, link),
            Ok(Answer::SpawnFailed { failure, errno, path }) => {
                Err(translate::spawn_error(&spec, &spawn, failure, errno, &path))
            }
            Err(NoAnswer::Silent(limit)) => Err(SpawnError::KeeperSilent { limit }),
            Ok(_) | Err(NoAnswer::Gone) => Err(SpawnError::KeeperGone),
        }
    }

    /// Ends every program and whatever descends from one, detached processes included: hangup
    /// and `SIGTERM`, the grace, then `SIGKILL`. Returns when all are gone and the keeper too.
    ///
    /// A later spawn starts a new keeper.
    pub async fn shutdown(&self, grace: Duration) {
        let Some(link) = self.link.send_replace(None) else { return };
        let request = link.next_request();
        let grace_ms = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
        let limit = grace.saturating_add(SHUTDOWN_LIMIT);
        if let Ok(frame) = (Request::Shutdown { request, grace_ms }).encode() {
            let _ = link.ask(request, frame, String::new(), limit).await;
        }
        link.ended(REPLY_LIMIT).await;
    }

    /// The keeper's process id, while there is one.
    pub fn pid(&self) -> Option<u32> {
        self.link.borrow().as_ref().filter(|link| link.is_open()).map(Link::keeper_pid)
    }

    /// The last link, open or not.
    fn current(&self) -> Option<Link> {
        self.link.borrow().clone()
    }

    async fn question(
        &self,
        link: &Link,
        request: RequestId,
        question: Request,
    ) -> Result<Answer, ControlError> {
        let frame = question.encode();
        let frame = frame.map_err(|error| ControlError::Refused(io::Error::other(error)))?;
        let answer = link.ask(request, frame, String::new(), REPLY_LIMIT).await;
        answer.map_err(|error| match error {
            NoAnswer::Gone => ControlError::KeeperGone,
            NoAnswer::Silent(limit) => ControlError::KeeperSilent { limit },
        })
    }

    /// The link to the keeper, which is found or started if there is none.
    async fn link(&self) -> Result<Link, SpawnError> {
        let Some(found) = &self.lasting else { return self.private_link() };
        let _one = found.attaching.lock().await;
        if let Some(link) = self.current() {
            if link.is_open() {
                return Ok(link);
            }
            match link.gate().loss() {
                Some(KeeperLoss::TakenOver { by }) => {
                    return Err(SpawnError::Attach(AttachError::TakenOver { by }));
                }
                _ if link.gate().is_closed() => return Err(SpawnError::KeeperGone),
                _ => {}
            }
        }
        let lasting = found.lasting.clone();
        let attached = tokio::task::spawn_blocking(move || lasting::attach(&lasting)).await;
        let attached = attached
            .map_err(|error| SpawnError::Attach(unreachable_by(self, io::Error::other(error))))?;
        let link = connection::attach(attached.map_err(SpawnError::Attach)?);
        let link = link.map_err(translate::start_error)?;
        self.link.send_replace(Some(link.clone()));
        Ok(link)
    }

    /// The link to a private keeper, which is started if there is none.
    fn private_link(&self) -> Result<Link, SpawnError> {
        let mut result = Err(SpawnError::KeeperGone);
        self.link.send_modify(|link| {
            result = match link.as_ref().filter(|link| link.is_open()) {
                Some(open) => Ok(open.clone()),
                None => connection::start()
                    .map(|started| link.insert(started).clone())
                    .map_err(translate::start_error),
            };
        });
        result
    }
}

fn unreachable_by(keeper: &Keeper, source: io::Error) -> AttachError {
    let path = keeper.lasting.as_ref().map(|found| found.lasting.socket.clone());
    AttachError::Unreachable { path: path.unwrap_or_default(), source }
}
