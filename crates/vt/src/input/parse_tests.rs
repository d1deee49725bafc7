//! What is a key, what is text, and what is an error.

use super::{
    InputItem, Key, KeyError, KeyPress, KeypadKey, MAX_INPUT_BYTES, MAX_INPUT_ITEMS, MAX_REPEAT,
    Modifiers, known_key_names, nearest_key_name, parse_keys,
};

const NONE: Modifiers = Modifiers::empty();
const SHIFT: Modifiers = Modifiers::SHIFT;
const ALT: Modifiers = Modifiers::ALT;
const CTRL: Modifiers = Modifiers::CTRL;
const SUPER: Modifiers = Modifiers::SUPER;

fn press(key: Key, modifiers: Modifiers) -> InputItem {
    InputItem::Press(KeyPress { key, modifiers })
}

fn text(text: &str) -> InputItem {
    InputItem::Text(text.to_owned())
}

#[test]
fn a_key_name_or_chord_is_that_key() {
    let rows: &[(&str, Key, Modifiers)] = &[
        ("Enter", Key::Enter, NONE),
        ("enter", Key::Enter, NONE),
        ("RETURN", Key::Enter, NONE),
        ("Esc", Key::Escape, NONE),
        ("Del", Key::Delete, NONE),
        ("PgDn", Key::PageDown, NONE),
        ("page_up", Key::PageUp, NONE),
        ("ArrowLeft", Key::Left, NONE),
        ("Space", Key::Char(' '), NONE),
        (" ", Key::Char(' '), NONE),
        ("f24", Key::F(24), NONE),
        ("BackTab", Key::Tab, SHIFT),
        ("Ctrl+BackTab", Key::Tab, CTRL.union(SHIFT)),
        ("S-Tab", Key::Tab, SHIFT),
        ("a", Key::Char('a'), NONE),
        ("A", Key::Char('A'), NONE),
        ("+", Key::Char('+'), NONE),
        ("-", Key::Char('-'), NONE),
        ("<", Key::Char('<'), NONE),
        ("^", Key::Char('^'), NONE),
        ("é", Key::Char('é'), NONE),
        ("Ctrl+C", Key::Char('c'), CTRL),
        ("ctrl+c", Key::Char('c'), CTRL),
        ("CONTROL+c", Key::Char('c'), CTRL),
        ("C-x", Key::Char('x'), CTRL),
        ("C-X", Key::Char('x'), CTRL),
        ("M-x", Key::Char('x'), ALT),
        ("M-X", Key::Char('x'), ALT.union(SHIFT)),
        ("Alt+X", Key::Char('x'), ALT),
        ("Meta+x", Key::Char('x'), ALT),
        ("Option+x", Key::Char('x'), ALT),
        ("C-M-x", Key::Char('x'), CTRL.union(ALT)),
        ("M-C-Delete", Key::Delete, CTRL.union(ALT)),
        ("M-1", Key::Char('1'), ALT),
        ("C--", Key::Char('-'), CTRL),
        ("Ctrl-C", Key::Char('c'), CTRL),
        ("Ctrl-Alt-Delete", Key::Delete, CTRL.union(ALT)),
        ("Shift-Tab", Key::Tab, SHIFT),
        ("^C", Key::Char('c'), CTRL),
        ("^c", Key::Char('c'), CTRL),
        ("^[", Key::Char('['), CTRL),
        ("^^", Key::Char('^'), CTRL),
        ("^?", Key::Char('?'), CTRL),
        ("^@", Key::Char('@'), CTRL),
        ("Ctrl++", Key::Char('+'), CTRL),
        ("Ctrl+Plus", Key::Char('+'), CTRL),
        ("Ctrl+-", Key::Char('-'), CTRL),
        ("Ctrl+Shift++", Key::Char('+'), CTRL.union(SHIFT)),
        ("Ctrl+Space", Key::Char(' '), CTRL),
        ("Ctrl+@", Key::Char('@'), CTRL),
        ("Ctrl+[", Key::Char('['), CTRL),
        ("Ctrl+<", Key::Char('<'), CTRL),
        ("Alt+Shift+F5", Key::F(5), ALT.union(SHIFT)),
        ("shift+ALT+f5", Key::F(5), ALT.union(SHIFT)),
        ("Super+Left", Key::Left, SUPER),
        ("Cmd+k", Key::Char('k'), SUPER),
        ("Win+r", Key::Char('r'), SUPER),
        ("Super+Shift+Alt+Ctrl+Home", Key::Home, Modifiers::all()),
        ("KP5", Key::Keypad(KeypadKey::Digit(5)), NONE),
        ("KP_Enter", Key::Keypad(KeypadKey::Enter), NONE),
        ("Keypad_Add", Key::Keypad(KeypadKey::Plus), NONE),
        ("numpad0", Key::Keypad(KeypadKey::Digit(0)), NONE),
        ("kpsubtract", Key::Keypad(KeypadKey::Minus), NONE),
    ];
    for (written, key, modifiers) in rows {
        assert_eq!(parse_keys(written), Ok(vec![press(*key, *modifiers)]), "{written}");
        assert_eq!(written.parse(), Ok(KeyPress { key: *key, modifiers: *modifiers }), "{written}");
    }
}

