//! What a terminal's screens and scrollback take in memory, and how they are made smaller.
//!
//! Cells are counted by the grid's size. What hangs on them (zero-width characters, hyperlinks) is
//! added up as it is printed, which is never too little, and counted anew by a walk over the cells
//! when the sum has become large. Past [`MAX_EXTRAS`] a screen takes no more of it: links are left
//! out and marks dropped, until lines have scrolled away.

use std::sync::Arc;

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::Line;
use alacritty_terminal::term::TermMode;

use super::core::Core;

/// Bytes one cell costs in the emulator.
const CELL: usize = 24;
/// Rows that the emulator makes at once when its history grows, and keeps when it shrinks.
const SPARE_ROWS: usize = 1000;
/// Bytes that a zero-width character or the record of a link costs, beside the link's own.
pub(super) const EXTRA: usize = 160;
/// Most bytes that hang on the cells of one screen.
pub(super) const MAX_EXTRAS: usize = 16 * 1024 * 1024;
/// Least output between two walks over the cells.
const MIN_BETWEEN_WALKS: usize = 1024 * 1024;

/// What hangs on the cells of the primary and of the alternate screen.
#[derive(Debug, Default)]
pub(super) struct Extras {
    /// Bytes, at most.
    pub(super) bytes: [usize; 2],
    /// Output since the last walk.
    pub(super) since_walk: usize,
}

impl Core {
    /// Notes output of that many bytes.
    pub(super) fn count_output(&mut self, bytes: usize) {
        self.extras.since_walk = self.extras.since_walk.saturating_add(bytes);
    }

    /// Whether the screen has room for so many zero-width characters or links and their bytes; if so
    /// they are counted.
    pub(super) fn has_room(&mut self, count: usize, bytes: usize) -> bool {
        let more = count * EXTRA + bytes;
        let screen = self.screen_index();
        if self.extras.bytes[screen] + more > MAX_EXTRAS {
            self.walk();
        }
        let fits = self.extras.bytes[screen] + more <= MAX_EXTRAS;
        self.extras.bytes[screen] += if fits { more } else { 0 };
        fits
    }

    fn screen_index(&self) -> usize {
        usize::from(self.term.mode().contains(TermMode::ALT_SCREEN))
    }

    /// Counts what hangs on the cells of the screen that is shown, unless that was done just now.
    fn walk(&mut self) {
        let grid = self.term.grid();
        let cells = grid.total_lines() * grid.columns();
        if self.extras.since_walk < MIN_BETWEEN_WALKS.max(cells * CELL / 16) {
            return;
        }
        let mut bytes = 0;
        for line in grid.topmost_line().0..=grid.bottommost_line().0 {
            let mut last = None;
            for cell in &grid[Line(line)][..] {
                let Some(extra) = &cell.extra else { continue };
                // Neighbours share what they were printed with.
                if !last.is_some_and(|last| Arc::ptr_eq(last, extra)) {
                    let marks = cell.zerowidth().map_or(0, <[char]>::len);
                    let link = cell.hyperlink().map_or(0, |link| link.uri().len());
                    bytes += EXTRA + 2 * size_of::<char>() * marks + link;
                }
                last = Some(extra);
            }
        }
        let screen = self.screen_index();
        self.extras.bytes[screen] = bytes;
        self.extras.since_walk = 0;
    }

    /// Bytes that screens and history take, at most.
    pub(super) fn memory(&self) -> usize {
        let history = self.primary_history_len();
        // A cleared history has some; they do not count, because a restored terminal has none.
        let spare = if history > 0 && self.has_spare_rows() { SPARE_ROWS } else { 0 };
        let rows = history + spare + 2 * self.term.screen_lines();
        rows * self.term.columns() * CELL + self.extras.bytes.iter().sum::<usize>()
    }

    /// Whether the emulator has rows for lines to come.
    pub(super) fn has_spare_rows(&self) -> bool {
        let history = self.primary_history_len();
        // A history at its limit reuses its rows; rows beyond it were freed when it was lowered.
        let is_full = self.lowered.is_some_and(|limit| history >= limit);
        self.packed != Some(history) && !is_full
    }

    /// Notes that the history may have grown or shrunk.
    pub(super) fn note_history(&mut self) {
        self.packed = self.packed.filter(|length| *length == self.primary_history_len());
        self.term.count_lines();
    }

    /// Frees the rows for lines to come. The next line that scrolls off makes them again.
    pub(super) fn free_spare_rows(&mut self) {
        self.term.primary_mut().truncate();
        self.packed = Some(self.primary_history_len());
    }

    /// Frees what only further output needs.
    pub(super) fn finish(&mut self) {
        self.free_spare_rows();
        self.processor = None;
    }

    /// Lowers the limit of the history until everything takes about `bytes`.
    pub(super) fn shrink(&mut self, bytes: usize) {
        let history = self.primary_history_len();
        let screens = 2 * self.term.screen_lines() * self.term.columns() * CELL;
        let lines = history + 2 * self.term.screen_lines();
        let line = self.term.columns() * CELL + self.extras.bytes[0] / lines.max(1);
        let keep = (bytes.saturating_sub(screens) / line).min(history);
        self.set_history_limit(keep);
        self.lowered = Some(keep);
        self.term.primary_mut().truncate();
        if self.screen_index() == 0 {
            // The lines that went took their share with them.
            self.extras.since_walk = usize::MAX;
            self.walk();
        }
    }

    /// Takes over a limit that was lowered before.
    pub(super) fn lower_history(&mut self, limit: usize) {
        self.set_history_limit(limit);
        self.lowered = Some(limit.min(self.scrollback_lines));
        self.term.primary_mut().truncate();
    }

    /// Raises a lowered limit again, if the rows that it may cost fit into `room`.
    pub(super) fn grow(&mut self, room: usize) {
        if self.lowered.is_some() && room >= 2 * SPARE_ROWS * self.term.columns() * CELL {
            self.set_history_limit(self.scrollback_lines);
            self.lowered = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, Size, Terminal};

    #[test]
    fn a_finished_terminal_holds_no_memory_for_output_and_can_take_some() {
        let mut terminal = Terminal::new(Size { cols: 20, rows: 5 }, Options::default());
        assert!(terminal.core.processor.is_none(), "none was printed");
        terminal.feed(b"x\r\n".repeat(14).as_slice());
        terminal.finish();
        assert!(terminal.core.processor.is_none());
        assert!(!terminal.has_spare_rows());
        terminal.feed(b"\x1b[1;1H\x1b[2Jagain");
        assert_eq!(terminal.screen().rows[0].text(), "again");
    }
}
