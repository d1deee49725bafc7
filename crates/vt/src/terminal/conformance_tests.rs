//! What xterm's conformance tests look at, as xterm, the VT420 and the VT510 have it.

use crate::format::plain;
use crate::{Options, Size, Terminal};

fn fed(bytes: &str) -> Terminal {
    let mut terminal = Terminal::new(Size { cols: 20, rows: 5 }, Options::default());
    terminal.feed(bytes.as_bytes());
    terminal
}

fn replies(bytes: &str) -> String {
    String::from_utf8(fed(bytes).take_replies()).expect("answers are text")
}

fn text(bytes: &str) -> String {
    plain(&fed(bytes).screen().rows)
}

/// The state that another terminal has after it was fed a dump, and that it has after it was read from a record.
fn copies(terminal: &Terminal) -> [Terminal; 2] {
    let mut fed = Terminal::new(terminal.size(), Options::default());
    fed.feed(&terminal.dump().stream);
    fed.take_replies();
    let read = Terminal::from_bytes(&terminal.to_bytes(), Options::default());
    [fed, read.expect("the record is sound")]
}

fn checksum(bytes: &str, rectangle: &str) -> String {
    let reply = replies(&format!("{bytes}\x1b[7;1;{rectangle}*y"));
    let sum = reply.strip_prefix("\x1bP7!~").and_then(|rest| rest.strip_suffix("\x1b\\"));
    sum.unwrap_or_else(|| panic!("{reply:?}")).to_owned()
}

#[test]
fn the_checksum_of_an_empty_cell_is_that_of_a_blank() {
    let blank = "FFE0";
    for bytes in ["", "x\x1b[2J", "\tx", "  x\x1b[1;1H", "x\x1b[H\x1b[K", "x\x1b[H\x1b[X"] {
        assert_eq!(checksum(bytes, "1;1;1;1"), blank, "{bytes:?}");
    }
    assert_eq!(checksum("x", "1;1;1;1"), "FF88");
}

#[test]
fn blanks_behind_the_first_cell_add_nothing_to_the_checksum() {
    assert_eq!(checksum("a b  c", "1;1;1;20"), "FEDA", "a, b and c");
    assert_eq!(checksum("   a", "1;1;1;20"), "FF7F", "the first blank, and a");
    assert_eq!(checksum("a\x1b[7m \x1b[m", "1;1;1;20"), "FF5F", "a blank that can be seen counts");
}

#[test]
fn the_checksum_counts_the_vt100s_attributes_alone() {
    let table = [("1", 0x80), ("4", 0x10), ("5", 0x40), ("7", 0x20), ("8", 0), ("3", 0), ("31", 0)];
    for (sgr, value) in table {
        let expected = format!("{:04X}", 0x1_0000 - (u32::from('a') + value));
        assert_eq!(checksum(&format!("\x1b[{sgr}ma"), "1;1;1;1"), expected, "{sgr}");
    }
    assert_eq!(checksum("\x1b[1\"qa", "1;1;1;1"), "FF9F", "protection is not shown");
}

#[test]
fn the_checksum_can_be_extended() {
    let table = [
        ("1", "a", "1;1;1;1", "0061"),
        ("3", "\x1b[1ma", "1;1;1;1", "0061"),
        ("7", "a ", "1;1;1;4", "00C1"),
        ("15", "a ", "1;1;1;4", "0081"),
        ("15", "", "1;1;1;1", "0000"),
        ("1", "\u{20ac}", "1;1;1;1", "00AC"),
        ("23", "\u{20ac}", "1;1;1;1", "20AC"),
        ("7", "e\u{301}", "1;1;1;1", "0366"),
    ];
    for (extension, bytes, rectangle, sum) in table {
        let bytes = format!("\x1b[{extension}#y{bytes}");
        assert_eq!(checksum(&bytes, rectangle), sum, "{bytes:?}");
    }
}

