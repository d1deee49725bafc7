//! OSC 4, 5, 10–12 and their resets: the colours that a program sets and asks for.
//!
//! A colour of the program's is kept under a number: those of the palette, then the default foreground, background and
//! cursor, then the special ones of xterm, which stand for attributes. The special ones are kept to be reported.

mod cie;
mod spec;

use self::spec::parse_color;
use super::core::Core;

/// The numbers of the default foreground, background and cursor, behind those of the palette.
pub(super) const FOREGROUND: u16 = 256;
const CURSOR: u16 = 258;
/// The number of the first special colour: bold, underlined, blinking, reverse, italic.
pub(super) const SPECIAL: u16 = 259;
const SPECIAL_END: u16 = SPECIAL + 5;
/// In OSC 4, special colours follow those of the palette.
const PALETTE_END: u16 = 256;

impl Core {
    /// OSC 4: pairs of an index and a colour, or `?`.
    pub(super) fn palette_colors(&mut self, rest: &[u8], terminator: &str) {
        self.indexed_colors("4", rest, terminator, of_palette);
    }

    /// OSC 5: the same for special colours.
    pub(super) fn special_colors(&mut self, rest: &[u8], terminator: &str) {
        self.indexed_colors("5", rest, terminator, of_special);
    }

    fn indexed_colors(
        &mut self,
        code: &str,
        rest: &[u8],
        terminator: &str,
        number_of: fn(u16) -> Option<u16>,
    ) {
        let mut fields = rest.split(|byte| *byte == b';');
        while let (Some(index), Some(value)) = (fields.next(), fields.next()) {
            let Some(index) = number(index) else { continue };
            let Some(color) = number_of(index) else { continue };
            match value {
                b"?" => {
                    let color = rgb(self.color(color));
                    self.reply(&format!("\x1b]{code};{index};{color}{terminator}"));
                }
                _ => self.set_color(color, value),
            }
        }
    }

    /// OSC 10, 11, 12: each further field is for the next number.
    pub(super) fn dynamic_colors(&mut self, first: &[u8], rest: &[u8], terminator: &str) {
        let first = number(first).unwrap_or_default();
        for (code, value) in (first..=12).zip(rest.split(|byte| *byte == b';')) {
            let color = code - 10 + FOREGROUND;
            match value {
                b"?" => {
                    let color = rgb(self.color(color));
                    self.reply(&format!("\x1b]{code};{color}{terminator}"));
                }
                _ => self.set_color(color, value),
            }
        }
    }

    fn set_color(&mut self, number: u16, value: &[u8]) {
        if let Some(color) = parse_color(value) {
            self.colors.insert(number, color);
        }
    }

    fn color(&self, number: u16) -> (u8, u8, u8) {
        self.colors.get(&number).copied().unwrap_or_else(|| match number {
            0..=255 => self.palette.entries[usize::from(number)],
            257 => self.palette.background,
            CURSOR => self.palette.cursor,
            FOREGROUND => self.palette.foreground,
            _ => self.color(FOREGROUND),
        })
    }

    /// OSC 104: these colours of OSC 4, or all.
    pub(super) fn reset_palette(&mut self, rest: &[u8]) {
        match rest {
            b"" => self.colors.retain(|number, _| (FOREGROUND..=CURSOR).contains(number)),
            _ => self.reset_colors(rest, of_palette),
        }
    }

    /// OSC 105: these special colours, or all.
    pub(super) fn reset_special_colors(&mut self, rest: &[u8]) {
        match rest {
            b"" => self.colors.retain(|number, _| *number < SPECIAL),
            _ => self.reset_colors(rest, of_special),
        }
    }

    fn reset_colors(&mut self, rest: &[u8], number_of: fn(u16) -> Option<u16>) {
        for color in rest.split(|byte| *byte == b';').filter_map(number).filter_map(number_of) {
            self.colors.remove(&color);
        }
    }

    /// OSC 110, 111, 112.
    pub(super) fn reset_dynamic_color(&mut self, code: &[u8]) {
        if let Some(code) = number(code) {
            self.colors.remove(&(code - 110 + FOREGROUND));
        }
    }
}

/// The number under which a colour of OSC 4 is kept.
fn of_palette(index: u16) -> Option<u16> {
    match index {
        ..PALETTE_END => Some(index),
        _ => of_special(index - PALETTE_END),
    }
}

/// The number under which a colour of OSC 5 is kept.
fn of_special(index: u16) -> Option<u16> {
    index.checked_add(SPECIAL).filter(|number| *number < SPECIAL_END)
}

fn number(digits: &[u8]) -> Option<u16> {
    str::from_utf8(digits).ok()?.parse().ok()
}

fn rgb((r, g, b): (u8, u8, u8)) -> String {
    format!("rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}")
}
