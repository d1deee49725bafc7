//! `create`: a session.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_bridge::NewSession;

use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct Create;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Arguments {
    name: String,
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    shell: Option<String>,
    #[serde(rename = "agentId")]
    _agent_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    session_id: String,
    name: String,
    cwd: String,
}

impl Tool for Create {
    const NAME: &'static str = "create";
    const TITLE: &'static str = "Create a session";
    const DESCRIPTION: &'static str = "Create a terminal session.";
    const HINTS: Hints =
        Hints { read_only: false, destructive: false, idempotent: false, open_world: false };
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let new = NewSession {
            shell: arguments.shell.unwrap_or_default(),
            cwd: arguments.cwd.unwrap_or_default().into(),
            env: arguments.env,
            name: Some(arguments.name.clone()),
            ..NewSession::default()
        };
        let info = context.bridge.create_labelled(&context.caller, new).await?;
        let (session_id, cwd) = (info.id.to_string(), info.cwd.display().to_string());
        let text = format!("Session created: {session_id} ({}) in {cwd}", arguments.name);
        Ok(Reply { text, answer: Answer { session_id, name: arguments.name, cwd } })
    }
}
