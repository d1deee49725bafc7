//! One row of the page.
//!
//! A row that was only ever appended to keeps its text as printed, which makes plain output exact and
//! cheap. The first edit turns the text into cells, as a terminal has them; the row stays that way
//! until it is erased.

mod dump;

use unicode_width::UnicodeWidthChar;

use crate::convert::MAX_MARKS;

/// Longest text for which a tab at the right margin, which moves nothing, is still kept.
const MAX_MARGIN_TEXT: usize = 64 * 1024;
/// The character of a cell that nothing was written to. It shows as a blank, and ends the row when
/// nothing follows it.
const EMPTY: char = '\0';

/// Whose a row is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Owner {
    /// The command has not been here. A blank line if it goes on below.
    #[default]
    Nobody,
    /// What stood on the screen before the command: never part of its output.
    Earlier,
    /// The command wrote here or went through.
    Command,
}

/// What a cell is beside its character.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Part {
    #[default]
    Whole,
    /// The left half of a wide character.
    Wide,
    /// The right half of one.
    Spacer,
    /// The last column, left free because a wide character did not fit.
    Leading,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) character: char,
    pub(super) part: Part,
    /// The row goes on in the next one, if this is its last cell.
    pub(super) wraps: bool,
    marks: Option<Box<Marks>>,
}

/// Zero-width characters of a cell, at most [`MAX_MARKS`].
#[derive(Debug, Clone, PartialEq, Eq)]
struct Marks {
    text: String,
    count: usize,
}

impl Cell {
    pub(super) const BLANK: Self =
        Self { character: EMPTY, part: Part::Whole, wraps: false, marks: None };

    pub(super) fn new(character: char, part: Part) -> Self {
        Self { character, part, ..Self::BLANK }
    }

    pub(super) fn is_blank(&self) -> bool {
        matches!(self.character, EMPTY | '\t') && !self.is_bound()
    }

    fn is_empty(&self) -> bool {
        self.character == EMPTY && !self.is_bound()
    }

    fn is_bound(&self) -> bool {
        self.wraps || self.marks.is_some() || self.part != Part::Whole
    }

    /// The other half of it was overwritten.
    fn clear_wide(&mut self) {
        if self.part == Part::Wide {
            self.part = Part::Whole;
        }
        (self.character, self.marks) = (' ', None);
    }

