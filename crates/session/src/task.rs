//! The task that owns a session: its program, its terminal, its input queue, its waits.
//!
//! One loop: output is read and fed to the terminal, input is written as fast as the program takes
//! it, requests are answered, waits are judged after each of these. A request never blocks the loop:
//! what takes time (stopping, surveying) runs beside it and reports back as a [`Command`].
//!
//! Bounds: [`SHORT_BATCH_TIME`] for output as it comes; what takes longer waits for one of the server's
//! [`Turns`] and then has [`BATCH_READS`] reads or [`BATCH_TIME`]. [`MAX_INPUT`] bytes of input queued,
//! [`COMMAND_QUEUE`] requests waiting. The loop ends when every handle is gone or the finished
//! session has been kept long enough; dropping the program tells the keeper to end what is left.

pub(crate) mod adoption;
pub(crate) mod driving;
mod hidden_line;
mod input;
mod interactive;
mod keeping;
mod lifecycle;
mod notices;
mod output;
mod request;
mod resize;
pub(crate) mod shell;
mod view;
mod waiting;
mod watchers;

#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod turn_tests;

use std::future::pending;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use termbridge_pty::{ExitStatus, Program};
use termbridge_vt::{Options, Size, Terminal};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};

use self::driving::Driver;
use self::hidden_line::{PendingLines, SendReply};
use self::input::InputQueue;
use self::keeping::Keeping;
use self::lifecycle::Change;
use self::notices::Notices;
pub(crate) use self::request::Command;
use self::shell::{ShellState, Spawned};
use self::waiting::PendingWait;
use self::watchers::Watchers;
use crate::error::SessionError;
use crate::id::SessionId;
use crate::info::Ended;
use crate::input::{Input, Sent};
use crate::launch::Launch;
use crate::memory::{self, Shares};
use crate::registry::Server;
use crate::settings::Settings;
use crate::wait::{Wait, Waited};

/// Requests waiting for the task.
pub(crate) const COMMAND_QUEUE: usize = 64;
/// Reads of output before requests get their turn.
const BATCH_READS: usize = 32;
/// Time that output may take in a turn, before requests and other sessions are served.
const BATCH_TIME: Duration = Duration::from_millis(5);
/// Time that output may take without a turn. Most output takes less.
const SHORT_BATCH_TIME: Duration = Duration::from_millis(1);
/// Bytes of input that a program may leave unread.
const MAX_INPUT: usize = 1024 * 1024;
/// Longest time that a synchronized update may hide the screen.
const SYNCHRONIZED_LIMIT: Duration = Duration::from_millis(150);
/// Time given to the last output of a program that ended.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

pub(crate) struct SessionTask {
    id: SessionId,
    launch: Launch,
    settings: Settings,
    server: Server,
    shares: Shares,
    /// For work beside the loop to report back; weak, so that it does not keep the task alive.
    commands: mpsc::WeakSender<Command>,
    program: Arc<Program>,
    /// Held while the program runs.
    place: Option<OwnedSemaphorePermit>,
    terminal: Terminal,
    buffer: Vec<u8>,
    /// Output that was read and not fed yet, because it takes the terminal long.
    unfed: Vec<u8>,
    /// Bytes of the batch behind those that were fed.
    batch_rest: usize,
    /// The last batch left something to read or to feed: the next one waits for a turn.
    behind: bool,
    /// Work may take long: it is this session's turn.
    has_turn: bool,
    resizing: resize::PendingResize,
    /// The estimate that the memory budget has.
    published_memory: usize,
    /// Rows that passed since a text wait was last judged.
    unseen_rows: usize,
    input: InputQueue,
    /// The terminal is hung up: nothing more will come.
    hung_up: bool,
    /// Terminal and pipe are closed; what was on the screen can still be read.
    closed: bool,
    /// The program ended; until when its last output is waited for.
    exited: Option<(ExitStatus, Instant)>,
    ended: Option<Ended>,
    change: Option<Change>,
    waits: Vec<PendingWait>,
    watchers: Watchers,
    notices: Notices,
    /// The person who has taken over.
    driver: Option<Driver>,
    /// Bytes that people have typed.
    typed: Arc<AtomicU64>,
    /// What the next server finds of it.
    keeping: Option<Keeping>,
    /// Order of launch.
    number: u64,
    /// Lines that wait for the program, where hidden ones are refused.
    lines: Option<PendingLines>,
    created: SystemTime,
    last_active: SystemTime,
    last_used: Instant,
    last_output: Instant,
    last_input: Instant,
    /// Grows with everything that a reader of the session's output would see anew.
    printed: u64,
    /// When the idle time-out looks again.
    idle_check: Instant,
    synchronized_since: Option<Instant>,
    /// When the size changed, until the signal was repeated.
    resized: Option<Instant>,
    shell: Option<ShellState>,
    bells: u64,
    /// Those that rang before the last input or were waited for.
    bells_heard: u64,
    at_prompt: bool,
    survey: waiting::SurveyState,
}

