//! One screen: its rows, the cursor's place and the margins.
//!
//! A grid knows nothing of modes, styles and history: the terminal decides what is printed where, and takes rows that are
//! about to scroll off the top before it scrolls ([`Grid::scroll_up`]).

mod rectangles;
mod reflow;

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub(crate) use self::rectangles::Rectangle;
use crate::cell::Cell;
use crate::row::{Owner, Row};
use crate::size::Size;
use crate::tables::{Moved, Tables, Used};

/// Where the next character goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    pub(crate) row: usize,
    pub(crate) col: usize,
    /// The last column was written: the next character goes to the next row.
    pub(crate) wraps: bool,
}

/// A screen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Grid {
    rows: VecDeque<Row>,
    cols: usize,
    pub(crate) cursor: Position,
    /// The scrolling region (DECSTBM).
    pub(crate) lines: Range<usize>,
    /// The columns of the scrolling region (DECSLRM).
    pub(crate) columns: Range<usize>,
}

impl Grid {
    pub(crate) fn new(size: Size) -> Self {
        let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
        let mut grid = Self {
            rows: VecDeque::new(),
            cols,
            cursor: Position::default(),
            lines: 0..rows,
            columns: 0..cols,
        };
        grid.rows.resize_with(rows, Row::default);
        grid
    }

    pub(crate) fn cols(&self) -> usize {
        self.cols
    }

