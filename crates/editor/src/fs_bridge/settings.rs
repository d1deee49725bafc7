//! The waits and bounds of the bridge; the defaults are those of the published extension.

use std::time::Duration;

/// How long the bridge waits for what, and how much it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `host.json` older than this: the extension is gone.
    pub stale_after: Duration,
    /// During a call, for how long it must look gone before the call is given up. More than one
    /// heartbeat, so that a computer that wakes up does not lose its calls.
    pub confirm_stale: Duration,
    /// A call that is not claimed within this, or within its own timeout, is taken back.
    pub pickup: Duration,
    /// Calls at once.
    pub capacity: usize,
    /// Calls that may wait for a place; more are refused at once.
    pub queue: usize,
    /// How long a call waits for a place.
    pub capacity_wait: Duration,
    /// Whether changes are noticed, or only looked for: some network file systems tell of none.
    pub notices: bool,
    /// Between two looks when nothing is noticed, at first.
    pub poll_first: Duration,
    /// Between two looks when nothing is noticed, in the end.
    pub poll_last: Duration,
    /// Between two looks where changes cannot be noticed at all.
    pub poll_blind: Duration,
    /// How long an answer may come after `done`, or be incomplete.
    pub settle: Duration,
    /// How long a cancelled call may take to end before its folder goes.
    pub cancel_grace: Duration,
    /// Leftovers of ours older than this are removed.
    pub leftover_after: Duration,
    /// Most bytes of `response.json`, `error.json` or `data.json`.
    pub max_answer: u64,
    /// Most bytes of `events.ndjson` that are read.
    pub max_events: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            stale_after: Duration::from_secs(30),
            confirm_stale: Duration::from_secs(6),
            pickup: Duration::from_secs(5),
            capacity: 10,
            queue: 100,
            capacity_wait: Duration::from_secs(5),
            notices: true,
            poll_first: Duration::from_millis(250),
            poll_last: Duration::from_secs(1),
            poll_blind: Duration::from_millis(25),
            settle: Duration::from_millis(500),
            cancel_grace: Duration::from_secs(5),
            leftover_after: Duration::from_mins(10),
            max_answer: 64 << 20,
            max_events: 16 << 20,
        }
    }
}
