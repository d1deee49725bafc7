//! One row of a live screen.
//!
//! A row holds the cells up to the last one that was written to or erased in colour; what lies behind them is empty and
//! never read. So clearing a row takes no time. Wide characters are kept whole: a write that covers one half makes a
//! blank of the other, which is looked for only in rows that have `complex` cells.

mod print;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::cell::{Cell, Width};
use crate::content_hash::ContentHash;
use crate::tables::{Moved, Tables, Used};

/// Whose a row is, for the output of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Owner {
    /// The command has not been here. A blank line, if it continues below.
    #[default]
    Nobody,
    /// The row was on the screen before the command: not part of its output.
    Earlier,
    /// The command wrote here.
    Command,
    /// The command came here line by line, so that the row counts even when nothing is on it.
    Reached,
}

impl Owner {
    /// The row is part of a command's output, or may become that.
    pub(crate) fn is_commands(self) -> bool {
        matches!(self, Self::Command | Self::Reached)
    }
}

/// A row of a live screen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    #[serde(with = "crate::packed")]
    cells: Vec<Cell>,
    /// The line continues in the next row because it did not fit.
    pub(crate) wrapped: bool,
    /// There may be wide characters, clusters or tabs.
    complex: bool,
    /// There may be clusters or tabs.
    clusters: bool,
    /// There may be marks that wait for the character behind them.
    leads: bool,
    pub(crate) owner: Owner,
    /// The hash of what is shown, if nothing was changed since it was made.
    #[serde(skip)]
    hash: Option<u64>,
    /// The text of all cells as it was printed, in UTF-8, if one character was printed behind the other and not all are
    /// ASCII; else empty. The history takes it instead of encoding it again.
    #[serde(skip)]
    printed: Vec<u8>,
}

impl Row {
    pub(crate) fn of(cells: Vec<Cell>, wrapped: bool, owner: Owner) -> Self {
        let complex = cells.iter().any(|cell| cell.is_complex());
        let clusters = cells.iter().any(|cell| cell.is_cluster_or_tab());
        Self {
            cells,
            wrapped,
            complex,
            clusters,
            leads: clusters,
            owner,
            hash: None,
            printed: Vec::new(),
        }
    }

    /// The cells up to the last that was written to or erased in colour.
    pub(crate) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    pub(crate) fn is_complex(&self) -> bool {
        self.complex
    }

    pub(crate) fn has_clusters(&self) -> bool {
        self.clusters
    }

    pub(crate) fn has_leads(&self) -> bool {
        self.leads
    }

    pub(crate) fn note_lead(&mut self) {
        self.leads = true;
    }

    /// The text of all cells, if it need not be encoded.
    pub(crate) fn printed(&self) -> Option<&[u8]> {
        (!self.printed.is_empty()).then_some(&self.printed)
    }

    /// The cell at a column, empty behind the row's end.
    pub(crate) fn cell(&self, col: usize) -> Cell {
        self.cells.get(col).copied().unwrap_or_default()
    }

    /// Number of cells without those at the end that nothing was written to.
    pub(crate) fn written(&self) -> usize {
        self.cells.iter().rposition(|cell| !cell.is_unwritten()).map_or(0, |last| last + 1)
    }

    /// Number of cells that belong to the line: of a row that continues, all up to where it does.
    pub(crate) fn extent(&self) -> usize {
        if self.wrapped { self.len() } else { self.written() }
    }

    /// What is printed next comes behind this many columns.
    pub(crate) fn reach_column(&mut self, col: usize, cols: usize) {
        self.extend_to(col, cols);
    }

    /// Nothing was written here, in no colour.
    pub(crate) fn is_blank(&self) -> bool {
        self.cells.iter().all(|cell| *cell == Cell::EMPTY)
    }

