//! xterm's `modifyOtherKeys`: `CSI 27 ; modifiers ; code ~` for keys that are not functional.
//!
//! Level 1 leaves alone every combination with a well-known meaning: Shift and Alt with a
//! character, Ctrl with a character that has a control character, Backspace, Escape. Level 2 covers
//! these too, except a shifted character, which stays a character. (xterm itself marks shifted
//! letters at level 2; hardly a program expects it, and other terminals do not.)

use super::key::{Key, KeyPress, Modifiers};
use super::layout;
use super::modes::InputModes;

/// The sequence for a press, when the level covers it.
pub(super) fn encode(press: KeyPress, modes: &InputModes) -> Option<Vec<u8>> {
    let KeyPress { key, modifiers } = press;
    if modes.modify_other_keys == 0 || modifiers.is_empty() {
        return None;
    }
    let code = match key {
        Key::Char(c) if modifiers.contains(Modifiers::SHIFT) => u32::from(layout::shifted(c)),
        Key::Char(c) => u32::from(c),
        Key::Enter => 13,
        Key::Tab => 9,
        Key::Escape => 27,
        Key::Backspace => 127,
        _ => return None,
    };
    let covered = match modes.modify_other_keys {
        1 => level_1(key, code, modifiers),
        _ => level_2(key, modifiers),
    };
    covered.then(|| format!("\x1b[27;{};{code}~", modifiers.param()).into_bytes())
}

fn level_1(key: Key, code: u32, modifiers: Modifiers) -> bool {
    // Super has no other way to be told.
    if modifiers.contains(Modifiers::SUPER) {
        return true;
    }
    match key {
        Key::Char(_) => {
            let control = char::from_u32(code).and_then(layout::control);
            modifiers.contains(Modifiers::CTRL) && control.is_none()
        }
        Key::Enter => !modifiers.contains(Modifiers::ALT),
        Key::Tab => !modifiers.intersects(Modifiers::ALT | Modifiers::SHIFT),
        _ => false,
    }
}

fn level_2(key: Key, modifiers: Modifiers) -> bool {
    match key {
        Key::Char(' ') | Key::Enter => true,
        Key::Backspace => modifiers != Modifiers::CTRL,
        _ => modifiers != Modifiers::SHIFT,
    }
}
