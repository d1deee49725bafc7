//! Going on and stopping: continue, steps, pause, and the wait for what comes of it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::state::{Phase, State};
use super::stopped::{Stop, Stopped};
use super::{DebugSession, Inner};
use crate::client::RequestError;
use crate::error::DebugError;
use crate::events::Record;
use crate::protocol::{Threads, read};
use crate::report::{EndReport, Halt, OutputSince};

/// How a stopped program goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// Until something stops it.
    Continue,
    /// To the next line, over calls.
    StepOver,
    /// To the next line, into calls.
    StepInto,
    /// Until the function returns.
    StepOut,
}

impl Resume {
    fn command(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::StepOver => "next",
            Self::StepInto => "stepIn",
            Self::StepOut => "stepOut",
        }
    }
}

/// What a wait found.
pub(super) enum Found {
    Stop(u32, Stop),
    End(EndReport),
}

/// The stops before something was begun: later ones are its own.
#[derive(Debug, Clone, Copy)]
pub struct Ticket {
    /// Stops so far.
    pub(super) stops: u64,
    /// The connection that goes on, where stops of others are as good as new ones.
    pub(super) continued: Option<u32>,
}

/// When a program that was asked to pause is asked again.
const PAUSE_AGAIN: Duration = Duration::from_secs(5);

impl DebugSession {
    /// Lets a stopped program go on; [`DebugSession::wait_after`] waits for what comes of it.
    pub async fn resume(&self, how: Resume, thread: Option<i64>) -> Result<Ticket, DebugError> {
        let inner = &self.inner;
        if inner.configuration.core_file().is_some() {
            return Err(DebugError::UnsupportedCapability {
                adapter: inner.adapter.name().to_owned(),
                what: "running on from a core file".to_owned(),
                instead: "look into it with debug_list_variables and debug_evaluate; debug_start without `core` runs \
                          the program",
            });
        }
        let stopped = |state: &State| {
            state.alive()?;
            match thread {
                Some(number) => state.thread(number),
                None => {
                    let latest = state.latest_stop(None);
                    let (link, stop) = latest.ok_or_else(|| not_paused(&state.running()))?;
                    Ok((link, stop.event.thread_id.unwrap_or_default()))
                }
            }
        };
        let (link, _) = stopped(&inner.lock())?;
        inner.sort_out_others(link).await;
        let (link, id, client, before, ticket, interrupted) = {
            let mut state = inner.lock();
            let (link, id) = stopped(&state)?;
            if !state.is_thread_stopped(link, id) {
                return Err(not_paused(&state.running()));
            }
            let continued = (how == Resume::Continue).then_some(link);
            let ticket = Ticket { stops: state.stops, continued };
            // Continuing would drop the stops of other threads that stopped at the same moment.
            if how == Resume::Continue && state.next_waiting(link) {
                drop(state);
                inner.notify();
                return Ok(ticket);
            }
            let is_step = how != Resume::Continue;
            let known = state.links.get_mut(&link).ok_or_else(|| not_paused("the program"))?;
            if is_step && !inner.adapter.quirks().accepts_nested_steps() {
                if known.open_step.is_some() {
                    return Err(DebugError::UnsupportedCapability {
                        adapter: inner.adapter.name().to_owned(),
                        what: "a step while another goroutine's breakpoint interrupts one"
                            .to_owned(),
                        instead: "debug_continue completes the step that was interrupted",
                    });
                }
                known.open_step = Some(id);
            }
            // Before the request: the next stop may come before its answer.
            let before = state.resume(link, id);
            let known = state.links.get_mut(&link).ok_or_else(|| not_paused("the program"))?;
            let before_that = known.resumed.replace(how);
            let stepped = before_that.is_some_and(|how| how != Resume::Continue);
            let is_interrupted = |stopped: &Stopped| stopped.stop.event.reason != "step";
            let interrupted = stepped && before.0.as_ref().is_some_and(is_interrupted);
            (link, id, known.client.clone(), before, ticket, interrupted)
        };
        inner.notify();
        let timeout = inner.context.settings.request_timeout;
        if let (true, Some(command)) = (interrupted, inner.adapter.quirks().forget_step()) {
            let arguments = json!({"expression": command, "context": "repl"});
            // There may be none: it ended where something else stopped the program.
            let _ = client.request("evaluate", arguments, timeout).await;
        }
        let answer = client.request(how.command(), json!({"threadId": id}), timeout).await;
        match answer {
            Ok(body) => {
                let mut state = inner.lock();
                let all = how == Resume::Continue
                    && body["allThreadsContinued"].as_bool().unwrap_or(true);
                if all
                    && state.stops == ticket.stops
                    && let Some(link) = state.links.get_mut(&link)
                {
                    link.stopped = None;
                }
                Ok(ticket)
            }
            // Adapters that answer a step only at its end.
            Err(RequestError::Timeout { .. }) => Ok(ticket),
            Err(error) => {
                let mut state = inner.lock();
                if let (true, Some(link)) =
                    (state.stops == ticket.stops, state.links.get_mut(&link))
                {
                    (link.stopped, link.others) = before;
                    if how != Resume::Continue {
                        link.open_step = None;
                    }
                }
                drop(state);
                inner.notify();
                Err(inner.request_failed(error))
            }
        }
    }