    /// Empties the row and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.cells.clear();
        (self.wrapped, self.complex, self.clusters, self.leads) = (false, false, false, false);
        self.hash = None;
        self.printed.clear();
    }

    pub(crate) fn give_back_memory(&mut self) {
        self.cells.shrink_to_fit();
        self.printed = Vec::new();
    }

    pub(crate) fn memory(&self) -> usize {
        size_of::<Self>() + self.cells.capacity() * size_of::<Cell>() + self.printed.capacity()
    }

    /// What is here was there before the command, which begins its own lines.
    pub(crate) fn make_earlier(&mut self, owner: Owner) {
        self.owner = owner;
        self.wrapped &= owner == Owner::Earlier;
        self.cells.iter_mut().for_each(|cell| *cell = cell.earlier());
    }

    /// The command came here line by line.
    pub(crate) fn reach(&mut self) {
        if self.owner != Owner::Earlier {
            self.owner = Owner::Reached;
        }
    }

    fn note_write(&mut self) {
        self.printed.clear();
        self.note_print();
    }

    /// Something was written. What is known of the printed text is the caller's to change.
    #[inline]
    fn note_print(&mut self) {
        self.hash = None;
        if self.owner != Owner::Reached {
            self.owner = Owner::Command;
        }
    }

    /// What is there was changed, without new text: it stays what was on the screen before, if it was that.
    fn note_edit(&mut self) {
        self.printed.clear();
        self.hash = None;
        if self.owner == Owner::Nobody {
            self.owner = Owner::Command;
        }
    }

    fn note_kind(&mut self, cell: Cell) {
        self.complex |= cell.is_complex();
        self.clusters |= cell.is_cluster_or_tab();
    }

    /// Makes the row at least `len` cells long.
    fn extend_to(&mut self, len: usize, cols: usize) {
        if self.cells.len() < len {
            self.printed.clear();
            self.reserve(len, cols);
            self.cells.resize(len, Cell::EMPTY);
        }
    }

    /// Makes room for at least `len` cells, and for all columns at once.
    #[inline]
    fn reserve(&mut self, len: usize, cols: usize) {
        if self.cells.capacity() < len {
            self.cells.reserve_exact(cols.max(len) - self.cells.len());
        }
    }

    /// Makes blanks of the halves of wide characters that a write to these columns leaves over.
    fn split_around(&mut self, columns: &Range<usize>) {
        if !self.complex {
            return;
        }
        self.split_at(columns.start);
        self.split_at(columns.end);
    }

    /// If a wide character lies across the border before a column, makes blanks of it.
    fn split_at(&mut self, col: usize) {
        if col > 0 && self.cells.get(col).is_some_and(|cell| cell.width() == Width::Spacer) {
            self.cells[col] = self.cells[col].emptied();
            self.cells[col - 1] = self.cells[col - 1].emptied();
        }
    }

    /// Erases columns to a blank.
    pub(crate) fn erase(&mut self, columns: Range<usize>, blank: Cell, cols: usize) {
        if columns.is_empty() {
            return;
        }
        self.hash = None;
        if columns.end >= cols {
            self.wrapped = false;
        }
        if columns.start < self.cells.len() {
            self.note_edit();
        }
        self.split_around(&columns);
        if blank == Cell::EMPTY && columns.end >= self.cells.len() {
            self.cells.truncate(columns.start);
        } else {
            self.extend_to(columns.end, cols);
            self.cells[columns].fill(blank);
        }
    }

    /// Erases the whole row; a row that the command has only written to is nobody's again.
    pub(crate) fn erase_all(&mut self, blank: Cell, cols: usize) {
        self.clear();
        if self.owner != Owner::Reached {
            self.owner = Owner::Nobody;
        }
        if blank != Cell::EMPTY {
            self.extend_to(cols, cols);
            self.cells.fill(blank);
        }
    }

    /// Erases those of the columns that are not protected.
    pub(crate) fn erase_unprotected(&mut self, columns: Range<usize>, blank: Cell, cols: usize) {
        self.note_edit();
        self.split_around(&columns);
        if blank != Cell::EMPTY {
            self.extend_to(columns.end, cols);
        }
        let end = columns.end.min(self.cells.len());
        for cell in self.cells.get_mut(columns.start..end).unwrap_or_default() {
            if !cell.is_protected() {
                *cell = blank;
            }
        }
    }

    /// Moves the cells of the columns to the right by `count`; blanks come in.
    pub(crate) fn insert(&mut self, columns: Range<usize>, count: usize, blank: Cell, cols: usize) {
        if columns.start >= self.cells.len() && blank == Cell::EMPTY {
            return;
        }
        self.note_edit();
        self.wrapped = false;
        let count = count.min(columns.len());
        self.split_at(columns.start);
        self.split_at(columns.end);
        if columns.end - count > columns.start {
            self.split_at(columns.end - count);
        }
        let held = (self.cells.len() + count).min(columns.end).max(self.cells.len());
        self.extend_to(held.max(columns.start + count), cols);
        let end = columns.end.min(self.cells.len());
        self.cells[columns.start..end].rotate_right(count.min(end - columns.start));
        self.cells[columns.start..columns.start + count].fill(blank);
    }

    /// Deletes `count` cells at the start of the columns; blanks come in at their end.
    pub(crate) fn delete(&mut self, columns: Range<usize>, count: usize, blank: Cell, cols: usize) {
        if columns.start >= self.cells.len() && blank == Cell::EMPTY {
            return;
        }
        self.note_edit();
        self.wrapped = false;
        let count = count.min(columns.len());
        self.split_at(columns.start);
        self.split_at(columns.start + count);
        self.split_at(columns.end);
        if blank != Cell::EMPTY || self.cells.len() > columns.end {
            self.extend_to(columns.end, cols);
            self.cells[columns.clone()].rotate_left(count);
            self.cells[columns.end - count..columns.end].fill(blank);
        } else {
            let end = (columns.start + count).min(self.cells.len());
            self.cells.drain(columns.start..end);
        }
    }

    /// Copies cells from another row, or from this one as it was before.
    pub(crate) fn paste(&mut self, col: usize, cells: &[Cell], cols: usize) {
        let end = col + cells.len();
        self.note_write();
        self.split_around(&(col..end));
        self.extend_to(end, cols);
        self.cells[col..end].copy_from_slice(cells);
        cells.iter().for_each(|cell| self.note_kind(*cell));
        // A copy may begin or end within a wide character.
        if self.complex {
            for at in [col, end] {
                if at > 0
                    && self.cell(at).width() == Width::Spacer
                    && self.cell(at - 1).width() != Width::Wide
                {
                    self.cells[at] = self.cells[at].emptied();
                }
                if at > 0
                    && self.cell(at - 1).width() == Width::Wide
                    && self.cell(at).width() != Width::Spacer
                {
                    self.cells[at - 1] = self.cells[at - 1].emptied();
                }
            }
        }
    }

    /// Changes the cells of columns one by one; their widths stay.
    pub(crate) fn update(
        &mut self,
        columns: Range<usize>,
        cols: usize,
        mut change: impl FnMut(Cell) -> Cell,
    ) {
        self.note_write();
        self.extend_to(columns.end, cols);
        for cell in &mut self.cells[columns] {
            *cell = change(*cell);
        }
    }

    /// Cuts the row off at a width, as a terminal does that does not lay out lines again.
    pub(crate) fn cut(&mut self, cols: usize) {
        if self.cells.len() > cols {
            self.split_at(cols);
            self.cells.truncate(cols);
            self.printed.clear();
            self.hash = None;
        }
        self.wrapped = false;
    }

    /// Hash of all that a viewer can see.
    pub(crate) fn hash(&mut self, tables: &Tables) -> u64 {
        if let Some(hash) = self.hash {
            return hash;
        }
        let shows = |cell: &Cell| {
            !(cell.is_unwritten() || cell.character() == Some(' ')) || cell.style().0 != 0
        };
        let end = self.cells.iter().rposition(shows).map_or(0, |last| last + 1);
        let mut hash = ContentHash::new();
        let mut style = Cell::EMPTY.style();
        let mut style_hash = tables.style_hash(style);
        for cell in &self.cells[..end] {
            if cell.style() != style {
                style = cell.style();
                // A style may have two numbers.
                let before = std::mem::replace(&mut style_hash, tables.style_hash(style));
                if style_hash != before {
                    hash.add(style_hash | 1 << 63);
                }
            }
            match cell.cluster() {
                Some(number) => {
                    tables.cluster(number).chars().for_each(|c| hash.add(u64::from(u32::from(c))));
                }
                None => {
                    let shown =
                        cell.character().filter(|c| !matches!(c, '\0' | '\t')).unwrap_or(' ');
                    hash.add(u64::from(u32::from(shown)) << 2 | cell.width() as u64);
                }
            }
        }
        let hash = hash.finish();
        self.hash = Some(hash);
        hash
    }

    pub(crate) fn note_used(&self, used: &mut Used) {
        self.cells.iter().for_each(|cell| used.note(*cell));
    }

    pub(crate) fn apply(&mut self, moved: &Moved) {
        self.cells.iter_mut().for_each(|cell| moved.apply(cell));
    }

    /// The row can be shown in so many columns with these tables.
    pub(crate) fn is_sound(&self, cols: usize, tables: &Tables) -> bool {
        let halves = self
            .cells
            .windows(2)
            .all(|pair| (pair[0].width() == Width::Wide) == (pair[1].width() == Width::Spacer));
        let ends = self.cells.first().is_none_or(|cell| cell.width() != Width::Spacer)
            && self.cells.last().is_none_or(|cell| cell.width() != Width::Wide);
        self.cells.len() <= cols
            && halves
            && ends
            && self.cells.iter().all(|cell| tables.has_entries_of(*cell))
    }
}
