//! `debug.continue`, the steps, `debug.pause`, waits, `debug.status` and `debug.stop`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use termbridge_dap::{
    DebugError, DebugSession, EndReason, EndReport, Halt, Page, Request, Resume, SessionState,
};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::pending::{Begun, Outcome};
use super::{NativeDebugger, OnlySession, view};
use crate::debug::{DebugCall, DebugFailure};

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
) -> Result<Value, DebugFailure> {
    let session = native.session(asked.session_id.as_deref(), None)?;
    let ticket = session.resume(Resume::Continue, None).await?;
    if !asked.wait {
        return Ok(json!({"state": "running", "sessionId": session.id().as_str()}));
    }
    told(native, session.wait_after(ticket, timeout).await, &session)
}

pub(super) async fn step(
    native: &NativeDebugger,
    script: &str,
    asked: OnlySession,
    timeout: Duration,
) -> Result<Value, DebugFailure> {
    let how = match script {
        "debug.step-into" => Resume::StepInto,
        "debug.step-out" => Resume::StepOut,
        _ => Resume::StepOver,
    };
    let session = native.session(asked.session_id.as_deref(), None)?;
    told(native, session.resume_and_wait(how, None, timeout).await, &session)
}

pub(super) async fn pause(
    native: &NativeDebugger,
    asked: OnlySession,
    timeout: Duration,
) -> Result<Value, DebugFailure> {
    let session = native.session_or_latest(asked.session_id.as_deref())?;
    told(native, session.pause(timeout).await, &session)
}

pub(super) async fn wait_for_hit(
    native: &NativeDebugger,
    asked: OnlySession,
    call: &DebugCall,
) -> Result<Value, DebugFailure> {
    let deadline = Instant::now() + call.timeout;
    let left = || deadline.saturating_duration_since(Instant::now());
    if asked.session_id.is_none()
        && let Some(pending) = native.take_pending()
    {
        return match native.attend(pending, left(), &call.progress).await? {
            Outcome::Goes(state) => Ok(state),
            Outcome::Begun(begun) => first_halt_of(native, begun, left()).await,
        };
    }
    let timeout = call.timeout;
    let latest = native.session_or_latest(asked.session_id.as_deref())?;
    if asked.session_id.is_some() || latest.is_stopped() || latest.is_ended() {
        return first_halt(native, vec![latest], timeout).await;
    }
    // What comes first; those that are stopped were told to be.
    let running = native.debugger().sessions().into_iter();
    let running = running.filter(|session| !session.is_ended() && !session.is_stopped());
    first_halt(native, running.collect(), timeout).await
}

/// What comes first in any of these sessions.
pub(super) async fn first_halt(
    native: &NativeDebugger,
    sessions: Vec<DebugSession>,
    timeout: Duration,
) -> Result<Value, DebugFailure> {
    let [session] = sessions.as_slice() else {
        let mut waits: JoinSet<Result<Value, DebugFailure>> = JoinSet::new();
        for session in sessions {
            let native = native.clone();
            waits.spawn(async move { told(&native, session.wait(timeout).await, &session) });
        }
        let first = waits.join_next().await.and_then(Result::ok);
        return first.unwrap_or_else(|| Err(DebugError::NoSession(None).into()));
    };
    told(native, session.wait(timeout).await, session)
}

/// The first halt of what was started, and what else there is to say of it.
pub(super) async fn first_halt_of(
    native: &NativeDebugger,
    begun: Begun,
    timeout: Duration,
) -> Result<Value, DebugFailure> {
    let mut answer = first_halt(native, begun.sessions, timeout).await?;
    if let Value::Object(fields) = &mut answer {
        fields.extend(begun.facts);
    }
    Ok(answer)
}

/// A halt as data. Of a wait that timed out the session is named, so that it can be waited for again.
pub(super) fn told(
    native: &NativeDebugger,
    halt: Result<Halt, DebugError>,
    session: &DebugSession,
) -> Result<Value, DebugFailure> {
    match halt {
        Ok(Halt::Ended(end)) => Ok(told_end(native, &end)),
        Ok(halt) => Ok(view::halt(&halt)),
        Err(error) => {
            let details = match error {
                DebugError::Timeout { .. } => {
                    Some(json!({"sessionId": session.id().as_str(), "state": "running"}))
                }
                _ => None,
            };
            Err(DebugFailure { details, ..error.into() })
        }
    }
}

/// How a program ended; what it printed last is told once.
fn told_end(native: &NativeDebugger, end: &EndReport) -> Value {
    let mut answer = view::end(end);
    if native.note_end(end.session.as_str())
        && let Value::Object(fields) = &mut answer
    {
        fields.remove("output");
        fields.remove("outputLeftOut");
    }
    answer
}

pub(super) async fn stop(
    native: &NativeDebugger,
    asked: OnlySession,
) -> Result<Value, DebugFailure> {
    if asked.session_id.is_none()
        && let Some(pending) = native.take_pending()
    {
        drop(pending);
        return Ok(json!({"stopped": true, "state": "exited"}));
    }
    let session = native.session_or_latest(asked.session_id.as_deref())?;
    let was_over = session.is_ended();
    let end = session.stop().await?;
    let mut answer = told_end(native, &end);
    // It ended by itself before; asking again changes nothing, but it is said.
    answer["stopped"] = json!(!was_over || end.reason == EndReason::Stopped);
    Ok(answer)
}

pub(super) async fn status(native: &NativeDebugger) -> Result<Value, DebugFailure> {
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
    let any = |wanted: fn(&DebugSession) -> bool| native.debugger().sessions().iter().any(wanted);
    Ok(json!({
        "active": any(|session| !session.is_ended()),
        "paused": any(DebugSession::is_stopped),
        "sessions": sessions,
    }))
}

/// What is known of a session, with its place where it is stopped.
pub(super) async fn describe(native: &NativeDebugger, session: &DebugSession) -> Value {
    let info = session.info();
    let request = match info.request {
        Request::Launch => "launch",
        Request::Attach => "attach",
    };
    let children: Vec<&String> = info.children.iter().map(|(name, _)| name).collect();
    let mut described = view::present([
        ("sessionId", json!(info.id.as_str())),
        ("configuration", json!(info.name)),
        ("adapter", json!(info.adapter.name())),
        ("request", json!(request)),
        ("program", json!(info.program)),
        ("pid", json!(info.pid)),
        ("terminal", json!(native.terminal_of(session))),
        ("children", if children.is_empty() { Value::Null } else { json!(children) }),
    ]);
    match info.state {
        SessionState::Starting => described["state"] = json!("starting"),
        SessionState::Running => described["state"] = json!("running"),
        SessionState::Stopped { reason, thread } => {
            described["state"] = json!("stopped");
            described["reason"] = json!(reason);
            described["threadId"] = json!(thread);
            // It may go on in this very moment.
            if let Ok(stack) = session.stack(thread, Page { start: 0, count: STATUS_FRAMES }).await
            {
                let own = termbridge_dap::focus(&stack.frames);
                described["location"] = json!(own.map(view::frame));
                described["frames"] = stack.frames.iter().map(view::frame).collect();
            }
        }
        SessionState::Ended(end) => {
            described["state"] = json!("exited");
            described["exit"] = view::end(&end)["exit"].take();
        }
    }
    described
}
