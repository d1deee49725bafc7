//! Files and folders that only their owner may use, whatever the umask.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Makes a folder that was not there.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)?;
    // The umask may have taken even the owner's bits; a set-group-id parent adds one.
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

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
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

/// Makes a file that was not there, open for writing.
pub fn make_private_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    // The umask may have taken even the owner's bits.
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}
