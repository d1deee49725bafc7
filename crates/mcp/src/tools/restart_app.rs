//! `restart_app`.

use schemars::JsonSchema;
use serde::Serialize;

use super::OnlySession;
use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct RestartApp;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    success: bool,
    session_id: String,
}

impl Tool for RestartApp {
    const NAME: &'static str = "restart_app";
    const TITLE: &'static str = "Restart the program";
    const DESCRIPTION: &'static str =
        "Run the same command again in the same session, on a clean screen; ends it first.";
    const HINTS: Hints = Hints::ACTS;
    type Arguments = OnlySession;
    type Answer = Answer;

    async fn call(arguments: OnlySession, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let session = context.session(&arguments.session_id)?;
        session.restart().await?;
        let session_id = session.id().to_string();
        Ok(Reply {
            text: format!("restarted {session_id}"),
            answer: Answer { success: true, session_id },
        })
    }
}
