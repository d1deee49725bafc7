//! What can go wrong, typed by what the caller can do about it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// No such program.
    #[error("program not found: {program}{}", search_note(searched.as_deref()))]
    NotFound {
        /// The program as it was asked for.
        program: String,
        /// The `PATH` that was searched; `None` when the program was given as a path.
        searched: Option<String>,
    },
    /// The file is there, but may not be executed.
    #[error("permission denied: {path} is not executable")]
    PermissionDenied {
        /// The file.
        path: PathBuf,
    },
    /// The program is a directory.
    #[error("{path} is a directory, not a program")]
    IsDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// The program is a script or a dynamic executable whose interpreter is missing.
    #[error("{path} exists, but the interpreter it names does not")]
    NoInterpreter {
        /// The script or executable.
        path: PathBuf,
    },
    /// The working directory cannot be entered.
    #[error("cannot enter working directory {path}: {source}")]
    BadCwd {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An argument, a variable or the directory cannot be given to a program.
    #[error("invalid {what}: {reason}")]
    InvalidInput {
        /// Which part of the specification.
        what: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Arguments and environment are longer than a request may be.
    #[error("arguments and environment are too long")]
    TooLarge,
    /// The system has no more terminals, processes, descriptors or memory.
    #[error("out of {what}: {source}")]
    ResourceLimit {
        /// What ran out.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The program was found, and the system would not run it.
    #[error("cannot execute {path}: {source}")]
    Exec {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The terminal could not be set up.
    #[error("cannot set up a terminal: {source}")]
    Terminal {
        /// What the system said.
        source: io::Error,
    },
    /// The journal or the command pipe could not be set up.
    #[error("cannot keep the terminal's journal: {source}")]
    Journal {
        /// What the system said.
        source: io::Error,
    },
    /// The lasting keeper cannot be had.
    #[error("{0}")]
    Attach(#[source] AttachError),
    /// The keeper process could not be started.
    #[error("cannot start the keeper process: {source}")]
    KeeperStart {
        /// What the system said.
        source: io::Error,
    },
    /// The keeper died; the next spawn starts another.
    #[error("the keeper process is gone; try again")]
    KeeperGone,
    /// The keeper did not answer in time.
    #[error("the keeper process did not answer for {} s: it is stopped or the machine is overloaded; try again", limit.as_secs())]
    KeeperSilent {
        /// How long it had.
        limit: Duration,
    },
    /// This system has no pseudo-terminals that the crate knows.
    #[error("terminals are not supported on this system")]
    Unsupported,
}

impl SpawnError {
    /// For a limit of descriptors that was met on the way to a spawn; any other error is given back.
    pub fn descriptor_limit(source: io::Error) -> Result<Self, io::Error> {
        if is_descriptor_limit(&source) {
            Ok(Self::ResourceLimit { what: "file descriptors", source })
        } else {
            Err(source)
        }
    }
}

/// Why a server did not get a lasting keeper.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// Another server has it.
    #[error(
        "the server with process id {holder} holds the terminals; stop it first, or replace it"
    )]
    Busy {
        /// The other server's process.
        holder: u32,
    },
    /// Another server took it from this one.
    #[error("the server with process id {by} has taken over; this one must stop")]
    TakenOver {
        /// The other server's process.
        by: u32,
    },
    /// It speaks a version of the protocol that this one cannot.
    #[error(
        "the keeper process {pid} is of version {version}, which this version cannot use; end it with the version that started it"
    )]
    Version {
        /// The keeper's process.
        pid: u32,
        /// Its version of the protocol.
        version: u32,
    },
    /// Whoever listens there is not of this user.
    #[error("{path} belongs to another user's process")]
    Foreign {
        /// The socket.
        path: PathBuf,
    },
    /// It did not answer in time.
    #[error("the keeper process did not answer for {} s: it is stopped or the machine is overloaded; try again", limit.as_secs())]
    Silent {
        /// How long it had.
        limit: Duration,
    },
    /// It ended as soon as it was started, every time.
    #[error(
        "the keeper process was started {started} times and ended at once each time: something kills it, perhaps for lack of memory (see `dmesg`)"
    )]
    Dies {
        /// How many were started.
        started: u32,
    },
    /// It could not be started or reached.
    #[error("cannot reach the keeper process at {path}: {source}")]
    Unreachable {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Why a running program could not be signalled, stopped or surveyed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// There is no process to signal any more.
    #[error("no such process: the program has ended")]
    NoProcess,
    /// The system refused.
    #[error("{0}")]
    Refused(#[source] io::Error),
    /// The keeper died.
    #[error("the keeper process is gone")]
    KeeperGone,
    /// The keeper did not answer in time.
    #[error("the keeper process did not answer for {} s: it is stopped or the machine is overloaded", limit.as_secs())]
    KeeperSilent {
        /// How long it had.
        limit: Duration,
    },
    /// This system has no pseudo-terminals that the crate knows.
    #[error("terminals are not supported on this system")]
    Unsupported,
}

fn search_note(searched: Option<&str>) -> String {
    match searched {
        None => String::new(),
        Some("") => " (PATH is empty)".to_owned(),
        Some(path) => format!(" (searched PATH={path})"),
    }
}

#[cfg(unix)]
fn is_descriptor_limit(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

#[cfg(not(unix))]
fn is_descriptor_limit(_: &io::Error) -> bool {
    false
}
