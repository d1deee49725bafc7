//! The start of a server: its process, and what both sides can do.

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, PoisonError};

use serde_json::{Value, json};
use termbridge_dap::{CommandLine, Environment};
use termbridge_pty::{PrivateFolder, RuntimeFolder};
use tokio::time::Instant;

use super::process::{Process, RunningProcess, take};
use super::{Deadline, Server, failure};
use crate::CodeError;
use crate::symbols::client::{Client, RequestError};
use crate::symbols::language::{Candidate, Language, chosen_encoding};
use crate::symbols::scan::Scan;
use crate::symbols::uri;

/// An attempt to start a server.
pub(super) struct Start<'a> {
    pub(super) language: Language,
    pub(super) root: &'a Path,
    pub(super) environment: &'a Environment,
    pub(super) candidate: &'a Candidate,
    pub(super) process: &'a Process,
}

impl Start<'_> {
    /// The server, or why this one does not work.
    pub(super) async fn until(
        self,
        deadline: Deadline,
    ) -> Result<Result<Server, String>, CodeError> {
        let (language, root) = (self.language, self.root.to_owned());
        let look = tokio::task::spawn_blocking(move || Scan::of(&root, language)).await;
        let scan = look.map_err(|error| CodeError::Internal(error.to_string()))?;
        let temporary = temporary_folder();
        let command = self.command(temporary.as_ref());
        let shown = self.candidate.program.display().to_string();
        self.environment.may_run(&command).await.map_err(CodeError::Refused)?;
        let mut tree = match command.spawn(Stdio::piped()) {
            Ok(tree) => tree,
            Err(error) => return Ok(Err(format!("{shown} cannot be started: {error}"))),
        };
        let (Some(stdin), Some(stdout), Some(stderr)) = tree.pipes() else {
            return Err(CodeError::Internal(format!("{shown} has no pipes")));
        };
        let client = Client::start(stdout, stdin, stderr);
        let running = RunningProcess::new(tree, client.clone(), temporary);
        *self.process.lock().unwrap_or_else(PoisonError::into_inner) = Some(running);
        let answer = client.request("initialize", self.parameters(), deadline.at).await;
        let capabilities = match answer {
            Ok(mut answer) => answer["capabilities"].take(),
            Err(RequestError::Timeout) => {
                drop(take(self.process));
                return Err(deadline.missed(format!("{shown} did not start")));
            }
            Err(RequestError::Closed(reason)) => return Ok(Err(failure(&shown, &reason, &client))),
            Err(RequestError::Failed { message, .. }) => {
                return Ok(Err(format!("{shown}: {message}")));
            }
        };
        let Some(encoding) = chosen_encoding(&capabilities) else {
            return Ok(Err(format!("{shown} counts characters in an unknown way")));
        };
        client.notify("initialized", json!({})).await;
        let name = self.candidate.program.file_name().unwrap_or_default();
        Ok(Ok(Server {
            language,
            root: self.root.to_owned(),
            program: self.candidate.program.clone(),
            name: name.to_string_lossy().into_owned(),
            client,
            process: Arc::clone(self.process),
            encoding,
            capabilities,
            documents: HashMap::new(),
            clock: 0,
            scan,
            opened_first: false,
            started: Instant::now(),
        }))
    }

    fn command(&self, temporary: Option<&PrivateFolder>) -> CommandLine {
        let mut folders = self.language.own_folders(self.environment, self.root);
        let mut environment = self.environment.clone();
        if self.language == Language::Python
            && let Some(venv) = folders.first().and_then(|bin| bin.parent())
        {
            // The server finds the project's packages by it.
            environment = environment.with("VIRTUAL_ENV", venv);
        }
        let path = self.environment.get("PATH").unwrap_or_default();
        folders.extend(std::env::split_paths(path));
        // A folder with a colon in its name cannot be on the path.
        if let Ok(path) = std::env::join_paths(folders) {
            environment = environment.with("PATH", path);
        }
        if let Some(folder) = temporary {
            environment = environment.with("TMPDIR", folder.path());
        }
        let program = &self.candidate.program;
        let mut command = CommandLine::new(program).args(self.candidate.args).cwd(self.root);
        environment.apply(&mut command);
        command
    }

    fn parameters(&self) -> Value {
        let root = uri::of_path(self.root);
        json!({
            "processId": std::process::id(),
            "clientInfo": {"name": "termbridge"},
            "rootUri": root,
            "workspaceFolders": [{"uri": root, "name": "workspace"}],
            "initializationOptions": self.language.options(),
            "capabilities": {
                "general": {"positionEncodings": ["utf-8", "utf-16"]},
                "window": {"workDoneProgress": true},
                "workspace": {
                    "configuration": true,
                    "workspaceFolders": true,
                    "symbol": {},
                    "workspaceEdit": {"documentChanges": true, "resourceOperations": ["rename"]},
                },
                "textDocument": {
                    "synchronization": {},
                    "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
                    "references": {},
                    "definition": {},
                    "implementation": {"linkSupport": true},
                    "callHierarchy": {},
                    "rename": {},
                },
                "experimental": {"serverStatusNotification": true},
            },
        })
    }
}

/// A folder for a server's temporary files, which pyright for one leaves behind. Without one the server
/// uses the system's.
fn temporary_folder() -> Option<PrivateFolder> {
    let folder = RuntimeFolder::create().and_then(|runtime| Arc::new(runtime).private_folder());
    folder.inspect_err(|error| tracing::warn!(%error, "no temporary folder for a server")).ok()
}
