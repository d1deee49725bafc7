//! What a keyboard, a clipboard and a mouse send to a program.
//!
//! Key names go in, bytes come out: [`parse_keys`] turns what a caller wrote (`Ctrl+C`,
//! `iHello<Escape>:wq<Enter>`) into [`InputItem`]s, and [`encode_items`] turns those into the bytes
//! that a terminal sends in the modes the program has set ([`InputModes`]). [`encode_paste`] and
//! [`encode_mouse`] do the same for pasted text and for the mouse.
//!
//! The module does no IO and keeps no state: the modes are read from the emulator by the caller,
//! at the moment of sending. Three encodings of keys live side by side, and a press tries them in
//! this order:
//!
//! 1. the kitty keyboard protocol, when the program has pushed flags (`kitty.rs`);
//! 2. xterm's `modifyOtherKeys`, for the keys it covers (`other_keys.rs`);
//! 3. what xterm sends by default, as the `xterm-256color` terminfo entry says (`legacy.rs`).
//!
//! Invariants: nothing here panics on any input; a parsed sequence is bounded by
//! [`MAX_INPUT_BYTES`] and [`MAX_INPUT_ITEMS`]; a pasted text can never close its own bracket.
//! Key releases and repeats are deliberately absent: a caller presses keys, it does not hold them.

mod chord;
mod encode;
mod error;
mod key;
mod kitty;
mod layout;
mod legacy;
mod list;
mod modes;
mod mouse;
mod names;
mod other_keys;
mod parse;
mod paste;

#[cfg(test)]
mod encode_tests;
#[cfg(test)]
mod kitty_tests;
#[cfg(test)]
mod mouse_tests;
#[cfg(test)]
mod parse_tests;
#[cfg(test)]
mod property_tests;

pub use encode::{encode_items, encode_press};
pub use error::{KeyError, MAX_INPUT_BYTES, MAX_INPUT_ITEMS, MAX_REPEAT};
pub use key::{Key, KeyPress, KeypadKey, Modifiers};
pub use modes::{InputModes, KittyFlags, MouseEncoding, MouseTracking};
pub use mouse::{MouseAction, MouseButton, MouseError, MouseEvent, encode_mouse};
pub use names::{known_key_names, nearest_key_name};
pub use parse::{InputItem, parse_keys};
pub use paste::encode_paste;
