//! The bytes of a key press, by whichever encoding the modes call for.

use super::key::{Key, KeyPress};
use super::modes::{InputModes, KittyFlags};
use super::parse::InputItem;
use super::{kitty, legacy, other_keys};

/// The bytes that the terminal sends for one press.
///
/// Empty when the terminal sends nothing for it: locks, `PrintScreen` and `Pause` outside the kitty
/// protocol, or a function key that does not exist. A modifier that the modes cannot express is
/// dropped: outside the kitty protocol and `modifyOtherKeys`, `Super+a` sends `a`.
pub fn encode_press(press: &KeyPress, modes: &InputModes) -> Vec<u8> {
    let press = KeyPress::new(press.key, press.modifiers);
    kitty::encode(press, modes)
        .or_else(|| other_keys::encode(press, modes))
        .unwrap_or_else(|| legacy::encode(press, modes))
}

/// The bytes of a sequence of text and presses.
///
/// Text is sent as it is, except where the program wants every key as an escape code: then each
/// character is a press of its key. A line feed in text is a press of Enter; other control characters are always sent
/// as they are.
pub fn encode_items(items: &[InputItem], modes: &InputModes) -> Vec<u8> {
    let all_as_escape = modes.kitty.contains(KittyFlags::ALL_AS_ESCAPE);
    let mut bytes = Vec::new();
    for item in items {
        match item {
            InputItem::Press(press) => bytes.extend(encode_press(press, modes)),
            InputItem::Text(text) => {
                for character in text.chars() {
                    bytes.extend(match character {
                        '\n' => encode_press(&Key::Enter.into(), modes),
                        _ if all_as_escape && !character.is_control() => {
                            encode_press(&Key::Char(character).into(), modes)
                        }
                        _ => character.to_string().into_bytes(),
                    });
                }
            }
        }
    }
    bytes
}
