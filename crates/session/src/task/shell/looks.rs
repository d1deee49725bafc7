//! How often the kernel is asked whether the shell has got where its marks say that it will wait.

use std::time::Duration;

use tokio::time::Instant;

/// How long it is looked again and again. After that it is looked at growing intervals: a shell on a busy
/// machine may need longer to get there, and a forged mark must not keep us busy.
const AT_ONCE: Duration = Duration::from_millis(10);
/// Longest interval between two of those looks.
const LONGEST: Duration = Duration::from_millis(25);
/// How long a shell that does not get there is awaited, where something depends on it.
const ENOUGH: Duration = Duration::from_secs(1);

/// Since when it is looked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looks {
    since: Instant,
}

impl Looks {
    pub(super) fn begin() -> Self {
        Self { since: Instant::now() }
    }

    /// The next one is due at once.
    pub(super) fn is_patient(self) -> bool {
        self.since.elapsed() < AT_ONCE
    }

    /// It has been looked for long enough.
    pub(super) fn are_enough(self) -> bool {
        self.since.elapsed() >= ENOUGH
    }

    /// When the next one is due, if not at once.
    pub(super) fn next(self, now: Instant) -> Option<Instant> {
        let later = (now - self.since).checked_sub(AT_ONCE)?;
        Some(now + (later / 4).clamp(Duration::from_millis(1), LONGEST))
    }
}