#[test]
fn spa_protects_from_erasing_and_decsca_does_not() {
    for (erase, erased) in [("\x1b[J", ""), ("\x1b[2J", ""), ("\x1b[2K", ""), ("\x1b[3X", "")] {
        assert_eq!(text(&format!("ab\x1bVc\x1bW\x1b[H{erase}")), "  c", "{erase:?}");
        assert_eq!(text(&format!("ab\x1b[1\"qc\x1b[0\"q\x1b[H{erase}")), erased, "{erase:?}");
        let reset = format!("ab\x1bVc\x1bW\x1b[!p\x1b[H{erase}");
        assert_eq!(text(&reset), erased, "not after DECSTR: {erase:?}");
    }
    assert_eq!(text("ab\x1bVc\x1bWd\x1b[1;4H\x1b[1J"), "  c");
    assert_eq!(text("ab\x1bVc\x1bWd\x1b[1;4H\x1b[1K"), "  c");
    assert_eq!(text("a\x1bVb\x1bW\x1b[1;1;1;2${"), "", "DECSERA looks at DECSCA");
    assert_eq!(text("a\x1b[1\"qb\x1b[0\"q\x1b[1;1;1;2${"), " b");
    for mut copy in copies(&fed("\x1bV")) {
        copy.feed(b"a\x1bWb\x1b[H\x1b[J");
        assert_eq!(plain(&copy.screen().rows), "a");
    }
}

#[test]
fn a_screen_without_protected_cells_goes_to_the_history_when_it_is_erased() {
    assert_eq!(fed("\x1bVa\x1bW\x1b[!pb\x1b[2J").history_len(), 1);
    assert_eq!(fed("\x1bV\x1bWb\x1b[2J").history_len(), 1);
}

#[test]
fn modes_of_a_printer_and_of_fonts_are_remembered() {
    for mode in [18, 19, 35, 41] {
        let asked = format!("\x1b[?{mode}$p");
        let all = replies(&format!("{asked}\x1b[?{mode}h{asked}\x1b[?{mode}l{asked}"));
        let state = |state: u8| format!("\x1b[?{mode};{state}$y");
        assert_eq!(all, [state(2), state(1), state(2)].concat());
    }
    assert_eq!(replies("\x1b[?60h\x1b[?60$p"), "\x1b[?60;4$y");
}

#[test]
fn the_more_fix_wraps_before_a_tab() {
    let full = "x".repeat(20);
    assert_eq!(text(&format!("{full}\t1")), format!("{full}\n1"), "the tab moves nothing");
    assert_eq!(text(&format!("\x1b[?41h{full}\t1")), format!("{full}\n        1"));
    assert_eq!(replies(&format!("\x1b[?41h\x1b[?7l{full}\t\x1b[6n")), "\x1b[1;20R");
}

#[test]
fn settings_of_a_status_line_and_of_decsace_are_reported() {
    for (bytes, setting, value) in [
        ("", "$}", "0$}"),
        ("", "$~", "0$~"),
        ("\x1b[1$}", "$}", "0$}"),
        ("\x1b[0*x", "*x", "0*x"),
        ("\x1b[1*x", "*x", "1*x"),
        ("\x1b[2*x", "*x", "2*x"),
        ("\x1b[2*x\x1bc", "*x", "0*x"),
    ] {
        let reply = replies(&format!("{bytes}\x1bP$q{setting}\x1b\\"));
        assert_eq!(reply, format!("\x1bP1$r{value}\x1b\\"), "{bytes:?} {setting}");
    }
}

#[test]
fn a_level_has_the_functions_of_its_terminals() {
    let level = "\x1bP$q\"p\x1b\\";
    assert_eq!(replies(level), "\x1bP1$r62;1\"p\x1b\\");
    for (bytes, reported) in [("\x1b[65;1\"p", 65), ("\x1b[63\"p", 63), ("\x1b[63\"p\x1bc", 62)] {
        let reply = replies(&format!("{bytes}{level}"));
        assert_eq!(reply, format!("\x1bP1$r{reported};1\"p\x1b\\"), "{bytes:?}");
    }
    let asked = "\x1b[4$p\x1b[?7$p";
    assert_eq!(replies(&format!("\x1b[62\"p{asked}")), "", "a VT220 knows no DECRQM");
    assert_eq!(replies(&format!("\x1b[63\"p{asked}")), "\x1b[4;2$y\x1b[?7;1$y");
    let margins = "\x1b[?69h\x1b[5;6s\x1b[1;5Habc\x1b[6n";
    assert_eq!(
        replies(&format!("\x1b[63\"p{margins}")),
        "\x1b[1;8R",
        "a VT320 has no margins there"
    );
    assert_eq!(replies(&format!("\x1b[64\"p{margins}")), "\x1b[2;6R");
    for mut copy in copies(&fed("\x1b[63\"p")) {
        copy.feed(level.as_bytes());
        assert_eq!(copy.take_replies(), b"\x1bP1$r63;1\"p\x1b\\");
    }
}

