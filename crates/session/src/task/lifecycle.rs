//! Ending, restarting and forgetting a session.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use termbridge_pty::{ExitStatus, Signal, StopReport, Survey};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;

use super::keeping::Keeping;
use super::shell::{ShellState, Spawned};
use super::{Command, LAST_OUTPUT, SessionTask, new_terminal, waiting};
use crate::error::SessionError;
use crate::info::{EndReason, Ended, Stopped};
use crate::launch::Launch;

/// What a restart gives the old program before it is killed.
pub(super) const RESTART_GRACE: Duration = Duration::from_secs(2);

/// What callers get when work beside the loop panicked.
const FAULT: &str = "an internal fault; the server's log has more";

type RestartReply = oneshot::Sender<Result<(), SessionError>>;
type StopReply = oneshot::Sender<Result<Stopped, SessionError>>;

/// A change of the session that is under way beside the loop.
pub(super) enum Change {
    /// The program is being stopped; who wants to know, and the report once it is there.
    Stopping {
        replies: Vec<StopReply>,
        reason: EndReason,
        /// It had ended before.
        already: bool,
        report: Option<StopReport>,
    },
    /// The program is being replaced; nobody asked for it when there is no `reply`.
    Restarting { reply: Option<RestartReply> },
}

impl Change {
    /// Nobody asked for it: the session goes on as if nothing had happened.
    pub(super) fn is_own(&self) -> bool {
        matches!(self, Self::Restarting { reply: None })
    }
}

impl SessionTask {
    pub(super) fn program_exited(&mut self, status: ExitStatus) {
        self.exited = Some((status, Instant::now() + LAST_OUTPUT));
    }

    /// Once the program ended and its last output is read, the session has ended.
    pub(super) fn finish_exit(&mut self, now: Instant) {
        let Some((status, until)) = self.exited else {
            return;
        };
        // The program's last words are read once there is nothing left to read, even if another
        // process still holds the terminal; one that goes on printing is not waited for.
        if self.ended.is_some() || (!self.read_output() && now < until) {
            return;
        }
        // The old program of a restart: its successor decides the session's state.
        if matches!(self.change, Some(Change::Restarting { .. })) {
            return;
        }
        let server = self.server.upgrade();
        let reason = match &self.change {
            Some(Change::Stopping { reason, already: false, .. }) => *reason,
            _ if status == ExitStatus::Lost => EndReason::KeeperDied,
            _ if server.is_some_and(|server| server.is_shutting_down.load(Ordering::Relaxed)) => {
                EndReason::Stopped
            }
            _ => EndReason::Itself,
        };
        if reason != EndReason::Itself && self.behind {
            self.drop_late_output();
        }
        if reason == EndReason::Itself && self.leaves_files_that_end(status) {
            return;
        }
        self.end(status, reason);
    }

    fn end(&mut self, status: ExitStatus, reason: EndReason) {
        let ended = Ended { status, reason, at: SystemTime::now() };
        tracing::info!(session = %self.id, %ended, "program ended");
        self.terminal.end_synchronized();
        // The exit code of a shell that was closed is not its command's.
        let ended_itself = reason == EndReason::Itself;
        self.shell_ended(ended.exit_code().filter(|_| ended_itself));
        self.input.clear();
        self.ended = Some(ended);
        self.tell_end();
        self.place = None;
        self.terminal.finish();
        self.report_freed_memory();
        if let Some(server) = self.server.upgrade() {
            server.set_finished(&self.id, true);
        }
        self.answer_stops();
    }

    pub(super) fn stop(&mut self, signal: Signal, grace: Duration, reply: StopReply) {
        match (&mut self.change, &self.ended) {
            (Some(Change::Stopping { replies, .. }), _) => {
                replies.push(reply);
                // The keeper joins the two: the new signal is sent, and the shorter grace counts.
                let program = Arc::clone(&self.program);
                tokio::spawn(async move { program.stop(signal, grace).await });
            }
            (Some(Change::Restarting { .. }), _) => {
                let _ = reply.send(Err(SessionError::Changing(self.id.clone())));
            }
            (None, _) => self.begin_stop(signal, grace, vec![reply], EndReason::Stopped),
        }
    }

    /// Also for a program that ended: what it left running in its session is stopped.
    pub(super) fn begin_stop(
        &mut self,
        signal: Signal,
        grace: Duration,
        replies: Vec<StopReply>,
        reason: EndReason,
    ) {
        let already = self.exited.is_some();
        self.change = Some(Change::Stopping { replies, reason, already, report: None });
        let program = Arc::clone(&self.program);
        self.beside(Command::StopDone(Err(FAULT.to_owned())), async move {
            let report = program.stop(signal, grace).await;
            Command::StopDone(report.map_err(|error| error.to_string()))
        });
    }

