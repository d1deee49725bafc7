//! A screen for a web page: one `<pre>` with inline styles, safe whatever the program printed.

use super::{css_decoration, drawn_colors, escape_markup, hex};
use crate::screen::Screen;
use crate::style::Palette;

/// The screen as a self-contained HTML fragment.
pub fn html(screen: &Screen, palette: &Palette) -> String {
    let mut out = format!(
        "<pre style=\"background:{};color:{};font-family:monospace\">",
        hex(palette.background),
        hex(palette.foreground)
    );
    for row in &screen.rows {
        let end = row.visible_len();
        for (start, run) in row.runs() {
            let Some(first) = run.first().filter(|_| start < end) else {
                break;
            };
            let mut text = String::new();
            run.iter().take(end - start).for_each(|cell| cell.push_text(&mut text));
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
                escape_markup(&text, &mut out);
            } else {
                out.push_str(&format!("<span style=\"{css}\">"));
                escape_markup(&text, &mut out);
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

/// Links are the program's words: only those that cannot run anything become links.
fn is_web_link(target: &str) -> bool {
    target.starts_with("https://") || target.starts_with("http://")
}
