//! `get_screen_size`.

use schemars::JsonSchema;
use serde::Serialize;

use super::OnlySession;
use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct GetScreenSize;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    rows: u16,
    cols: u16,
}

impl Tool for GetScreenSize {
    const NAME: &'static str = "get_screen_size";
    const TITLE: &'static str = "Get the screen size";
    const DESCRIPTION: &'static str = "Rows and columns of the terminal.";
    const HINTS: Hints = Hints::READS;
    type Arguments = OnlySession;
    type Answer = Answer;

    async fn call(arguments: OnlySession, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let size = context.session(&arguments.session_id)?.size().await?;
        Ok(Reply {
            text: format!("{} rows, {} cols", size.rows, size.cols),
            answer: Answer { rows: size.rows, cols: size.cols },
        })
    }
}
