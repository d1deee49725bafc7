//! [`Connections`]: places for connections, of which those without a valid token can be taken away.
//!
//! A connection is a newcomer until a request of it has shown a valid token. Where all places are taken, the oldest
//! newcomer is closed for the next connection, so whoever has no token cannot keep out who has one. Where no newcomer
//! is left, the next connection waits.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The places of a server.
#[derive(Debug)]
pub(crate) struct Connections {
    places: Arc<Semaphore>,
    most: usize,
    newcomers: Mutex<Newcomers>,
}

#[derive(Debug, Default)]
struct Newcomers {
    next: u64,
    /// By age, the oldest first.
    evictions: BTreeMap<u64, CancellationToken>,
}

/// A connection's place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    connections: Arc<Connections>,
    number: u64,
    /// Cancelled when another connection gets the place.
    evicted: CancellationToken,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Connections {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(most));
        Arc::new(Self { places, most, newcomers: Mutex::default() })
    }

    /// How many are open.
    pub(crate) fn open(&self) -> usize {
        self.most - self.places.available_permits()
    }

    /// A place for a newcomer.
    pub(crate) async fn place(self: &Arc<Self>) -> Place {
        if self.places.available_permits() == 0 {
            let mut newcomers = self.lock();
            if let Some((_, evicted)) = newcomers.evictions.pop_first() {
                // Under the lock: `keep` sees either both or neither.
                evicted.cancel();
            }
        }
        // The semaphore is never closed.
        let permit = Arc::clone(&self.places).acquire_owned().await.ok();
        let evicted = CancellationToken::new();
        let mut newcomers = self.lock();
        let number = newcomers.next;
        newcomers.next += 1;
        newcomers.evictions.insert(number, evicted.clone());
        drop(newcomers);
        Place { connections: Arc::clone(self), number, evicted, _permit: permit }
    }

    fn lock(&self) -> MutexGuard<'_, Newcomers> {
        self.newcomers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// A valid token was shown: no other connection gets the place. False when one got it already.
    pub(crate) fn keep(&self) -> bool {
        self.connections.lock().evictions.remove(&self.number);
        !self.evicted.is_cancelled()
    }

    /// Waits until another connection is to have the place.
    pub(crate) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.keep();
    }
}
