//! Where a sequence ends and what kind it is.

use memchr::{memchr, memchr3};

use super::{BEL, CAN, ESC, SUB};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `ESC`, intermediates and a final byte.
    Escape,
    Csi,
    /// A string that ends before `end`, with the terminator that an answer should use.
    String {
        end: usize,
        terminator: &'static str,
    },
    /// Cut short by CAN, SUB or another ESC.
    Aborted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sequence {
    pub(super) len: usize,
    pub(super) kind: Kind,
    /// There are C0 controls in it, which are executed.
    pub(super) has_controls: bool,
}

impl Sequence {
    /// Finds the end of the sequence that starts at `bytes[0]`, an ESC; `None` when it is not there yet. `seen` bytes
    /// were looked at before, which only long strings make use of.
    #[inline]
    pub(super) fn parse(bytes: &[u8], seen: usize) -> Option<Self> {
        match bytes.get(1)? {
            b'[' => Self::control_sequence(bytes),
            b']' | b'P' | b'X' | b'^' | b'_' => Self::string(bytes, seen),
            _ => Self::escape(bytes),
        }
    }

    #[inline]
    fn control_sequence(bytes: &[u8]) -> Option<Self> {
        let mut has_controls = false;
        for (at, &byte) in bytes.iter().enumerate().skip(2) {
            match byte {
                0x20..=0x3f | 0x7f.. => {}
                0x40..=0x7e => return Some(Self { len: at + 1, kind: Kind::Csi, has_controls }),
                CAN | SUB => return Some(Self { len: at + 1, kind: Kind::Aborted, has_controls }),
                ESC => return Some(Self { len: at, kind: Kind::Aborted, has_controls }),
                _ => has_controls = true,
            }
        }
        None
    }

    fn escape(bytes: &[u8]) -> Option<Self> {
        let mut has_controls = false;
        for (at, &byte) in bytes.iter().enumerate().skip(1) {
            match byte {
                0x30..=0x7e => return Some(Self { len: at + 1, kind: Kind::Escape, has_controls }),
                CAN | SUB => return Some(Self { len: at + 1, kind: Kind::Aborted, has_controls }),
                ESC => return Some(Self { len: at, kind: Kind::Aborted, has_controls }),
                // Text that no sequence has: the ESC stood alone.
                0x80.. => return Some(Self { len: at, kind: Kind::Aborted, has_controls }),
                0x20..=0x2f | 0x7f => {}
                _ => has_controls = true,
            }
        }
        None
    }

    fn string(bytes: &[u8], seen: usize) -> Option<Self> {
        // Only an OSC ends at BEL; elsewhere it is part of the string.
        let bell = if bytes[1] == b']' { BEL } else { CAN };
        let from = seen.max(2);
        let at = from + find_end(bytes.get(from..)?, bell)?;
        let (len, kind) = match bytes[at] {
            ESC if *bytes.get(at + 1)? == b'\\' => {
                (at + 2, Kind::String { end: at, terminator: "\x1b\\" })
            }
            ESC => (at, Kind::String { end: at, terminator: "\x1b\\" }),
            BEL => (at + 1, Kind::String { end: at, terminator: "\x07" }),
            _ => (at + 1, Kind::Aborted),
        };
        Some(Self { len, kind, has_controls: false })
    }
}

fn find_end(bytes: &[u8], bell: u8) -> Option<usize> {
    let end = memchr3(ESC, CAN, bell, bytes);
    // SUB is a fourth needle; it only matters before the first of the others.
    match memchr(SUB, &bytes[..end.unwrap_or(bytes.len())]) {
        None => end,
        found => found,
    }
}
