//! From a path to a usable database, whatever state the file is in.
//!
//! All of it happens under an exclusive lock on `history.db.lock`, so that two servers that start
//! at once do not both set the same file aside. Who holds the database itself too long, or a folder
//! that cannot be written, leaves us with memory.

mod files;
mod live;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::{Kind, StoreError, Warning};
use crate::limits::Limits;
use crate::schema::{self, Unfit};

pub(crate) use live::Live;

/// Where the entries are.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// In a file that others share.
    File(PathBuf),
    /// In this process, under this name.
    Memory(String),
}

/// A place, its connection for writing and what is to be said about it.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) place: Place,
    pub(crate) connection: Connection,
    pub(crate) live: Option<Live>,
    pub(crate) warnings: Vec<Warning>,
}

/// The file, or a fresh one in its place, or memory.
pub(crate) fn find(path: &Path, limits: &Limits) -> Result<Found, StoreError> {
    let mut warnings = Vec::new();
    match file(path, limits.busy_timeout, &mut warnings) {
        Ok((connection, live)) => {
            let place = Place::File(path.to_owned());
            Ok(Found { place, connection, live: Some(live), warnings })
        }
        Err(reason) => {
            warnings.push(Warning::InMemory { path: path.to_owned(), reason });
            memory(limits.busy_timeout, warnings)
        }
    }
}

impl Place {
    /// A connection that cannot write.
    pub(crate) fn reader(&self, timeout: Duration) -> rusqlite::Result<Connection> {
        let connection = match self {
            Self::File(path) => Connection::open_with_flags(
                path,
                OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
            )?,
            Self::Memory(name) => open_memory(name)?,
        };
        connection.busy_timeout(timeout)?;
        // 8 MiB of pages: the upper levels of every tree stay at hand.
        connection.execute_batch("PRAGMA query_only = 1; PRAGMA cache_size = -8192;")?;
        Ok(connection)
    }

    /// Makes the next start set the file aside.
    pub(crate) fn mark_suspect(&self) {
        if let Self::File(path) = self {
            let _ = files::create(&files::beside(path, files::SUSPECT));
        }
    }
}

fn file(
    path: &Path,
    timeout: Duration,
    warnings: &mut Vec<Warning>,
) -> Result<(Connection, Live), String> {
    files::make_folder(path).map_err(|error| error.to_string())?;
    let _lock = files::lock(path, timeout)?;
    let suspect = files::beside(path, files::SUSPECT);
    if suspect.exists() {
        warnings.push(set_aside(path, "it was found damaged while in use".to_owned())?);
        let _ = std::fs::remove_file(suspect);
    }
    let mut connection = match connect(path, timeout) {
        Ok(connection) => connection,
        Err(unfit) => {
            let reason = reason_to_replace(unfit)?;
            warnings.push(set_aside(path, reason)?);
            connect(path, timeout).map_err(describe)?
        }
    };
    let live = Live::begin(path).map_err(|error| error.to_string())?;
    live.sweep(&mut connection).map_err(|error| error.to_string())?;
    Ok((connection, live))
}

fn connect(path: &Path, timeout: Duration) -> Result<Connection, Unfit> {
    if let Err(error) = files::create(path) {
        return Err(Unfit::Sqlite(rusqlite::Error::ToSqlConversionFailure(Box::new(error))));
    }
    let mut connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    connection.busy_timeout(timeout)?;
    connection.execute_batch(
        "PRAGMA auto_vacuum = INCREMENTAL;
         PRAGMA journal_mode = WAL;
         PRAGMA synchronous = NORMAL;
         PRAGMA journal_size_limit = 16777216;",
    )?;
    schema::prepare(&mut connection)?;
    Ok(connection)
}

/// Why the file is to be replaced; an error if it is only out of reach.
fn reason_to_replace(unfit: Unfit) -> Result<String, String> {
    match &unfit {
        Unfit::Foreign(_) => Ok(describe(unfit)),
        Unfit::Sqlite(error) if Kind::of(error) == Kind::Damaged => Ok(describe(unfit)),
        Unfit::Sqlite(error) if Kind::of(error) == Kind::Busy => {
            Err("another process holds it".to_owned())
        }
        Unfit::Sqlite(_) => Err(describe(unfit)),
    }
}

fn describe(unfit: Unfit) -> String {
    match unfit {
        Unfit::Foreign(reason) => reason,
        Unfit::Sqlite(error) => error.to_string(),
    }
}

fn set_aside(path: &Path, reason: String) -> Result<Warning, String> {
    let to = files::set_aside(path).map_err(|error| error.to_string())?;
    Ok(Warning::SetAside { to, reason })
}

fn memory(timeout: Duration, warnings: Vec<Warning>) -> Result<Found, StoreError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // The leading slash makes it one database for all connections of this process.
    let name = format!("file:/termbridge-{}?vfs=memdb", COUNT.fetch_add(1, Ordering::Relaxed));
    let mut connection = open_memory(&name)?;
    connection.busy_timeout(timeout)?;
    match schema::prepare(&mut connection) {
        Ok(()) => Ok(Found { place: Place::Memory(name), connection, live: None, warnings }),
        Err(Unfit::Sqlite(error)) => Err(error.into()),
        Err(unfit @ Unfit::Foreign(_)) => Err(StoreError::Database(describe(unfit))),
    }
}

fn open_memory(name: &str) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(
        name,
        OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
}
