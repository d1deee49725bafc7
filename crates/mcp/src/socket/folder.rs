//! The folder in which a server of this user is found.

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use termbridge_session::files::open_private_file;
#[cfg(unix)]
use unix as system;
#[cfg(not(unix))]
use windows as system;

#[cfg(unix)]
pub(crate) use system::own_user;

/// Its name in the folder that is the user's own; in a temporary folder the user's number follows.
const NAME: &str = "termbridge";

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
    /// The folder that the environment names is not there.
    #[error("XDG_RUNTIME_DIR is {}, which does not exist: unset it, or make the folder", path.display())]
    NoParent {
        /// The folder.
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
    /// On Windows it is below `LOCALAPPDATA`, which the caller gives in place of `XDG_RUNTIME_DIR`.
    pub fn open(xdg_runtime_dir: Option<&Path>, temporary: &Path) -> Result<Self, FolderError> {
        let path = system::place(xdg_runtime_dir, temporary)?;
        system::make_private(&path)?;
        Ok(Self { path })
    }

    /// The same without making or changing anything; `None` if it is missing.
    pub fn find(
        xdg_runtime_dir: Option<&Path>,
        temporary: &Path,
    ) -> Result<Option<Self>, FolderError> {
        let path = system::place(xdg_runtime_dir, temporary)?;
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => system::check_private(&path).map(|()| Some(Self { path })),
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
        let path = self.path.join("start.lock");
        let file = private_file(&path).map_err(|error| named(&path, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// Removes what a stopped server has left for the next one, unless a server runs. The agents' table stays: from it, the
    /// next server tells each agent that its session has ended.
    pub fn forget_sessions(&self) -> io::Result<()> {
        let lock = private_file(&self.lock()).map_err(|error| named(&self.lock(), &error))?;
        if lock.try_lock().is_err() {
            return Ok(());
        }
        let check = |path: &Path, removed: io::Result<()>| match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(named(path, &error)),
            _ => Ok(()),
        };
        for file in [self.calls(), self.editor_terminals()] {
            check(&file, fs::remove_file(&file))?;
        }
        check(&self.sessions(), fs::remove_dir_all(self.sessions()))
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.path.join("server.lock")
    }

    /// The folder of the servers' records; made if it is missing.
    pub(crate) fn servers(&self) -> Result<PathBuf, FolderError> {
        let path = self.path.join("servers");
        system::make_private(&path)?;
        Ok(path)
    }
}

/// Opens a file of this user's alone, whatever the umask; made if it is missing.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    open_private_file(OpenOptions::new().read(true).write(true).truncate(false), path)
}

/// The error with the path that it is about.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn io_error(path: &Path, error: io::Error) -> FolderError {
    FolderError::Io { path: path.to_owned(), error }
}