#[test]
fn anything_else_is_text() {
    let rows = [
        "a+b",
        "a b c",
        "  ",
        " y",
        "y ",
        "docker compose up",
        "delete from users",
        "git show HEAD ^a",
        "grep ^a file",
        "dc -e 2",
        "dc",
        "ic",
        "C-style comments",
        "1+1",
        "foo+bar",
        "C-style",
        "a <b> c",
        "if (x<y)",
        "<div>",
        "</div>",
        "<>",
        "<<",
        ">>",
        "<b>",
        "<a*3>",
        "<div*0>",
        "<Enter",
        "<c-widget>",
        "<meta-data>",
        "a-b",
        "c-x",
        "A-1",
        "Option-A",
        "Ctrl",
        "<Ctrl>",
        "Ctrl+",
        "Ctrl+a+b",
        "C-",
        "^5",
        "^ab",
        "lt",
        "CR",
        "bs",
        "plus",
        "k0",
        "Down*3",
        "F25",
        "f0",
        "f05",
        "vec<lt",
        "x<y>z<w",
        "日本語<あ>",
        "\u{1b}[A",
        "\r",
        "\u{3}",
        "C+x",
        "Shift work",
        "<Nope>",
        "<F25>",
        "<gt>",
        "a<plus>b",
        "Foo<bar>",
    ];
    for written in rows {
        assert_eq!(parse_keys(written), Ok(vec![text(written)]), "{written}");
    }
    assert_eq!(parse_keys(""), Ok(vec![]));
}

#[test]
fn keys_are_separated_by_blanks() {
    let plain = |key| press(key, NONE);
    let character = |c| press(Key::Char(c), NONE);
    let ctrl = |c| press(Key::Char(c), CTRL);
    let rows: Vec<(&str, Vec<InputItem>)> = vec![
        ("C-x C-s", vec![ctrl('x'), ctrl('s')]),
        ("Ctrl+x Ctrl+s", vec![ctrl('x'), ctrl('s')]),
        ("Ctrl+X s", vec![ctrl('x'), character('s')]),
        ("^X ^C", vec![ctrl('x'), ctrl('c')]),
        ("Down Down Enter", vec![plain(Key::Down), plain(Key::Down), plain(Key::Enter)]),
        ("down down enter", vec![plain(Key::Down), plain(Key::Down), plain(Key::Enter)]),
        ("Escape Escape", vec![plain(Key::Escape), plain(Key::Escape)]),
        ("C-b c", vec![ctrl('b'), character('c')]),
        ("C-b \"", vec![ctrl('b'), character('"')]),
        ("C-b <", vec![ctrl('b'), character('<')]),
        ("M-x RET", vec![press(Key::Char('x'), ALT), plain(Key::Enter)]),
        ("y Enter", vec![character('y'), plain(Key::Enter)]),
        ("2 Enter", vec![character('2'), plain(Key::Enter)]),
        ("Escape : w q Enter", {
            let escape = plain(Key::Escape);
            vec![escape, character(':'), character('w'), character('q'), plain(Key::Enter)]
        }),
        ("  Tab   Home ", vec![plain(Key::Tab), plain(Key::Home)]),
        ("Enter ", vec![plain(Key::Enter)]),
        (" F5", vec![plain(Key::F(5))]),
        ("NPage PPage", vec![plain(Key::PageDown), plain(Key::PageUp)]),
        ("BSpace DC IC", vec![plain(Key::Backspace), plain(Key::Delete), plain(Key::Insert)]),
        ("BTab KPEnter", vec![press(Key::Tab, SHIFT), plain(Key::Keypad(KeypadKey::Enter))]),
        ("KP+ KP/", {
            let keypad = |key| plain(Key::Keypad(key));
            vec![keypad(KeypadKey::Plus), keypad(KeypadKey::Divide)]
        }),
        ("Down\n", vec![plain(Key::Down), plain(Key::Enter)]),
        ("Escape\r\nj\tUp", {
            let (escape, enter) = (plain(Key::Escape), plain(Key::Enter));
            vec![escape, enter, character('j'), plain(Key::Tab), plain(Key::Up)]
        }),
    ];
    for (written, items) in rows {
        assert_eq!(parse_keys(written), Ok(items), "{written:?}");
    }
}

