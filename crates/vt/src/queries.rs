//! Answers to what programs ask their terminal, where the emulator crate has none.
//!
//! An unanswered query freezes real programs, so everything xterm answers is answered: with facts
//! where there are any, else with the reply that says "not supported". Nothing here tells the
//! program about the host; titles are reported empty, as they could carry hostile text.

use std::fmt::Write as _;

use crate::format::sgr_parameters;
use crate::modes::CELL_PIXELS;
use crate::screen::{Cursor, CursorShape};
use crate::style::Style;

/// Most times that REP repeats a character: programs draw lines with it, and each one has to be printed.
pub(crate) const MAX_REPEAT: u16 = 4096;

/// A parsed `CSI` sequence.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Csi<'a> {
    /// One of `<=>?`.
    pub(crate) prefix: Option<u8>,
    /// Numbers; a missing one is 0, sub-parameters are left out.
    pub(crate) parameters: Vec<u16>,
    /// Bytes 0x20–0x2f before the final byte.
    pub(crate) intermediates: &'a [u8],
    /// The final byte.
    pub(crate) last: u8,
}

impl<'a> Csi<'a> {
    /// Parses a whole sequence, `ESC [` and final byte included.
    pub(crate) fn parse(sequence: &'a [u8]) -> Self {
        let body = sequence.get(2..sequence.len().saturating_sub(1)).unwrap_or_default();
        let last = sequence.last().copied().unwrap_or_default();
        let prefix = body.first().copied().filter(|byte| (b'<'..=b'?').contains(byte));
        let body = if prefix.is_some() { &body[1..] } else { body };
        let split = body.iter().position(|byte| (0x20..=0x2f).contains(byte)).unwrap_or(body.len());
        let (numbers, intermediates) = body.split_at(split);
        let number = |field: &[u8]| {
            let digits = field.iter().take_while(|byte| byte.is_ascii_digit());
            digits.fold(0u16, |value, digit| {
                value.saturating_mul(10).saturating_add(u16::from(digit - b'0'))
            })
        };
        Self {
            prefix,
            parameters: numbers.split(|byte| *byte == b';').map(number).collect(),
            intermediates,
            last,
        }
    }

    /// The parameter at `index`, 0 when it is missing.
    pub(crate) fn parameter(&self, index: usize) -> u16 {
        self.parameters.get(index).copied().unwrap_or(0)
    }
}

/// Whether a `CSI` sequence needs more than the emulator does with it. Called for every sequence of
/// the stream, so it looks at as few bytes as it can.
pub(crate) fn is_ours(sequence: &[u8]) -> bool {
    let [_, _, first, .., last] = sequence else {
        return matches!(sequence.last(), Some(b'c' | b'x'));
    };
    match last {
        b'm' => matches!(first, b'>' | b'?') || crate::sgr::blink(sequence).is_some(),
        b'h' | b'l' => *first == b'?' && sets_our_mode(sequence),
        b'c' => *first != b'>',
        b'n' => !matches!(sequence, b"\x1b[5n" | b"\x1b[6n"),
        b'p' => sequence.contains(&b'!') || (*first == b'?' && sequence.contains(&b'$')),
        b'q' => *first == b'>',
        b'x' => *first != b'?',
        b't' | b'b' => true,
        b'u' => matches!(first, b'<' | b'>'),
        b'S' => *first == b'?',
        _ => false,
    }
}

fn sets_our_mode(sequence: &[u8]) -> bool {
    Csi::parse(sequence)
        .parameters
        .iter()
        .any(|mode| matches!(mode, 9 | 47 | 1015 | 1016 | 1047 | 1048 | 2026))
}

/// The sequence asks for something, so silence is worth a note.
pub(crate) fn is_question(csi: &Csi<'_>) -> bool {
    match csi.last {
        b'n' | b'c' => true,
        b'q' => csi.prefix == Some(b'>'),
        b't' => matches!(csi.parameter(0), 11..=21),
        _ => false,
    }
}

/// The answer to a query, or `None` when it is the emulator's to give.
pub(crate) fn answer(csi: &Csi<'_>, cols: u16, rows: u16, cursor: Cursor) -> Option<String> {
    let (cell_width, cell_height) = CELL_PIXELS;
    let first = csi.parameter(0);
    Some(match (csi.prefix, csi.last) {
        // DA1: a VT220 with colour and clipboard.
        (None, b'c') if first == 0 => "\x1b[?62;22;52c".into(),
        // DA3: a unit id of zeros, as xterm.
        (Some(b'='), b'c') if first == 0 => "\x1bP!|00000000\x1b\\".into(),
        (Some(b'>'), b'q') if first == 0 => {
            format!("\x1bP>|termbridge {}\x1b\\", env!("CARGO_PKG_VERSION"))
        }
        (Some(b'?'), b'n') => match first {
            6 => format!("\x1b[?{};{}R", cursor.row + 1, cursor.col + 1),
            15 => "\x1b[?13n".into(),
            25 => "\x1b[?20n".into(),
            26 => "\x1b[?27;1;0;0n".into(),
            55 => "\x1b[?50n".into(),
            56 => "\x1b[?57;0n".into(),
            // Colour scheme: dark.
            996 => "\x1b[?997;1n".into(),
            _ => return None,
        },
        (None, b't') => match first {
            11 => "\x1b[1t".into(),
            13 => "\x1b[3;0;0t".into(),
            15 => format!("\x1b[5;{};{}t", rows * cell_height, cols * cell_width),
            16 => format!("\x1b[6;{cell_height};{cell_width}t"),
            19 => format!("\x1b[9;{rows};{cols}t"),
            20 => "\x1b]L\x1b\\".into(),
            21 => "\x1b]l\x1b\\".into(),
            _ => return None,
        },
        (None, b'x') if first <= 1 => format!("\x1b[{};1;1;128;128;1;0x", first + 2),
        // XTSMGRAPHICS: an error in the item, there are no graphics.
        (Some(b'?'), b'S') => format!("\x1b[?{first};1;0S"),
        _ => return None,
    })
}

/// DECRQSS: the state of a setting, or "invalid request".
pub(crate) fn status_string(
    setting: &[u8],
    style: Style,
    (top, bottom): (u16, u16),
    cursor: Cursor,
) -> String {
    let value = match setting {
        b"m" => format!("{}m", sgr_parameters(&style)),
        b"r" => format!("{top};{bottom}r"),
        b" q" => {
            let shape = match cursor.shape {
                CursorShape::Block => 1,
                CursorShape::Underline => 3,
                CursorShape::Bar => 5,
            };
            format!("{} q", shape + u8::from(!cursor.blinking))
        }
        b"\"p" => "62;1\"p".into(),
        b"\"q" => "0\"q".into(),
        _ => return "\x1bP0$r\x1b\\".into(),
    };
    format!("\x1bP1$r{value}\x1b\\")
}

/// XTGETTCAP: each name in hex, answered with its value or "unknown".
pub(crate) fn termcap(names: &[u8]) -> String {
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
    answer
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

/// A sequence as a person would write it: `CSI ? 998 n`, at most a few dozen characters.
pub(crate) fn readable(sequence: &[u8]) -> String {
    let (name, rest) = match sequence {
        [0x1b, b'[', rest @ ..] => ("CSI ", rest),
        [0x1b, b']', rest @ ..] => ("OSC ", rest),
        _ => ("", sequence),
    };
    let printable = rest.iter().filter(|byte| (0x20..0x7f).contains(*byte)).take(40);
    name.chars().chain(printable.map(|byte| *byte as char)).collect()
}
