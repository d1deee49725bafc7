//! One program and its terminal, as its owner has it.
//!
//! Bytes go directly between the owner and the PTY master; everything else is asked of the
//! keeper. Nothing is buffered here: what the owner does not read stays in the kernel, which
//! stops the program, and what the program does not read makes [`Program::try_write`] say
//! `WouldBlock`.

use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::Winsize;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::watch;

use super::REPLY_LIMIT;
use super::link::{Answer, Launched, Lease, Link, NoAnswer, Then, handed_over};
use super::terminal_writer::TerminalWriter;
use crate::protocol::{ProgramId, Request, RequestId};
use crate::{
    CommandPipe, ControlError, ExitStatus, Journal, LineMode, ProcessStart, PtySize, Signal,
    SignalScope, SpawnError, StopReport, Survey, Waiting, process_table, sys,
};

/// A program on a terminal of its own, owned by one task.
///
/// Dropping it while the program runs hangs it up: every process of its session gets `SIGHUP`
/// and, half a second later, `SIGKILL`. Processes that left the session stay until the keeper
/// ends. Dropping never waits.
#[derive(Debug)]
pub struct Program {
    lease: Lease,
    link: Link,
    pid: i32,
    tty: String,
    /// Our side of the terminal, until it is closed.
    master: Option<AsyncFd<OwnedFd>>,
    writer: TerminalWriter,
    /// The program's side of the terminal, opened when it is first asked what is unread there.
    terminal: OnceLock<OwnedFd>,
    exit: watch::Receiver<Option<ExitStatus>>,
    journal: Option<Journal>,
    command_pipe: Option<CommandPipe>,
}

impl Program {
    pub(super) fn new(launched: Launched, link: Link) -> Result<Self, SpawnError> {
        let Launched { mut lease, pid, tty, master, journal, command_pipe, exit } = launched;
        let master = sys::watch(master, Interest::READABLE)
            .map_err(|source| SpawnError::Terminal { source })?;
        let unusable = |source| SpawnError::Journal { source };
        let journal = journal.map(Journal::open).transpose().map_err(unusable)?;
        let command_pipe = command_pipe.map(CommandPipe::of).transpose().map_err(unusable)?;
        lease.then = Then::End;
        Ok(Self {
            lease,
            link,
            pid,
            tty,
            master: Some(master),
            writer: TerminalWriter::default(),
            terminal: OnceLock::new(),
            exit,
            journal,
            command_pipe,
        })
    }

    /// The keeper's number for it.
    pub fn id(&self) -> ProgramId {
        self.lease.program
    }

    /// The journal, once: whoever reads the terminal has it.
    pub fn take_journal(&mut self) -> Option<Journal> {
        self.journal.take()
    }

    /// The command pipe of an adopted program, once.
    pub fn take_command_pipe(&mut self) -> Option<CommandPipe> {
        self.command_pipe.take()
    }

    /// The process id, which is also the session's id and the first process group's. It may name another
    /// process once the program has ended and its session is empty.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// The terminal's name, such as `/dev/pts/5`.
    pub fn tty_name(&self) -> &str {
        &self.tty
    }

    fn master(&self) -> io::Result<&AsyncFd<OwnedFd>> {
        if self.link.gate().is_closed() {
            return Err(handed_over());
        }
        let closed = || io::Error::new(io::ErrorKind::NotConnected, "the terminal is closed");
        self.master.as_ref().ok_or_else(closed)
    }

    /// Another server has the program, or will: nothing may be done with it here.
    pub fn is_handed_over(&self) -> bool {
        self.link.gate().is_closed()
    }

