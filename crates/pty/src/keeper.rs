//! The keeper: the process that holds the programs.
//!
//! One loop, one thread, no locks, nothing that waits but `poll`: requests come from the socket,
//! child exits from a pipe that `SIGCHLD` writes to, results of `execve` from a pipe per spawn,
//! and the next look at a session that is being stopped from a clock. Each is handled at once
//! and briefly; what takes time (a grace, a kill that must be repeated) is state that the loop
//! comes back to.
//!
//! A private keeper has one server, and ends everything with it. A lasting one listens on a socket with a
//! name, keeps everything when its server is gone, and hands it to the next.
//!
//! * [`setup`] makes the process a keeper; [`peer`] is the other end of a socket; [`requests`] handles
//!   what is asked; [`launch`] and [`child`] start a program with the server's limits ([`inherited`]);
//!   [`reap`] learns of exits; [`family`] finds the processes of a program; [`stop`] ends one; [`ending`] ends
//!   all; [`door`] lets servers in, and [`handover`] gives them what is held.
//!
//! # Invariants
//!
//! * A program's leader stays a zombie from its exit until no process is left in its session, so a process
//!   with that session's number is the program's. The number may be reused after that, so nothing is looked for
//!   by it any more. (On macOS the zombie stays until release: orphans are found by its age.) Any
//!   other child (an orphan that came to us as subreaper; on macOS there are none) is reaped at once.
//! * The keeper holds each terminal's slave until the leader exited, so a master never reads as
//!   hung up before that, and its master until release, so the terminal outlives the server's
//!   carelessness.
//! * It reads no file of a user's: paths are resolved in the forked child. A dead network mount
//!   can stall one spawn, not the keeper. What it removes, the private folders of programs, the
//!   server made in its temporary folder.
//! * It never reads a terminal, nor a journal or a command pipe that it holds.
//! * It exits only when no process is left that descends from it, or after [`ending`]'s bound.

mod child;
mod door;
mod ending;
mod family;
mod handover;
mod inherited;
mod launch;
mod peer;
mod reap;
mod requests;
mod setup;
mod stop;
mod strangers;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use crate::ExitStatus;
use crate::protocol::{Event, ProgramId, RequestId};
use door::Door;
use ending::Ending;
use family::{Census, Seen};
use inherited::Inherited;
use peer::{Asked, Peer};
use stop::Stop;
use strangers::Strangers;

/// The keeper's whole life; `role` calls it instead of `main`.
pub(crate) fn main() -> ! {
    let ended = setup::become_keeper().and_then(|own| Keeper::new(own).run());
    crate::sys::exit_now(if ended.is_ok() { 0 } else { 2 })
}

struct Keeper {
    /// `None` while there is none.
    server: Option<Peer>,
    /// Of a lasting keeper.
    door: Option<Door>,
    /// Readable when a child changed state.
    child_pipe: OwnedFd,
    inherited: Inherited,
    programs: BTreeMap<ProgramId, Held>,
    next_program: u64,
    /// A child may have ended since we last looked.
    reap_due: bool,
    /// When to look for sessions that have become empty.
    empty_look: Option<Instant>,
    ending: Option<Ending>,
    /// Processes that detached themselves from programs which were forgotten since, where they do not
    /// become our children.
    left_behind: Seen,
    /// For the requests, or for the stops, of this turn of the loop.
    census: Census,
}

/// A program and its terminal.
struct Held {
    pid: i32,
    tty: String,
    /// `NAME=label`, by which its orphans are known; empty for none.
    mark: Vec<u8>,
    master: OwnedFd,
    slave: Option<OwnedFd>,
    /// Until `execve` has succeeded or failed.
    start: Option<Start>,
    status: Option<ExitStatus>,
    /// Its session is empty, and its pid may be another process's.
    is_reaped: bool,
    stop: Option<Stop>,
    strangers: Strangers,
    /// Removed with the entry.
    folder: GuardedFolder,
    journal: Option<OwnedFd>,
    command_pipe: Option<OwnedFd>,
    /// The server that is there has it.
    is_handed: bool,
}

/// A folder that was made for one program; empty for none.
struct GuardedFolder(Vec<u8>);

impl Drop for GuardedFolder {
    /// The server removes it too where it can; whoever comes second finds nothing. Links in it are
    /// removed, not followed.
    fn drop(&mut self) {
        if !self.0.is_empty() {
            crate::runtime_folder::remove_private(OsStr::from_bytes(&self.0).as_ref());
        }
    }
}

struct Start {
    /// `None` when the server that asked is gone.
    request: Option<RequestId>,
    /// Closed by a successful `execve`; else brings a report.
    pipe: OwnedFd,
    candidates: Vec<Vec<u8>>,
}

impl Keeper {
    fn new(own: setup::Own) -> Self {
        let (server, door) = match own.is_lasting {
            true => (None, Some(Door::new(own.socket))),
            false => (Some(Peer::new(own.socket, 0)), None),
        };
        Self {
            server,
            door,
            child_pipe: own.child_pipe,
            inherited: own.inherited,
            programs: BTreeMap::new(),
            next_program: 1,
            reap_due: false,
            empty_look: None,
            ending: None,
            left_behind: Seen::default(),
            census: Census::default(),
        }
    }

