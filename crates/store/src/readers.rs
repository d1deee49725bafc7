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
        let taken = self.take()?;
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
        let mut pool = self.lock();
        pool.in_use -= 1;
        self.returned.notify_one();
        // A connection that met an error is closed rather than trusted again.
        let (connection, value) = result?;
        pool.idle.push(connection);
        Ok(value)
    }

    /// An idle connection, or the right to open one.
    fn take(&self) -> Result<Option<Connection>, StoreError> {
        let pool = self.lock();
        let (mut pool, waited) = self
            .returned
            .wait_timeout_while(pool, self.timeout, |pool| pool.in_use >= READERS)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(StoreError::Busy);
        }
        pool.in_use += 1;
        Ok(pool.idle.pop())
    }

    fn lock(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
