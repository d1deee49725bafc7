//! The kitty keyboard protocol (<https://sw.kovidgoyal.net/kitty/keyboard-protocol/>).
//!
//! A key is `CSI code : shifted ; modifiers ; text u`, where what is absent is left out, or for
//! the older functional keys `CSI number ; modifiers final`. Only presses are sent, and a press
//! needs no event type. A character's code is its own code point, that of the lower-case letter
//! for a letter: a symbol counts as a key of its own, since no keyboard layout is known.

use super::key::{Key, KeyPress, KeypadKey, Modifiers};
use super::layout;
use super::modes::{InputModes, KittyFlags};

/// The bytes for a press, unless the flags leave it to the other encodings.
pub(super) fn encode(press: KeyPress, modes: &InputModes) -> Option<Vec<u8>> {
    let flags = modes.kitty;
    let all = flags.contains(KittyFlags::ALL_AS_ESCAPE);
    if !all && !flags.contains(KittyFlags::DISAMBIGUATE) {
        return None;
    }
    let KeyPress { key, modifiers } = press;
    match key {
        Key::Char(character) => Some(encode_char(character, modifiers, flags)),
        // These stay as they were, so that a shell is usable after a program forgets its mode.
        Key::Enter | Key::Tab | Key::Backspace if modifiers.is_empty() && !all => None,
        Key::CapsLock | Key::ScrollLock | Key::NumLock if !all => None,
        Key::Keypad(pad) => encode_keypad(pad, modifiers, flags),
        Key::F(3) => Some(sequence(13, None, modifiers, None, '~')),
        _ => {
            let (code, last) = key.functional().or_else(|| Some((code_of(key)?, 'u')))?;
            Some(sequence(code, None, modifiers, None, last))
        }
    }
}

fn encode_char(character: char, modifiers: Modifiers, flags: KittyFlags) -> Vec<u8> {
    let (key, modifiers) = match layout::unshifted(character) {
        Some(lower) => (lower, modifiers | Modifiers::SHIFT),
        None => (character, modifiers),
    };
    let shift = modifiers.contains(Modifiers::SHIFT);
    let typed = if shift { layout::shifted(key) } else { key };
    let makes_text = (modifiers - Modifiers::SHIFT).is_empty();
    if makes_text && !flags.contains(KittyFlags::ALL_AS_ESCAPE) {
        return typed.to_string().into_bytes();
    }
    let alternate = (flags.contains(KittyFlags::ALTERNATE_KEYS) && typed != key).then_some(typed);
    let text = (makes_text && flags.contains(KittyFlags::ASSOCIATED_TEXT)).then_some(typed);
    sequence(u32::from(key), alternate, modifiers, text, 'u')
}

fn encode_keypad(pad: KeypadKey, modifiers: Modifiers, flags: KittyFlags) -> Option<Vec<u8>> {
    if pad == KeypadKey::Begin {
        return Some(sequence(1, None, modifiers, None, 'E'));
    }
    let typed = pad.character().filter(|_| modifiers.is_empty());
    if let Some(character) = typed.filter(|_| !flags.contains(KittyFlags::ALL_AS_ESCAPE)) {
        return Some(character.to_string().into_bytes());
    }
    let text = typed.filter(|_| flags.contains(KittyFlags::ASSOCIATED_TEXT));
    Some(sequence(keypad_code(pad)?, None, modifiers, text, 'u'))
}

fn sequence(
    code: u32,
    alternate: Option<char>,
    modifiers: Modifiers,
    text: Option<char>,
    last: char,
) -> Vec<u8> {
    let first = match alternate {
        Some(shifted) => format!("{code}:{}", u32::from(shifted)),
        None => code.to_string(),
    };
    let held = if modifiers.is_empty() { String::new() } else { modifiers.param().to_string() };
    match text {
        Some(text) => format!("\x1b[{first};{held};{}{last}", u32::from(text)),
        None if !held.is_empty() => format!("\x1b[{first};{held}{last}"),
        None if code == 1 => format!("\x1b[{last}"),
        None => format!("\x1b[{first}{last}"),
    }
    .into_bytes()
}

fn code_of(key: Key) -> Option<u32> {
    Some(match key {
        Key::Escape => 27,
        Key::Enter => 13,
        Key::Tab => 9,
        Key::Backspace => 127,
        Key::CapsLock => 57358,
        Key::ScrollLock => 57359,
        Key::NumLock => 57360,
        Key::PrintScreen => 57361,
        Key::Pause => 57362,
        Key::Menu => 57363,
        Key::F(number @ 13..=24) => 57376 + u32::from(number) - 13,
        _ => return None,
    })
}

fn keypad_code(pad: KeypadKey) -> Option<u32> {
    Some(match pad {
        KeypadKey::Digit(digit @ 0..=9) => 57399 + u32::from(digit),
        KeypadKey::Decimal => 57409,
        KeypadKey::Divide => 57410,
        KeypadKey::Multiply => 57411,
        KeypadKey::Minus => 57412,
        KeypadKey::Plus => 57413,
        KeypadKey::Enter => 57414,
        KeypadKey::Equal => 57415,
        KeypadKey::Separator => 57416,
        KeypadKey::Left => 57417,
        KeypadKey::Right => 57418,
        KeypadKey::Up => 57419,
        KeypadKey::Down => 57420,
        KeypadKey::PageUp => 57421,
        KeypadKey::PageDown => 57422,
        KeypadKey::Home => 57423,
        KeypadKey::End => 57424,
        KeypadKey::Insert => 57425,
        KeypadKey::Delete => 57426,
        KeypadKey::Digit(_) | KeypadKey::Begin => return None,
    })
}
