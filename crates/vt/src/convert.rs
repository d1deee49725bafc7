//! The emulator's cells in our words.

use alacritty_terminal::term::cell::{Cell as EmulatorCell, Flags};
use alacritty_terminal::vte::ansi::{Color as EmulatorColor, NamedColor};

use crate::changes::RowHash;
use crate::screen::{Cell, CellWidth, Row};
use crate::style::{Attributes, Color, Style};

/// The bit of [`Flags`] that the emulator crate leaves free; it copies all bits from the template to
/// each cell it writes and clears them on reset, which is all that blinking needs.
pub(crate) const BLINK: Flags = Flags::from_bits_retain(1 << 15);

/// Combining marks kept per cell; Unicode's stream-safe text format allows 30.
pub(crate) const MAX_MARKS: usize = 30;

pub(crate) fn row(cells: &[EmulatorCell]) -> Row {
    let wrapped = cells.last().is_some_and(|cell| cell.flags.contains(Flags::WRAPLINE));
    let halves = Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER;
    let has_halves = cells.iter().any(|cell| cell.flags.intersects(halves));
    let mut cells: Vec<Cell> = cells.iter().map(cell).collect();
    if has_halves {
        mend_halves(&mut cells);
    }
    Row { cells, wrapped }
}

/// Deleting characters can leave half of a wide one behind; the rest of it is a blank, as in xterm.
fn mend_halves(cells: &mut [Cell]) {
    for index in 0..cells.len() {
        let whole = match cells[index].width {
            CellWidth::Single => true,
            CellWidth::Double => {
                cells.get(index + 1).is_some_and(|next| next.width == CellWidth::Continuation)
            }
            CellWidth::Continuation => index > 0 && cells[index - 1].width == CellWidth::Double,
        };
        if !whole {
            let cell = &mut cells[index];
            (cell.character, cell.combining, cell.width) = (' ', None, CellWidth::Single);
        }
    }
}

/// Hash of everything about a row that a viewer can see, without the blank end: that is most of many screens.
pub(crate) fn row_hash(cells: &[EmulatorCell]) -> u64 {
    let mut hash = RowHash::new();
    let used = cells.iter().rposition(|cell| !is_blank(cell)).map_or(0, |last| last + 1);
    for cell in &cells[..used] {
        hash.add(u64::from(u32::from(character(cell))) << 16 | u64::from(shown_flags(cell).bits()));
        let colors = (color_code(cell.fg), color_code(cell.bg));
        if colors != (DEFAULT_COLOR, DEFAULT_COLOR) {
            // The highest bit distinguishes it from a character.
            hash.add(1 << 63 | u64::from(colors.0) << 32 | u64::from(colors.1));
        }
        if has_extra(cell) {
            hash.add(cell.underline_color().map_or(0, |color| u64::from(color_code(color))));
            for mark in cell.zerowidth().unwrap_or_default().iter().take(MAX_MARKS) {
                hash.add(u64::from(u32::from(*mark)));
            }
            if let Some(link) = cell.hyperlink() {
                link.uri().bytes().for_each(|byte| hash.add(u64::from(byte)));
            }
        }
    }
    hash.finish()
}

/// A cell that nothing was printed to, or that looks the same.
#[inline]
fn is_blank(cell: &EmulatorCell) -> bool {
    // Every look at a screen asks this of thousands of cells, most of which nothing was printed to.
    let is_untouched = cell.c == ' '
        && cell.flags.is_empty()
        && matches!(cell.fg, EmulatorColor::Named(NamedColor::Foreground))
        && matches!(cell.bg, EmulatorColor::Named(NamedColor::Background))
        && cell.extra.is_none();
    is_untouched
        || (character(cell) == ' '
            && shown_flags(cell).is_empty()
            && color_code(cell.fg) == DEFAULT_COLOR
            && color_code(cell.bg) == DEFAULT_COLOR
            && !has_extra(cell))
}

#[inline]
fn shown_flags(cell: &EmulatorCell) -> Flags {
    cell.flags.difference(Flags::WRAPLINE | Flags::LEADING_WIDE_CHAR_SPACER)
}

