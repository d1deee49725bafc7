//! One place of the grid, packed into 64 bits.
//!
//! | bits | what |
//! | --- | --- |
//! | 0–20 | a code point, or the number of a cluster; 0 where nothing was written |
//! | 21 | it is a cluster |
//! | 22–23 | [`Width`] |
//! | 24 | protected from selective erasure (DECSCA) |
//! | 25 | not part of the command's output: it was there before, or its text was taken |
//! | 32–63 | [`StyleId`] |
//!
//! A tab stands as itself in the first cell that it skipped, if that was empty, so that text is kept as it was printed.

use serde::{Deserialize, Serialize};

/// A style in the terminal's table; 0 is the default style.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct StyleId(pub(crate) u32);

/// Which part of a character a cell shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// All of it.
    Narrow,
    /// The left half of a wide one.
    Wide,
    /// The right half.
    Spacer,
}

/// A cell; the default is one that nothing was written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Cell(pub(crate) u64);

const TEXT: u64 = (1 << 21) - 1;
const CLUSTER: u64 = 1 << 21;
const WIDTH: u64 = 3 << 22;
const WIDE: u64 = 1 << 22;
const SPACER: u64 = 2 << 22;
const PROTECTED: u64 = 1 << 24;
const EARLIER: u64 = 1 << 25;
const STYLE: u32 = 32;

impl Cell {
    /// Nothing was written here.
    pub(crate) const EMPTY: Self = Self(0);

    /// An empty cell of a style: what printing and erasing start from.
    pub(crate) fn blank(style: StyleId) -> Self {
        Self(u64::from(style.0) << STYLE)
    }

    pub(crate) fn with_protection(self, protected: bool) -> Self {
        if protected { Self(self.0 | PROTECTED) } else { self }
    }

    /// This cell with an ASCII character.
    #[inline]
    pub(crate) fn with_ascii(self, byte: u8) -> Self {
        Self(self.0 | u64::from(byte))
    }

    /// This cell with a character; `self` is a template without one.
    #[inline]
    pub(crate) fn with_char(self, character: char) -> Self {
        self.with_code(character.into())
    }

    /// This cell with a code point; `self` is a template without one.
    #[inline]
    pub(crate) fn with_code(self, code: u32) -> Self {
        Self(self.0 | u64::from(code))
    }

    /// This cell as the left half of a wide character.
    #[inline]
    pub(crate) fn wide(self) -> Self {
        Self(self.0 | WIDE)
    }

    /// The right half of a wide character whose left half is this.
    #[inline]
    pub(crate) fn spacer(self) -> Self {
        Self(self.0 & !(TEXT | CLUSTER | WIDTH) | SPACER)
    }

    /// This cell with a cluster instead of its text.
    pub(crate) fn with_cluster(self, number: u32) -> Self {
        Self(self.0 & !TEXT | CLUSTER | u64::from(number) & TEXT)
    }

    /// This cell with another style.
    pub(crate) fn with_style(self, style: StyleId) -> Self {
        Self(self.0 & u64::from(u32::MAX) | u64::from(style.0) << STYLE)
    }

    /// The cell without its text, as a blank that was written.
    pub(crate) fn emptied(self) -> Self {
        Self(self.0 & !(TEXT | CLUSTER | WIDTH) | u64::from(b' '))
    }

    #[inline]
    pub(crate) fn style(self) -> StyleId {
        StyleId((self.0 >> STYLE) as u32)
    }

    /// The code point or the number of the cluster.
    #[inline]
    pub(crate) fn code(self) -> u32 {
        (self.0 & TEXT) as u32
    }

    /// The bits of text and width: below U+0080 for a narrow ASCII character or a blank.
    #[inline]
    pub(crate) fn shown(self) -> u32 {
        (self.0 & (TEXT | CLUSTER | WIDTH)) as u32
    }

    /// The character; `None` for a cluster.
    #[inline]
    pub(crate) fn character(self) -> Option<char> {
        if self.0 & CLUSTER != 0 { None } else { char::from_u32(self.code()) }
    }

    /// The number of the cluster, if it is one.
    #[inline]
    pub(crate) fn cluster(self) -> Option<u32> {
        (self.0 & CLUSTER != 0).then_some((self.0 & TEXT) as u32)
    }

    #[inline]
    pub(crate) fn width(self) -> Width {
        match self.0 & WIDTH {
            0 => Width::Narrow,
            WIDE => Width::Wide,
            _ => Width::Spacer,
        }
    }

    pub(crate) fn is_protected(self) -> bool {
        self.0 & PROTECTED != 0
    }

    /// This cell as one that is not part of the command's output, if something was written to it.
    pub(crate) fn earlier(self) -> Self {
        if self.is_unwritten() { self } else { Self(self.0 | EARLIER) }
    }

    pub(crate) fn is_earlier(self) -> bool {
        self.0 & EARLIER != 0
    }

    /// Nothing was written here since it was erased; it may have a background.
    #[inline]
    pub(crate) fn is_unwritten(self) -> bool {
        self.0 & (TEXT | CLUSTER | WIDTH) == 0
    }

    /// Its text is not a code point that stands for itself: a cluster or a tab.
    #[inline]
    pub(crate) fn is_cluster_or_tab(self) -> bool {
        self.0 & CLUSTER != 0 || self.0 & TEXT == 9
    }

    /// Its neighbours have to be looked at when it is overwritten, or its text is more than a code point.
    #[inline]
    pub(crate) fn is_complex(self) -> bool {
        self.0 & WIDTH != 0 || self.is_cluster_or_tab()
    }
}
