//! Turns at long work: following a flood of output, wrapping a long history anew.
//!
//! Sessions are tasks on the runtime's few workers. If each could work for as long as it has
//! something to do, as many hostile sessions as there are workers would delay every call. So what
//! may take long is done in turns, first come, first served, and there is one turn fewer than there
//! are workers: one worker is always there for calls.

use std::sync::{Arc, OnceLock};

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The turns of a server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turns {
    /// Made with the first turn: before that there may be no runtime.
    semaphore: Arc<OnceLock<Arc<Semaphore>>>,
}

impl Turns {
    /// Waits for a turn; it lasts until the permit is dropped, which nobody holds across an await.
    pub(crate) async fn next(self) -> Option<OwnedSemaphorePermit> {
        let semaphore = self.semaphore.get_or_init(|| {
            let workers = Handle::current().metrics().num_workers();
            Arc::new(Semaphore::new(workers.saturating_sub(1).max(1)))
        });
        // Never closed.
        Arc::clone(semaphore).acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 3)]
    async fn one_worker_is_left_for_calls() {
        let turns = Turns::default();
        let first = turns.clone().next().now_or_never().expect("a turn is free");
        let _second = turns.clone().next().now_or_never().expect("a turn is free");
        assert!(turns.clone().next().now_or_never().is_none(), "the third worker has a turn too");
        drop(first);
        turns.next().now_or_never().expect("the turn is free again");
    }

    #[tokio::test]
    async fn a_single_worker_has_a_turn() {
        Turns::default().next().now_or_never().expect("a turn is free");
    }
}
