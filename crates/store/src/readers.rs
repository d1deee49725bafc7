//! A bounded pool of read-only connections.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use crate::error::StoreError;
use crate::open::Place;

/// Connections at once; each holds a few megabytes of pages.
const READERS: usize = 4;

/// The connections.
#[derive(Debug)]
pub(crate) struct Readers {
    place: Place,
    timeout: Duration,
    pool: Mutex<Pool>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct Pool {
    idle: Vec<Connection>,
    in_use: usize,
}

impl Readers {
    pub(crate) fn new(place: Place, timeout: Duration) -> Self {
        Self { place, timeout, pool: Mutex::default(), returned: Condvar::new() }
    }

    /// Runs `read` on a connection in one transaction, so that it sees one state of the history.
    pub(crate) fn with<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let (turn, taken) = self.take()?;
        let result = match taken {
            Some(connection) => Ok(connection),
            None => self.place.reader(self.timeout).map_err(StoreError::from),
        }
        .and_then(|mut connection| {
            let result = connection
                .transaction()
                .map_err(StoreError::from)
                .and_then(|transaction| read(&transaction));
            Ok((connection, result?))
        });
        if matches!(result, Err(StoreError::Corrupt(_))) {
            self.place.mark_suspect();
        }
        // A connection that met an error is closed rather than trusted again.
        let (connection, value) = result?;
        turn.give_back(connection);
        Ok(value)
    }

    /// An idle connection, or the right to open one.
    fn take(&self) -> Result<(Turn<'_>, Option<Connection>), StoreError> {
        let pool = self.lock();
        let (mut pool, waited) = self
            .returned
            .wait_timeout_while(pool, self.timeout, |pool| pool.in_use >= READERS)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(StoreError::Busy);
        }
        pool.in_use += 1;
        Ok((Turn { readers: self }, pool.idle.pop()))
    }

    fn lock(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of the [`READERS`] turns; free again when dropped, also by a panic.
struct Turn<'a> {
    readers: &'a Readers,
}

impl Turn<'_> {
    fn give_back(self, connection: Connection) {
        self.readers.lock().idle.push(connection);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.readers.lock().in_use -= 1;
        self.readers.returned.notify_one();
    }
}
