//! Where systems differ about files: who may use one, which one it is, and how its path is written.
//!
//! `unix` has permissions, inodes and paths of any bytes. `windows` has none of them: what lies in the user's profile
//! is the user's by the folder it is in, and that is where the callers put what is private.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(not(unix))]
use windows as system;

pub use system::{
    FileStamp, close_folder, grants_others, is_executable, is_own, keep_owner, make_private_file,
    make_private_folder, open_private_file, path_from_bytes, path_to_bytes, real_path,
};

/// Makes a folder and those above it that are missing; those that exist keep their permissions.
pub fn make_private_folders(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_private_folders(parent)?;
    }
    match make_private_folder(path) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

/// Writes a new private file, which takes the place of an old one whole.
pub fn replace_private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    // One of a process that died while it wrote.
    let _ = fs::remove_file(&new);
    make_private_file(&new)?.write_all(bytes)?;
    fs::rename(new, path)
}
