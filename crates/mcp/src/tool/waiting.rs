//! How a call waits: for as long as its client bears, with progress for a client that asks for it, and until
//! nobody waits for the answer any more.

use std::future::Future;
use std::time::Duration;

use rmcp::model::ProgressNotificationParam;
use termbridge_bridge::{
    CommandWait, OutputPage, OutputRequest, OutputWait, ScreenHandle, Started, Until,
};
use termbridge_session::{EndReason, Input, Sent, SessionError, SessionId, State, Wait, Waited};

use super::Context;
use crate::error::ToolError;

/// Longest silence: clients give up on a request after a minute.
const LONGEST_WAIT: Duration = Duration::from_secs(50);
/// How often a waiting client that asked for progress hears of it.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// Longest line in a progress report, in bytes.
const LONGEST_WORDS: usize = 200;

/// How long a call may wait: a client that gets no progress would give up after a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) asked: Duration,
    pub(crate) allowed: Duration,
    cut_short: bool,
}

impl Limit {
    /// `patience` is what the client has left of it.
    fn of(asked: Duration, patience: Option<Duration>) -> Self {
        let allowed = patience.map_or(asked, |patience| asked.min(patience));
        Self { asked, allowed, cut_short: allowed < asked }
    }
}

/// What a call waits for, to tell its client about.
#[derive(Clone, Copy)]
enum Watched<'a> {
    Screen(&'a ScreenHandle),
    Command(&'a SessionId, Option<u64>),
}

impl Context {
    /// Waits, with progress where the client asked for it, until the wait or the call ends.
    pub(crate) async fn wait(
        &self,
        session: &ScreenHandle,
        mut wait: Wait,
    ) -> Result<(Waited, bool), ToolError> {
        let limit = self.limit(&mut wait);
        let waited = self.attend(Watched::Screen(session), limit, session.wait(wait)).await?;
        Ok((unless_lost(session, waited?)?, limit.cut_short))
    }

    /// The result of waits in several sessions, with progress of one of them.
    pub(crate) async fn watching<T>(
        &self,
        session: &ScreenHandle,
        timeout: Duration,
        waits: impl Future<Output = T>,
    ) -> Result<T, ToolError> {
        self.attend(Watched::Screen(session), self.limit_of(timeout), waits).await
    }

    /// Sends and waits, as [`Context::wait`] does.
    pub(crate) async fn send_then_wait(
        &self,
        session: &ScreenHandle,
        input: Vec<Input>,
        mut wait: Wait,
    ) -> Result<(Sent, Waited, bool), ToolError> {
        let limit = self.limit(&mut wait);
        let (sent, waiting) = session.send_then_wait(input, wait).await?;
        self.note_done(|| format!("the input was sent to session {}", session.id()));
        let waited = self.attend(Watched::Screen(session), limit, waiting).await?;
        Ok((sent, unless_lost(session, waited?)?, limit.cut_short))
    }

    /// Waits for a command, as [`Context::wait`] does for a screen.
    pub(crate) async fn wait_command(
        &self,
        started: &Started,
        timeout: Duration,
    ) -> Result<(CommandWait, bool), ToolError> {
        let limit = self.limit_of(timeout);
        let waiting = self.bridge.wait(started, limit.allowed);
        let watched = Watched::Command(&started.session, Some(started.command));
        Ok((self.attend(watched, limit, waiting).await??, limit.cut_short))
    }

    /// Reads output, at once or when the wait ends.
    pub(crate) async fn await_output(
        &self,
        request: OutputRequest,
        wait: OutputWait,
        timeout: Duration,
    ) -> Result<(OutputPage, Until), ToolError> {
        let limit = self.limit_of(timeout);
        let session = request.session.id.clone();
        let running = request.session.shell.and_then(|shell| shell.running);
        let watched = Watched::Command(&session, request.command.or(running));
        let waiting = self.bridge.await_output(request, wait, limit.allowed);
        Ok(self.attend(watched, limit, waiting).await??)
    }

    pub(crate) fn limit_of(&self, asked: Duration) -> Limit {
        let patience = match self.progress.is_some() || self.is_task {
            true => None,
            false => Some(LONGEST_WAIT.saturating_sub(self.began.elapsed())),
        };
        Limit::of(asked, patience)
    }

    /// Limits a wait to what the client can bear.
    fn limit(&self, wait: &mut Wait) -> Limit {
        let asked = wait.timeout.unwrap_or(LONGEST_WAIT);
        let limit = self.limit_of(asked);
        wait.timeout = Some(limit.allowed);
        limit
    }

    async fn attend<T>(
        &self,
        watched: Watched<'_>,
        limit: Limit,
        waiting: impl Future<Output = T>,
    ) -> Result<T, ToolError> {
        let mut given_up = std::pin::pin!(self.given_up());
        let mut waiting = std::pin::pin!(waiting);
        let mut ticks = self.ticks();
        loop {
            tokio::select! {
                answer = &mut waiting => return Ok(answer),
                () = &mut given_up => return Err(self.why_given_up()),
                // Progress delays neither the answer nor the end: a client that is gone reads nothing.
                seconds = ticks.next() => tokio::select! {
                    () = self.report(watched, seconds, limit.asked) => {}
                    answer = &mut waiting => return Ok(answer),
                    () = &mut given_up => return Err(self.why_given_up()),
                },
            }
        }
    }

    async fn report(&self, watched: Watched<'_>, seconds: f64, asked: Duration) {
        if let Some(words) = self.last_words(watched).await {
            self.tell(seconds, asked, None, &format!("{seconds:.0} s{words}")).await;
        }
    }

    /// When to report progress: never, where the client did not ask for it.
    pub(crate) fn ticks(&self) -> Ticks {
        let first = tokio::time::Instant::now() + PROGRESS_INTERVAL;
        let interval = self.peer.is_some() && self.progress.is_some();
        let interval = interval.then(|| tokio::time::interval_at(first, PROGRESS_INTERVAL));
        Ticks { interval, seconds: 0.0 }
    }

    /// Reports progress: in percent where that is known, else in seconds of those that were asked for.
    pub(crate) async fn tell(
        &self,
        seconds: f64,
        asked: Duration,
        percent: Option<f64>,
        words: &str,
    ) {
        let (Some(peer), Some(token)) = (&self.peer, &self.progress) else {
            return;
        };
        let done = percent.unwrap_or(seconds);
        let mut progress = ProgressNotificationParam::new(token.clone(), done);
        progress.total = Some(percent.map_or(asked.as_secs_f64(), |_| 100.0));
        progress.message = Some(words.to_owned());
        // A client that cannot take it will not get the answer either.
        let _ = peer.notify_progress(progress).await;
    }

    async fn last_words(&self, watched: Watched<'_>) -> Option<String> {
        match watched {
            Watched::Screen(session) => {
                Some(format!(": {}", last_line(&session.screen().await.ok()?.text())))
            }
            Watched::Command(_, None) => Some(String::new()),
            Watched::Command(session, Some(command)) => {
                let part = async |from, most| {
                    self.bridge.command(&self.caller, session, command, from, most).await.ok()?
                };
                let length = part(0, 0).await?.output_bytes;
                let from = length.saturating_sub(4 * LONGEST_WORDS as u64);
                let part = part(from, length - from).await?;
                Some(format!(", {length} bytes: {}", last_line(&part.output)))
            }
        }
    }
}

/// The times at which a waiting client hears of progress.
pub(crate) struct Ticks {
    interval: Option<tokio::time::Interval>,
    seconds: f64,
}

impl Ticks {
    /// The seconds that have passed, once a report is due.
    pub(crate) async fn next(&mut self) -> f64 {
        match &mut self.interval {
            Some(interval) => {
                interval.tick().await;
                self.seconds += PROGRESS_INTERVAL.as_secs_f64();
                self.seconds
            }
            None => std::future::pending().await,
        }
    }
}

/// An error if the keeper process died: the condition cannot hold any more.
fn unless_lost(session: &ScreenHandle, waited: Waited) -> Result<Waited, ToolError> {
    match &waited.state {
        State::Exited(ended) if ended.reason == EndReason::KeeperDied => {
            let (id, how) = (session.id().clone(), ended.to_string());
            Err(SessionError::Dead { id, how }.into())
        }
        _ => Ok(waited),
    }
}

fn last_line(text: &str) -> &str {
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    &line[..line.floor_char_boundary(LONGEST_WORDS)]
}

#[cfg(test)]
mod tests;
