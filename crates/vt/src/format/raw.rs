//! Escape sequences that make the same screen in a fresh terminal of that size.

use std::fmt::Write as _;

use super::sgr_parameters;
use crate::screen::{CursorShape, Screen};
use crate::style::Style;

/// A program's output that leads to exactly this screen: cells, cursor, title, which screen.
pub fn raw(screen: &Screen) -> String {
    let mut out = String::new();
    if !screen.title.is_empty() {
        let _ = write!(out, "\x1b]2;{}\x1b\\", screen.title);
    }
    if screen.alternate {
        out.push_str("\x1b[?1049h");
    }
    // Autowrap would move what ends in the last column.
    out.push_str("\x1b[H\x1b[2J\x1b[?7l");
    let mut style = Style::default();
    let mut link: Option<&str> = None;
    for (index, row) in screen.rows.iter().enumerate() {
        let end = row.visible_len();
        if end == 0 {
            continue;
        }
        let _ = write!(out, "\x1b[{}H", index + 1);
        for cell in &row.cells[..end] {
            if cell.width == crate::screen::CellWidth::Continuation {
                continue;
            }
            if cell.link.as_deref() != link {
                link = cell.link.as_deref();
                let _ = write!(out, "\x1b]8;;{}\x1b\\", link.unwrap_or_default());
            }
            if cell.style != style {
                style = cell.style;
                let _ = write!(out, "\x1b[{}m", sgr_parameters(&style));
            }
            cell.push_text(&mut out);
        }
    }
    if link.is_some() {
        out.push_str("\x1b]8;;\x1b\\");
    }
    let shape = match screen.cursor.shape {
        CursorShape::Block => 1,
        CursorShape::Underline => 3,
        CursorShape::Bar => 5,
    } + u8::from(!screen.cursor.blinking);
    let show = if screen.cursor.visible { 'h' } else { 'l' };
    let (row, col) = (screen.cursor.row + 1, screen.cursor.col + 1);
    let _ = write!(out, "\x1b[m\x1b[?7h\x1b[{shape} q\x1b[{row};{col}H\x1b[?25{show}");
    out
}