    fn run(mut self) -> io::Result<()> {
        loop {
            self.flush();
            self.flush_guests();
            // Behind the sending, which finds out who is gone.
            self.advance_door();
            self.census = Census::default();
            // Backwards: who is heard may leave, and those before it keep their places.
            for source in self.wait()?.into_iter().rev() {
                match source {
                    Source::Children => {
                        self.drain_child_pipe();
                        self.reap_due = true;
                    }
                    Source::Started(program) => self.finish_start(program),
                    Source::Server => self.receive(),
                    Source::Guest(index) => self.hear(index),
                    Source::Door => {
                        if let Some(door) = &mut self.door {
                            door.accept();
                        }
                    }
                }
            }
            if std::mem::take(&mut self.reap_due) {
                self.reap();
            }
            self.reap_leaders();
            self.advance_stops();
            if self.advance_ending() {
                self.flush_before_exit();
                return Ok(());
            }
        }
    }

    /// Waits for whatever comes first; gives what is ready.
    fn wait(&self) -> io::Result<Vec<Source>> {
        let mut sources = Vec::new();
        let mut polled = Vec::new();
        let mut watch = |source, descriptor, interest| {
            sources.push(source);
            polled.push(PollFd::from_borrowed_fd(descriptor, interest));
        };
        // What the server asks is handled last, when it is known who has ended.
        if let Some(server) = &self.server {
            watch(Source::Server, server.socket.as_fd(), server.interest());
        }
        if let Some(door) = &self.door {
            if let Some(listener) = door.open() {
                watch(Source::Door, listener.as_fd(), PollFlags::IN);
            }
            for (index, guest) in door.guests.iter().enumerate() {
                watch(Source::Guest(index), guest.peer.socket.as_fd(), guest.peer.interest());
            }
        }
        for (&program, held) in &self.programs {
            if let Some(start) = &held.start {
                watch(Source::Started(program), start.pipe.as_fd(), PollFlags::IN);
            }
        }
        watch(Source::Children, self.child_pipe.as_fd(), PollFlags::IN);
        let timeout = self.next_look().map(|at| {
            let wait = at.saturating_duration_since(Instant::now());
            Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() }
        });
        match rustix::event::poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = sources.into_iter().zip(&polled);
        Ok(ready.filter(|(_, poll)| !poll.revents().is_empty()).map(|(source, _)| source).collect())
    }

    fn next_look(&self) -> Option<Instant> {
        let stops = self.programs.values().filter_map(|held| held.stop.as_ref());
        let ending = self.ending.as_ref().map(Ending::next_look);
        let has_server = self.server.is_some();
        let door = self.door.as_ref().and_then(|door| door.next_look(has_server));
        stops.map(Stop::next_look).chain(ending).chain(door).chain(self.empty_look).min()
    }

    /// Reads once and handles every whole frame. The end of the stream, and bytes that are no
    /// frame, are the server's death.
    fn receive(&mut self) {
        let Some(server) = &mut self.server else { return };
        if server.fill().is_err() {
            return self.server_gone();
        }
        while let Some(server) = &mut self.server {
            match server.next() {
                Ok(Some(Asked::Request(request))) => self.handle(request),
                Ok(Some(Asked::Unknown { event })) => {
                    if let Some(event) = event {
                        server.send(&event, Vec::new());
                    }
                }
                Ok(None) => return,
                Err(_) => self.server_gone(),
            }
        }
    }

    fn send(&mut self, event: &Event) {
        self.send_with(event, Vec::new());
    }

    /// Without a server the event is nobody's.
    fn send_with(&mut self, event: &Event, descriptors: Vec<OwnedFd>) {
        if let Some(server) = &mut self.server {
            server.send(event, descriptors);
        }
    }

    fn flush(&mut self) {
        if self.server.as_mut().is_some_and(|server| server.flush().is_err()) {
            self.server_gone();
        }
    }

    fn server_gone(&mut self) {
        self.server = None;
        if self.door.is_some() {
            return self.keep_everything();
        }
        setup::release_stderr();
        self.begin_ending(ending::DEATH_GRACE, None);
    }

    fn drain_child_pipe(&self) {
        let mut buffer = [0; 64];
        while rustix::io::read(&self.child_pipe, &mut buffer).is_ok_and(|count| count > 0) {}
    }

    /// Gives the last answers a bounded time to leave.
    fn flush_before_exit(&mut self) {
        let until = Instant::now() + Duration::from_secs(1);
        while let Some(server) = self.server.as_ref().filter(|server| server.has_unsent())
            && Instant::now() < until
        {
            let pause = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            let mut sources = [PollFd::new(&server.socket, PollFlags::OUT)];
            let _ = rustix::event::poll(&mut sources, Some(&pause));
            self.flush();
        }
    }
}

/// What the loop waits for.
enum Source {
    Server,
    Door,
    Guest(usize),
    Started(ProgramId),
    Children,
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
