//! Bytes of keys outside the kitty protocol, and of pasted text.

use super::{InputModes, KeyPress, encode_items, encode_paste, encode_press, parse_keys};

fn check(modes: &InputModes, rows: &[(&str, &str)]) {
    for (name, expected) in rows {
        let press: KeyPress = name.parse().unwrap();
        let bytes = encode_press(&press, modes);
        assert_eq!(
            bytes.escape_ascii().to_string(),
            expected.as_bytes().escape_ascii().to_string(),
            "{name}"
        );
    }
}

#[test]
fn plain_keys_are_what_terminfo_says() {
    let rows = [
        ("Enter", "\r"),
        ("Tab", "\t"),
        ("BackTab", "\x1b[Z"),
        ("Backspace", "\x7f"),
        ("Escape", "\x1b"),
        ("Space", " "),
        ("a", "a"),
        ("A", "A"),
        ("é", "é"),
        ("日", "日"),
        ("Up", "\x1b[A"),
        ("Down", "\x1b[B"),
        ("Right", "\x1b[C"),
        ("Left", "\x1b[D"),
        ("Home", "\x1b[H"),
        ("End", "\x1b[F"),
        ("Insert", "\x1b[2~"),
        ("Delete", "\x1b[3~"),
        ("PageUp", "\x1b[5~"),
        ("PageDown", "\x1b[6~"),
        ("Menu", "\x1b[29~"),
        ("F1", "\x1bOP"),
        ("F2", "\x1bOQ"),
        ("F3", "\x1bOR"),
        ("F4", "\x1bOS"),
        ("F5", "\x1b[15~"),
        ("F6", "\x1b[17~"),
        ("F7", "\x1b[18~"),
        ("F8", "\x1b[19~"),
        ("F9", "\x1b[20~"),
        ("F10", "\x1b[21~"),
        ("F11", "\x1b[23~"),
        ("F12", "\x1b[24~"),
        ("F13", "\x1b[1;2P"),
        ("F14", "\x1b[1;2Q"),
        ("F15", "\x1b[1;2R"),
        ("F16", "\x1b[1;2S"),
        ("F17", "\x1b[15;2~"),
        ("F18", "\x1b[17;2~"),
        ("F19", "\x1b[18;2~"),
        ("F20", "\x1b[19;2~"),
        ("F21", "\x1b[20;2~"),
        ("F22", "\x1b[21;2~"),
        ("F23", "\x1b[23;2~"),
        ("F24", "\x1b[24;2~"),
        ("CapsLock", ""),
        ("NumLock", ""),
        ("ScrollLock", ""),
        ("PrintScreen", ""),
        ("Pause", ""),
    ];
    check(&InputModes::default(), &rows);
}

#[test]
fn modified_functional_keys_carry_a_parameter() {
    let rows = [
        ("Shift+Up", "\x1b[1;2A"),
        ("Alt+Up", "\x1b[1;3A"),
        ("Alt+Shift+Up", "\x1b[1;4A"),
        ("Ctrl+Up", "\x1b[1;5A"),
        ("Ctrl+Shift+Up", "\x1b[1;6A"),
        ("Ctrl+Alt+Up", "\x1b[1;7A"),
        ("Ctrl+Alt+Shift+Up", "\x1b[1;8A"),
        ("Super+Up", "\x1b[1;9A"),
        ("Shift+Super+Up", "\x1b[1;10A"),
        ("Ctrl+Alt+Shift+Super+Up", "\x1b[1;16A"),
        ("Ctrl+Right", "\x1b[1;5C"),
        ("Ctrl+Left", "\x1b[1;5D"),
        ("Shift+Home", "\x1b[1;2H"),
        ("Ctrl+End", "\x1b[1;5F"),
        ("Shift+Insert", "\x1b[2;2~"),
        ("Ctrl+Delete", "\x1b[3;5~"),
        ("Alt+PageUp", "\x1b[5;3~"),
        ("Ctrl+PageDown", "\x1b[6;5~"),
        ("Shift+F1", "\x1b[1;2P"),
        ("Ctrl+F3", "\x1b[1;5R"),
        ("Alt+F4", "\x1b[1;3S"),
        ("Alt+Shift+F5", "\x1b[15;4~"),
        ("Ctrl+F12", "\x1b[24;5~"),
        ("Ctrl+F13", "\x1b[1;6P"),
        ("Alt+F20", "\x1b[19;4~"),
        ("Shift+Menu", "\x1b[29;2~"),
    ];
    check(&InputModes::default(), &rows);
    check(&InputModes { app_cursor: true, ..InputModes::default() }, &rows);
}

