//! Running a project's tools within one time, and what a project's folders say.

use std::path::{Path, PathBuf};
use std::time::Duration;

use termbridge_dap::{CaptureError, Captured, CommandLine, Environment};
use tokio::time::Instant;

use crate::error::CodeError;

/// Bytes of output that are kept of a tool.
const MAX_OUTPUT: usize = 32 * 1024 * 1024;
/// Bytes of a tool's words that are told.
const TOLD: usize = 4 * 1024;
/// Bytes of a project's file that are looked at.
const MAX_FILE: u64 = 1024 * 1024;

/// Runs tools in the user's environment, all of them within one time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tools<'a> {
    pub(crate) environment: &'a Environment,
    /// The Python that the user configured.
    pub(crate) python: Option<&'a Path>,
    timeout: Duration,
    deadline: Instant,
}

impl<'a> Tools<'a> {
    pub(crate) fn new(environment: &'a Environment, timeout: Duration) -> Self {
        Self { environment, python: None, timeout, deadline: Instant::now() + timeout }
    }

    pub(crate) fn with_python(self, python: Option<&'a Path>) -> Self {
        Self { python, ..self }
    }

    /// Runs a tool to its end, however it ends.
    pub(crate) async fn run(&self, command: CommandLine) -> Result<Captured, CodeError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let captured = command.capture(self.environment, left, MAX_OUTPUT).await;
        captured.map_err(|error| match error {
            CaptureError::Timeout { command, .. } => {
                CodeError::Timeout { what: format!("{command} was not done"), after: self.timeout }
            }
            CaptureError::Refused(reason) => CodeError::Refused(reason),
            other => CodeError::DiscoveryFailed(other.to_string()),
        })
    }

    /// A program on the search path, or an error with the way to get it.
    pub(crate) fn find(&self, program: &str, install: &str) -> Result<PathBuf, CodeError> {
        self.environment.find_program(program).ok_or_else(|| {
            let message =
                format!("{program} is not on the search path; install it with: {install}");
            CodeError::DiscoveryFailed(message)
        })
    }
}

/// The end of what a tool said, for people.
pub(crate) fn told(said: &str) -> String {
    let said = said.trim();
    let mut start = said.len().saturating_sub(TOLD);
    while !said.is_char_boundary(start) {
        start += 1;
    }
    let cut = if start > 0 { "…" } else { "" };
    format!("{cut}{}", &said[start..])
}

/// The folders from a file's or folder's own up to the workspace; only its own when it is outside.
pub(crate) fn folders<'a>(path: &'a Path, workspace: &'a Path) -> impl Iterator<Item = &'a Path> {
    let start = if path.is_dir() { Some(path) } else { path.parent() };
    let inside = path.starts_with(workspace);
    start
        .into_iter()
        .flat_map(Path::ancestors)
        .enumerate()
        .take_while(move |(steps, folder)| *steps == 0 || inside && folder.starts_with(workspace))
        .map(|(_, folder)| folder)
}

/// The nearest folder that has one of these files.
pub(crate) fn folder_with<'a>(
    path: &'a Path,
    workspace: &'a Path,
    names: &[&str],
) -> Option<&'a Path> {
    folders(path, workspace).find(|folder| names.iter().any(|name| folder.join(name).is_file()))
}

/// The text of a project's file, empty when it is not there or no text of usual size.
pub(crate) fn text_of(path: &Path) -> String {
    termbridge_foreign_files::read_to_string(path, MAX_FILE).unwrap_or_default()
}