/// What ties a task to its server.
pub(crate) struct Ties {
    pub(crate) server: Server,
    pub(crate) shares: Shares,
    pub(crate) commands: mpsc::WeakSender<Command>,
    pub(crate) typed: Arc<AtomicU64>,
}

impl SessionTask {
    pub(crate) fn new(
        id: SessionId,
        launch: Launch,
        spawned: Spawned,
        place: Option<OwnedSemaphorePermit>,
        number: u64,
        ties: Ties,
    ) -> Self {
        let Ties { server, shares, commands, typed } = ties;
        let settings = server.upgrade().map(|shared| shared.settings.clone()).unwrap_or_default();
        let settings = settings.within(&launch.limits);
        let now = Instant::now();
        let mut terminal = new_terminal(launch.size, &settings);
        let is_lasting = spawned.journal.is_some();
        let shell = spawned.shell.map(|link| ShellState::new(link, 1).lasting(is_lasting));
        if shell.is_some() {
            terminal.tap();
        }
        Self {
            id,
            launch,
            server,
            shares,
            commands,
            program: Arc::new(spawned.program),
            shell,
            place,
            terminal,
            buffer: vec![0; settings.buffer_size.max(1)],
            unfed: Vec::new(),
            batch_rest: 0,
            behind: false,
            has_turn: false,
            resizing: resize::PendingResize::default(),
            published_memory: 0,
            unseen_rows: 0,
            input: InputQueue::default(),
            hung_up: false,
            closed: false,
            exited: None,
            ended: None,
            change: None,
            waits: Vec::new(),
            watchers: Watchers::default(),
            notices: Notices::default(),
            driver: None,
            typed,
            keeping: spawned.journal.map(|journal| Keeping::new(journal, 0)),
            number,
            lines: None,
            created: SystemTime::now(),
            last_active: SystemTime::now(),
            last_used: now,
            last_output: now,
            last_input: now,
            printed: 0,
            idle_check: now + settings.session_timeout,
            synchronized_since: None,
            resized: None,
            bells: 0,
            bells_heard: 0,
            at_prompt: false,
            survey: waiting::SurveyState::default(),
            settings,
        }
    }

    /// Runs until nobody needs the session any more. A panic ends this session alone: its program is
    /// hung up, its place is free, and its callers get [`SessionError::Gone`].
    pub(crate) async fn run(self, commands: mpsc::Receiver<Command>) {
        let (id, server, shares) = (self.id.clone(), self.server.clone(), self.shares.clone());
        let served = AssertUnwindSafe(self.serve(commands)).catch_unwind().await;
        if let Some(server) = server.upgrade() {
            server.remove(&id);
            server.budgets.leave(&shares);
        }
        match served {
            Ok(()) => tracing::info!(session = %id, "removed"),
            Err(_) => tracing::error!(session = %id, "the session's task panicked; it is removed"),
        }
        memory::release_soon();
    }