#[test]
fn characters_take_ctrl_alt_and_shift() {
    let rows = [
        ("Ctrl+A", "\x01"),
        ("Ctrl+c", "\x03"),
        ("Ctrl+Z", "\x1a"),
        ("Ctrl+Shift+C", "\x03"),
        ("Ctrl+Space", "\0"),
        ("Ctrl+@", "\0"),
        ("Ctrl+`", "\0"),
        ("Ctrl+2", "\0"),
        ("Ctrl+[", "\x1b"),
        ("Ctrl+3", "\x1b"),
        ("Ctrl+\\", "\x1c"),
        ("Ctrl+4", "\x1c"),
        ("Ctrl+]", "\x1d"),
        ("Ctrl+5", "\x1d"),
        ("Ctrl+^", "\x1e"),
        ("Ctrl+~", "\x1e"),
        ("Ctrl+6", "\x1e"),
        ("Ctrl+_", "\x1f"),
        ("Ctrl+7", "\x1f"),
        ("Ctrl+/", "\x1f"),
        ("Ctrl+?", "\x7f"),
        ("Ctrl+8", "\x7f"),
        ("Ctrl+1", "1"),
        ("Ctrl+9", "9"),
        ("Ctrl+;", ";"),
        ("Ctrl++", "+"),
        ("Ctrl+-", "-"),
        ("Ctrl+Shift+-", "\x1f"),
        ("Ctrl+Shift+2", "\0"),
        ("Shift+a", "A"),
        ("Shift+A", "A"),
        ("Shift+1", "!"),
        ("Shift+é", "É"),
        ("Shift+ß", "ß"),
        ("Shift+Space", " "),
        ("Alt+a", "\x1ba"),
        ("Alt+Shift+a", "\x1bA"),
        ("M-A", "\x1bA"),
        ("Alt+1", "\x1b1"),
        ("Alt+[", "\x1b["),
        ("Alt+é", "\x1bé"),
        ("Alt+Space", "\x1b "),
        ("Ctrl+Alt+a", "\x1b\x01"),
        ("Ctrl+Alt+Space", "\x1b\0"),
        ("Super+a", "a"),
        ("Ctrl+Super+c", "\x03"),
        ("Shift+Super+a", "A"),
        ("Alt+Super+a", "\x1ba"),
        ("Ctrl+Enter", "\r"),
        ("Shift+Enter", "\r"),
        ("Alt+Enter", "\x1b\r"),
        ("Ctrl+Tab", "\t"),
        ("Alt+Tab", "\x1b\t"),
        ("Ctrl+Shift+Tab", "\x1b[Z"),
        ("Alt+Shift+Tab", "\x1b\x1b[Z"),
        ("Ctrl+Backspace", "\x08"),
        ("Alt+Backspace", "\x1b\x7f"),
        ("Shift+Backspace", "\x7f"),
        ("Ctrl+Alt+Backspace", "\x1b\x08"),
        ("Ctrl+Escape", "\x1b"),
        ("Alt+Escape", "\x1b\x1b"),
    ];
    check(&InputModes::default(), &rows);
}

#[test]
fn modes_change_cursor_keys_keypad_and_enter() {
    let app_cursor = InputModes { app_cursor: true, ..InputModes::default() };
    check(
        &app_cursor,
        &[
            ("Up", "\x1bOA"),
            ("Down", "\x1bOB"),
            ("Right", "\x1bOC"),
            ("Left", "\x1bOD"),
            ("Home", "\x1bOH"),
            ("End", "\x1bOF"),
            ("KPUp", "\x1bOA"),
            ("KPBegin", "\x1bOE"),
            ("Delete", "\x1b[3~"),
            ("F1", "\x1bOP"),
            ("F5", "\x1b[15~"),
            ("Enter", "\r"),
        ],
    );
    check(
        &InputModes::default(),
        &[
            ("KP0", "0"),
            ("KP9", "9"),
            ("KPEnter", "\r"),
            ("KPPlus", "+"),
            ("KPMinus", "-"),
            ("KPMultiply", "*"),
            ("KPDivide", "/"),
            ("KPDecimal", "."),
            ("KPEqual", "="),
            ("KPSeparator", ","),
            ("KPHome", "\x1b[H"),
            ("KPPageUp", "\x1b[5~"),
            ("KPBegin", "\x1b[E"),
            ("KPDelete", "\x1b[3~"),
            ("Ctrl+KPUp", "\x1b[1;5A"),
            ("Ctrl+KP5", "5"),
            ("Alt+KP5", "\x1b5"),
        ],
    );
    let app_keypad = InputModes { app_keypad: true, ..InputModes::default() };
    check(
        &app_keypad,
        &[
            ("KP0", "\x1bOp"),
            ("KP5", "\x1bOu"),
            ("KP9", "\x1bOy"),
            ("KPEnter", "\x1bOM"),
            ("KPPlus", "\x1bOk"),
            ("KPMinus", "\x1bOm"),
            ("KPMultiply", "\x1bOj"),
            ("KPDivide", "\x1bOo"),
            ("KPDecimal", "\x1bOn"),
            ("KPEqual", "\x1bOX"),
            ("KPSeparator", "\x1bOl"),
            ("KPHome", "\x1b[H"),
            ("Ctrl+KP5", "\x1bO5u"),
            ("5", "5"),
            ("Enter", "\r"),
        ],
    );
    let newline = InputModes { newline_mode: true, ..InputModes::default() };
    check(&newline, &[("Enter", "\r\n"), ("KPEnter", "\r\n"), ("Alt+Enter", "\x1b\r\n")]);
}

