//! What xterm sends for a key by default, as the terminfo entry `xterm-256color` lists it.
//!
//! `CSI` is `ESC [`, `SS3` is `ESC O`. A modified functional key carries its modifiers as a
//! parameter (`CSI 1 ; 5 A`); elsewhere Alt is an ESC before the key's bytes, Ctrl makes a control
//! character where there is one, and what cannot be expressed is dropped.

use super::key::{Key, KeyPress, KeypadKey, Modifiers};
use super::layout;
use super::modes::InputModes;

pub(super) fn encode(press: KeyPress, modes: &InputModes) -> Vec<u8> {
    let KeyPress { key, modifiers } = press;
    let shift = modifiers.contains(Modifiers::SHIFT);
    let ctrl = modifiers.contains(Modifiers::CTRL);
    match key {
        Key::Char(character) => {
            let typed = if shift { layout::shifted(character) } else { character };
            let control = layout::control(typed).filter(|_| ctrl);
            escaped(
                modifiers,
                control.map_or_else(|| typed.to_string().into_bytes(), |byte| vec![byte]),
            )
        }
        Key::Enter if modes.newline_mode => escaped(modifiers, b"\r\n".to_vec()),
        Key::Enter => escaped(modifiers, b"\r".to_vec()),
        Key::Tab if shift => escaped(modifiers, b"\x1b[Z".to_vec()),
        Key::Tab => escaped(modifiers, b"\t".to_vec()),
        Key::Backspace if ctrl => escaped(modifiers, b"\x08".to_vec()),
        Key::Backspace => escaped(modifiers, b"\x7f".to_vec()),
        Key::Escape => escaped(modifiers, b"\x1b".to_vec()),
        Key::Keypad(pad) => keypad(pad, modifiers, modes),
        Key::Menu => sequence(29, '~', modifiers, modes),
        Key::F(3) => sequence(1, 'R', modifiers, modes),
        // The thirteenth key and its followers are the first twelve with Shift: kf13 to kf24.
        Key::F(number @ 13..=24) => {
            let base =
                KeyPress { key: Key::F(number - 12), modifiers: modifiers | Modifiers::SHIFT };
            encode(base, modes)
        }
        _ => match key.functional() {
            Some((number, last)) => sequence(number, last, modifiers, modes),
            None => Vec::new(),
        },
    }
}

fn escaped(modifiers: Modifiers, mut bytes: Vec<u8>) -> Vec<u8> {
    if modifiers.contains(Modifiers::ALT) {
        bytes.insert(0, b'\x1b');
    }
    bytes
}

/// A control sequence, in its SS3 form for F1 to F4 and for cursor keys in application mode.
fn sequence(number: u32, last: char, modifiers: Modifiers, modes: &InputModes) -> Vec<u8> {
    let ss3 = matches!(last, 'P'..='S') || modes.app_cursor;
    match (number, modifiers.is_empty()) {
        (1, true) if ss3 => format!("\x1bO{last}"),
        (1, true) => format!("\x1b[{last}"),
        (_, true) => format!("\x1b[{number}{last}"),
        (_, false) => format!("\x1b[{number};{}{last}", modifiers.param()),
    }
    .into_bytes()
}

fn keypad(pad: KeypadKey, modifiers: Modifiers, modes: &InputModes) -> Vec<u8> {
    if pad == KeypadKey::Begin {
        return sequence(1, 'E', modifiers, modes);
    }
    if modes.app_keypad
        && let Some(code) = application_code(pad)
    {
        let held = if modifiers.is_empty() { String::new() } else { modifiers.param().to_string() };
        return format!("\x1bO{held}{code}").into_bytes();
    }
    let Some(key) = pad.equivalent() else {
        return Vec::new();
    };
    // xterm sends a keypad key's character whatever is held with it; Alt alone is kept, as
    // everywhere.
    let kept = if matches!(key, Key::Char(_)) { modifiers & Modifiers::ALT } else { modifiers };
    encode(KeyPress { key, modifiers: kept }, modes)
}

/// The final character that stands for a key in application keypad mode (DECKPAM).
fn application_code(pad: KeypadKey) -> Option<char> {
    Some(match pad {
        KeypadKey::Digit(digit @ 0..=9) => char::from(b'p' + digit),
        KeypadKey::Enter => 'M',
        KeypadKey::Equal => 'X',
        KeypadKey::Multiply => 'j',
        KeypadKey::Plus => 'k',
        KeypadKey::Separator => 'l',
        KeypadKey::Minus => 'm',
        KeypadKey::Decimal => 'n',
        KeypadKey::Divide => 'o',
        _ => return None,
    })
}
