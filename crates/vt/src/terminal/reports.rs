//! Answers to what programs ask their terminal.
//!
//! An unanswered query freezes real programs, so everything that xterm answers is answered: with facts where there are
//! any, else with the reply that says "not supported". Nothing here tells the program about the host; titles are reported
//! empty, as they could carry hostile text.

use std::fmt::Write as _;

use super::core::Core;
use super::modes::Modes;
use crate::format::sgr_parameters;
use crate::parser::Csi;
use crate::screen::CursorShape;
use crate::size::CELL_PIXELS;
use crate::style::Attributes;

impl Core {
    /// DA1: a VT220 with colour and clipboard.
    pub(super) fn reply_attributes(&mut self) {
        self.reply("\x1b[?62;22;52c");
    }

    /// Notes a query that got no answer: a frozen program may wait for it.
    pub(super) fn unanswered(&mut self, sequence: &[u8]) {
        self.unanswered = Some(readable(sequence));
    }

    /// DSR, and its private form.
    pub(super) fn report_status(&mut self, what: u16, private: bool, csi: &Csi<'_>) {
        let (row, col) = (self.line() + 1, self.column() + 1);
        match (private, what) {
            (false, 5) => self.reply("\x1b[0n"),
            (false, 6) => self.reply(&format!("\x1b[{row};{col}R")),
            (true, 6) => self.reply(&format!("\x1b[?{row};{col}R")),
            // No printer, no user keys, a keyboard, no locator, no macros, all well, no sessions.
            (true, 15) => self.reply("\x1b[?13n"),
            (true, 25) => self.reply("\x1b[?21n"),
            (true, 26) => self.reply("\x1b[?27;1;0;0n"),
            (true, 53 | 55) => self.reply("\x1b[?50n"),
            (true, 56) => self.reply("\x1b[?57;0n"),
            (true, 62) => self.reply("\x1b[0*{"),
            (true, 63) => {
                let id = csi.params.get(1);
                self.reply(&format!("\x1bP{id}!~0000\x1b\\"));
            }
            (true, 75) => self.reply("\x1b[?70n"),
            (true, 85) => self.reply("\x1b[?83n"),
            // A dark scheme.
            (true, 996) => self.reply("\x1b[?997;1n"),
            _ => self.unanswered(csi.raw),
        }
    }

    /// XTWINOPS: titles that are pushed and popped, and sizes that are reported.
    pub(super) fn window_operation(&mut self, csi: &Csi<'_>) {
        let (cols, rows) = (self.size.cols, self.size.rows);
        let (width, height) = CELL_PIXELS;
        let answer = match csi.params.get(0) {
            11 => "\x1b[1t".to_owned(),
            13 => "\x1b[3;0;0t".to_owned(),
            14 => format!("\x1b[4;{};{}t", rows * height, cols * width),
            15 => format!("\x1b[5;{};{}t", rows * height, cols * width),
            16 => format!("\x1b[6;{height};{width}t"),
            18 => format!("\x1b[8;{rows};{cols}t"),
            19 => format!("\x1b[9;{rows};{cols}t"),
            20 => "\x1b]L\x1b\\".to_owned(),
            21 => "\x1b]l\x1b\\".to_owned(),
            22 => return self.push_title(),
            23 => return self.pop_title(),
            12 | 17 => return self.unanswered(csi.raw),
            _ => return,
        };
        self.reply(&answer);
    }

    /// DECREQTPARM.
    pub(super) fn report_parameters(&mut self, what: u16) {
        if what <= 1 {
            self.reply(&format!("\x1b[{};1;1;128;128;1;0x", what + 2));
        }
    }

