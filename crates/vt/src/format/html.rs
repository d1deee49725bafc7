//! A screen for a web page: one `<pre>` with inline styles, safe whatever the program printed.
//!
//! Characters that may come from another font are boxes as wide as their columns, so that what
//! follows stands where it should.

use super::{Placement, css_decoration, drawn_colors, escape_markup, hex, pieces};
use crate::screen::{Cell, Screen};
use crate::style::Palette;

/// The screen as a self-contained HTML fragment.
pub fn html(screen: &Screen, palette: &Palette) -> String {
    let mut out = format!(
        "<pre style=\"background:{};color:{};font-family:monospace;line-height:1.3;\
         font-variant-ligatures:none\">",
        hex(palette.background),
        hex(palette.foreground)
    );
    for row in &screen.rows {
        let end = row.visible_len();
        for (start, run) in row.runs() {
            let Some(first) = run.first().filter(|_| start < end) else {
                break;
            };
            let run = &run[..run.len().min(end - start)];
            let (fg, bg) = drawn_colors(&first.style, palette);
            let mut css = css_decoration(&first.style);
            if fg != palette.foreground {
                css.push_str(&format!("color:{};", hex(fg)));
            }
            if bg != palette.background {
                css.push_str(&format!("background:{};", hex(bg)));
            }
            let link = first.link.as_deref().filter(|target| is_web_link(target));
            if let Some(target) = link {
                out.push_str("<a href=\"");
                escape_markup(target, &mut out);
                out.push_str("\">");
            }
            if css.is_empty() {
                write_cells(&mut out, run);
            } else {
                out.push_str(&format!("<span style=\"{css}\">"));
                write_cells(&mut out, run);
                out.push_str("</span>");
            }
            if link.is_some() {
                out.push_str("</a>");
            }
        }
        out.push('\n');
    }
    out.push_str("</pre>");
    out
}

fn write_cells(out: &mut String, run: &[Cell]) {
    for (_, placement, piece) in pieces(run) {
        let boxes = if placement == Placement::Each { 1 } else { piece.len() };
        for cells in piece.chunks(boxes) {
            let mut text = String::new();
            cells.iter().for_each(|cell| cell.push_text(&mut text));
            if placement == Placement::Together {
                escape_markup(&text, out);
            } else {
                out.push_str(&format!(
                    "<span style=\"display:inline-block;width:{}ch\">",
                    cells.len()
                ));
                escape_markup(&text, out);
                out.push_str("</span>");
            }
        }
    }
}

/// Links are the program's words: only those that cannot run anything become links.
fn is_web_link(target: &str) -> bool {
    target.starts_with("https://") || target.starts_with("http://")
}
