//! The facade: one writer, a pool of readers.

use std::path::{Path, PathBuf};

use crate::entry::Entry;
use crate::error::{StoreError, Warning};
use crate::limits::Limits;
use crate::open::{self, Found, Place};
use crate::query::{Page, Query};
use crate::readers::Readers;
use crate::stats::{self, Stats, StatsQuery};
use crate::writer::Writer;
use crate::{row, search};

/// The commands that were run, by whom and with what result.
///
/// Dropping it writes what is queued and ends the writer.
#[derive(Debug)]
pub struct History {
    // Dropped first: the connection that closes last cleans the WAL up, and a reader cannot.
    readers: Readers,
    writer: Writer,
    storage: Storage,
}

/// A history, and what there is to say about how it was opened.
#[derive(Debug)]
pub struct Opened {
    /// The history, usable in any case.
    pub history: History,
    /// What people should be told.
    pub warnings: Vec<Warning>,
}

/// What became of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// It will be written within a moment.
    Queued,
    /// The queue was full: it is not in the history, and counted.
    Dropped,
}

/// Where the history is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storage {
    /// In this file.
    File(PathBuf),
    /// In memory: it ends with the process.
    Memory,
}

/// How the history fares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Where it is.
    pub storage: Storage,
    /// Entries written by this process.
    pub written: u64,
    /// Entries dropped because the queue was full.
    pub dropped: u64,
    /// Entries lost because they could not be written.
    pub failed: u64,
    /// What the database said last when it refused.
    pub last_error: Option<String>,
}

impl History {
    /// Opens or makes the history at `path`; memory takes its place if that cannot be done.
    ///
    /// Fails only if not even that works.
    pub fn open(path: &Path, limits: Limits) -> Result<Opened, StoreError> {
        let Found { place, connection, live, warnings } = open::find(path, &limits)?;
        let (storage, limits) = match &place {
            Place::File(path) => (Storage::File(path.clone()), limits),
            Place::Memory(_) => (Storage::Memory, limits.in_memory()),
        };
        let readers = Readers::new(place.clone(), limits.busy_timeout);
        let writer = Writer::start(connection, place, live, limits)?;
        Ok(Opened { history: Self { readers, writer, storage }, warnings })
    }

    /// Notes that a command started, or how it ended. Never waits.
    ///
    /// The entry replaces the one with its id, whole. Output and command are cut to
    /// [`Limits::max_output_bytes`], head and tail.
    pub fn record(&self, entry: Entry) -> Recorded {
        if self.writer.record(entry) { Recorded::Queued } else { Recorded::Dropped }
    }

    /// Waits until what was recorded before is in the file and retention has been applied.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.writer.flush()
    }

    /// Entries that match, best first.
    pub fn search(&self, query: &Query) -> Result<Page, StoreError> {
        self.readers.with(|connection| search::page(connection, query))
    }

    /// One entry with its output.
    pub fn get(&self, id: &str) -> Result<Option<Entry>, StoreError> {
        self.readers.with(|connection| Ok(row::entry(connection, id)?))
    }

    /// Counts over many entries.
    pub fn stats(&self, query: &StatsQuery) -> Result<Stats, StoreError> {
        self.readers.with(|connection| stats::stats(connection, query))
    }

    /// Where the history is and what it lost.
    pub fn health(&self) -> Health {
        let (dropped, failed, written, last_error) = self.writer.shared().counts();
        Health { storage: self.storage.clone(), written, dropped, failed, last_error }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::{Entry, History, Limits, Query};

    #[test]
    fn a_fault_in_the_writer_or_a_reader_does_not_end_the_history() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("history.db");
        let history = History::open(&path, Limits::default()).expect("opens").history;
        history.record(Entry::new("s-1", "s", "echo before"));
        history.flush().expect("written");
        history.writer.panic();
        history.record(Entry::new("s-2", "s", "echo after"));
        history.flush().expect("the writer goes on");
        for _ in 0..10 {
            let read = || history.readers.with::<()>(|_| panic!("a fault on request"));
            catch_unwind(AssertUnwindSafe(read)).expect_err("panics");
        }
        let page = history.search(&Query::new("")).expect("a reader is free");
        assert_eq!(page.hits.len(), 2);
        assert!(history.health().last_error.expect("reported").contains("internal fault"));
    }
}
