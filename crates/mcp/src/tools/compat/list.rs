//! `list`: the sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_session::State;

use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct List;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Arguments {
    agent_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    sessions: Vec<Row>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    session_id: String,
    name: String,
    /// `idle` or `busy`.
    status: &'static str,
    cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
}

impl Tool for List {
    const NAME: &'static str = "list";
    const TITLE: &'static str = "List sessions";
    const DESCRIPTION: &'static str = "List terminal sessions.";
    const HINTS: Hints = Hints::READS;
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let all = context.bridge.sessions(&context.caller).await?;
        let mine = all.sessions.into_iter().filter(|info| {
            info.state == State::Running
                && (arguments.agent_id.is_none() || info.owner.agent == arguments.agent_id)
        });
        let sessions: Vec<Row> = mine
            .map(|info| Row {
                status: if info.takes_commands() { "idle" } else { "busy" },
                session_id: info.id.to_string(),
                name: info.name.unwrap_or(info.command),
                cwd: info.cwd.display().to_string(),
                agent_id: info.owner.agent,
            })
            .collect();
        let line =
            |row: &Row| format!("{} | {} | {} | {}", row.session_id, row.name, row.status, row.cwd);
        let text = match sessions.as_slice() {
            [] => "No sessions".to_owned(),
            sessions => sessions.iter().map(line).collect::<Vec<_>>().join("\n"),
        };
        Ok(Reply { text, answer: Answer { sessions } })
    }
}
