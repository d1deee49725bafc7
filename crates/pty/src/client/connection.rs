//! The task that owns the socket to the keeper.
//!
//! It is the socket's only reader and writer. Questions come from a bounded queue and are taken
//! only while little is unsent and unanswered; answers go to whoever asked; exits go to the
//! program's watch. It ends when the keeper does, or when no handle is left, and then closes the
//! socket, which is a private keeper's sign to end everything. A lasting keeper goes on: the link to it
//! also ends when this server leaves it or another takes over, and what it holds is not touched then.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::{mpsc, oneshot, watch};

use super::aftermath::{self, LostProgram};
use super::lasting::{self, Attached};
use super::link::{Abandoned, Answer, CALL_QUEUE, Call, Gate, Launched, Lease, Link, Then};
use super::process::{self, KeeperProcess};
use crate::protocol::{Event, Failure, Malformed, Parcels, ProgramId, Request, RequestId, VERSION};
use crate::wire::{Filled, Inbox, OUTBOX_LIMIT, Outbox, Received};
use crate::{ExitStatus, HeldProgram, KeeperLoss, sys};

/// Questions asked and not answered.
const MAX_PENDING: usize = 4096;

/// How long the keeper may take to hear of the last programs that were let go of.
const LAST_RELEASES: Duration = Duration::from_secs(1);

struct Connection {
    socket: AsyncFd<OwnedFd>,
    inbox: Inbox,
    outbox: Outbox,
    calls: mpsc::Receiver<Call>,
    abandoned: Arc<Abandoned>,
    gate: Arc<Gate>,
    pending: HashMap<RequestId, Pending>,
    programs: HashMap<ProgramId, Known>,
    greeted: bool,
}

struct Pending {
    label: String,
    reply: oneshot::Sender<Answer>,
}

struct Known {
    identity: LostProgram,
    exit: watch::Sender<Option<ExitStatus>>,
}

/// Why the connection is over.
enum Over {
    /// No handle is left.
    Unused,
    /// This server leaves the keeper to the next one.
    Left,
    /// Another server has it.
    Taken(u32),
    /// The keeper closed the socket, or said something that is not the protocol.
    Keeper(io::Error),
}

impl From<io::Error> for Over {
    fn from(error: io::Error) -> Self {
        Self::Keeper(error)
    }
}

/// The keeper at the other end.
enum Origin {
    /// Our own child.
    Private(KeeperProcess),
    /// Its pid.
    Lasting(u32),
}

/// Starts a private keeper and the task that talks to it.
pub(super) fn start() -> io::Result<Link> {
    let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
    let (keeper, socket) = process::start()?;
    run(&runtime, Origin::Private(keeper), socket, Inbox::default())
}

/// Starts the task that talks to a lasting keeper.
pub(super) fn attach(attached: Attached) -> io::Result<Link> {
    let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
    let Attached { socket, inbox, pid } = attached;
    run(&runtime, Origin::Lasting(pid), socket, inbox)
}

fn run(
    runtime: &tokio::runtime::Handle,
    origin: Origin,
    socket: OwnedFd,
    inbox: Inbox,
) -> io::Result<Link> {
    let (sender, calls) = mpsc::channel(CALL_QUEUE);
    let (ending, ended) = watch::channel(());
    let gate = Arc::<Gate>::default();
    let connection = Connection {
        socket: sys::watch(socket, Interest::READABLE | Interest::WRITABLE)?,
        inbox,
        outbox: Outbox::default(),
        calls,
        abandoned: Arc::default(),
        gate: Arc::clone(&gate),
        pending: HashMap::new(),
        programs: HashMap::new(),
        greeted: matches!(origin, Origin::Lasting(_)),
    };
    let pid = match &origin {
        Origin::Private(keeper) => keeper.pid(),
        Origin::Lasting(pid) => *pid,
    };
    let link = Link::new(sender, ended, pid, gate);
    runtime.spawn(async move {
        connection.run(origin).await;
        drop(ending);
    });
    Ok(link)
}

