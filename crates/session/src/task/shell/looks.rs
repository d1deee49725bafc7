//! How often the kernel is asked whether the shell has got where its marks say that it will wait.

use std::time::Duration;

use tokio::time::Instant;

/// Looks in a row: some milliseconds in all. After that it is looked at growing intervals: a shell on a
/// busy machine may need longer to get there, and a forged mark must not keep us busy.
const AT_ONCE: u32 = 500;
/// Longest interval between two of those looks.
const LONGEST: Duration = Duration::from_millis(25);
/// Looks after which a shell that does not get there is not awaited any longer, where something depends
/// on it: about a second.
const ENOUGH: u32 = AT_ONCE + 80;

/// Counts them.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Looks(u32);

impl Looks {
    pub(super) fn count(&mut self) {
        self.0 = self.0.saturating_add(1);
    }

    /// The next one is due at once.
    pub(super) fn is_patient(self) -> bool {
        self.0 < AT_ONCE
    }

    /// It has been looked for long enough.
    pub(super) fn are_enough(self) -> bool {
        self.0 >= ENOUGH
    }

    /// When the next one is due, if not at once.
    pub(super) fn next(self, now: Instant) -> Option<Instant> {
        let more = self.0.checked_sub(AT_ONCE)?;
        Some(now + Duration::from_millis((1 + more / 4).into()).min(LONGEST))
    }
}
