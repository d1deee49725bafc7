//! Files: read within a bound, replaced atomically.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::Error;

/// Largest file that is read.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// Permissions of a file that is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Privacy {
    /// Only its owner reads it.
    Private,
    /// As the umask says.
    Usual,
}

/// The file that a path means: the target of a symbolic link, or the path itself.
pub(crate) fn target(path: &Path) -> Result<PathBuf, Error> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            fs::canonicalize(path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => Error::DanglingLink(path.to_owned()),
                _ => Error::io("follow", path)(error),
            })
        }
        Ok(_) => Ok(path.to_owned()),
        Err(error) if is_missing(&error) => Ok(path.to_owned()),
        Err(error) => Err(Error::io("read", path)(error)),
    }
}

/// Fails if links lead out of a project: its files need not be the user's own work, and what they lead to is not meant.
pub(crate) fn check_within(path: &Path, target: &Path, project: &Path) -> Result<(), Error> {
    // A folder that does not exist contains no links.
    let Ok(project) = fs::canonicalize(project) else { return Ok(()) };
    match target.ancestors().find_map(|folder| fs::canonicalize(folder).ok()) {
        Some(found) if !found.starts_with(&project) => {
            Err(Error::OutsideProject { path: path.to_owned(), found })
        }
        _ => Ok(()),
    }
}

/// The bytes of a file; `None` if there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    // Opening a pipe would wait for its other end.
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err(Error::NotAFile(path.to_owned())),
        Ok(found) if found.len() > MAX_FILE_BYTES => return Err(Error::TooLarge(path.to_owned())),
        Ok(_) => {}
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(Error::io("read", path)(error)),
    }
    let mut bytes = Vec::new();
    let opened = File::open(path).map_err(Error::io("read", path))?;
    opened.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(Error::TooLarge(path.to_owned()));
    }
    Ok(Some(bytes))
}

/// Fails if a file that is there may not be changed. Permission bits do not stop the superuser, so they are read.
pub(crate) fn check_writable(path: &Path) -> Result<(), Error> {
    match fs::metadata(path) {
        Ok(found) if found.permissions().readonly() => Err(Error::ReadOnly(path.to_owned())),
        Ok(_) => Ok(()),
        Err(error) if is_missing(&error) => Ok(()),
        Err(error) => Err(Error::io("read", path)(error)),
    }
}

/// Replaces a file whose content must still be `old`, or creates it with its folder if that is `None`.
pub(crate) fn replace(
    path: &Path,
    old: Option<&[u8]>,
    new: &[u8],
    privacy: Privacy,
) -> Result<(), Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    if old.is_none() {
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    }
    check_writable(path)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".termbridge-").suffix(".tmp");
    let created = if old.is_none() { permissions_of(privacy) } else { None };
    if let Some(permissions) = created {
        builder.permissions(permissions);
    }
    let mut temporary = builder.tempfile_in(folder).map_err(Error::io("write to", folder))?;
    temporary.write_all(new).map_err(Error::io("write to", folder))?;
    if old.is_some() {
        let found = fs::metadata(path).map_err(Error::io("read", path))?;
        keep_owner(temporary.as_file(), &found, path)?;
        let kept = temporary.as_file().set_permissions(found.permissions());
        kept.map_err(Error::io("keep the permissions of", path))?;
    }
    temporary.as_file().sync_all().map_err(Error::io("write to", folder))?;
    if read(path)?.as_deref() != old {
        return Err(Error::Changed(path.to_owned()));
    }
    let persisted = match old {
        Some(_) => temporary.persist(path),
        None => temporary.persist_noclobber(path),
    };
    persisted.map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => Error::Changed(path.to_owned()),
        _ => Error::io("replace", path)(error.error),
    })?;
    sync_folder(folder);
    Ok(())
}

/// Removes a file whose content must still be `old`.
pub(crate) fn remove(path: &Path, old: &[u8]) -> Result<(), Error> {
    check_writable(path)?;
    if read(path)?.as_deref() != Some(old) {
        return Err(Error::Changed(path.to_owned()));
    }
    fs::remove_file(path).map_err(Error::io("remove", path))?;
    sync_folder(path.parent().unwrap_or(Path::new(".")));
    Ok(())
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// So that the new name survives a crash. Where folders cannot be synced the rename is still atomic.
fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "other systems have no such bits")]
fn permissions_of(privacy: Privacy) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(match privacy {
        Privacy::Private => 0o600,
        Privacy::Usual => 0o644,
    }))
}

#[cfg(not(unix))]
fn permissions_of(_: Privacy) -> Option<Permissions> {
    None
}

#[cfg(unix)]
fn keep_owner(new: &File, old: &Metadata, path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let made = new.metadata().map_err(Error::io("read", path))?;
    if (made.uid(), made.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    fchown(new, Some(old.uid()), Some(old.gid()))
        .map_err(|source| Error::Owner { path: path.to_owned(), source })
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata, _: &Path) -> Result<(), Error> {
    Ok(())
}
