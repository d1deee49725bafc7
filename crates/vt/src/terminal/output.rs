//! [`CleanOutput`]: from a program's raw output to the text that stayed.

use std::fmt;

use super::capture::Capture;
use super::persisted::PersistedError;
use super::{Options, Terminal};
use crate::image::Images;
use crate::size::Size;

/// Collects a command's output in a terminal of its own.
///
/// What stayed is what the terminal would show, in its scrollback and on its screen, with soft-wrapped rows joined:
/// carriage returns, cursor movements and edits of progress displays are followed. Plain output stays as printed, tabs and
/// trailing blanks included. Output on the alternate screen is no text and left out, which is noted.
pub struct CleanOutput(Terminal);

impl Default for CleanOutput {
    fn default() -> Self {
        Self::new(Size { cols: 80, rows: 24 }, 0)
    }
}

impl CleanOutput {
    /// For a command whose output begins in `row` of a terminal of that size.
    pub fn new(size: Size, row: u16) -> Self {
        let mut terminal =
            Terminal::new(size, Options { scrollback_lines: 0, ..Options::default() });
        let row = usize::from(row).min(terminal.core.primary.height() - 1);
        terminal.core.primary.move_to(row, 0);
        terminal.core.begin_capture(row);
        Self(terminal)
    }

    /// Takes a piece of output.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.0.feed(bytes);
        self.0.core.replies.clear();
        self.0.core.events.clear();
        self.0.core.images = Images::default();
    }

    /// The terminal has a new size, and its cursor is in `row` of it now.
    pub fn resize(&mut self, size: Size, row: u16) {
        self.0.resize(size);
        let core = &mut self.0.core;
        // On the alternate screen, only the size tells where this one's cursor is.
        if !core.is_alternate {
            for row in core.primary.move_cursor_row_to(row.into()) {
                if let Some(capture) = &mut core.capture {
                    capture.take(&row, &core.tables, &core.tabs);
                }
            }
        }
    }

    /// Takes the text that can no longer change.
    pub fn take_done(&mut self) -> String {
        self.0.core.capture.as_mut().map(Capture::take_done).unwrap_or_default()
    }

    /// The text that the program could still change, as it is now.
    pub fn pending(&self) -> String {
        self.0.core.pending_text()
    }

    /// Takes everything: the output is complete.
    pub fn finish(mut self) -> String {
        self.0.parser.finish(&mut self.0.core);
        self.take_done() + &self.pending()
    }

    /// A full-screen program ran: the text is not all there was to see.
    pub fn was_full_screen(&self) -> bool {
        self.0.core.capture.as_ref().is_some_and(|capture| capture.was_full_screen)
    }

    /// The whole state, for [`CleanOutput::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
    }

    /// What [`CleanOutput::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PersistedError> {
        let options = Options { scrollback_lines: 0, ..Options::default() };
        Terminal::from_bytes(bytes, options).map(Self)
    }
}

impl fmt::Debug for CleanOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CleanOutput").field("pending", &self.pending()).finish_non_exhaustive()
    }
}
