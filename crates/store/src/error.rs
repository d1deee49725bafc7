//! What can go wrong, and what went wrong without stopping anyone.

use std::path::PathBuf;

use rusqlite::ErrorCode;

/// Why the history did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process holds the file, or every reader is in use.
    #[error("the history is busy")]
    Busy,
    /// The file is damaged; the next start sets it aside.
    #[error("the history is damaged and will be set aside at the next start: {0}")]
    Corrupt(String),
    /// The cursor is not one of ours, or comes from another query.
    #[error("the cursor does not belong to this query; leave it out to start again")]
    BadCursor,
    /// A number or text outside its bounds.
    #[error("{0}")]
    Invalid(String),
    /// The writer has ended.
    #[error("the history is closed")]
    Closed,
    /// A thread could not be started.
    #[error("the history's writer could not be started: {0}")]
    Thread(std::io::Error),
    /// Anything else the database says.
    #[error("the history could not be read or written: {0}")]
    Database(String),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match Kind::of(&error) {
            Kind::Busy => Self::Busy,
            Kind::Damaged => Self::Corrupt(error.to_string()),
            Kind::Other => Self::Database(error.to_string()),
        }
    }
}

/// What happened while opening that someone should know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// The file could not be used as a history; a fresh one took its place.
    #[error("the history was set aside as {}: {reason}", to.display())]
    SetAside {
        /// Where the old file is now.
        to: PathBuf,
        /// Why.
        reason: String,
    },
    /// The history lives in memory and ends with the process.
    #[error("the history is kept in memory only, because {} cannot be used: {reason}", path.display())]
    InMemory {
        /// The file that was asked for.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// The errors of the database by what follows from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Try again, or do without.
    Busy,
    /// Set the file aside.
    Damaged,
    /// Report.
    Other,
}

impl Kind {
    pub(crate) fn of(error: &rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged,
            _ => Self::Other,
        }
    }
}