    /// Lets a stopped program go on and waits for its next stop or its end.
    pub async fn resume_and_wait(
        &self,
        how: Resume,
        thread: Option<i64>,
        timeout: Duration,
    ) -> Result<Halt, DebugError> {
        let ticket = self.resume(how, thread).await?;
        self.wait_after(ticket, timeout).await
    }

    /// Stops a running program and waits for it; a stop that already happened counts.
    pub async fn pause(&self, timeout: Duration) -> Result<Halt, DebugError> {
        let idle = self.inner.adapter.quirks().idle_after();
        // js-debug loses one now and then when the program is between two turns of its loop.
        let again = idle.map_or(PAUSE_AGAIN, |limit| limit / 3);
        let deadline = Instant::now() + idle.map_or(timeout, |limit| timeout.min(limit));
        loop {
            self.ask_to_pause().await?;
            let left = deadline.saturating_duration_since(Instant::now());
            match self.wait(left.min(again)).await {
                Err(DebugError::Timeout { .. }) if left > again => {}
                Err(DebugError::Timeout { program, .. }) if idle.is_some() => {
                    return Err(DebugError::Idle { program });
                }
                halt => return halt,
            }
        }
    }

    async fn ask_to_pause(&self) -> Result<(), DebugError> {
        let inner = &self.inner;
        let client = {
            let state = inner.lock();
            if matches!(state.phase, Phase::Ended(_)) || state.latest_stop(None).is_some() {
                return Ok(());
            }
            state.alive()?;
            // The newest child: the links before it are there for it.
            state.links.values().next_back().map(|link| link.client.clone())
        };
        let Some(client) = client else { return Ok(()) };
        let limit = inner.context.settings.request_timeout;
        let threads = client.request("threads", Value::Null, limit).await;
        let threads: Threads = read(&threads.unwrap_or_default());
        let id = threads.threads.first().map_or(0, |thread| thread.id);
        inner.lock().pausing = true;
        let paused = client.request("pause", json!({"threadId": id}), limit).await;
        match paused {
            Err(error) if inner.lock().latest_stop(None).is_none() => {
                Err(inner.request_failed(error))
            }
            _ => Ok(()),
        }
    }

    /// Waits for the program to be stopped; it may be already.
    pub async fn wait(&self, timeout: Duration) -> Result<Halt, DebugError> {
        self.next_halt(None, timeout).await
    }

    /// Waits for a stop after the program was let go.
    pub async fn wait_after(&self, ticket: Ticket, timeout: Duration) -> Result<Halt, DebugError> {
        self.next_halt(Some(ticket), timeout).await
    }

    /// Whether the program has stopped since a ticket was given out.
    pub fn is_stopped_after(&self, ticket: Ticket) -> bool {
        self.inner.lock().latest_stop(Some(ticket.stops)).is_some()
    }

