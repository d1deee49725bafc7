//! Where a shell's command line stands on the screen, by the shell's own marks.
//!
//! From the end of the prompt (`B`) to the beginning of the output (`C`), what is shown is the line
//! itself: an echo, however the shell's editor drew it. Lines are counted with the history above them.

use crate::codec::{DumpError, Reader, Writer};
use crate::screen::Screen;
use crate::search::CellRange;

/// The line that was edited last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommandLine {
    start: (usize, usize),
    /// Where the output begins; `None` while the line is edited.
    end: Option<(usize, usize)>,
    /// The history's length at the start: a shorter one means that lines were erased.
    history: usize,
    /// A command was given that the shell has not begun: all behind the prompt is its line.
    pub(crate) given: bool,
}

impl CommandLine {
    /// The prompt ended in this row and column.
    pub(crate) fn begin(history: usize, row: usize, col: usize, given: bool) -> Self {
        Self { start: (history + row, col), end: None, history, given }
    }

    /// The output begins in this row and column.
    pub(crate) fn end(&mut self, history: usize, row: usize, col: usize) {
        self.end.get_or_insert((history + row, col));
        self.given = false;
    }

    /// The cells of the line that are visible.
    pub(crate) fn cells(&self, screen: &Screen, history: usize) -> Vec<CellRange> {
        let end = match self.end {
            Some(end) => end,
            None if self.given => (history + screen.rows.len(), 0),
            None => return Vec::new(),
        };
        if history < self.history {
            return Vec::new();
        }
        let rows = self.start.0.max(history)..=end.0;
        rows.filter_map(|line| {
            let row = screen.rows.get(line - history)?;
            let from = if line == self.start.0 { self.start.1 } else { 0 };
            let to = if line == end.0 { end.1 } else { row.cells.len() };
            (from < to).then(|| CellRange::new(line - history, from, to))
        })
        .collect()
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        let place = |writer: &mut Writer, (line, col): (usize, usize)| {
            writer.size(line);
            writer.size(col);
        };
        place(writer, self.start);
        writer.option(self.end, place);
        writer.size(self.history);
        writer.flag(self.given);
    }

    /// Reads a place in one of `lines` lines at most.
    pub(crate) fn read(reader: &mut Reader<'_>, lines: usize) -> Result<Self, DumpError> {
        let place = |reader: &mut Reader<'_>| Ok((reader.size_up_to(lines)?, reader.size()?));
        Ok(Self {
            start: place(reader)?,
            end: reader.option(place)?,
            history: reader.size()?,
            given: reader.flag()?,
        })
    }
}
