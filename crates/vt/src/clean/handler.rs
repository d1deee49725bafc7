//! The emulator's functions on a [`Page`], as the `vte` crate's parser names them.

use alacritty_terminal::vte::ansi::{
    CharsetIndex, ClearMode, Handler, LineClearMode, Mode, NamedMode, NamedPrivateMode,
    PrivateMode, StandardCharset, TabulationClearMode,
};

use super::page::{Cursor, Page};

impl Page {
    /// Shows the other screen, or goes back to this one.
    pub(super) fn swap_screens(&mut self, alternate: bool) {
        self.was_full_screen |= alternate;
        if alternate && !self.alternate {
            self.saved = self.cursor;
        }
        self.alternate = alternate;
    }

    /// Puts the cursor into a row, counted from the region's first in origin mode, and a column.
    fn moved(&mut self, row: i64, col: usize) {
        if self.alternate {
            return;
        }
        let (offset, last) =
            if self.origin { (self.region.start, self.region.end - 1) } else { (0, self.rows - 1) };
        let row = (row + offset as i64).clamp(0, last as i64) as usize;
        let col = col.min(self.grid.cols - 1);
        self.cursor = Cursor { row, col, wrap_pending: false, ..self.cursor };
    }

    fn moved_by(&mut self, rows: i64, col: usize) {
        self.moved(self.cursor.row as i64 + rows, col);
    }

    /// Lays out the tabs that were printed before the tab stops change.
    fn keep_tabs(&mut self) {
        for row in self.screen.iter_mut().filter(|row| row.has_tabs()) {
            row.edit(&self.grid);
        }
    }

    fn set_private(&mut self, mode: PrivateMode, on: bool) {
        let PrivateMode::Named(mode) = mode else { return };
        match mode {
            NamedPrivateMode::SwapScreenAndSetRestoreCursor => self.swap_screens(on),
            NamedPrivateMode::LineWrap => self.auto_wrap = on,
            NamedPrivateMode::Origin => {
                self.origin = on;
                if on {
                    self.moved(0, 0);
                }
            }
            _ => {}
        }
    }
}

impl Handler for Page {
    fn input(&mut self, c: char) {
        self.print(c);
    }

    fn goto(&mut self, line: i32, col: usize) {
        self.moved(line.into(), col);
    }

    fn goto_line(&mut self, line: i32) {
        self.moved(line.into(), self.cursor.col);
    }

    fn goto_col(&mut self, col: usize) {
        self.moved_by(0, col);
    }

    fn move_up(&mut self, rows: usize) {
        self.moved_by(-(rows as i64), self.cursor.col);
    }

    fn move_down(&mut self, rows: usize) {
        self.moved_by(rows as i64, self.cursor.col);
    }

    fn move_up_and_cr(&mut self, rows: usize) {
        self.moved_by(-(rows as i64), 0);
    }

    fn move_down_and_cr(&mut self, rows: usize) {
        self.moved_by(rows as i64, 0);
    }

    fn move_forward(&mut self, cols: usize) {
        if !self.alternate {
            self.cursor.col = (self.cursor.col + cols).min(self.grid.cols - 1);
            self.cursor.wrap_pending = false;
        }
    }

    fn move_backward(&mut self, cols: usize) {
        if !self.alternate {
            self.cursor.col = self.cursor.col.saturating_sub(cols);
            self.cursor.wrap_pending = false;
        }
    }

    fn put_tab(&mut self, _count: u16) {
        self.tab();
    }

    fn backspace(&mut self) {
        self.back_space();
    }

    fn carriage_return(&mut self) {
        Page::carriage_return(self);
    }

    fn linefeed(&mut self) {
        self.line_feed();
    }

    fn reverse_index(&mut self) {
        if self.alternate {
            return;
        }
        if self.cursor.row == self.region.start {
            Page::scroll_down(self, self.region.start, 1);
        } else {
            self.cursor.row = self.cursor.row.saturating_sub(1);
        }
    }

    fn insert_blank(&mut self, count: usize) {
        if !self.alternate {
            self.screen[self.cursor.row].insert(self.cursor.col, count, &self.grid);
        }
    }

    fn delete_chars(&mut self, count: usize) {
        if !self.alternate {
            self.screen[self.cursor.row].delete(self.cursor.col, count, &self.grid);
        }
    }

    fn erase_chars(&mut self, count: usize) {
        if !self.alternate {
            let col = self.cursor.col;
            let end = (col + count).min(self.grid.cols);
            self.screen[self.cursor.row].erase(col..end, &self.grid);
        }
    }

