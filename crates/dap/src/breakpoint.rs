//! Breakpoints: what the user wants, kept across runs, and what adapters made of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::DebugError;

/// Breakpoints that may be set at once.
const MAX_BREAKPOINTS: usize = 1000;

/// Bytes of a source file.
const MAX_SOURCE: u64 = 64 * 1024 * 1024;

/// A breakpoint as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakpoint {
    /// The source file, absolute.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: u64,
    /// Stop only when this expression is true.
    pub condition: Option<String>,
    /// Stop only at some hits: a number or what the adapter understands.
    pub hit_condition: Option<String>,
    /// Do not stop but write this, with expressions in braces.
    pub log_message: Option<String>,
}

impl Breakpoint {
    /// A plain one.
    pub fn new(path: impl Into<PathBuf>, line: u64) -> Self {
        let path = path.into();
        Self { path, line, condition: None, hit_condition: None, log_message: None }
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
}

/// What one adapter said of a breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The adapter's number for it.
    pub(crate) id: Option<i64>,
    pub(crate) verified: bool,
    pub(crate) line: Option<u64>,
    pub(crate) message: Option<String>,
}

impl Placed {
    /// Why it was not even sent.
    pub(crate) fn refused(message: String) -> Self {
        Self { id: None, verified: false, line: None, message: Some(message) }
    }
}

/// Every breakpoint, by file and line.
#[derive(Debug, Default)]
pub(crate) struct BreakpointStore {
    /// The key is the file with its links resolved, so that a file has one list.
    files: BTreeMap<PathBuf, BTreeMap<u64, Breakpoint>>,
    /// Why conditions could not be evaluated.
    failures: BTreeMap<String, String>,
}

impl BreakpointStore {
    /// Adds or replaces a breakpoint; returns the file's key.
    pub(crate) fn set(&mut self, mut breakpoint: Breakpoint) -> Result<PathBuf, DebugError> {
        breakpoint.path = lexically_absolute(&breakpoint.path)?;
        let key = check(&breakpoint)?;
        let count: usize = self.files.values().map(BTreeMap::len).sum();
        if count >= MAX_BREAKPOINTS {
            let message = format!("{MAX_BREAKPOINTS} breakpoints are set, which is the limit");
            return Err(DebugError::InvalidParams(message));
        }
        if let Some(condition) = &breakpoint.condition {
            self.failures.remove(condition);
        }
        self.files.entry(key.clone()).or_default().insert(breakpoint.line, breakpoint);
        Ok(key)
    }

    /// Removes one; false when there is none.
    pub(crate) fn remove(&mut self, key: &Path, line: u64) -> bool {
        let Some(file) = self.files.get_mut(key) else { return false };
        file.remove(&line).is_some()
    }

    /// Removes a file's; returns how many.
    pub(crate) fn clear(&mut self, key: &Path) -> usize {
        self.files.get_mut(key).map_or(0, |file| std::mem::take(file).len())
    }

    /// The files that have or had breakpoints.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.files.keys().cloned().collect()
    }

    /// The breakpoints of a file, by line.
    pub(crate) fn of_file(&self, key: &Path) -> Vec<Breakpoint> {
        self.files.get(key).map_or_else(Vec::new, |file| file.values().cloned().collect())
    }

    /// Every condition of a breakpoint.
    pub(crate) fn conditions(&self) -> Vec<String> {
        let all = self.files.values().flat_map(BTreeMap::values);
        all.filter_map(|breakpoint| breakpoint.condition.clone()).collect()
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

    /// Forgets files without breakpoints, once adapters know.
    pub(crate) fn tidy(&mut self) {
        self.files.retain(|_, file| !file.is_empty());
    }
}

/// The name under which a file's breakpoints are kept.
pub(crate) fn file_key(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn lexically_absolute(path: &Path) -> Result<PathBuf, DebugError> {
    if path.is_absolute() {
        return Ok(path.components().collect());
    }
    let reason = "not an absolute path".to_owned();
    Err(DebugError::InvalidPath { path: path.to_owned(), reason })
}

fn check(breakpoint: &Breakpoint) -> Result<PathBuf, DebugError> {
    let path = &breakpoint.path;
    let meta = path.metadata().map_err(|_| DebugError::FileNotFound(path.clone()))?;
    if !meta.is_file() {
        let reason = "not a file".to_owned();
        return Err(DebugError::InvalidPath { path: path.clone(), reason });
    }
    if meta.len() > MAX_SOURCE {
        let reason = format!("larger than {MAX_SOURCE} bytes");
        return Err(DebugError::InvalidPath { path: path.clone(), reason });
    }
    let content = std::fs::read(path).map_err(|error| DebugError::InvalidPath {
        path: path.clone(),
        reason: error.to_string(),
    })?;
    let ended = content.last().is_none_or(|last| *last == b'\n');
    let lines = content.split(|byte| *byte == b'\n').count() as u64 - u64::from(ended);
    if breakpoint.line == 0 || breakpoint.line > lines {
        let (path, line) = (path.clone(), breakpoint.line);
        return Err(DebugError::InvalidLine { path, line, lines });
    }
    Ok(file_key(path))
}
