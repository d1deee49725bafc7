//! A folder in the user's profile, which the system keeps others out of.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

use super::{FolderError, NAME, io_error};

/// The folder in the user's local application data. Not among temporary files: those of a service are everybody's.
pub(super) fn place(local_data: Option<&Path>, _temporary: &Path) -> Result<PathBuf, FolderError> {
    match local_data.filter(|folder| folder.is_absolute()) {
        Some(folder) => Ok(folder.join(NAME)),
        None => {
            let why = "LOCALAPPDATA does not name a folder: set it";
            Err(io_error(Path::new(NAME), io::Error::new(io::ErrorKind::NotFound, why)))
        }
    }
}

pub(super) fn make_private(path: &Path) -> Result<(), FolderError> {
    let made = DirBuilder::new().recursive(true).create(path);
    made.map_err(|error| io_error(path, error))?;
    check_private(path)
}

/// It is a folder, and no link to one elsewhere.
pub(super) fn check_private(path: &Path) -> Result<(), FolderError> {
    let found = fs::symlink_metadata(path).map_err(|error| io_error(path, error))?;
    if found.is_dir() { Ok(()) } else { Err(FolderError::NotAFolder { path: path.to_owned() }) }
}
