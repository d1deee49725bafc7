//! The cursor: where it goes within the margins, and what DECSC keeps of it.

use super::core::{Core, Saved};
use super::modes::Modes;
use crate::grid::Position;

/// A direction in which the cursor moves by a number of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
    Left,
    Right,
}

impl Core {
    /// Moves the cursor. A margin stops it if it was on the inner side of that.
    pub(super) fn move_by(&mut self, direction: Direction, count: usize) {
        let grid = self.grid_mut();
        let Position { row, col, .. } = grid.cursor;
        let (height, cols) = (grid.height(), grid.cols());
        let (row, col) = match direction {
            Direction::Up => {
                let first = if row >= grid.lines.start { grid.lines.start } else { 0 };
                (row.saturating_sub(count).max(first), col)
            }
            Direction::Down => {
                let end = if row < grid.lines.end { grid.lines.end } else { height };
                ((row + count).min(end - 1), col)
            }
            Direction::Left => {
                let first = if col >= grid.columns.start { grid.columns.start } else { 0 };
                (row, col.saturating_sub(count).max(first))
            }
            Direction::Right => {
                let end = if col < grid.columns.end { grid.columns.end } else { cols };
                (row, (col + count).min(end - 1))
            }
        };
        grid.move_to(row, col);
    }

    /// Moves the cursor back, also over the beginning of a row if reverse wraparound is on.
    pub(super) fn move_back(&mut self, count: usize) {
        let reverse = Modes::REVERSE_WRAP | Modes::REVERSE_WRAP_BACK;
        if !self.modes.intersects(reverse) || !self.modes.contains(Modes::AUTOWRAP) {
            return self.move_by(Direction::Left, count);
        }
        let unbounded = self.modes.contains(Modes::REVERSE_WRAP_BACK);
        let grid = self.grid_mut();
        // What is not printed yet is one step of its own.
        let mut left = count - usize::from(grid.cursor.wraps && count > 0);
        grid.cursor.wraps = false;
        let mut steps = grid.height() * grid.cols();
        while left > 0 && steps > 0 {
            steps -= 1;
            let Position { row, col, .. } = grid.cursor;
            let first = if col >= grid.columns.start { grid.columns.start } else { 0 };
            if col > first {
                let by = left.min(col - first);
                grid.cursor.col -= by;
                left -= by;
                continue;
            }
            let top = grid.lines.start;
            let is_top = row == top || row == 0;
            if !unbounded && (is_top || !grid.row(row - 1).wrapped) {
                break;
            }
            grid.cursor.row = if is_top { grid.lines.end - 1 } else { row - 1 };
            grid.cursor.col = grid.columns.end - 1;
            left -= 1;
        }
    }

    /// Puts the cursor into a row and column, counted from the margins in origin mode.
    pub(super) fn go_to(&mut self, row: usize, col: usize) {
        let origin = self.modes.contains(Modes::ORIGIN);
        let grid = self.grid_mut();
        match origin {
            true => {
                let (lines, columns) = (grid.lines.clone(), grid.columns.clone());
                let row = (lines.start + row).min(lines.end - 1);
                grid.move_to(row, (columns.start + col).min(columns.end - 1));
            }
            false => grid.move_to(row, col),
        }
    }

    pub(super) fn go_to_row(&mut self, row: usize) {
        let col = self.column();
        self.go_to(row, col);
    }

    pub(super) fn go_to_col(&mut self, col: usize) {
        let row = self.line();
        self.go_to(row, col);
    }

    /// To the first cell; that of the margins in origin mode.
    pub(super) fn home(&mut self) {
        self.go_to(0, 0);
    }

    /// The row as it is reported and set.
    pub(super) fn line(&self) -> usize {
        let grid = self.grid();
        let from = if self.modes.contains(Modes::ORIGIN) { grid.lines.start } else { 0 };
        grid.cursor.row.saturating_sub(from)
    }

    /// The column as it is reported and set.
    pub(super) fn column(&self) -> usize {
        let grid = self.grid();
        let from = if self.modes.contains(Modes::ORIGIN) { grid.columns.start } else { 0 };
        grid.cursor.col.saturating_sub(from)
    }

