//! Files: read within a bound, replaced atomically.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Error;

/// Largest file that is read.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// How the names of unfinished files begin and end, with [`RANDOM`] characters between.
const TEMPORARY: (&str, &str) = (".termbridge-", ".tmp");
const RANDOM: usize = 6;
/// An unfinished file of this age is nobody's any more.
const LEFTOVER_AGE: Duration = Duration::from_hours(1);
/// Entries of a folder among which they are looked for.
const MAX_ENTRIES: usize = 10_000;

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
    match termbridge_foreign_files::read(path, MAX_FILE_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidInput => {
            Err(Error::NotAFile(path.to_owned()))
        }
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            Err(Error::TooLarge(path.to_owned()))
        }
        Err(error) => Err(Error::io("read", path)(error)),
    }
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
    remove_leftovers(folder);
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1);
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

/// Removes what a process left that was killed while it wrote.
fn remove_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.take(MAX_ENTRIES).flatten() {
        let name = entry.file_name();
        let random = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY.0));
        let random = random.and_then(|name| name.strip_suffix(TEMPORARY.1));
        let is_ours = random.is_some_and(|random| random.chars().count() == RANDOM);
        let is_old = |found: Metadata| {
            found.is_file()
                && found
                    .modified()
                    .is_ok_and(|time| time.elapsed().is_ok_and(|age| age >= LEFTOVER_AGE))
        };
        if is_ours && entry.metadata().is_ok_and(is_old) {
            let _ = fs::remove_file(entry.path());
        }
    }
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

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let old = SystemTime::now() - 2 * LEFTOVER_AGE;
        let make = |name: &str, time: SystemTime| {
            let file = File::create(folder.path().join(name)).expect("a file");
            file.set_modified(time).expect("its time");
        };
        make(".termbridge-a1B2c3.tmp", old);
        let kept = [".termbridge-a1B2c4.tmp", ".termbridge-notes.tmp", "settings.json"];
        make(kept[0], SystemTime::now());
        make(kept[1], old);
        make(kept[2], old);
        replace(&folder.path().join("settings.json"), Some(b""), b"{}", Privacy::Usual)
            .expect("replaced");
        let mut names: Vec<_> = fs::read_dir(folder.path())
            .expect("a folder")
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        names.sort();
        assert_eq!(names, kept);
    }
}
