//! The toolset `compat`: a drop-in for the seven tools of vscode-terminal-mcp, with their names,
//! camelCase parameters and reply texts. Each is a thin face of ours.

mod close;
mod create;
mod exec;
mod input;
mod list;
mod read;
mod run;

pub(super) use close::Close;
pub(super) use create::Create;
pub(super) use exec::Exec;
pub(super) use input::InputText;
pub(super) use list::List;
pub(super) use read::Read;
pub(super) use run::RunCommand;

use schemars::JsonSchema;
use serde::Serialize;
use termbridge_bridge::Execute;

use super::command::{Patience, Run, run, timeout};
use crate::bound::DEFAULT_MAX_BYTES;
use crate::error::ToolError;
use crate::tool::{Context, Reply};

fn yes() -> bool {
    true
}

/// What came of a command, in the words of these tools.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ran {
    output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    duration_ms: u64,
    session_id: String,
    timed_out: bool,
    running: bool,
}

impl Ran {
    fn is_failure(&self) -> bool {
        self.exit_code.is_some_and(|code| code != 0)
    }
}

async fn ran(
    context: &Context,
    request: Execute,
    timeout_ms: Option<u64>,
    wait: bool,
) -> Result<Reply<Ran>, ToolError> {
    let timeout = timeout(context, timeout_ms, request.cwd.as_deref());
    let patience = if wait { Patience::UpTo(timeout) } else { Patience::None };
    let command = request.command.clone();
    let done: Run = run(context, request, patience, DEFAULT_MAX_BYTES).await?;
    let session = &done.session_id;
    let end = match (done.standing.state, done.standing.exit_code) {
        ("done", Some(code)) => {
            format!("exit: {code} | {}ms | {session}", done.standing.duration_ms)
        }
        ("done", None) => format!("ended | {}ms | {session}", done.standing.duration_ms),
        ("needs_input" | "interactive", _) => {
            format!("waiting for input | {}ms | {session}", done.standing.duration_ms)
        }
        ("sent", _) => format!("sent, its end is not reported | {session}"),
        _ if done.timed_out => {
            format!("timed out after {}ms, still running | {session}", timeout.as_millis())
        }
        _ => format!("running | {session}"),
    };
    let text = format!("$ {command}\n{}\n\n[{end}]", done.output.trim_end_matches('\n'));
    let answer = Ran {
        running: !matches!(done.standing.state, "done" | "sent"),
        output: done.output,
        exit_code: done.standing.exit_code,
        duration_ms: done.standing.duration_ms,
        session_id: done.session_id,
        timed_out: done.timed_out,
    };
    Ok(Reply { text, answer })
}
