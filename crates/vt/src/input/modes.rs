//! The modes of the terminal that change what input looks like on the wire.

use bitflags::bitflags;
use serde::{Deserialize, Serialize};

bitflags! {
    /// The progressive enhancements of the kitty keyboard protocol (`CSI > flags u`).
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct KittyFlags: u8 {
        /// Report keys whose legacy bytes are ambiguous as `CSI u`.
        const DISAMBIGUATE = 1;
        /// Report repeats and releases; a press needs no mark, so this changes nothing here.
        const EVENT_TYPES = 2;
        /// Report the shifted key beside the key.
        const ALTERNATE_KEYS = 4;
        /// Report every key as an escape code, those that make text too.
        const ALL_AS_ESCAPE = 8;
        /// Report the text a key makes inside its escape code.
        const ASSOCIATED_TEXT = 16;
    }
}

/// Which mouse events the program has asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MouseTracking {
    /// None.
    #[default]
    Off,
    /// Presses only (mode 9).
    X10,
    /// Presses and releases (mode 1000).
    Normal,
    /// Presses, releases, and motion while a button is held (mode 1002).
    ButtonMotion,
    /// Presses, releases and all motion (mode 1003).
    AnyMotion,
}

/// How a mouse event is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MouseEncoding {
    /// `CSI M` and three bytes; cells up to 223.
    #[default]
    Default,
    /// `CSI M` and three UTF-8 characters (mode 1005); cells up to 2015.
    Utf8,
    /// `CSI < b ; x ; y M` or `m` (mode 1006).
    Sgr,
    /// `CSI b ; x ; y M` (mode 1015).
    Urxvt,
    /// As [`Sgr`](Self::Sgr), in pixels (mode 1016).
    SgrPixels,
}

/// Every mode that input depends on; the default is a fresh xterm.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct InputModes {
    /// DECCKM: cursor keys send SS3 instead of CSI.
    pub app_cursor: bool,
    /// DECKPAM: the keypad sends SS3 codes instead of characters.
    pub app_keypad: bool,
    /// LNM: Enter sends CR LF.
    pub newline_mode: bool,
    /// Mode 2004: pasted text is bracketed.
    pub bracketed_paste: bool,
    /// Mode 1007: on the alternate screen the wheel sends cursor keys.
    pub alternate_scroll: bool,
    /// The alternate screen is shown.
    pub alternate_screen: bool,
    /// Mode 1004: the program wants to know of focus.
    pub focus_events: bool,
    /// The kitty keyboard flags in force.
    pub kitty: KittyFlags,
    /// xterm's `modifyOtherKeys`: 0, 1 or 2; greater values count as 2.
    pub modify_other_keys: u8,
    /// Which mouse events are reported.
    pub mouse: MouseTracking,
    /// How mouse events are written.
    pub mouse_encoding: MouseEncoding,
    /// Width and height of a cell, for [`MouseEncoding::SgrPixels`].
    pub cell_pixels: (u16, u16),
}

impl Default for InputModes {
    fn default() -> Self {
        Self {
            app_cursor: false,
            app_keypad: false,
            newline_mode: false,
            bracketed_paste: false,
            alternate_scroll: false,
            alternate_screen: false,
            focus_events: false,
            kitty: KittyFlags::empty(),
            modify_other_keys: 0,
            mouse: MouseTracking::Off,
            mouse_encoding: MouseEncoding::Default,
            cell_pixels: (8, 16),
        }
    }
}
