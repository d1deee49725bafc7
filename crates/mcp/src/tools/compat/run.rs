//! `run`: a command in an idle session of the same kind, or a new one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use termbridge_bridge::{Execute, Pick};

use super::super::command::default_timeout;
use super::{Ran, ran, yes};
use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct RunCommand;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Arguments {
    command: String,
    /// Use or create the session of this name
    name: Option<String>,
    cwd: Option<String>,
    env: Option<BTreeMap<String, String>>,
    shell: Option<String>,
    #[serde(rename = "agentId")]
    _agent_id: Option<String>,
    #[schemars(with = "u64", default = "default_timeout", range(min = 1000, max = 300_000))]
    timeout_ms: Option<u64>,
    #[serde(default = "yes")]
    wait_for_completion: bool,
}

impl Tool for RunCommand {
    const NAME: &'static str = "run";
    const TITLE: &'static str = "Run a command";
    const DESCRIPTION: &'static str = "Run a command in a terminal session, reusing an idle one with the same cwd, env and shell.";
    const HINTS: Hints = Hints::ACTS;
    type Arguments = Arguments;
    type Answer = Ran;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Ran>, ToolError> {
        let request = Execute {
            command: arguments.command,
            cwd: arguments.cwd.map(Into::into),
            env: arguments.env,
            name: arguments.name,
            pick: Pick::Alike,
            shell: arguments.shell,
            ..Execute::default()
        };
        ran(context, request, arguments.timeout_ms, arguments.wait_for_completion).await
    }

    fn is_failure(answer: &Ran) -> bool {
        answer.is_failure()
    }
}
