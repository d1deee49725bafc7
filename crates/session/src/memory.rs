//! The memory that all sessions' screens and scrollback share.
//!
//! Each session publishes its estimate. The one that finds the sum over the budget asks the largest
//! to give up their oldest lines, down to one level for all that are above it; it does not wait for
//! that.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;

use crate::task::Command;

/// How much of the budget is left free by a trim, so that not every new line starts another.
const HEADROOM: usize = 16;

/// How long freed memory may wait for more of it before it goes back to the system.
const RELEASE_DELAY: Duration = Duration::from_millis(100);

/// Gives freed memory back to the system, soon and once for all that is freed until then.
pub(crate) fn release_soon() {
    static PENDING: AtomicBool = AtomicBool::new(false);
    if !PENDING.swap(true, Ordering::AcqRel) {
        tokio::spawn(async {
            tokio::time::sleep(RELEASE_DELAY).await;
            PENDING.store(false, Ordering::Release);
            let _ = tokio::task::spawn_blocking(termbridge_pty::release_memory).await;
        });
    }
}

/// One session's part.
#[derive(Debug)]
pub(crate) struct Share {
    bytes: AtomicUsize,
    commands: mpsc::WeakSender<Command>,
}

/// The budget and everyone who draws on it.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    shares: Mutex<Vec<Arc<Share>>>,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, shares: Mutex::new(Vec::new()) }
    }

    pub(crate) fn join(&self, commands: mpsc::WeakSender<Command>) -> Arc<Share> {
        let share = Arc::new(Share { bytes: AtomicUsize::new(0), commands });
        self.lock().push(Arc::clone(&share));
        share
    }

    pub(crate) fn leave(&self, share: &Arc<Share>) {
        self.lock().retain(|known| !Arc::ptr_eq(known, share));
    }

    /// Notes a session's estimate, and asks the largest for lines when the sum is over the budget.
    /// Gives back what is left of it.
    pub(crate) fn publish(&self, share: &Share, bytes: usize) -> usize {
        share.bytes.store(bytes, Ordering::Relaxed);
        let shares = self.lock();
        let size = |share: &Arc<Share>| share.bytes.load(Ordering::Relaxed);
        let sizes: Vec<usize> = shares.iter().map(size).collect();
        let sum = sizes.iter().sum::<usize>();
        if sum <= self.limit {
            return self.limit - sum;
        }
        let keep = level(sizes, self.limit - self.limit / HEADROOM);
        for large in shares.iter().filter(|share| size(share) > keep) {
            if let Some(commands) = large.commands.upgrade() {
                // A full queue means a busy session: the next output asks again.
                let _ = commands.try_send(Command::Trim { keep_bytes: keep });
            }
        }
        0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Share>>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The size to which the largest have to come down for the sum to be within `limit`.
fn level(mut sizes: Vec<usize>, limit: usize) -> usize {
    sizes.sort_unstable();
    let mut left = limit;
    let mut count = sizes.len();
    for size in sizes {
        let equal = left / count;
        if size > equal {
            return equal;
        }
        left -= size;
        count -= 1;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::level;

    #[test]
    fn the_level_takes_from_the_largest_alone() {
        assert_eq!(level(vec![10, 100, 20], 130), usize::MAX);
        assert_eq!(level(vec![10, 100, 20], 90), 60);
        assert_eq!(level(vec![100, 100, 20], 120), 50);
        assert_eq!(level(vec![100, 100, 100], 30), 10);
        assert_eq!(level(Vec::new(), 0), usize::MAX);
    }
}
