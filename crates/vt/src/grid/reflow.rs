//! A screen at another width: its lines are laid out again.
//!
//! Only the screen is touched. The part of its first line that is in the history comes back for that, and so do lines that
//! have room on a taller screen.

use std::collections::VecDeque;

use super::{Grid, Position};
use crate::cell::{Cell, Width};
use crate::row::{Owner, Row};
use crate::size::Size;

/// Rows of one line, with the cursor if it is in them.
struct Unwrapped {
    cells: Vec<Cell>,
    owner: Owner,
    /// The cursor's cell.
    cursor: Option<usize>,
    /// The first cell of each row before.
    starts: VecDeque<usize>,
}

impl Grid {
    /// Lays the lines out at a new size. `head` is the part of the first line that is above the screen. Returns the rows
    /// that have no room, which go to the history. `marks` are numbers of rows, which change as their rows do; at another
    /// width, none is above the screen.
    pub(crate) fn lay_out<'a>(
        &mut self,
        head: Vec<Row>,
        size: Size,
        marks: impl Iterator<Item = &'a mut i64>,
    ) -> Vec<Row> {
        let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
        let below = self.blank_rows_below_cursor();
        let kept = self.rows.len() - below;
        self.rows.truncate(kept);
        let above = head.len();
        self.cursor.row += above;
        head.into_iter().rev().for_each(|row| self.rows.push_front(row));
        let moved = if cols == self.cols { Vec::new() } else { self.wrap_again(cols) };
        let height = self.rows.len();
        // The cursor stays on the screen, whatever is below it.
        let surplus = self.rows.len().saturating_sub(rows).min(self.cursor.row);
        let left = self.rows.drain(..surplus).collect();
        self.cursor.row -= surplus;
        for mark in marks {
            let row = *mark + above as i64;
            let now = match usize::try_from(row).ok().filter(|_| !moved.is_empty()) {
                // Blank rows follow the others.
                Some(row) => {
                    moved.get(row).copied().unwrap_or_else(|| height + row - moved.len()) as i64
                }
                None => row,
            };
            *mark = now - surplus as i64;
        }
        if self.rows.len() > rows {
            self.rows.truncate(rows);
            self.rows[rows - 1].wrapped = false;
        }
        let blank = below.min(rows - self.rows.len());
        self.rows.resize_with(self.rows.len() + blank, Row::default);
        left
    }

    /// How many more rows the screen has room for at its top, after [`Grid::lay_out`].
    pub(crate) fn room(&self, size: Size) -> usize {
        usize::from(size.rows) - self.rows.len()
    }

    /// Puts rows that come back from the history on top.
    pub(crate) fn bring_back(&mut self, rows: Vec<Row>) {
        self.cursor.row += rows.len();
        rows.into_iter().rev().for_each(|row| self.rows.push_front(row));
    }

    /// Ends the change of size: blank rows fill what is left.
    pub(crate) fn fill(&mut self, size: Size) {
        self.rows.resize_with(usize::from(size.rows), Row::default);
        self.cols = usize::from(size.cols);
        self.cursor.row = self.cursor.row.min(self.rows.len() - 1);
        self.reset_margins();
    }

    /// Moves all rows so that the cursor's is at another height; returns those that leave at the top.
    pub(crate) fn move_cursor_row_to(&mut self, row: usize) -> Vec<Row> {
        let height = self.rows.len();
        let row = row.min(height - 1);
        let left = self.rows.drain(..self.cursor.row.saturating_sub(row)).collect();
        for _ in self.cursor.row..row {
            self.rows.push_front(Row::of(Vec::new(), false, Owner::Earlier));
        }
        self.rows.resize_with(height, Row::default);
        self.cursor.row = row;
        left
    }

    fn blank_rows_below_cursor(&self) -> usize {
        let below = self.rows.iter().skip(self.cursor.row + 1).rev();
        below.take_while(|row| row.is_blank()).count()
    }

    /// Returns which row each row has become, as of its first cell.
    fn wrap_again(&mut self, cols: usize) -> Vec<usize> {
        let mut moved = Vec::with_capacity(self.rows.len());
        let mut rows = VecDeque::with_capacity(self.rows.len());
        let mut line: Option<Unwrapped> = None;
        let mut leaves_column = false;
        let cursor = self.cursor;
        for (index, row) in std::mem::take(&mut self.rows).into_iter().enumerate() {
            let line_so_far = line.get_or_insert(Unwrapped {
                cells: Vec::new(),
                owner: row.owner,
                cursor: None,
                starts: VecDeque::new(),
            });
            if std::mem::take(&mut leaves_column) && row.cell(0).width() != Width::Wide {
                line_so_far.cells.push(Cell::EMPTY);
            }
            line_so_far.starts.push_back(line_so_far.cells.len());
            if index == cursor.row {
                line_so_far.cursor =
                    Some(line_so_far.cells.len() + cursor.col + usize::from(cursor.wraps));
            }
            if row.owner == Owner::Earlier {
                line_so_far.cells.extend(row.cells().iter().map(|cell| cell.earlier()));
            } else {
                line_so_far.cells.extend_from_slice(row.cells());
            }
            // A part of the line may be in the history, and taken.
            if row.owner.is_commands() {
                line_so_far.owner = row.owner;
            }
            leaves_column = row.wrapped && row.len() < self.cols;
            if !row.wrapped
                && let Some(line) = line.take()
            {
                self.wrap_line(line, cols, &mut rows, &mut moved);
            }
        }
        if let Some(line) = line {
            self.wrap_line(line, cols, &mut rows, &mut moved);
            if let Some(last) = rows.back_mut() {
                last.wrapped = true;
            }
        }
        self.rows = rows;
        moved
    }

    fn wrap_line(
        &mut self,
        line: Unwrapped,
        cols: usize,
        rows: &mut VecDeque<Row>,
        moved: &mut Vec<usize>,
    ) {
        let Unwrapped { mut cells, owner, cursor, mut starts } = line;
        // Cells in colour at the end of a line belong to its row only.
        if cells.len() > cols {
            let written =
                cells.iter().rposition(|cell| !cell.is_unwritten()).map_or(0, |last| last + 1);
            cells.truncate(written.max(1));
        }
        let mut start = 0;
        loop {
            let mut end = (start + cols).min(cells.len());
            if end < cells.len() && cells[end].width() == Width::Spacer {
                end -= 1;
            }
            let is_last = end == cells.len();
            if let Some(at) =
                cursor.filter(|at| (start..end).contains(at) || (is_last && *at >= start))
            {
                self.cursor = place(rows.len(), at - start, cols, at == cells.len());
            }
            while starts.pop_front_if(|at| is_last || *at < end).is_some() {
                moved.push(rows.len());
            }
            rows.push_back(Row::of(cells[start..end].to_vec(), !is_last, owner));
            start = end;
            if is_last {
                return;
            }
        }
    }
}

/// Where the cursor is: `behind` the text it wraps if there is no column left.
fn place(row: usize, col: usize, cols: usize, behind: bool) -> Position {
    Position { row, col: col.min(cols - 1), wraps: behind && col >= cols }
}
