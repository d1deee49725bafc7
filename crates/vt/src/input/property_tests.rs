//! Properties: names round-trip, and no input makes anything panic.

use proptest::prelude::*;

use super::{
    InputItem, InputModes, Key, KeyPress, KeypadKey, KittyFlags, MAX_INPUT_ITEMS, Modifiers,
    MouseAction, MouseButton, MouseEncoding, MouseEvent, MouseTracking, encode_items, encode_mouse,
    encode_paste, encode_press, known_key_names, nearest_key_name, parse_keys,
};

fn any_key() -> impl Strategy<Value = Key> {
    let names: Vec<&str> = known_key_names().collect();
    prop_oneof![
        any::<char>().prop_map(Key::Char),
        proptest::char::range(' ', '~').prop_map(Key::Char),
        proptest::sample::select(names).prop_map(|name| name.parse::<KeyPress>().unwrap().key),
    ]
}

fn any_press() -> impl Strategy<Value = KeyPress> {
    (any_key(), 0..16u8)
        .prop_map(|(key, bits)| KeyPress::new(key, Modifiers::from_bits_truncate(bits)))
}

fn any_modes() -> impl Strategy<Value = InputModes> {
    let tracking = proptest::sample::select(vec![
        MouseTracking::Off,
        MouseTracking::X10,
        MouseTracking::Normal,
        MouseTracking::ButtonMotion,
        MouseTracking::AnyMotion,
    ]);
    let encoding = proptest::sample::select(vec![
        MouseEncoding::Default,
        MouseEncoding::Utf8,
        MouseEncoding::Sgr,
        MouseEncoding::Urxvt,
        MouseEncoding::SgrPixels,
    ]);
    (any::<[bool; 7]>(), 0..32u8, 0..4u8, tracking, encoding, any::<(u16, u16)>()).prop_map(
        |(on, kitty, modify_other_keys, mouse, mouse_encoding, cell_pixels)| InputModes {
            app_cursor: on[0],
            app_keypad: on[1],
            newline_mode: on[2],
            bracketed_paste: on[3],
            alternate_scroll: on[4],
            alternate_screen: on[5],
            focus_events: on[6],
            kitty: KittyFlags::from_bits_truncate(kitty),
            modify_other_keys,
            mouse,
            mouse_encoding,
            cell_pixels,
        },
    )
}

fn any_mouse_event() -> impl Strategy<Value = MouseEvent> {
    let action = (0..10u8, any::<(u16, u16)>()).prop_map(|(which, to)| match which {
        0 => MouseAction::Press,
        1 => MouseAction::Release,
        2 => MouseAction::Click,
        3 => MouseAction::DoubleClick,
        4 => MouseAction::Drag { to },
        5 => MouseAction::Move,
        6 => MouseAction::ScrollUp,
        7 => MouseAction::ScrollDown,
        8 => MouseAction::ScrollLeft,
        _ => MouseAction::ScrollRight,
    });
    let button = proptest::sample::select(vec![
        MouseButton::Left,
        MouseButton::Middle,
        MouseButton::Right,
        MouseButton::None,
        MouseButton::Back,
        MouseButton::Forward,
    ]);
    (action, button, any::<(u16, u16)>(), 0..16u8).prop_map(|(action, button, at, bits)| {
        MouseEvent {
            action,
            button,
            row: at.0,
            col: at.1,
            modifiers: Modifiers::from_bits_truncate(bits),
        }
    })
}

/// Strings made of the pieces that the parser looks for.
fn keyish() -> impl Strategy<Value = String> {
    let pieces = [
        "<", ">", "+", "-", "*", "^", "Ctrl", "C", "M", "S", "Alt", "Enter", "Entr", "Down", "3",
        "9999", " ", "\n", "a", "X", "é", "日", "kp", "KP_", "F", "1", "\u{1b}", "\0", "\r",
    ];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..12)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_press_reads_back_from_its_name(press in any_press()) {
        // Nothing types a C1 control character, and text is what one is read as.
        prop_assume!(!matches!(press.key, Key::Char(c) if c.is_control()));
        let name = press.to_string();
        prop_assert_eq!(name.parse(), Ok(press));
        prop_assert_eq!(parse_keys(&name), Ok(vec![InputItem::Press(press)]));
        prop_assert_eq!(name.to_ascii_lowercase().parse::<KeyPress>().is_ok(), true);
        let named = !matches!(press.key, Key::Char(c) if c != ' ');
        if named || !press.modifiers.is_empty() {
            let bracketed = format!("<{name}>");
            if !name.contains(char::is_whitespace) {
                prop_assert_eq!(parse_keys(&bracketed), Ok(vec![InputItem::Press(press)]));
            }
        }
    }

    #[test]
    fn a_canonical_press_stays_as_it_is(press in any_press()) {
        prop_assert_eq!(KeyPress::new(press.key, press.modifiers), press);
    }

    #[test]
    fn any_string_is_read_without_panic(input in any::<String>(), modes in any_modes()) {
        if let Ok(items) = parse_keys(&input) {
            prop_assert!(items.len() <= MAX_INPUT_ITEMS);
            encode_items(&items, &modes);
        }
        nearest_key_name(&input);
        encode_paste(&input, &modes);
    }

    #[test]
    fn strings_like_keys_are_read_without_panic(input in keyish(), modes in any_modes()) {
        match parse_keys(&input) {
            Ok(items) => drop(encode_items(&items, &modes)),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
        nearest_key_name(&input);
    }

    #[test]
    fn text_without_brackets_and_chords_is_sent_as_it_is(input in "qq[a-z ]{2,8}[ .,;!?0-9]{2,20}") {
        let sent = encode_items(&parse_keys(&input).unwrap(), &InputModes::default());
        prop_assert_eq!(sent, input.as_bytes());
    }

    #[test]
    fn a_press_is_one_sequence(press in any_press(), modes in any_modes()) {
        let bytes = encode_press(&press, &modes);
        prop_assert!(bytes.len() <= 40);
        // What the protocol sends as an escape code is one, from its CSI to its final byte.
        if modes.kitty.contains(KittyFlags::ALL_AS_ESCAPE) && !bytes.is_empty() {
            prop_assert!(bytes.starts_with(b"\x1b["));
            prop_assert_eq!(bytes.iter().filter(|byte| byte.is_ascii_alphabetic() || **byte == b'~').count(), 1);
        }
    }

    #[test]
    fn keys_that_do_not_exist_send_nothing(number in 25..=u8::MAX, modes in any_modes()) {
        prop_assert_eq!(encode_press(&Key::F(number).into(), &modes), b"");
        prop_assert_eq!(encode_press(&Key::F(0).into(), &modes), b"");
        let digit = Key::Keypad(KeypadKey::Digit(number));
        prop_assert_eq!(encode_press(&digit.into(), &modes), b"");
    }

    #[test]
    fn a_paste_holds_no_control_but_tab_and_return(input in any::<String>(), modes in any_modes()) {
        let bytes = encode_paste(&input, &modes);
        let text = String::from_utf8(bytes).unwrap();
        let inner = if modes.bracketed_paste {
            text.strip_prefix("\x1b[200~").unwrap().strip_suffix("\x1b[201~").unwrap()
        } else {
            &text
        };
        prop_assert!(inner.chars().all(|c| !c.is_control() || c == '\t' || c == '\r'));
    }

    #[test]
    fn any_mouse_event_is_written_or_refused(event in any_mouse_event(), modes in any_modes()) {
        match encode_mouse(&event, &modes) {
            Ok(bytes) => prop_assert!(!bytes.is_empty()),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