    pub(crate) fn height(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    pub(crate) fn row(&self, row: usize) -> &Row {
        &self.rows[row]
    }

    #[inline]
    pub(crate) fn row_mut(&mut self, row: usize) -> &mut Row {
        &mut self.rows[row]
    }

    pub(crate) fn rows(&self) -> impl DoubleEndedIterator<Item = &Row> + ExactSizeIterator {
        self.rows.iter()
    }

    pub(crate) fn rows_mut(
        &mut self,
    ) -> impl DoubleEndedIterator<Item = &mut Row> + ExactSizeIterator {
        self.rows.iter_mut()
    }

    /// The row of the cursor.
    #[inline]
    pub(crate) fn cursor_row(&mut self) -> &mut Row {
        &mut self.rows[self.cursor.row]
    }

    /// The margins are those of the whole screen.
    pub(crate) fn reset_margins(&mut self) {
        self.lines = 0..self.rows.len();
        self.columns = 0..self.cols;
    }

    pub(crate) fn has_full_width(&self) -> bool {
        self.columns == (0..self.cols)
    }

    /// The cursor is within the margins.
    pub(crate) fn is_cursor_inside(&self) -> bool {
        self.lines.contains(&self.cursor.row) && self.columns.contains(&self.cursor.col)
    }

    /// Puts the cursor into a cell; the nearest there is.
    pub(crate) fn move_to(&mut self, row: usize, col: usize) {
        self.cursor = Position {
            row: row.min(self.rows.len() - 1),
            col: col.min(self.cols - 1),
            wraps: false,
        };
    }

    /// Puts the cursor behind what was printed up to a column; `end` is where it wraps.
    #[inline]
    pub(crate) fn put_cursor_behind(&mut self, col: usize, end: usize) {
        self.cursor.wraps = col >= end;
        self.cursor.col = if col >= end { end - 1 } else { col };
    }

    /// The column behind the last that printing from a column may reach.
    #[inline]
    pub(crate) fn right_end(&self, col: usize) -> usize {
        if col < self.columns.end { self.columns.end } else { self.cols }
    }

    /// Rows that leave the screen at its top when these lines scroll up; none if they only move within it.
    pub(crate) fn leaves_at_top(&self, lines: &Range<usize>) -> bool {
        lines.start == 0 && self.has_full_width()
    }

    /// Moves lines up within the margins' columns; blank ones come in at the bottom.
    pub(crate) fn scroll_up(&mut self, lines: Range<usize>, count: usize, blank: Cell) {
        let count = count.min(lines.len());
        if count == 0 {
            return;
        }
        if !self.has_full_width() {
            return self.scroll_columns(lines, blank, |row| Some(row + count));
        }
        if lines == (0..self.rows.len()) {
            self.rows.rotate_left(count);
        } else {
            self.rows.make_contiguous()[lines.clone()].rotate_left(count);
            // The row above no longer continues in what was moved.
            if lines.start > 0 {
                self.rows[lines.start - 1].wrapped = false;
            }
        }
        self.erase_rows(lines.end - count..lines.end, blank);
    }

    /// Moves lines down within the margins' columns; blank ones come in at the top.
    pub(crate) fn scroll_down(&mut self, lines: Range<usize>, count: usize, blank: Cell) {
        let count = count.min(lines.len());
        if count == 0 {
            return;
        }
        if !self.has_full_width() {
            return self.scroll_columns(lines, blank, |row| row.checked_sub(count));
        }
        self.rows.make_contiguous()[lines.clone()].rotate_right(count);
        if lines.start > 0 {
            self.rows[lines.start - 1].wrapped = false;
        }
        self.rows[lines.end - 1].wrapped = false;
        self.erase_rows(lines.start..lines.start + count, blank);
    }

    /// Gives each line the cells of another one, within the margins' columns; blanks where there is none.
    fn scroll_columns(
        &mut self,
        lines: Range<usize>,
        blank: Cell,
        from: impl Fn(usize) -> Option<usize>,
    ) {
        let columns = self.columns.clone();
        let copied: Vec<Vec<Cell>> = lines
            .clone()
            .map(|row| columns.clone().map(|col| self.rows[row].cell(col)).collect())
            .collect();
        for row in lines.clone() {
            let source = from(row).filter(|source| lines.contains(source));
            match source {
                Some(source) => {
                    self.rows[row].paste(columns.start, &copied[source - lines.start], self.cols);
                }
                None => self.rows[row].erase(columns.clone(), blank, self.cols),
            }
        }
    }

    /// Erases columns of a row.
    pub(crate) fn erase(&mut self, row: usize, columns: Range<usize>, blank: Cell) {
        if columns == (0..self.cols) {
            self.rows[row].erase_all(blank, self.cols);
        } else {
            self.rows[row].erase(columns, blank, self.cols);
        }
    }

    /// Erases whole rows; they are nobody's.
    pub(crate) fn erase_rows(&mut self, rows: Range<usize>, blank: Cell) {
        for row in self.rows.range_mut(rows) {
            row.erase_all(blank, self.cols);
            row.owner = Owner::Nobody;
        }
    }

    /// The last row that something was written to, and those above it.
    pub(crate) fn used_rows(&self) -> usize {
        self.rows.iter().rposition(|row| !row.is_blank()).map_or(0, |last| last + 1)
    }

    /// Gives a screen that does not lay out lines again another size.
    /// Returns how many rows have left it at its top.
    pub(crate) fn cut_to(&mut self, size: Size) -> usize {
        let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
        let above = (self.cursor.row + 1).saturating_sub(rows);
        self.rows.drain(..above);
        self.rows.resize_with(rows, Row::default);
        self.rows.iter_mut().for_each(|row| row.cut(cols));
        self.cols = cols;
        self.move_to(self.cursor.row - above, self.cursor.col);
        self.reset_margins();
        above
    }

    pub(crate) fn give_back_memory(&mut self) {
        self.rows.iter_mut().for_each(Row::give_back_memory);
    }

    pub(crate) fn memory(&self) -> usize {
        self.rows.iter().map(Row::memory).sum()
    }

    pub(crate) fn note_used(&self, used: &mut Used) {
        self.rows.iter().for_each(|row| row.note_used(used));
    }

    pub(crate) fn apply(&mut self, moved: &Moved) {
        self.rows.iter_mut().for_each(|row| row.apply(moved));
    }

    /// What was read from a record can be used.
    pub(crate) fn is_sound(&self, size: Size, tables: &Tables) -> bool {
        let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
        let fits = |range: &Range<usize>, end: usize| range.start < range.end && range.end <= end;
        self.cols == cols
            && self.rows.len() == rows
            && self.cursor.row < rows
            && self.cursor.col < cols
            && fits(&self.lines, rows)
            && fits(&self.columns, cols)
            && self.rows.iter().all(|row| row.is_sound(cols, tables))
    }
}
