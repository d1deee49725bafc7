//! `debug.continue`, the steps, `debug.pause`, waits, `debug.status` and `debug.stop`.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use termbridge_dap::{
    DebugError, DebugSession, EndReason, EndReport, Halt, OutputSince, Page, Request, Resume,
    SessionState,
};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::pending::{Begun, Outcome};
use super::{NativeDebugger, OnlySession, view};
use crate::debug::answer::{self, Answer, SessionView};
use crate::debug::{DebugCall, DebugFailure};

/// How long a debugger may take to say where a session is.
const STATUS_LIMIT: Duration = Duration::from_secs(1);
/// What is reported of a failing assertion that stops the debugger.
const TEST_FAILURE: &str = "test failure";
const TRAPPED: &str = "an assertion failed; debug_continue runs to the next";
/// Frames of each session in a status.
const STATUS_FRAMES: u64 = 5;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Continue {
    session_id: Option<String>,
    wait: bool,
}

pub(super) async fn resume(
    native: &NativeDebugger,
    asked: Continue,
    timeout: Duration,
) -> Result<Answer, DebugFailure> {
    let session = native.session(asked.session_id.as_deref(), None)?;
    let ticket = session.resume(Resume::Continue, None).await?;
    // The stop of another thread may have waited.
    if !asked.wait && !session.is_stopped_after(ticket) {
        let session_id = session.id().to_string();
        return Ok(Answer::Running { state: "running", session_id });
    }
    told(native, session.wait_after(ticket, timeout).await, &session).map(Answer::Halt)
}

pub(super) async fn step(
    native: &NativeDebugger,
    script: &str,
    asked: OnlySession,
    timeout: Duration,
) -> Result<Answer, DebugFailure> {
    let how = match script {
        "debug.step-into" => Resume::StepInto,
        "debug.step-out" => Resume::StepOut,
        _ => Resume::StepOver,
    };
    let session = native.session(asked.session_id.as_deref(), None)?;
    told(native, session.resume_and_wait(how, None, timeout).await, &session).map(Answer::Halt)
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NextLine {
    line: u64,
    path: Option<PathBuf>,
    session_id: Option<String>,
}

pub(super) async fn set_next_line(
    native: &NativeDebugger,
    asked: NextLine,
    timeout: Duration,
) -> Result<Answer, DebugFailure> {
    let session = native.session(asked.session_id.as_deref(), None)?;
    let halt = session.set_next_line(asked.path.as_deref(), asked.line, timeout).await;
    told(native, halt, &session).map(Answer::Halt)
}

pub(super) async fn pause(
    native: &NativeDebugger,
    asked: OnlySession,
    timeout: Duration,
) -> Result<Answer, DebugFailure> {
    let session = native.session_or_latest(asked.session_id.as_deref())?;
    told(native, session.pause(timeout).await, &session).map(Answer::Halt)
}

pub(super) async fn wait_for_hit(
    native: &NativeDebugger,
    asked: OnlySession,
    call: &DebugCall,
) -> Result<Answer, DebugFailure> {
    let limit = TimeLimit::new(call.timeout);
    if asked.session_id.is_none()
        && let Some(pending) = native.kept_pending()
    {
        return match native.attend(&pending, limit.left(), &call.progress).await? {
            Outcome::Goes(state) => Ok(Answer::Starting(state)),
            Outcome::Begun(begun) => first_halt_of(native, begun, limit).await.map(Answer::Halt),
        };
    }
    let latest = native.session_or_latest(asked.session_id.as_deref())?;
    if asked.session_id.is_some() || latest.is_stopped() || latest.is_ended() {
        return first_halt(native, vec![latest], limit).await.map(Answer::Halt);
    }
    // What comes first; those that are stopped were told to be.
    let running = native.debugger().sessions().into_iter();
    let running = running.filter(|session| !session.is_ended() && !session.is_stopped());
    first_halt(native, running.collect(), limit).await.map(Answer::Halt)
}

/// The time that a caller gave, of which starting a program takes a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeLimit {
    given: Duration,
    deadline: Instant,
}

impl TimeLimit {
    pub(super) fn new(given: Duration) -> Self {
        Self { given, deadline: Instant::now() + given }
    }

