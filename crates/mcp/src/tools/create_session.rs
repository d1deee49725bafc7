//! `create_session`: a shell for commands.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_bridge::NewSession;

use super::list_sessions::Row;
use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct CreateSession;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    name: Option<String>,
    cwd: Option<String>,
    /// A label for the history
    project_id: Option<String>,
    /// Such as zsh
    shell: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default = "default_cols")]
    #[schemars(range(min = 2, max = 1000))]
    cols: u16,
    #[serde(default = "default_rows")]
    #[schemars(range(min = 1, max = 1000))]
    rows: u16,
    #[serde(rename = "agent_id")]
    _agent_id: Option<String>,
    /// vscode: in the editor
    target: Option<String>,
}

fn default_cols() -> u16 {
    120
}

fn default_rows() -> u16 {
    40
}

/// A session's row.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    #[serde(flatten)]
    row: Row,
}

impl Answer {
    pub(super) fn current(row: Row) -> Reply<Self> {
        let row = row.into_current();
        Reply { text: row.text(), answer: Self { row } }
    }
}

impl Tool for CreateSession {
    const NAME: &'static str = "create_session";
    const TITLE: &'static str = "Create a shell session";
    const DESCRIPTION: &'static str =
        "A new shell for execute_command; it becomes your current session.";
    const HINTS: Hints =
        Hints { read_only: false, destructive: false, idempotent: false, open_world: false };
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let new = NewSession {
            shell: arguments.shell.unwrap_or_default(),
            cwd: arguments.cwd.unwrap_or_default().into(),
            env: arguments.env,
            name: arguments.name,
            project: arguments.project_id,
            size: Some((arguments.cols, arguments.rows)),
            target: arguments.target,
            ..NewSession::default()
        };
        let info = context.bridge.create_session(&context.caller, new).await?;
        Ok(Answer::current(Row::of(info, &context.bridge)))
    }
}