#[test]
fn a_mixture_of_keys_and_text_is_refused_with_both_spellings() {
    let rows = [
        ("Enter name", "<Enter>name"),
        ("ls Enter", "ls<Enter>"),
        ("ls -la  /tmp Enter", "ls -la /tmp<Enter>"),
        ("press Enter", "press<Enter>"),
        ("Escape :wq Enter", "<Escape>:wq<Enter>"),
        ("Down*3 Enter", "<Down*3><Enter>"),
        ("Ctrl+C to stop", "<Ctrl+C>to stop"),
        ("ctrl+x save", "<ctrl+x>save"),
        ("C-x save y", "<C-x>save y"),
        ("M-1 tank", "<M-1>tank"),
        ("name Enter\n", "name<Enter>"),
        ("ls Ctrl+Nope", "ls<Ctrl+Nope>"),
        ("M-x goto-line<Enter>", "<M-x>goto-line<Enter>"),
        ("C-a :quit<Enter>", "<C-a>:quit<Enter>"),
        ("Ctrl+x y<Enter>", "<Ctrl+x>y<Enter>"),
        ("Alt+x C-s<Enter> now", "<Alt+x><C-s><Enter> now"),
        ("C-c<Enter>", "<C-c><Enter>"),
    ];
    for (written, expected) in rows {
        match parse_keys(written) {
            Err(KeyError::Mixture { bracketed, .. }) => {
                assert_eq!(bracketed, expected, "{written}");
            }
            other => panic!("{written}: {other:?}"),
        }
    }
    let message = parse_keys("ls Enter").unwrap_err().to_string();
    assert!(message.contains("`ls<Enter>`") && message.contains("`text`"), "{message}");
    let long = format!("Enter {}", "é ".repeat(100_000));
    assert!(parse_keys(&format!("{long}name")).unwrap_err().to_string().len() < 600);
}

