//! Files of the history and their permissions: 0600 in a folder that is made 0700.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Held while a file is opened, replaced or swept.
pub(super) const LOCK: &str = ".lock";
/// Says that the file was found damaged.
pub(super) const SUSPECT: &str = ".suspect";
/// How often a held lock is tried.
const RETRY: Duration = Duration::from_millis(5);

/// The path with something at its end.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// The folder of a file; one that exists keeps its permissions.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => private_folder(folder),
        _ => Ok(()),
    }
}

/// A folder that only its owner enters, whatever the umask, and those above it that are missing.
pub(super) fn private_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    make_folder(folder)?;
    #[cfg_attr(not(unix), expect(unused_mut, reason = "folders have no mode there"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {
            return Ok(());
        }
        made => made?,
    }
    // The umask may have taken even the owner's bits.
    #[cfg(unix)]
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(())
}

/// A file that only its owner reads, made if absent. The WAL gets the same permissions.
pub(super) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

/// The lock, or why it cannot be had in time.
pub(super) fn lock(path: &Path, timeout: Duration) -> Result<File, String> {
    let file = create(&beside(path, LOCK)).map_err(|error| error.to_string())?;
    let deadline = Instant::now() + timeout;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(RETRY),
            Err(TryLockError::WouldBlock) => return Err("another process is opening it".to_owned()),
            Err(TryLockError::Error(error)) => return Err(error.to_string()),
        }
    }
}

/// Renames the file and what belongs to it; the new name.
pub(super) fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut to = beside(path, &format!(".corrupt-{seconds}"));
    let mut count = 1;
    while to.exists() {
        to = beside(path, &format!(".corrupt-{seconds}-{count}"));
        count += 1;
    }
    for suffix in ["", "-wal", "-shm"] {
        match fs::rename(beside(path, suffix), beside(&to, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(to)
}
