//! `servers/PID.json`: where each server of this user listens, for our own clients.
//!
//! A server keeps its record locked while it lives, so one whose lock is free is stale whatever its pid means today.
//! It is written under another name, locked, and then renamed: no record is ever half written or unlocked.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::folder::{FolderError, ServerFolder, private_file};

/// Records that are looked at.
const MAX_RECORDS: usize = 1024;
/// Longest record that is read.
const MAX_BYTES: u64 = 64 * 1024;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerRecord {
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// When it started, in seconds since 1970.
    pub started: u64,
    /// Its unix socket.
    pub socket: PathBuf,
    /// Its address for HTTP, `http://127.0.0.1:8080/mcp`.
    pub http: Option<String>,
    /// The folder that it works in.
    pub workspace: PathBuf,
}

/// A record as long as its server lives; removed with this.
#[derive(Debug)]
pub(super) struct KeptRecord {
    path: PathBuf,
    /// Holds the lock.
    _locked: File,
}

impl KeptRecord {
    pub(super) fn write(folder: &ServerFolder, record: &ServerRecord) -> Result<Self, FolderError> {
        let servers = folder.servers()?;
        let path = servers.join(format!("{}.json", record.pid));
        let new = servers.join(format!("{}.new", record.pid));
        let write = || -> io::Result<File> {
            // What a server of the same pid left under this name has no meaning.
            let _ = fs::remove_file(&new);
            let mut file = private_file(&new)?;
            file.try_lock()?;
            serde_json::to_writer(&mut file, record)?;
            file.write_all(b"\n")?;
            fs::rename(&new, &path)?;
            Ok(file)
        };
        let locked = write().map_err(|error| FolderError::Io { path: path.clone(), error })?;
        Ok(Self { path, _locked: locked })
    }
}

impl Drop for KeptRecord {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The servers that live. Removes the records of those that do not.
pub fn records(folder: &ServerFolder) -> Result<Vec<ServerRecord>, FolderError> {
    let servers = folder.servers()?;
    let entries =
        fs::read_dir(&servers).map_err(|error| FolderError::Io { path: servers, error })?;
    let mut living = Vec::new();
    for path in entries.take(MAX_RECORDS).flatten().map(|entry| entry.path()) {
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let Ok(file) = termbridge_foreign_files::open(&path) else { continue };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(&path);
            continue;
        }
        let mut text = String::new();
        let read = file.take(MAX_BYTES).read_to_string(&mut text);
        if let Some(record) = read.ok().and_then(|_| serde_json::from_str(&text).ok()) {
            living.push(record);
        }
    }
    Ok(living)
}
