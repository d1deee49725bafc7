//! A folder of one user among those of others: by owners and modes.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use termbridge_session::files::close_folder;

use super::{FolderError, NAME, io_error};

/// Only its owner may enter it.
const FOLDER_MODE: u32 = 0o700;
/// Whether only an entry's owner may rename it, in a folder that all may write to.
const STICKY: u32 = 0o1000;
/// Others may write.
const WRITABLE: u32 = 0o022;

/// The user that this process acts as: a file that the kernel made for it belongs to that user.
pub(crate) fn own_user() -> io::Result<u32> {
    let (socket, _other) = UnixStream::pair()?;
    Ok(File::from(OwnedFd::from(socket)).metadata()?.uid())
}

/// Where the folder is to be, which nobody else can put something else in the place of.
pub(super) fn place(
    xdg_runtime_dir: Option<&Path>,
    temporary: &Path,
) -> Result<PathBuf, FolderError> {
    let user = own_user().map_err(|error| io_error(temporary, error))?;
    let path = match xdg_runtime_dir.filter(|folder| folder.is_absolute()) {
        Some(folder) if !folder.exists() => {
            return Err(FolderError::NoParent { path: folder.to_owned() });
        }
        Some(folder) => folder.join(NAME),
        None => temporary.join(format!("{NAME}-{user}")),
    };
    check_parent(path.parent().unwrap_or(temporary), user)?;
    Ok(path)
}

pub(super) fn make_private(path: &Path) -> Result<(), FolderError> {
    let failed = |error| io_error(path, error);
    match DirBuilder::new().mode(FOLDER_MODE).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(error)),
    }
    if mode_of_private(path)? != FOLDER_MODE {
        // A umask took from its owner what is the owner's.
        close_folder(path).map_err(failed)?;
    }
    Ok(())
}

pub(super) fn check_private(path: &Path) -> Result<(), FolderError> {
    mode_of_private(path).map(drop)
}

/// The mode of a folder that is this user's alone.
fn mode_of_private(path: &Path) -> Result<u32, FolderError> {
    let failed = |error| io_error(path, error);
    let user = own_user().map_err(failed)?;
    let found = fs::symlink_metadata(path).map_err(failed)?;
    if !found.is_dir() {
        return Err(FolderError::NotAFolder { path: path.to_owned() });
    }
    if found.uid() != user {
        return Err(FolderError::Foreign { path: path.to_owned(), owner: found.uid() });
    }
    let mode = found.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(FolderError::Open { path: path.to_owned(), mode });
    }
    Ok(mode)
}

/// Nobody else can rename what is in a folder, nor it, nor a folder above it.
fn check_parent(folder: &Path, user: u32) -> Result<(), FolderError> {
    let whole = folder.canonicalize().map_err(|error| io_error(folder, error))?;
    for place in whole.ancestors() {
        let found = fs::metadata(place).map_err(|error| io_error(place, error))?;
        let is_trusted = [0, user].contains(&found.uid());
        let is_closed = found.mode() & WRITABLE == 0 || found.mode() & STICKY != 0;
        if !is_trusted || !is_closed {
            return Err(FolderError::UnsafeParent { path: place.to_owned() });
        }
    }
    Ok(())
}
