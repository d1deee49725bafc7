//! A page in a terminal that gets another size while the command runs.
//!
//! Rows that were soft-wrapped are laid out anew, and the cursor stays with its character, as in the
//! emulator. That may bring lines back from its history, which are final here: blank rows stand in
//! for them, so that the cursor is in the same row in both.

use std::collections::VecDeque;

use super::page::{Cursor, Page};
use super::row::{Cell, Owner, Part, Row};
use crate::emulator::Size;

impl Page {
    /// Takes the new size; `row` is where the terminal's cursor is now.
    pub(super) fn resize(&mut self, size: Size, row: u16) {
        let Size { cols, rows } = size.clamped();
        let (cols, rows) = (usize::from(cols), usize::from(rows));
        if cols != self.grid.cols {
            self.lay_out(cols);
        }
        // On the alternate screen, only the size tells where this one's cursor is.
        let row = if self.alternate { self.cursor.row } else { usize::from(row) }.min(rows - 1);
        while self.cursor.row > row {
            if let Some(first) = self.screen.pop_front() {
                self.hand_out(&first);
            }
            self.cursor.row -= 1;
        }
        while self.cursor.row < row {
            self.screen.push_front(Row::earlier());
            self.cursor.row += 1;
        }
        self.screen.resize_with(rows, Row::default);
        self.rows = rows;
        self.region = 0..rows;
        let Cursor { row, col, .. } = self.saved;
        (self.saved.row, self.saved.col) = (row.min(rows - 1), col.min(cols - 1));
    }

    fn lay_out(&mut self, cols: usize) {
        let old = std::mem::take(&mut self.screen);
        let mut new = VecDeque::new();
        let cursor = self.cursor;
        let mut line: Vec<Cell> = Vec::new();
        let mut owner = Owner::Nobody;
        // Where the cursor is in the line that is collected.
        let mut at = None;
        let mut grid = self.grid.clone();
        grid.resize(cols);
        for (index, mut row) in old.into_iter().enumerate() {
            let wraps = row.wraps();
            if index == cursor.row {
                at = Some(line.len() + cursor.col + usize::from(cursor.wrap_pending));
            }
            if line.is_empty() && !wraps && row.fits(cols) {
                if let Some(col) = at.take() {
                    self.cursor.row = new.len();
                    self.cursor.col = col.min(cols - 1);
                    self.cursor.wrap_pending = col >= cols;
                }
                row.widen(cols);
                new.push_back(row);
                continue;
            }
            if line.is_empty() {
                owner = row.owner;
            }
            let cells = row.edit(&self.grid);
            let used = cells.iter().rposition(|cell| !cell.is_blank()).map_or(0, |last| last + 1);
            let taken = if wraps { cells.len() } else { used };
            line.extend(cells[..taken].iter().filter(|cell| cell.part != Part::Leading).cloned());
            if !wraps {
                let (first, place) = (new.len(), at.take());
                let place = split(std::mem::take(&mut line), cols, owner, place, &mut new);
                if let Some((row, col)) = place {
                    self.cursor.row = first + row;
                    self.cursor.col = col.min(cols - 1);
                    self.cursor.wrap_pending = col >= cols;
                }
            }
        }
        if !line.is_empty() {
            let (first, place) = (new.len(), at.take());
            if let Some((row, col)) = split(line, cols, owner, place, &mut new) {
                (self.cursor.row, self.cursor.col) = (first + row, col.min(cols - 1));
            }
        }
        self.grid = grid;
        self.screen = new;
    }
}

/// Cuts a line into rows; gives back where the cell `at` came to stand.
fn split(
    line: Vec<Cell>,
    cols: usize,
    owner: Owner,
    at: Option<usize>,
    rows: &mut VecDeque<Row>,
) -> Option<(usize, usize)> {
    let mut cells = Vec::with_capacity(cols);
    let mut place = None;
    let mut row = 0;
    let total = line.len();
    for (index, mut cell) in line.into_iter().enumerate() {
        let is_split = cell.part == Part::Wide && cells.len() + 1 == cols;
        if cells.len() == cols || is_split {
            if is_split {
                cells.push(Cell::new('\0', Part::Leading));
            }
            if let Some(last) = cells.last_mut() {
                last.wraps = true;
            }
            rows.push_back(Row::of_cells(
                std::mem::replace(&mut cells, Vec::with_capacity(cols)),
                owner,
            ));
            row += 1;
        }
        if at == Some(index) {
            place = Some((row, cells.len()));
        }
        cell.wraps = false;
        cells.push(cell);
    }
    let end = cells.len();
    cells.resize(cols, Cell::BLANK);
    rows.push_back(Row::of_cells(cells, owner));
    place.or_else(|| at.map(|at| (row, end + at.saturating_sub(total))))
}