#[test]
fn text_holds_keys_in_brackets() {
    let enter = || press(Key::Enter, NONE);
    let down = || press(Key::Down, NONE);
    let rows: Vec<(&str, Vec<InputItem>)> = vec![
        (
            "iHello<Escape>:wq<Enter>",
            vec![text("iHello"), press(Key::Escape, NONE), text(":wq"), enter()],
        ),
        ("<Down*3>", vec![down(), down(), down()]),
        ("<C-x><C-s>", vec![press(Key::Char('x'), CTRL), press(Key::Char('s'), CTRL)]),
        ("<CR><Esc>", vec![enter(), press(Key::Escape, NONE)]),
        ("<BS><Del>", vec![press(Key::Backspace, NONE), press(Key::Delete, NONE)]),
        ("<lt>Enter>", vec![press(Key::Char('<'), NONE), text("Enter>")]),
        // Nothing of this begins with a chord.
        ("C-style code<CR>", vec![text("C-style code"), enter()]),
        ("^a b<CR>", vec![text("^a b"), enter()]),
        ("S-1 form<CR>", vec![text("S-1 form"), enter()]),
        ("press C-c<CR>", vec![text("press C-c"), enter()]),
        ("a<lt>b C-c", vec![text("a"), press(Key::Char('<'), NONE), text("b C-c")]),
        ("<Space><return>", vec![press(Key::Char(' '), NONE), enter()]),
        ("<Ctrl+>>", vec![press(Key::Char('>'), CTRL)]),
        ("<C-->", vec![press(Key::Char('-'), CTRL)]),
        ("<Ctrl+<>", vec![press(Key::Char('<'), CTRL)]),
        ("<Ctrl+*>", vec![press(Key::Char('*'), CTRL)]),
        ("<Ctrl+**2>", vec![press(Key::Char('*'), CTRL), press(Key::Char('*'), CTRL)]),
        ("<c-x>", vec![press(Key::Char('x'), CTRL)]),
        ("<A-x><D-x>", vec![press(Key::Char('x'), ALT), press(Key::Char('x'), SUPER)]),
        ("<M-X>", vec![press(Key::Char('x'), ALT.union(SHIFT))]),
        ("<C-S-x>", vec![press(Key::Char('x'), CTRL.union(SHIFT))]),
        ("<^C>", vec![press(Key::Char('c'), CTRL)]),
        (
            "<k0><kEnter>",
            vec![
                press(Key::Keypad(KeypadKey::Digit(0)), NONE),
                press(Key::Keypad(KeypadKey::Enter), NONE),
            ],
        ),
        ("a<<Up>", vec![text("a<"), press(Key::Up, NONE)]),
        ("a < b <Up> c", vec![text("a < b "), press(Key::Up, NONE), text(" c")]),
        ("ls\n", vec![text("ls"), enter()]),
        ("a\tb\r\nc", vec![text("a"), press(Key::Tab, NONE), text("b"), enter(), text("c")]),
        ("\n", vec![enter()]),
        ("\t", vec![press(Key::Tab, NONE)]),
        ("a\u{1b}b\rc", vec![text("a\u{1b}b\rc")]),
    ];
    for (written, items) in rows {
        assert_eq!(parse_keys(written), Ok(items), "{written:?}");
    }
}

#[test]
fn a_chord_without_a_key_is_an_error() {
    let rows = [
        ("Ctrl+Entr", Some("Ctrl+Enter")),
        ("Ctrl+Nope", Some("Ctrl+Home")),
        ("<Ctrl+Escpae>", Some("Ctrl+Escape")),
        ("<C-Nope>", Some("Ctrl+Home")),
        ("shift+ctrl+pagup", Some("Ctrl+Shift+PageUp")),
        ("<Ctrl-Zzzzzz>", None),
        ("Alt+F25", Some("Alt+F2")),
        ("<M-retrun*2>", Some("Alt+Enter")),
        ("Ctrl+x Ctrl+Hoem", Some("Ctrl+Home")),
        ("Ctrl+C<Enter>", Some("<Ctrl+C><Enter>")),
        ("text <Ctrl+Nope> text", Some("Ctrl+Home")),
    ];
    for (written, expected) in rows {
        match parse_keys(written) {
            Err(KeyError::UnknownKey { suggestion, .. }) => {
                assert_eq!(suggestion.as_deref(), expected, "{written}");
            }
            other => panic!("{written}: {other:?}"),
        }
    }
    for written in ["Ctrl+Alt", "<Ctrl+>", "<C->", "<Ctrl-Shift>", "<Ctrl+*3>"] {
        let result = parse_keys(written);
        assert!(matches!(result, Err(KeyError::MissingKey { .. })), "{written}: {result:?}");
    }
}

