//! Escape sequences that make the same screen in another terminal.

use std::fmt::Write as _;

use super::sgr_parameters;
use crate::screen::{Cell, CellWidth, Cursor, CursorShape, Row, Screen};
use crate::style::Style;

/// A program's output that leads to exactly this screen in a fresh terminal of its size: cells, cursor, title, which screen.
pub fn raw(screen: &Screen) -> String {
    let mut out = Painter::default();
    if !screen.title.is_empty() {
        let _ = write!(out.text, "\x1b]2;{}\x1b\\", screen.title);
    }
    if screen.alternate {
        out.text.push_str("\x1b[?1049h");
    }
    // Autowrap would move what ends in the last column.
    out.text.push_str("\x1b[H\x1b[2J\x1b[?7l");
    for (index, row) in screen.rows.iter().enumerate() {
        if row.visible_len() > 0 {
            let _ = write!(out.text, "\x1b[{}H", index + 1);
            out.row(row);
        }
    }
    out.finish(screen.cursor)
}

/// Paints over what a terminal with as many rows as `screen` shows. The rows of `above`, wrapped where they are too long, scroll
/// off it on the way.
pub fn repaint<'rows>(
    above: impl IntoIterator<Item = &'rows Row>,
    screen: &'rows Screen,
) -> String {
    let mut out = Painter::default();
    // Not all of the screen in one go: some terminals keep what that erases.
    out.text.push_str("\x1b[m\x1b[H\x1b[J");
    for row in above {
        out.row(row);
        out.plain();
        out.text.push_str("\r\n");
    }
    out.text.push_str("\x1b[?7l");
    for (index, row) in screen.rows.iter().enumerate() {
        if index > 0 {
            out.plain();
            out.text.push_str("\r\n");
        }
        out.row(row);
    }
    out.finish(screen.cursor)
}

/// What is painted, and how the next cell would look.
#[derive(Default)]
struct Painter<'rows> {
    text: String,
    style: Style,
    link: Option<&'rows str>,
}

impl<'rows> Painter<'rows> {
    fn row(&mut self, row: &'rows Row) {
        for cell in &row.cells[..row.visible_len()] {
            self.cell(cell);
        }
    }

    fn cell(&mut self, cell: &'rows Cell) {
        if cell.width == CellWidth::Continuation {
            return;
        }
        if cell.link.as_deref() != self.link {
            self.link = cell.link.as_deref();
            let _ = write!(self.text, "\x1b]8;;{}\x1b\\", self.link.unwrap_or_default());
        }
        if cell.style != self.style {
            self.style = cell.style;
            let _ = write!(self.text, "\x1b[{}m", sgr_parameters(&self.style));
        }
        cell.push_text(&mut self.text);
    }

    /// A line that scrolls in has the colour of the last cell.
    fn plain(&mut self) {
        if self.style != Style::default() {
            self.style = Style::default();
            self.text.push_str("\x1b[m");
        }
    }

    fn finish(mut self, cursor: Cursor) -> String {
        if self.link.is_some() {
            self.text.push_str("\x1b]8;;\x1b\\");
        }
        let shape = match cursor.shape {
            CursorShape::Block => 1,
            CursorShape::Underline => 3,
            CursorShape::Bar => 5,
        } + u8::from(!cursor.blinking);
        let show = if cursor.visible { 'h' } else { 'l' };
        let (row, col) = (cursor.row + 1, cursor.col + 1);
        let _ = write!(self.text, "\x1b[m\x1b[?7h\x1b[{shape} q\x1b[{row};{col}H\x1b[?25{show}");
        self.text
    }
}
