//! The folder of a server in the system's temporary folder, and the private folders of programs in it.
//!
//! ```text
//! /tmp/termbridge-0123456789abcdef/        one per server, locked (flock) while the server lives
//!     0123456789abcdef/                    one per program: scripts and the command pipe
//! ```
//!
//! Only its owner may enter or write any of it, whatever the umask: modes are set explicitly and
//! checked. The temporary folder itself, and those above it, have to be such that others cannot rename
//! what is in them: `TMPDIR` may be another user's, after `su` or `sudo -E`. Then it is `/tmp`.
//!
//! Who removes what: a program's folder goes with its handle, and the keeper removes it too, for a
//! server that was killed; whoever removes the last one removes the server's. When both were killed,
//! [`sweep_stale_folders`] of a later server does: a folder whose lock is free belongs to nobody. The
//! temporary folder is used rather than `XDG_RUNTIME_DIR`, which goes with the user's last login
//! though the server may stay; systemd-tmpfiles leaves locked folders alone.
//!
//! The folders of programs that outlive their server are in a [`lasting`] one.
//!
//! Bounds: a sweep looks at [`MAX_ENTRIES`] entries and removes [`MAX_REMOVED`] folders.

mod lasting;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags};

use crate::CommandPipe;
use crate::files::{make_private_file, make_private_folder};

/// A server's folder is called this and 16 hexadecimal digits.
const PREFIX: &str = "termbridge-";
const DIGITS: usize = 16;
/// What the debugger builds is called this and as many digits (`termbridge-dap`).
const BUILD_PREFIX: &str = "termbridge-debug-";
/// When what the debugger built is surely no longer about to be started.
const BUILD_AGE: Duration = Duration::from_hours(24);
/// How often another name is tried.
const ATTEMPTS: usize = 8;
/// Entries of the temporary folder that a sweep looks at.
const MAX_ENTRIES: usize = 65_536;
/// Folders that a sweep removes.
const MAX_REMOVED: usize = 1024;

/// A server's folder; removed with this, unless it is a lasting one.
#[derive(Debug)]
pub struct RuntimeFolder {
    path: PathBuf,
    /// Holds the lock; a lasting one has none.
    locked: Option<File>,
}

impl RuntimeFolder {
    /// Makes a folder in the system's temporary folder.
    pub fn create() -> io::Result<Self> {
        let places = places();
        // Without links: the kernel shows an open file by that path.
        let resolved = places.iter().filter_map(|place| place.canonicalize().ok());
        let place = resolved.into_iter().find(|place| is_safe(place)).ok_or_else(|| {
            let place = places[0].display();
            io::Error::other(format!(
                "{place} is missing, or others can rename files in it; set TMPDIR to a folder of your own"
            ))
        })?;
        for _ in 0..ATTEMPTS {
            let path = place.join(format!("{PREFIX}{}", random_name()?));
            // A sweep may come at any point before it is locked; then the folder is its to remove.
            let locked = match make_folder(&path).and_then(|()| open_folder(&path)) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                locked => locked?,
            };
            let is_free = rustix::fs::flock(&locked, FlockOperation::NonBlockingLockExclusive);
            if is_free.is_ok() && is_at(&locked, &path) {
                return Ok(Self { path, locked: Some(locked) });
            }
        }
        Err(io::Error::other("another process removes the server's folder each time it is made"))
    }

    /// Makes a folder for one program. `NotFound` when somebody has removed the server's.
    pub fn private_folder(self: &Arc<Self>) -> io::Result<PrivateFolder> {
        let path = self.path.join(random_name()?);
        make_folder(&path)?;
        Ok(PrivateFolder { path, is_handed_over: false, _runtime: Arc::clone(self) })
    }

    /// Removes it with all that is in it; not a lasting one.
    pub fn remove(&self) {
        if self.locked.is_some() {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

impl Drop for RuntimeFolder {
    fn drop(&mut self) {
        self.remove();
    }
}

/// A folder of one program; removed with this, unless it was handed over to the keeper.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    is_handed_over: bool,
    /// Stays as long as one of its folders does.
    _runtime: Arc<RuntimeFolder>,
}

impl PrivateFolder {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file that was not there.
    pub fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        let written = make_private_file(&path).and_then(|mut file| file.write_all(content));
        written.map_err(|error| named(&path, error))
    }

    /// Makes a command pipe in it.
    pub fn pipe(&self, name: &str) -> io::Result<CommandPipe> {
        CommandPipe::create(&self.path.join(name))
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        if !self.is_handed_over {
            remove_private(&self.path);
        }
    }
}

/// Removes a program's folder with all in it, and the server's once nothing is left there. Links are
/// removed, not followed.
pub(crate) fn remove_private(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
    if let Some(runtime) = folder.parent().filter(|parent| parent.file_name().is_some_and(is_ours))
    {
        let _ = fs::remove_dir(runtime);
    }
}

