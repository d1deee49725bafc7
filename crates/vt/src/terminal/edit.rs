//! Erasing, inserting, deleting and scrolling; the two screens; resets.

use std::ops::Range;

use super::charsets::Charsets;
use super::core::{Core, CursorStyle, PerScreen, Saved};
use super::modes::Modes;
use super::pen::Pen;
use super::tabs::TabStops;
use crate::cell::Cell;
use crate::command_line::EnteredLines;
use crate::grid::{Position, Rectangle};
use crate::image::Images;
use crate::input::{MouseEncoding, MouseTracking};

impl Core {
    /// ED and, without the protected cells, DECSED.
    pub(super) fn erase_display(&mut self, what: u16, selective: bool) {
        let Position { row, col, wraps } = self.grid().cursor;
        let (cols, height) = (self.cols(), self.grid().height());
        let blank = self.blank();
        self.work += if blank == Cell::EMPTY { 4 * height } else { cols * height };
        if selective || (what != 3 && self.spares_protected(0..height)) {
            let rectangle = |rows: Range<usize>, cols: Range<usize>| Rectangle { rows, cols };
            let parts = match what {
                0 => [rectangle(row..row + 1, col..cols), rectangle(row + 1..height, 0..cols)],
                1 => [rectangle(0..row, 0..cols), rectangle(row..row + 1, 0..col + 1)],
                2 => [rectangle(0..height, 0..cols), rectangle(0..0, 0..0)],
                _ => return,
            };
            for part in parts.iter().filter(|part| part.area() > 0) {
                self.grid_mut().erase_unprotected(part, blank);
            }
            return;
        }
        match what {
            0 => {
                if (row, col) == (0, 0) {
                    self.erase_images();
                }
                let grid = self.grid_mut();
                // Behind the last column there is nothing to erase.
                if !wraps {
                    grid.erase(row, col..cols, blank);
                }
                grid.erase_rows(row + 1..height, blank);
            }
            1 => {
                let grid = self.grid_mut();
                grid.erase_rows(0..row, blank);
                grid.erase(row, 0..col + 1, blank);
            }
            2 => self.clear_screen(),
            3 => self.history.clear(),
            _ => {}
        }
        (0..height).for_each(|row| self.note_emptied(row));
    }

    /// Erases the whole screen. What was on the primary one goes to the history: nothing that was printed is lost.
    fn clear_screen(&mut self) {
        let blank = self.blank();
        let height = self.grid().height();
        self.erase_images();
        if !self.is_alternate {
            let used = self.primary.used_rows();
            self.capture_before_clear();
            (0..used).for_each(|row| self.leave(row));
            self.images.move_rows(false, i64::MIN..0, -(used as i64));
        }
        self.grid_mut().erase_rows(0..height, blank);
    }

    /// EL and, without the protected cells, DECSEL.
    pub(super) fn erase_line(&mut self, what: u16, selective: bool) {
        let Position { row, col, wraps } = self.grid().cursor;
        let cols = self.cols();
        let columns = match what {
            // Behind the last column there is nothing to erase.
            0 if wraps => return,
            0 => col..cols,
            1 => 0..col + 1,
            2 => 0..cols,
            _ => return,
        };
        self.work += columns.len() / 4;
        let blank = self.blank();
        let selective = selective || self.spares_protected(row..row + 1);
        let grid = self.grid_mut();
        match selective {
            true => grid.erase_unprotected(&Rectangle { rows: row..row + 1, cols: columns }, blank),
            false => grid.erase(row, columns, blank),
        }
        self.note_emptied(row);
    }

    /// ECH.
    pub(super) fn erase_chars(&mut self, count: usize) {
        let blank = self.blank();
        let cols = self.cols();
        let Position { row, col, .. } = self.grid().cursor;
        let columns = col..(col + count).min(cols);
        let spares = self.spares_protected(row..row + 1);
        let grid = self.grid_mut();
        match spares {
            true => grid.row_mut(row).erase_unprotected(columns, blank, cols),
            false => grid.row_mut(row).erase(columns, blank, cols),
        }
        grid.cursor.wraps = false;
        self.work += count.min(cols);
        self.note_emptied(row);
    }

