//! The file that holds the tokens.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{MAX_FILE, Token, TokenError};

/// The version of the file's format.
const VERSION: u32 = 1;

#[derive(Debug)]
pub(super) struct TokenFile {
    folder: PathBuf,
    path: PathBuf,
}

/// Which file it is: changes with every change of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stamp(Option<(u64, u64, i64, i64, i64, i64, u32)>);

#[derive(Serialize, Deserialize)]
struct Content {
    version: u32,
    tokens: Vec<Token>,
}

impl TokenFile {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), path: folder.join("tokens.json") }
    }

    pub(super) fn stamp(&self) -> Result<Stamp, TokenError> {
        let found = match fs::metadata(&self.path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Stamp(None)),
            Err(error) => return Err(self.failed(error)),
        };
        let (modified, changed) =
            ((found.mtime(), found.mtime_nsec()), (found.ctime(), found.ctime_nsec()));
        Ok(Stamp(Some((
            found.ino(),
            found.len(),
            modified.0,
            modified.1,
            changed.0,
            changed.1,
            found.mode(),
        ))))
    }

    /// The tokens; none where there is no file.
    pub(super) fn read(&self) -> Result<Vec<Token>, TokenError> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.failed(error)),
        };
        let mode = file.metadata().map_err(|error| self.failed(error))?.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(TokenError::Open { path: self.path.clone(), mode });
        }
        let mut text = String::new();
        file.take(MAX_FILE).read_to_string(&mut text).map_err(|error| self.failed(error))?;
        let damaged = |why: String| TokenError::Damaged { path: self.path.clone(), why };
        let content: Content =
            serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        match content.version {
            VERSION => Ok(content.tokens),
            other => Err(damaged(format!("version {other}; this program knows {VERSION}"))),
        }
    }

    /// Changes the tokens while nobody else does.
    pub(super) fn change(
        &self,
        change: impl FnOnce(&mut Vec<Token>) -> Result<(), TokenError>,
    ) -> Result<(), TokenError> {
        let _lock = self.lock().map_err(|error| self.failed(error))?;
        let mut tokens = self.read()?;
        change(&mut tokens)?;
        self.write(&Content { version: VERSION, tokens }).map_err(|error| self.failed(error))
    }

    fn lock(&self) -> io::Result<File> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let lock = private(&self.folder.join("tokens.lock"), OpenOptions::new().create(true))?;
        lock.lock()?;
        Ok(lock)
    }

    /// Replaces the file as a whole; the lock is ours.
    fn write(&self, content: &Content) -> io::Result<()> {
        let new = self.folder.join("tokens.new");
        // Of a process that died while it wrote.
        let _ = fs::remove_file(&new);
        let mut file = private(&new, OpenOptions::new().create_new(true))?;
        file.write_all(&serde_json::to_vec_pretty(content)?)?;
        file.sync_all()?;
        fs::rename(&new, &self.path)
    }

    fn failed(&self, error: io::Error) -> TokenError {
        TokenError::Io { path: self.path.clone(), error }
    }
}

/// Opens a file of this user's alone, whatever the umask.
fn private(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.write(true).truncate(false).mode(0o600).open(path)?;
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    Ok(file)
}