/// Removes the folders that servers of this user have left which were killed together with their
/// keeper. Blocks; never follows a link.
pub fn sweep_stale_folders() {
    let mut removed = 0;
    // A folder that is looked at twice has less the second time.
    for entry in places()
        .iter()
        .flat_map(|place| fs::read_dir(place).into_iter().flatten().take(MAX_ENTRIES).flatten())
    {
        if removed == MAX_REMOVED {
            return;
        }
        let path = entry.path();
        if is_old_build(&path) && fs::remove_file(&path).is_ok() {
            removed += 1;
        }
        if !is_ours(&entry.file_name()) {
            continue;
        }
        let Ok(folder) = open_folder(&path) else { continue };
        let is_free = rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok();
        if is_free && is_at(&folder, &path) && fs::remove_dir_all(&path).is_ok() {
            removed += 1;
        }
    }
    if removed > 0 {
        tracing::info!(removed, "removed what killed servers left");
    }
}

/// A program that was built to be debugged and that its debugger, killed too, did not remove. It has no
/// lock; one that runs is not hurt when its name goes.
fn is_old_build(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let digits = name.strip_prefix(BUILD_PREFIX).unwrap_or_default();
    let is_old = |found: &fs::Metadata| {
        found.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > BUILD_AGE))
    };
    is_random(digits)
        && fs::symlink_metadata(path).is_ok_and(|found| {
            found.is_file() && found.uid() == rustix::process::geteuid().as_raw() && is_old(&found)
        })
}

fn is_random(digits: &str) -> bool {
    digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_ours(name: &OsStr) -> bool {
    let digits = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).unwrap_or_default();
    is_random(digits)
}

fn random_name() -> io::Result<String> {
    let mut bytes = [0; DIGITS / 2];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{:016x}", u64::from_ne_bytes(bytes)))
}

/// Where a server's folder may be, the best first.
fn places() -> [PathBuf; 2] {
    [std::env::temp_dir(), PathBuf::from("/tmp")]
}

/// Others cannot rename what is ours in it, nor it, nor a folder above it. The path has no links.
fn is_safe(place: &Path) -> bool {
    const OTHERS_WRITE: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    let is_kept = |found: fs::Metadata| {
        let others_write = found.mode() & OTHERS_WRITE != 0 && found.mode() & STICKY == 0;
        found.is_dir() && !others_write && is_trusted(found.uid())
    };
    place.ancestors().all(|folder| fs::symlink_metadata(folder).is_ok_and(is_kept))
}

/// Ourselves and root, who may do anything. In a container that does not know root's id its files
/// belong to an id that nobody there can have.
fn is_trusted(owner: u32) -> bool {
    owner == rustix::process::geteuid().as_raw() || owner == 0 || !is_mapped(owner)
}

/// Whether a user of this user namespace can have the id.
fn is_mapped(user: u32) -> bool {
    let Ok(map) = fs::read_to_string("/proc/self/uid_map") else { return true };
    map.lines().any(|line| {
        let numbers: Vec<u64> = line.split_whitespace().flat_map(str::parse).collect();
        let user = u64::from(user);
        matches!(numbers[..], [first, _, count] if (first..first + count).contains(&user))
    })
}

/// Makes a folder that was not there and that only its owner may use, and checks that.
fn make_folder(path: &Path) -> io::Result<()> {
    let made = make_private_folder(path).and_then(|()| open_folder(path).map(drop));
    made.map_err(|error| named(path, error))
}

/// With the file's name, where it is about the file. Others keep their number.
fn named(path: &Path, error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::StorageFull
        | ErrorKind::QuotaExceeded
        | ErrorKind::FileTooLarge
        | ErrorKind::ReadOnlyFilesystem
        | ErrorKind::PermissionDenied
        | ErrorKind::NotFound => {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        }
        _ => error,
    }
}

/// Opens a folder, if it is ours and nobody else's.
fn open_folder(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let found = folder.metadata()?;
    if found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o7777 == 0o700 {
        Ok(folder)
    } else {
        Err(io::Error::new(ErrorKind::PermissionDenied, "the folder is not private"))
    }
}

/// The open folder is the one that the path means.
fn is_at(folder: &File, path: &Path) -> bool {
    match (folder.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown};

    use super::*;

    /// A folder of ours in a place where others can rename nothing, with the mode.
    fn folder(name: &str, mode: u32) -> PathBuf {
        let path = std::env::temp_dir().canonicalize().expect("there").join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("made");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("ours");
        path
    }

    #[test]
    fn a_place_where_others_can_rename_is_not_safe() {
        let name = format!("pty-safe-{}", std::process::id());
        for (mode, safe) in [(0o700, true), (0o755, true), (0o777, false), (0o1777, true)] {
            let place = folder(&name, mode);
            let inner = place.join("inner");
            fs::create_dir(&inner).expect("made");
            assert_eq!(is_safe(&place), safe, "{mode:o}");
            assert_eq!(is_safe(&inner), safe, "below {mode:o}");
            // Only root can give a folder away.
            if rustix::process::geteuid().is_root() {
                chown(&place, Some(65_534), None).expect("root may");
                assert!(!is_safe(&place), "another user's, {mode:o}");
                assert!(!is_safe(&inner), "below another user's, {mode:o}");
            }
            fs::remove_dir_all(&place).expect("removed");
        }
    }

    #[test]
    fn an_error_of_the_folder_names_it() {
        let runtime = Arc::new(RuntimeFolder::create().expect("made"));
        runtime.remove();
        let error = runtime.private_folder().expect_err("its parent is gone");
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains(&runtime.path.display().to_string()), "{error}");
    }
}
