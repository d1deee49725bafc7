//! `stop_app`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_session::Signal;

use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct StopApp;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    session_id: String,
    #[serde(default = "default_signal")]
    signal: String,
    /// Then KILL
    #[serde(default = "default_grace")]
    #[schemars(range(max = 60_000))]
    grace_ms: u64,
}

fn default_signal() -> String {
    "TERM".into()
}

fn default_grace() -> u64 {
    2000
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    /// It had ended before.
    already_ended: bool,
    /// Processes that outlasted the grace.
    killed: u32,
    /// Processes that left the terminal and go on until the server ends.
    detached: Vec<Process>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Process {
    pid: i32,
    name: String,
}

impl Tool for StopApp {
    const NAME: &'static str = "stop_app";
    const TITLE: &'static str = "Stop the program";
    const DESCRIPTION: &'static str = "End a session's program and every process of its \
        terminal: signal, grace, then KILL. Its last screen stays readable for a while.";
    const HINTS: Hints =
        Hints { read_only: false, destructive: true, idempotent: true, open_world: false };
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let session = context.session(&arguments.session_id)?;
        let signal: Signal = arguments.signal.parse().map_err(|_| {
            ToolError::invalid(
                format!("argument `signal` is {:?}", arguments.signal),
                "It takes a signal's name, such as TERM, INT, HUP, KILL.",
            )
        })?;
        let stopped = session.stop(signal, Duration::from_millis(arguments.grace_ms)).await?;
        let mut text = format!("ended: {}", stopped.ended);
        if stopped.already {
            text = format!("had ended before: {}", stopped.ended);
        }
        if stopped.killed > 0 {
            text.push_str(&format!("; {} killed after the grace", stopped.killed));
        }
        let detached: Vec<Process> = stopped
            .detached
            .into_iter()
            .map(|process| Process { pid: process.pid, name: process.name })
            .collect();
        for process in &detached {
            text.push_str(&format!(
                "; {} ({}) left the terminal and keeps running",
                process.name, process.pid
            ));
        }
        Ok(Reply {
            text,
            answer: Answer {
                success: true,
                exit_code: stopped.ended.exit_code(),
                signal: stopped.ended.signal(),
                already_ended: stopped.already,
                killed: stopped.killed,
                detached,
            },
        })
    }
}
