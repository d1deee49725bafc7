//! Edits of files: all read and checked first, then written, each file in one step.
//!
//! A [`Plan`] is made of what a server wants changed. Whatever is wrong with it (a file outside the
//! workspace, a line that is not there, edits that overlap, a kind of change that is not made here)
//! is found before anything is written. [`Plan::commit`] writes every new text beside its file and
//! only then puts one after the other in place; when one cannot be, those before it are put back.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use termbridge_pty::{keep_owner, make_private_file, real_path};

use super::protocol::{TextEdit, WorkspaceEdit};
use super::text::{Encoding, Text};
use super::uri;
use crate::CodeError;

/// Bytes of a file that is read or written.
pub(crate) const MAX_FILE: u64 = 8 * 1024 * 1024;
/// Files that one edit may change.
const MAX_FILES: usize = 2000;

/// What changes, by file.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    files: BTreeMap<PathBuf, FileEdit>,
    /// Files and folders that get another name, in this order, after the texts.
    moves: Vec<(PathBuf, PathBuf)>,
}

#[derive(Debug)]
struct FileEdit {
    original: String,
    new: String,
    edits: usize,
}

/// The texts of files as a server was told them.
pub(crate) type Known = HashMap<PathBuf, Arc<Text>>;

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangedFile {
    /// Where it is now.
    pub(crate) path: PathBuf,
    pub(crate) edits: usize,
}

impl Plan {
    /// One file with another text.
    pub(crate) fn of_file(path: PathBuf, original: String, new: String) -> Self {
        let file = FileEdit { original, new, edits: 1 };
        Self { files: BTreeMap::from([(path, file)]), moves: Vec::new() }
    }

    /// What a server wants changed. `known` is what the server was told.
    pub(crate) fn of_server(
        edit: WorkspaceEdit,
        workspace: &Path,
        encoding: Encoding,
        known: &Known,
    ) -> Result<Self, CodeError> {
        let mut plan = Self::default();
        if let Some(changes) = edit.document_changes {
            for change in changes {
                plan.add_change(change, workspace, encoding, known)?;
            }
            return Ok(plan);
        }
        for (uri, edits) in edit.changes.unwrap_or_default() {
            plan.add_edits(&uri, edits, workspace, encoding, known)?;
        }
        Ok(plan)
    }

