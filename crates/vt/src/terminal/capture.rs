//! The text of a command's output: the rows that scrolled off, and those that the program can still change.

use serde::{Deserialize, Serialize};

use super::core::{Core, next_stop};
use crate::cell::Width;
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
}

/// Rows as lines of text.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Lines {
    text: String,
    /// The last line continues in the next row.
    joins: bool,
    /// The last row left its last column free for a wide character.
    leaves_column: bool,
}

impl Lines {
    fn push(&mut self, row: &Row, tables: &Tables, tabs: &[bool]) {
        if row.owner == Owner::Earlier {
            return;
        }
        if self.leaves_column && row.cell(0).width() != Width::Wide {
            self.text.push(' ');
        }
        let (cells, joins) = (&row.cells()[..row.extent()], self.joins);
        text::push_printed(cells, tables, &mut self.text, joins, |col| next_stop(tabs, col));
        self.joins = row.wrapped;
        self.leaves_column = row.wrapped && row.len() < tabs.len();
        if !self.joins {
            self.text.push('\n');
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

impl Capture {
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
}

impl Core {
    /// The text of the rows that can still change.
    pub(super) fn pending_output(&self) -> String {
        let Some(last) = self.primary.rows().rposition(|row| row.owner.is_commands()) else {
            return String::new();
        };
        let before = self.capture.as_ref().map(|capture| &capture.done);
        let mut lines = Lines {
            text: String::new(),
            joins: before.is_some_and(|before| before.joins),
            leaves_column: before.is_some_and(|before| before.leaves_column),
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
        let text = self.pending_output();
        if let Some(capture) = &mut self.capture {
            let done = &mut capture.done;
            done.joins = if text.is_empty() { done.joins } else { !text.ends_with('\n') };
            done.text.push_str(&text);
            done.end_line();
        }
        self.primary.rows_mut().for_each(|row| row.owner = Owner::Earlier);
    }
}
