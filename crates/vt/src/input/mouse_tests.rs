//! Mouse events in every tracking mode and encoding.

use super::{
    InputModes, Modifiers, MouseAction, MouseButton, MouseEncoding, MouseError, MouseEvent,
    MouseTracking, encode_mouse,
};
use MouseAction::{Click, DoubleClick, Drag, Move, Press, Release, ScrollDown, ScrollLeft};
use MouseAction::{ScrollRight, ScrollUp};

fn modes(mouse: MouseTracking, mouse_encoding: MouseEncoding) -> InputModes {
    InputModes { mouse, mouse_encoding, ..InputModes::default() }
}

fn at(action: MouseAction, button: MouseButton, row: u16, col: u16) -> MouseEvent {
    MouseEvent { action, button, row, col, modifiers: Modifiers::empty() }
}

fn sent(event: &MouseEvent, modes: &InputModes) -> String {
    encode_mouse(event, modes).unwrap().escape_ascii().to_string()
}

#[test]
fn sgr_writes_every_action() {
    let rows = [
        (Press, MouseButton::Left, r"\x1b[<0;6;3M"),
        (Release, MouseButton::Left, r"\x1b[<0;6;3m"),
        (Click, MouseButton::Left, r"\x1b[<0;6;3M\x1b[<0;6;3m"),
        (Click, MouseButton::Middle, r"\x1b[<1;6;3M\x1b[<1;6;3m"),
        (Click, MouseButton::Right, r"\x1b[<2;6;3M\x1b[<2;6;3m"),
        (Press, MouseButton::Back, r"\x1b[<128;6;3M"),
        (Press, MouseButton::Forward, r"\x1b[<129;6;3M"),
        (DoubleClick, MouseButton::Left, r"\x1b[<0;6;3M\x1b[<0;6;3m\x1b[<0;6;3M\x1b[<0;6;3m"),
        (Move, MouseButton::None, r"\x1b[<35;6;3M"),
        (Move, MouseButton::Left, r"\x1b[<32;6;3M"),
        (ScrollUp, MouseButton::None, r"\x1b[<64;6;3M"),
        (ScrollDown, MouseButton::None, r"\x1b[<65;6;3M"),
        (ScrollLeft, MouseButton::None, r"\x1b[<66;6;3M"),
        (ScrollRight, MouseButton::None, r"\x1b[<67;6;3M"),
        (
            Drag { to: (2, 7) },
            MouseButton::Left,
            r"\x1b[<0;6;3M\x1b[<32;7;3M\x1b[<32;8;3M\x1b[<0;8;3m",
        ),
        (
            Drag { to: (0, 4) },
            MouseButton::Right,
            r"\x1b[<2;6;3M\x1b[<34;6;2M\x1b[<34;5;1M\x1b[<2;5;1m",
        ),
        (Drag { to: (2, 5) }, MouseButton::Left, r"\x1b[<0;6;3M\x1b[<0;6;3m"),
    ];
    let modes = modes(MouseTracking::AnyMotion, MouseEncoding::Sgr);
    for (action, button, expected) in rows {
        assert_eq!(sent(&at(action, button, 2, 5), &modes), expected, "{action:?} {button:?}");
    }
}

#[test]
fn each_encoding_writes_its_own_form() {
    let rows = [
        (MouseEncoding::Default, r"\x1b[M &#\x1b[M#&#"),
        (MouseEncoding::Utf8, r"\x1b[M &#\x1b[M#&#"),
        (MouseEncoding::Sgr, r"\x1b[<0;6;3M\x1b[<0;6;3m"),
        (MouseEncoding::Urxvt, r"\x1b[32;6;3M\x1b[35;6;3M"),
        (MouseEncoding::SgrPixels, r"\x1b[<0;45;41M\x1b[<0;45;41m"),
    ];
    for (encoding, expected) in rows {
        let modes = modes(MouseTracking::Normal, encoding);
        assert_eq!(sent(&at(Click, MouseButton::Left, 2, 5), &modes), expected, "{encoding:?}");
    }
    let pixels = InputModes {
        cell_pixels: (10, 20),
        ..modes(MouseTracking::Normal, MouseEncoding::SgrPixels)
    };
    assert_eq!(sent(&at(Press, MouseButton::Left, 65535, 0), &pixels), r"\x1b[<0;6;1310711M");
}

#[test]
fn modifiers_are_bits_of_the_button() {
    let rows = [
        (Modifiers::SHIFT, 4),
        (Modifiers::ALT, 8),
        (Modifiers::CTRL, 16),
        (Modifiers::CTRL | Modifiers::SHIFT, 20),
        (Modifiers::SUPER, 0),
    ];
    for (modifiers, bits) in rows {
        let event = MouseEvent { modifiers, ..at(Press, MouseButton::Left, 0, 0) };
        let sgr = modes(MouseTracking::Normal, MouseEncoding::Sgr);
        assert_eq!(sent(&event, &sgr), format!(r"\x1b[<{bits};1;1M"));
        let x10 = modes(MouseTracking::X10, MouseEncoding::Sgr);
        assert_eq!(sent(&event, &x10), r"\x1b[<0;1;1M");
    }
}

