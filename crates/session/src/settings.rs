//! Limits and sizes, all with a default.

use std::time::Duration;

/// What a server of sessions allows and keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Sessions whose program runs, at most.
    pub max_sessions: usize,
    /// A session that neither is used nor prints nor has a running foreground program ends after
    /// this; zero means never.
    pub session_timeout: Duration,
    /// How long the last screen and exit status of a finished session can be read.
    pub keep_finished: Duration,
    /// Lines kept per session after they scrolled off.
    pub scrollback_lines: usize,
    /// Bytes of screens and scrollback of all sessions together.
    pub scrollback_memory: usize,
    /// Bytes of commands' output kept in memory, of all sessions together.
    pub output_memory: usize,
    /// Bytes of commands' output kept in temporary files, of all sessions together.
    pub output_disk: usize,
    /// Bytes asked of a terminal per read.
    pub buffer_size: usize,
    /// What a program reads without showing it, such as a password, is not for callers to type.
    pub refuse_hidden_lines: bool,
}

/// What one session is held to beside the server's settings: the stricter counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionLimits {
    /// As [`Settings::session_timeout`]; zero adds nothing.
    pub session_timeout: Duration,
    /// As [`Settings::scrollback_lines`].
    pub scrollback_lines: Option<usize>,
}

impl Settings {
    /// The settings of a session with limits of its own.
    pub(crate) fn within(mut self, limits: &SessionLimits) -> Self {
        self.session_timeout = sooner(self.session_timeout, limits.session_timeout);
        let lines = limits.scrollback_lines.unwrap_or(usize::MAX);
        self.scrollback_lines = self.scrollback_lines.min(lines);
        self
    }
}

impl SessionLimits {
    /// The stricter of both, each.
    pub fn and(self, other: Self) -> Self {
        let lines = [self.scrollback_lines, other.scrollback_lines];
        Self {
            session_timeout: sooner(self.session_timeout, other.session_timeout),
            scrollback_lines: lines.into_iter().flatten().min(),
        }
    }
}

/// The shorter of two times, of which zero is never.
fn sooner(one: Duration, other: Duration) -> Duration {
    if one.is_zero() || other.is_zero() { one.max(other) } else { one.min(other) }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_sessions: 100,
            session_timeout: Duration::from_mins(30),
            keep_finished: Duration::from_mins(5),
            scrollback_lines: 10_000,
            scrollback_memory: 256 * 1024 * 1024,
            output_memory: 64 * 1024 * 1024,
            output_disk: 1024 * 1024 * 1024,
            buffer_size: 4096,
            refuse_hidden_lines: false,
        }
    }
}