    fn push_mark(&mut self, mark: char) {
        let marks =
            self.marks.get_or_insert_with(|| Marks { text: String::new(), count: 0 }.into());
        if marks.count < MAX_MARKS {
            marks.text.push(mark);
            marks.count += 1;
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    pub(super) owner: Owner,
    /// The command came here line by line, so that the row counts even when nothing is on it.
    reached: bool,
    /// Zero-width characters before the first cell: a byte order mark, for one.
    lead: String,
    /// What was printed, while it was only appended to.
    text: String,
    /// Columns of the text.
    width: usize,
    /// Zero-width characters since the last other one.
    marks: usize,
    wraps: bool,
    /// All columns, once the row was edited; empty before.
    cells: Vec<Cell>,
}

impl Row {
    pub(super) fn earlier() -> Self {
        Self { owner: Owner::Earlier, ..Self::default() }
    }

    /// A row of cells, one for each column.
    pub(super) fn of_cells(cells: Vec<Cell>, owner: Owner) -> Self {
        Self { owner, cells, ..Self::default() }
    }

    /// What is on it is at most `cols` wide.
    pub(super) fn fits(&self, cols: usize) -> bool {
        let cells = self.cells.get(cols..).unwrap_or_default();
        self.width <= cols && cells.iter().all(Cell::is_empty)
    }

    /// Gives a row that fits another width.
    pub(super) fn widen(&mut self, cols: usize) {
        if !self.cells.is_empty() {
            self.cells.resize(cols, Cell::BLANK);
        }
    }

    /// The command came here line by line.
    pub(super) fn reach(&mut self) {
        if self.owner != Owner::Earlier {
            (self.owner, self.reached) = (Owner::Command, true);
        }
    }

    /// Blank again and nobody's, with its memory kept for the next text.
    pub(super) fn reset(&mut self) {
        (self.owner, self.reached) = (Owner::Nobody, false);
        self.lead.clear();
        self.text.clear();
        (self.width, self.marks, self.wraps) = (0, 0, false);
        self.cells = Vec::new();
    }

    pub(super) fn wraps(&self) -> bool {
        self.wraps || self.cells.last().is_some_and(|cell| cell.wraps)
    }

    /// Notes at the cell `col` that the row goes on in the next one.
    pub(super) fn set_wraps(&mut self, col: usize, grid: &Grid) {
        if self.cells.is_empty() && col + 1 == grid.cols && self.width == grid.cols {
            self.wraps = true;
        } else if !self.wraps {
            self.edit(grid)[col].wraps = true;
        }
    }

    /// What can be appended at `col` without an edit, the gap before it filled with blanks.
    fn append_at(&mut self, col: usize) -> bool {
        if !self.cells.is_empty() || col < self.width {
            return false;
        }
        self.owner = Owner::Command;
        (self.marks, self.wraps) = (0, false);
        self.text.extend(std::iter::repeat_n(' ', col - self.width));
        true
    }

    /// Writes printable ASCII that fits into the row.
    pub(super) fn put_ascii(&mut self, col: usize, run: &str, grid: &Grid) {
        if self.append_at(col) {
            self.text.push_str(run);
            self.width = col + run.len();
            return;
        }
        for (at, character) in run.chars().enumerate() {
            self.overwrite(col + at, Cell::new(character, Part::Whole), grid);
        }
    }

    /// Writes a character of `width` columns that fits into the row.
    pub(super) fn put(&mut self, col: usize, character: char, width: usize, grid: &Grid) {
        if self.append_at(col) {
            self.text.push(character);
            self.width = col + width;
        } else if width == 2 {
            self.overwrite(col, Cell::new(character, Part::Wide), grid);
            self.overwrite(col + 1, Cell::new(EMPTY, Part::Spacer), grid);
        } else {
            self.overwrite(col, Cell::new(character, Part::Whole), grid);
        }
    }

    /// Leaves the last column free for a wide character that goes to the next row.
    pub(super) fn put_leading(&mut self, grid: &Grid) {
        let col = grid.cols - 1;
        if self.append_at(col) {
            // Text that ends one column early and wraps says the same.
            (self.width, self.wraps) = (col, true);
        } else {
            self.overwrite(col, Cell::new(EMPTY, Part::Leading), grid);
        }
    }

    fn overwrite(&mut self, col: usize, cell: Cell, grid: &Grid) {
        self.edit(grid);
        self.owner = Owner::Command;
        if col == 0 {
            self.lead.clear();
        }
        match self.cells[col].part {
            Part::Wide if col + 1 < grid.cols => {
                let next = &mut self.cells[col + 1];
                if next.part == Part::Spacer {
                    next.part = Part::Whole;
                }
            }
            Part::Wide | Part::Spacer if col > 0 => self.cells[col - 1].clear_wide(),
            _ => {}
        }
        self.cells[col] = cell;
    }

    /// The cell at `col` is half of a wide character.
    pub(super) fn is_half(&self, col: usize) -> bool {
        self.cells.get(col).is_some_and(|cell| matches!(cell.part, Part::Wide | Part::Spacer))
    }

    /// The wide character that did not fit is gone: the column left free for it is a blank.
    pub(super) fn clear_leading(&mut self, grid: &Grid) {
        if self.wraps && self.width < grid.cols {
            self.text.push(' ');
            self.width = grid.cols;
        } else if let Some(last) = self.cells.last_mut().filter(|cell| cell.part == Part::Leading) {
            (last.character, last.part) = (' ', Part::Whole);
        }
    }

    /// A tab that moves the cursor from `col` to `next`; the same column at the right margin.
    pub(super) fn put_tab(&mut self, col: usize, next: usize) {
        self.owner = Owner::Command;
        if let Some(cell) = self.cells.get_mut(col) {
            if cell.is_empty() {
                cell.character = '\t';
            }
        } else if col == self.width && next > col {
            self.text.push('\t');
            (self.width, self.marks) = (next, 0);
        } else {
            self.put_margin_tab(col);
        }
    }

    /// A tab that moves nothing, kept for the text's sake: the cursor is at the right margin, behind
    /// `width` columns.
    pub(super) fn put_margin_tab(&mut self, width: usize) {
        let appends = self.cells.is_empty() && self.width == width;
        if appends && self.text.len() < MAX_MARGIN_TEXT {
            self.text.push('\t');
        }
    }

    /// A zero-width character on the cell at `col`; `first` when the cursor is in the first column,
    /// with no cell before it.
    pub(super) fn put_mark(&mut self, col: usize, mark: char, first: bool, grid: &Grid) {
        let appends = self.cells.is_empty() && col + 1 == self.width && mark.width() == Some(0);
        if first && self.cells.is_empty() && self.width == 0 {
            self.owner = Owner::Command;
            if self.lead.chars().count() < MAX_MARKS {
                self.lead.push(mark);
            }
        } else if appends && !first {
            if self.marks < MAX_MARKS {
                self.text.push(mark);
                self.marks += 1;
            }
        } else {
            self.edit(grid);
            let spacer = self.cells[col].part == Part::Spacer;
            self.cells[col - usize::from(spacer && col > 0)].push_mark(mark);
        }
    }

    /// Erases columns.
    pub(super) fn erase(&mut self, columns: std::ops::Range<usize>, grid: &Grid) {
        if columns.len() >= grid.cols {
            let reached = self.reached;
            self.reset();
            if reached {
                self.reach();
            }
        } else if columns.start < self.extent(grid) {
            self.edit(grid)[columns.clone()].fill(Cell::BLANK);
            if columns.start == 0 {
                self.lead.clear();
            }
        }
    }

    /// Moves the cells from `col` on to the right; blanks come in.
    pub(super) fn insert(&mut self, col: usize, count: usize, grid: &Grid) {
        if self.extent(grid) == 0 {
            return;
        }
        let count = count.min(grid.cols - col);
        let cells = &mut self.edit(grid)[col..];
        cells.rotate_right(count);
        cells[..count].fill(Cell::BLANK);
    }

    /// Moves the cells behind `count` deleted ones to the left; blanks come in. Where more are to be
    /// deleted than there are, the emulator blanks as many before the cursor, and so do we.
    pub(super) fn delete(&mut self, col: usize, count: usize, grid: &Grid) {
        if self.extent(grid) == 0 {
            return;
        }
        let count = count.min(grid.cols);
        let from = (col + count).min(grid.cols - 1);
        let cells = self.edit(grid);
        for offset in 0..grid.cols - from {
            cells.swap(col + offset, from + offset);
        }
        cells[grid.cols - count..].fill(Cell::BLANK);
    }

    /// Makes room for a character in insert mode; what is in that room is about to be overwritten.
    pub(super) fn shift(&mut self, col: usize, width: usize, grid: &Grid) {
        let cells = self.edit(grid);
        for col in (col..grid.cols - width).rev() {
            cells.swap(col, col + width);
        }
    }

    /// There are tabs in its text, whose width depends on the tab stops.
    pub(super) fn has_tabs(&self) -> bool {
        self.text.contains('\t')
    }

    /// Columns that may hold something.
    fn extent(&self, grid: &Grid) -> usize {
        if self.wraps || !self.cells.is_empty() { grid.cols } else { self.width }
    }

    /// The cells, for an edit.
    pub(super) fn edit(&mut self, grid: &Grid) -> &mut [Cell] {
        if self.owner == Owner::Nobody {
            self.owner = Owner::Command;
        }
        if self.cells.is_empty() {
            self.cells = laid_out(&self.text, grid);
            if let Some(last) = self.cells.last_mut().filter(|_| self.wraps) {
                last.wraps = true;
                if self.width < grid.cols {
                    last.part = Part::Leading;
                }
            }
            self.text = String::new();
            (self.width, self.marks, self.wraps) = (0, 0, false);
        }
        &mut self.cells
    }

    /// Adds what the row says to `out`; `joins` when it continues the row before, so that nothing can
    /// stand before its first cell.
    pub(super) fn write_to(&self, out: &mut String, joins: bool, grid: &Grid) {
        if !joins {
            out.push_str(&self.lead);
        }
        out.push_str(&self.text);
        let mut col = 0;
        let end = self.cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        while col < end {
            let cell = &self.cells[col];
            let before = col.checked_sub(1).and_then(|before| self.cells.get(before));
            let after = self.cells.get(col + 1);
            let halves = match cell.part {
                Part::Wide => after.is_some_and(|after| after.part == Part::Spacer),
                Part::Spacer => before.is_some_and(|before| before.part == Part::Wide),
                Part::Whole | Part::Leading => true,
            };
            col += 1;
            match cell.part {
                // Half of a wide character is a blank, as on the screen.
                _ if !halves => out.push(' '),
                Part::Leading if cell.wraps && col == self.cells.len() => {}
                Part::Spacer => {}
                _ if cell.character == '\t' => {
                    let stop = grid.next_stop(col - 1).min(end).max(col);
                    let gap = &self.cells[col..stop];
                    if cell.marks.is_none() && gap.iter().all(Cell::is_empty) {
                        out.push('\t');
                        col = stop;
                    } else {
                        out.push(' ');
                    }
                }
                _ if cell.character == EMPTY => out.push(' '),
                _ => out.push(cell.character),
            }
            if let Some(marks) = cell.marks.as_ref().filter(|_| halves) {
                out.push_str(&marks.text);
            }
        }
    }
}

/// The cells of a text that was printed from the first column on.
fn laid_out(text: &str, grid: &Grid) -> Vec<Cell> {
    let mut cells = vec![Cell::BLANK; grid.cols];
    let mut col = 0_usize;
    for character in text.chars() {
        match character.width() {
            Some(0) => {
                // A tab may lead further than it did before the terminal was widened.
                let before = col.saturating_sub(1).min(grid.cols - 1);
                let spacer = cells[before].part == Part::Spacer;
                cells[before - usize::from(spacer)].push_mark(character);
            }
            Some(width) => {
                if let Some(cell) = cells.get_mut(col) {
                    let part = if width == 2 { Part::Wide } else { Part::Whole };
                    *cell = Cell::new(character, part);
                }
                if let Some(cell) = cells.get_mut(col + 1).filter(|_| width == 2) {
                    *cell = Cell::new(EMPTY, Part::Spacer);
                }
                col += width;
            }
            // A tab, the only control character in a text.
            None => {
                if let Some(cell) = cells.get_mut(col) {
                    cell.character = '\t';
                    col = grid.next_stop(col);
                }
            }
        }
    }
    cells
}

/// What rows have in common.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    pub(super) cols: usize,
    pub(super) tabs: Vec<bool>,
}

impl Grid {
    /// Columns between the tab stops that a terminal starts with.
    const TAB: usize = 8;

    pub(super) fn new(cols: usize) -> Self {
        let mut grid = Self { cols, tabs: Vec::new() };
        grid.resize(cols);
        grid
    }

    pub(super) fn resize(&mut self, cols: usize) {
        self.cols = cols;
        let known = self.tabs.len().min(cols);
        self.tabs.truncate(cols);
        self.tabs.extend((known..cols).map(|col| col % Self::TAB == 0));
    }

    /// Where a tab from `col` leads: the last column at most.
    pub(super) fn next_stop(&self, col: usize) -> usize {
        let stops = self.tabs.iter().skip(col + 1);
        stops.take_while(|stop| !**stop).count().saturating_add(col + 1).min(self.cols - 1)
    }
}
