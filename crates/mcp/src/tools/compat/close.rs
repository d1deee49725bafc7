//! `close`: the end of a session.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_session::Signal;

use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

/// Time for the program to end by itself.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) struct Close;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Arguments {
    session_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    success: bool,
}

impl Tool for Close {
    const NAME: &'static str = "close";
    const TITLE: &'static str = "Close a session";
    const DESCRIPTION: &'static str = "Close a terminal session and end its programs.";
    const HINTS: Hints =
        Hints { read_only: false, destructive: true, idempotent: true, open_world: false };
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let session = context.session(&arguments.session_id)?;
        session.stop(Signal::TERM, GRACE).await?;
        let text = format!("Session closed: {}", arguments.session_id);
        Ok(Reply { text, answer: Answer { success: true } })
    }
}
