//! Writing text into a row, with what is known of its text as it was printed.

use std::ops::Range;

use super::Row;
use crate::cell::{Cell, Width};
use crate::clusters::Widths;
use crate::text;
use crate::utf8::first_code;

/// What was written of a text.
pub(crate) struct TextRun {
    pub(crate) bytes: usize,
    /// The column behind it.
    pub(crate) end: usize,
    pub(crate) last: char,
}

impl Row {
    /// Writes printable ASCII that fits into the row.
    #[inline]
    pub(crate) fn write_ascii(&mut self, col: usize, text: &[u8], template: Cell, cols: usize) {
        let end = col + text.len();
        self.note_print();
        if col != self.cells.len() {
            self.printed.clear();
        } else if !self.printed.is_empty() {
            self.printed.extend_from_slice(text);
        }
        self.split_around(&(col..end));
        if end >= cols {
            self.wrapped = false;
        }
        self.reserve(end, cols);
        if self.cells.len() < col {
            self.cells.resize(col, Cell::EMPTY);
        }
        // The part that is behind the row's end is appended: it need not be made empty before.
        let (over, behind) = text.split_at(text.len().min(self.cells.len() - col));
        for (cell, byte) in self.cells[col..].iter_mut().zip(over) {
            *cell = template.with_ascii(*byte);
        }
        self.cells.extend(behind.iter().map(|byte| template.with_ascii(*byte)));
    }

    /// Writes the characters at the start of a text that have a width and fit into the columns; `None` if there are none.
    pub(crate) fn write_text(
        &mut self,
        columns: Range<usize>,
        text: &[u8],
        template: Cell,
        cols: usize,
    ) -> Option<TextRun> {
        let start = columns.start;
        let widths = Widths::get();
        let (first, len) = first_code(text);
        let fits = |width: usize| width > 0 && start + width <= columns.end;
        if len == 0 || !widths.of(first).is_some_and(fits) {
            return None;
        }
        let printed = self.take_printed(start);
        self.note_write();
        self.split_around(&(start..start));
        let len = self.cells.len();
        // No character is wider than its bytes are many.
        let room = columns.end.min(start + text.len());
        self.extend_to(room, cols);
        let cells = &mut self.cells[start..room];
        let (mut bytes, mut col, mut has_wide, mut last) = (0, 0, false, first);
        while let (code, len @ 1..) = first_code(&text[bytes..]) {
            let cell = template.with_code(code);
            let width = widths.of(code).unwrap_or(0);
            match &mut cells[col..] {
                [free, ..] if width == 1 => *free = cell,
                [free, behind, ..] if width == 2 => {
                    (*free, *behind) = (cell.wide(), cell.spacer());
                    has_wide = true;
                }
                _ => break,
            }
            col += width;
            bytes += len;
            last = code;
        }
        let end = start + col;
        self.cells.truncate(len.max(end));
        // The left half of this one was overwritten.
        if self.complex && self.cells.get(end).is_some_and(|cell| cell.width() == Width::Spacer) {
            self.cells[end] = self.cells[end].emptied();
        }
        self.complex |= has_wide;
        if end >= cols {
            self.wrapped = false;
        }
        if let Some(mut printed) = printed {
            printed.extend_from_slice(&text[..bytes]);
            self.printed = printed;
        }
        Some(TextRun { bytes, end, last: char::from_u32(last)? })
    }

    /// Takes the text of all cells, if what is printed at a column is appended to it.
    fn take_printed(&mut self, col: usize) -> Option<Vec<u8>> {
        if col != self.cells.len() || (self.printed.is_empty() && self.clusters) {
            return None;
        }
        if self.printed.is_empty() {
            // ASCII, or the parts of a line that was changed.
            text::push_characters(&self.cells, &mut self.printed);
        }
        Some(std::mem::take(&mut self.printed))
    }

    /// Writes a character of one or two columns that fits into the row.
    #[inline]
    pub(crate) fn write(&mut self, col: usize, cell: Cell, cols: usize) {
        let wide = cell.width() == Width::Wide;
        let end = col + 1 + usize::from(wide);
        self.note_write();
        self.split_around(&(col..end));
        if end >= cols {
            self.wrapped = false;
        }
        self.extend_to(end, cols);
        self.cells[col] = cell;
        if wide {
            self.cells[col + 1] = cell.spacer();
        }
        self.note_kind(cell);
    }

    /// Gives a cell the cluster that it makes with a mark.
    pub(crate) fn join(&mut self, col: usize, cluster: Cell, mark: char, cols: usize) {
        let cell = self.cell(col);
        let end = col + 1 + usize::from(cell.width() == Width::Wide);
        let is_appended = end == self.cells.len() && cell.cluster().is_none() && mark != '\t';
        let mut printed = std::mem::take(&mut self.printed);
        self.replace(col, cluster, cols);
        if is_appended && !printed.is_empty() {
            printed.extend_from_slice(mark.encode_utf8(&mut [0; 4]).as_bytes());
            self.printed = printed;
        }
    }

    /// Changes the text of a cell that is there, without a look at its neighbours.
    pub(crate) fn replace(&mut self, col: usize, cell: Cell, cols: usize) {
        self.note_write();
        self.extend_to(col + 1, cols);
        self.cells[col] = cell;
        self.note_kind(cell);
    }
}
