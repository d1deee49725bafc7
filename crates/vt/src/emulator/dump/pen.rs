//! SGR: the style that is set, in full each time.

use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{Color, Rgb};

use super::cells::{DEFAULT_BG, DEFAULT_FG};
use crate::convert::BLINK;

/// Flags that SGR sets.
pub(super) const STYLE: Flags = Flags::INVERSE
    .union(Flags::BOLD)
    .union(Flags::ITALIC)
    .union(Flags::DIM)
    .union(Flags::HIDDEN)
    .union(Flags::STRIKEOUT)
    .union(Flags::ALL_UNDERLINES)
    .union(BLINK);

/// The style that is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pen {
    pub(super) fg: Color,
    pub(super) bg: Color,
    pub(super) flags: Flags,
    pub(super) underline: Option<Color>,
}

impl Pen {
    pub(super) const DEFAULT: Self =
        Self { fg: DEFAULT_FG, bg: DEFAULT_BG, flags: Flags::empty(), underline: None };

    pub(super) fn of(cell: &Cell) -> Self {
        Self {
            fg: cell.fg,
            bg: cell.bg,
            flags: cell.flags.intersection(STYLE),
            underline: cell.underline_color(),
        }
    }

    /// Adds the sequence that sets this style, whatever was set before.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        const SGR: [(Flags, &[u8]); 12] = [
            (Flags::BOLD, b";1"),
            (Flags::DIM, b";2"),
            (Flags::ITALIC, b";3"),
            (Flags::UNDERLINE, b";4"),
            (Flags::DOUBLE_UNDERLINE, b";4:2"),
            (Flags::UNDERCURL, b";4:3"),
            (Flags::DOTTED_UNDERLINE, b";4:4"),
            (Flags::DASHED_UNDERLINE, b";4:5"),
            (BLINK, b";5"),
            (Flags::INVERSE, b";7"),
            (Flags::HIDDEN, b";8"),
            (Flags::STRIKEOUT, b";9"),
        ];
        if *self == Self::DEFAULT {
            out.extend_from_slice(b"\x1b[m");
            return;
        }
        out.extend_from_slice(b"\x1b[0");
        SGR.iter()
            .filter(|(flag, _)| self.flags.contains(*flag))
            .for_each(|(_, sgr)| out.extend_from_slice(sgr));
        write_color(out, self.fg, [30, 90, 38], b';');
        write_color(out, self.bg, [40, 100, 48], b';');
        if let Some(color) = self.underline {
            // Colons keep terminals that do not know it from taking its parts for attributes.
            write_color(out, color, [0, 0, 58], b':');
        }
        out.push(b'm');
    }
}

/// Adds a colour; `codes` are those of the first eight, of the next eight and of the rest.
fn write_color(out: &mut Vec<u8>, color: Color, codes: [u8; 3], separator: u8) {
    match color {
        Color::Named(name) => match u8::try_from(name as usize).unwrap_or(u8::MAX) {
            index @ 0..=7 => write_numbers(out, b';', &[codes[0] + index]),
            index @ 8..=15 => write_numbers(out, b';', &[codes[1] + index - 8]),
            _ => {}
        },
        Color::Indexed(index) => {
            write_numbers(out, b';', &[codes[2]]);
            write_numbers(out, separator, &[5, index]);
        }
        Color::Spec(Rgb { r, g, b }) => {
            write_numbers(out, b';', &[codes[2]]);
            write_numbers(out, separator, &[2]);
            // The colon form has an empty place for a colour space.
            if separator == b':' {
                out.push(b':');
            }
            write_numbers(out, separator, &[r, g, b]);
        }
    }
}

fn write_numbers(out: &mut Vec<u8>, separator: u8, numbers: &[u8]) {
    for &number in numbers {
        out.push(separator);
        if number >= 100 {
            out.push(b'0' + number / 100);
        }
        if number >= 10 {
            out.push(b'0' + number / 10 % 10);
        }
        out.push(b'0' + number % 10);
    }
}
