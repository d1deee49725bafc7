//! Modes: ANSI and private, each a row of a table.

use bitflags::bitflags;
use serde::{Deserialize, Serialize};

use crate::input::{MouseEncoding, MouseTracking};

bitflags! {
    /// Modes that are set or not.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub(super) struct Modes: u32 {
        const KEYBOARD_LOCKED = 1;
        const INSERT = 1 << 1;
        const NO_LOCAL_ECHO = 1 << 2;
        const NEWLINE = 1 << 3;
        const APP_CURSOR = 1 << 4;
        const REVERSE_SCREEN = 1 << 5;
        const ORIGIN = 1 << 6;
        const AUTOWRAP = 1 << 7;
        const SHOW_CURSOR = 1 << 8;
        const REVERSE_WRAP = 1 << 9;
        const APP_KEYPAD = 1 << 10;
        const BACKSPACE_KEY = 1 << 11;
        const COLUMN_MARGINS = 1 << 12;
        const FOCUS = 1 << 13;
        const ALTERNATE_SCROLL = 1 << 14;
        const URGENCY = 1 << 15;
        const REVERSE_WRAP_BACK = 1 << 16;
        const BRACKETED_PASTE = 1 << 17;
        const SYNCHRONIZED = 1 << 18;
        const GRAPHEMES = 1 << 19;
        const SIXEL_SCROLLING_OFF = 1 << 20;
        const NATIONAL = 1 << 21;
        const SMOOTH_SCROLL = 1 << 22;
        const AUTO_REPEAT = 1 << 23;
        const ALLOW_COLUMN_MODE = 1 << 24;
        const META_ESCAPE = 1 << 25;
        const KEEP_ON_COLUMN_MODE = 1 << 26;
        const MORE_FIX = 1 << 27;
        const PRINT_FORM_FEED = 1 << 28;
        const PRINT_SCREEN = 1 << 29;
        const FONT_SIZE_KEYS = 1 << 30;
    }
}

impl Default for Modes {
    fn default() -> Self {
        Self::NO_LOCAL_ECHO
            | Self::AUTOWRAP
            | Self::SHOW_CURSOR
            | Self::ALTERNATE_SCROLL
            | Self::URGENCY
            | Self::AUTO_REPEAT
    }
}

/// Modes of SM and RM.
pub(super) const ANSI: [(u16, Modes); 4] = [
    (2, Modes::KEYBOARD_LOCKED),
    (4, Modes::INSERT),
    (12, Modes::NO_LOCAL_ECHO),
    (20, Modes::NEWLINE),
];

/// Private modes that do nothing but being set.
pub(super) const PRIVATE: [(u16, Modes); 26] = [
    (1, Modes::APP_CURSOR),
    (4, Modes::SMOOTH_SCROLL),
    (5, Modes::REVERSE_SCREEN),
    (6, Modes::ORIGIN),
    (7, Modes::AUTOWRAP),
    (8, Modes::AUTO_REPEAT),
    (18, Modes::PRINT_FORM_FEED),
    (19, Modes::PRINT_SCREEN),
    (25, Modes::SHOW_CURSOR),
    (35, Modes::FONT_SIZE_KEYS),
    (40, Modes::ALLOW_COLUMN_MODE),
    (41, Modes::MORE_FIX),
    (42, Modes::NATIONAL),
    (45, Modes::REVERSE_WRAP),
    (66, Modes::APP_KEYPAD),
    (67, Modes::BACKSPACE_KEY),
    (69, Modes::COLUMN_MARGINS),
    (80, Modes::SIXEL_SCROLLING_OFF),
    (95, Modes::KEEP_ON_COLUMN_MODE),
    (1004, Modes::FOCUS),
    (1007, Modes::ALTERNATE_SCROLL),
    (1036, Modes::META_ESCAPE),
    (1042, Modes::URGENCY),
    (1045, Modes::REVERSE_WRAP_BACK),
    (2004, Modes::BRACKETED_PASTE),
    (2027, Modes::GRAPHEMES),
];

/// Which mouse events are reported: one of these modes at a time.
pub(super) const MICE: [(u16, MouseTracking); 4] = [
    (9, MouseTracking::X10),
    (1000, MouseTracking::Normal),
    (1002, MouseTracking::ButtonMotion),
    (1003, MouseTracking::AnyMotion),
];

/// How mouse events are written: one of these modes at a time.
pub(super) const ENCODINGS: [(u16, MouseEncoding); 4] = [
    (1005, MouseEncoding::Utf8),
    (1006, MouseEncoding::Sgr),
    (1015, MouseEncoding::Urxvt),
    (1016, MouseEncoding::SgrPixels),
];

/// Modes that are recognised and cannot be changed: the size is not the program's, and it is shown whole.
pub(super) const FIXED: [(u16, u8); 3] = [(2, 3), (3, 4), (60, 4)];

/// What a mode is in a table.
pub(super) fn find<T: Copy>(table: &[(u16, T)], mode: u16) -> Option<T> {
    table.iter().find(|(number, _)| *number == mode).map(|(_, value)| *value)
}