    /// Does something that must not be done once another server has the program, such as writing to its
    /// journal; `None` then. The other gets it when this is done.
    pub fn while_ours<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let _held = self.link.gate().read().ok()?;
        Some(work())
    }

    /// Gives up the terminal, and its descriptors, of a program that has ended; processes that still have it open
    /// are hung up. What the keeper is asked goes on to work.
    pub fn close_terminal(&mut self) {
        self.master = None;
        self.writer = TerminalWriter::default();
        self.terminal.take();
    }

    /// Reads what the program wrote; 0 once the terminal is hung up: the program has ended, no
    /// process has the terminal open, and everything was read. Cancel safe.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_by(|master| read_from(master, buffer)).await
    }

    /// As [`Program::read`], into the journal: up to `limit` bytes, which are there when this process is
    /// killed the moment after. Gives their positions; an empty range once the terminal is hung up.
    pub async fn read_into(&self, journal: &mut Journal, limit: usize) -> io::Result<Range<u64>> {
        let head = journal.head();
        let read = self.read_by(|master| self.read_once(master, journal, limit)).await?;
        Ok(head..head + read as u64)
    }

    /// As [`Program::read`], but `WouldBlock` instead of waiting.
    ///
    /// After the program's exit was reported, `WouldBlock` means that all it wrote was read, and
    /// that some other process still has the terminal open.
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.try_read_by(|master| read_from(master, buffer))
    }

    /// As [`Program::read_into`], but `WouldBlock` instead of waiting, as in [`Program::try_read`].
    pub fn try_read_into(&self, journal: &mut Journal, limit: usize) -> io::Result<Range<u64>> {
        let head = journal.head();
        let read = self.try_read_by(|master| self.read_once(master, journal, limit))?;
        Ok(head..head + read as u64)
    }

    /// Who takes over waits for this to end, and it does not begin after.
    fn read_once(
        &self,
        master: &OwnedFd,
        journal: &mut Journal,
        limit: usize,
    ) -> io::Result<usize> {
        let _reading = self.link.gate().read()?;
        journal.read_from(master, limit)
    }

    async fn read_by(
        &self,
        mut read: impl FnMut(&OwnedFd) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            let mut ready = self.master()?.readable().await?;
            let was_hung_up = ready.ready().is_read_closed();
            match ready.try_io(|master| read(master.get_ref())) {
                Ok(read) => return read,
                // As in `was_hung_up`.
                Err(_would_block) if was_hung_up => return Ok(0),
                Err(_would_block) => {}
            }
        }
    }

    fn try_read_by(
        &self,
        mut read: impl FnMut(&OwnedFd) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let terminal = self.master()?;
        let mut was_tried = false;
        let first = terminal.try_io(Interest::READABLE, |master| {
            was_tried = true;
            read(master)
        });
        let would_block = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
        let read = match first {
            // The runtime may not have heard yet of what the kernel has.
            Err(error) if would_block(&error) && !was_tried => read(terminal.get_ref()),
            first => first,
        };
        match read {
            Err(error) if would_block(&error) && self.was_hung_up() => Ok(0),
            read => read,
        }
    }

    /// The terminal was hung up and has been opened again, by [`Program::unread_input`] or somebody
    /// who knows its name. The runtime remembers the hangup and calls the master readable for ever,
    /// so it has to count.
    fn was_hung_up(&self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        match self.master().map(|master| master.poll_read_ready(&mut context)) {
            Ok(Poll::Ready(Ok(ready))) => ready.ready().is_read_closed(),
            _ => false,
        }
    }

    /// Waits until a read would give something. Cancel safe.
    pub async fn readable(&self) -> io::Result<()> {
        self.master()?.readable().await.map(|mut ready| ready.retain_ready())
    }

    /// Writes to the program what the terminal takes, at least one byte. Cancel safe.
    ///
    /// Once the terminal is hung up the system may refuse (`BrokenPipe`) or, as Linux does, take
    /// bytes that nobody will read.
    pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable().await?,
                written => return written,
            }
        }
    }

    /// As [`Program::write`], but `WouldBlock` instead of waiting for a program that does not
    /// read.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.try_write(self.master()?.get_ref(), bytes)
    }

    /// Waits until a write would take something, as far as is known. Cancel safe.
    pub async fn writable(&self) -> io::Result<()> {
        self.writer.writable(self.master()?.get_ref()).await
    }

    /// Sets the terminal's size; the foreground group gets `SIGWINCH` if it changed.
    pub fn resize(&self, size: PtySize) -> io::Result<()> {
        let size = Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
        Ok(rustix::termios::tcsetwinsize(self.master()?.get_ref(), size)?)
    }

    /// The terminal's size, which the program may have changed itself.
    pub fn size(&self) -> io::Result<PtySize> {
        let size = rustix::termios::tcgetwinsize(self.master()?.get_ref())?;
        Ok(PtySize { cols: size.ws_col, rows: size.ws_row })
    }

    /// How the program has set the terminal's line discipline.
    pub fn line_mode(&self) -> io::Result<LineMode> {
        Ok(LineMode::of(&sys::modes(self.master()?.get_ref())?))
    }

    /// Bytes that were written to the program and that it has not read. While it reads whole lines
    /// an unfinished line does not count. Zero is exact; there may be a little more than it says.
    pub fn unread_input(&self) -> io::Result<u64> {
        let terminal = match self.terminal.get() {
            Some(terminal) => terminal,
            None => {
                let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let opened = rustix::fs::open(self.tty.as_str(), flags, Mode::empty())?;
                self.terminal.get_or_init(|| opened)
            }
        };
        Ok(rustix::io::ioctl_fionread(terminal)?.max(u64::from(has_input(terminal)?)))
    }

    /// The name of the program in the foreground of the terminal, where the system tells.
    pub fn foreground_name(&self) -> Option<String> {
        Some(process_table::read(self.foreground_group()?)?.info.name)
    }

    /// The process group in the foreground of the terminal.
    pub fn foreground_group(&self) -> Option<i32> {
        let group = rustix::termios::tcgetpgrp(self.master().ok()?.get_ref()).ok()?;
        Some(group.as_raw_nonzero().get())
    }

    /// The process id, as long as it cannot be another process's.
    fn live_pid(&self) -> Option<i32> {
        self.exit_status().is_none().then_some(self.pid)
    }

    /// The program's working directory, where the system tells.
    pub fn working_directory(&self) -> Option<PathBuf> {
        process_table::working_directory(self.live_pid()?)
    }

    /// Whether the program itself, not another process of its terminal, waits for the terminal's input.
    pub fn waiting(&self) -> Waiting {
        self.waiting_place().0
    }

    /// The same, and the address on its stack at which it waits, where the system tells: it is the same
    /// whenever the program gets there by the same calls.
    pub fn waiting_place(&self) -> (Waiting, Option<u64>) {
        let ended = (Waiting::No, None);
        self.live_pid().map_or(ended, |pid| process_table::waiting_for_terminal(pid, &self.tty))
    }

    /// How often the program itself has got a processor, where the system tells: while the number stays
    /// the same, it has not run.
    pub fn switches(&self) -> Option<u64> {
        process_table::switches(self.live_pid()?)
    }

    /// Whether the program itself waits for the input of a file, given by its path without links.
    pub fn waiting_for(&self, file: &Path) -> Waiting {
        self.live_pid().map_or(Waiting::No, |pid| process_table::waiting_for_file(pid, file))
    }

    /// Whether what runs under the program's pid was started with this text among its arguments or
    /// its environment: not so once it has called `execve`. `None` where the system does not tell.
    pub fn started_with(&self, text: &str) -> Option<bool> {
        process_table::started_with(self.live_pid()?, text.as_bytes())
    }

    /// What a process of the terminal was started with, where the system tells.
    pub fn start_of(&self, pid: i32) -> Option<ProcessStart> {
        process_table::start_of(pid).filter(|_| self.is_of_session(pid))
    }

    fn is_of_session(&self, pid: i32) -> bool {
        process_table::read(pid).is_some_and(|process| process.info.session == self.pid)
    }

    /// The name of what runs under the program's pid, where the system tells.
    pub fn name(&self) -> Option<String> {
        Some(process_table::read(self.live_pid()?)?.info.name)
    }

    /// Waits for the program's end. Cancel safe; any number may wait, any number of times. Of a program
    /// that was left to another server the end is not known: this does not return.
    pub async fn exited(&self) -> ExitStatus {
        let mut exit = self.exit.clone();
        let ended = exit.wait_for(Option::is_some).await.ok().and_then(|status| *status);
        if ended.is_none() && self.link.gate().is_closed() {
            // It goes on without us.
            return std::future::pending().await;
        }
        // A watch that closed without a word was the connection's, ended with its runtime.
        ended.unwrap_or(ExitStatus::Lost)
    }

    /// How the program ended, if it has.
    pub fn exit_status(&self) -> Option<ExitStatus> {
        *self.exit.borrow()
    }

    /// Sends a signal.
    pub async fn signal(&self, signal: Signal, scope: SignalScope) -> Result<(), ControlError> {
        let signal = signal.number();
        let answer = self
            .ask(REPLY_LIMIT, |request, program| Request::Signal {
                request,
                program,
                signal,
                scope,
            })
            .await?;
        match answer {
            Answer::Done { errno: 0 } => Ok(()),
            other => Err(refusal(&other)),
        }
    }

    /// Ends every process of the session: the signal, up to `grace` for them to follow it, then
    /// `SIGKILL`. Returns when none is left.
    ///
    /// An interactive shell ignores `SIGTERM`, so `SIGHUP` follows it within the grace.
    /// Not cancel safe in the sense that the stop goes on when the future is dropped.
    pub async fn stop(&self, signal: Signal, grace: Duration) -> Result<StopReport, ControlError> {
        let signal = signal.number();
        let grace_ms = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
        let answer = self
            .ask(grace.saturating_add(REPLY_LIMIT), |request, program| Request::Stop {
                request,
                program,
                signal,
                grace_ms,
            })
            .await;
        match answer {
            Ok(Answer::Stopped(report)) => Ok(report),
            Ok(other) => Err(refusal(&other)),
            // The programs of a dead keeper are ended, then reported as lost.
            Err(ControlError::KeeperGone) if !self.is_handed_over() => {
                let ended = tokio::time::timeout(REPLY_LIMIT, self.exited()).await;
                let status = Some(ended.map_err(|_| ControlError::KeeperGone)?);
                Ok(StopReport { status, ..StopReport::default() })
            }
            Err(error) => Err(error),
        }
    }

    /// What runs on the terminal now.
    pub async fn survey(&self) -> Result<Survey, ControlError> {
        let answer =
            self.ask(REPLY_LIMIT, |request, program| Request::Survey { request, program }).await?;
        match answer {
            Answer::Surveyed(survey) => Ok(survey),
            other => Err(refusal(&other)),
        }
    }

    async fn ask(
        &self,
        limit: Duration,
        question: impl FnOnce(RequestId, ProgramId) -> Request,
    ) -> Result<Answer, ControlError> {
        let request = self.link.next_request();
        let frame = question(request, self.lease.program).encode();
        let frame =
            frame.map_err(|malformed| ControlError::Refused(io::Error::other(malformed)))?;
        let answer = self.link.ask(request, frame, String::new(), limit).await;
        answer.map_err(|error| match error {
            NoAnswer::Gone => ControlError::KeeperGone,
            NoAnswer::Silent(limit) => ControlError::KeeperSilent { limit },
        })
    }
}