#[test]
fn modify_other_keys_level_1_leaves_known_keys_alone() {
    let modes = InputModes { modify_other_keys: 1, ..InputModes::default() };
    check(
        &modes,
        &[
            ("a", "a"),
            ("Shift+a", "A"),
            ("Alt+a", "\x1ba"),
            ("Ctrl+a", "\x01"),
            ("Ctrl+Shift+a", "\x01"),
            ("Ctrl+Alt+a", "\x1b\x01"),
            ("Ctrl+Space", "\0"),
            ("Ctrl+2", "\0"),
            ("Ctrl+/", "\x1f"),
            ("Ctrl+?", "\x7f"),
            ("Ctrl+[", "\x1b"),
            ("Ctrl+;", "\x1b[27;5;59~"),
            ("Ctrl+1", "\x1b[27;5;49~"),
            ("Ctrl+-", "\x1b[27;5;45~"),
            ("Ctrl+Shift+1", "\x1b[27;6;33~"),
            ("Ctrl+Alt+;", "\x1b[27;7;59~"),
            ("Ctrl+Enter", "\x1b[27;5;13~"),
            ("Shift+Enter", "\x1b[27;2;13~"),
            ("Alt+Enter", "\x1b\r"),
            ("Ctrl+Tab", "\x1b[27;5;9~"),
            ("Shift+Tab", "\x1b[Z"),
            ("Alt+Tab", "\x1b\t"),
            ("Ctrl+Backspace", "\x08"),
            ("Alt+Escape", "\x1b\x1b"),
            ("Ctrl+Up", "\x1b[1;5A"),
            ("Super+a", "\x1b[27;9;97~"),
            ("Enter", "\r"),
            ("Escape", "\x1b"),
        ],
    );
}

#[test]
fn modify_other_keys_level_2_covers_the_rest() {
    let modes = InputModes { modify_other_keys: 2, ..InputModes::default() };
    check(
        &modes,
        &[
            ("a", "a"),
            ("A", "A"),
            ("Shift+a", "A"),
            ("Shift+1", "!"),
            ("Ctrl+a", "\x1b[27;5;97~"),
            ("Ctrl+Shift+a", "\x1b[27;6;65~"),
            ("Alt+a", "\x1b[27;3;97~"),
            ("Ctrl+Alt+a", "\x1b[27;7;97~"),
            ("Ctrl+i", "\x1b[27;5;105~"),
            ("Ctrl+m", "\x1b[27;5;109~"),
            ("Ctrl+[", "\x1b[27;5;91~"),
            ("Ctrl+Space", "\x1b[27;5;32~"),
            ("Shift+Space", "\x1b[27;2;32~"),
            ("Shift+Enter", "\x1b[27;2;13~"),
            ("Alt+Enter", "\x1b[27;3;13~"),
            ("Shift+Tab", "\x1b[Z"),
            ("Ctrl+Shift+Tab", "\x1b[27;6;9~"),
            ("Ctrl+Tab", "\x1b[27;5;9~"),
            ("Shift+Backspace", "\x1b[27;2;127~"),
            ("Ctrl+Backspace", "\x08"),
            ("Ctrl+Escape", "\x1b[27;5;27~"),
            ("Shift+Escape", "\x1b"),
            ("Ctrl+é", "\x1b[27;5;233~"),
            ("Enter", "\r"),
            ("Tab", "\t"),
            ("Shift+F5", "\x1b[15;2~"),
        ],
    );
}

#[test]
fn items_are_sent_in_order() {
    let modes = InputModes::default();
    let items = parse_keys("iHé<Escape>:wq<Enter><Up*2>").unwrap();
    assert_eq!(encode_items(&items, &modes), "iHé\x1b:wq\r\x1b[A\x1b[A".as_bytes());
    assert_eq!(encode_items(&parse_keys("a\tb\nc\u{3}").unwrap(), &modes), b"a\tb\rc\x03");
    assert_eq!(encode_items(&[], &modes), b"");
}

#[test]
fn pasted_text_cannot_escape() {
    let rows = [
        ("plain é\ttab", "plain é\ttab"),
        ("a\nb\r\nc\rd", "a\rb\rc\rd"),
        ("x\x1b[201~rm -rf\n", "xrm -rf\r"),
        ("x\u{9b}201~y", "xy"),
        ("\x1b[20\x1b[201~1~", "[201~"),
        ("bell\x07 nul\0 esc\x1b[A del\x7f c1\u{85}", "bell nul esc[A del c1"),
        ("", ""),
    ];
    let bracketed = InputModes { bracketed_paste: true, ..InputModes::default() };
    for (text, expected) in rows {
        assert_eq!(encode_paste(text, &InputModes::default()), expected.as_bytes(), "{text:?}");
        let wrapped = format!("\x1b[200~{expected}\x1b[201~");
        assert_eq!(encode_paste(text, &bracketed), wrapped.as_bytes(), "{text:?}");
    }
}
