//! Modes: ANSI (SM, RM) and private (DECSET, DECRST), each a row of a table.

use bitflags::bitflags;
use serde::{Deserialize, Serialize};

use super::core::{Core, Frozen};
use crate::input::{InputModes, KittyFlags, MouseEncoding, MouseTracking};

/// Size of a cell in the pixel reports; there is no real window.
pub(super) const CELL_PIXELS: (u16, u16) = (8, 16);

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
const ANSI: [(u16, Modes); 4] = [
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
const FIXED: [(u16, u8); 3] = [(2, 3), (3, 4), (60, 4)];

fn find<T: Copy>(table: &[(u16, T)], mode: u16) -> Option<T> {
    table.iter().find(|(number, _)| *number == mode).map(|(_, value)| *value)
}

impl Core {
    /// Sets or resets an ANSI mode.
    pub(super) fn set_ansi_mode(&mut self, mode: u16, on: bool) {
        if let Some(flag) = find(&ANSI, mode) {
            self.modes.set(flag, on);
        }
    }

    /// Sets or resets a private mode.
    pub(super) fn set_private_mode(&mut self, mode: u16, on: bool) {
        match mode {
            // There are no columns' margins before level 4.
            69 if !self.has_level(4) => return,
            12 => self.cursor_style.blinking = on,
            47 => self.show_alternate(on),
            1047 => {
                if !on && self.is_alternate {
                    self.clear_alternate();
                }
                self.show_alternate(on);
            }
            1048 if on => self.save_cursor(),
            1048 => self.restore_cursor(),
            1049 if on => {
                self.save_cursor();
                if !self.is_alternate {
                    self.show_alternate(true);
                    self.clear_alternate();
                }
            }
            1049 => {
                self.show_alternate(false);
                self.restore_cursor();
            }
            2026 => self.set_synchronized(on),
            _ => {}
        }
        if let Some(flag) = find(&PRIVATE, mode) {
            self.modes.set(flag, on);
            match flag {
                Modes::ORIGIN => self.home(),
                Modes::COLUMN_MARGINS if !on => {
                    let cols = self.cols();
                    self.grid_mut().columns = 0..cols;
                }
                Modes::AUTOWRAP if !on => self.grid_mut().cursor.wraps = false,
                _ => {}
            }
        }
        if let Some(tracking) = find(&MICE, mode) {
            self.mouse = if on { tracking } else { MouseTracking::Off };
        }
        if let Some(encoding) = find(&ENCODINGS, mode) {
            match on {
                true => self.mouse_encoding = encoding,
                false if self.mouse_encoding == encoding => {
                    self.mouse_encoding = MouseEncoding::Default;
                }
                false => {}
            }
        }
    }

    /// The state of a private mode as DECRQM has it; 0 for one that is not known.
    pub(super) fn private_mode_state(&self, mode: u16) -> u8 {
        let state = |on: bool| if on { 1 } else { 2 };
        match mode {
            12 => state(self.cursor_style.blinking),
            47 | 1047 | 1049 => state(self.is_alternate),
            2026 => state(self.modes.contains(Modes::SYNCHRONIZED)),
            _ => find(&PRIVATE, mode)
                .map(|flag| state(self.modes.contains(flag)))
                .or_else(|| find(&MICE, mode).map(|tracking| state(self.mouse == tracking)))
                .or_else(|| {
                    find(&ENCODINGS, mode).map(|encoding| state(self.mouse_encoding == encoding))
                })
                .or_else(|| find(&FIXED, mode))
                .unwrap_or(0),
        }
    }

    /// The state of an ANSI mode as DECRQM has it.
    pub(super) fn ansi_mode_state(&self, mode: u16) -> u8 {
        match mode {
            1 | 5 | 7 | 10 | 11 | 13..=19 => 4,
            _ => find(&ANSI, mode).map_or(0, |flag| if self.modes.contains(flag) { 1 } else { 2 }),
        }
    }

    /// Remembers the state of a private mode (XTSAVE).
    pub(super) fn save_private_mode(&mut self, mode: u16) {
        if matches!(self.private_mode_state(mode), 1 | 2) {
            self.saved_modes.insert(mode, self.private_mode_state(mode) == 1);
        }
    }

    /// Restores it (XTRESTORE).
    pub(super) fn restore_private_mode(&mut self, mode: u16) {
        if let Some(on) = self.saved_modes.get(&mode).copied() {
            self.set_private_mode(mode, on);
        }
    }

    /// Begins or ends a synchronized update: readers see the screen from before it meanwhile.
    fn set_synchronized(&mut self, on: bool) {
        if !on {
            return self.end_synchronized();
        }
        if self.modes.contains(Modes::SYNCHRONIZED) {
            return;
        }
        self.modes.insert(Modes::SYNCHRONIZED);
        self.tables.share_clusters();
        self.work += self.cols() * usize::from(self.size.rows) / 4;
        self.frozen = Some(Box::new(Frozen {
            grid: self.grid().clone(),
            cursor_style: self.cursor_style,
            cursor_visible: self.modes.contains(Modes::SHOW_CURSOR),
            is_alternate: self.is_alternate,
            title: self.title.clone(),
        }));
    }

    pub(super) fn end_synchronized(&mut self) {
        self.modes.remove(Modes::SYNCHRONIZED);
        self.frozen = None;
    }

    /// All modes that decide which bytes a key or a click becomes.
    pub(super) fn input_modes(&self) -> InputModes {
        let screen = &self.per_screen[usize::from(self.is_alternate)];
        InputModes {
            app_cursor: self.modes.contains(Modes::APP_CURSOR),
            app_keypad: self.modes.contains(Modes::APP_KEYPAD),
            newline_mode: self.modes.contains(Modes::NEWLINE),
            bracketed_paste: self.modes.contains(Modes::BRACKETED_PASTE),
            alternate_scroll: self.modes.contains(Modes::ALTERNATE_SCROLL),
            alternate_screen: self.is_alternate,
            focus_events: self.modes.contains(Modes::FOCUS),
            kitty: KittyFlags::from_bits_truncate(screen.keyboard_flags),
            modify_other_keys: self.modify_other_keys,
            mouse: self.mouse,
            mouse_encoding: self.mouse_encoding,
            cell_pixels: CELL_PIXELS,
        }
    }
}