    fn left(self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Waits for a stop in what is left; a time-out reports the whole.
    async fn wait(self, session: &DebugSession) -> Result<Halt, DebugError> {
        session.wait(self.left()).await.map_err(|error| match error {
            DebugError::Timeout { what, program, .. } => {
                DebugError::Timeout { what, program, after: self.given }
            }
            other => other,
        })
    }
}

/// What comes first in any of these sessions.
pub(super) async fn first_halt(
    native: &NativeDebugger,
    sessions: Vec<DebugSession>,
    limit: TimeLimit,
) -> Result<answer::Halt, DebugFailure> {
    let [session] = sessions.as_slice() else {
        let mut waits: JoinSet<Result<answer::Halt, DebugFailure>> = JoinSet::new();
        for session in sessions {
            let native = native.clone();
            waits.spawn(async move { told(&native, limit.wait(&session).await, &session) });
        }
        let first = waits.join_next().await.and_then(Result::ok);
        return first.unwrap_or_else(|| Err(DebugError::NoSession(None).into()));
    };
    told(native, limit.wait(session).await, session)
}

/// The first halt of what was started, and what else there is to say of it.
pub(super) async fn first_halt_of(
    native: &NativeDebugger,
    begun: Begun,
    limit: TimeLimit,
) -> Result<answer::Halt, DebugFailure> {
    let mut halt = first_halt(native, begun.sessions, limit).await?;
    if let Some(test) = begun.test {
        halt.set_test(test);
    }
    Ok(halt)
}

/// `GoogleTest` and Catch2 stop the debugger at a failing assertion by a trap.
fn as_test_failure(stop: &mut answer::Stop) {
    if let Some(exception) = &mut stop.exception
        && exception.message.as_deref() == Some("signal SIGTRAP")
    {
        let (kind, message) = (TEST_FAILURE.to_owned(), Some(TRAPPED.to_owned()));
        *exception = answer::Exception { kind, message, stack: None };
    }
}

/// A halt as an answer. Of a wait that timed out the session is named, so that it can be waited for again.
pub(super) fn told(
    native: &NativeDebugger,
    halt: Result<Halt, DebugError>,
    session: &DebugSession,
) -> Result<answer::Halt, DebugFailure> {
    match halt {
        Ok(Halt::Ended(end)) => Ok(answer::Halt::End(Box::new(told_end(native, &end)))),
        Ok(halt) => {
            let mut halt = view::halt(&halt);
            if let answer::Halt::Stop(stop) = &mut halt
                && session.traps_at_failures()
            {
                as_test_failure(stop);
            }
            Ok(halt)
        }
        Err(error) => {
            let details = match error {
                DebugError::Timeout { .. } | DebugError::Idle { .. } => {
                    Some(still_running(session))
                }
                _ => None,
            };
            Err(DebugFailure { details, ..error.into() })
        }
    }
}

/// What there is to report of a program that did not stop in time.
fn still_running(session: &DebugSession) -> Value {
    let mut details = json!({"sessionId": session.id().as_str(), "state": "running"});
    let OutputSince { text, left_out } = session.new_output();
    if !text.is_empty() {
        details["output"] = json!(text);
        details["outputLeftOut"] = json!(view::count(left_out));
    }
    details
}

/// How a program ended; what it printed last is told once.
fn told_end(native: &NativeDebugger, report: &EndReport) -> answer::End {
    let mut end = view::end(report);
    if native.note_end(report.session.as_str()) {
        (end.output, end.output_left_out) = (None, None);
    }
    end
}

pub(super) async fn stop(
    native: &NativeDebugger,
    asked: OnlySession,
) -> Result<Answer, DebugFailure> {
    if asked.session_id.is_none()
        && let Some(mut begun) = native.end_pending().await
    {
        let Some(last) = begun.pop() else {
            let (state, stopped) = (answer::End::STATE, Some(true));
            let end = answer::End { state, stopped, ..answer::End::default() };
            return Ok(Answer::Halt(answer::Halt::End(Box::new(end))));
        };
        // It had started by now.
        for other in begun {
            other.stop().await?;
        }
        return stop_session(native, &last).await;
    }
    let session = native.session_or_latest(asked.session_id.as_deref())?;
    stop_session(native, &session).await
}

async fn stop_session(
    native: &NativeDebugger,
    session: &DebugSession,
) -> Result<Answer, DebugFailure> {
    let was_over = session.is_ended();
    let end = session.stop().await?;
    let mut told = told_end(native, &end);
    // It ended by itself before; asking again changes nothing, but it is said.
    told.stopped = Some(!was_over || end.reason == EndReason::Stopped);
    Ok(Answer::Halt(answer::Halt::End(Box::new(told))))
}

pub(super) async fn status(native: &NativeDebugger) -> Result<Answer, DebugFailure> {
    let mut sessions = Vec::new();
    // One whose end was told is of no interest any more.
    let is_news =
        |session: &DebugSession| !session.is_ended() || !native.is_end_told(session.id().as_str());
    for session in native.debugger().sessions().into_iter().filter(is_news) {
        sessions.push(describe(native, &session).await);
        if session.is_ended() {
            native.note_end(session.id().as_str());
        }
    }
    let pending = native.kept_pending().map(|pending| SessionView {
        state: "starting",
        configuration: Some(pending.what().to_owned()),
        ..SessionView::default()
    });
    let is_starting = pending.is_some();
    sessions.extend(pending);
    let any = |wanted: fn(&DebugSession) -> bool| native.debugger().sessions().iter().any(wanted);
    Ok(Answer::Status(answer::Status {
        active: is_starting || any(|session| !session.is_ended()),
        paused: any(DebugSession::is_stopped),
        sessions,
    }))
}

/// What is known of a session, with its place where it is stopped.
pub(super) async fn describe(native: &NativeDebugger, session: &DebugSession) -> SessionView {
    let info = session.info();
    let request = match info.request {
        Request::Launch => "launch",
        Request::Attach => "attach",
    };
    let mut described = SessionView {
        session_id: info.id.to_string(),
        configuration: Some(info.name),
        adapter: Some(info.adapter.name().to_owned()),
        request: Some(request),
        program: Some(info.program),
        pid: info.pid.map(i64::from),
        terminal: native.terminal_of(session),
        children: info.children.into_iter().map(|(name, _)| name).collect(),
        ..SessionView::default()
    };
    match info.state {
        SessionState::Starting => described.state = "starting",
        SessionState::Running => described.state = "running",
        SessionState::Stopped { reason, thread } => {
            described.state = answer::Stop::STATE;
            described.reason = Some(reason);
            described.thread_id = thread;
            // It may go on in this very moment.
            let page = Page { start: 0, count: STATUS_FRAMES };
            let stack = tokio::time::timeout(STATUS_LIMIT, session.stack(thread, page)).await;
            if let Ok(Ok(stack)) = stack {
                described.location = session.focus(&stack.frames).map(view::frame);
                described.frames = Some(stack.frames.iter().map(view::frame).collect());
            }
        }
        SessionState::Ended(end) => {
            described.state = answer::End::STATE;
            described.exit = Some(view::exit(&end));
        }
    }
    described
}
