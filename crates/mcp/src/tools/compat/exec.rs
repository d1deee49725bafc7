//! `exec`: a command in a session.

use schemars::JsonSchema;
use serde::Deserialize;
use termbridge_bridge::Execute;
use termbridge_session::SessionId;

use super::super::command::default_timeout;
use super::{Ran, ran, yes};
use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct Exec;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Arguments {
    session_id: String,
    command: String,
    #[schemars(with = "u64", default = "default_timeout", range(min = 1000, max = 300_000))]
    timeout_ms: Option<u64>,
    #[serde(default = "yes")]
    wait_for_completion: bool,
}

impl Tool for Exec {
    const NAME: &'static str = "exec";
    const TITLE: &'static str = "Run a command in a session";
    const DESCRIPTION: &'static str = "Run a command in an existing terminal session.";
    const HINTS: Hints = Hints::ACTS;
    type Arguments = Arguments;
    type Answer = Ran;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Ran>, ToolError> {
        let session = Some(SessionId::from_text(&arguments.session_id));
        let request = Execute { command: arguments.command, session, ..Execute::default() };
        ran(context, request, arguments.timeout_ms, arguments.wait_for_completion).await
    }

    fn is_failure(answer: &Ran) -> bool {
        answer.is_failure()
    }
}
