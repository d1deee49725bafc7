//! A picture of the screen that any browser shows: text stays text.
//!
//! Columns stand where they should whatever font the viewer has: ASCII is spaced to its columns,
//! glyphs as they are, and every other character is placed by itself. Blanks count, which a browser
//! knows by `white-space` and other viewers by `xml:space`.

use std::fmt::Write as _;

use super::{Placement, css_decoration, drawn_colors, escape_markup, hex, pieces};
use crate::screen::{Cell, CursorShape, Screen};
use crate::style::Palette;

const CELL_WIDTH: f32 = 8.4;
const CELL_HEIGHT: f32 = 18.0;
const BASELINE: f32 = 13.5;
const MARGIN: f32 = 12.0;

/// The screen as an SVG document; the cursor is drawn where it is visible.
pub fn svg(screen: &Screen, palette: &Palette) -> String {
    let width = f32::from(screen.cols()) * CELL_WIDTH + 2.0 * MARGIN;
    let height = screen.rows.len() as f32 * CELL_HEIGHT + 2.0 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.1} {height:.1}\" xml:space=\"preserve\">\
         <style>text{{font:14px ui-monospace,'JetBrains Mono','DejaVu Sans Mono',Menlo,Consolas,monospace;\
         white-space:pre;font-variant-ligatures:none}}</style>\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{}\"/>",
        hex(palette.background)
    );
    for (index, row) in screen.rows.iter().enumerate() {
        let y = MARGIN + index as f32 * CELL_HEIGHT;
        let end = row.visible_len();
        for (start, run) in row.runs() {
            let Some(first) = run.first().filter(|_| start < end) else {
                break;
            };
            let run = &run[..run.len().min(end - start)];
            let (fg, bg) = drawn_colors(&first.style, palette);
            let x = MARGIN + start as f32 * CELL_WIDTH;
            let run_width = run.len() as f32 * CELL_WIDTH;
            if bg != palette.background {
                let _ = write!(
                    out,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{run_width:.1}\" \
                     height=\"{CELL_HEIGHT}\" fill=\"{}\"/>",
                    hex(bg)
                );
            }
            if run.iter().all(Cell::is_blank) {
                continue;
            }
            let css = css_decoration(&first.style);
            let style = if css.is_empty() { css } else { format!(" style=\"{css}\"") };
            let baseline = y + BASELINE;
            let _ = write!(out, "<text y=\"{baseline:.1}\" fill=\"{}\"{style}>", hex(fg));
            for (offset, placement, piece) in pieces(run) {
                write_piece(&mut out, x + offset as f32 * CELL_WIDTH, placement, piece);
            }
            out.push_str("</text>");
        }
    }
    if screen.cursor.visible {
        draw_cursor(&mut out, screen, palette);
    }
    out.push_str("</svg>\n");
    out
}

fn write_piece(out: &mut String, x: f32, placement: Placement, piece: &[Cell]) {
    let _ = write!(out, "<tspan x=\"{x:.1}");
    match placement {
        Placement::Together if piece.len() > 1 => {
            let _ = write!(out, "\" textLength=\"{:.1}", piece.len() as f32 * CELL_WIDTH);
        }
        Placement::Each => {
            for index in 1..piece.len() {
                let _ = write!(out, " {:.1}", x + index as f32 * CELL_WIDTH);
            }
        }
        Placement::Together | Placement::Alone => {}
    }
    out.push_str("\">");
    let mut text = String::new();
    piece.iter().for_each(|cell| cell.push_text(&mut text));
    escape_markup(&text, out);
    out.push_str("</tspan>");
}

fn draw_cursor(out: &mut String, screen: &Screen, palette: &Palette) {
    let x = MARGIN + f32::from(screen.cursor.col) * CELL_WIDTH;
    let y = MARGIN + f32::from(screen.cursor.row) * CELL_HEIGHT;
    let (y, width, height) = match screen.cursor.shape {
        CursorShape::Block => (y, CELL_WIDTH, CELL_HEIGHT),
        CursorShape::Underline => (y + CELL_HEIGHT - 2.0, CELL_WIDTH, 2.0),
        CursorShape::Bar => (y, 2.0, CELL_HEIGHT),
    };
    let _ = write!(
        out,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
         fill=\"{}\" fill-opacity=\"0.6\"/>",
        hex(palette.cursor)
    );
}
