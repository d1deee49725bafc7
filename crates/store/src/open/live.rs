//! Which servers are alive, so that what a dead one left running is not shown as running.
//!
//! Each server keeps a file in `history.db.live/` locked for as long as it lives; the kernel
//! releases the lock whatever ends it. A run names its server. Whoever opens the history, and each
//! server now and then, marks the runs of servers whose lock is free.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, TransactionBehavior, params};

use super::files;
use crate::entry::State;
use crate::row::state_number;

/// This server's proof of life.
#[derive(Debug)]
pub(crate) struct Live {
    database: PathBuf,
    folder: PathBuf,
    name: String,
    _locked: File,
}

impl Live {
    /// Called under the lock on the database, as is every sweep but [`Live::sweep_if_free`].
    pub(super) fn begin(database: &Path) -> io::Result<Self> {
        let folder = files::beside(database, ".live");
        files::private_folder(&folder)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!("{}-{:x}", std::process::id(), now.as_nanos());
        let locked = files::create(&folder.join(&name))?;
        locked.lock()?;
        Ok(Self { database: database.to_owned(), folder, name, _locked: locked })
    }

    /// The name under which this server's runs are stored.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Marks what dead servers left running, and removes their files.
    pub(super) fn sweep(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        if let Ok(names) = fs::read_dir(&self.folder) {
            for entry in names.flatten() {
                if entry.file_name() != self.name.as_str() && is_dead(&entry.path()) {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
        let servers: Vec<Option<String>> = connection
            .prepare("SELECT DISTINCT server FROM runs WHERE state = 0")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let dead: Vec<_> = servers
            .into_iter()
            .flatten()
            .filter(|server| *server != self.name && !self.folder.join(server).exists())
            .collect();
        if dead.is_empty() {
            return Ok(());
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for server in dead {
            lose(&transaction, &server)?;
        }
        transaction.commit()
    }

    /// The same from a running server: not while another one opens the file.
    pub(crate) fn sweep_if_free(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        match files::lock(&self.database, Duration::ZERO) {
            Ok(_lock) => self.sweep(connection),
            Err(_) => Ok(()),
        }
    }

    /// Marks what this server leaves running.
    pub(crate) fn end(&self, connection: &Connection) -> rusqlite::Result<()> {
        lose(connection, &self.name)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.folder.join(&self.name));
    }
}

fn is_dead(path: &Path) -> bool {
    termbridge_foreign_files::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

fn lose(connection: &Connection, server: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE runs SET state = ?1 WHERE state = 0 AND server = ?2";
    connection.execute(sql, params![state_number(State::Lost), server]).map(drop)
}
