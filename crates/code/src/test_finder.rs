//! The test under a line, and how to run it alone under the debugger.
//!
//! The file is parsed (tree-sitter), the innermost test that holds the line is taken, and a
//! configuration is made that runs this test and no other. What has to be built before the debugger
//! can start it (Rust) is built here; the others are built or read by their debugger.
//!
//! What is deliberately absent: running anything of the tests themselves, and runners that are
//! not named in [`Runner`].

mod go;
mod javascript;
mod parse;
mod python;
mod rust;

use std::path::{Path, PathBuf};
use std::time::Duration;

use termbridge_dap::{Configuration, Environment};

use crate::error::CodeError;
use crate::tool::Tools;

/// Bytes of a file of tests.
const MAX_SOURCE: u64 = 8 * 1024 * 1024;
/// Tests that are named when there is none at the line.
const MAX_NAMED: usize = 20;

/// What runs a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Runner {
    /// pytest.
    Pytest,
    /// Python's own unittest.
    Unittest,
    /// The harness of `cargo test`.
    CargoTest,
    /// `go test`.
    GoTest,
    /// Node's own test runner.
    NodeTest,
    /// vitest.
    Vitest,
}

impl Runner {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
            Self::CargoTest => "cargo test",
            Self::GoTest => "go test",
            Self::NodeTest => "node:test",
            Self::Vitest => "vitest",
        }
    }
}

/// A test, and how to run it alone under the debugger.
#[derive(Debug, Clone, PartialEq)]
pub struct TestRun {
    /// What runs it.
    pub runner: Runner,
    /// Its name as the runner says it.
    pub name: String,
    /// The line where it starts.
    pub line: u64,
    /// What the debugger starts.
    pub configuration: Configuration,
}

/// The test that holds a line of a file. The line counts from 1; both paths are absolute.
pub async fn test_at(
    file: &Path,
    line: u64,
    workspace: &Path,
    environment: &Environment,
    timeout: Duration,
) -> Result<TestRun, CodeError> {
    let tools = Tools::new(environment, timeout);
    let source = Source::read(file, line, workspace)?;
    let extension = file.extension().and_then(|extension| extension.to_str());
    match extension.unwrap_or_default() {
        "py" | "pyw" => python::test_at(&source, &tools).await,
        "rs" => rust::test_at(&source, &tools).await,
        "go" => go::test_at(&source),
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => {
            javascript::test_at(&source, &tools).await
        }
        _ => Err(CodeError::DiscoveryFailed(format!(
            "no test runner is known for {}; known are those of Python, Rust, Go, JavaScript and \
             TypeScript",
            file.display()
        ))),
    }
}

/// A file of tests and the line asked for.
struct Source<'a> {
    file: &'a Path,
    line: u64,
    workspace: &'a Path,
    text: String,
}

impl<'a> Source<'a> {
    fn read(file: &'a Path, line: u64, workspace: &'a Path) -> Result<Self, CodeError> {
        let meta = file.metadata().ok().filter(std::fs::Metadata::is_file);
        let meta = meta.ok_or_else(|| CodeError::FileNotFound(file.to_owned()))?;
        if meta.len() > MAX_SOURCE {
            let message = format!("{} is larger than {MAX_SOURCE} bytes", file.display());
            return Err(CodeError::DiscoveryFailed(message));
        }
        let bytes = std::fs::read(file).map_err(|error| {
            CodeError::DiscoveryFailed(format!("{} cannot be read: {error}", file.display()))
        })?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines = text.lines().count() as u64;
        if line == 0 || line > lines {
            return Err(CodeError::InvalidLine { path: file.to_owned(), line, lines });
        }
        Ok(Self { file, line, workspace, text })
    }

    /// The folder that the file is in.
    fn folder(&self) -> &'a Path {
        self.file.parent().unwrap_or(self.workspace)
    }

    /// The workspace when the file is in it, else the file's folder.
    fn project(&self) -> PathBuf {
        let inside = self.file.starts_with(self.workspace);
        if inside { self.workspace } else { self.folder() }.to_owned()
    }

    /// The innermost test that holds the line.
    fn choose<T>(&self, found: Vec<Found<T>>) -> Result<Found<T>, CodeError> {
        let file = self.file.file_name().unwrap_or_default().to_string_lossy();
        let holds = |test: &&Found<T>| (test.first..=test.last).contains(&self.line);
        let innermost = found.iter().filter(holds).map(|test| test.last - test.first).min();
        let Some(lines) = innermost else {
            return Err(CodeError::NoTestAtCursor(no_test(&file, self.line, &found)));
        };
        let chosen = found.into_iter().find(|test| holds(&test) && test.last - test.first == lines);
        chosen.ok_or_else(|| CodeError::Internal("a test was lost".to_owned()))
    }
}

/// A test in a file, and what its language needs to run it.
#[derive(Debug, PartialEq)]
struct Found<T> {
    name: String,
    /// The lines that belong to it, decorators and attributes included.
    first: u64,
    last: u64,
    how: T,
}

fn no_test<T>(file: &str, line: u64, found: &[Found<T>]) -> String {
    if found.is_empty() {
        return format!("{file} has no test that is known as one");
    }
    let named = found.iter().take(MAX_NAMED);
    let named = named.map(|test| format!("{} ({}-{})", test.name, test.first, test.last));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match found.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("no test at line {line} of {file}; its tests and their lines: {named}{more}")
}
