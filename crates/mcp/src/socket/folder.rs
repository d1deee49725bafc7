//! The folder in which a server of this user is found.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Its name in `XDG_RUNTIME_DIR`; in the temporary folder the user's number follows.
const NAME: &str = "termbridge";
/// Only its owner may enter it.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// Whether only an entry's owner may rename it, in a folder that all may write to.
const STICKY: u32 = 0o1000;
/// Others may write.
const WRITABLE: u32 = 0o022;

/// A folder that is this user's alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFolder {
    path: PathBuf,
}

/// Why a folder is not used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It belongs to somebody else.
    #[error("{} belongs to another user (uid {owner}): remove it, or set XDG_RUNTIME_DIR", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// Others may enter it.
    #[error("{} is open to others (mode {mode:03o}): run `chmod 700 {}`", path.display(), path.display())]
    Open {
        /// The folder.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// It is a link or a file.
    #[error("{} is not a folder (a link, or a file): remove it", path.display())]
    NotAFolder {
        /// What stands there.
        path: PathBuf,
    },
    /// Others could put something else in its place.
    #[error("others can rename what is in {}: set XDG_RUNTIME_DIR to a folder of your own", path.display())]
    UnsafeParent {
        /// The folder above.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

impl ServerFolder {
    /// The folder of this user, by the value of `XDG_RUNTIME_DIR` and the temporary folder; made if it is missing.
    pub fn open(xdg_runtime_dir: Option<&Path>, temporary: &Path) -> Result<Self, FolderError> {
        let user = own_user().map_err(|error| io_error(temporary, error))?;
        let path = place(xdg_runtime_dir, temporary, user);
        check_parent(path.parent().unwrap_or(temporary), user)?;
        make_private(&path, user)?;
        Ok(Self { path })
    }

    /// The same without making or changing anything; `None` if it is missing.
    pub fn find(
        xdg_runtime_dir: Option<&Path>,
        temporary: &Path,
    ) -> Result<Option<Self>, FolderError> {
        let user = own_user().map_err(|error| io_error(temporary, error))?;
        let path = place(xdg_runtime_dir, temporary, user);
        check_parent(path.parent().unwrap_or(temporary), user)?;
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => check_private(&path, user).map(|_| Some(Self { path })),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        self.path.join("server.sock")
    }

    /// The file with the first token.
    pub fn token(&self) -> PathBuf {
        self.path.join("token")
    }

    /// The socket of the keeper that holds the programs.
    pub fn keeper(&self) -> PathBuf {
        self.path.join("keeper.sock")
    }

    /// The folder of what shells are started with, and of their output.
    pub fn sessions(&self) -> PathBuf {
        self.path.join("sessions")
    }

    /// The file of the calls that were begun and ended.
    pub fn calls(&self) -> PathBuf {
        self.path.join("calls")
    }

    /// The file of which session is whose current one.
    pub fn agents(&self) -> PathBuf {
        self.path.join("agents")
    }

    /// The file of the editors' terminals that agents use.
    pub fn editor_terminals(&self) -> PathBuf {
        self.path.join("editor-terminals")
    }

    /// The file in which a server that a client started writes its log.
    pub fn log(&self) -> PathBuf {
        self.path.join("server.log")
    }

    /// The right to start a server, held as long as the file is open; `None` while another process has it.
    pub fn claim_start(&self) -> io::Result<Option<File>> {
        let file = private_file(&self.path.join("start.lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// Removes what one server leaves to the next, where nothing is left to be taken over; not while there is a server.
    pub fn forget_sessions(&self) -> io::Result<()> {
        let lock = private_file(&self.lock())?;
        if lock.try_lock().is_err() {
            return Ok(());
        }
        let files =
            [self.calls(), self.agents(), self.editor_terminals()].into_iter().map(fs::remove_file);
        for removed in files.chain([fs::remove_dir_all(self.sessions())]) {
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.path.join("server.lock")
    }

    /// The folder of the servers' records; made if it is missing.
    pub(crate) fn servers(&self) -> Result<PathBuf, FolderError> {
        let path = self.path.join("servers");
        let user = own_user().map_err(|error| io_error(&path, error))?;
        make_private(&path, user)?;
        Ok(path)
    }
}

/// Opens a file of this user's alone, whatever the umask; made if it is missing.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file =
        options.read(true).write(true).create(true).truncate(false).mode(FILE_MODE).open(path)?;
    file.set_permissions(fs::Permissions::from_mode(FILE_MODE))?;
    Ok(file)
}

/// The user that this process acts as: a file that the kernel made for it belongs to that user.
pub(crate) fn own_user() -> io::Result<u32> {
    let (socket, _other) = UnixStream::pair()?;
    Ok(File::from(OwnedFd::from(socket)).metadata()?.uid())
}

fn place(xdg_runtime_dir: Option<&Path>, temporary: &Path, user: u32) -> PathBuf {
    match xdg_runtime_dir.filter(|folder| folder.is_absolute()) {
        Some(folder) => folder.join(NAME),
        None => temporary.join(format!("{NAME}-{user}")),
    }
}

fn make_private(path: &Path, user: u32) -> Result<(), FolderError> {
    let failed = |error| io_error(path, error);
    match DirBuilder::new().mode(FOLDER_MODE).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(error)),
    }
    let mode = check_private(path, user)?;
    if mode != FOLDER_MODE {
        // A umask took from its owner what is the owner's.
        fs::set_permissions(path, fs::Permissions::from_mode(FOLDER_MODE)).map_err(failed)?;
    }
    Ok(())
}

/// The mode of a folder that is this user's alone.
fn check_private(path: &Path, user: u32) -> Result<u32, FolderError> {
    let found = fs::symlink_metadata(path).map_err(|error| io_error(path, error))?;
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

fn io_error(path: &Path, error: io::Error) -> FolderError {
    FolderError::Io { path: path.to_owned(), error }
}
