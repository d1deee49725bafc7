//! `read`: a session's output, by lines.

use std::sync::PoisonError;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_bridge::{OutputRequest, ReadFrom};
use termbridge_session::SessionId;

use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

/// Bytes of a reply, at most.
const MAX_BYTES: usize = 1024 * 1024;
/// Sessions whose reader is remembered; beyond that, all start from the beginning.
const MAX_CURSORS: usize = 10_000;

pub(crate) struct Read;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Arguments {
    session_id: String,
    /// 0: what is new since the last read; negative: from the end; positive: from that line
    #[serde(default)]
    offset: i64,
    #[serde(default = "default_lines")]
    #[schemars(range(min = 1, max = 5000))]
    lines: u64,
}

fn default_lines() -> u64 {
    500
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    output: String,
    remaining: u64,
    total_lines: u64,
    running: bool,
}

impl Tool for Read {
    const NAME: &'static str = "read";
    const TITLE: &'static str = "Read a session's output";
    const DESCRIPTION: &'static str = "Read output of a terminal session, page by page.";
    const HINTS: Hints =
        Hints { read_only: true, destructive: false, idempotent: false, open_world: false };
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let id = SessionId::from_text(&arguments.session_id);
        let session = context.bridge.session(&context.caller, &id).await?;
        let cursor = || context.read_cursors.lock().unwrap_or_else(PoisonError::into_inner);
        let from = match arguments.offset {
            0 => cursor()
                .get(&id)
                .map_or(ReadFrom::Line(0), |cursor| ReadFrom::Cursor(cursor.clone())),
            offset if offset < 0 => ReadFrom::Last(offset.unsigned_abs()),
            offset => ReadFrom::Line(offset as u64),
        };
        let request = OutputRequest {
            session,
            command: None,
            from,
            lines: arguments.lines,
            grep: None,
            most: MAX_BYTES,
        };
        let page = context.bridge.read_output(&request).await?;
        if arguments.offset == 0 {
            let mut cursors = cursor();
            if cursors.len() >= MAX_CURSORS {
                cursors.clear();
            }
            cursors.insert(id, page.cursor.clone());
        }
        let (first, last) = (page.first_line + 1, page.total_lines - page.remaining);
        let lines = format!("{}-{last}/{}", first.min(last), page.total_lines);
        let text = format!(
            "{}\n\n[lines: {lines} | remaining: {} | {}]",
            page.text.trim_end_matches('\n'),
            page.remaining,
            arguments.session_id
        );
        let answer = Answer {
            output: page.text,
            remaining: page.remaining,
            total_lines: page.total_lines,
            running: page.running,
        };
        Ok(Reply { text, answer })
    }
}
