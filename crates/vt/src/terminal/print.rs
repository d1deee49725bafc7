//! Printing: characters, marks that join them, and the way to the next row.

use super::core::Core;
use super::modes::Modes;
use crate::cell::{Cell, Width};
use crate::clusters;
use crate::grid::Position;
use crate::utf8::first_char;

impl Core {
    /// Prints ASCII.
    #[inline]
    pub(super) fn print_ascii(&mut self, run: &[u8]) {
        self.work += run.len();
        if !self.prints_runs() {
            return run.iter().for_each(|byte| self.print(char::from(*byte)));
        }
        self.last_printed = run.last().map(|byte| char::from(*byte));
        let template = self.template();
        let mut rest = run;
        while !rest.is_empty() {
            if self.grid().cursor.wraps {
                self.wrap();
            }
            let grid = self.grid_mut();
            let Position { row, col, .. } = grid.cursor;
            let (end, cols) = (grid.right_end(col), grid.cols());
            let line = grid.row_mut(row);
            if line.has_leads() {
                self.put(char::from(rest[0]), 1);
                rest = &rest[1..];
                continue;
            }
            let (now, later) = rest.split_at(rest.len().min(end - col));
            line.write_ascii(col, now, template, cols);
            grid.put_cursor_behind(col + now.len(), end);
            rest = later;
        }
    }

    /// Prints the characters at the start of a text; returns how many bytes they have.
    pub(super) fn print_text(&mut self, text: &[u8]) -> usize {
        let in_runs = self.prints_runs() && !self.modes.contains(Modes::GRAPHEMES);
        let template = self.template();
        let mut rest = text;
        while !rest.is_empty() {
            let grid = self.grid_mut();
            let Position { row, col, wraps } = grid.cursor;
            let (end, cols) = (grid.right_end(col), grid.cols());
            let line = grid.row_mut(row);
            let written = match in_runs && !wraps && !line.has_leads() {
                true => line.write_text(col..end, rest, template, cols),
                false => None,
            };
            if let Some(written) = written {
                grid.put_cursor_behind(written.end, end);
                self.last_printed = Some(written.last);
                rest = &rest[written.bytes..];
            } else {
                let Some((first, len)) = first_char(rest) else { break };
                // It has no width or no room, or something waits for it.
                self.print(first);
                rest = &rest[len..];
            }
        }
        let taken = text.len() - rest.len();
        self.work += 2 * taken;
        taken
    }

    /// Characters are printed as they come, one behind the other.
    #[inline]
    fn prints_runs(&self) -> bool {
        self.charsets.is_plain()
            && self.modes & (Modes::AUTOWRAP | Modes::INSERT) == Modes::AUTOWRAP
    }

    /// Prints a character in the character set that is invoked.
    pub(super) fn print(&mut self, character: char) {
        if character.is_ascii() && !self.charsets.is_plain() {
            let shown = self.charsets.map(character);
            self.last_printed = Some(shown);
            return self.put(shown, 1);
        }
        match clusters::char_width(character) {
            None => {}
            Some(0) => self.put_mark(character),
            Some(_) if self.modes.contains(Modes::GRAPHEMES) && self.join(character) => {}
            Some(width) => {
                self.last_printed = Some(character);
                self.put(character, width);
            }
        }
    }

    /// Prints a character again (REP).
    pub(super) fn repeat(&mut self, count: usize) {
        let Some(character) = self.last_printed else { return };
        let width = clusters::char_width(character).unwrap_or(1).max(1);
        for _ in 0..count.min(self.cols()) {
            self.put(character, width);
        }
        self.work += count.min(self.cols());
    }

    fn put(&mut self, character: char, width: usize) {
        let template = self.template();
        let inserts = self.modes.contains(Modes::INSERT);
        let grid = if self.is_alternate { &mut self.alternate } else { &mut self.primary };
        let Position { row, col, wraps } = grid.cursor;
        // Most characters have room in the row.
        if !wraps && !inserts && col + width < grid.right_end(col) && !grid.row(row).has_leads() {
            let cell = template.with_char(character);
            let cols = grid.cols();
            grid.row_mut(row).write(col, if width == 2 { cell.wide() } else { cell }, cols);
            grid.cursor.col += width;
            return;
        }
        self.put_at_edge(character, width);
    }

    fn put_at_edge(&mut self, character: char, width: usize) {
        let autowrap = self.modes.contains(Modes::AUTOWRAP);
        if self.grid().cursor.wraps && autowrap {
            self.wrap();
        }
        let end = self.grid().right_end(self.grid().cursor.col);
        if width == 2 && self.grid().cursor.col + 1 == end {
            if !autowrap || end < 2 {
                return;
            }
            // The last column is left free.
            let Position { row, col, .. } = self.grid().cursor;
            let blank = self.blank();
            let keeps_lead = self.has_lead(row, col);
            let grid = self.grid_mut();
            let cols = grid.cols();
            let line = grid.row_mut(row);
            if !keeps_lead {
                line.erase(col..col + 1, blank, cols);
            }
            self.wrap();
        }
        let Position { row, col, .. } = self.grid().cursor;
        let end = self.grid().right_end(col);
        let mut cell = self.template().with_char(character);
        if width == 2 {
            cell = cell.wide();
        }
        let has_lead = self.grid().row(row).has_leads() && self.has_lead(row, col);
        if has_lead {
            cell = self.behind_lead(row, col, character, cell);
        }
        let blank = self.blank();
        let insert = self.modes.contains(Modes::INSERT) && !has_lead;
        self.work += if insert { end - col } else { 0 };
        let grid = self.grid_mut();
        let cols = grid.cols();
        if insert {
            grid.row_mut(row).insert(col..end, width, blank, cols);
        }
        grid.row_mut(row).write(col, cell, cols);
        grid.put_cursor_behind(col + width, end);
    }

