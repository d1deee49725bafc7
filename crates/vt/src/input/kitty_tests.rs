//! Bytes of keys under each level of the kitty keyboard protocol.

use super::{InputItem, InputModes, KeyPress, KittyFlags, encode_items, encode_press, parse_keys};

const ONE: KittyFlags = KittyFlags::DISAMBIGUATE;
const ALL: KittyFlags = KittyFlags::ALL_AS_ESCAPE;

fn modes(kitty: KittyFlags) -> InputModes {
    // The other modes must not matter under the protocol.
    InputModes {
        kitty,
        app_cursor: true,
        app_keypad: true,
        modify_other_keys: 2,
        ..InputModes::default()
    }
}

fn check(kitty: KittyFlags, rows: &[(&str, &str)]) {
    for (name, expected) in rows {
        let press: KeyPress = name.parse().unwrap();
        let bytes = encode_press(&press, &modes(kitty));
        assert_eq!(
            bytes.escape_ascii().to_string(),
            expected.as_bytes().escape_ascii().to_string(),
            "{name}"
        );
    }
}

/// What no flag but `ALL_AS_ESCAPE` changes from level 1.
const LEVEL_1: &[(&str, &str)] = &[
    ("a", "a"),
    ("A", "A"),
    ("Shift+a", "A"),
    ("Shift+1", "!"),
    ("é", "é"),
    ("Space", " "),
    ("Shift+Space", " "),
    ("Enter", "\r"),
    ("Tab", "\t"),
    ("Backspace", "\x7f"),
    ("Escape", "\x1b[27u"),
    ("Shift+Enter", "\x1b[13;2u"),
    ("Ctrl+Enter", "\x1b[13;5u"),
    ("BackTab", "\x1b[9;2u"),
    ("Ctrl+Tab", "\x1b[9;5u"),
    ("Ctrl+Shift+Tab", "\x1b[9;6u"),
    ("Ctrl+Backspace", "\x1b[127;5u"),
    ("Alt+Escape", "\x1b[27;3u"),
    ("Ctrl+c", "\x1b[99;5u"),
    ("Ctrl+i", "\x1b[105;5u"),
    ("Alt+a", "\x1b[97;3u"),
    ("Alt+[", "\x1b[91;3u"),
    ("Ctrl+Alt+a", "\x1b[97;7u"),
    ("Super+a", "\x1b[97;9u"),
    ("Ctrl+Space", "\x1b[32;5u"),
    ("Ctrl++", "\x1b[43;5u"),
    ("Ctrl+é", "\x1b[233;5u"),
    ("Up", "\x1b[A"),
    ("Home", "\x1b[H"),
    ("Ctrl+Up", "\x1b[1;5A"),
    ("Super+Left", "\x1b[1;9D"),
    ("Insert", "\x1b[2~"),
    ("Ctrl+Delete", "\x1b[3;5~"),
    ("PageUp", "\x1b[5~"),
    ("F1", "\x1b[P"),
    ("F2", "\x1b[Q"),
    ("F3", "\x1b[13~"),
    ("F4", "\x1b[S"),
    ("Ctrl+F1", "\x1b[1;5P"),
    ("Ctrl+F3", "\x1b[13;5~"),
    ("F5", "\x1b[15~"),
    ("F12", "\x1b[24~"),
    ("Shift+F12", "\x1b[24;2~"),
    ("F13", "\x1b[57376u"),
    ("F24", "\x1b[57387u"),
    ("Ctrl+F20", "\x1b[57383;5u"),
    ("KP5", "5"),
    ("KPPlus", "+"),
    ("KPEnter", "\x1b[57414u"),
    ("Ctrl+KP5", "\x1b[57404;5u"),
    ("KPUp", "\x1b[57419u"),
    ("KPDelete", "\x1b[57426u"),
    ("KPBegin", "\x1b[E"),
    ("Menu", "\x1b[57363u"),
    ("PrintScreen", "\x1b[57361u"),
    ("Pause", "\x1b[57362u"),
    ("CapsLock", ""),
    ("NumLock", ""),
];

#[test]
fn level_1_disambiguates() {
    check(ONE, LEVEL_1);
    check(ONE, &[("Ctrl+Shift+a", "\x1b[97;6u"), ("Alt+Shift+1", "\x1b[49;4u")]);
}

#[test]
fn event_types_and_text_change_no_press() {
    check(ONE | KittyFlags::EVENT_TYPES, LEVEL_1);
    check(ONE | KittyFlags::EVENT_TYPES | KittyFlags::ASSOCIATED_TEXT, LEVEL_1);
}

