//! `wait_for`: wait for what a program does.

use futures_util::future::select_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_bridge::ScreenHandle;
use termbridge_session::{Fired, State, Wait};

use super::condition::{Condition, Outcome, check_prompt};
use super::ended::{Ended, Running};
use super::execute_command::MAX_AT_ONCE;
use crate::error::ToolError;
use crate::schema::AnyObject;
use crate::tool::{Context, Hints, Reply, Tool};
use crate::view::{View, ViewAfter};

pub(crate) struct WaitFor;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    session_id: Option<String>,
    /// Whichever comes first
    session_ids: Option<Vec<String>>,
    #[serde(default)]
    view: ViewAfter,
    #[serde(flatten)]
    condition: Flat,
}

/// A condition among other arguments: the tool's schema has refused unknown ones already.
#[derive(Debug, Deserialize)]
struct Flat(serde_json::Map<String, serde_json::Value>);

impl JsonSchema for Flat {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Condition::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Condition::json_schema(generator)
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    #[serde(flatten)]
    outcome: Outcome,
    /// Of `session_ids`.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    /// The shell's command that ended before the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyObject>")]
    command: Option<Ended>,
    /// As `view_screen` answers
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyObject>")]
    view: Option<View>,
}

impl Tool for WaitFor {
    const NAME: &'static str = "wait_for";
    const TITLE: &'static str = "Wait for the program";
    const DESCRIPTION: &'static str = "Wait until any given condition holds, the program ends, \
        or time runs out. Never satisfied by the echo of an entered line.";
    const HINTS: Hints = Hints::READS;
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let several = arguments.session_ids.is_some();
        let ids = match (arguments.session_id, arguments.session_ids) {
            (Some(id), None) => vec![id],
            (None, Some(ids)) if (1..=MAX_AT_ONCE).contains(&ids.len()) => ids,
            _ => {
                return Err(ToolError::invalid(
                    format!("one session_id, or 1 to {MAX_AT_ONCE} session_ids, is needed"),
                    "list_sessions has the ids.",
                ));
            }
        };
        let condition: Condition = serde_json::from_value(arguments.condition.0.into())
            .map_err(|error| ToolError::invalid(error.to_string(), ""))?;
        let wait = condition.into_wait()?;
        let timeout = wait.timeout.unwrap_or_default();
        let sessions: Vec<ScreenHandle> =
            ids.iter().map(|id| context.session(id)).collect::<Result<_, _>>()?;
        let mut waiting = Vec::new();
        for session in sessions.iter().cloned() {
            check_prompt(&session, &wait).await?;
            let running = match wait.prompt || wait.exit {
                true => Running::of(context, &session).await?,
                false => None,
            };
            let look = arguments.view.look(context.told.seen(session.id()));
            // In a shell, the end of the program is that of its command.
            let command = running.as_ref().filter(|_| wait.exit).map(Running::command);
            let wait = Wait { look, command, ..wait.clone() };
            let context = context.quiet();
            waiting.push(Box::pin(async move {
                let waited = context.wait(&session, wait).await;
                (session, running, waited)
            }));
        }
        // A session that has ended can no longer meet the condition; the others still may.
        let first = async {
            let mut waiting = waiting;
            loop {
                let (done, _, others) = select_all(waiting).await;
                let is_over = match &done.2 {
                    Ok((waited, _)) => waited.fired.is_none() && waited.state != State::Running,
                    Err(_) => true,
                };
                if others.is_empty() || !is_over {
                    return (done, is_over);
                }
                waiting = others;
            }
        };
        // The progress that is reported is the first session's.
        let first = context.watching(&sessions[0], timeout, first).await?;
        let ((session, running, waited), is_over) = first;
        let (waited, cut_short) = waited?;
        let mut outcome = Outcome::of(&waited, cut_short).with_person(context, session.id()).await;
        if is_over && sessions.len() > 1 {
            outcome.note = Some("all sessions have ended".to_owned());
        }
        let view = View::after(&waited, &session, arguments.view)?;
        let is_end = matches!(waited.fired, Some(Fired::Prompt | Fired::Exit));
        let command = match running.filter(|_| is_end) {
            Some(running) => running.ended(context, Some(&waited), view.as_ref()).await?,
            None => None,
        };
        // The output has what a diff would show, without prompts.
        let view = view.filter(|_| command.is_none() || arguments.view != ViewAfter::Diff);
        context.note_view(&session, view.as_ref());
        let session_id = several.then(|| session.id().to_string());
        let mut facts: Vec<String> = session_id.iter().map(|id| format!("session {id}")).collect();
        facts.extend(outcome.words());
        let text = match (&command, &view) {
            (Some(command), None) => command.text(facts),
            (Some(command), Some(view)) => {
                command.lines() + &view.text_with([facts, command.words()].concat())
            }
            (None, view) => outcome.text(facts, view.as_ref()),
        };
        Ok(Reply { text, answer: Answer { outcome, session_id, command, view } })
    }
}
