//! `resize_terminal`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_session::Wait;
use termbridge_session::vt::Size;

use super::send_keys::SETTLE_LIMIT;
use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct ResizeTerminal;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    session_id: String,
    #[schemars(range(min = 2, max = 1000))]
    cols: u16,
    #[schemars(range(min = 1, max = 1000))]
    rows: u16,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    success: bool,
    rows: u16,
    cols: u16,
}

impl Tool for ResizeTerminal {
    const NAME: &'static str = "resize_terminal";
    const TITLE: &'static str = "Resize the terminal";
    const DESCRIPTION: &'static str = "Change the terminal's size; the program gets SIGWINCH.";
    const HINTS: Hints =
        Hints { read_only: false, destructive: false, idempotent: true, open_world: false };
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let session = context.session(&arguments.session_id)?;
        let size = session.resize(Size { cols: arguments.cols, rows: arguments.rows }).await?;
        // What it shows next is the program's new screen.
        let settled = Wait { settled: true, ..Wait::default() }.timeout(SETTLE_LIMIT);
        context.wait(&session, settled).await?;
        Ok(Reply {
            text: format!("{} cols, {} rows", size.cols, size.rows),
            answer: Answer { success: true, rows: size.rows, cols: size.cols },
        })
    }
}
