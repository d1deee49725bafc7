//! The task that owns the socket to the keeper.
//!
//! It is the socket's only reader and writer. Questions come from a bounded queue and are taken
//! only while little is unsent and unanswered; answers go to whoever asked; exits go to the
//! program's watch. It ends when the keeper does, or when no handle is left, and then closes the
//! socket, which is the keeper's sign to end everything.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use tokio::io::unix::AsyncFd;
use tokio::sync::{mpsc, oneshot, watch};

use super::aftermath::{self, LostProgram};
use super::link::{Abandoned, Answer, CALL_QUEUE, Call, Launched, Lease, Link};
use super::process::{self, KeeperProcess};
use crate::protocol::{Event, Failure, Malformed, ProgramId, Request, RequestId, VERSION};
use crate::wire::{Filled, Inbox, OUTBOX_LIMIT, Outbox, Received};
use crate::{ExitStatus, sys};

/// Questions asked and not answered.
const MAX_PENDING: usize = 4096;

struct Connection {
    socket: AsyncFd<OwnedFd>,
    inbox: Inbox,
    outbox: Outbox,
    calls: mpsc::Receiver<Call>,
    abandoned: Arc<Abandoned>,
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
    /// The keeper closed the socket, or said something that is not the protocol.
    Keeper(io::Error),
}

/// Starts a keeper and the task that talks to it.
pub(super) fn start() -> io::Result<Link> {
    let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
    let (keeper, socket) = process::start()?;
    let (sender, calls) = mpsc::channel(CALL_QUEUE);
    let (ending, ended) = watch::channel(());
    let connection = Connection {
        socket: sys::watch(socket)?,
        inbox: Inbox::default(),
        outbox: Outbox::default(),
        calls,
        abandoned: Arc::default(),
        pending: HashMap::new(),
        programs: HashMap::new(),
        greeted: false,
    };
    let link = Link::new(sender, ended, keeper.pid());
    runtime.spawn(async move {
        connection.run(keeper).await;
        drop(ending);
    });
    Ok(link)
}

impl Connection {
    async fn run(mut self, keeper: KeeperProcess) {
        match self.serve().await {
            Over::Unused => tracing::debug!("no terminal is in use: letting the keeper end"),
            Over::Keeper(reason) => tracing::debug!(%reason, "the keeper closed the connection"),
        }
        let Self { socket, calls, pending, programs, .. } = self;
        // In this order: nobody can ask any more, who asked learns it, the keeper ends.
        drop(calls);
        drop(pending);
        drop(socket);
        let running = programs.values().filter(|known| known.exit.borrow().is_none());
        if running.count() > 0 {
            tracing::warn!("the keeper is gone: ending what it held");
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
        keeper.wait().await;
    }

    async fn serve(&mut self) -> Over {
        loop {
            let takes_calls =
                self.outbox.bytes() < OUTBOX_LIMIT && self.pending.len() < MAX_PENDING;
            let step = tokio::select! {
                call = self.calls.recv(), if takes_calls => match call {
                    Some(call) => self.ask(call),
                    None => return Over::Unused,
                },
                () = self.abandoned.some(), if takes_calls => self.release_abandoned(),
                ready = self.socket.readable() => match ready {
                    Ok(mut ready) => {
                        let inbox = &mut self.inbox;
                        match ready.try_io(|socket| inbox.fill(socket.get_ref().as_fd())) {
                            Ok(filled) => self.receive(filled),
                            Err(_would_block) => Ok(()),
                        }
                    }
                    Err(error) => Err(error),
                },
                ready = self.socket.writable(), if !self.outbox.is_empty() => match ready {
                    Ok(mut ready) => {
                        let outbox = &mut self.outbox;
                        match ready.try_io(|socket| outbox.flush(socket.get_ref().as_fd())) {
                            Ok(flushed) => flushed,
                            Err(_would_block) => Ok(()),
                        }
                    }
                    Err(error) => Err(error),
                },
            };
            if let Err(error) = step {
                return Over::Keeper(error);
            }
        }
    }

    fn ask(&mut self, call: Call) -> io::Result<()> {
        let Call { request, frame, label, reply } = call;
        self.pending.insert(request, Pending { label, reply });
        self.outbox.push(frame, None);
        self.flush()
    }

    fn release_abandoned(&mut self) -> io::Result<()> {
        for program in self.abandoned.take() {
            self.programs.remove(&program);
            let frame = Request::Release { program }.encode().map_err(io::Error::other)?;
            self.outbox.push(frame, None);
        }
        self.flush()
    }

    /// Sends what the socket takes now; the rest goes when it is writable.
    fn flush(&mut self) -> io::Result<()> {
        match self.outbox.flush(self.socket.get_ref().as_fd()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            flushed => flushed,
        }
    }

    fn receive(&mut self, filled: io::Result<Filled>) -> io::Result<()> {
        let filled = filled?;
        while let Some(body) = self.inbox.next_frame().map_err(io::Error::other)? {
            let event = Event::decode(body).map_err(io::Error::other)?;
            self.handle(event)?;
        }
        match filled {
            Filled::Some => Ok(()),
            Filled::EndOfFile => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn handle(&mut self, event: Event) -> io::Result<()> {
        if !self.greeted {
            self.greeted = event == Event::Hello { version: VERSION };
            let stranger = || io::Error::other("the keeper is of another version");
            return if self.greeted { Ok(()) } else { Err(stranger()) };
        }
        match event {
            Event::Hello { .. } => {}
            Event::Spawned { request, program, pid, tty } => {
                let descriptor = self.inbox.next_descriptor();
                let received = descriptor.ok_or_else(|| io::Error::other(Malformed::Descriptor))?;
                let (sender, exit) = watch::channel(None);
                let pending = self.pending.remove(&request);
                let label = pending.as_ref().map(|p| p.label.clone()).unwrap_or_default();
                let identity = LostProgram { pid, tty: tty.clone(), label };
                self.programs.insert(program, Known { identity, exit: sender });
                let lease = Lease { program, abandoned: Arc::clone(&self.abandoned) };
                // Without its terminal the program is of no use: the lease is dropped, and the program ended.
                let Received::Whole(master) = received else {
                    let (failure, errno) = (Failure::Terminal, libc::EMFILE);
                    if let Some(pending) = pending {
                        let path = Vec::new();
                        let _ = pending.reply.send(Answer::SpawnFailed { failure, errno, path });
                    }
                    return Ok(());
                };
                let launched = Launched { lease, pid, tty, master, exit };
                // When nobody waits any more the lease is dropped here, and the program ended.
                if let Some(pending) = pending {
                    let _ = pending.reply.send(Answer::Launched(launched));
                }
            }
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

    fn answer(&mut self, request: RequestId, answer: Answer) {
        if let Some(pending) = self.pending.remove(&request) {
            let _ = pending.reply.send(answer);
        }
    }
}
