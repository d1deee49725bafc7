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

/// Which test of a file is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The innermost that holds this line, from 1.
    Line(u64),
    /// The one of this name, or whose name ends with it.
    Name(String),
}

/// A test of a file. Both paths are absolute.
pub async fn test_at(
    file: &Path,
    place: &Place,
    workspace: &Path,
    environment: &Environment,
    timeout: Duration,
) -> Result<TestRun, CodeError> {
    let tools = Tools::new(environment, timeout);
    let source = Source::read(file, place, workspace)?;
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

/// A file of tests and the one asked for.
struct Source<'a> {
    file: &'a Path,
    place: &'a Place,
    workspace: &'a Path,
    text: String,
}

impl<'a> Source<'a> {
    fn read(file: &'a Path, place: &'a Place, workspace: &'a Path) -> Result<Self, CodeError> {
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
        match *place {
            Place::Line(line) if line == 0 || line > lines => {
                Err(CodeError::InvalidLine { path: file.to_owned(), line, lines })
            }
            _ => Ok(Self { file, place, workspace, text }),
        }
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

    /// The test that is meant.
    fn choose<T>(&self, mut found: Vec<Found<T>>) -> Result<Found<T>, CodeError> {
        let file = self.file.file_name().unwrap_or_default().to_string_lossy();
        let at = match self.place {
            Place::Line(line) => innermost(&found, *line),
            Place::Name(name) => named(&found, name),
        };
        match at {
            Some(at) => Ok(found.swap_remove(at)),
            None => Err(CodeError::NoTestAtCursor(no_test(&file, self.place, &found))),
        }
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

/// The innermost test that holds a line.
fn innermost<T>(found: &[Found<T>], line: u64) -> Option<usize> {
    let holding = found.iter().enumerate();
    let holding = holding.filter(|(_, test)| (test.first..=test.last).contains(&line));
    holding.min_by_key(|(_, test)| test.last - test.first).map(|(at, _)| at)
}

/// The only test of a name; a part of the name is enough where it begins at a word.
fn named<T>(found: &[Found<T>], name: &str) -> Option<usize> {
    let name = name.trim();
    let only = |is_it: &dyn Fn(&str) -> bool| {
        let mut all = found.iter().enumerate().filter(|(_, test)| is_it(&test.name));
        all.next().filter(|_| all.next().is_none()).map(|(at, _)| at)
    };
    let ends = |test: &str| {
        let before = test.strip_suffix(name);
        before.is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    only(&|test| test == name).or_else(|| only(&ends)).filter(|_| !name.is_empty())
}

fn no_test<T>(file: &str, place: &Place, found: &[Found<T>]) -> String {
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
    let place = match place {
        Place::Line(line) => format!("no test at line {line}"),
        Place::Name(name) => format!("no test, or more than one, is named {name:?} in"),
    };
    let of = if place.ends_with(" in") { "" } else { " of" };
    format!("{place}{of} {file}; its tests and their lines: {named}{more}")
}
