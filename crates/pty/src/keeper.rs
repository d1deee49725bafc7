//! The keeper: the process that holds the programs.
//!
//! One loop, one thread, no locks, nothing that waits but `poll`: requests come from the socket,
//! child exits from a pipe that `SIGCHLD` writes to, results of `execve` from a pipe per spawn,
//! and the next look at a session that is being stopped from a clock. Each is handled at once
//! and briefly; what takes time (a grace, a kill that must be repeated) is state that the loop
//! comes back to.
//!
//! * [`setup`] makes the process a keeper; [`launch`] and [`child`] start a program; [`family`]
//!   finds the processes of one; [`stop`] ends one; [`ending`] ends all.
//!
//! # Invariants
//!
//! * A program's leader stays a zombie from its exit to its release, so its pid names nobody
//!   else. Any other child (an orphan that came to us as subreaper) is reaped at once.
//! * The keeper holds each terminal's slave until the leader exited, so a master never reads as
//!   hung up before that, and its master until release, so the terminal outlives the server's
//!   carelessness.
//! * It reads no file of a user's: paths are resolved in the forked child. A dead network mount
//!   can stall one spawn, not the keeper.
//! * It exits only when no process is left that descends from it, or after [`ending`]'s bound.

mod child;
mod ending;
mod family;
mod launch;
mod requests;
mod setup;
mod stop;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Rlimit, WaitId, WaitIdOptions, WaitOptions};

use crate::ExitStatus;
use crate::protocol::{Event, Failure, ProgramId, Request, RequestId};
use crate::wire::{Filled, Inbox, OUTBOX_LIMIT, Outbox};
use ending::Ending;
use stop::Stop;

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

    /// The exec pipe of a spawn is readable: it was closed by `execve`, or carries a report.
    fn finish_start(&mut self, program: ProgramId) {
        let Some(held) = self.programs.get_mut(&program) else { return };
        let Some(start) = held.start.take() else { return };
        // Whichever it is, the child may have ended before we came to look at it.
        self.reap_due = true;
        let Some(report) = child::read_report(&start.pipe) else {
            match rustix::io::fcntl_dupfd_cloexec(&held.master, 3) {
                Ok(master) => {
                    let (request, pid, tty) = (start.request, held.pid, held.tty.clone());
                    self.send(&Event::Spawned { request, program, pid, tty }, Some(master));
                }
                Err(error) => {
                    let _ = crate::sys::kill(held.pid, libc::SIGKILL);
                    self.programs.remove(&program);
                    self.refuse(start.request, Failure::Process, error.raw_os_error());
                }
            }
            return;
        };
        // The child is about to exit; without its entry it is reaped as any orphan.
        self.programs.remove(&program);
        let path = start.candidates.into_iter().nth(report.candidate).unwrap_or_default();
        let (request, failure, errno) = (start.request, report.failure, report.errno);
        self.send(&Event::SpawnFailed { request, failure, errno, path }, None);
    }

    fn refuse(&mut self, request: RequestId, failure: Failure, errno: i32) {
        self.send(&Event::SpawnFailed { request, failure, errno, path: Vec::new() }, None);
    }

    /// Reports leaders that ended, keeping them; reaps every other child that did.
    fn reap(&mut self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let mut ended = Vec::new();
        for (&program, held) in &mut self.programs {
            if held.status.is_some() || held.start.is_some() {
                continue;
            }
            let Some(pid) = Pid::from_raw(held.pid) else { continue };
            let status = match rustix::process::waitid(WaitId::Pid(pid), options) {
                Ok(None) => continue,
                Ok(Some(status)) => status.exit_status().map(ExitStatus::Code).or_else(|| {
                    let core_dumped = status.dumped();
                    let signal = status.terminating_signal();
                    signal.map(|number| ExitStatus::Signal { number, core_dumped })
                }),
                Err(_) => None,
            };
            let status = status.unwrap_or(ExitStatus::Lost);
            held.status = Some(status);
            held.slave = None;
            ended.push((program, status));
        }
        for (program, status) in ended {
            self.send(&Event::Exited { program, status }, None);
        }
        for pid in crate::process_table::children_of_self() {
            if !self.programs.values().any(|held| held.pid == pid) {
                reap_one(pid);
            }
        }
    }

    /// Reaps the leader and closes its terminal.
    fn forget(&mut self, program: ProgramId) {
        if let Some(held) = self.programs.remove(&program) {
            reap_one(held.pid);
        }
    }

    /// Gives the last answers a bounded time to leave.
    fn flush_before_exit(&mut self) {
        let until = Instant::now() + Duration::from_secs(1);
        while !self.outbox.is_empty() && Instant::now() < until {
            self.flush();
            let Some(socket) = &self.socket else { return };
            let pause = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            let _ =
                rustix::event::poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&pause));
        }
    }
}

struct Ready {
    children: bool,
    started: Vec<ProgramId>,
    socket: bool,
}

fn reap_one(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
