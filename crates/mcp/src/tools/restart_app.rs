//! `restart_app`.

use schemars::JsonSchema;
use serde::Serialize;

use super::OnlySession;
use super::launch_app::{first_paint, is_painting};
use crate::error::ToolError;
use crate::schema::AnyObject;
use crate::tool::{Context, Hints, Reply, Tool};
use crate::view::{View, ViewAfter};

pub(crate) struct RestartApp;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    success: bool,
    session_id: String,
    /// As `view_screen` answers
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyObject>")]
    view: Option<View>,
}

impl Tool for RestartApp {
    const NAME: &'static str = "restart_app";
    const TITLE: &'static str = "Restart the program";
    const DESCRIPTION: &'static str =
        "End the session's program, run it again on a clean screen and see its first screen.";
    const HINTS: Hints = Hints::ACTS;
    type Arguments = OnlySession;
    type Answer = Answer;

    async fn call(arguments: OnlySession, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let session = context.session(&arguments.session_id)?;
        session.restart().await?;
        let session_id = session.id().to_string();
        context.note_done(|| format!("session {session_id} was restarted"));
        let waited = first_paint(&session, context, ViewAfter::Plain).await?;
        let view = View::after(&waited, &session, ViewAfter::Plain)?;
        context.note_view(&session, view.as_ref());
        let mut facts = vec![format!("restarted {session_id}")];
        if is_painting(&waited) {
            facts.push(context.still_at_work(session.id()));
        }
        let text = match &view {
            Some(view) => view.text_with(facts),
            None => facts.join(" | "),
        };
        Ok(Reply { text, answer: Answer { success: true, session_id, view } })
    }
}
