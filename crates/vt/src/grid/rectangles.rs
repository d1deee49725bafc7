//! Rectangles of cells: DECCRA, DECFRA, DECERA, DECSERA, DECCARA, DECRARA and the columns of DECIC and DECDC.

use std::ops::Range;

use super::Grid;
use crate::cell::Cell;

/// Rows and columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rectangle {
    pub(crate) rows: Range<usize>,
    pub(crate) cols: Range<usize>,
}

impl Rectangle {
    pub(crate) fn area(&self) -> usize {
        self.rows.len() * self.cols.len()
    }
}

impl Grid {
    /// Copies a rectangle to where its first cell is to be; what has no room there is left out.
    pub(crate) fn copy(&mut self, from: &Rectangle, row: usize, col: usize) {
        let width = from.cols.len().min(self.cols.saturating_sub(col));
        let cols = from.cols.start..from.cols.start + width;
        let copied: Vec<Vec<Cell>> = from
            .rows
            .clone()
            .map(|row| cols.clone().map(|col| self.rows[row].cell(col)).collect())
            .collect();
        let height = self.rows.len();
        for (cells, row) in copied.iter().zip(row..height) {
            self.rows[row].paste(col, cells, self.cols);
        }
    }

    /// Fills a rectangle with a cell.
    pub(crate) fn fill_rectangle(&mut self, rectangle: &Rectangle, cell: Cell) {
        let cells = vec![cell; rectangle.cols.len()];
        for row in rectangle.rows.clone() {
            self.rows[row].paste(rectangle.cols.start, &cells, self.cols);
        }
    }

    /// Erases a rectangle.
    pub(crate) fn erase_rectangle(&mut self, rectangle: &Rectangle, blank: Cell) {
        for row in rectangle.rows.clone() {
            self.rows[row].erase(rectangle.cols.clone(), blank, self.cols);
        }
    }

    /// Erases what is not protected in a rectangle.
    pub(crate) fn erase_unprotected(&mut self, rectangle: &Rectangle, blank: Cell) {
        for row in rectangle.rows.clone() {
            self.rows[row].erase_unprotected(rectangle.cols.clone(), blank, self.cols);
        }
    }

    /// Changes each cell of a rectangle.
    pub(crate) fn update(&mut self, rectangle: &Rectangle, mut change: impl FnMut(Cell) -> Cell) {
        for row in rectangle.rows.clone() {
            self.rows[row].update(rectangle.cols.clone(), self.cols, &mut change);
        }
    }

    /// Inserts columns at one, within the margins.
    pub(crate) fn insert_columns(&mut self, col: usize, count: usize, blank: Cell) {
        let columns = col..self.columns.end;
        for row in self.lines.clone() {
            self.rows[row].insert(columns.clone(), count, blank, self.cols);
        }
    }

    /// Deletes columns from one on, within the margins.
    pub(crate) fn delete_columns(&mut self, col: usize, count: usize, blank: Cell) {
        let columns = col..self.columns.end;
        for row in self.lines.clone() {
            self.rows[row].delete(columns.clone(), count, blank, self.cols);
        }
    }
}
