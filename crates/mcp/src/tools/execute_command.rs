//! `execute_command`: run a shell command; its output, its exit code.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_bridge::Execute;
use termbridge_session::SessionId;
use tokio::task::JoinSet;

use super::command::{Patience, Run, default_timeout, run, timeout};
use crate::bound::DEFAULT_MAX_BYTES;
use crate::error::{Code, ToolError};
use crate::schema::AnyObject;
use crate::tool::{Context, Hints, Reply, Tool};

/// Sessions that one call may use.
pub(super) const MAX_AT_ONCE: usize = 100;

pub(crate) struct ExecuteCommand;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    command: String,
    /// For this command; a named session stays there
    cwd: Option<String>,
    /// 0: return at once; it keeps running
    #[schemars(with = "u64", default = "default_timeout", range(max = 86_400_000))]
    timeout_ms: Option<u64>,
    /// Default: your current one; if busy, another becomes it
    session_id: Option<String>,
    /// The same command in several
    session_ids: Option<Vec<String>>,
    /// For this command
    env: Option<BTreeMap<String, String>>,
    /// Use or create the session of this name
    name: Option<String>,
    /// Of a new session, such as zsh
    shell: Option<String>,
    /// Who you are, if agents share the server
    #[serde(rename = "agent_id")]
    _agent_id: Option<String>,
    /// Or vscode
    target: Option<String>,
    #[serde(default = "default_max_bytes")]
    #[schemars(range(min = 256, max = 1_048_576))]
    max_bytes: usize,
}

pub(super) fn default_max_bytes() -> usize {
    DEFAULT_MAX_BYTES
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    #[serde(flatten)]
    run: Option<Run>,
    /// With `session_ids`: one each.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<EachRun>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EachRun {
    session_id: String,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyObject>")]
    result: Option<Run>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Tool for ExecuteCommand {
    const NAME: &'static str = "execute_command";
    const TITLE: &'static str = "Run a shell command";
    const DESCRIPTION: &'static str = "Run a command in a persistent shell (cd and export stay). \
        Returns its output alone, its exit code, and the cwd when it changed. On time-out it runs on: read it with \
        get_terminal_output, answer needs_input and interactive with send_keys.";
    const HINTS: Hints = Hints::ACTS;
    type Arguments = Arguments;
    type Answer = Answer;

    fn is_failure(answer: &Answer) -> bool {
        answer.has_failed()
    }

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let cwd = arguments.cwd.as_deref().map(Path::new);
        let patience = match arguments.timeout_ms {
            Some(0) => Patience::None,
            asked => Patience::UpTo(timeout(context, asked, cwd)),
        };
        let request = Execute {
            command: arguments.command,
            session: arguments.session_id.as_deref().map(SessionId::from_text),
            cwd: arguments.cwd.map(Into::into),
            env: arguments.env,
            name: arguments.name,
            shell: arguments.shell,
            target: arguments.target,
            ..Execute::default()
        };
        match arguments.session_ids {
            None => {
                let run = run(context, request, patience, arguments.max_bytes).await?;
                let text = run.text();
                Ok(Reply { text, answer: Answer { run: Some(run), results: None } })
            }
            Some(ids) if request.session.is_none() && (1..=MAX_AT_ONCE).contains(&ids.len()) => {
                let most = arguments.max_bytes / ids.len();
                let results = in_each(context, &request, ids, patience, most.max(256)).await?;
                let text = results.iter().map(EachRun::text).collect::<Vec<_>>().join("\n\n");
                Ok(Reply { text, answer: Answer { run: None, results: Some(results) } })
            }
            Some(_) => Err(ToolError::invalid(
                "`session_ids` does not fit",
                format!("It takes 1 to {MAX_AT_ONCE} sessions, and no session_id beside it."),
            )),
        }
    }
}

impl Answer {
    fn has_failed(&self) -> bool {
        self.results.as_ref().is_some_and(|results| results.iter().all(|each| !each.ok))
    }
}

/// Runs the command in all sessions at once; the first that was cancelled is the error.
async fn in_each(
    context: &Context,
    request: &Execute,
    ids: Vec<String>,
    patience: Patience,
    most: usize,
) -> Result<Vec<EachRun>, ToolError> {
    let mut running = JoinSet::new();
    for (index, id) in ids.iter().enumerate() {
        // One progress report is enough for all.
        let context = if index == 0 { context.clone() } else { context.quiet() };
        // One that has ended must not keep the room while others run.
        let context = Context { room: None, ..context };
        let request = Execute { session: Some(SessionId::from_text(id)), ..request.clone() };
        running.spawn(async move { (index, run(&context, request, patience, most).await) });
    }
    let mut results: Vec<Option<EachRun>> = ids.iter().map(|_| None).collect();
    while let Some(joined) = running.join_next().await {
        let (index, result) = joined.map_err(|error| {
            ToolError::new(
                Code::InternalError,
                format!("a command's task failed: {error}"),
                "",
                &[],
            )
        })?;
        let session_id = ids[index].clone();
        results[index] = Some(match result {
            Ok(run) => EachRun { session_id, ok: true, result: Some(run), error: None },
            Err(error) => {
                EachRun { session_id, ok: false, result: None, error: Some(error.text()) }
            }
        });
    }
    Ok(results.into_iter().flatten().collect())
}

impl EachRun {
    fn text(&self) -> String {
        let what = self.result.as_ref().map(Run::text);
        let what = what.or_else(|| self.error.clone()).unwrap_or_default();
        format!("== {}\n{what}", self.session_id)
    }
}
