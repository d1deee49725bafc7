//! `get_terminal_output`: what a session printed; the end of it, or only what is new.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_bridge::{From, OutputRequest};
use termbridge_session::SessionId;

use super::condition::pattern;
use super::execute_command::default_max_bytes;
use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct GetTerminalOutput;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    #[serde(default = "default_lines")]
    #[schemars(range(min = 1, max = 100_000))]
    lines: u64,
    session_id: Option<String>,
    /// `cursor` of an earlier reply: only what is new
    since: Option<String>,
    /// First line, from 0; negative: from the end
    offset: Option<i64>,
    /// Only this command's output
    command_id: Option<u64>,
    /// Only lines matching this regex, numbered
    grep: Option<String>,
    agent_id: Option<String>,
    #[serde(default = "default_max_bytes")]
    #[schemars(range(min = 256, max = 1_048_576))]
    max_bytes: usize,
}

fn default_lines() -> u64 {
    100
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    output: String,
    /// Pass it back as `since`.
    cursor: String,
    /// Lines behind the last one shown.
    remaining: u64,
    first_line: u64,
    total_lines: u64,
    running: bool,
    session_id: String,
}

impl Tool for GetTerminalOutput {
    const NAME: &'static str = "get_terminal_output";
    const TITLE: &'static str = "Read a session's output";
    const DESCRIPTION: &'static str = "What a session printed: the last lines, or with `since` \
        only what is new.";
    const HINTS: Hints = Hints::READS;
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let grep = arguments.grep.as_deref().map(|text| pattern("grep", text));
        let from = match (arguments.since, arguments.offset) {
            (Some(cursor), None) => From::Cursor(cursor),
            (None, Some(offset)) if offset < 0 => From::Last(offset.unsigned_abs()),
            (None, Some(offset)) => From::Line(offset as u64),
            (None, None) => From::Tail,
            (Some(_), Some(_)) => {
                return Err(ToolError::invalid("`since` and `offset` exclude each other", ""));
            }
        };
        let id = arguments.session_id.as_deref().map(SessionId::from_text);
        let agent = arguments.agent_id.as_deref();
        let session = context.bridge.named_or_current(id.as_ref(), agent).await?;
        let session_id = session.id.to_string();
        let request = OutputRequest {
            session,
            command: arguments.command_id,
            from,
            lines: arguments.lines,
            grep: grep.transpose()?,
            most: arguments.max_bytes,
        };
        let page = context.bridge.read_output(&request).await?;
        let mut text = page.text.clone();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let shown = match (&request.grep, page.total_lines) {
            (Some(_), total) => format!("of {total} lines"),
            (None, total) if page.first_line + page.remaining >= total => {
                format!("no new lines of {total}")
            }
            (None, total) => {
                format!("lines {}-{} of {total}", page.first_line + 1, total - page.remaining)
            }
        };
        let running = if page.running { " | running" } else { "" };
        let more = match page.remaining {
            0 => String::new(),
            remaining => format!(" | {remaining} more"),
        };
        text.push_str(&format!("[{shown}{more}{running} | cursor {} | {session_id}]", page.cursor));
        Ok(Reply {
            text,
            answer: Answer {
                output: page.text,
                cursor: page.cursor,
                remaining: page.remaining,
                first_line: page.first_line,
                total_lines: page.total_lines,
                running: page.running,
                session_id,
            },
        })
    }
}
