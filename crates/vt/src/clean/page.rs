//! The screen as one command sees it: rows of the terminal's width, as many as it is high.
//!
//! It follows the emulator crate in what each function does, quirks included; `clean/handler.rs` maps
//! the functions to what is here. A row that scrolls off the top is final. Rows that were there before
//! the command can be reached, as on the screen, and are no output unless the command writes to them.
//!
//! Cost: a printed character is O(1), an edit O(columns), a scroll within margins O(rows).

use std::collections::VecDeque;
use std::ops::Range;

use alacritty_terminal::vte::ansi::{CharsetIndex, StandardCharset};
use unicode_width::UnicodeWidthChar;

use super::row::{Grid, Owner, Row};
use crate::emulator::Size;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor {
    pub(super) row: usize,
    pub(super) col: usize,
    /// The row is full: the next character goes to the next row.
    pub(super) wrap_pending: bool,
    pub(super) charsets: [StandardCharset; 4],
}

#[derive(Debug)]
pub(super) struct Page {
    pub(super) grid: Grid,
    pub(super) rows: usize,
    /// Exactly `rows` of them.
    pub(super) screen: VecDeque<Row>,
    pub(super) cursor: Cursor,
    pub(super) saved: Cursor,
    pub(super) active_charset: CharsetIndex,
    /// The scrolling region.
    pub(super) region: Range<usize>,
    pub(super) auto_wrap: bool,
    pub(super) insert: bool,
    pub(super) origin: bool,
    /// The alternate screen is shown: what is printed there is no text.
    pub(super) alternate: bool,
    pub(super) was_full_screen: bool,
    /// What REP repeats.
    pub(super) last: Option<char>,
    /// Rows that scrolled off and were not taken yet.
    pub(super) done: String,
    /// The last of them goes on in the next.
    pub(super) joins: bool,
}

impl Page {
    /// A page whose rows above `row` are not the command's. What stands in that row, printed by a hook
    /// of the shell, is not known and not counted: a command that rewrites its line rewrites all of it.
    pub(super) fn new(size: Size, row: u16) -> Self {
        let Size { cols, rows } = size.clamped();
        let (cols, rows) = (usize::from(cols), usize::from(rows));
        let mut page = Self {
            grid: Grid::new(cols),
            rows,
            screen: VecDeque::new(),
            cursor: Cursor { row: usize::from(row).min(rows - 1), ..Cursor::default() },
            saved: Cursor::default(),
            active_charset: CharsetIndex::G0,
            region: 0..rows,
            auto_wrap: true,
            insert: false,
            origin: false,
            alternate: false,
            was_full_screen: false,
            last: None,
            done: String::new(),
            joins: false,
        };
        page.screen.resize_with(page.cursor.row, Row::earlier);
        page.screen.resize_with(rows, Row::default);
        page.screen[page.cursor.row].reach();
        page
    }

    /// The text of the rows that can still change.
    pub(super) fn pending(&self) -> String {
        let mut text = String::new();
        let Some(last) = self.screen.iter().rposition(|row| row.owner == Owner::Command) else {
            return text;
        };
        let mut joins = self.joins;
        for (index, row) in self.screen.iter().take(last + 1).enumerate() {
            if row.owner != Owner::Earlier {
                row.write_to(&mut text, joins, &self.grid);
                joins = row.wraps();
                if index < last && !joins {
                    text.push('\n');
                }
            }
        }
        text
    }

    /// Prints ASCII without control characters.
    pub(super) fn print_ascii(&mut self, mut run: &str) {
        let plain = self.charset() == StandardCharset::Ascii && self.auto_wrap && !self.insert;
        if !plain || self.alternate {
            run.chars().for_each(|character| self.print(character));
            return;
        }
        self.last = run.chars().next_back().or(self.last);
        while !run.is_empty() {
            if self.cursor.wrap_pending {
                self.wrap();
            }
            let (row, col) = (self.cursor.row, self.cursor.col);
            let (now, later) = run.split_at(run.len().min(self.grid.cols - col));
            self.clear_leading_before(row, col..col + now.len());
            self.screen[row].put_ascii(col, now, &self.grid);
            self.advance(now.len());
            run = later;
        }
    }

    /// Prints any character that is not a control character.
    pub(super) fn print(&mut self, character: char) {
        self.last = Some(character);
        self.put(character);
    }

    pub(super) fn put(&mut self, character: char) {
        if self.alternate {
            return;
        }
        match character.width() {
            None => {}
            Some(0) => self.put_mark(character),
            Some(width) => self.put_wide(character, width),
        }
    }

    /// A character that takes no room, on the cell before the cursor.
    pub(super) fn put_mark(&mut self, mark: char) {
        if self.alternate {
            return;
        }
        let Cursor { row, col, wrap_pending, .. } = self.cursor;
        let at = if wrap_pending { col } else { col.saturating_sub(1) };
        self.screen[row].put_mark(at, mark, col == 0 && !wrap_pending, &self.grid);
    }