#[test]
fn errors_say_what_to_do() {
    let message = |written: &str| parse_keys(written).unwrap_err().to_string();
    assert_eq!(
        message("Ctrl+Entr"),
        "`Ctrl+Entr` names no key: `Entr` is not a key name; did you mean `Ctrl+Enter`?"
    );
    assert_eq!(
        message("<Down*0>"),
        "`Down*0` repeats its key 0 times: the count must be from 1 to 1000"
    );
    assert!(message("Ctrl+Zzzzzz").contains("names such as Enter"));
    assert_eq!(
        "Entr".parse::<KeyPress>().unwrap_err().to_string(),
        "`Entr` is not a key name; did you mean `Enter`?"
    );
}

#[test]
fn repeats_and_sizes_are_bounded() {
    assert_eq!(parse_keys("<Up*1000>").unwrap().len(), MAX_REPEAT);
    for written in ["<Up*0>", "<Up*1001>", "<Up*99999>", "<Up*99999999999999999999999>"] {
        assert!(matches!(parse_keys(written), Err(KeyError::Repeat { .. })), "{written}");
    }
    assert!(parse_keys(&"x".repeat(MAX_INPUT_BYTES)).is_ok());
    assert_eq!(
        parse_keys(&"x".repeat(MAX_INPUT_BYTES + 1)),
        Err(KeyError::TooLong { bytes: MAX_INPUT_BYTES + 1 })
    );
    assert_eq!(parse_keys(&"<Up*1000>".repeat(2000)), Err(KeyError::TooMany));
    assert_eq!(parse_keys(&"\n".repeat(MAX_INPUT_BYTES)).unwrap().len(), MAX_INPUT_BYTES);
    let full = format!("{}{}", "<Up*1000>".repeat(1048), "<Up*576>");
    assert_eq!(parse_keys(&full).unwrap().len(), MAX_INPUT_ITEMS);
    assert_eq!(parse_keys(&format!("{full}x")), Err(KeyError::TooMany));
    let brackets = "<".repeat(MAX_INPUT_BYTES);
    assert_eq!(parse_keys(&brackets), Ok(vec![text(&brackets)]));
    let long = format!("Ctrl+{}", "x".repeat(100));
    assert_eq!(parse_keys(&long), Ok(vec![text(&long)]));
}

#[test]
fn every_known_name_is_a_key_that_displays_as_itself() {
    assert!(known_key_names().count() > 70);
    for name in known_key_names().filter(|name| *name != "BackTab") {
        let press: KeyPress = name.parse().unwrap();
        assert_eq!(press.to_string(), name);
    }
    assert_eq!("BackTab".parse::<KeyPress>().unwrap().to_string(), "Shift+Tab");
    assert_eq!(
        "super+shift+ctrl+alt+a".parse::<KeyPress>().unwrap().to_string(),
        "Ctrl+Alt+Shift+Super+A"
    );
    assert_eq!("ctrl+shift+f5".parse::<KeyPress>().unwrap().to_string(), "Ctrl+Shift+F5");
}

#[test]
fn the_nearest_name_is_near() {
    let rows = [
        ("Entr", Some("Enter")),
        ("etner", Some("Enter")),
        ("bakcspace", Some("Backspace")),
        ("Pgup", Some("PageUp")),
        ("Ctrl+Spcae", Some("Ctrl+Space")),
        ("C-Entr", Some("Ctrl+Enter")),
        ("xylophone", None),
        ("x", None),
        ("", None),
    ];
    for (written, expected) in rows {
        assert_eq!(nearest_key_name(written).as_deref(), expected, "{written}");
    }
}

#[test]
fn control_characters_become_the_keys_that_make_them() {
    let rows = [
        ('\r', Key::Enter, NONE),
        ('\x1b', Key::Escape, NONE),
        ('\x7f', Key::Backspace, NONE),
        ('\0', Key::Char(' '), CTRL),
        ('\x01', Key::Char('a'), CTRL),
        ('\x1c', Key::Char('\\'), CTRL),
        ('\x1f', Key::Char('_'), CTRL),
    ];
    for (character, key, modifiers) in rows {
        assert_eq!(KeyPress::from(Key::Char(character)), KeyPress { key, modifiers });
    }
}