    pub(super) fn stop_done(&mut self, result: Result<StopReport, String>) {
        let Some(Change::Stopping { replies, report, .. }) = &mut self.change else {
            return;
        };
        match result {
            Ok(done) if done.status.is_some() => *report = Some(done),
            failed => {
                let message = match failed {
                    Ok(_) => "the program could not be ended; it is stuck in the system".to_owned(),
                    Err(message) => message,
                };
                for reply in replies.drain(..) {
                    let _ = reply.send(Err(SessionError::System(message.clone())));
                }
                self.change = None;
            }
        }
        self.answer_stops();
    }

    /// Answers those who asked for the stop, once both the report and the end are there.
    fn answer_stops(&mut self) {
        let (Some(ended), Some(Change::Stopping { report: Some(_), .. })) =
            (&self.ended, &self.change)
        else {
            return;
        };
        let Some(Change::Stopping { replies, already, report: Some(report), .. }) =
            self.change.take()
        else {
            return;
        };
        // Where we have the program's side open ourselves, its end is not heard.
        let is_alone = report.detached.is_empty() && report.unlisted + report.remaining == 0;
        self.hung_up |= is_alone && !self.behind;
        let stopped = Stopped {
            ended: ended.clone(),
            already,
            killed: report.killed,
            detached: report.detached,
        };
        for reply in replies {
            let _ = reply.send(Ok(stopped.clone()));
        }
    }

    /// Gives up the descriptors of a session that is over: it can be read for long.
    pub(super) fn close_terminal(&mut self) {
        let is_over = self.ended.is_some() && self.change.is_none() && self.hung_up && !self.behind;
        if self.closed || !is_over {
            return;
        }
        // Somebody still asks the keeper about it; the answer comes back here.
        let Some(program) = Arc::get_mut(&mut self.program) else { return };
        program.close_terminal();
        if let Some(shell) = &mut self.shell {
            shell.close_pipe();
        }
        self.closed = true;
    }

    pub(super) fn restart(&mut self, reply: RestartReply) {
        if self.change.is_some() {
            let _ = reply.send(Err(SessionError::Changing(self.id.clone())));
            return;
        }
        self.replace_program(self.launch.clone(), Some(reply));
    }

    /// Ends the program and starts another in its place.
    pub(super) fn replace_program(&mut self, launch: Launch, reply: Option<RestartReply>) {
        // A program that nobody asked to end has lost its terminal.
        let signal = if reply.is_some() { Signal::TERM } else { Signal::HUP };
        self.change = Some(Change::Restarting { reply });
        let (program, place) = (Arc::clone(&self.program), self.place.take());
        let (server, id) = (self.server.clone(), self.id.clone());
        let size = self.terminal.size();
        let failed = Command::Restarted(Err(SessionError::System(FAULT.to_owned())));
        self.beside(failed, async move {
            let restarted = async {
                let gone = || SessionError::NotFound(id.clone());
                let server = server.upgrade().ok_or_else(gone)?;
                let place = place.map_or_else(|| server.place(), Ok)?;
                program
                    .stop(signal, RESTART_GRACE)
                    .await
                    .map_err(|error| SessionError::System(error.to_string()))?;
                Ok((Box::new(server.spawn(&launch, &id, size).await?), place))
            };
            Command::Restarted(restarted.await)
        });
    }

    pub(super) fn restarted(
        &mut self,
        result: Result<(Box<Spawned>, OwnedSemaphorePermit), SessionError>,
    ) {
        let Some(Change::Restarting { reply }) = self.change.take() else {
            return;
        };
        let outcome = result.map(|(spawned, place)| {
            let Spawned { program, shell, journal } = *spawned;
            let is_lasting = journal.is_some();
            let now = Instant::now();
            tracing::info!(session = %self.id, pid = program.pid(), "restarted");
            let seq = self.terminal.look();
            self.terminal = new_terminal(self.terminal.size(), &self.settings);
            // Whoever asks for what came after the old screen gets the new one.
            self.terminal.count_from(seq);
            self.shell = shell.map(|link| match self.shell.take() {
                Some(before) if reply.is_none() => before.respawned(link),
                before => {
                    let next_id = before.as_ref().map_or(1, ShellState::next_id);
                    ShellState::new(link, next_id).lasting(is_lasting)
                }
            });
            if self.shell.is_some() {
                self.terminal.tap();
            }
            // The new program's journal begins anew; the screen it begins with is empty.
            self.keeping = journal.map(|journal| Keeping::new(journal, 0));
            self.keep_screens();
            self.program = Arc::new(program);
            self.place = Some(place);
            self.input.clear();
            self.unfed = Vec::new();
            self.behind = false;
            self.hung_up = false;
            self.closed = false;
            self.exited = None;
            self.ended = None;
            self.synchronized_since = None;
            self.at_prompt = false;
            self.bells_heard = self.bells;
            self.survey = waiting::SurveyState::default();
            // A command that waits for the new shell may need the kernel's word on its end.
            self.survey_soon();
            self.last_output = now;
            self.idle_check = now + self.settings.session_timeout;
            if let Some(server) = self.server.upgrade() {
                server.set_finished(&self.id, false);
            }
            self.publish_memory();
            self.publish_output();
            self.tell_dump();
        });
        if outcome.is_err() {
            self.not_restarted();
        }
        match (reply, outcome) {
            (Some(reply), outcome) => _ = reply.send(outcome),
            (None, Err(error)) => {
                if let Some(shell) = &mut self.shell {
                    shell.give_up(error);
                }
            }
            (None, Ok(())) => {}
        }
    }

