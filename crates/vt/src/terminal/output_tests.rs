//! What stays of what a command prints.

use crate::{CleanOutput, Size};

fn clean(bytes: impl AsRef<[u8]>) -> String {
    let mut output = CleanOutput::default();
    output.feed(bytes.as_ref());
    let done = output.take_done();
    done + &output.finish()
}

#[test]
fn text_stays_as_printed() {
    let table: [(&[u8], &str); 49] = [
        (b"", ""),
        (b"hi\r\n", "hi\n"),
        (b"no newline", "no newline"),
        (b"a\tb\r\n", "a\tb\n"),
        (b"trailing  \r\n", "trailing  \n"),
        (b"\r\n\r\n", "\n\n"),
        (b"\x1b[1;31mred\x1b[m\r\n", "red\n"),
        (b"\x1b]0;title\x07text", "text"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1bP+q544e\x1b\\x", "x"),
        (b"10%\r50%\r100%\r\n", "100%\n"),
        (b"long line\rab\r\n", "abng line\n"),
        (b"long line\r\x1b[Kab\r\n", "ab\n"),
        (b"abc\x08\x08X\r\n", "aXc\n"),
        (b"one\r\ntwo\r\n\x1b[2A\x1b[2KONE\r\n\x1b[2KTWO\r\n", "ONE\nTWO\n"),
        (b"x\x1b[5Cy", "x     y"),
        (b"abcdef\x1b[3G\x1b[2P", "abef"),
        (b"one\r\ntwo\r\n\x1b[H\x1b[2Jthree", "one\ntwo\nthree"),
        (b"one\x1b[2J\rtwo\x1b[2J\x1b[2J\rthree", "one\ntwo\nthree"),
        (b"one\r\ntwo\r\n\x1b[2J\x1b[Hthree\r\n", "one\ntwo\nthree\n"),
        (b"one\x1b[?3l\r\ntwo", "one\ntwo"),
        (b"gone\r\n\x1b[H\x1b[Jleft\r\n\r\n", "left\n\n"),
        ("漢字\rab\r\n".as_bytes(), "ab字\n"),
        ("e\u{301}x\r\n".as_bytes(), "e\u{301}x\n"),
        (b"\xff\xfe\r\n", "\u{fffd}\u{fffd}\n"),
        (b"a\xe6\xbc", "a\u{fffd}"),
        (b"a\xe6\x1b[mb", "a\u{fffd}b"),
        (b"\x00\x01\x07bell", "bell"),
        (b"a\x1b(Bb\x1b=c", "abc"),
        (b"before\r\n\x1b[?1049h\x1b[2Jeditor\x1b[?1049lafter\r\n", "before\nafter\n"),
        (b"half\x1b[", "half"),
        (b"one\r\n\x1bctwo", "one\ntwo"),
        // Zero-width characters are overwritten with the cell they belong to.
        ("\u{26a0}\u{fe0f} 10%\r\u{26a0}\u{fe0f} 40%\r\n".as_bytes(), "\u{26a0}\u{fe0f} 40%\n"),
        ("e\u{301}\re\u{301}\rx".as_bytes(), "x"),
        ("\u{feff}bom\r\n".as_bytes(), "\u{feff}bom\n"),
        (b"\x93quoted\x94\r\n", "\u{fffd}quoted\u{fffd}\n"),
        (b"abcdef\x1b[3G\x1b[2@", "ab  cdef"),
        (b"abcdef\x1b[3G\x1b[2X", "ab  ef"),
        (b"x\x1b[4b", "xxxxx"),
        (b"\x1b(0lqk\x1b(Bq", "\u{250c}\u{2500}\u{2510}q"),
        (b"abcdef\r\tx", "abcdef  x"),
        (b"a\tb\rxy", "xy      b"),
        (b"one\r\nthree\x1b[1;1H\x1b[B\x1b[Ltwo", "one\ntwo\nthree"),
        (b"one\r\ngone\r\ntwo\x1b[A\r\x1b[M", "one\ntwo"),
        (b"\x1b7ab\x1b8x", "xb"),
        (b"\x1b[4habc\rX\x1b[4l", "Xabc"),
        // A download bar below the messages: the last line is a region of its own.
        (b"\x1b7\x1b[1;23r\x1b8one\r\n\x1b7\x1b[24;1H[50%]\x1b8two\r\n\x1b7\x1b[24;1H\x1b[2K\x1b[1;24r\x1b8", "one\ntwo\n"),
        (b"\x1b[?2026hin\x1b[?2026l one", "in one"),
        (b"cut\x1b[1\x1b]0;title\x07hello", "cuthello"),
    ];
    for (bytes, expected) in table {
        assert_eq!(clean(bytes), expected, "{}", bytes.escape_ascii());
    }
}

#[test]
fn a_full_screen_program_is_noted() {
    let mut output = CleanOutput::default();
    output.feed(b"\x1b[?1049hvim\x1b[?1049l");
    assert!(output.was_full_screen());
    assert!(!CleanOutput::default().was_full_screen());
}

#[test]
fn long_output_is_handed_out_as_it_comes() {
    let mut output = CleanOutput::default();
    let mut text = String::new();
    let mut expected = String::new();
    for line in 0..10_000 {
        output.feed(format!("line {line}\r\n").as_bytes());
        expected.push_str(&format!("line {line}\n"));
        let done = output.take_done();
        assert!(done.len() < 64, "nothing piles up");
        text.push_str(&done);
    }
    assert!(output.pending().ends_with("line 9999\n"), "{}", output.pending());
    text.push_str(&output.finish());
    assert_eq!(text, expected);
}

fn at(size: (u16, u16), row: u16, bytes: &str) -> String {
    let mut output = CleanOutput::new(Size { cols: size.0, rows: size.1 }, row);
    output.feed(bytes.as_bytes());
    output.finish()
}

#[test]
fn plain_lines_are_exact_whatever_the_width() {
    let tabs = "\t".repeat(300);
    let text =
        format!("{}\n{tabs}x\n漢字漢字漢字{}\t\tb  \n", "a".repeat(500), "e\u{301}".repeat(99));
    for cols in [2, 3, 7, 10, 80, 1000] {
        let printed = text.replace('\n', "\r\n");
        assert_eq!(at((cols, 5), 0, &printed), text, "{cols} columns");
    }
}

#[test]
fn soft_wrapped_rows_are_one_line_and_movement_counts_rows() {
    // Ten columns: the line takes two rows, and the program goes up both to write it anew.
    let bar = |done: &str| format!("{}>{}\r\x1b[1A", done, " ".repeat(14 - done.len()));
    let printed = format!("{}{}\r\n\r\n", bar("==="), bar("=========="));
    assert_eq!(at((10, 5), 0, &printed), "==========>    \n");
}

#[test]
fn what_was_on_the_screen_before_is_no_output() {
    assert_eq!(at((20, 10), 5, "one\r\n"), "one\n");
    // Above its own rows the command may write, and that is output, but not what stood between.
    assert_eq!(at((20, 10), 5, "one\r\n\x1b[1;1Htop\x1b[7;1H"), "top\none\n");
    // More rows up than the screen has end at its first.
    assert_eq!(at((20, 10), 2, "one\x1b[50A\rtop\x1b[2B\r1"), "top\n1ne");
}

#[test]
fn a_resize_keeps_the_lines_and_the_cursor_with_them() {
    let mut output = CleanOutput::new(Size { cols: 10, rows: 6 }, 2);
    output.feed(b"one\r\n0123456789abcde");
    output.resize(Size { cols: 20, rows: 6 }, 3);
    output.feed(b"f\r\nlast\x1b[2A\r1");
    assert_eq!(output.finish(), "1ne\n0123456789abcdef\nlast");
    let mut output = CleanOutput::new(Size { cols: 10, rows: 6 }, 0);
    output.feed("ab漢字漢字x".as_bytes());
    output.resize(Size { cols: 5, rows: 2 }, 1);
    output.feed(b"y\rX");
    assert_eq!(output.finish(), "ab漢字漢 X xy");
}

#[test]
fn hostile_output_stays_small() {
    // Cursor movements that made hundreds of megabytes of blanks.
    let mut output = CleanOutput::new(Size { cols: 120, rows: 40 }, 0);
    let mut total = 0;
    for _ in 0..1000 {
        output.feed(b"\x1b[65535C\x1b[65535B.\n");
        total += output.take_done().len();
    }
    assert!(total + output.finish().len() < 200_000);
    // A tab that moves nothing, without end; marks on one cell, without end.
    let mut output = CleanOutput::new(Size { cols: 10, rows: 3 }, 0);
    for _ in 0..1000 {
        output.feed("\t".repeat(1000).as_bytes());
        output.feed("\u{301}".repeat(1000).as_bytes());
        assert!(output.pending().len() + output.take_done().len() < 1 << 20);
    }
}

#[test]
fn a_row_with_a_tab_can_be_edited_after_the_terminal_was_widened() {
    let mut output = CleanOutput::new(Size { cols: 4, rows: 3 }, 0);
    output.feed(b"\ta");
    output.resize(Size { cols: 40, rows: 3 }, 0);
    output.feed(format!("{}\u{301}\rx", "b".repeat(36)).as_bytes());
    assert!(output.finish().starts_with('x'));
}