    pub(super) fn carriage_return(&mut self) {
        let origin = self.modes.contains(Modes::ORIGIN);
        let grid = self.grid_mut();
        let is_inside = grid.cursor.col >= grid.columns.start || origin;
        grid.cursor.col = if is_inside { grid.columns.start } else { 0 };
        grid.cursor.wraps = false;
    }

    /// Moves up; at the top margin the lines move down instead.
    pub(super) fn reverse_index(&mut self) {
        let grid = self.grid_mut();
        if grid.cursor.row == grid.lines.start {
            if grid.columns.contains(&grid.cursor.col) {
                let lines = grid.lines.clone();
                self.scroll_down(lines, 1);
            }
        } else {
            grid.cursor.row = grid.cursor.row.saturating_sub(1);
        }
        self.grid_mut().cursor.wraps = false;
    }

    /// Moves down, and scrolls at the bottom margin; the column stays.
    pub(super) fn index(&mut self) {
        self.line_feed();
        self.grid_mut().cursor.wraps = false;
    }

    /// Moves to tab stops on the right.
    pub(super) fn tab_forward(&mut self, count: usize) {
        if self.grid().cursor.wraps && self.modes.contains(Modes::MORE_FIX | Modes::AUTOWRAP) {
            self.wrap();
        }
        for _ in 0..count.min(self.cols()) {
            let grid = self.grid();
            let Position { row, col, wraps } = grid.cursor;
            let end = grid.right_end(col);
            let next = self.tabs.next(col).min(end - 1);
            if wraps || next == col {
                return self.put_margin_tab();
            }
            // An empty cell remembers the tab, so that the text is as it was printed.
            if grid.row(row).cell(col).is_unwritten() && !self.is_alternate {
                let style = grid.row(row).cell(col).style();
                let tab = crate::cell::Cell::blank(style).with_ascii(b'\t');
                let grid = self.grid_mut();
                let cols = grid.cols();
                grid.row_mut(row).replace(col, tab, cols);
            }
            self.grid_mut().cursor.col = next;
        }
        self.work += count.min(self.cols());
    }

    /// Moves over tab stops without a trace in the text (CHT).
    pub(super) fn skip_tabs(&mut self, count: usize) {
        for _ in 0..count.min(self.cols()) {
            let col = self.grid().cursor.col;
            let next = self.tabs.next(col).min(self.grid().right_end(col) - 1);
            self.grid_mut().cursor.col = next;
        }
        self.grid_mut().cursor.wraps = false;
        self.work += self.cols();
    }

    /// Moves to tab stops on the left.
    pub(super) fn tab_back(&mut self, count: usize) {
        let origin = self.modes.contains(Modes::ORIGIN);
        for _ in 0..count.min(self.cols()) {
            let grid = self.grid();
            let col = grid.cursor.col;
            let first = if origin { grid.columns.start } else { 0 };
            let before = self.tabs.before(col).max(first);
            self.grid_mut().cursor.col = before.min(col);
        }
        self.grid_mut().cursor.wraps = false;
        self.work += self.cols();
    }

    /// DECSC.
    pub(super) fn save_cursor(&mut self) {
        let mut pen = self.pen.clone();
        // Numbers of styles may change until it is restored.
        pen.style_changed();
        self.own().saved = Saved {
            position: self.grid().cursor,
            pen,
            charsets: self.charsets,
            origin: self.modes.contains(Modes::ORIGIN),
        };
    }

    /// DECRC; without DECSC before, the state of a reset terminal.
    pub(super) fn restore_cursor(&mut self) {
        let Saved { position, pen, charsets, origin } = self.own().saved.clone();
        (self.pen, self.charsets) = (pen, charsets);
        self.modes.set(Modes::ORIGIN, origin);
        let grid = self.grid_mut();
        grid.move_to(position.row, position.col);
        grid.cursor.wraps = position.wraps && grid.cursor.col == position.col;
    }
}
