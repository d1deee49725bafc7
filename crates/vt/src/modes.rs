//! Modes that the emulator crate does not keep, and the view of all modes that input needs.

use alacritty_terminal::term::TermMode;

use crate::input::{InputModes, KittyFlags, MouseEncoding, MouseTracking};

/// Size of a cell in the pixel reports; there is no real window.
pub(crate) const CELL_PIXELS: (u16, u16) = (8, 16);

/// Private modes that are ours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ExtraModes {
    /// Mode 9.
    pub(crate) x10_mouse: bool,
    /// Mode 1015.
    pub(crate) urxvt_mouse: bool,
    /// Mode 1016.
    pub(crate) sgr_pixel_mouse: bool,
    /// `CSI > 4 ; n m`.
    pub(crate) modify_other_keys: u8,
}

impl ExtraModes {
    /// Sets one of our private modes; false when `mode` is not ours.
    pub(crate) fn set(&mut self, mode: u16, on: bool) -> bool {
        match mode {
            9 => self.x10_mouse = on,
            1015 => self.urxvt_mouse = on,
            1016 => self.sgr_pixel_mouse = on,
            _ => return false,
        }
        true
    }

    /// Whether one of our private modes is set; `None` when it is not ours.
    pub(crate) fn get(self, mode: u16) -> Option<bool> {
        match mode {
            9 => Some(self.x10_mouse),
            1015 => Some(self.urxvt_mouse),
            1016 => Some(self.sgr_pixel_mouse),
            _ => None,
        }
    }
}

/// All modes that decide which bytes a key or a click becomes.
pub(crate) fn input_modes(mode: TermMode, extra: ExtraModes) -> InputModes {
    let mouse = if mode.contains(TermMode::MOUSE_MOTION) {
        MouseTracking::AnyMotion
    } else if mode.contains(TermMode::MOUSE_DRAG) {
        MouseTracking::ButtonMotion
    } else if mode.contains(TermMode::MOUSE_REPORT_CLICK) {
        MouseTracking::Normal
    } else if extra.x10_mouse {
        MouseTracking::X10
    } else {
        MouseTracking::Off
    };
    let mouse_encoding = if extra.sgr_pixel_mouse {
        MouseEncoding::SgrPixels
    } else if mode.contains(TermMode::SGR_MOUSE) {
        MouseEncoding::Sgr
    } else if extra.urxvt_mouse {
        MouseEncoding::Urxvt
    } else if mode.contains(TermMode::UTF8_MOUSE) {
        MouseEncoding::Utf8
    } else {
        MouseEncoding::Default
    };
    let kitty = [
        (TermMode::DISAMBIGUATE_ESC_CODES, KittyFlags::DISAMBIGUATE),
        (TermMode::REPORT_EVENT_TYPES, KittyFlags::EVENT_TYPES),
        (TermMode::REPORT_ALTERNATE_KEYS, KittyFlags::ALTERNATE_KEYS),
        (TermMode::REPORT_ALL_KEYS_AS_ESC, KittyFlags::ALL_AS_ESCAPE),
        (TermMode::REPORT_ASSOCIATED_TEXT, KittyFlags::ASSOCIATED_TEXT),
    ]
    .into_iter()
    .filter(|(flag, _)| mode.contains(*flag))
    .fold(KittyFlags::empty(), |all, (_, flag)| all | flag);
    InputModes {
        app_cursor: mode.contains(TermMode::APP_CURSOR),
        app_keypad: mode.contains(TermMode::APP_KEYPAD),
        newline_mode: mode.contains(TermMode::LINE_FEED_NEW_LINE),
        bracketed_paste: mode.contains(TermMode::BRACKETED_PASTE),
        alternate_scroll: mode.contains(TermMode::ALTERNATE_SCROLL),
        alternate_screen: mode.contains(TermMode::ALT_SCREEN),
        focus_events: mode.contains(TermMode::FOCUS_IN_OUT),
        kitty,
        modify_other_keys: extra.modify_other_keys,
        mouse,
        mouse_encoding,
        cell_pixels: CELL_PIXELS,
    }
}
