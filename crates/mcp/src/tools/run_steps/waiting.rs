//! Commands of earlier steps that wait for input.
//!
//! Their shell is busy, so a command that does not name it would run in another one. Until they end, only steps for
//! their sessions run.

use std::time::Duration;

use serde_json::Value;
use termbridge_session::{SessionId, Wait};

use crate::lenient::{SESSIONS, find_named_sessions};
use crate::tool::Context;

/// How long a command may take to end after a step has answered it.
const ENDING: Duration = Duration::from_millis(500);

pub(super) struct WaitingCommand {
    /// Index of the step that ran it.
    pub(super) step: usize,
    session: SessionId,
    command: u64,
    /// It reads without echo, as for a password.
    is_hidden: bool,
}

impl WaitingCommand {
    /// The commands that wait for input by an answer of `execute_command`.
    pub(super) fn of(step: usize, answer: &Value) -> Vec<Self> {
        let each = answer.get("results").and_then(Value::as_array).into_iter().flatten();
        let runs = each.filter_map(|entry| entry.get("result")).chain([answer]);
        let waits = runs.filter_map(|run| {
            let text = |name: &str| run.get(name).and_then(Value::as_str);
            text("state").filter(|state| matches!(*state, "needs_input" | "interactive"))?;
            let session = SessionId::from_text(text("session_id")?);
            let command = run.get("command_id")?.as_u64()?;
            Some(Self { step, session, command, is_hidden: text("echo") == Some("off") })
        });
        waits.collect()
    }

    /// Why the steps after it did not run, and how to go on.
    pub(super) async fn note(&self, context: &Context) -> String {
        let Self { step, session, .. } = self;
        let waits = format!("step {} waits for input in session {session}", step + 1);
        if self.is_hidden
            && let Some(note) = context.person_types(session, None).await
        {
            return format!("{waits}; {note}");
        }
        let next = format!("Answer with send_keys to session {session}, then run the rest");
        format!("{waits}. {}", context.naming_offered(&next)).trim_end_matches(". ").to_owned()
    }

    async fn runs(&self, context: &Context) -> bool {
        let Self { session, command, .. } = self;
        let report = context.bridge.command(&context.caller, session, *command, 0, 0).await;
        report.is_ok_and(|report| report.is_some_and(|report| report.is_running()))
    }
}

/// The first of these commands that has not ended, unless the step with these arguments is for one of their sessions.
/// Those that have ended are removed.
pub(super) async fn in_the_way<'a>(
    waiting: &'a mut Vec<WaitingCommand>,
    step: usize,
    arguments: &Value,
    context: &Context,
) -> Option<&'a WaitingCommand> {
    let mut arguments = arguments.as_object().cloned().unwrap_or_default();
    find_named_sessions(&mut arguments, context).await;
    let named = SESSIONS.iter().filter_map(|name| arguments.get(*name));
    let named: Vec<&str> = named
        .flat_map(|ids| ids.as_array().map_or(std::slice::from_ref(ids), Vec::as_slice))
        .filter_map(Value::as_str)
        .collect();
    if waiting.iter().any(|command| named.contains(&command.session.as_str())) {
        return None;
    }
    let mut open = Vec::new();
    for command in waiting.drain(..) {
        let was_answered = command.step + 1 < step;
        if was_answered
            && command.runs(context).await
            && let Ok(session) = context.session(command.session.as_str())
        {
            let prompt = Wait { prompt: true, ..Wait::default() }.timeout(ENDING);
            // Whether it has ended is asked below.
            let _ = context.wait(&session, prompt).await;
        }
        if command.runs(context).await {
            open.push(command);
        }
    }
    *waiting = open;
    waiting.first()
}
