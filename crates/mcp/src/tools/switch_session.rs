//! `switch_session`.

use schemars::JsonSchema;
use serde::Deserialize;
use termbridge_session::SessionId;

use super::create_session::Answer;
use super::list_sessions::Row;
use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct SwitchSession;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    session_id: String,
    #[serde(rename = "agent_id")]
    _agent_id: Option<String>,
}

impl Tool for SwitchSession {
    const NAME: &'static str = "switch_session";
    const TITLE: &'static str = "Switch the current session";
    const DESCRIPTION: &'static str = "Make a session the one that calls without session_id use.";
    const HINTS: Hints =
        Hints { read_only: false, destructive: false, idempotent: true, open_world: false };
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let id = SessionId::from_text(&arguments.session_id);
        let info = context.bridge.switch_session(&context.caller, &id).await?;
        Ok(Answer::current(Row::of(info, &context.bridge)))
    }
}
