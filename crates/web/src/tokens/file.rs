//! The file that holds the tokens.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use termbridge_bridge::session::files::{
    FileStamp, grants_others, make_private_file, make_private_folders, open_private_file,
};

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
pub(super) struct Stamp(Option<FileStamp>);

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
        match fs::metadata(&self.path) {
            Ok(found) => Ok(Stamp(Some(FileStamp::of(&found)))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Stamp(None)),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// The tokens; none where there is no file.
    pub(super) fn read(&self) -> Result<Vec<Token>, TokenError> {
        let file = match termbridge_foreign_files::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.failed(error)),
        };
        let found = file.metadata().map_err(|error| self.failed(error))?;
        if let Some(mode) = grants_others(&found) {
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
        make_private_folders(&self.folder)?;
        let mut options = OpenOptions::new();
        let path = self.folder.join("tokens.lock");
        let lock = open_private_file(options.write(true).truncate(false), &path)?;
        lock.lock()?;
        Ok(lock)
    }

    /// Replaces the file as a whole; the lock is ours.
    fn write(&self, content: &Content) -> io::Result<()> {
        let new = self.folder.join("tokens.new");
        // Of a process that died while it wrote.
        let _ = fs::remove_file(&new);
        let mut file = make_private_file(&new)?;
        file.write_all(&serde_json::to_vec_pretty(content)?)?;
        file.sync_all()?;
        fs::rename(&new, &self.path)
    }

    fn failed(&self, error: io::Error) -> TokenError {
        TokenError::Io { path: self.path.clone(), error }
    }
}
