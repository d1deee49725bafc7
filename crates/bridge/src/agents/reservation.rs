//! A session is reserved for one call, and counted while it is being made.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use termbridge_session::SessionId;

use super::Agents;

/// Reserves a session for one call; dropped when that is answered.
pub(crate) struct Reservation {
    pub(super) agents: Agents,
    pub(super) id: SessionId,
}

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reservation").field(&self.id).finish()
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut table = self.agents.lock();
        if let Some(held) = table.held.iter_mut().find(|held| held.id == self.id) {
            held.reserved = false;
        }
    }
}

impl Agents {
    pub(crate) fn reserve(&self, id: &SessionId) -> Option<Reservation> {
        let mut table = self.lock();
        let uses = table.uses + 1;
        let held = table.held.iter_mut().find(|held| held.id == *id && !held.reserved)?;
        held.reserved = true;
        held.used = uses;
        table.uses = uses;
        Some(Reservation { agents: self.clone(), id: id.clone() })
    }
}

/// Counts a session while it is being made.
pub(super) struct Making(Arc<AtomicUsize>);

impl Making {
    pub(super) fn begin(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
