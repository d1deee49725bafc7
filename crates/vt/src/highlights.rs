//! What is selected: a text view loses colour, and with it which entry of a menu is the chosen one.
//!
//! Candidates are the stretches whose background differs from the one most of the screen has. What
//! programs decorate their screens with is left out: panels, windows, gutters and the current line beside
//! them, bars of keys, names of columns, and title and status bars where the cursor or another candidate
//! says that the selection is elsewhere.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
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

/// Rows of a window, at least.
const WINDOW_ROWS: usize = 3;
/// Names of columns in a table's header, at least.
const HEADER_WORDS: usize = 3;

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

/// Nothing, or one sign, as editors mark the other of a pair of brackets.
fn is_bracket(text: &str) -> bool {
    let mut signs = text.chars();
    signs.next().is_none_or(|first| !first.is_alphanumeric()) && signs.next().is_none()
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
        let mut shown = Vec::new();
        for area in areas(&stretches) {
            if self.is_window(&area, &stretches) {
                continue;
            }
            let in_bar = area.iter().all(|one| self.is_full_row(one))
                && area.iter().any(|one| self.is_bar(one, &stretches));
            let is_shown = |stretch: &&Stretch| {
                !is_gutter(stretch, &stretches)
                    && !self.is_key_label(stretch, &stretches)
                    && !self.is_prompt(stretch)
                    && !self.is_current_line(stretch, &stretches)
            };
            let of_area = area.into_iter().filter(is_shown);
            shown.extend(of_area.map(|one| (one, in_bar || self.is_bar(one, &stretches))));
        }
        shown.sort_by_key(|(stretch, _)| (stretch.row, stretch.cols.start));
        let others = shown.iter().any(|(_, is_bar)| !is_bar);
        let header = self.header_row(&stretches, &shown);
        let highlight = |(stretch, is_bar): &(&Stretch, bool)| {
            let Stretch { row, cols, .. } = stretch;
            let elsewhere = others || (self.cursor.visible && usize::from(self.cursor.row) != *row);
            if (*is_bar && elsewhere) || header.is_some_and(|header| *row <= header) {
                return None;
            }
            let text = self.rows[*row].text_between(cols.start, cols.end).trim().to_owned();
            let (row, col) = (*row as u16, cols.start as u16);
            (!is_bracket(&text)).then_some(Highlight { row, col, text })
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

    /// One of several labels in a row at the bottom: `F1Help  F2Setup`, `^G Help  ^X Exit`; of two where
    /// each stands right behind its key: `EnterSort  EscCancel`.
    fn is_key_label(&self, stretch: &Stretch, all: &[Stretch]) -> bool {
        let alike =
            |other: &&Stretch| other.row == stretch.row && other.background == stretch.background;
        let labels: Vec<&Stretch> = all.iter().filter(alike).collect();
        let is_behind_key = |label: &&Stretch| {
            let before = label.cols.start.saturating_sub(1)..label.cols.start;
            !self.rows[label.row].text_between(before.start, before.end).trim().is_empty()
        };
        stretch.row + KEY_ROWS >= self.rows.len()
            && (labels.len() >= KEY_LABELS || labels.len() == 2 && labels.iter().all(is_behind_key))
    }

    /// What the last row asks, with the cursor behind it: the prompt of a pager.
    fn is_prompt(&self, stretch: &Stretch) -> bool {
        let cursor = &self.cursor;
        stretch.row + 1 == self.rows.len()
            && stretch.cols.start == 0
            && (usize::from(cursor.row), usize::from(cursor.col)) == (stretch.row, stretch.cols.end)
    }

    /// It fills a row at the top or the bottom, as titles and states do; or what a selected entry
    /// leaves of it, as in a menu bar.
    fn is_bar(&self, stretch: &Stretch, all: &[Stretch]) -> bool {
        let at_edge = stretch.row == 0 || stretch.row + STATUS_ROWS >= self.rows.len();
        let in_row = all.iter().filter(|other| other.row == stretch.row);
        let alike = in_row.clone().filter(|other| other.background == stretch.background);
        let covered: usize = in_row.map(|one| one.cols.len()).sum();
        let of_it: usize = alike.map(|one| one.cols.len()).sum();
        at_edge && covered == usize::from(self.cols()) && of_it * 2 > covered
    }

    fn is_full_row(&self, stretch: &Stretch) -> bool {
        stretch.cols == (0..usize::from(self.cols()))
    }

    /// The line with the cursor in an editor that has a gutter.
    fn is_current_line(&self, stretch: &Stretch, all: &[Stretch]) -> bool {
        let beside = |other: &Stretch| {
            other.cols == (0..stretch.cols.start)
                && other.row != stretch.row
                && is_gutter(other, all)
        };
        self.cursor.visible
            && usize::from(self.cursor.row) == stretch.row
            && stretch.cols.end == usize::from(self.cols())
            && all.iter().any(beside)
    }

    /// An area that something is shown in: it has a frame, or it is a rectangle around something that
    /// stands out from it.
    fn is_window(&self, area: &[&Stretch], all: &[Stretch]) -> bool {
        let mut extents: BTreeMap<usize, Range<usize>> = BTreeMap::new();
        for Stretch { row, cols, .. } in area {
            let extent = extents.entry(*row).or_insert(cols.clone());
            *extent = extent.start.min(cols.start)..extent.end.max(cols.end);
        }
        let (Some((first, extent)), Some((last, _))) =
            (extents.first_key_value(), extents.last_key_value())
        else {
            return false;
        };
        let rows = *first..*last + 1;
        if rows.len() < WINDOW_ROWS {
            return false;
        }
        let is_frame = |c: char| ('\u{2500}'..='\u{257f}').contains(&c);
        let has_frame = area.iter().any(|Stretch { row, cols, .. }| {
            self.rows[*row].text_between(cols.start, cols.end).contains(is_frame)
        });
        let is_within = |other: &Stretch| {
            let is_inside = rows.contains(&other.row)
                && extent.start <= other.cols.start
                && other.cols.end <= extent.end;
            // The first or the last entry of a menu.
            let is_edge = (other.row + 1 == rows.start || other.row == rows.end)
                && other.cols == *extent
                && !self.is_full_row(other);
            other.background != area[0].background && (is_inside || is_edge)
        };
        has_frame || (extents.values().all(|other| other == extent) && all.iter().any(is_within))
    }

    /// The row with the names of a table's columns, where something stands out below it: `PID USER CPU%`.
    fn header_row(&self, all: &[Stretch], shown: &[(&Stretch, bool)]) -> Option<usize> {
        let lowest = shown.iter().filter(|(_, is_bar)| !is_bar).map(|(one, _)| one.row).max()?;
        let is_header = |row: &usize| {
            let in_row = all.iter().filter(|one| one.row == *row);
            let covered: usize = in_row.map(|one| one.cols.len()).sum();
            let text = self.rows[*row].text_between(0, usize::from(self.cols()));
            let count = |is: fn(char) -> bool| text.chars().filter(|c| is(*c)).count();
            covered * 10 >= usize::from(self.cols()) * 9
                && text.split_whitespace().count() >= HEADER_WORDS
                && count(char::is_uppercase) > 2 * count(char::is_lowercase)
        };
        (0..lowest).rev().find(is_header)
    }
}

/// The stretches by areas: neighbours with one background are in one, also where an entry of another
/// background, as wide as they are, lies between.
fn areas(stretches: &[Stretch]) -> Vec<Vec<&Stretch>> {
    let mut areas: Vec<Vec<&Stretch>> = Vec::new();
    for stretch in stretches {
        let is_entry = |other: &Stretch| other.row + 1 == stretch.row && other.cols == stretch.cols;
        let touches = |other: &&Stretch| {
            let is_next = other.row + 1 == stretch.row
                && other.cols.start < stretch.cols.end
                && stretch.cols.start < other.cols.end;
            let is_across = other.row + 2 == stretch.row
                && other.cols == stretch.cols
                && stretches.iter().any(is_entry);
            other.background == stretch.background && (is_next || is_across)
        };
        let mut joined = vec![stretch];
        for touched in areas.extract_if(.., |area| area.iter().rev().any(touches)) {
            joined.extend(touched);
        }
        joined.sort_by_key(|one| one.row);
        areas.push(joined);
    }
    areas
}

/// Narrow, and the same in other rows.
fn is_gutter(stretch: &Stretch, all: &[Stretch]) -> bool {
    let same =
        |other: &&Stretch| other.cols == stretch.cols && other.background == stretch.background;
    stretch.cols.len() <= GUTTER_COLUMNS && all.iter().filter(same).count() >= GUTTER_ROWS
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
