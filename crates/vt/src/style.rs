//! Colours and attributes of a cell, in the vocabulary of ECMA-48 and xterm.

use bitflags::bitflags;
use serde::{Deserialize, Serialize};

bitflags! {
    /// How a cell is drawn, beside its colours.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    pub struct Attributes: u16 {
        /// SGR 1.
        const BOLD = 1;
        /// SGR 2.
        const DIM = 1 << 1;
        /// SGR 3.
        const ITALIC = 1 << 2;
        /// SGR 4.
        const UNDERLINE = 1 << 3;
        /// SGR 21 or 4:2.
        const DOUBLE_UNDERLINE = 1 << 4;
        /// SGR 4:3.
        const CURLY_UNDERLINE = 1 << 5;
        /// SGR 4:4.
        const DOTTED_UNDERLINE = 1 << 6;
        /// SGR 4:5.
        const DASHED_UNDERLINE = 1 << 7;
        /// SGR 5 or 6.
        const BLINK = 1 << 8;
        /// SGR 7.
        const INVERSE = 1 << 9;
        /// SGR 8.
        const HIDDEN = 1 << 10;
        /// SGR 9.
        const STRIKE = 1 << 11;
    }
}

impl Attributes {
    /// Every underline style.
    pub const ANY_UNDERLINE: Self = Self::UNDERLINE
        .union(Self::DOUBLE_UNDERLINE)
        .union(Self::CURLY_UNDERLINE)
        .union(Self::DOTTED_UNDERLINE)
        .union(Self::DASHED_UNDERLINE);

    /// Each set attribute with the name agents read and the SGR parameter that sets it.
    pub fn named(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        NAMES
            .iter()
            .filter(move |(flag, ..)| self.contains(*flag))
            .map(|(_, name, sgr)| (*name, *sgr))
    }
}

const NAMES: [(Attributes, &str, &str); 12] = [
    (Attributes::BOLD, "bold", "1"),
    (Attributes::DIM, "dim", "2"),
    (Attributes::ITALIC, "italic", "3"),
    (Attributes::UNDERLINE, "underline", "4"),
    (Attributes::DOUBLE_UNDERLINE, "double-underline", "4:2"),
    (Attributes::CURLY_UNDERLINE, "curly-underline", "4:3"),
    (Attributes::DOTTED_UNDERLINE, "dotted-underline", "4:4"),
    (Attributes::DASHED_UNDERLINE, "dashed-underline", "4:5"),
    (Attributes::BLINK, "blink", "5"),
    (Attributes::INVERSE, "inverse", "7"),
    (Attributes::HIDDEN, "hidden", "8"),
    (Attributes::STRIKE, "strike", "9"),
];

/// A colour as the program named it; what it looks like is the [`Palette`]'s matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Color {
    /// The terminal's own foreground or background.
    #[default]
    Default,
    /// One of the 256 palette entries; 0–15 are the named ones.
    Indexed(u8),
    /// 24-bit colour.
    Rgb(u8, u8, u8),
}

const COLOR_NAMES: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "bright-black",
    "bright-red",
    "bright-green",
    "bright-yellow",
    "bright-blue",
    "bright-magenta",
    "bright-cyan",
    "bright-white",
];

impl Color {
    /// The name agents read: `red`, `bright-blue`, `color208`, `#ff8700`; `None` for the default.
    pub fn name(self) -> Option<String> {
        match self {
            Self::Default => None,
            Self::Indexed(index) => Some(
                COLOR_NAMES
                    .get(usize::from(index))
                    .map_or_else(|| format!("color{index}"), |name| (*name).to_owned()),
            ),
            Self::Rgb(r, g, b) => Some(format!("#{r:02x}{g:02x}{b:02x}")),
        }
    }
}

/// Everything that decides how a cell is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Style {
    /// Foreground as set, before inversion.
    pub fg: Color,
    /// Background as set, before inversion.
    pub bg: Color,
    /// Colour of the underline where it differs from the text.
    pub underline_color: Option<Color>,
    /// The rest.
    pub attributes: Attributes,
}

/// What the colours look like: the 256 entries, foreground, background and cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Palette {
    /// Entries 0–255.
    pub entries: [(u8, u8, u8); 256],
    /// Default foreground.
    pub foreground: (u8, u8, u8),
    /// Default background.
    pub background: (u8, u8, u8),
    /// Cursor.
    pub cursor: (u8, u8, u8),
}

impl Palette {
    /// The colour of a cell's foreground.
    pub fn foreground_of(&self, color: Color) -> (u8, u8, u8) {
        self.resolve(color, self.foreground)
    }

    /// The colour of a cell's background.
    pub fn background_of(&self, color: Color) -> (u8, u8, u8) {
        self.resolve(color, self.background)
    }

    fn resolve(&self, color: Color, default: (u8, u8, u8)) -> (u8, u8, u8) {
        match color {
            Color::Default => default,
            Color::Indexed(index) => self.entries[usize::from(index)],
            Color::Rgb(r, g, b) => (r, g, b),
        }
    }
}

impl Default for Palette {
    /// A dark scheme: 16 named colours, then xterm's cube and grey ramp.
    fn default() -> Self {
        const NAMED: [(u8, u8, u8); 16] = [
            (0x1d, 0x1f, 0x21),
            (0xcc, 0x66, 0x66),
            (0xb5, 0xbd, 0x68),
            (0xf0, 0xc6, 0x74),
            (0x81, 0xa2, 0xbe),
            (0xb2, 0x94, 0xbb),
            (0x8a, 0xbe, 0xb7),
            (0xc5, 0xc8, 0xc6),
            (0x66, 0x66, 0x66),
            (0xd5, 0x4e, 0x53),
            (0xb9, 0xca, 0x4a),
            (0xe7, 0xc5, 0x47),
            (0x7a, 0xa6, 0xda),
            (0xc3, 0x97, 0xd8),
            (0x70, 0xc0, 0xb1),
            (0xea, 0xea, 0xea),
        ];
        let mut entries = [(0, 0, 0); 256];
        entries[..16].copy_from_slice(&NAMED);
        let level = |step: usize| if step == 0 { 0 } else { (55 + 40 * step) as u8 };
        for (offset, entry) in entries[16..232].iter_mut().enumerate() {
            *entry = (level(offset / 36), level(offset / 6 % 6), level(offset % 6));
        }
        for (step, entry) in entries[232..].iter_mut().enumerate() {
            let grey = (8 + 10 * step) as u8;
            *entry = (grey, grey, grey);
        }
        Self {
            entries,
            foreground: (0xc5, 0xc8, 0xc6),
            background: (0x1d, 0x1f, 0x21),
            cursor: (0xc5, 0xc8, 0xc6),
        }
    }
}
