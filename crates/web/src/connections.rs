//! [`Connections`]: places for connections, of which those that do nothing for a valid token can be taken away.
//!
//! A connection keeps its place while a request with a valid token is under way. Where all places are taken, another
//! one is closed for the next connection: the oldest that never showed a token, or else the one whose last such request
//! is longest ago. So clients without a valid token cannot keep out clients with one. Where all connections keep
//! theirs, the next one waits for the first that has no request under way.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The places of a server.
#[derive(Debug)]
pub(crate) struct Connections {
    places: Arc<Semaphore>,
    most: usize,
    idle: Mutex<Idle>,
}

#[derive(Debug, Default)]
struct Idle {
    next: u64,
    /// In the order in which they are closed.
    evictions: BTreeMap<u64, CancellationToken>,
    /// A connection waits: the next one that becomes idle is closed for it.
    is_awaited: bool,
}

/// Set in the numbers of connections that have shown a valid token: they come after all others.
const HAS_SHOWN: u64 = 1 << 63;

/// A connection's place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    connections: Arc<Connections>,
    /// Its number among the idle ones, and its requests with a valid token. Changed under the lock of `idle` only.
    number: AtomicU64,
    requests: AtomicUsize,
    /// Cancelled when another connection gets the place.
    evicted: CancellationToken,
    _permit: Option<OwnedSemaphorePermit>,
}

/// A request with a valid token: until it is dropped, no other connection gets the place.
#[derive(Debug)]
pub(crate) struct Kept(Arc<Place>);

impl Connections {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(most));
        Arc::new(Self { places, most, idle: Mutex::default() })
    }

    /// How many are open.
    pub(crate) fn open(&self) -> usize {
        self.most - self.places.available_permits()
    }

    /// A place for a new connection.
    pub(crate) async fn place(self: &Arc<Self>) -> Place {
        if self.places.available_permits() == 0 {
            let mut idle = self.lock();
            match idle.evictions.pop_first() {
                // Under the lock: `keep` sees either both or neither.
                Some((_, evicted)) => evicted.cancel(),
                None => idle.is_awaited = true,
            }
        }
        // The semaphore is never closed.
        let permit = Arc::clone(&self.places).acquire_owned().await.ok();
        let place = Place {
            connections: Arc::clone(self),
            number: AtomicU64::new(0),
            requests: AtomicUsize::new(0),
            evicted: CancellationToken::new(),
            _permit: permit,
        };
        let mut idle = self.lock();
        idle.is_awaited = false;
        place.become_idle(&mut idle, 0);
        drop(idle);
        place
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// A valid token was shown: no other connection gets the place meanwhile. `None` when one got it already.
    pub(crate) fn keep(self: &Arc<Self>) -> Option<Kept> {
        let mut idle = self.connections.lock();
        if self.evicted.is_cancelled() {
            return None;
        }
        idle.evictions.remove(&self.number.load(Ordering::Relaxed));
        self.requests.fetch_add(1, Ordering::Relaxed);
        drop(idle);
        Some(Kept(Arc::clone(self)))
    }

    fn become_idle(&self, idle: &mut Idle, standing: u64) {
        let number = idle.next | standing;
        self.number.store(number, Ordering::Relaxed);
        idle.next += 1;
        if std::mem::take(&mut idle.is_awaited) {
            self.evicted.cancel();
        } else {
            idle.evictions.insert(number, self.evicted.clone());
        }
    }

    /// A valid token was shown on it.
    pub(crate) fn has_shown_token(&self) -> bool {
        self.number.load(Ordering::Relaxed) & HAS_SHOWN != 0
    }

    /// Waits until another connection is to have the place.
    pub(crate) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let Self(place) = self;
        let mut idle = place.connections.lock();
        if place.requests.fetch_sub(1, Ordering::Relaxed) == 1 {
            place.become_idle(&mut idle, HAS_SHOWN);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.lock().evictions.remove(&self.number.load(Ordering::Relaxed));
    }
}
