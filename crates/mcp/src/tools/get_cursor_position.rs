//! `get_cursor_position`.

use schemars::JsonSchema;
use serde::Serialize;

use super::OnlySession;
use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct GetCursorPosition;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    row: u16,
    col: u16,
    visible: bool,
    /// `block`, `underline` or `bar`.
    shape: &'static str,
}

impl Tool for GetCursorPosition {
    const NAME: &'static str = "get_cursor_position";
    const TITLE: &'static str = "Get the cursor position";
    const DESCRIPTION: &'static str = "Row and column of the cursor, from 0.";
    const HINTS: Hints = Hints::READS;
    type Arguments = OnlySession;
    type Answer = Answer;

    async fn call(arguments: OnlySession, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let cursor = context.session(&arguments.session_id)?.screen().await?.screen.cursor;
        let hidden = if cursor.visible { "" } else { ", hidden" };
        let shape = cursor.shape.name();
        Ok(Reply {
            text: format!("row {}, col {}, {shape}{hidden}", cursor.row, cursor.col),
            answer: Answer { row: cursor.row, col: cursor.col, visible: cursor.visible, shape },
        })
    }
}
