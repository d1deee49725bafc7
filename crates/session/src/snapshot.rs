//! What a reader gets: a copy of the screen at one moment.

use std::time::Duration;

use termbridge_vt::input::InputModes;
use termbridge_vt::{Row, Screen, Seq, Since, Size, Terminal};

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

impl Scrollback {
    /// The last `lines` lines of a terminal.
    pub fn of(terminal: &Terminal, lines: usize) -> Self {
        let screen = terminal.screen();
        let used = screen.rows.iter().rposition(|row| row.visible_len() > 0).map_or(0, |at| at + 1);
        let used = used.max(usize::from(screen.cursor.row) + 1).min(screen.rows.len());
        let history = terminal.history_len();
        let total_lines = history + used;
        let first = total_lines.saturating_sub(lines);
        let old = terminal.history_rows(first);
        let visible = screen.rows.into_iter().take(used).skip(first.saturating_sub(history));
        let mut text = String::new();
        for row in old.chain(visible) {
            text.push_str(&row.text());
            text.push('\n');
        }
        text.truncate(text.trim_end_matches('\n').len());
        Self { text, total_lines }
    }
}

/// The screen, and what scrolled off it last.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The last lines above the screen, oldest first.
    pub above: Vec<Row>,
    /// How many lines there are above it in all.
    pub lines_above: usize,
    /// No more are kept: each further one drops the oldest.
    pub is_full: bool,
    /// What is visible.
    pub screen: Screen,
}

impl Page {
    /// The page of a terminal with at most so many lines above its screen.
    pub fn of(terminal: &Terminal, most: usize) -> Self {
        let lines_above = terminal.history_len();
        let first = lines_above.saturating_sub(most);
        let above = terminal.history_rows(first).collect();
        let is_full = terminal.history_is_full();
        Self { above, lines_above, is_full, screen: terminal.screen() }
    }
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
