//! The keeper: the process that holds the programs.
//!
//! One loop, one thread, no locks, nothing that waits but `poll`: requests come from the socket,
//! child exits from a pipe that `SIGCHLD` writes to, results of `execve` from a pipe per spawn,
//! and the next look at a session that is being stopped from a clock. Each is handled at once
//! and briefly; what takes time (a grace, a kill that must be repeated) is state that the loop
//! comes back to.
//!
//! * [`setup`] makes the process a keeper; [`requests`] handles what is asked; [`launch`] and
//!   [`child`] start a program; [`reap`] learns of exits; [`family`] finds the processes of a
//!   program; [`stop`] ends one; [`ending`] ends all.
//!
//! # Invariants
//!
//! * A program's leader stays a zombie from its exit to its release, so its pid names nobody
//!   else. Any other child (an orphan that came to us as subreaper) is reaped at once.
//! * The keeper holds each terminal's slave until the leader exited, so a master never reads as
//!   hung up before that, and its master until release, so the terminal outlives the server's
//!   carelessness.
//! * It reads no file of a user's: paths are resolved in the forked child. A dead network mount
//!   can stall one spawn, not the keeper. What it removes, the private folders of programs, the
//!   server made in its temporary folder.
//! * It exits only when no process is left that descends from it, or after [`ending`]'s bound.

mod child;
mod ending;
mod family;
mod launch;
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
use rustix::process::Rlimit;

use crate::ExitStatus;
use crate::protocol::{Event, ProgramId, Request, RequestId};
use crate::wire::{Filled, Inbox, OUTBOX_LIMIT, Outbox};
use ending::Ending;
use stop::Stop;
use strangers::Strangers;

/// The keeper's whole life; `role` calls it instead of `main`.
pub(crate) fn main() -> ! {
    let ended = setup::become_keeper().and_then(|own| Keeper::new(own).run());
    crate::sys::exit_now(if ended.is_ok() { 0 } else { 2 })
}

struct Keeper {
    /// `None` once the server is gone.
    socket: Option<OwnedFd>,
    inbox: Inbox,
    outbox: Outbox,
    /// Readable when a child changed state.
    child_pipe: OwnedFd,
    /// The descriptor limit that programs get; our own is higher.
    descriptor_limit: Rlimit,
    programs: BTreeMap<ProgramId, Held>,
    next_program: u64,
    /// A child may have ended since we last looked.
    reap_due: bool,
    ending: Option<Ending>,
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
    stop: Option<Stop>,
    strangers: Strangers,
    /// Removed with the entry.
    _folder: GuardedFolder,
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
    request: RequestId,
    /// Closed by a successful `execve`; else brings a report.
    pipe: OwnedFd,
    candidates: Vec<Vec<u8>>,
}

impl Keeper {
    fn new(own: setup::Own) -> Self {
        Self {
            socket: Some(own.socket),
            inbox: Inbox::default(),
            outbox: Outbox::default(),
            child_pipe: own.child_pipe,
            descriptor_limit: own.descriptor_limit,
            programs: BTreeMap::new(),
            next_program: 1,
            reap_due: false,
            ending: None,
        }
    }

    fn run(mut self) -> io::Result<()> {
        self.send(&Event::Hello { version: crate::protocol::VERSION }, None);
        loop {
            self.flush();
            let ready = self.wait()?;
            if ready.children {
                self.drain_child_pipe();
                self.reap_due = true;
            }
            for program in ready.started {
                self.finish_start(program);
            }
            if ready.socket {
                self.receive();
            }
            if std::mem::take(&mut self.reap_due) {
                self.reap();
                self.look_at_once();
            }
            self.advance_stops();
            if self.advance_ending() {
                self.flush_before_exit();
                return Ok(());
            }
        }
    }

    /// Waits for whatever comes first.
    fn wait(&self) -> io::Result<Ready> {
        let mut sources = vec![PollFd::new(&self.child_pipe, PollFlags::IN)];
        let mut starting = Vec::new();
        for (&program, held) in &self.programs {
            if let Some(start) = &held.start {
                sources.push(PollFd::new(&start.pipe, PollFlags::IN));
                starting.push(program);
            }
        }
        if let Some(socket) = &self.socket {
            let mut interest = PollFlags::empty();
            interest.set(PollFlags::IN, self.outbox.bytes() < OUTBOX_LIMIT);
            interest.set(PollFlags::OUT, !self.outbox.is_empty());
            sources.push(PollFd::new(socket, interest));
        }
        let timeout = self.next_look().map(|at| {
            let wait = at.saturating_duration_since(Instant::now());
            Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() }
        });
        match rustix::event::poll(&mut sources, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |source: &PollFd<'_>| !source.revents().is_empty();
        let started = starting.iter().zip(&sources[1..]);
        Ok(Ready {
            children: is_ready(&sources[0]),
            started: started.filter(|(_, pipe)| is_ready(pipe)).map(|(&id, _)| id).collect(),
            socket: self.socket.is_some() && sources.last().is_some_and(is_ready),
        })
    }

    fn next_look(&self) -> Option<Instant> {
        let stops = self.programs.values().filter_map(|held| held.stop.as_ref());
        stops.map(Stop::next_look).chain(self.ending.as_ref().map(Ending::next_look)).min()
    }

    /// Reads once and handles every whole frame. The end of the stream, and bytes that are no
    /// frame, are the server's death.
    fn receive(&mut self) {
        let Some(socket) = &self.socket else { return };
        if self.outbox.bytes() >= OUTBOX_LIMIT {
            return;
        }
        match self.inbox.fill(socket.as_fd()) {
            Ok(Filled::Some) => {}
            Ok(Filled::EndOfFile) => return self.server_died(),
            Err(error) if is_transient(&error) => return,
            Err(_) => return self.server_died(),
        }
        loop {
            match self.inbox.next_frame().and_then(|body| body.map(Request::decode).transpose()) {
                Ok(Some(request)) => self.handle(request),
                Ok(None) => return,
                Err(_) => return self.server_died(),
            }
        }
    }

    fn send(&mut self, event: &Event, descriptor: Option<OwnedFd>) {
        // Events are far below the frame limit: lists are cut to MAX_LISTED, paths to PATH_MAX.
        if let Ok(frame) = event.encode() {
            self.outbox.push(frame, descriptor);
        }
    }

    fn flush(&mut self) {
        let Some(socket) = &self.socket else { return };
        match self.outbox.flush(socket.as_fd()) {
            Ok(()) => {}
            Err(error) if is_transient(&error) => {}
            Err(_) => self.server_died(),
        }
    }

    fn server_died(&mut self) {
        self.socket = None;
        self.outbox = Outbox::default();
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
        while !self.outbox.is_empty() && Instant::now() < until {
            self.flush();
            let Some(socket) = &self.socket else { return };
            let pause = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            let _ = rustix::event::poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&pause));
        }
    }
}

struct Ready {
    children: bool,
    started: Vec<ProgramId>,
    socket: bool,
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
