//! A command's output, taken from the primary screen: the rows that scrolled off, and those that can still change.
//!
//! ```text
//! begin ──► rows scroll off ──► done (taken as they come)
//!   │       rows on the screen ─► pending
//!   └─ suspend: what is pending is copied; nothing is taken until `resume`, which forgets the copy, or `end`
//! ```
//!
//! What was on the screen before is not part of it, also not in a row that the command writes to.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::Terminal;
use super::core::Core;
use super::modes::Modes;
use crate::cell::{Cell, Width};
use crate::event::Mark;
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
    is_suspended: bool,
}

/// Output that can still change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingOutput {
    /// The text, as it is now.
    pub text: String,
    /// A full-screen program ran: the text is not all there was to see.
    pub was_full_screen: bool,
}

/// Rows as lines of text.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Lines {
    text: String,
    /// The last line continues in the next row.
    joins: bool,
    /// The last row left its last column free for a wide character.
    leaves_column: bool,
    /// The output begins behind what is in the cursor's row.
    begins_within_row: bool,
}

impl Lines {
    fn push(&mut self, row: &Row, tables: &Tables, tabs: &[bool]) {
        if row.owner == Owner::Earlier {
            return;
        }
        let cells = &row.cells()[..row.extent()];
        if !row.is_complex() && is_plain(cells) {
            self.begin_row(cells.first());
            self.text.extend(cells.iter().map(|cell| match cell.character() {
                Some('\0') | None => ' ',
                Some(character) => character,
            }));
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
        } else {
            self.push_cells(cells, 0, tables, tabs);
        }
        self.end_row(row, row.wrapped && row.len() < tabs.len());
    }

    fn push_cells(&mut self, cells: &[Cell], from: usize, tables: &Tables, tabs: &[bool]) {
        self.begin_row(cells.first());
        let stop = |col| super::core::next_stop(tabs, col + from).saturating_sub(from);
        text::push_printed(cells, tables, &mut self.text, self.joins, stop);
    }

    fn end_row(&mut self, row: &Row, leaves_column: bool) {
        self.joins = row.wrapped;
        self.leaves_column = row.wrapped && leaves_column;
        self.begins_within_row &= row.wrapped;
        if !self.joins {
            self.text.push('\n');
        }
    }

    fn begin_row(&mut self, first: Option<&Cell>) {
        let is_wide = first.is_some_and(|cell| cell.width() == Width::Wide);
        if std::mem::take(&mut self.leaves_column) && !is_wide {
            self.text.push(' ');
        }
    }

    /// The last line does not continue.
    fn end_line(&mut self) {
        if std::mem::take(&mut self.joins) {
            self.text.push('\n');
            self.leaves_column = false;
        }
    }
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
    pub(super) fn take(&mut self, row: &Row, tables: &Tables, tabs: &[bool]) {
        self.done.push(row, tables, tabs);
    }

    /// Takes the text that can no longer change.
    pub(super) fn take_done(&mut self) -> String {
        std::mem::take(&mut self.done.text)
    }

    /// The last line does not continue on the screen any more.
    pub(super) fn end_line(&mut self) {
        self.done.end_line();
    }

    pub(super) fn is_suspended(&self) -> bool {
        self.is_suspended
    }
}

/// A command's output. Without one, and while it is suspended, the stream is tapped.
impl Terminal {
    /// Keeps the stream for [`Terminal::take_tapped`] from now on, except while output is captured. The owner has to take
    /// it after every feed: it is not bounded here.
    pub fn tap(&mut self) {
        self.core.taps = true;
    }

