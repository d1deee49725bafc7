//! Where a shell's command line stands on the screen, by the shell's own marks.
//!
//! From the end of the prompt (`B`) to the beginning of the output (`C`), what is shown is the line
//! itself: an echo, however the shell's editor drew it. Lines are counted with all
//! that have scrolled off above them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::screen::Screen;
use crate::search::{CellRange, is_full};

/// Lines that are remembered once their output has begun.
const MAX_ENTERED: usize = 32;
/// Longest text of such a line.
const MAX_SHOWN: usize = 16 * 1024;

/// Lines whose output has begun, each with its text at that time. A line counts as an echo only while it shows that text.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct EnteredLines(VecDeque<(CommandLine, String)>);

impl EnteredLines {
    pub(crate) fn push(&mut self, line: CommandLine, shown: String) {
        if shown.len() > MAX_SHOWN {
            return;
        }
        if self.0.len() == MAX_ENTERED {
            self.0.pop_front();
        }
        self.0.push_back((line, shown));
    }

    /// The cells of all that are visible.
    pub(crate) fn cells(&self, screen: &Screen, above: usize) -> Vec<CellRange> {
        let (rows, columns) = screen_size(screen);
        let mut cells = Vec::new();
        for (line, shown) in &self.0 {
            let visible = line.cells(rows, columns, above);
            let text: String =
                visible.iter().map(|range| range.text(&screen.rows[range.row()])).collect();
            // Its first rows may have scrolled off.
            if !text.is_empty() && shown.ends_with(&text) {
                cells.extend(visible);
            }
        }
        cells
    }
}

/// The rows and columns of a screen.
pub(crate) fn screen_size(screen: &Screen) -> (usize, usize) {
    (screen.rows.len(), screen.rows.first().map_or(0, |row| row.cells.len()))
}

/// The line that was edited last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommandLine {
    start: (usize, usize),
    /// Where the output begins; `None` while the line is edited.
    end: Option<(usize, usize)>,
    /// A command was given that the shell has not begun: all behind the prompt is its line.
    pub(crate) given: bool,
}

impl CommandLine {
    /// The prompt ended in this row and column.
    pub(crate) fn begin(above: usize, row: usize, col: usize, given: bool) -> Self {
        Self { start: (above + row, col), end: None, given }
    }

    /// The output begins in this row and column; false if it did before.
    pub(crate) fn end(&mut self, above: usize, row: usize, col: usize) -> bool {
        self.given = false;
        self.end.replace(self.end.unwrap_or((above + row, col))).is_none()
    }

    /// The output has begun.
    pub(crate) fn is_entered(&self) -> bool {
        self.end.is_some()
    }

    /// The cells of the line that are visible on a screen of so many rows and columns.
    pub(crate) fn cells(&self, rows: usize, columns: usize, above: usize) -> Vec<CellRange> {
        let end = match self.end {
            Some(end) => end,
            None if self.given => (above + rows, 0),
            None => return Vec::new(),
        };
        let lines = (self.start.0.max(above)..=end.0).take_while(|line| line - above < rows);
        lines
            .filter_map(|line| {
                let from = if line == self.start.0 { self.start.1 } else { 0 };
                let to = if line == end.0 { end.1 } else { columns };
                (from < to).then(|| CellRange::new(line - above, from, to))
            })
            .collect()
    }

    /// The cells behind the prompt in its row, and in the rows that the line continues in.
    pub(crate) fn edited_cells(&self, screen: &Screen, above: usize) -> Vec<CellRange> {
        let Some(first) = self.start.0.checked_sub(above) else { return Vec::new() };
        let rows = screen.rows.iter().enumerate().skip(first);
        let more = rows.clone().take_while(|(_, row)| is_full(row)).count();
        rows.take(more + 1)
            .map(|(index, row)| {
                let from = if index == first { self.start.1 } else { 0 };
                CellRange::new(index, from.min(row.cells.len()), row.cells.len())
            })
            .collect()
    }
}
