//! Character sets that are designated to G0–G3 and invoked into GL (ISO 2022).

use serde::{Deserialize, Serialize};

/// A character set; the national ones differ from ASCII in a few places, which nobody uses any more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Charset {
    /// `B`, and every other.
    #[default]
    Ascii,
    /// `0`: DEC special graphics.
    Graphics,
    /// `A`: British.
    British,
}

/// What is designated and invoked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Charsets {
    pub(super) sets: [Charset; 4],
    /// The set in GL.
    pub(super) active: usize,
    /// The set of the next character alone (SS2, SS3).
    pub(super) single: Option<usize>,
}

impl Charsets {
    /// Text is printed as it comes.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.single.is_none() && self.sets[self.active] == Charset::Ascii
    }

    /// What was read from a record can be used.
    pub(super) fn is_sound(&self) -> bool {
        self.active < 4 && self.single.is_none_or(|slot| slot < 4)
    }

    /// Designates a set by the final byte of its name.
    pub(super) fn designate(&mut self, slot: usize, name: u8) {
        self.sets[slot] = match name {
            b'0' => Charset::Graphics,
            b'A' => Charset::British,
            _ => Charset::Ascii,
        };
    }

    /// The character that is shown for one.
    pub(super) fn map(&mut self, character: char) -> char {
        let slot = self.single.take().unwrap_or(self.active);
        match self.sets[slot] {
            Charset::Ascii => character,
            Charset::British if character == '#' => '£',
            Charset::British => character,
            Charset::Graphics => match character {
                '_' => ' ',
                '`'..='~' => GRAPHICS[character as usize - '`' as usize],
                _ => character,
            },
        }
    }
}

/// From `` ` `` to `~`.
const GRAPHICS: [char; 31] = [
    '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─', '⎼',
    '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];