impl Connection {
    async fn run(mut self, origin: Origin) {
        let Err(over) = self.serve().await;
        match &over {
            Over::Unused | Over::Left => {
                tracing::debug!("the keeper is no longer in use");
                self.release_last().await;
            }
            Over::Taken(by) => {
                tracing::warn!(by, "another server has taken over");
                self.gate.close();
                self.gate.set_loss(KeeperLoss::TakenOver { by: *by });
            }
            Over::Keeper(reason) => tracing::debug!(%reason, "the keeper closed the connection"),
        }
        let Self { socket, calls, pending, programs, gate, .. } = self;
        // In this order: nobody can ask any more, who asked learns it, the keeper ends.
        drop(calls);
        drop(pending);
        drop(socket);
        let is_dead = match (&origin, &over) {
            (Origin::Private(_), _) => true,
            (Origin::Lasting(pid), Over::Keeper(_)) => lasting::is_dead(*pid).await,
            (Origin::Lasting(_), _) => false,
        };
        if is_dead {
            lose(&programs).await;
        } else {
            // The programs are there, and not ours any more.
            gate.close();
            if gate.loss().is_none() {
                gate.set_loss(KeeperLoss::Gone);
            }
        }
        if let Origin::Private(keeper) = origin {
            keeper.wait().await;
        }
    }

    async fn serve(&mut self) -> Result<Infallible, Over> {
        self.drain_inbox()?;
        loop {
            let takes_calls =
                self.outbox.bytes() < OUTBOX_LIMIT && self.pending.len() < MAX_PENDING;
            tokio::select! {
                call = self.calls.recv(), if takes_calls => match call {
                    Some(call) => self.ask(call)?,
                    None => return Err(Over::Unused),
                },
                () = self.gate.left() => return Err(Over::Left),
                () = self.abandoned.some(), if takes_calls => self.release_abandoned()?,
                ready = self.socket.readable() => {
                    let inbox = &mut self.inbox;
                    if let Ok(filled) = ready?.try_io(|socket| inbox.fill(socket.get_ref().as_fd())) {
                        self.receive(filled)?;
                    }
                }
                ready = self.socket.writable(), if !self.outbox.is_empty() => {
                    let outbox = &mut self.outbox;
                    if let Ok(flushed) = ready?.try_io(|socket| outbox.flush(socket.get_ref().as_fd())) {
                        flushed?;
                    }
                }
            }
        }
    }

    /// Tells a keeper that goes on what was let go of before the link's end, if it listens.
    async fn release_last(&mut self) {
        let sent = async {
            self.release_abandoned()?;
            while !self.outbox.is_empty() {
                let mut ready = self.socket.writable().await?;
                let outbox = &mut self.outbox;
                if let Ok(flushed) = ready.try_io(|socket| outbox.flush(socket.get_ref().as_fd())) {
                    flushed?;
                }
            }
            io::Result::Ok(())
        };
        let _ = tokio::time::timeout(LAST_RELEASES, sent).await;
    }

    fn ask(&mut self, call: Call) -> io::Result<()> {
        // What was let go of before is told before.
        self.queue_releases()?;
        let Call { request, frame, label, reply } = call;
        self.pending.insert(request, Pending { label, reply });
        self.outbox.push(frame, Vec::new());
        self.flush()
    }

    fn release_abandoned(&mut self) -> io::Result<()> {
        self.queue_releases()?;
        self.flush()
    }

    fn queue_releases(&mut self) -> io::Result<()> {
        for (program, then) in self.abandoned.take() {
            self.programs.remove(&program);
            let request = match then {
                Then::End => Request::Release { program },
                Then::Keep => Request::Return { program },
            };
            let frame = request.encode().map_err(io::Error::other)?;
            self.outbox.push(frame, Vec::new());
        }
        Ok(())
    }

    /// Sends what the socket takes now; the rest goes when it is writable.
    fn flush(&mut self) -> io::Result<()> {
        match self.outbox.flush(self.socket.get_ref().as_fd()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            flushed => flushed,
        }
    }

    fn receive(&mut self, filled: io::Result<Filled>) -> Result<(), Over> {
        let filled = filled?;
        self.drain_inbox()?;
        match filled {
            Filled::Some => Ok(()),
            Filled::EndOfFile => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        }
    }

    fn drain_inbox(&mut self) -> Result<(), Over> {
        while let Some(body) = self.inbox.next_frame().map_err(io::Error::other)? {
            match Event::decode(body) {
                Ok(event) => self.handle(event)?,
                // Of a later version.
                Err(Malformed::Tag(tag)) if self.greeted => {
                    tracing::debug!(
                        tag,
                        "an event of the keeper's that this version does not know"
                    );
                }
                Err(malformed) => return Err(io::Error::other(malformed).into()),
            }
        }
        Ok(())
    }

