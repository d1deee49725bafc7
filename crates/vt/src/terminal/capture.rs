//! A command's output, taken from the primary screen: the rows that scrolled off, and those that can still change.
//!
//! ```text
//! begin ──► rows scroll off ──► done (taken as they come)
//!   │       rows on the screen ─► pending
//!   └─ suspend: what is pending is copied; nothing is taken until `resume`, which forgets the copy, or `end`
//! ```
//!
//! What was on the screen before is not part of it, also not in a row that the command writes to.

use serde::{Deserialize, Serialize};

use super::tabs::TabStops;
use crate::cell::{Cell, Width};
use crate::grid::Grid;
use crate::row::{Owner, Row};
use crate::tables::Tables;
use crate::text;

/// Output that is collected.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Capture {
    /// The lines that can no longer change and were not taken yet.
    done: Lines,
    /// A full-screen program ran: the text is not all there was to see.
    pub(super) was_full_screen: bool,
    /// What comes may not be output.
    pub(super) is_suspended: bool,
}

/// Rows as lines of text.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Lines {
    /// UTF-8.
    #[serde(with = "serde_bytes")]
    text: Vec<u8>,
    /// The last line continues in the next row.
    joins: bool,
    /// The last row left its last column free for a wide character.
    leaves_column: bool,
    /// The output begins behind what is in the cursor's row.
    begins_within_row: bool,
}

impl Lines {
    fn push(&mut self, row: &Row, tables: &Tables, tabs: &TabStops) {
        if row.owner == Owner::Earlier {
            return;
        }
        let cells = &row.cells()[..row.extent()];
        if !row.is_complex() && is_plain(cells) {
            self.begin_row(cells.first());
            text::push_characters(cells, &mut self.text);
        } else if cells.iter().any(|cell| cell.is_earlier()) {
            let is_new = |cell: &Cell| !cell.is_earlier() && !cell.is_unwritten();
            let Some(last) = cells.iter().rposition(is_new) else {
                // All of it was taken.
                return self.end_row(row, self.leaves_column);
            };
            // What was there before is blank, unless it is the beginning of this line.
            let continues = self.joins || self.begins_within_row;
            let new: Vec<Cell> = cells[..=last]
                .iter()
                .map(|cell| if cell.is_earlier() { Cell::EMPTY } else { *cell })
                .collect();
            // Columns that a tab led over were not written to: they are part of what was there before, too.
            let first = cells.iter().position(is_new).filter(|_| continues).unwrap_or(0);
            let from = cells[..first].iter().rposition(|cell| cell.is_earlier());
            let from = from.map_or(0, |last| last + 1);
            self.push_cells(&new[from..], from, tables, tabs);
        } else if let Some(printed) = row.printed() {
            self.begin_row(cells.first());
            self.text.extend_from_slice(printed);
        } else {
            self.push_cells(cells, 0, tables, tabs);
        }
        self.end_row(row, row.wrapped && row.len() < tabs.cols());
    }

    fn push_cells(&mut self, cells: &[Cell], from: usize, tables: &Tables, tabs: &TabStops) {
        self.begin_row(cells.first());
        let stop = |col| tabs.next(col + from).saturating_sub(from);
        text::push_printed(cells, tables, &mut self.text, self.joins, stop);
    }

    fn end_row(&mut self, row: &Row, leaves_column: bool) {
        self.joins = row.wrapped;
        self.leaves_column = row.wrapped && leaves_column;
        self.begins_within_row &= row.wrapped;
        if !self.joins {
            self.text.push(b'\n');
        }
    }

    fn begin_row(&mut self, first: Option<&Cell>) {
        let is_wide = first.is_some_and(|cell| cell.width() == Width::Wide);
        if std::mem::take(&mut self.leaves_column) && !is_wide {
            self.text.push(b' ');
        }
    }

    /// The last line does not continue.
    fn end_line(&mut self) {
        if std::mem::take(&mut self.joins) {
            self.text.push(b'\n');
            self.leaves_column = false;
        }
    }
}

/// The text; what a record says may not be UTF-8.
fn into_string(text: Vec<u8>) -> String {
    String::from_utf8(text)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The cells are ASCII and all new.
fn is_plain(cells: &[Cell]) -> bool {
    cells.iter().fold(0, |all, cell| all | cell.0 as u32) < 0x80
}

impl Capture {
    /// Begins at a column of the cursor's row.
    pub(super) fn begin(col: usize) -> Self {
        let done = Lines { begins_within_row: col > 0, ..Lines::default() };
        Self { done, ..Self::default() }
    }

    /// Takes a row that can no longer change.
    pub(super) fn take(&mut self, row: &Row, tables: &Tables, tabs: &TabStops) {
        self.done.push(row, tables, tabs);
    }

    /// Takes the text that can no longer change.
    pub(super) fn take_done(&mut self) -> String {
        into_string(std::mem::take(&mut self.done.text))
    }

    /// The last line does not continue on the screen any more.
    pub(super) fn end_line(&mut self) {
        self.done.end_line();
    }

    /// The text of the rows that can still change.
    pub(super) fn pending(&self, screen: &Grid, tables: &Tables, tabs: &TabStops) -> String {
        let Some(last) = screen.rows().rposition(|row| row.owner.is_commands()) else {
            return String::new();
        };
        let mut lines = Lines { text: Vec::new(), ..self.done };
        for row in screen.rows().take(last + 1) {
            lines.push(row, tables, tabs);
        }
        // The last line has not ended.
        if !lines.joins {
            lines.text.pop();
        }
        into_string(lines.text)
    }

    /// The rows that can still change are about to be cleared: their text was printed all the same.
    pub(super) fn take_pending(&mut self, screen: &Grid, tables: &Tables, tabs: &TabStops) {
        let text = self.pending(screen, tables, tabs);
        let done = &mut self.done;
        done.joins = if text.is_empty() { done.joins } else { !text.ends_with('\n') };
        done.text.extend_from_slice(text.as_bytes());
        done.end_line();
    }
}
