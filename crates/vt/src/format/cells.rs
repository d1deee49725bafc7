//! Runs of equal style, for whoever needs colours and places exactly.

use crate::screen::{Cell, Row};

/// Neighbouring cells that look the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// First column from 0.
    pub col: u16,
    /// The text, blanks included.
    pub text: String,
    /// Name of the foreground colour, `None` for the default.
    pub fg: Option<String>,
    /// Name of the background colour, `None` for the default.
    pub bg: Option<String>,
    /// Names of the attributes.
    pub attributes: Vec<&'static str>,
    /// Target of a hyperlink.
    pub link: Option<String>,
}

/// The runs of a row up to its last visible cell.
pub fn cells(row: &Row) -> Vec<Run> {
    let end = row.visible_len();
    let visible = |(start, run): (usize, &[Cell])| -> Option<Run> {
        let first = run.first().filter(|_| start < end)?;
        let mut text = String::new();
        run.iter().take(end - start).for_each(|cell| cell.push_text(&mut text));
        Some(Run {
            col: start as u16,
            text,
            fg: first.style.fg.name(),
            bg: first.style.bg.name(),
            attributes: first.style.attributes.named().map(|(name, _)| name).collect(),
            link: first.link.as_deref().map(str::to_owned),
        })
    };
    row.runs().filter_map(visible).collect()
}
