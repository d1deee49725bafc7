//! What can go wrong.

use std::io;
use std::path::{Path, PathBuf};

use crate::entry::Refusal;
use crate::{Client, MAX_FILE_BYTES};

/// A place in a file that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct Problem {
    /// From 1
    pub line: usize,
    /// From 1, in characters
    pub column: usize,
    /// What is wrong
    pub reason: String,
}

/// Why a file is left as it is.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not valid JSON or TOML, or not of the form that the client reads.
    #[error("{}: {problem}", .path.display())]
    Broken {
        /// The file
        path: PathBuf,
        /// Where and why
        #[source]
        problem: Problem,
    },
    /// An entry of that name is there, and it starts something else.
    #[error("{}: the entry {name:?} starts another program", .path.display())]
    Foreign {
        /// The file
        path: PathBuf,
        /// The entry
        name: String,
    },
    /// A skill of our name is there, and it is not ours.
    #[error("{} is another skill", .0.display())]
    ForeignSkill(PathBuf),
    /// An edit was worked out that would not mean what it should.
    #[error("{}: it is written in a form that cannot be edited safely", .path.display())]
    Uneditable {
        /// The file
        path: PathBuf,
    },
    /// No one may write it.
    #[error("{} is read-only", .0.display())]
    ReadOnly(PathBuf),
    /// Larger than [`MAX_FILE_BYTES`].
    #[error("{} is larger than {} MiB", .0.display(), MAX_FILE_BYTES >> 20)]
    TooLarge(PathBuf),
    /// A folder, a device or the like.
    #[error("{} is not a file", .0.display())]
    NotAFile(PathBuf),
    /// A symbolic link to nothing.
    #[error("{} is a link to a file that does not exist", .0.display())]
    DanglingLink(PathBuf),
    /// A link in a project to something that is not part of it.
    #[error("{} leads out of this project, to {}", .path.display(), .found.display())]
    OutsideProject {
        /// The file
        path: PathBuf,
        /// Where it leads
        found: PathBuf,
    },
    /// Someone wrote it between plan and edit.
    #[error("{} has changed in the meantime", .0.display())]
    Changed(PathBuf),
    /// It belongs to someone else, and would not any more.
    #[error("{}: its owner cannot be kept", .path.display())]
    Owner {
        /// The file
        path: PathBuf,
        /// The system's reason
        #[source]
        source: io::Error,
    },
    /// A client without configuration in projects.
    #[error("{0} has no configuration in projects")]
    NoProjectScope(Client),
    /// The system refuses.
    #[error("cannot {action} {}", .path.display())]
    Io {
        /// What was tried
        action: &'static str,
        /// The file or folder
        path: PathBuf,
        /// The system's reason
        #[source]
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn refused(path: &Path, name: &str, refusal: Refusal) -> Self {
        let path = path.to_owned();
        match refusal {
            Refusal::Problem(problem) => Self::Broken { path, problem },
            Refusal::Foreign => Self::Foreign { path, name: name.to_owned() },
            Refusal::Uneditable => Self::Uneditable { path },
        }
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
