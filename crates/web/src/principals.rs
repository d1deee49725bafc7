//! Those who hold a token: how often each comes, how much each has under way, and when it may no longer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use termbridge_bridge::policy::RateLimiter;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::limits::Limits;

/// When to come again where too much is under way.
const SOON: Duration = Duration::from_secs(1);

/// All that have come, by the id of their token. Bounded by the number of tokens.
#[derive(Debug)]
pub(crate) struct Principals {
    known: Mutex<HashMap<String, Principal>>,
    limiter: Mutex<RateLimiter>,
    most: usize,
}

#[derive(Debug)]
struct Principal {
    room: Arc<Semaphore>,
    ended: CancellationToken,
}

/// A request that may be answered, as long as it takes.
#[derive(Debug, Clone)]
pub(crate) struct Admission {
    _place: Arc<OwnedSemaphorePermit>,
    /// Cancelled when the token is no longer valid.
    pub(crate) ended: CancellationToken,
}

/// Why a request is not answered now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Too many in a short time.
    Rate(Duration),
    /// Too many at once.
    Busy(Duration),
}

impl Principals {
    pub(crate) fn new(limits: &Limits) -> Self {
        let limiter = Mutex::new(RateLimiter::new(limits.rate));
        Self { known: Mutex::default(), limiter, most: limits.max_per_token }
    }

    pub(crate) fn admit(&self, id: &str) -> Result<Admission, Refusal> {
        let mut limiter = self.limiter.lock().unwrap_or_else(PoisonError::into_inner);
        limiter.check(id, Instant::now()).map_err(|limited| Refusal::Rate(limited.retry_after))?;
        drop(limiter);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains_key(id) {
            let room = Arc::new(Semaphore::new(self.most));
            known.insert(id.to_owned(), Principal { room, ended: CancellationToken::new() });
        }
        let principal = &known[id];
        let place = Arc::clone(&principal.room).try_acquire_owned();
        let place = place.map_err(|_| Refusal::Busy(SOON))?;
        Ok(Admission { _place: Arc::new(place), ended: principal.ended.clone() })
    }

    /// Ends what those have under way that are no longer valid, and says who they were.
    pub(crate) fn end(&self, is_valid: impl Fn(&str) -> bool) -> Vec<String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let over: Vec<String> = known.keys().filter(|id| !is_valid(id)).cloned().collect();
        for id in &over {
            if let Some(principal) = known.remove(id) {
                principal.ended.cancel();
            }
        }
        over
    }
}
