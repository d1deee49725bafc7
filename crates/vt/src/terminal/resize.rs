//! Another size: the primary screen's lines are laid out again, the alternate one is cut.

use super::core::Core;
use crate::cell::Cell;
use crate::command_line::EnteredLines;
use crate::history::Line;
use crate::row::{Owner, Row};
use crate::size::Size;
use crate::tables::Tables;

impl Core {
    pub(super) fn resize(&mut self, size: Size) {
        if size == self.size {
            return;
        }
        self.end_synchronized();
        let old = usize::from(self.size.cols);
        let cols = usize::from(size.cols);
        let mut head = Vec::new();
        if cols != old
            && let Some(line) = self.history.take_open(old)
        {
            let mut rows = live_rows(&line, usize::MAX, &mut self.tables);
            rows.iter_mut().for_each(|row| row.wrapped = true);
            head = rows;
        }
        self.size = size;
        self.resize_tabs();
        let left = self.primary.lay_out(head, size);
        for row in left {
            self.history.push(&row, &self.tables, cols);
            if let Some(capture) = &mut self.capture {
                capture.take(&row, &self.tables, &self.tabs);
            }
        }
        self.bring_back(size);
        self.primary.fill(size);
        self.alternate.cut_to(size);
        for screen in &mut self.per_screen {
            let saved = &mut screen.saved.position;
            saved.row = saved.row.min(usize::from(size.rows) - 1);
            // Behind the last column is behind the text.
            saved.col = (saved.col + usize::from(saved.wraps)).min(cols - 1);
            saved.wraps &= saved.col + 1 == cols;
        }
        // Lines can no longer be counted from where they began.
        self.command_line = None;
        self.entered_lines = EnteredLines::default();
        self.sweep_tables();
    }

    /// Lines of the history come back to a screen that has room for them.
    fn bring_back(&mut self, size: Size) {
        let cols = usize::from(size.cols);
        while self.primary.room(size) > 0 {
            let room = self.primary.room(size);
            let open = self.history.is_open();
            let line = match open {
                true => self.history.take_open_up_to(cols, room),
                false => self.history.take_last(cols, room),
            };
            let Some(line) = line else { return };
            let mut rows = live_rows(&line, cols, &mut self.tables);
            // What was output is taken already.
            rows.iter_mut().for_each(|row| row.owner = Owner::Earlier);
            if let Some(last) = rows.last_mut() {
                last.wrapped = open;
            }
            self.primary.bring_back(rows);
        }
    }
}

/// The rows of a line of the history as cells.
fn live_rows(line: &Line, cols: usize, tables: &mut Tables) -> Vec<Row> {
    let styles: Vec<_> = line.styles.iter().map(|style| tables.style_id(style)).collect();
    let ranges = line.rows(cols);
    let last = ranges.len() - 1;
    ranges
        .into_iter()
        .enumerate()
        .map(|(index, range)| {
            let cells = line.cells[range].iter().map(|cell| {
                let blank = Cell::blank(styles.get(cell.style).copied().unwrap_or_default());
                let mut characters = line.shown(cell).chars();
                let Some(first) = characters.next() else {
                    return if cell.width == crate::cell::Width::Spacer {
                        blank.spacer()
                    } else {
                        blank
                    };
                };
                let first = blank.with_char(first);
                let first =
                    if cell.width == crate::cell::Width::Wide { first.wide() } else { first };
                characters.fold(first, |joined, mark| tables.join(joined, mark))
            });
            Row::of(cells.collect(), index < last, Owner::Earlier)
        })
        .collect()
}
