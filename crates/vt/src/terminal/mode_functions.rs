//! Functions that set modes (SM, RM, DECSET, DECRST), report them (DECRQM), save and restore them (XTSAVE, XTRESTORE).

use super::core::{Core, Frozen};
use super::modes::{ANSI, ENCODINGS, FIXED, MICE, Modes, PRIVATE, find};
use crate::input::{InputModes, KittyFlags, MouseEncoding, MouseTracking};
use crate::size::CELL_PIXELS;

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
        self.images.freeze();
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
        self.images.thaw();
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
