//! The test under a line, and how to run it alone under the debugger.
//!
//! The file is parsed (tree-sitter), the innermost test that holds the line or the one of a name is taken,
//! and a configuration is made that runs this test and no other. A name that the source does not have (a
//! case of a table, a test that a macro makes) is looked up in what the runner lists. What has to be built before the debugger
//! can start it is built here (Rust), or was built by the project (C++); the others are built or read by their debugger.
//!
//! What is deliberately absent: running anything of the tests themselves, and runners that are
//! not named in [`Runner`].

mod cpp;
mod go;
mod javascript;
mod names;
mod python;
mod rust;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use termbridge_dap::{Configuration, Environment};
use termbridge_foreign_files::{folder_of, off_worker};

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
    /// jest.
    Jest,
    /// mocha.
    Mocha,
    /// `GoogleTest`.
    GoogleTest,
    /// Catch2.
    Catch2,
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
            Self::Jest => "jest",
            Self::Mocha => "mocha",
            Self::GoogleTest => "GoogleTest",
            Self::Catch2 => "Catch2",
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
    /// What the caller has to know of it: the program is older than the source.
    pub warning: Option<String>,
}

/// Which test of a file is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The innermost that holds this line, from 1.
    Line(u64),
    /// The one of this name, or whose name ends with it.
    Name(String),
}

/// A test of a file. The paths are absolute; `python` is the interpreter that the user configured, if any.
pub async fn test_at(
    file: &Path,
    place: &Place,
    workspace: &Path,
    environment: &Environment,
    python: Option<&Path>,
    timeout: Duration,
) -> Result<TestRun, CodeError> {
    let tools = Tools::new(environment, timeout).with_python(python);
    let source = Source::read(file, place, workspace).await?;
    let extension = file.extension().and_then(|extension| extension.to_str());
    match extension.unwrap_or_default() {
        "py" | "pyw" => python::test_at(&source, &tools).await,
        "rs" => rust::test_at(&source, &tools).await,
        "go" => go::test_at(&source, &tools).await,
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => {
            javascript::test_at(&source, &tools).await
        }
        "cc" | "cpp" | "cxx" | "c++" | "h" | "hh" | "hpp" | "hxx" => {
            cpp::test_at(&source, &tools).await
        }
        _ => Err(CodeError::DiscoveryFailed(format!(
            "no test runner is known for {}; known are those of Python, Rust, Go, JavaScript, \
             TypeScript and C++",
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
    async fn read(
        file: &'a Path,
        place: &'a Place,
        workspace: &'a Path,
    ) -> Result<Self, CodeError> {
        let path = file.to_owned();
        let read = move || termbridge_foreign_files::read(&path, MAX_SOURCE);
        let read = off_worker(folder_of(file), read).await;
        let bytes = read.flatten().map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::InvalidInput => {
                CodeError::FileNotFound(file.to_owned())
            }
            _ => CodeError::DiscoveryFailed(format!("{} cannot be read: {error}", file.display())),
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

    /// The name of the file, for people.
    fn file_name(&self) -> String {
        self.file.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The test that is meant; none when the source has no test of that name, which its runner may know.
    fn find<T>(&self, found: Vec<Found<T>>) -> Result<Option<Found<T>>, CodeError> {
        match self.place {
            Place::Name(name) => self.find_named(found, name),
            Place::Line(line) => match innermost(&found, *line) {
                Some(at) => Ok(found.into_iter().nth(at)),
                None => Err(self.no_test(&found)),
            },
        }
    }

    /// As [`Source::find`], by a name as the language writes it.
    fn find_named<T>(
        &self,
        found: Vec<Found<T>>,
        name: &str,
    ) -> Result<Option<Found<T>>, CodeError> {
        let meant = names::matching(found.iter().map(|test| test.name.as_str()), name);
        match meant.as_slice() {
            [] if name.trim().is_empty() => Err(self.no_test(&found)),
            [] => Ok(None),
            [at] => Ok(found.into_iter().nth(*at)),
            several => {
                let shown = several.iter().map(|at| found[*at].shown());
                Err(names::ambiguous(shown, name, &self.file_name()))
            }
        }
    }

    fn no_test<T>(&self, found: &[Found<T>]) -> CodeError {
        CodeError::NoTestAtCursor(no_test(&self.file_name(), self.place, found))
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

impl<T> Found<T> {
    fn shown(&self) -> String {
        format!("{} ({}-{})", self.name, self.first, self.last)
    }
}

/// The innermost test that holds a line.
fn innermost<T>(found: &[Found<T>], line: u64) -> Option<usize> {
    let holding = found.iter().enumerate();
    let holding = holding.filter(|(_, test)| (test.first..=test.last).contains(&line));
    holding.min_by_key(|(_, test)| test.last - test.first).map(|(at, _)| at)
}

fn no_test<T>(file: &str, place: &Place, found: &[Found<T>]) -> String {
    if found.is_empty() {
        return format!("{file} has no test that is known as one");
    }
    let named = found.iter().take(MAX_NAMED);
    let named = named.map(Found::shown).collect::<Vec<_>>().join(", ");
    let more = match found.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let place = match place {
        Place::Line(line) => format!("no test at line {line}"),
        Place::Name(name) => format!("no test is named {name:?}"),
    };
    format!("{place} of {file}; its tests and their lines: {named}{more}")
}