    fn add_change(
        &mut self,
        mut change: Value,
        workspace: &Path,
        encoding: Encoding,
        known: &Known,
    ) -> Result<(), CodeError> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match change["kind"].as_str() {
            None => {
                let edits = serde_json::from_value(change["edits"].take())
                    .map_err(|error| refused(format!("an edit cannot be read: {error}")))?;
                let uri = text(&change["textDocument"]["uri"]);
                self.add_edits(&uri, edits, workspace, encoding, known)
            }
            Some("rename") => {
                let from = inside(&text(&change["oldUri"]), workspace)?;
                let to = inside(&text(&change["newUri"]), workspace)?;
                if to.symlink_metadata().is_ok() {
                    return Err(refused(format!("{} is there already", to.display())));
                }
                if self.moves.len() >= MAX_FILES {
                    return Err(refused(format!("more than {MAX_FILES} files would move")));
                }
                self.moves.push((from, to));
                Ok(())
            }
            Some(other) => Err(refused(format!(
                "it would {other} {}, and a rename only edits and moves files",
                text(&change["uri"])
            ))),
        }
    }

    fn add_edits(
        &mut self,
        uri: &str,
        edits: Vec<TextEdit>,
        workspace: &Path,
        encoding: Encoding,
        known: &Known,
    ) -> Result<(), CodeError> {
        if edits.is_empty() {
            return Ok(());
        }
        let moved = uri::to_path(uri).and_then(|path| self.before_moves(&path));
        let path = match moved {
            Some(path) => path,
            None => inside(uri, workspace)?,
        };
        if self.files.contains_key(&path) {
            return Err(refused(format!("{} would be edited twice", path.display())));
        }
        if self.files.len() >= MAX_FILES {
            return Err(refused(format!("more than {MAX_FILES} files would change")));
        }
        let original = read(&path)?;
        if known.get(&path).is_some_and(|known| known.as_str() != original) {
            return Err(refused(format!("{} changed meanwhile", path.display())));
        }
        let count = edits.len();
        let new = apply(&original, edits, encoding)
            .map_err(|reason| refused(format!("{}: {reason}", path.display())))?;
        if new.len() as u64 > MAX_FILE {
            return Err(refused(format!("{} would be too large", path.display())));
        }
        self.files.insert(path, FileEdit { original, new, edits: count });
        Ok(())
    }

    /// Where a file is now that an earlier change of the plan moves here.
    fn before_moves(&self, path: &Path) -> Option<PathBuf> {
        self.moves.iter().rev().find_map(|(from, to)| match path.strip_prefix(to) {
            Ok(rest) if rest.as_os_str().is_empty() => Some(from.clone()),
            Ok(rest) => Some(from.join(rest)),
            Err(_) => None,
        })
    }

    /// Writes it, all or nothing.
    pub(crate) fn commit(self) -> Result<Vec<ChangedFile>, CodeError> {
        let mut staged = Vec::new();
        for (path, file) in &self.files {
            match Staged::new(path, &file.new, Some(&file.original)) {
                Ok(stage) => staged.push(stage),
                // What was staged is removed when it is dropped.
                Err(reason) => return Err(unwritten(path, &reason)),
            }
        }
        self.put_in_place(staged)
    }

    fn put_in_place(self, staged: Vec<Staged>) -> Result<Vec<ChangedFile>, CodeError> {
        let mut written: Vec<PathBuf> = Vec::new();
        for stage in staged {
            let path = stage.path.clone();
            if let Err(error) = stage.put() {
                return Err(self.undo(&written, 0, unwritten(&path, &error.to_string())));
            }
            written.push(path);
        }
        for (done, (from, to)) in self.moves.iter().enumerate() {
            if let Err(error) = fs::rename(from, to) {
                let error = unwritten(from, &error.to_string());
                return Err(self.undo(&written, done, error));
            }
        }
        let mut changed: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for (path, file) in &self.files {
            changed.insert(self.after_moves(path), file.edits);
        }
        for (_, to) in &self.moves {
            changed.entry(to.clone()).or_insert(0);
        }
        Ok(changed.into_iter().map(|(path, edits)| ChangedFile { path, edits }).collect())
    }

    fn after_moves(&self, path: &Path) -> PathBuf {
        self.moves.iter().fold(path.to_owned(), |path, (from, to)| match path.strip_prefix(from) {
            Ok(rest) if rest.as_os_str().is_empty() => to.clone(),
            Ok(rest) => to.join(rest),
            Err(_) => path,
        })
    }

    /// Puts back what was done, and returns the error with what could not be.
    fn undo(&self, written: &[PathBuf], moved: usize, error: CodeError) -> CodeError {
        let mut left: Vec<String> = Vec::new();
        for (from, to) in self.moves[..moved].iter().rev() {
            if fs::rename(to, from).is_err() {
                left.push(to.display().to_string());
            }
        }
        for path in written {
            let Some(file) = self.files.get(path) else { continue };
            let stage = Staged::new(path, &file.original, None);
            if stage.and_then(|stage| stage.put().map_err(|error| error.to_string())).is_err() {
                left.push(path.display().to_string());
            }
        }
        match left.is_empty() {
            true => error,
            false => CodeError::Internal(format!(
                "{error}; these were changed and could not be put back: {}",
                left.join(", ")
            )),
        }
    }
}

/// A new text beside its file. Dropping it removes it.
struct Staged {
    path: PathBuf,
    temporary: PathBuf,
}