    async fn serve(mut self, mut commands: mpsc::Receiver<Command>) {
        // Command lines can hold secrets: they are for a log that was asked for.
        tracing::info!(session = %self.id, pid = self.program.pid(), "launched");
        tracing::debug!(session = %self.id, command = %self.launch.command_line(), "launched");
        let turns = self.server.upgrade().map(|server| server.turns.clone()).unwrap_or_default();
        self.save();
        self.catch_up(&turns).await;
        // Kept while other things are done: whoever asks anew stands at the end of the queue.
        let mut next_turn = None;
        loop {
            let program = Arc::clone(&self.program);
            let deadline = self.next_deadline();
            if next_turn.is_none() && (self.behind || self.resizing.is_asked_for()) {
                next_turn = Some(Box::pin(turns.clone().next()));
            }
            let mut turn = None;
            tokio::select! {
                // In this order: requests are not held up by a flood of output. A timer comes last, because setting one
                // wakes the thread that waits for events.
                biased;
                status = program.exited(), if self.exited.is_none() => self.program_exited(status),
                command = commands.recv() => match command {
                    Some(command) => self.handle(command),
                    None => break,
                },
                result = program.readable(), if !self.hung_up && !self.behind => {
                    self.readable(result);
                }
                permit = async { match &mut next_turn { Some(turn) => turn.await, None => pending().await } } => {
                    turn = permit;
                    self.has_turn = true;
                    self.work_in_turn();
                }
                result = program.writable(), if self.input.wants_to_write() && !self.hung_up => {
                    self.writable(result);
                }
                () = yield_now(), if self.looks_at_once() => {}
                () = async { match deadline { Some(at) => sleep_until(at).await, None => pending().await } } => {}
            }
            self.settle();
            self.keep();
            drop(program);
            self.close_terminal();
            if std::mem::take(&mut self.has_turn) {
                drop(turn);
                next_turn = None;
                // The scheduler would let this session go on for a hundred batches.
                yield_now().await;
                // Whoever asks waits for one batch only.
                if let Ok(command) = commands.try_recv() {
                    self.handle(command);
                    self.settle();
                    self.keep();
                }
            }
            if self.is_over() || self.program.is_handed_over() {
                break;
            }
        }
        if self.program.is_handed_over() {
            // Its folder and its files of output are the next server's.
            std::mem::forget(self.shell.take());
        }
    }

    fn handle(&mut self, command: Command) {
        match command {
            Command::Snapshot { request, reply } => {
                self.touch();
                let _ = reply.send(self.snapshot(request));
            }
            Command::Page { most, reply } => {
                let _ = reply.send(self.page(most));
            }
            Command::Send { input, then, reply } => {
                self.touch();
                match (self.agent_may(), self.settings.refuse_hidden_lines) {
                    (Err(refused), _) => {
                        let _ = reply.send(Err(refused));
                    }
                    (Ok(()), true) => self.send_lines(input, then, reply),
                    (Ok(()), false) => self.send_at_once(&input, then, reply),
                }
            }
            Command::Wait { wait, reply } => {
                self.touch();
                self.begin_wait(wait, reply);
            }
            Command::Submit { command, patience, reply } => {
                self.touch();
                match self.agent_may() {
                    Err(refused) => {
                        let _ = reply.send(Err(refused));
                    }
                    Ok(()) => self.submit(command, patience, reply),
                }
            }
            Command::Keyed { key, reply } => {
                let _ = reply.send(self.keyed_command(&key));
            }
            Command::Report { id, background, from, most, reply } => {
                // How much there is, is what a reader of output asks first.
                if most == 0 {
                    self.look_at_prompt();
                }
                let report = match background {
                    true => self.background_report(id, from, most),
                    false => self.command_report(id, from, most),
                };
                let _ = reply.send(report);
            }
            Command::Interrupt { command, reply } => {
                self.touch();
                let _ = reply.send(self.interrupt(command));
            }
            Command::Resize { size, reply } => {
                self.touch();
                match self.agent_may() {
                    Err(refused) => {
                        let _ = reply.send(Err(refused));
                    }
                    Ok(()) => {
                        self.end_fit();
                        self.resizing.ask(size, reply);
                    }
                }
            }
            Command::Restart { reply } => {
                self.touch();
                match self.agent_may() {
                    Err(refused) => {
                        let _ = reply.send(Err(refused));
                    }
                    Ok(()) => self.restart(reply),
                }
            }
            Command::Stop { signal, grace, reply } => {
                self.touch();
                self.stop(signal, grace, reply);
            }
            Command::Person { person, deed, reply } => self.person_does(person, deed, reply),
            Command::Watch { reply } => {
                let _ = reply.send(self.watch());
            }
            Command::Wake => {}
            Command::Size { reply } => {
                let _ = reply.send(self.terminal.size());
            }
            Command::Info { reply } => {
                let _ = reply.send(self.info());
            }
            Command::EndIdle { reply } => self.end_idle(reply),
            Command::Trim { keep_bytes } => self.trim(keep_bytes),
            Command::TrimOutputMemory(keep) => self.trim_output_memory(keep),
            Command::TrimOutputDisk(keep) => self.trim_output_disk(keep),
            Command::Surveyed(survey) => self.surveyed(survey),
            Command::StopDone(report) => self.stop_done(report),
            Command::Restarted(result) => self.restarted(result),
            #[cfg(test)]
            Command::Panic => panic!("a fault on request"),
            #[cfg(test)]
            Command::PanicBeside => self.lose_survey(),
        }
    }