    fn put_wide(&mut self, character: char, width: usize) {
        if self.cursor.wrap_pending {
            self.wrap();
        }
        let last = self.grid.cols - 1;
        if self.insert && self.cursor.col + width < self.grid.cols {
            self.screen[self.cursor.row].shift(self.cursor.col, width, &self.grid);
        }
        if width == 2 && self.cursor.col == last {
            if !self.auto_wrap {
                self.cursor.wrap_pending = true;
                return;
            }
            self.screen[self.cursor.row].put_leading(&self.grid);
            self.wrap();
        }
        let character = self.charset().map(character);
        let (row, col) = (self.cursor.row, self.cursor.col);
        self.clear_leading_before(row, col..col + width);
        self.screen[row].put(col, character, width, &self.grid);
        self.advance(width);
    }

    /// Overwriting a wide character at the start of a row frees the column before it.
    fn clear_leading_before(&mut self, row: usize, columns: Range<usize>) {
        let mut columns = columns.start..columns.end.min(2);
        if row > 0 && columns.any(|col| self.screen[row].is_half(col)) {
            self.screen[row - 1].clear_leading(&self.grid);
        }
    }

    fn advance(&mut self, width: usize) {
        let next = self.cursor.col + width;
        self.cursor.col = next.min(self.grid.cols - 1);
        self.cursor.wrap_pending |= next >= self.grid.cols;
    }

    /// Goes on in the next row.
    fn wrap(&mut self) {
        if !self.auto_wrap {
            return;
        }
        self.screen[self.cursor.row].set_wraps(self.cursor.col, &self.grid);
        if self.cursor.row + 1 >= self.region.end {
            self.line_feed();
        } else {
            self.cursor.row += 1;
        }
        self.cursor.col = 0;
        self.cursor.wrap_pending = false;
        self.screen[self.cursor.row].reach();
    }

    pub(super) fn line_feed(&mut self) {
        if self.alternate {
            return;
        }
        let next = self.cursor.row + 1;
        if next == self.region.end {
            self.scroll_up(self.region.start, 1);
        } else if next < self.rows {
            self.cursor.row = next;
        }
        self.screen[self.cursor.row].reach();
    }

    pub(super) fn carriage_return(&mut self) {
        if !self.alternate {
            self.cursor.col = 0;
            self.cursor.wrap_pending = false;
        }
    }

    pub(super) fn back_space(&mut self) {
        if !self.alternate && self.cursor.col > 0 {
            self.cursor.col -= 1;
            self.cursor.wrap_pending = false;
        }
    }

    pub(super) fn tab(&mut self) {
        if self.alternate {
            return;
        }
        let Cursor { row, col, wrap_pending, .. } = self.cursor;
        if wrap_pending {
            self.screen[row].put_margin_tab(self.grid.cols);
            self.wrap();
        } else {
            let next = self.grid.next_stop(col);
            self.screen[row].put_tab(col, next);
            self.cursor.col = next;
        }
    }

    /// Moves the rows of the region from `origin` on up; those that leave the screen are final.
    pub(super) fn scroll_up(&mut self, origin: usize, lines: usize) {
        let lines = lines.min(self.region.len());
        let end = self.region.end;
        for _ in 0..lines.min(end - origin) {
            let Some(mut row) = self.screen.remove(origin) else { return };
            if origin == 0 {
                self.hand_out(&row);
            }
            row.reset();
            self.screen.insert(end - 1, row);
        }
    }

    /// Moves the rows of the region from `origin` on down; those that leave it are gone.
    pub(super) fn scroll_down(&mut self, origin: usize, lines: usize) {
        let end = self.region.end;
        let lines = lines.min(self.region.len()).min(end - origin);
        for _ in 0..lines {
            let Some(mut row) = self.screen.remove(end - 1) else { return };
            row.reset();
            self.screen.insert(origin, row);
        }
    }

    /// A row that can no longer change.
    pub(super) fn hand_out(&mut self, row: &Row) {
        if row.owner != Owner::Earlier {
            row.write_to(&mut self.done, self.joins, &self.grid);
            self.joins = row.wraps();
            if !self.joins {
                self.done.push('\n');
            }
        }
    }

    /// Clears the screen. What stands there has been printed all the same.
    pub(super) fn clear(&mut self) {
        let text = self.pending();
        let goes_on = if text.is_empty() { self.joins } else { !text.ends_with('\n') };
        self.done.push_str(&text);
        if goes_on {
            self.done.push('\n');
        }
        self.joins = false;
        self.erase_rows(0..self.rows);
    }

    /// Blanks rows.
    pub(super) fn erase_rows(&mut self, rows: Range<usize>) {
        self.screen.range_mut(rows).for_each(Row::reset);
    }

    pub(super) fn charset(&self) -> StandardCharset {
        self.cursor.charsets[self.active_charset as usize]
    }
}
