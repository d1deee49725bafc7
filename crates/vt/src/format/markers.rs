//! Attributes as readable markers, for debugging how a program draws.

use crate::screen::Row;
use crate::style::Style;

/// The rows with `⟦bold red on blue⟧` before each run that is not plain and `⟦/⟧` after it.
pub fn markers<'a>(rows: impl IntoIterator<Item = &'a Row>) -> String {
    let mut text = String::new();
    for row in rows {
        let end = row.visible_len();
        for (start, run) in row.runs() {
            let Some(first) = run.first().filter(|_| start < end) else {
                break;
            };
            let description = describe(&first.style, first.link.as_deref());
            if !description.is_empty() {
                text.push_str(&format!("⟦{description}⟧"));
            }
            run.iter().take(end - start).for_each(|cell| cell.push_text(&mut text));
            if !description.is_empty() {
                text.push_str("⟦/⟧");
            }
        }
        text.push('\n');
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

fn describe(style: &Style, link: Option<&str>) -> String {
    let mut words: Vec<String> =
        style.attributes.named().map(|(name, _)| name.to_owned()).collect();
    words.extend(style.fg.name());
    words.extend(style.bg.name().map(|name| format!("on {name}")));
    let underline = style.underline_color.and_then(crate::style::Color::name);
    words.extend(underline.map(|name| format!("underlined {name}")));
    words.extend(link.map(|target| format!("link {target}")));
    words.join(" ")
}