    /// Erasing spares cells of these rows that SPA has protected.
    fn spares_protected(&mut self, rows: Range<usize>) -> bool {
        if !self.iso_protection {
            return false;
        }
        self.work += rows.len() * self.cols() / 4;
        rows.into_iter()
            .any(|row| self.grid().row(row).cells().iter().any(|cell| cell.is_protected()))
    }

    /// If nothing is left of a row, the one before does not continue in it.
    fn note_emptied(&mut self, row: usize) {
        if self.grid().row(row).len() > 0 {
            return;
        }
        match row.checked_sub(1) {
            Some(before) => self.grid_mut().row_mut(before).wrapped = false,
            None => self.top_is_replaced(row),
        }
    }

    /// ICH.
    pub(super) fn insert_chars(&mut self, count: usize) {
        self.edit_line(|core, row, columns| {
            let (blank, cols) = (core.blank(), core.cols());
            core.grid_mut().row_mut(row).insert(columns, count, blank, cols);
        });
    }

    /// DCH.
    pub(super) fn delete_chars(&mut self, count: usize) {
        self.edit_line(|core, row, columns| {
            let (blank, cols) = (core.blank(), core.cols());
            core.grid_mut().row_mut(row).delete(columns, count, blank, cols);
            core.note_emptied(row);
        });
    }

    /// Does something to the cells from the cursor to the right margin, if the cursor is between the margins.
    fn edit_line(&mut self, edit: impl FnOnce(&mut Self, usize, Range<usize>)) {
        let grid = self.grid_mut();
        grid.cursor.wraps = false;
        let Position { row, col, .. } = grid.cursor;
        if grid.columns.contains(&col) {
            let end = grid.columns.end;
            self.work += self.cols();
            edit(self, row, col..end);
        }
    }

    /// IL: blank lines come in at the cursor, and it goes to the left margin.
    pub(super) fn insert_lines(&mut self, count: usize) {
        if self.grid().is_cursor_inside() {
            let lines = self.grid().cursor.row..self.grid().lines.end;
            self.scroll_down(lines, count);
            let grid = self.grid_mut();
            let col = grid.columns.start;
            grid.move_to(grid.cursor.row, col);
        }
    }

    /// DL: the lines below move up, and the cursor goes to the left margin. Deleted lines are gone.
    pub(super) fn delete_lines(&mut self, count: usize) {
        let blank = self.blank();
        if self.grid().is_cursor_inside() {
            self.top_is_replaced(self.grid().cursor.row);
            let lines = self.grid().cursor.row..self.grid().lines.end;
            self.move_images(&lines, false, -(count.min(lines.len()) as i64));
            let grid = self.grid_mut();
            grid.scroll_up(lines, count, blank);
            let col = grid.columns.start;
            grid.move_to(grid.cursor.row, col);
        }
        self.work += self.cols() + 4 * usize::from(self.size.rows);
    }

    /// SU.
    pub(super) fn scroll_lines_up(&mut self, count: usize) {
        let lines = self.grid().lines.clone();
        self.scroll_up(lines, count);
    }

    /// SD.
    pub(super) fn scroll_lines_down(&mut self, count: usize) {
        let lines = self.grid().lines.clone();
        self.scroll_down(lines, count);
    }

    /// DECIC, and SR with the first column.
    pub(super) fn insert_columns(&mut self, col: usize, count: usize) {
        let blank = self.blank();
        self.work += self.cols() * usize::from(self.size.rows);
        self.grid_mut().insert_columns(col, count, blank);
    }

    /// DECDC, and SL with the first column.
    pub(super) fn delete_columns(&mut self, col: usize, count: usize) {
        let blank = self.blank();
        self.work += self.cols() * usize::from(self.size.rows);
        self.grid_mut().delete_columns(col, count, blank);
    }

    /// DECALN: the screen is filled with E.
    pub(super) fn alignment_test(&mut self) {
        self.work += self.cols() * usize::from(self.size.rows);
        self.modes.remove(Modes::ORIGIN);
        self.erase_images();
        let grid = self.grid_mut();
        grid.reset_margins();
        let (height, cols) = (grid.height(), grid.cols());
        grid.erase_rows(0..height, Cell::EMPTY);
        grid.fill_rectangle(
            &Rectangle { rows: 0..height, cols: 0..cols },
            Cell::EMPTY.with_ascii(b'E'),
        );
        grid.move_to(0, 0);
    }

