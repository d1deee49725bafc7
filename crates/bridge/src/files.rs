//! Files for reading: what lies in the directories that the policy allows.
//!
//! Without allowed directories there are none: a policy that lets programs start anywhere does not mean that every file
//! is shown. A path is followed to where it leads, and only that counts; what was opened is compared with what is
//! there, so that a link that changes in between leads nowhere. Only regular files are opened: a pipe or a device would
//! wait or never end.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use termbridge_foreign_files::{folder_of, off_worker};
use termbridge_policy::Decision;

use crate::caller::Caller;
use crate::error::BridgeError;
use crate::hub::{Bridge, Shared};
use crate::scopes::Scope;

/// Bytes of a file that is read.
pub const MAX_FILE: u64 = 1024 * 1024;
/// Entries of a directory that are looked at.
pub const MAX_DIRECTORY: usize = 10_000;

/// What a directory holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Where it is.
    pub path: PathBuf,
    /// It is a directory.
    pub is_directory: bool,
    /// Bytes of a file.
    pub size: u64,
}

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContents {
    /// A file's bytes.
    File(Vec<u8>),
    /// A directory's entries by name.
    Directory {
        /// Those that may be read.
        entries: Vec<FileEntry>,
        /// There are more than [`MAX_DIRECTORY`].
        is_cut: bool,
    },
}

impl Bridge {
    /// Whether a caller may read files at all.
    pub fn has_files(&self, caller: &Caller) -> bool {
        caller.may(Scope::Read) && !self.shared.guard.allowed_directories().is_empty()
    }

    /// The directories from which a caller begins to look: its workspace where that is allowed, or else all that are.
    pub async fn file_roots(&self, caller: &Caller) -> Vec<PathBuf> {
        if !self.has_files(caller) {
            return Vec::new();
        }
        let all = || self.shared.guard.allowed_directories().to_vec();
        let Some(workspace) = caller.workspace().map(Path::to_owned) else { return all() };
        let shared = Arc::clone(&self.shared);
        let look = move || shared.may_read(&workspace).then_some(workspace);
        match off_worker(caller.workspace().unwrap_or(Path::new("")), look).await {
            Ok(Some(workspace)) => vec![workspace],
            _ => all(),
        }
    }

    /// What a file or directory holds; `None` where there is nothing that the caller may read.
    pub async fn read_file(
        &self,
        caller: &Caller,
        path: &Path,
    ) -> Result<Option<FileContents>, BridgeError> {
        if !self.has_files(caller) || !path.is_absolute() {
            return Ok(None);
        }
        let (shared, path) = (Arc::clone(&self.shared), path.to_owned());
        match off_worker(folder_of(&path), move || shared.read(&path)).await? {
            Ok(contents) => Ok(Some(contents)),
            Err(Unread::Hidden) => Ok(None),
            Err(Unread::TooLarge(size)) => Err(BridgeError::FileTooLarge { size }),
            Err(Unread::Failed(error)) => {
                Err(BridgeError::Invalid(format!("the file cannot be read: {error}")))
            }
        }
    }
}

/// Why a file is not read.
enum Unread {
    /// It is not there, or not to be seen, or nothing that can be read.
    Hidden,
    TooLarge(u64),
    Failed(io::Error),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Hidden,
            _ => Self::Failed(error),
        }
    }
}

impl Shared {
    fn may_read(&self, path: &Path) -> bool {
        matches!(self.guard.path(path), Decision::Allow { .. })
    }

    /// Where a path leads, if that is allowed.
    fn real_path(&self, path: &Path) -> Result<PathBuf, Unread> {
        // Before anything is looked at: what is not allowed is neither there nor missing.
        if !self.may_read(path) {
            return Err(Unread::Hidden);
        }
        let real = termbridge_session::files::real_path(path)?;
        if self.may_read(&real) { Ok(real) } else { Err(Unread::Hidden) }
    }

    fn read(&self, path: &Path) -> Result<FileContents, Unread> {
        let real = self.real_path(path)?;
        let expected = real.symlink_metadata()?;
        if expected.is_dir() {
            return self.entries(path, &real);
        }
        if !expected.is_file() {
            return Err(Unread::Hidden);
        }
        let file = termbridge_foreign_files::open(&real)?;
        let opened = file.metadata()?;
        // It is what still lies where it was allowed, and no link took its place.
        if !is_at(&file, &self.real_path(path)?)? {
            return Err(Unread::Hidden);
        }
        if opened.len() > MAX_FILE {
            return Err(Unread::TooLarge(opened.len()));
        }
        let mut bytes = Vec::new();
        // Files of /proc have no size, and others may grow.
        file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
        match bytes.len() as u64 {
            size if size > MAX_FILE => Err(Unread::TooLarge(size)),
            _ => Ok(FileContents::File(bytes)),
        }
    }

    /// The entries of a directory under the path that it was asked for by, without those that lead elsewhere.
    fn entries(&self, path: &Path, real: &Path) -> Result<FileContents, Unread> {
        let mut entries = Vec::new();
        let mut all = real.read_dir()?;
        for entry in all.by_ref().take(MAX_DIRECTORY) {
            let entry = entry?;
            let (file, kind) = (entry.path(), entry.file_type()?);
            if kind.is_symlink() && self.real_path(&file).is_err() {
                continue;
            }
            let Ok(meta) = file.metadata() else { continue };
            if meta.is_file() || meta.is_dir() {
                let path = path.join(entry.file_name());
                entries.push(FileEntry { path, is_directory: meta.is_dir(), size: meta.len() });
            }
        }
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(FileContents::Directory { entries, is_cut: all.next().is_some() })
    }
}

/// Whether an open file is the one that lies at a path without links.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (opened, there) = (file.metadata()?, path.symlink_metadata()?);
    Ok((opened.dev(), opened.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use same_file::Handle;
    Ok(Handle::from_file(file.try_clone()?)? == Handle::from_path(path)?)
}