    fn handle(&mut self, event: Event) -> Result<(), Over> {
        if !self.greeted {
            // A private keeper is of our own image.
            self.greeted = matches!(event, Event::Hello { version: VERSION, .. });
            let stranger = || io::Error::other("the keeper is of another version").into();
            return if self.greeted { Ok(()) } else { Err(stranger()) };
        }
        match event {
            Event::Hello { .. } | Event::Busy { .. } => {}
            Event::TakenOver { by } => return Err(Over::Taken(by)),
            Event::Spawned { request, program, pid, tty, parcels } => {
                let label = self.pending.get(&request).map(|asked| asked.label.clone());
                let label = label.unwrap_or_default();
                let lease = self.lease(program, Then::End);
                self.launched(request, lease, LostProgram { pid, tty, label }, parcels, None)?;
            }
            Event::Adopted { request, program, parcels } => {
                let HeldProgram { id, pid, tty, label, status, .. } = program;
                let lease = self.lease(id, Then::Keep);
                self.launched(request, lease, LostProgram { pid, tty, label }, parcels, status)?;
            }
            Event::Listed { request, programs } => self.answer(request, Answer::Listed(programs)),
            Event::SpawnFailed { request, failure, errno, path } => {
                self.answer(request, Answer::SpawnFailed { failure, errno, path });
            }
            Event::Done { request, errno } => self.answer(request, Answer::Done { errno }),
            Event::Stopped { request, report } => self.answer(request, Answer::Stopped(report)),
            Event::Surveyed { request, survey } => self.answer(request, Answer::Surveyed(survey)),
            Event::Exited { program, status } => {
                if let Some(known) = self.programs.get(&program) {
                    known.exit.send_replace(Some(status));
                }
            }
        }
        Ok(())
    }

    fn lease(&self, program: ProgramId, then: Then) -> Lease {
        let (abandoned, gate) = (Arc::clone(&self.abandoned), Arc::clone(&self.gate));
        Lease { program, then, abandoned, gate }
    }

    /// A program has come to us, with its descriptors. When nobody waits for it any more, or its
    /// terminal was lost on the way, the lease is dropped: one that was spawned is ended then.
    fn launched(
        &mut self,
        request: RequestId,
        lease: Lease,
        identity: LostProgram,
        parcels: Parcels,
        status: Option<ExitStatus>,
    ) -> io::Result<()> {
        let received = self.inbox.next_descriptors();
        let received = received.ok_or_else(|| io::Error::other(Malformed::Descriptor))?;
        let (sender, exit) = watch::channel(status);
        let LostProgram { pid, tty, .. } = identity.clone();
        self.programs.insert(lease.program, Known { identity, exit: sender });
        let answer = match received {
            Received::Whole(descriptors) => {
                let mut descriptors = descriptors.into_iter();
                let missing = || io::Error::other(Malformed::Descriptor);
                let master = descriptors.next().ok_or_else(missing)?;
                let mut next = |is_sent: bool| match is_sent {
                    true => descriptors.next().ok_or_else(missing).map(Some),
                    false => Ok(None),
                };
                let (journal, command_pipe) = (next(parcels.journal)?, next(parcels.command_pipe)?);
                Answer::Launched(Launched { lease, pid, tty, master, journal, command_pipe, exit })
            }
            Received::Lost => {
                let (failure, errno) = (Failure::Terminal, libc::EMFILE);
                Answer::SpawnFailed { failure, errno, path: Vec::new() }
            }
        };
        self.answer(request, answer);
        Ok(())
    }

    fn answer(&mut self, request: RequestId, answer: Answer) {
        if let Some(pending) = self.pending.remove(&request) {
            let _ = pending.reply.send(answer);
        }
    }
}

/// The keeper died: ends what is left of its programs and says that they are lost.
async fn lose(programs: &HashMap<ProgramId, Known>) {
    let lost = programs.values().filter(|known| known.exit.borrow().is_none()).count();
    if lost > 0 {
        tracing::error!(
            "the keeper process died, and with it {lost} running programs; a new session starts another keeper"
        );
    }
    let lost = programs.values().map(|known| known.identity.clone()).collect();
    let _ = tokio::task::spawn_blocking(move || aftermath::end(lost)).await;
    for known in programs.values() {
        known.exit.send_if_modified(|exit| {
            let is_unknown = exit.is_none();
            exit.get_or_insert(ExitStatus::Lost);
            is_unknown
        });
    }
}
