//! What is selected: a text view loses colour, and with it which entry of a menu is the chosen one.
//!
//! Candidates are the stretches whose background differs from the one most of the screen has. What
//! programs decorate their screens with is left out: panels, gutters, bars of keys, and title and
//! status bars where the cursor or another candidate says that the selection is elsewhere.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use crate::screen::{Cell, Row, Screen};
use crate::style::{Attributes, Color};

/// Most highlights that are reported; a screen with more is decorated, not selected.
const MAX_HIGHLIGHTS: usize = 8;
/// Stretches and backgrounds that are looked at; the rest of such a screen is decoration.
const MAX_LOOKED_AT: usize = 256;
/// Columns of a gutter, at most: line numbers and signs.
const GUTTER_COLUMNS: usize = 8;
/// Rows of a gutter, at least.
const GUTTER_ROWS: usize = 3;
/// Labels of a bar of keys, at least.
const KEY_LABELS: usize = 3;
/// Rows at the bottom in which bars of keys stand.
const KEY_ROWS: usize = 3;
/// Rows at the bottom in which status bars stand.
const STATUS_ROWS: usize = 2;

/// A stretch of cells that stands out from its surroundings, as a selected entry does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Highlight {
    /// Row from 0.
    pub row: u16,
    /// First column from 0.
    pub col: u16,
    /// What stands there, trimmed.
    pub text: String,
}

/// Neighbouring cells with one background.
#[derive(Debug, PartialEq, Eq)]
struct Stretch {
    row: usize,
    cols: Range<usize>,
    background: Background,
}

impl Screen {
    /// The entries that stand out, as a selected one does.
    pub fn highlights(&self) -> Vec<Highlight> {
        let stretches = self.stretches();
        let shown = |stretch: &&Stretch| {
            !is_gutter(stretch, &stretches)
                && !self.is_key_label(stretch, &stretches)
                && !self.is_prompt(stretch)
        };
        let shown: Vec<&Stretch> = stretches.iter().filter(shown).collect();
        let others = shown.iter().any(|stretch| !self.is_bar(stretch));
        let highlight = |stretch: &&Stretch| {
            let Stretch { row, cols, .. } = stretch;
            let elsewhere = others || (self.cursor.visible && usize::from(self.cursor.row) != *row);
            if self.is_bar(stretch) && elsewhere {
                return None;
            }
            let text = self.rows[*row].text_between(cols.start, cols.end).trim().to_owned();
            let (row, col) = (*row as u16, cols.start as u16);
            (!text.is_empty()).then_some(Highlight { row, col, text })
        };
        shown.iter().filter_map(highlight).take(MAX_HIGHLIGHTS).collect()
    }

    /// The candidates. A background that covers more than a quarter of the screen is decoration (a
    /// panel), except for text in a row of its own amid another: an entry in a window over it.
    fn stretches(&self) -> Vec<Stretch> {
        let runs = |row: &Row| -> Vec<(Background, usize)> {
            let runs = row.cells.chunk_by(|a, b| Background::of(a) == Background::of(b));
            runs.map(|run| (Background::of(&run[0]), run.len())).collect()
        };
        let mut cells_by_background: HashMap<Background, usize> = HashMap::new();
        for (background, len) in self.rows.iter().flat_map(runs) {
            let room = cells_by_background.len() < MAX_LOOKED_AT;
            match cells_by_background.entry(background) {
                Entry::Occupied(mut known) => *known.get_mut() += len,
                Entry::Vacant(new) if room => drop(new.insert(len)),
                Entry::Vacant(_) => {}
            }
        }
        let total = self.rows.len() * usize::from(self.cols());
        let common = cells_by_background.iter().max_by_key(|(_, count)| **count);
        let Some(common) = common.map(|(background, _)| *background) else {
            return Vec::new();
        };
        let stands_out = |background: Background| {
            background != common
                && cells_by_background.get(&background).is_some_and(|count| *count * 4 <= total)
        };
        let mut found = Vec::new();
        for (row_index, row) in self.rows.iter().enumerate() {
            let mut col = 0;
            for (background, len) in runs(row) {
                let cols = col..col + len;
                col = cols.end;
                if found.len() < MAX_LOOKED_AT
                    && (stands_out(background) || self.is_island(background, row_index, &cols))
                {
                    found.push(Stretch { row: row_index, cols, background });
                }
            }
        }
        found
    }

    /// The columns of the row have other backgrounds on all sides.
    fn is_island(&self, background: Background, row: usize, cols: &Range<usize>) -> bool {
        let differs = |row: Option<usize>| {
            let cells = row.and_then(|row| self.rows.get(row)?.cells.get(cols.clone()));
            cells.is_none_or(|cells| cells.iter().all(|cell| Background::of(cell) != background))
        };
        let amid = cols.start > 0 && cols.end < usize::from(self.cols());
        amid && differs(row.checked_sub(1)) && differs(row.checked_add(1))
    }

    /// One of several labels in a row at the bottom: `F1Help  F2Setup`, `^G Help  ^X Exit`.
    fn is_key_label(&self, stretch: &Stretch, all: &[Stretch]) -> bool {
        let alike =
            |other: &&Stretch| other.row == stretch.row && other.background == stretch.background;
        stretch.row + KEY_ROWS >= self.rows.len() && all.iter().filter(alike).count() >= KEY_LABELS
    }

    /// What the last row asks, with the cursor behind it: the prompt of a pager.
    fn is_prompt(&self, stretch: &Stretch) -> bool {
        let cursor = &self.cursor;
        stretch.row + 1 == self.rows.len()
            && stretch.cols.start == 0
            && (usize::from(cursor.row), usize::from(cursor.col)) == (stretch.row, stretch.cols.end)
    }

    /// It fills a row at the top or the bottom, as titles and states do.
    fn is_bar(&self, stretch: &Stretch) -> bool {
        let at_edge = stretch.row == 0 || stretch.row + STATUS_ROWS >= self.rows.len();
        at_edge && stretch.cols == (0..usize::from(self.cols()))
    }
}

/// Narrow, and the same in the rows above or below.
fn is_gutter(stretch: &Stretch, all: &[Stretch]) -> bool {
    let same = |row: usize| {
        all.iter().any(|other| {
            other.row == row && other.cols == stretch.cols && other.background == stretch.background
        })
    };
    let above = (0..stretch.row).rev().take_while(|row| same(*row)).take(GUTTER_ROWS).count();
    let below = (stretch.row + 1..).take_while(|row| same(*row)).take(GUTTER_ROWS).count();
    stretch.cols.len() <= GUTTER_COLUMNS && above + 1 + below >= GUTTER_ROWS
}

/// The background a person sees: inversion swaps it with the foreground.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Background {
    color: Color,
    inverse: bool,
}

impl Background {
    fn of(cell: &Cell) -> Self {
        let inverse = cell.style.attributes.contains(Attributes::INVERSE);
        let color = if inverse { cell.style.fg } else { cell.style.bg };
        Self { color, inverse: inverse && color == Color::Default }
    }
}