    /// What the program has written since the last report; from now on it counts as reported.
    pub fn new_output(&self) -> OutputSince {
        self.inner.take_output(&mut self.inner.lock())
    }

    /// Waits for the end of the program, however long it takes.
    pub async fn over(&self) {
        let mut changed = self.inner.subscribe();
        while !self.is_ended() && changed.changed().await.is_ok() {}
    }

    /// Waits for a line of the run's output, an earlier one included, and returns it whole.
    pub async fn wait_for_output(
        &self,
        text: &str,
        timeout: Duration,
    ) -> Result<String, DebugError> {
        let inner = &self.inner;
        let mut changed = inner.subscribe();
        let deadline = Instant::now() + timeout;
        loop {
            let records = inner.context.events.since(inner.id.as_str(), 0);
            let output: String = records.iter().filter_map(Record::output).collect();
            let mut lines = output.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            if let Some(line) = lines.find(|line| line.contains(text)) {
                return Ok(line.trim_end().to_owned());
            }
            inner.lock().alive()?;
            if tokio::time::timeout_at(deadline, changed.changed()).await.is_err() {
                let (what, program) = (format!("no line with {text:?}"), inner.lock().running());
                return Err(DebugError::Timeout { what, program, after: timeout });
            }
        }
    }

    async fn next_halt(
        &self,
        mut after: Option<Ticket>,
        timeout: Duration,
    ) -> Result<Halt, DebugError> {
        let deadline = Instant::now() + timeout;
        loop {
            let (link, stop) = match self.inner.find_halt(after, timeout, deadline).await? {
                Found::End(end) => return Ok(Halt::Ended(end)),
                Found::Stop(link, stop) => (link, stop),
            };
            let stop = self.inner.sorted_stop(link, stop).await;
            let report = self.inner.stop_report(link, &stop).await;
            let stops = stop.number;
            // debugpy tells a stop again that it goes on from, when it was busy with values.
            if !report.frames.is_empty() || self.inner.is_stopped_by(link, stops) {
                return Ok(Halt::Stopped(Box::new(report)));
            }
            after = Some(Ticket { stops, continued: after.and_then(|ticket| ticket.continued) });
        }
    }
}

impl Inner {
    async fn find_halt(
        &self,
        after: Option<Ticket>,
        timeout: Duration,
        deadline: Instant,
    ) -> Result<Found, DebugError> {
        let mut changed = self.subscribe();
        loop {
            {
                let mut state = self.lock();
                if let Phase::Ended(end) = &state.phase {
                    return Ok(Found::End(end.clone()));
                }
                let ending = matches!(state.phase, Phase::Ending(_));
                let new = state.latest_stop(after.map(|ticket| ticket.stops));
                // A child that was stopped before has not been reported: its sibling was.
                let continued = after.and_then(|ticket| ticket.continued);
                let other = || state.latest_stop(None).filter(|(link, _)| Some(*link) != continued);
                let stop = new.or_else(|| continued.and_then(|_| other()));
                if let (false, Some((link, stop))) = (ending, stop) {
                    state.reported_link = Some(link);
                    return Ok(Found::Stop(link, stop));
                }
            }
            if tokio::time::timeout_at(deadline, changed.changed()).await.is_err() {
                let program = self.lock().running();
                let what = "no stop".to_owned();
                return Err(DebugError::Timeout { what, program, after: timeout });
            }
        }
    }

    /// What a request's failure means once the session is live.
    pub(super) fn request_failed(&self, error: RequestError) -> DebugError {
        let state = self.lock();
        if let Err(over) = state.alive() {
            return over;
        }
        match error {
            RequestError::Timeout { command, after } => {
                let what = format!("{} did not answer {command}", self.adapter.name());
                let program = state.running();
                match state.latest_stop(None) {
                    Some(_) => DebugError::AdapterSlow { what, program, after },
                    None => DebugError::Timeout { what, program, after },
                }
            }
            other => DebugError::Internal(other.to_string()),
        }
    }
}

fn not_paused(program: &str) -> DebugError {
    DebugError::NotPaused { program: program.to_owned() }
}
