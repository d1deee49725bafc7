//! Tab stops.

use serde::{Deserialize, Serialize};

/// Columns between the tab stops that a terminal starts with.
const TAB: usize = 8;

/// For each column, whether it is a tab stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TabStops(Vec<bool>);

impl TabStops {
    /// The tab stops that a terminal starts with.
    pub(super) fn new(cols: usize) -> Self {
        let mut stops = Self(Vec::new());
        stops.resize(cols);
        stops
    }

    pub(super) fn cols(&self) -> usize {
        self.0.len()
    }

    pub(super) fn resize(&mut self, cols: usize) {
        self.0.truncate(cols);
        self.0.extend((self.0.len()..cols).map(|col| col % TAB == 0));
    }

    /// Makes a column a tab stop, or not.
    pub(super) fn set(&mut self, col: usize, stop: bool) {
        self.0[col] = stop;
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(false);
    }

    /// Where a tab from a column leads: the last column at most.
    pub(super) fn next(&self, col: usize) -> usize {
        let last = self.0.len() - 1;
        (col + 1..last).find(|at| self.0[*at]).unwrap_or(last)
    }

    /// Where a tab backwards leads: the first column if there is no stop before.
    pub(super) fn before(&self, col: usize) -> usize {
        self.0.iter().take(col).rposition(|stop| *stop).unwrap_or(0)
    }

    /// The columns with a tab stop.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter(|(_, stop)| **stop).map(|(col, _)| col)
    }

    /// There are only those that a terminal starts with.
    pub(super) fn are_default(&self) -> bool {
        *self == Self::new(self.cols())
    }
}