pub(super) fn refusal(answer: &Answer) -> ControlError {
    match answer {
        Answer::Done { errno: libc::ESRCH } => ControlError::NoProcess,
        Answer::Done { errno } => ControlError::Refused(io::Error::from_raw_os_error(*errno)),
        _ => ControlError::KeeperGone,
    }
}

/// What was just written may still be on its way to the line discipline, where the number is taken. Polling
/// the program's side, when nothing is there, waits for it to arrive.
#[cfg(target_os = "linux")]
fn has_input(terminal: &OwnedFd) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec};
    let mut arrived = [PollFd::new(terminal, PollFlags::IN)];
    Ok(rustix::event::poll(&mut arrived, Some(&Timespec::default()))? > 0)
}

/// A write to the master puts the bytes there itself; devices cannot be polled on every version.
#[cfg(not(target_os = "linux"))]
#[allow(clippy::unnecessary_wraps)]
fn has_input(_terminal: &OwnedFd) -> io::Result<bool> {
    Ok(false)
}

/// A master whose slave nobody has open any more reads as `EIO` on Linux.
fn read_from(master: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    match rustix::io::retry_on_intr(|| rustix::io::read(master, &mut *buffer)) {
        Err(Errno::IO) => Ok(0),
        read => Ok(read?),
    }
}