    fn clear_line(&mut self, mode: LineClearMode) {
        if self.alternate {
            return;
        }
        let Cursor { row, col, wrap_pending, .. } = self.cursor;
        let columns = match mode {
            LineClearMode::Right if wrap_pending => return,
            LineClearMode::Right => col..self.grid.cols,
            LineClearMode::Left => 0..col + 1,
            LineClearMode::All => 0..self.grid.cols,
        };
        self.screen[row].erase(columns, &self.grid);
    }

    fn clear_screen(&mut self, mode: ClearMode) {
        if self.alternate {
            return;
        }
        let Cursor { row, col, .. } = self.cursor;
        match mode {
            ClearMode::Above => {
                // The emulator leaves the first row alone when the cursor is on the second.
                if row > 1 {
                    self.erase_rows(0..row);
                }
                self.screen[row].erase(0..col + 1, &self.grid);
            }
            ClearMode::Below => {
                self.screen[row].erase(col..self.grid.cols, &self.grid);
                self.erase_rows(row + 1..self.rows);
            }
            // It goes to the scrollback.
            ClearMode::All => self.clear(),
            // What scrolled off is handed out.
            ClearMode::Saved => {}
        }
    }

    fn insert_blank_lines(&mut self, lines: usize) {
        if !self.alternate && self.region.contains(&self.cursor.row) {
            Page::scroll_down(self, self.cursor.row, lines);
        }
    }

    fn delete_lines(&mut self, lines: usize) {
        if !self.alternate && self.region.contains(&self.cursor.row) {
            Page::scroll_up(self, self.cursor.row, lines);
        }
    }

    fn scroll_up(&mut self, lines: usize) {
        if !self.alternate {
            Page::scroll_up(self, self.region.start, lines);
        }
    }

    fn scroll_down(&mut self, lines: usize) {
        if !self.alternate {
            Page::scroll_down(self, self.region.start, lines);
        }
    }

    fn set_scrolling_region(&mut self, top: usize, bottom: Option<usize>) {
        let bottom = bottom.unwrap_or(self.rows);
        if top < bottom {
            self.region = (top - 1).min(self.rows)..bottom.min(self.rows);
            self.moved(0, 0);
        }
    }

    fn set_horizontal_tabstop(&mut self) {
        if !self.alternate {
            self.keep_tabs();
            self.grid.tabs[self.cursor.col] = true;
        }
    }

    fn clear_tabs(&mut self, mode: TabulationClearMode) {
        self.keep_tabs();
        match mode {
            TabulationClearMode::Current if self.alternate => {}
            TabulationClearMode::Current => self.grid.tabs[self.cursor.col] = false,
            TabulationClearMode::All => self.grid.tabs.fill(false),
        }
    }

    fn move_forward_tabs(&mut self, count: u16) {
        for _ in 0..count {
            if !self.alternate && self.cursor.col + 1 < self.grid.cols {
                self.cursor.col = self.grid.next_stop(self.cursor.col);
            }
        }
    }

    fn move_backward_tabs(&mut self, count: u16) {
        for _ in 0..count {
            let mut before = self.grid.tabs.iter().take(self.cursor.col);
            match before.rposition(|stop| *stop).filter(|_| !self.alternate) {
                Some(col) => self.cursor.col = col,
                None => break,
            }
        }
    }

    fn save_cursor_position(&mut self) {
        if !self.alternate {
            self.saved = self.cursor;
        }
    }

    fn restore_cursor_position(&mut self) {
        if !self.alternate {
            self.cursor = self.saved;
        }
    }

    fn set_mode(&mut self, mode: Mode) {
        self.insert |= mode == Mode::Named(NamedMode::Insert);
    }

    fn unset_mode(&mut self, mode: Mode) {
        self.insert &= mode != Mode::Named(NamedMode::Insert);
    }

    fn set_private_mode(&mut self, mode: PrivateMode) {
        self.set_private(mode, true);
    }

    fn unset_private_mode(&mut self, mode: PrivateMode) {
        self.set_private(mode, false);
    }

    fn configure_charset(&mut self, index: CharsetIndex, charset: StandardCharset) {
        if !self.alternate {
            self.cursor.charsets[index as usize] = charset;
        }
    }

    fn set_active_charset(&mut self, index: CharsetIndex) {
        self.active_charset = index;
    }

    fn decaln(&mut self) {
        if self.alternate {
            return;
        }
        let line = "E".repeat(self.grid.cols);
        for row in &mut self.screen {
            row.reset();
            row.put_ascii(0, &line, &self.grid);
        }
    }

    fn reset_state(&mut self) {
        self.clear();
        (self.cursor, self.saved) = (Cursor::default(), Cursor::default());
        self.active_charset = CharsetIndex::G0;
        self.region = 0..self.rows;
        self.grid = super::row::Grid::new(self.grid.cols);
        (self.auto_wrap, self.insert, self.origin, self.alternate) = (true, false, false, false);
    }
}