#[test]
fn positions_end_where_the_encoding_ends() {
    let default = modes(MouseTracking::Normal, MouseEncoding::Default);
    let last = at(Press, MouseButton::Left, 222, 222);
    assert_eq!(encode_mouse(&last, &default), Ok(vec![0x1b, b'[', b'M', 32, 255, 255]));
    let beyond = at(Press, MouseButton::Left, 0, 223);
    let error = encode_mouse(&beyond, &default).unwrap_err();
    assert!(matches!(error, MouseError::OutOfRange { limit: 223, .. }), "{error}");
    assert!(error.to_string().contains("223 rows and columns"), "{error}");
    let drag = at(Drag { to: (300, 0) }, MouseButton::Left, 0, 0);
    assert!(matches!(encode_mouse(&drag, &default), Err(MouseError::OutOfRange { .. })));

    let utf8 = modes(MouseTracking::Normal, MouseEncoding::Utf8);
    let far = at(Press, MouseButton::Left, 0, 2014);
    assert_eq!(encode_mouse(&far, &utf8), Ok("\x1b[M \u{7ff}!".as_bytes().to_vec()));
    let beyond = at(Press, MouseButton::Left, 2015, 0);
    assert!(matches!(
        encode_mouse(&beyond, &utf8),
        Err(MouseError::OutOfRange { limit: 2015, .. })
    ));
    let side = at(Press, MouseButton::Forward, 0, 0);
    assert_eq!(encode_mouse(&side, &utf8), Ok("\x1b[M\u{a1}!!".as_bytes().to_vec()));
}

#[test]
fn what_the_program_did_not_ask_for_is_an_error() {
    let left = MouseButton::Left;
    let rows = [
        (MouseTracking::Off, Click, left, MouseError::NotTracking),
        (MouseTracking::Off, ScrollUp, left, MouseError::NotTracking),
        (MouseTracking::X10, Release, left, MouseError::OnlyPresses),
        (MouseTracking::X10, Drag { to: (1, 1) }, left, MouseError::OnlyPresses),
        (MouseTracking::X10, Move, left, MouseError::OnlyClicks),
        (MouseTracking::Normal, Move, left, MouseError::OnlyClicks),
        (MouseTracking::ButtonMotion, Move, MouseButton::None, MouseError::OnlyHeldMotion),
        (MouseTracking::Normal, Click, MouseButton::None, MouseError::NoButton),
        (MouseTracking::Normal, Release, MouseButton::None, MouseError::NoButton),
    ];
    for (tracking, action, button, expected) in rows {
        let result = encode_mouse(&at(action, button, 0, 0), &modes(tracking, MouseEncoding::Sgr));
        assert_eq!(result, Err(expected), "{tracking:?} {action:?}");
    }
}

#[test]
fn poorer_modes_send_what_they_can() {
    let click = at(Click, MouseButton::Left, 0, 0);
    let x10 = modes(MouseTracking::X10, MouseEncoding::Default);
    assert_eq!(sent(&click, &x10), r"\x1b[M !!");
    let drag = at(Drag { to: (0, 9) }, MouseButton::Left, 0, 0);
    let normal = modes(MouseTracking::Normal, MouseEncoding::Sgr);
    assert_eq!(sent(&drag, &normal), r"\x1b[<0;1;1M\x1b[<0;10;1m");
    let held = modes(MouseTracking::ButtonMotion, MouseEncoding::Sgr);
    assert_eq!(sent(&at(Move, MouseButton::Left, 0, 0), &held), r"\x1b[<32;1;1M");
    let long = at(Drag { to: (60000, 100) }, MouseButton::Left, 0, 0);
    let reports = sent(&long, &held);
    assert_eq!(reports.matches(r"\x1b").count(), 34);
    assert!(reports.contains("<32;101;60001M"));
}

#[test]
fn the_wheel_is_cursor_keys_on_the_alternate_screen() {
    let off =
        InputModes { alternate_screen: true, alternate_scroll: true, ..InputModes::default() };
    let up = at(ScrollUp, MouseButton::None, 0, 0);
    let down = at(ScrollDown, MouseButton::None, 0, 0);
    assert_eq!(sent(&up, &off), r"\x1b[A\x1b[A\x1b[A");
    let app_cursor = InputModes { app_cursor: true, ..off.clone() };
    assert_eq!(sent(&down, &app_cursor), r"\x1bOB\x1bOB\x1bOB");
    let tilt = at(ScrollLeft, MouseButton::None, 0, 0);
    assert_eq!(encode_mouse(&tilt, &off), Err(MouseError::NotTracking));
    let main_screen = InputModes { alternate_screen: false, ..off.clone() };
    assert_eq!(encode_mouse(&up, &main_screen), Err(MouseError::NotTracking));
    let tracked = InputModes { mouse: MouseTracking::Normal, ..off };
    assert_eq!(sent(&up, &tracked), r"\x1b[M`!!");
}
