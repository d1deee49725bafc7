//! Breakpoints: what the user wants, kept across runs, and what adapters made of it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::DebugError;

/// Breakpoints that may be set at once.
const MAX_BREAKPOINTS: usize = 1000;

/// Bytes of a function's name or of an expression.
const MAX_NAME: usize = 4096;

/// Bytes of a source file.
const MAX_SOURCE: u64 = 64 * 1024 * 1024;

/// Where a breakpoint is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BreakpointPlace {
    /// A line of a source file.
    Line {
        /// The file, absolute.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// The start of a function.
    Function {
        /// Its name, as the language's debugger writes it: `add`, `main.add`, `app::add`.
        name: String,
    },
    /// A place in memory; of the session in which it was set, and gone with it.
    Data {
        /// What is there, in the frame where it was set.
        expression: String,
        /// What stops the program.
        access: DataAccess,
    },
}

impl std::fmt::Display for BreakpointPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line { path, line } => {
                let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
                write!(f, "at {name}:{line}")
            }
            Self::Function { name } => write!(f, "on function {name}"),
            Self::Data { expression, access } => write!(f, "on {} of {expression}", access.name()),
        }
    }
}

/// What is done with data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataAccess {
    /// It is written.
    #[default]
    Write,
    /// It is read.
    Read,
    /// Either.
    ReadWrite,
}

impl DataAccess {
    /// The specification's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::ReadWrite => "readWrite",
        }
    }
}

/// Breakpoints that are sent together: the adapter replaces those that it has of the group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BreakpointGroup {
    File(PathBuf),
    Functions,
    Data,
}

impl BreakpointPlace {
    /// A line of a file.
    pub fn line(path: impl Into<PathBuf>, line: u64) -> Self {
        Self::Line { path: path.into(), line }
    }

    /// A function.
    pub fn function(name: &str) -> Self {
        Self::Function { name: name.to_owned() }
    }

    /// What an expression stands for, in the frame of the latest stop.
    pub fn data(expression: &str, access: DataAccess) -> Self {
        Self::Data { expression: expression.to_owned(), access }
    }

    pub(crate) fn group(&self) -> BreakpointGroup {
        match self {
            Self::Line { path, .. } => BreakpointGroup::File(path.clone()),
            Self::Function { .. } => BreakpointGroup::Functions,
            Self::Data { .. } => BreakpointGroup::Data,
        }
    }

    /// The name under which it is kept: a file has one, whatever links lead to it.
    pub(crate) fn key(&self) -> Self {
        match self {
            Self::Line { path, line } => Self::Line { path: file_key(path), line: *line },
            other => other.clone(),
        }
    }

    /// The name under which a breakpoint at a line is kept.
    pub(crate) fn key_of(path: &str, line: u64) -> Self {
        Self::line(path, line).key()
    }
}

/// A breakpoint as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakpoint {
    /// Where it is.
    pub place: BreakpointPlace,
    /// Stop only when this expression is true.
    pub condition: Option<String>,
    /// Stop only at some hits: a number or what the adapter understands.
    pub hit_condition: Option<String>,
    /// Do not stop but write this, with expressions in braces.
    pub log_message: Option<String>,
}

impl Breakpoint {
    /// A plain one at a line.
    pub fn new(path: impl Into<PathBuf>, line: u64) -> Self {
        Self::at(BreakpointPlace::line(path, line))
    }

    /// A plain one.
    pub fn at(place: BreakpointPlace) -> Self {
        Self { place, condition: None, hit_condition: None, log_message: None }
    }

    /// Stops only when an expression is true.
    pub fn condition(mut self, condition: &str) -> Self {
        self.condition = Some(condition.to_owned());
        self
    }

    /// Stops only at some hits.
    pub fn hit_condition(mut self, condition: &str) -> Self {
        self.hit_condition = Some(condition.to_owned());
        self
    }

    /// Writes instead of stopping.
    pub fn log_message(mut self, message: &str) -> Self {
        self.log_message = Some(message.to_owned());
        self
    }
}

/// What has become of a breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BreakpointState {
    /// The adapter has placed it.
    Verified,
    /// The adapter has placed it on another line.
    Moved {
        /// That line.
        line: u64,
    },
    /// It is not placed: nothing runs, or its code is not loaded, or the adapter refused it.
    Pending,
}

/// A breakpoint and its true state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakpointInfo {
    /// What was asked for.
    pub breakpoint: Breakpoint,
    /// What has become of it.
    pub state: BreakpointState,
    /// Why, in the adapter's words.
    pub message: Option<String>,
    /// The line where a function's is, where the adapter says it.
    pub location: Option<(String, u64)>,
}

/// What one adapter said of a breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The adapter's number for it.
    pub(crate) id: Option<i64>,
    pub(crate) verified: bool,
    pub(crate) path: Option<String>,
    pub(crate) line: Option<u64>,
    pub(crate) message: Option<String>,
}

impl Placed {
    /// Why it was not even sent.
    pub(crate) fn refused(message: String) -> Self {
        Self { id: None, verified: false, path: None, line: None, message: Some(message) }
    }
}

