//! A screen as text: for agents, for other terminals, for people.
//!
//! Each format is one function from rows to a string; what they have in common is here.

mod cells;
mod html;
mod markers;
mod plain;
mod raw;
mod svg;

pub use cells::{Run, cells};
pub use html::html;
pub use markers::markers;
pub use plain::plain;
pub use raw::{raw, repaint};
pub use svg::svg;

use crate::screen::{Cell, CellWidth};
use crate::style::{Attributes, Color, Palette, Style};

/// The SGR parameters that set `style` from the default, starting with the reset: `0;1;38;5;208`.
pub(crate) fn sgr_parameters(style: &Style) -> String {
    let mut parameters = String::from("0");
    let mut add = |text: &str| {
        parameters.push(';');
        parameters.push_str(text);
    };
    style.attributes.named().for_each(|(_, sgr)| add(sgr));
    match style.fg {
        Color::Default => {}
        Color::Indexed(index @ 0..=7) => add(&format!("{}", 30 + index)),
        Color::Indexed(index @ 8..=15) => add(&format!("{}", 82 + index)),
        color => add(&extended_color(38, color)),
    }
    match style.bg {
        Color::Default => {}
        Color::Indexed(index @ 0..=7) => add(&format!("{}", 40 + index)),
        Color::Indexed(index @ 8..=15) => add(&format!("{}", 92 + index)),
        color => add(&extended_color(48, color)),
    }
    if let Some(color) = style.underline_color {
        add(&extended_color(58, color));
    }
    parameters
}

fn extended_color(selector: u8, color: Color) -> String {
    match color {
        Color::Default => format!("{}", selector + 1),
        Color::Indexed(index) => format!("{selector};5;{index}"),
        Color::Rgb(r, g, b) => format!("{selector};2;{r};{g};{b}"),
    }
}

/// Cells of a run that are placed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// ASCII: every font has it, and in a monospaced one all of it is equally wide.
    Together,
    /// Single characters that may come from another font, with other widths.
    Each,
    /// A wide character, or one with combining marks.
    Alone,
}

/// Cuts a run where what a browser knows of the characters' widths ends: the offset of each piece,
/// how to place it, and its cells.
pub(crate) fn pieces(run: &[Cell]) -> impl Iterator<Item = (usize, Placement, &[Cell])> {
    let placement = |cell: &Cell| match cell.character {
        _ if cell.combining.is_some() || cell.width != CellWidth::Single => Placement::Alone,
        ' '..='~' => Placement::Together,
        '\u{80}'..='\u{ffff}' => Placement::Each,
        _ => Placement::Alone,
    };
    let joined = move |a: &Cell, b: &Cell| {
        b.width == CellWidth::Continuation
            || (placement(a) == placement(b) && placement(a) != Placement::Alone)
    };
    let mut offset = 0;
    run.chunk_by(joined).filter_map(move |piece| {
        let start = offset;
        offset += piece.len();
        piece.first().map(|first| (start, placement(first), piece))
    })
}

/// Text and background colour as drawn: inversion, dimming and hiding applied.
pub(crate) fn drawn_colors(style: &Style, palette: &Palette) -> ((u8, u8, u8), (u8, u8, u8)) {
    let bold = style.attributes.contains(Attributes::BOLD);
    // Bold text in one of the first eight colours is drawn bright, as most terminals do.
    let foreground = match style.fg {
        Color::Indexed(index @ 0..=7) if bold => Color::Indexed(index + 8),
        color => color,
    };
    let mut fg = palette.foreground_of(foreground);
    let mut bg = palette.background_of(style.bg);
    if style.attributes.contains(Attributes::INVERSE) {
        std::mem::swap(&mut fg, &mut bg);
    }
    if style.attributes.contains(Attributes::DIM) {
        let mix = |a: u8, b: u8| ((u16::from(a) * 2 + u16::from(b)) / 3) as u8;
        fg = (mix(fg.0, bg.0), mix(fg.1, bg.1), mix(fg.2, bg.2));
    }
    if style.attributes.contains(Attributes::HIDDEN) {
        fg = bg;
    }
    (fg, bg)
}

/// CSS for decoration lines and weight; empty when there are none.
pub(crate) fn css_decoration(style: &Style) -> String {
    let attributes = style.attributes;
    let mut css = String::new();
    if attributes.contains(Attributes::BOLD) {
        css.push_str("font-weight:bold;");
    }
    if attributes.contains(Attributes::ITALIC) {
        css.push_str("font-style:italic;");
    }
    let mut lines = Vec::new();
    if attributes.intersects(Attributes::ANY_UNDERLINE) {
        lines.push("underline");
    }
    if attributes.contains(Attributes::STRIKE) {
        lines.push("line-through");
    }
    if !lines.is_empty() {
        css.push_str(&format!("text-decoration:{};", lines.join(" ")));
    }
    css
}

/// Escapes text for HTML and XML; control characters, which XML forbids, become spaces.
pub(crate) fn escape_markup(text: &str, into: &mut String) {
    for character in text.chars() {
        match character {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => into.push('\u{fffd}'),
            _ if character.is_control() => into.push(' '),
            _ => into.push(character),
        }
    }
}

/// `#rrggbb`.
pub(crate) fn hex((r, g, b): (u8, u8, u8)) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}
