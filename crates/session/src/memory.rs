//! What all sessions share: memory for screens and scrollback, memory and disk for the output of
//! commands.
//!
//! Each session publishes its estimate. The one that finds the sum over a budget asks the largest
//! to give up their oldest lines or commands, down to one level for all that are above it; it does
//! not wait for that.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;

use crate::settings::Settings;
use crate::task::Command;

/// How much of the budget is left free by a trim, so that not every new line starts another.
const HEADROOM: usize = 16;

/// How long freed memory may wait for more of it before it goes back to the system.
const RELEASE_DELAY: Duration = Duration::from_millis(100);

/// Gives freed memory back to the system, soon and once for all that is freed until then.
pub fn release_soon() {
    static PENDING: AtomicBool = AtomicBool::new(false);
    /// Also when the runtime ends before the time has come.
    struct Done;
    impl Drop for Done {
        fn drop(&mut self) {
            PENDING.store(false, Ordering::Release);
        }
    }
    if !PENDING.swap(true, Ordering::AcqRel) {
        let done = Done;
        tokio::spawn(async move {
            tokio::time::sleep(RELEASE_DELAY).await;
            drop(done);
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

/// The budgets of a server.
#[derive(Debug)]
pub(crate) struct Budgets {
    pub(crate) scrollback: Budget,
    pub(crate) output_memory: Budget,
    pub(crate) output_disk: Budget,
}

/// One session's part of each.
#[derive(Debug, Clone)]
pub(crate) struct Shares {
    pub(crate) scrollback: Arc<Share>,
    pub(crate) output_memory: Arc<Share>,
    pub(crate) output_disk: Arc<Share>,
}

impl Budgets {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            scrollback: Budget::new(settings.scrollback_memory, |keep_bytes| Command::Trim {
                keep_bytes,
            }),
            output_memory: Budget::new(settings.output_memory, Command::TrimOutputMemory),
            output_disk: Budget::new(settings.output_disk, Command::TrimOutputDisk),
        }
    }

    pub(crate) fn join(&self, commands: &mpsc::WeakSender<Command>) -> Shares {
        Shares {
            scrollback: self.scrollback.join(commands.clone()),
            output_memory: self.output_memory.join(commands.clone()),
            output_disk: self.output_disk.join(commands.clone()),
        }
    }

    pub(crate) fn leave(&self, shares: &Shares) {
        self.scrollback.leave(&shares.scrollback);
        self.output_memory.leave(&shares.output_memory);
        self.output_disk.leave(&shares.output_disk);
    }
}

/// A budget and everyone who draws on it.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    /// What asks a session to come down to a size.
    trim: fn(usize) -> Command,
    shares: Mutex<Vec<Arc<Share>>>,
}

impl Budget {
    fn new(limit: usize, trim: fn(usize) -> Command) -> Self {
        Self { limit, trim, shares: Mutex::new(Vec::new()) }
    }

    fn join(&self, commands: mpsc::WeakSender<Command>) -> Arc<Share> {
        let share = Arc::new(Share { bytes: AtomicUsize::new(0), commands });
        self.lock().push(Arc::clone(&share));
        share
    }

    fn leave(&self, share: &Arc<Share>) {
        self.lock().retain(|known| !Arc::ptr_eq(known, share));
    }

    /// Notes a session's estimate, and asks the largest to shrink when the sum is over the budget.
    /// Returns what is left of it.
    pub(crate) fn publish(&self, share: &Share, bytes: usize) -> usize {
        let before = share.bytes.swap(bytes, Ordering::Relaxed);
        // One that shrank is not asked again at once: it may have nothing more to give.
        if bytes > before {
            self.shrink_to(self.limit);
        }
        self.limit.saturating_sub(self.sum())
    }

    fn sum(&self) -> usize {
        self.lock().iter().map(|share| share.bytes.load(Ordering::Relaxed)).sum()
    }

    /// There is less room than the budget says: asks the largest to shrink a little.
    pub(crate) fn shed(&self) {
        self.shrink_to(self.sum().saturating_sub(1).min(self.limit));
    }

    fn shrink_to(&self, limit: usize) {
        let shares = self.lock();
        let size = |share: &Arc<Share>| share.bytes.load(Ordering::Relaxed);
        let sizes: Vec<usize> = shares.iter().map(size).collect();
        if sizes.iter().sum::<usize>() <= limit {
            return;
        }
        let keep = level(sizes, limit - limit / HEADROOM);
        for large in shares.iter().filter(|share| size(share) > keep) {
            if let Some(commands) = large.commands.upgrade() {
                // A full queue means a busy session: the next output asks again.
                let _ = commands.try_send((self.trim)(keep));
            }
        }
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