/// Every breakpoint, by its place.
#[derive(Debug, Default)]
pub(crate) struct BreakpointStore {
    /// By [`BreakpointPlace::key`].
    set: BTreeMap<BreakpointPlace, Breakpoint>,
    /// Why conditions could not be evaluated.
    failures: BTreeMap<String, String>,
}

impl BreakpointStore {
    /// Adds or replaces a breakpoint that passed [`check`]; returns its key.
    pub(crate) fn set(&mut self, breakpoint: Breakpoint) -> Result<BreakpointPlace, DebugError> {
        let key = breakpoint.place.key();
        if self.set.len() >= MAX_BREAKPOINTS && !self.set.contains_key(&key) {
            let message = format!("{MAX_BREAKPOINTS} breakpoints are set, which is the limit");
            return Err(DebugError::InvalidParams(message));
        }
        if let Some(condition) = &breakpoint.condition {
            self.failures.remove(condition);
        }
        self.set.insert(key.clone(), breakpoint);
        Ok(key)
    }

    /// Removes one; false when there is none.
    pub(crate) fn remove(&mut self, key: &BreakpointPlace) -> bool {
        self.set.remove(key).is_some()
    }

    /// Removes a group's; returns how many.
    pub(crate) fn clear(&mut self, group: &BreakpointGroup) -> usize {
        let before = self.set.len();
        self.set.retain(|place, _| place.group() != *group);
        before - self.set.len()
    }

    /// The groups that have breakpoints.
    pub(crate) fn groups(&self) -> BTreeSet<BreakpointGroup> {
        self.set.keys().map(BreakpointPlace::group).collect()
    }

    /// The breakpoints of a group, by their keys.
    pub(crate) fn of_group(&self, group: &BreakpointGroup) -> Vec<(BreakpointPlace, Breakpoint)> {
        let of_group = self.set.iter().filter(|(key, _)| key.group() == *group);
        of_group.map(|(key, breakpoint)| (key.clone(), breakpoint.clone())).collect()
    }

    /// All breakpoints, by their keys.
    pub(crate) fn all(&self) -> BTreeMap<BreakpointPlace, Breakpoint> {
        self.set.clone()
    }

    /// A breakpoint.
    pub(crate) fn get(&self, key: &BreakpointPlace) -> Option<&Breakpoint> {
        self.set.get(key)
    }

    /// Every condition, by the key of its breakpoint.
    pub(crate) fn conditions(&self) -> Vec<(BreakpointPlace, String)> {
        let all = self.set.iter();
        all.filter_map(|(key, breakpoint)| Some((key.clone(), breakpoint.condition.clone()?)))
            .collect()
    }

    /// A condition could not be evaluated.
    pub(crate) fn note_failure(&mut self, condition: &str, reason: &str) {
        if self.failures.len() < MAX_BREAKPOINTS {
            self.failures.insert(condition.to_owned(), reason.to_owned());
        }
    }

    /// Why a condition could not be evaluated, if that was tried.
    pub(crate) fn failure(&self, condition: &str) -> Option<&str> {
        self.failures.get(condition).map(String::as_str)
    }
}

/// The name under which a file's breakpoints are kept.
pub(crate) fn file_key(path: &Path) -> PathBuf {
    termbridge_pty::real_path(path).unwrap_or_else(|_| path.to_owned())
}

fn lexically_absolute(path: &Path) -> Result<PathBuf, DebugError> {
    if path.is_absolute() {
        return Ok(path.components().collect());
    }
    let reason = "not an absolute path".to_owned();
    Err(DebugError::InvalidPath { path: path.to_owned(), reason })
}

/// Refuses an impossible breakpoint; makes the path of a file plain. Blocks for the file.
pub(crate) fn check(breakpoint: &mut Breakpoint) -> Result<(), DebugError> {
    match &mut breakpoint.place {
        BreakpointPlace::Line { path, line } => {
            *path = lexically_absolute(path)?;
            check_line(path, *line)
        }
        BreakpointPlace::Function { name: text }
        | BreakpointPlace::Data { expression: text, .. } => {
            *text = text.trim().to_owned();
            if text.is_empty() || text.len() > MAX_NAME || text.contains(char::is_control) {
                let message = format!("{text:?} is no name of a function or variable");
                return Err(DebugError::InvalidParams(message));
            }
            if breakpoint.log_message.is_some() {
                let message = "a log message needs a line: give `path` and `line` or `text`";
                return Err(DebugError::InvalidParams(message.to_owned()));
            }
            Ok(())
        }
    }
}

/// Whether a file has a line. Blocks for the file.
pub fn check_line(path: &Path, line: u64) -> Result<(), DebugError> {
    let invalid = |reason| DebugError::InvalidPath { path: path.to_owned(), reason };
    let content = match termbridge_foreign_files::read(path, MAX_SOURCE) {
        Ok(content) => content,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(DebugError::FileNotFound(path.to_owned()));
        }
        Err(error) => return Err(invalid(error.to_string())),
    };
    let ended = content.last().is_none_or(|last| *last == b'\n');
    let lines = content.split(|byte| *byte == b'\n').count() as u64 - u64::from(ended);
    if line == 0 || line > lines {
        return Err(DebugError::InvalidLine { path: path.to_owned(), line, lines });
    }
    Ok(())
}
