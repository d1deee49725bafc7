//! The memory that all sessions' screens and scrollback share.
//!
//! Each session publishes its estimate. The one that finds the sum over the budget asks the largest
//! to give up its oldest lines; it does not wait for that.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;

use crate::task::Command;

/// How much of the budget is left free by a trim, so that not every new line starts another.
const HEADROOM: usize = 16;

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
        Self {
            limit,
            shares: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn join(&self, commands: mpsc::WeakSender<Command>) -> Arc<Share> {
        let share = Arc::new(Share {
            bytes: AtomicUsize::new(0),
            commands,
        });
        self.lock().push(Arc::clone(&share));
        share
    }

    pub(crate) fn leave(&self, share: &Arc<Share>) {
        self.lock().retain(|known| !Arc::ptr_eq(known, share));
    }

    /// Notes a session's estimate, and asks the largest for lines when the sum is over the budget.
    pub(crate) fn publish(&self, share: &Share, bytes: usize) {
        let before = share.bytes.swap(bytes, Ordering::Relaxed);
        if bytes <= before {
            return;
        }
        let shares = self.lock();
        let total: usize = shares
            .iter()
            .map(|share| share.bytes.load(Ordering::Relaxed))
            .sum();
        if total <= self.limit {
            return;
        }
        let excess = total - self.limit + self.limit / HEADROOM;
        let size = |share: &&Arc<Share>| share.bytes.load(Ordering::Relaxed);
        let Some(largest) = shares.iter().max_by_key(size) else {
            return;
        };
        let keep = size(&largest).saturating_sub(excess);
        if let Some(commands) = largest.commands.upgrade() {
            // A full queue means a busy session: the next output asks again.
            let _ = commands.try_send(Command::Trim { keep_bytes: keep });
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Share>>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