    /// Takes text and control sequences since the last call. OSC and other strings are left out.
    pub fn take_tapped(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.core.tapped)
    }

    /// Takes the mark that [`Terminal::feed_some`] ended with.
    pub fn take_mark(&mut self) -> Option<Mark> {
        self.core.mark.take()
    }

    /// Takes the number of bytes of text and control sequences that were fed.
    pub fn take_printed(&mut self) -> u64 {
        std::mem::take(&mut self.core.printed)
    }

    /// Brings the terminal into the state that a command expects, and returns the control sequences for that: a program that
    /// was killed may have left the alternate screen, margins or a character set behind, and the next one's output would
    /// be lost in them.
    pub fn reset_for_command(&mut self) -> String {
        let mut sequences = String::new();
        if self.core.is_alternate {
            // This restores what was in force before it.
            sequences.push_str("\x1b[?1049l");
            self.feed(sequences.as_bytes());
        }
        let rest = self.core.reset_for_command();
        self.feed(rest.as_bytes());
        sequences + &rest
    }

    /// What comes from now on, at the cursor, is a command's output.
    pub fn begin_output(&mut self) {
        let row = self.core.primary.cursor.row;
        self.core.begin_capture(row);
    }

    /// What comes from now on may not be output. Returns what is pending.
    pub fn suspend_output(&mut self) -> PendingOutput {
        if let Some(capture) = &mut self.core.capture {
            capture.is_suspended = true;
        }
        self.pending_output()
    }

    /// What came since it was suspended is output.
    pub fn resume_output(&mut self) {
        if let Some(capture) = &mut self.core.capture {
            capture.is_suspended = false;
        }
    }

    /// The output is over; returns what was pending.
    pub fn end_output(&mut self) -> PendingOutput {
        let pending = self.pending_output();
        self.core.capture = None;
        pending
    }

    /// Takes output that can no longer change.
    pub fn take_done_output(&mut self) -> String {
        self.core.capture.as_mut().map(Capture::take_done).unwrap_or_default()
    }

    /// Output that can still change, as it is now.
    pub fn pending_output(&self) -> PendingOutput {
        let Some(capture) = &self.core.capture else { return PendingOutput::default() };
        PendingOutput { text: self.core.pending_text(), was_full_screen: capture.was_full_screen }
    }
}

impl Core {
    /// The text of the rows that can still change.
    pub(super) fn pending_text(&self) -> String {
        let Some(last) = self.primary.rows().rposition(|row| row.owner.is_commands()) else {
            return String::new();
        };
        let done = self.capture.as_ref().map(|capture| &capture.done);
        let mut lines = Lines {
            text: String::new(),
            joins: done.is_some_and(|done| done.joins),
            leaves_column: done.is_some_and(|done| done.leaves_column),
            begins_within_row: done.is_some_and(|done| done.begins_within_row),
        };
        for row in self.primary.rows().take(last + 1) {
            lines.push(row, &self.tables, &self.tabs);
        }
        // The last line has not ended.
        if !lines.joins {
            lines.text.pop();
        }
        lines.text
    }

    /// The primary screen is about to be cleared: what is there was printed all the same.
    pub(super) fn capture_before_clear(&mut self) {
        if self.capture.is_none() {
            return;
        }
        let text = self.pending_text();
        if let Some(capture) = &mut self.capture {
            let done = &mut capture.done;
            done.joins = if text.is_empty() { done.joins } else { !text.ends_with('\n') };
            done.text.push_str(&text);
            done.end_line();
        }
        self.primary.rows_mut().for_each(|row| row.owner = Owner::Earlier);
    }

    fn reset_for_command(&self) -> String {
        let mut reset = String::new();
        let grid = self.grid();
        let has_margins = grid.lines != (0..grid.height()) || !grid.has_full_width();
        if has_margins || self.modes.intersects(Modes::ORIGIN | Modes::COLUMN_MARGINS) {
            // These move the cursor.
            let (row, col) = (grid.cursor.row + 1, grid.cursor.col + 1);
            let _ = write!(reset, "\x1b[?6l\x1b[?69l\x1b[r\x1b[{row};{col}H");
        }
        for (mode, off) in [(Modes::INSERT, "\x1b[4l"), (Modes::NEWLINE, "\x1b[20l")] {
            reset.push_str(if self.modes.contains(mode) { off } else { "" });
        }
        if !self.modes.contains(Modes::AUTOWRAP) {
            reset.push_str("\x1b[?7h");
        }
        if !self.charsets.is_plain() {
            reset.push_str("\x0f\x1b(B\x1b)B");
        }
        if self.iso_protection {
            // What is protected is not erased.
            reset.push_str("\x1b[\"q");
        }
        // Columns of the output count from 0, whatever the prompt's hooks left in the line.
        let is_within_row = grid.cursor.col > 0 || grid.cursor.wraps;
        if is_within_row {
            reset.push_str("\r\n");
        }
        // A tab that leads over earlier text could not be told from blanks.
        let first = grid.cursor.row + usize::from(is_within_row);
        if (first..grid.height()).any(|row| grid.row(row).written() > 0) {
            reset.push_str("\x1b[m\x1b[J");
        }
        reset
    }
}