/// Something hangs on the cell. The emulator's record of it may be there and empty.
#[inline]
pub(crate) fn has_extra(cell: &EmulatorCell) -> bool {
    cell.extra.is_some()
        && (cell.zerowidth().is_some_and(|marks| !marks.is_empty())
            || cell.underline_color().is_some()
            || cell.hyperlink().is_some())
}

#[inline]
fn cell(cell: &EmulatorCell) -> Cell {
    let mut converted = Cell {
        character: character(cell),
        combining: None,
        width: width(cell.flags),
        style: Style {
            fg: color(cell.fg),
            bg: color(cell.bg),
            underline_color: None,
            attributes: attributes(cell.flags),
        },
        link: None,
    };
    if cell.extra.is_some() {
        let combining = cell.zerowidth().filter(|marks| !marks.is_empty());
        converted.combining = combining
            .map(|marks| marks.iter().take(MAX_MARKS).collect::<String>().into_boxed_str());
        converted.style.underline_color = cell.underline_color().map(color);
        converted.link = cell.hyperlink().map(|link| link.uri().into());
    }
    converted
}

/// The emulator keeps a tab as itself in the first cell it skipped; on a screen that is a blank.
fn character(cell: &EmulatorCell) -> char {
    if cell.c == '\t' || cell.flags.contains(Flags::WIDE_CHAR_SPACER) { ' ' } else { cell.c }
}

fn width(flags: Flags) -> CellWidth {
    if flags.contains(Flags::WIDE_CHAR) {
        CellWidth::Double
    } else if flags.contains(Flags::WIDE_CHAR_SPACER) {
        CellWidth::Continuation
    } else {
        CellWidth::Single
    }
}

fn attributes(flags: Flags) -> Attributes {
    const PAIRS: [(Flags, Attributes); 12] = [
        (Flags::BOLD, Attributes::BOLD),
        (Flags::DIM, Attributes::DIM),
        (Flags::ITALIC, Attributes::ITALIC),
        (Flags::UNDERLINE, Attributes::UNDERLINE),
        (Flags::DOUBLE_UNDERLINE, Attributes::DOUBLE_UNDERLINE),
        (Flags::UNDERCURL, Attributes::CURLY_UNDERLINE),
        (Flags::DOTTED_UNDERLINE, Attributes::DOTTED_UNDERLINE),
        (Flags::DASHED_UNDERLINE, Attributes::DASHED_UNDERLINE),
        (BLINK, Attributes::BLINK),
        (Flags::INVERSE, Attributes::INVERSE),
        (Flags::HIDDEN, Attributes::HIDDEN),
        (Flags::STRIKEOUT, Attributes::STRIKE),
    ];
    if flags.is_empty() {
        return Attributes::empty();
    }
    PAIRS
        .iter()
        .filter(|(flag, _)| flags.contains(*flag))
        .fold(Attributes::empty(), |all, (_, attribute)| all | *attribute)
}

fn color(color: EmulatorColor) -> Color {
    match color {
        EmulatorColor::Spec(rgb) => Color::Rgb(rgb.r, rgb.g, rgb.b),
        EmulatorColor::Indexed(index) => Color::Indexed(index),
        EmulatorColor::Named(named) => match named as usize {
            index @ 0..=15 => Color::Indexed(index as u8),
            index
                if (NamedColor::DimBlack as usize..=NamedColor::DimWhite as usize)
                    .contains(&index) =>
            {
                Color::Indexed((index - NamedColor::DimBlack as usize) as u8)
            }
            _ => Color::Default,
        },
    }
}

/// The code of the default colour.
const DEFAULT_COLOR: u32 = 2 << 24;

/// A colour as a number of 26 bits.
fn color_code(value: EmulatorColor) -> u32 {
    match color(value) {
        Color::Default => DEFAULT_COLOR,
        Color::Indexed(index) => 1 << 24 | u32::from(index),
        Color::Rgb(r, g, b) => u32::from(r) << 16 | u32::from(g) << 8 | u32::from(b),
    }
}