impl Staged {
    fn new(path: &Path, text: &str, expected: Option<&str>) -> Result<Self, String> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let meta = fs::metadata(path).map_err(|error| error.to_string())?;
        if meta.permissions().readonly() {
            return Err("it is read-only".to_owned());
        }
        if let Some(expected) = expected
            && termbridge_foreign_files::read(path, MAX_FILE).map_err(|error| error.to_string())?
                != expected.as_bytes()
        {
            return Err("it changed meanwhile".to_owned());
        }
        let name = path.file_name().ok_or("it has no name")?.to_string_lossy();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // Shortened, as a name has at most 255 bytes.
        let name: String = name.chars().take(40).collect();
        let temporary = format!(".{name}.{}-{number}.tmp", std::process::id());
        let temporary = path.with_file_name(temporary);
        let staged = Self { path: path.to_owned(), temporary };
        let write = || {
            // Nobody reads it before it has the permissions of the file.
            let mut file = make_private_file(&staged.temporary)?;
            file.write_all(text.as_bytes())?;
            keep_owner(&file, &meta)?;
            file.set_permissions(meta.permissions())?;
            file.sync_all()
        };
        write().map_err(|error: std::io::Error| error.to_string())?;
        Ok(staged)
    }

    fn put(&self) -> std::io::Result<()> {
        fs::rename(&self.temporary, &self.path)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Once it is in place there is none.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// The text of a file that is small enough and a text.
pub(crate) fn read(path: &Path) -> Result<String, CodeError> {
    termbridge_foreign_files::read_to_string(path, MAX_FILE).map_err(|error| match error.kind() {
        ErrorKind::NotFound => CodeError::FileNotFound(path.to_owned()),
        ErrorKind::InvalidInput | ErrorKind::FileTooLarge => {
            CodeError::InvalidParams(format!("{} is {error}", path.display()))
        }
        ErrorKind::InvalidData => {
            CodeError::InvalidParams(format!("{} is not UTF-8", path.display()))
        }
        _ => CodeError::Internal(format!("{} cannot be read: {error}", path.display())),
    })
}

/// The path that an address names, if it is inside the workspace also when links are followed.
fn inside(uri: &str, workspace: &Path) -> Result<PathBuf, CodeError> {
    let path = uri::to_path(uri).ok_or_else(|| refused(format!("{uri:?} names no file")))?;
    let real = match real_path(&path) {
        Ok(real) => Some(real),
        // The new name of a file: its folder must be there.
        Err(_) => path
            .parent()
            .and_then(|parent| real_path(parent).ok())
            .and_then(|parent| Some(parent.join(path.file_name()?))),
    };
    match real {
        Some(real) if real.starts_with(workspace) => Ok(real),
        Some(_) => Err(refused(format!("{} is outside the workspace", path.display()))),
        None => Err(refused(format!("{} is not there", path.display()))),
    }
}

/// A text with edits, which must not overlap.
fn apply(original: &str, edits: Vec<TextEdit>, encoding: Encoding) -> Result<String, String> {
    let text = Text::new(original.to_owned());
    let mut spans = Vec::with_capacity(edits.len());
    for edit in edits {
        let span = text.span(edit.range, encoding).ok_or_else(|| {
            let (line, lines) = (edit.range.start.line + 1, text.line_count());
            format!("an edit from line {line} is not within its {lines} lines")
        })?;
        spans.push((span, edit.new_text));
    }
    // Stable: insertions at one place stay in their order.
    spans.sort_by_key(|(span, _)| (span.start, span.end));
    let mut new = String::with_capacity(original.len());
    let mut done = 0;
    for (span, replacement) in spans {
        if span.start < done {
            return Err(format!("edits overlap at line {}", text.line_of(span.start) + 1));
        }
        new.push_str(&original[done..span.start]);
        new.push_str(&replacement);
        done = span.end;
    }
    new.push_str(&original[done..]);
    Ok(new)
}

fn refused(reason: String) -> CodeError {
    CodeError::Internal(format!(
        "the language server's edit was refused and nothing changed: {reason}"
    ))
}

fn unwritten(path: &Path, reason: &str) -> CodeError {
    CodeError::Internal(format!("nothing changed: {} cannot be written: {reason}", path.display()))
}

#[cfg(test)]
#[cfg(unix)]
#[path = "edit_tests.rs"]
mod tests;
