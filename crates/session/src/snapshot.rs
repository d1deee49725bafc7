//! What a reader gets: a copy of the screen at one moment.

use std::time::Duration;

use termbridge_vt::input::InputModes;
use termbridge_vt::{Screen, Seq, Since, Size};

use crate::info::State;

/// What to copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SnapshotRequest {
    /// Tell which rows changed since then.
    pub since: Option<Since>,
    /// Add this many lines of history and screen as plain text; `usize::MAX` for all.
    pub scrollback: Option<usize>,
}

/// History and screen as plain text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scrollback {
    /// The lines, oldest first.
    pub text: String,
    /// How many lines there are in all.
    pub total_lines: usize,
}

/// A session at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// What is visible.
    pub screen: Screen,
    /// The change counter that belongs to it.
    pub seq: Seq,
    /// Rows changed since the asked-for counter, without those that only moved up.
    pub changed: Option<Vec<u16>>,
    /// By how many rows the screen scrolled up since then.
    pub scrolled: u64,
    /// The primary screen came back since then, from under a full-screen program's.
    pub came_back: bool,
    /// History and screen, when asked for.
    pub scrollback: Option<Scrollback>,
    /// Size in force.
    pub size: Size,
    /// Whether the program runs.
    pub state: State,
    /// Modes the program set.
    pub modes: InputModes,
    /// Time since the program last printed.
    pub quiet: Duration,
}

impl Snapshot {
    /// The visible text.
    pub fn text(&self) -> String {
        termbridge_vt::format::plain(&self.screen.rows)
    }

    /// Whether the visible text has this in one line.
    pub fn contains(&self, text: &str) -> bool {
        self.text().contains(text)
    }
}
