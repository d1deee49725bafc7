//! Findings of compilers and linters.
//!
//! The tools that a path's language or its project's files call for are run side by side, each as
//! the project has it, and what they say becomes one list. A tool that is not there, or that
//! fails, is named and keeps nobody else from answering. Nothing of the project is changed, what
//! compilers keep of their work aside.

mod jobs;
mod read;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use termbridge_dap::Environment;
use termbridge_foreign_files::off_worker;
use tokio::task::JoinSet;

use self::jobs::{Job, Read, jobs};
use crate::error::CodeError;
use crate::tool::{Tools, told};

/// Findings that are told.
const MAX_DIAGNOSTICS: usize = 500;
/// Bytes of one finding's message.
const MAX_MESSAGE: usize = 2 * 1024;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// It does not build, or cannot work.
    Error,
    /// It may be wrong.
    Warning,
    /// It is worth knowing.
    Information,
    /// It could be better.
    Hint,
}

/// Something that a tool found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// The file, absolute.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1.
    pub column: u64,
    /// The line where it ends, where the tool says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u64>,
    /// The column after its end, where the tool says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<u64>,
    /// How bad it is.
    pub severity: Severity,
    /// What it is.
    pub message: String,
    /// The tool's name for such findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The tool.
    pub source: Cow<'static, str>,
}

/// What became of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolStatus {
    /// It ran, and what it found is in the list.
    Ran,
    /// It is not installed.
    Missing,
    /// It could not do its work.
    Failed,
}

/// A tool that the project calls for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRun {
    /// Its name.
    pub name: &'static str,
    /// The command that was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What became of it.
    pub status: ToolStatus,
    /// Why it failed, or how to install it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// All that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Findings {
    /// The findings by file and line; the worst of them when there are too many.
    pub diagnostics: Vec<Diagnostic>,
    /// How many there are.
    pub total: usize,
    /// Whether some were left out.
    pub cut: bool,
    /// The tools, in no order that matters.
    pub tools: Vec<ToolRun>,
}

/// What the tools find in a file, a folder or, without a path, the workspace. Paths are absolute.
pub async fn collect(
    path: Option<&Path>,
    workspace: &Path,
    environment: &Environment,
    timeout: Duration,
) -> Result<Findings, CodeError> {
    let (asked, root) = (path.unwrap_or(workspace).to_owned(), workspace.to_owned());
    let (folder, variables) = (asked.clone(), environment.clone());
    let look = off_worker(folder, move || {
        let (target, root) = (real(&asked)?, real(&root)?);
        let jobs = jobs(&target, &root, &variables);
        Ok::<_, CodeError>((target, jobs))
    });
    let (target, jobs) = look.await.map_err(|error| CodeError::Internal(error.to_string()))??;
    let mut running = JoinSet::new();
    for job in jobs {
        running.spawn(perform(job, environment.clone(), timeout));
    }
    let (mut diagnostics, mut tools) = (Vec::new(), Vec::new());
    while let Some(performed) = running.join_next().await {
        let (tool, found) = performed.map_err(|error| CodeError::Internal(error.to_string()))?;
        tools.push(tool);
        diagnostics.extend(found);
    }
    tools.sort_by(|one, other| (one.name, &one.command).cmp(&(other.name, &other.command)));
    if path.is_some() {
        diagnostics.retain(|found| found.path.starts_with(&target));
    }
    let (diagnostics, total) = bounded(diagnostics);
    Ok(Findings { cut: diagnostics.len() < total, diagnostics, total, tools })
}

fn real(path: &Path) -> Result<PathBuf, CodeError> {
    termbridge_pty::real_path(path).map_err(|_| CodeError::FileNotFound(path.to_owned()))
}

async fn perform(
    job: Job,
    environment: Environment,
    timeout: Duration,
) -> (ToolRun, Vec<Diagnostic>) {
    let Job { name, command, root, read } = job;
    let command = match command {
        Ok(command) => command,
        Err(install) => {
            let message = Some(format!("install it with: {install}"));
            let (command, status) = (None, ToolStatus::Missing);
            return (ToolRun { name, command, status, message }, Vec::new());
        }
    };
    let shown = Some(command.shown());
    let tools = Tools::new(&environment, timeout);
    let found = match tools.run(command).await {
        Ok(captured) => {
            let output = String::from_utf8_lossy(&captured.stdout);
            let errors = String::from_utf8_lossy(&captured.stderr);
            let found = match read {
                Read::Lines(read) => Some(read(&output, &root)),
                Read::ErrorLines(read) => Some(read(&errors, &root)),
                Read::Document(read) => read(&output, &root),
            };
            match found {
                // A tool that finds something may say so with its exit code.
                Some(found) if captured.status.success() || !found.is_empty() => Ok(found),
                _ if captured.cut => Err("it wrote more than can be read".to_owned()),
                _ => {
                    let said = if errors.trim().is_empty() { &output } else { &errors };
                    Err(format!("{}\n{}", captured.status, told(said)))
                }
            }
        }
        Err(error) => Err(error.to_string()),
    };
    let (status, message, found) = match found {
        Ok(found) => (ToolStatus::Ran, None, found),
        Err(message) => (ToolStatus::Failed, Some(message), Vec::new()),
    };
    (ToolRun { name, command: shown, status, message }, found)
}

/// The worst of them, by file and line, and how many there are.
fn bounded(mut found: Vec<Diagnostic>) -> (Vec<Diagnostic>, usize) {
    let place = |one: &Diagnostic, other: &Diagnostic| {
        let key =
            |found: &Diagnostic| (found.line, found.column, found.severity, found.source.clone());
        one.path
            .cmp(&other.path)
            .then_with(|| key(one).cmp(&key(other)))
            .then_with(|| one.message.cmp(&other.message))
    };
    found.sort_by(place);
    // A compiler says it for each target that has the file.
    found.dedup();
    let total = found.len();
    found.sort_by_key(|found| found.severity);
    found.truncate(MAX_DIAGNOSTICS);
    found.sort_by(place);
    for diagnostic in &mut found {
        shorten(&mut diagnostic.message);
    }
    (found, total)
}

fn shorten(message: &mut String) {
    if message.len() > MAX_MESSAGE {
        let mut end = MAX_MESSAGE;
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        message.truncate(end);
        message.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str, line: u64, severity: Severity) -> Diagnostic {
        Diagnostic {
            path: path.into(),
            line,
            column: 1,
            end_line: None,
            end_column: None,
            severity,
            message: "ä".repeat(MAX_MESSAGE),
            code: None,
            source: "tool".into(),
        }
    }

    #[test]
    fn too_many_leave_out_the_least_and_stay_in_order() {
        let warnings = (1..=MAX_DIAGNOSTICS as u64).map(|line| at("a", line, Severity::Warning));
        let mut found: Vec<_> = warnings.collect();
        found.push(at("b", 2, Severity::Error));
        found.push(at("b", 1, Severity::Error));
        found.push(at("b", 1, Severity::Error));
        let (found, total) = bounded(found);
        assert_eq!((found.len(), total), (MAX_DIAGNOSTICS, MAX_DIAGNOSTICS + 2));
        let last: Vec<_> = found.iter().rev().take(2).map(|found| found.line).collect();
        assert_eq!(last, [2, 1]);
        assert!(found[0].message.len() <= MAX_MESSAGE + 3 && found[0].message.ends_with('…'));
    }
}