#[test]
fn special_colors_are_set_reported_and_reset() {
    let set = "\x1b]5;0;#aaaabbbbcccc;4;rgb:1/2/3\x1b\\";
    let asked = "\x1b]5;0;?;4;?\x1b\\";
    let changed = "\x1b]5;0;rgb:aaaa/bbbb/cccc\x1b\\\x1b]5;4;rgb:1111/2222/3333\x1b\\";
    assert_eq!(replies(&format!("{set}{asked}")), changed);
    assert_eq!(replies(&format!("{set}\x1b]4;256;?\x07")), "\x1b]4;256;rgb:aaaa/bbbb/cccc\x07");
    assert_eq!(replies("\x1b]4;257;#123\x07\x1b]5;1;?\x07"), "\x1b]5;1;rgb:1010/2020/3030\x07");
    let default = replies(asked);
    assert_eq!(default.matches("rgb:c5c5/c8c8/c6c6").count(), 2, "as the text: {default:?}");
    for reset in
        ["\x1b]105\x1b\\", "\x1b]105;0;4\x1b\\", "\x1b]104\x1b\\", "\x1b]104;256;260\x1b\\"]
    {
        assert_eq!(replies(&format!("{set}{reset}{asked}")), default, "{reset:?}");
    }
    assert_eq!(replies(&format!("{set}\x1b]110\x1b\\\x1b]104;0\x1b\\{asked}")), changed);
    assert_eq!(replies("\x1b]5;5;?;9;?\x07\x1b]4;261;?\x07"), "", "there are five");
    for mut copy in copies(&fed(set)) {
        copy.feed(asked.as_bytes());
        assert_eq!(copy.take_replies(), changed.as_bytes());
    }
}

#[test]
fn colors_can_be_given_as_light() {
    let table = [
        ("rgbi:1/1/1", "ffff/ffff/ffff"),
        ("rgbi:0.5/0.5/0.5", "c1c1/bbbb/bbbb"),
        ("RGBI:0/0/0", "0000/0000/0000"),
        ("CIEXYZ:0.5/0.5/0.5", "dddd/b5b5/a0a0"),
        ("ciexyz:1/1/1", "ffff/ffff/ffff"),
        ("CIEuvY:0.5/0.5/0.5", "ffff/a3a3/aeae"),
        ("CIExyY:0.5/0.5/0.5", "f7f7/b3b3/0e0e"),
        ("CIELab:1/1/1", "6c6c/6767/6767"),
        ("CIELab:100/0/0", "ffff/ffff/ffff"),
        ("CIELuv:1/1/1", "1616/1414/0e0e"),
        ("CIELuv:0/1/1", "0000/0000/0000"),
        ("TekHVC:1/1/1", "1a1a/1313/0f0f"),
        ("TekHVC:0/0/50", "0000/0000/0000"),
    ];
    for (color, levels) in table {
        let reply = replies(&format!("\x1b]4;1;{color}\x07\x1b]4;1;?\x07"));
        assert_eq!(reply, format!("\x1b]4;1;rgb:{levels}\x07"), "{color}");
    }
    for color in [
        "CIEXYZ:1/2/1",
        "CIExyY:0/0/nan",
        "rgbi:inf/0/0",
        "CIELab:1/1",
        "TekHVC:1/1/1/1",
        "x:1/1/1",
    ] {
        let reply = replies(&format!("\x1b]4;1;{color}\x07\x1b]4;1;?\x07"));
        assert_eq!(reply, "\x1b]4;1;rgb:cccc/6666/6666\x07", "{color}");
    }
    for color in
        ["CIEuvY:0/0/0", "CIEuvY:1e300/-1e300/1", "CIEXYZ:0/0/0", "TekHVC:1e300/1e-300/1e300"]
    {
        let reply = replies(&format!("\x1b]4;1;{color}\x07\x1b]4;1;?\x07"));
        assert!(reply.starts_with("\x1b]4;1;rgb:"), "{color}: {reply:?}");
    }
}