#[test]
fn alternate_keys_name_the_shifted_key() {
    let flags = ONE | KittyFlags::ALTERNATE_KEYS;
    check(flags, LEVEL_1);
    check(
        flags,
        &[
            ("Ctrl+Shift+a", "\x1b[97:65;6u"),
            ("Alt+Shift+1", "\x1b[49:33;4u"),
            ("M-A", "\x1b[97:65;4u"),
            ("Ctrl+Shift+é", "\x1b[233:201;6u"),
            ("Ctrl+Shift+Space", "\x1b[32;6u"),
            ("Ctrl+Shift+Up", "\x1b[1;6A"),
        ],
    );
}

#[test]
fn all_keys_as_escape_codes() {
    let rows = [
        ("a", "\x1b[97u"),
        ("A", "\x1b[97;2u"),
        ("Shift+a", "\x1b[97;2u"),
        ("!", "\x1b[33u"),
        ("Shift+1", "\x1b[49;2u"),
        ("é", "\x1b[233u"),
        ("É", "\x1b[233;2u"),
        ("日", "\x1b[26085u"),
        ("Space", "\x1b[32u"),
        ("Enter", "\x1b[13u"),
        ("Tab", "\x1b[9u"),
        ("BackTab", "\x1b[9;2u"),
        ("Backspace", "\x1b[127u"),
        ("Escape", "\x1b[27u"),
        ("Ctrl+c", "\x1b[99;5u"),
        ("Up", "\x1b[A"),
        ("F3", "\x1b[13~"),
        ("KP5", "\x1b[57404u"),
        ("KPEnter", "\x1b[57414u"),
        ("CapsLock", "\x1b[57358u"),
        ("ScrollLock", "\x1b[57359u"),
        ("NumLock", "\x1b[57360u"),
    ];
    check(ALL, &rows);
    check(ONE | ALL | KittyFlags::EVENT_TYPES, &rows);
}

#[test]
fn everything_at_once() {
    check(
        KittyFlags::all(),
        &[
            ("a", "\x1b[97;;97u"),
            ("A", "\x1b[97:65;2;65u"),
            ("Shift+1", "\x1b[49:33;2;33u"),
            ("!", "\x1b[33;;33u"),
            ("Space", "\x1b[32;;32u"),
            ("Enter", "\x1b[13u"),
            ("Ctrl+a", "\x1b[97;5u"),
            ("Alt+a", "\x1b[97;3u"),
            ("Ctrl+Shift+a", "\x1b[97:65;6u"),
            ("Super+a", "\x1b[97;9u"),
            ("KP5", "\x1b[57404;;53u"),
            ("KPDivide", "\x1b[57410;;47u"),
            ("Up", "\x1b[A"),
            ("Shift+F1", "\x1b[1;2P"),
            ("ß", "\x1b[223;;223u"),
        ],
    );
}

#[test]
fn flags_that_ask_for_no_escape_codes_leave_keys_as_they_were() {
    for flags in [KittyFlags::EVENT_TYPES, KittyFlags::ALTERNATE_KEYS, KittyFlags::ASSOCIATED_TEXT]
    {
        let modes = InputModes { kitty: flags, ..InputModes::default() };
        for name in ["Escape", "Ctrl+Shift+a", "F1", "Up", "Shift+Tab", "KPEnter"] {
            let press: KeyPress = name.parse().unwrap();
            assert_eq!(encode_press(&press, &modes), encode_press(&press, &InputModes::default()));
        }
    }
}

#[test]
fn text_is_pressed_key_by_key_when_all_keys_are_escape_codes() {
    let items = parse_keys("aB\u{3}<Enter>").unwrap();
    assert_eq!(encode_items(&items, &modes(ONE)), b"aB\x03\r");
    assert_eq!(encode_items(&items, &modes(ALL)), b"\x1b[97u\x1b[98;2u\x03\x1b[13u");
    let text = [InputItem::Text("aB\u{3}\n".into())];
    assert_eq!(encode_items(&text, &modes(ONE)), b"aB\x03\r");
    assert_eq!(encode_items(&text, &modes(ALL)), b"\x1b[97u\x1b[98;2u\x03\x1b[13u");
    let with_text = ALL | KittyFlags::ASSOCIATED_TEXT;
    let expected = b"\x1b[97;;97u\x1b[98;2;66u\x03\x1b[13u";
    assert_eq!(encode_items(&items, &modes(with_text)), expected);
}
