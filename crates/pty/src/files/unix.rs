//! Files of a Unix system.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// What changes whenever a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    inode: u64,
    length: u64,
    mode: u32,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    /// That of a file as it was looked at.
    pub fn of(found: &Metadata) -> Self {
        Self {
            inode: found.ino(),
            length: found.len(),
            mode: found.mode(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

/// Makes a folder that was not there and that only its owner may use, whatever the umask.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)?;
    // The umask may have taken even the owner's bits; a set-group-id parent adds one.
    close_folder(path)
}

/// Lets only its owner use a folder that is there.
pub fn close_folder(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

/// Makes a file that was not there and that only its owner may use, open for writing.
pub fn make_private_file(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().write(true).create_new(true), path)
}

/// Opens a regular file for its owner alone, whatever it was before; made if it is missing. The options say what it is
/// opened for. Anything else at the path is [`io::ErrorKind::InvalidInput`], and a pipe without a reader is not waited
/// for.
pub fn open_private_file(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // Before the open, because opening changes the state of some devices.
    if let Ok(found) = fs::metadata(path) {
        check_regular(&found)?;
    }
    private(options.create(true), path)
}

fn check_regular(found: &Metadata) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

fn private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = options.mode(0o600).custom_flags(flags).open(path)?;
    // Again, because the path may lead to another file by now.
    check_regular(&file.metadata()?)?;
    // The umask may have taken even the owner's bits.
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Gives a new file the owner of the one that it replaces, where the system lets us.
pub fn keep_owner(file: &File, replaced: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (replaced.uid(), replaced.gid()) {
        // Only the administrator can; who may write a file may own its new text.
        let _ = fchown(file, Some(replaced.uid()), Some(replaced.gid()));
    }
    Ok(())
}

/// Whether a file or folder is this user's.
pub fn is_own(found: &Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw()
}

/// The mode of a file that others than its owner may use.
pub fn grants_others(found: &Metadata) -> Option<u32> {
    Some(found.mode() & 0o777).filter(|mode| mode & 0o077 != 0)
}

/// Whether a path leads to a file that can be run.
pub fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
}

/// Where a path leads, as other programs would write it.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// The bytes of a path, or of another text of the system's.
pub fn path_to_bytes(path: &OsStr) -> Vec<u8> {
    path.as_bytes().to_vec()
}

/// The path of these bytes, if there can be one.
pub fn path_from_bytes(bytes: Vec<u8>) -> Option<OsString> {
    Some(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_or_a_folder_is_not_a_private_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("it runs");
        assert!(made.success());
        for path in [pipe.as_path(), folder.path()] {
            let opened = open_private_file(OpenOptions::new().append(true), path);
            let error = opened.expect_err("not a file");
            assert_eq!(error.to_string(), "not a regular file", "{}", path.display());
        }
        let error = make_private_file(&pipe).expect_err("it is there");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    }
}