    /// DECRQPSR: the cursor or the tab stops, in a form that DECRSPS would take.
    pub(super) fn report_presentation(&mut self, what: u16) {
        match what {
            1 => {
                let (row, col) = (self.line() + 1, self.column() + 1);
                let attributes = self.pen.style.style.attributes;
                let bit = |attribute: Attributes, bit: u8| {
                    if attributes.intersects(attribute) { bit } else { 0 }
                };
                let renditions = 0x40
                    + bit(Attributes::BOLD, 1)
                    + bit(Attributes::ANY_UNDERLINE, 2)
                    + bit(Attributes::BLINK, 4)
                    + bit(Attributes::INVERSE, 8);
                let flags = 0x40
                    + u8::from(self.modes.contains(Modes::ORIGIN))
                    + if self.grid().cursor.wraps { 8 } else { 0 };
                let protected = 0x40 + u8::from(self.pen.protected);
                let (renditions, protected, flags) =
                    (char::from(renditions), char::from(protected), char::from(flags));
                let active = self.charsets.active;
                self.reply(&format!(
                    "\x1bP1$u{row};{col};1;{renditions};{protected};{flags};{active};2;@;BBBB\x1b\\"
                ));
            }
            2 => {
                let stops: Vec<String> =
                    self.tabs.iter().map(|col| (col + 1).to_string()).collect();
                self.reply(&format!("\x1bP2$u{}\x1b\\", stops.join("/")));
            }
            _ => {}
        }
    }

    /// DECRQSS: the state of a setting, or "invalid request".
    pub(super) fn report_setting(&mut self, setting: &[u8]) {
        let grid = self.grid();
        let (lines, columns) = (&grid.lines, &grid.columns);
        let value = match setting {
            b"m" => format!("{}m", sgr_parameters(&self.pen.style.style)),
            b"r" => format!("{};{}r", lines.start + 1, lines.end),
            b"s" => format!("{};{}s", columns.start + 1, columns.end),
            b"t" => format!("{}t", self.size.rows.max(24)),
            b"$|" => format!("{}$|", self.size.cols),
            b"*|" => format!("{}*|", self.size.rows),
            b"*x" => format!("{}*x", self.attribute_extent),
            b" q" => {
                let shape = match self.cursor_style.shape {
                    CursorShape::Block => 1,
                    CursorShape::Underline => 3,
                    CursorShape::Bar => 5,
                };
                format!("{} q", shape + u8::from(!self.cursor_style.blinking))
            }
            b"\"p" => format!("{};1\"p", 60 + self.level.unwrap_or(2)),
            // There is no status line.
            b"$}" => "0$}".to_owned(),
            b"$~" => "0$~".to_owned(),
            b"\"q" => format!("{}\"q", u8::from(self.pen.protected)),
            _ => return self.reply("\x1bP0$r\x1b\\"),
        };
        self.reply(&format!("\x1bP1$r{value}\x1b\\"));
    }

    /// XTGETTCAP: each name in hex, answered with its value or "unknown".
    pub(super) fn report_capabilities(&mut self, names: &[u8]) {
        let mut answer = String::new();
        for name in names.split(|byte| *byte == b';').take(64) {
            let value = unhex(name).and_then(|name| match name.as_slice() {
                b"TN" | b"name" => Some("xterm-256color"),
                b"Co" | b"colors" => Some("256"),
                b"RGB" => Some("8/8/8"),
                _ => None,
            });
            let name: String =
                name.iter().filter(|b| b.is_ascii_hexdigit()).map(|b| *b as char).collect();
            match value {
                Some(value) => {
                    let _ = write!(answer, "\x1bP1+r{name}=");
                    value.bytes().for_each(|byte| {
                        let _ = write!(answer, "{byte:02X}");
                    });
                    answer.push_str("\x1b\\");
                }
                None => {
                    let _ = write!(answer, "\x1bP0+r{name}\x1b\\");
                }
            }
        }
        self.reply(&answer);
    }
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    text.chunks(2)
        .map(|pair| match *pair {
            [high, low] => Some((digit(high)? * 16 + digit(low)?) as u8),
            _ => None,
        })
        .collect()
}

/// A sequence as a person would write it: `CSI ?998n`, at most a few dozen characters.
pub(super) fn readable(sequence: &[u8]) -> String {
    let (name, rest) = match sequence {
        [0x1b, b'[', rest @ ..] => ("CSI ", rest),
        [0x1b, b']', rest @ ..] => ("OSC ", rest),
        _ => ("", sequence),
    };
    let printable = rest.iter().filter(|byte| (0x20..0x7f).contains(*byte)).take(40);
    name.chars().chain(printable.map(|byte| *byte as char)).collect()
}
