//! Bounds, all with a default.

use std::time::Duration;

/// What the history keeps and how long it waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes kept of one command's output, head and tail; of its command line too.
    pub max_output_bytes: usize,
    /// Entries kept; the oldest go first.
    pub max_entries: u64,
    /// How long an entry is kept; zero means for ever.
    pub max_age: Duration,
    /// Bytes of commands and output kept; the file is about three times as large.
    pub max_bytes: u64,
    /// Entries of one full-text table: a common word is looked up in the newest one.
    pub index_entries: u64,
    /// How long to wait for another process, once.
    pub busy_timeout: Duration,
    /// Entries that may wait to be written.
    pub queue_entries: usize,
    /// Bytes that may wait to be written.
    pub queue_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_output_bytes: 64 * 1024,
            max_entries: 1_000_000,
            max_age: Duration::ZERO,
            max_bytes: 1024 * 1024 * 1024,
            index_entries: 50_000,
            busy_timeout: Duration::from_secs(2),
            queue_entries: 4096,
            queue_bytes: 32 * 1024 * 1024,
        }
    }
}

impl Limits {
    /// Entries kept when there is no file.
    const MEMORY_ENTRIES: u64 = 20_000;
    /// Bytes of text kept when there is no file.
    const MEMORY_BYTES: u64 = 16 * 1024 * 1024;

    /// The same, small enough for memory.
    pub(crate) fn in_memory(mut self) -> Self {
        self.max_entries = self.max_entries.min(Self::MEMORY_ENTRIES);
        self.max_bytes = self.max_bytes.min(Self::MEMORY_BYTES);
        self
    }
}