    /// Continues in the next row.
    pub(super) fn wrap(&mut self) {
        let grid = self.grid_mut();
        let Position { row, col, .. } = grid.cursor;
        let moves = row + 1 == grid.lines.end || row + 1 < grid.height();
        if moves && grid.has_full_width() {
            let (cols, is_full) = (grid.cols(), grid.cursor.wraps);
            let line = grid.row_mut(row);
            // It may have been erased since it was filled.
            line.reach_column(if is_full { cols } else { col }, cols);
            line.wrapped = true;
        }
        let start = if grid.columns.contains(&col) { grid.columns.start } else { 0 };
        grid.cursor.wraps = false;
        self.next_line(start);
    }

    /// Moves the cursor to the next line, scrolling at the bottom margin, and to a column.
    pub(super) fn next_line(&mut self, col: usize) {
        self.line_feed();
        self.grid_mut().cursor.col = col;
    }

    /// Moves the cursor down, and scrolls at the bottom margin.
    #[inline]
    pub(super) fn line_feed(&mut self) {
        self.work += 1;
        let grid = self.grid_mut();
        let row = grid.cursor.row;
        if row + 1 == grid.lines.end {
            if grid.columns.contains(&grid.cursor.col) {
                let lines = grid.lines.clone();
                self.scroll_up(lines, 1);
            }
        } else if row + 1 < grid.height() {
            grid.cursor.row += 1;
        }
        self.grid_mut().cursor_row().reach();
    }

    /// The cell before the cursor, which marks join; in the first column the cell that is to be printed.
    fn cell_before(&self) -> Position {
        let grid = self.grid();
        let Position { row, col, wraps } = grid.cursor;
        let mut at = if wraps { col } else { col.saturating_sub(1) };
        if grid.row(row).cell(at).width() == Width::Spacer {
            at = at.saturating_sub(1);
        }
        Position { row, col: at, wraps: false }
    }

    /// A code point that takes no column.
    fn put_mark(&mut self, mark: char) {
        let Position { row, col, .. } = self.cell_before();
        let cell = self.grid().row(row).cell(col);
        let is_first = self.grid().cursor.col == 0 && !self.grid().cursor.wraps;
        // At the start of a line it stays in front of what is printed there: a byte order mark.
        let base = if is_first { self.template() } else { self.template().with_ascii(b' ') };
        self.join_at(row, col, if cell.is_unwritten() { base } else { cell }, mark);
        if self.modes.contains(Modes::GRAPHEMES) {
            self.fit_cluster(row, col);
        }
    }

    /// A tab that moves nothing: it is kept for the text's sake, behind the character in the last column or in front of
    /// the one that will be printed there.
    pub(super) fn put_margin_tab(&mut self) {
        let Position { row, col, wraps } = self.grid().cursor;
        let col = if wraps { self.cell_before().col } else { col };
        let cell = self.grid().row(row).cell(col);
        if wraps || cell.is_unwritten() || self.has_lead(row, col) {
            self.join_at(row, col, cell, '\t');
        }
    }

    fn join_at(&mut self, row: usize, col: usize, cell: Cell, mark: char) {
        let joined = self.tables.join(cell, mark);
        let grid = self.grid_mut();
        let cols = grid.cols();
        grid.row_mut(row).join(col, joined, mark, cols);
        if self.has_lead(row, col) {
            self.grid_mut().row_mut(row).note_lead();
        }
    }

    /// What is in a cell has no column of its own: marks before the first character, or tabs at the margin.
    fn has_lead(&self, row: usize, col: usize) -> bool {
        let cell = self.grid().row(row).cell(col);
        cell.cluster().is_some_and(|number| self.tables.cluster_columns(number) == 0)
    }

    /// The character with what stands in front of it.
    fn behind_lead(&mut self, row: usize, col: usize, character: char, cell: Cell) -> Cell {
        let continues = match row {
            0 => !self.is_alternate && self.history.is_open(),
            _ => self.grid().row(row - 1).wrapped,
        };
        let lead = self.grid().row(row).cell(col);
        if continues && col == 0 {
            return cell;
        }
        let joined = self.tables.append(lead, character);
        joined.cluster().map_or(cell, |number| cell.with_cluster(number))
    }

    /// Adds a character to the grapheme cluster before the cursor, if it belongs there (mode 2027).
    fn join(&mut self, character: char) -> bool {
        // Most text has no character that could.
        if character < '\u{300}' {
            return false;
        }
        let Position { row, col, .. } = self.cell_before();
        let cell = self.grid().row(row).cell(col);
        let at_start = self.grid().cursor.col == 0 && !self.grid().cursor.wraps;
        let mut text = String::new();
        self.tables.push_text(cell, &mut text);
        if at_start || !clusters::joins(&text, character) {
            return false;
        }
        self.join_at(row, col, cell, character);
        self.fit_cluster(row, col);
        true
    }

    /// A cluster that has become wide takes the next column too.
    fn fit_cluster(&mut self, row: usize, col: usize) {
        let cell = self.grid().row(row).cell(col);
        let Some(number) = cell.cluster() else { return };
        let end = self.grid().right_end(col);
        let widens =
            clusters::width(self.tables.cluster(number)) == 2 && cell.width() == Width::Narrow;
        if widens && col + 1 < end {
            let grid = self.grid_mut();
            let cols = grid.cols();
            grid.row_mut(row).write(col, cell.wide(), cols);
            grid.put_cursor_behind(col + 2, end);
        }
    }
}