    fn send_at_once(
        &mut self,
        input: &[Input],
        then: Option<(Wait, oneshot::Sender<Waited>)>,
        reply: SendReply,
    ) {
        match self.send(input) {
            Ok(sent) => self.answer_sent(sent, then, reply),
            Err(error) => {
                let _ = reply.send(Err(error));
            }
        }
    }

    /// Input was typed: the wait for what comes of it begins.
    fn answer_sent(
        &mut self,
        sent: Sent,
        then: Option<(Wait, oneshot::Sender<Waited>)>,
        reply: SendReply,
    ) {
        if let Some((mut wait, waited)) = then {
            wait.after.get_or_insert(sent.before);
            wait.after_input = true;
            self.begin_wait(wait, waited);
        }
        self.keep_state();
        let _ = reply.send(Ok(sent));
    }

    /// Does what has become due, then judges the waits.
    fn settle(&mut self) {
        self.confirm_end();
        self.settle_first_prompt();
        let now = Instant::now();
        self.keep_pace(now);
        self.end_long_update(now);
        self.repeat_resize_signal(now);
        self.finish_exit(now);
        self.give_up_parked(now);
        self.settle_prompt(now);
        self.check_idle(now);
        self.type_lines(now);
        self.judge_waits(now);
        self.settle_driver(now);
        self.notice_changes(now);
        self.ask_kernel(now);
    }

    fn next_deadline(&self) -> Option<Instant> {
        let update = self.synchronized_since.map(|since| since + SYNCHRONIZED_LIMIT);
        // Not that of a program which is being replaced: its successor is what is waited for.
        let ending =
            self.ended.is_none() && !matches!(self.change, Some(Change::Restarting { .. }));
        let last_output = self.exited.filter(|_| ending).map(|(_, until)| until);
        let idle = self.idle_deadline();
        let removal = self.removal_deadline();
        let waits = self.waits_deadline();
        let pace = self.input.deadline(Instant::now()).filter(|_| self.paces());
        let parked = self.parked_deadline();
        let prompt = self.prompt_deadline();
        let resize = self.resize_deadline();
        let lines = self.lines_deadline();
        let look = self.look_deadline(Instant::now());
        let keep = self.keep_deadline();
        let notice = self.notice_deadline();
        let shown = [resize, look, keep, notice, self.driver_deadline()];
        [update, last_output, idle, removal, waits, lines, pace, parked, prompt]
            .into_iter()
            .chain(shown)
            .flatten()
            .min()
    }

    fn touch(&mut self) {
        self.last_used = Instant::now();
        self.last_active = SystemTime::now();
    }

    /// An error when the program is no longer there.
    fn running(&self) -> Result<(), SessionError> {
        match (&self.ended, &self.change) {
            (Some(ended), None) => {
                Err(SessionError::Dead { id: self.id.clone(), how: ended.to_string() })
            }
            (_, Some(_)) => Err(SessionError::Changing(self.id.clone())),
            (None, None) => Ok(()),
        }
    }
}

fn new_terminal(size: Size, settings: &Settings) -> Terminal {
    let options = Options { scrollback_lines: settings.scrollback_lines, ..Options::default() };
    Terminal::new(size, options)
}