    /// Shows the alternate screen or the primary one. The cursor stays where it is.
    pub(super) fn show_alternate(&mut self, alternate: bool) {
        if alternate == self.is_alternate {
            return;
        }
        let cursor = self.grid().cursor;
        let margins = (self.grid().lines.clone(), self.grid().columns.clone());
        self.is_alternate = alternate;
        let grid = self.grid_mut();
        grid.cursor = cursor;
        (grid.lines, grid.columns) = margins;
        if let Some(capture) = self.capture.as_mut().filter(|_| alternate) {
            capture.was_full_screen = true;
        }
        if !alternate {
            self.alternate.give_back_memory();
        }
    }

    /// Makes the alternate screen blank.
    pub(super) fn clear_alternate(&mut self) {
        let blank = self.blank();
        let height = self.alternate.height();
        self.work += 4 * height;
        self.images.remove(|placed| placed.alternate);
        self.alternate.erase_rows(0..height, blank);
    }

    /// DECSTR.
    pub(super) fn soft_reset(&mut self) {
        for mode in [
            Modes::INSERT,
            Modes::ORIGIN,
            Modes::APP_CURSOR,
            Modes::APP_KEYPAD,
            Modes::KEYBOARD_LOCKED,
        ] {
            self.modes.remove(mode);
        }
        self.modes.remove(
            Modes::REVERSE_WRAP
                | Modes::REVERSE_WRAP_BACK
                | Modes::COLUMN_MARGINS
                | Modes::NATIONAL,
        );
        self.modes.insert(Modes::AUTOWRAP | Modes::SHOW_CURSOR);
        self.grid_mut().reset_margins();
        self.grid_mut().cursor.wraps = false;
        self.reset_pen();
        self.iso_protection = false;
        self.charsets = Charsets::default();
        self.own().saved = Saved::default();
        self.modify_other_keys = 0;
    }

    /// DECSCL: a level from 1 to 5, which resets as DECSTR does.
    pub(super) fn set_level(&mut self, level: u16) {
        self.soft_reset();
        if (61..=65).contains(&level) {
            self.level = Some((level - 60) as u8);
        }
    }

    /// The level in force has the functions of another one.
    pub(super) fn has_level(&self, level: u8) -> bool {
        self.level.is_none_or(|set| set >= level)
    }

    pub(super) fn reset_pen(&mut self) {
        self.pen = Pen::default();
        self.pen.style_changed();
    }

    /// RIS: all as in the beginning; what was on the primary screen counts as scrolled off.
    pub(super) fn full_reset(&mut self) {
        self.end_synchronized();
        self.show_alternate(false);
        self.capture_before_clear();
        self.images = Images::default();
        self.history.clear();
        self.history.count(self.size.rows.into());
        let height = self.primary.height();
        for grid in [&mut self.primary, &mut self.alternate] {
            grid.erase_rows(0..height, Cell::EMPTY);
            grid.reset_margins();
            grid.move_to(0, 0);
        }
        self.per_screen = [PerScreen::default(), PerScreen::default()];
        self.modes = Modes::default();
        self.mouse = MouseTracking::default();
        self.mouse_encoding = MouseEncoding::default();
        self.saved_modes.clear();
        self.charsets = Charsets::default();
        self.cursor_style = CursorStyle::default();
        self.modify_other_keys = 0;
        self.last_printed = None;
        self.titles.clear();
        self.colors.clear();
        (self.attribute_extent, self.checksum) = (0, 0);
        (self.iso_protection, self.level) = (false, None);
        self.reset_pen();
        self.tabs = TabStops::new(self.cols());
        self.command_line = None;
        self.entered_lines = EnteredLines::default();
        if !self.title.is_empty() {
            self.set_title(None);
        }
        self.work += 8 * height;
        if self.capture.is_some() {
            self.primary.cursor_row().reach();
        }
    }
}
