//! Which language servers are installed, and whether they start.

use std::path::{Path, PathBuf};
use std::time::Duration;

use termbridge_dap::Environment;
use tokio::task::JoinSet;

use super::language::Language;
use super::server::{Deadline, Process, Server, take};
use crate::CodeError;

/// The language server of a language.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerStatus {
    /// The language.
    pub language: String,
    /// The server's program, if it is installed.
    pub program: Option<PathBuf>,
    /// Why it does not start, when that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The command that installs one.
    pub install: String,
}

/// What is installed for each language, for a project in this folder. Starts nothing.
pub fn servers(environment: &Environment, workspace: &Path) -> Vec<ServerStatus> {
    let status = |language| status(language, environment, workspace);
    Language::ALL.into_iter().map(status).collect()
}

/// As [`servers`], with each started and ended again, all of them at once.
pub async fn check_servers(
    environment: &Environment,
    workspace: &Path,
    limit: Duration,
) -> Vec<ServerStatus> {
    let mut checks = JoinSet::new();
    for language in Language::ALL {
        let (environment, workspace) = (environment.clone(), workspace.to_owned());
        checks.spawn(async move {
            let mut status = status(language, &environment, &workspace);
            if status.program.is_some() {
                match start(language, &environment, &workspace, limit).await {
                    Ok(program) => status.program = Some(program),
                    Err(problem) => status.problem = Some(problem),
                }
            }
            (language, status)
        });
    }
    let mut found = checks.join_all().await;
    found.sort_by_key(|(language, _)| *language);
    found.into_iter().map(|(_, status)| status).collect()
}

fn status(language: Language, environment: &Environment, workspace: &Path) -> ServerStatus {
    let candidates = language.candidates(environment, workspace);
    ServerStatus {
        language: language.name().to_owned(),
        program: candidates.into_iter().next().map(|candidate| candidate.program),
        problem: None,
        install: language.install().to_owned(),
    }
}

/// The program that answered, or why none did.
async fn start(
    language: Language,
    environment: &Environment,
    workspace: &Path,
    limit: Duration,
) -> Result<PathBuf, String> {
    let (process, deadline) = (Process::default(), Deadline::after(limit));
    let root = language.root(workspace, workspace);
    let started = deadline
        .bound(Server::start(language, &root, environment, process.clone(), deadline))
        .await;
    if let Some(running) = take(&process) {
        running.end().await;
    }
    match started {
        Ok(server) => Ok(server.program.clone()),
        Err(CodeError::NoLanguageServer { looked, .. }) => Err(looked),
        Err(other) => Err(other.to_string()),
    }
}
