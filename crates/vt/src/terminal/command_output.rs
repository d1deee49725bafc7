//! A command's output on a terminal: where it begins, is suspended and ends, and its text. Beside it, the stream is tapped.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::Terminal;
use super::capture::Capture;
use super::core::Core;
use super::modes::Modes;
use crate::event::Mark;
use crate::row::Owner;

/// Output that can still change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingOutput {
    /// The text, as it is now.
    pub text: String,
    /// A full-screen program ran: the text is not all there was to see.
    pub was_full_screen: bool,
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
        let capture = self.capture.as_ref();
        capture
            .map(|capture| capture.pending(&self.primary, &self.tables, &self.tabs))
            .unwrap_or_default()
    }

    /// The primary screen is about to be cleared.
    pub(super) fn capture_before_clear(&mut self) {
        if let Some(capture) = &mut self.capture {
            capture.take_pending(&self.primary, &self.tables, &self.tabs);
            self.primary.rows_mut().for_each(|row| row.owner = Owner::Earlier);
        }
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