    /// The old program was stopped for a successor that could not be started.
    fn not_restarted(&mut self) {
        if self.ended.is_some() {
            return;
        }
        match self.program.exit_status() {
            Some(status) => {
                self.exited.get_or_insert((status, Instant::now()));
                self.read_output();
                self.end(status, EndReason::Stopped);
            }
            None => self.place = self.server.upgrade().and_then(|server| server.place().ok()),
        }
    }

    /// When the idle time-out has to look next; never while someone waits or a change is under way.
    pub(super) fn idle_deadline(&self) -> Option<Instant> {
        let watched = self.ended.is_some() || self.change.is_some() || self.survey.is_under_way();
        (!watched && !self.settings.session_timeout.is_zero()).then_some(self.idle_check)
    }

    pub(super) fn check_idle(&mut self, now: Instant) {
        if self.idle_deadline().is_none_or(|at| now < at) {
            return;
        }
        let quiet_until = self.last_used.max(self.last_output) + self.settings.session_timeout;
        self.idle_check = now + self.settings.session_timeout;
        if now < quiet_until {
            self.idle_check = quiet_until;
        } else if self.waits.is_empty() {
            self.survey.for_idle = true;
            self.start_survey();
        }
    }

    /// A session is idle when its program waits for someone to type and nobody did. One whose
    /// program does anything else is left alone.
    pub(super) fn idle_survey(&mut self, survey: Option<&Survey>) {
        if !std::mem::take(&mut self.survey.for_idle) || self.change.is_some() {
            return;
        }
        let untouched =
            self.last_used.max(self.last_output).elapsed() >= self.settings.session_timeout;
        let waits = survey.is_some_and(|survey| survey.waiting.is_for_input());
        if untouched && waits && self.ended.is_none() {
            tracing::info!(session = %self.id, "idle, ending it");
            self.begin_stop(Signal::HUP, RESTART_GRACE, Vec::new(), EndReason::Idle);
        }
    }

    /// Ends the shell if it is at its prompt and, as the kernel is asked, nothing else runs there.
    pub(super) fn end_idle(&mut self, reply: oneshot::Sender<bool>) {
        // A survey that is under way began too early to count.
        if self.survey.is_under_way() || !self.is_idle_shell() {
            let _ = reply.send(false);
            return;
        }
        self.survey.end_idle = Some((reply, Instant::now()));
        self.start_survey();
    }

    pub(super) fn end_idle_survey(&mut self, survey: Option<&Survey>) {
        let Some((reply, asked)) = self.survey.end_idle.take() else {
            return;
        };
        let alone = survey.is_some_and(|survey| {
            let shell = self.program.pid();
            survey.unlisted == 0 && survey.processes.iter().all(|process| process.pid == shell)
        });
        let ends = alone && self.is_idle_shell() && self.last_used < asked;
        if ends {
            tracing::info!(session = %self.id, "idle, recycled");
            self.begin_stop(Signal::HUP, RESTART_GRACE, Vec::new(), EndReason::Idle);
        }
        let _ = reply.send(ends);
    }

    fn is_idle_shell(&self) -> bool {
        let idle = || self.shell_info().is_some_and(|shell| shell.idle);
        self.running().is_ok() && self.shell_is_free() && self.waits.is_empty() && idle()
    }

    /// When a finished session is forgotten.
    pub(super) fn removal_deadline(&self) -> Option<Instant> {
        let (_, exited) = self.exited.filter(|_| self.ended.is_some())?;
        self.change.is_none().then(|| exited.max(self.last_used) + self.settings.keep_finished)
    }

    pub(super) fn is_over(&self) -> bool {
        self.removal_deadline().is_some_and(|at| Instant::now() >= at)
    }

    /// Runs work that takes time and brings its result back as a command; `failed` if it panics, so
    /// that the loop does not wait for ever.
    pub(super) fn beside(
        &self,
        failed: Command,
        work: impl Future<Output = Command> + Send + 'static,
    ) {
        let commands = self.commands.clone();
        tokio::spawn(async move {
            let done = AssertUnwindSafe(work).catch_unwind().await.unwrap_or(failed);
            if let Some(commands) = commands.upgrade() {
                let _ = commands.send(done).await;
            }
        });
    }
}
