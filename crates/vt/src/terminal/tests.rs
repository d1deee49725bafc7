//! What programs rely on, one behaviour at a time.

use crate::event::{Event, Mark};
use crate::format::plain;
use crate::input::{KittyFlags, MouseEncoding, MouseTracking};
use crate::screen::{CellWidth, CursorShape};
use crate::style::{Attributes, Color};
use crate::{Options, Size, Terminal};

fn terminal(cols: u16, rows: u16) -> Terminal {
    Terminal::new(Size { cols, rows }, Options::default())
}

fn fed(bytes: impl AsRef<[u8]>) -> Terminal {
    let mut terminal = terminal(20, 5);
    terminal.feed(bytes.as_ref());
    terminal
}

fn text(terminal: &Terminal) -> String {
    plain(&terminal.screen().rows)
}

fn replies(bytes: &str) -> String {
    String::from_utf8(fed(bytes).take_replies()).expect("answers are text")
}

#[test]
fn shows_text_where_the_cursor_is() {
    let terminal = fed("one\r\ntwo\x1b[4;6Hthree");
    assert_eq!(text(&terminal), "one\ntwo\n\n     three");
    let cursor = terminal.screen().cursor;
    assert_eq!((cursor.row, cursor.col, cursor.visible), (3, 10, true));
}

#[test]
fn attributes_and_colors_reach_the_cell() {
    let table: [(&str, Attributes, Color, Color); 20] = [
        ("\x1b[1m", Attributes::BOLD, Color::Default, Color::Default),
        ("\x1b[2m", Attributes::DIM, Color::Default, Color::Default),
        ("\x1b[3m", Attributes::ITALIC, Color::Default, Color::Default),
        ("\x1b[4m", Attributes::UNDERLINE, Color::Default, Color::Default),
        ("\x1b[4:2m", Attributes::DOUBLE_UNDERLINE, Color::Default, Color::Default),
        ("\x1b[4:3m", Attributes::CURLY_UNDERLINE, Color::Default, Color::Default),
        ("\x1b[4:4m", Attributes::DOTTED_UNDERLINE, Color::Default, Color::Default),
        ("\x1b[4:5m", Attributes::DASHED_UNDERLINE, Color::Default, Color::Default),
        ("\x1b[5m", Attributes::BLINK, Color::Default, Color::Default),
        ("\x1b[1;6m", Attributes::BOLD.union(Attributes::BLINK), Color::Default, Color::Default),
        ("\x1b[5m\x1b[25m", Attributes::empty(), Color::Default, Color::Default),
        ("\x1b[5m\x1b[0m", Attributes::empty(), Color::Default, Color::Default),
        ("\x1b[7m", Attributes::INVERSE, Color::Default, Color::Default),
        ("\x1b[8m", Attributes::HIDDEN, Color::Default, Color::Default),
        ("\x1b[9m", Attributes::STRIKE, Color::Default, Color::Default),
        ("\x1b[31;44m", Attributes::empty(), Color::Indexed(1), Color::Indexed(4)),
        ("\x1b[91;104m", Attributes::empty(), Color::Indexed(9), Color::Indexed(12)),
        ("\x1b[38;5;208m", Attributes::empty(), Color::Indexed(208), Color::Default),
        ("\x1b[38;2;1;2;3m", Attributes::empty(), Color::Rgb(1, 2, 3), Color::Default),
        ("\x1b[48:2::9:8:7m", Attributes::empty(), Color::Default, Color::Rgb(9, 8, 7)),
    ];
    for (sequence, attributes, fg, bg) in table {
        let screen = fed(format!("{sequence}x")).screen();
        let style = screen.rows[0].cells[0].style;
        assert_eq!((style.attributes, style.fg, style.bg), (attributes, fg, bg), "{sequence:?}");
    }
    let colored = fed("\x1b[4;58;5;9mx").screen();
    assert_eq!(colored.rows[0].cells[0].style.underline_color, Some(Color::Indexed(9)));
}

#[test]
fn parameters_beyond_the_limit_are_dropped() {
    let many = format!("\x1b[{}mx\x1b[{}31my", "4:".repeat(40), "0;".repeat(40));
    let terminal = fed(many);
    assert_eq!(text(&terminal).trim_end(), "xy");
    assert_eq!(terminal.screen().rows[0].cells[1].style.fg, Color::Default);
}

#[test]
fn wide_characters_and_combining_marks_take_the_right_cells() {
    let screen = fed("漢字e\u{301}🙂x").screen();
    let row = &screen.rows[0];
    assert_eq!(row.text(), "漢字e\u{301}🙂x");
    assert_eq!(row.cells[0].width, CellWidth::Double);
    assert_eq!(row.cells[1].width, CellWidth::Continuation);
    assert_eq!(row.cells[4].combining.as_deref(), Some("\u{301}"));
    assert_eq!(row.cells[5].character, '🙂');
    assert_eq!(row.cells[7].character, 'x');
}

#[test]
fn grapheme_clusters_take_two_columns_when_the_program_says_so() {
    for (mode, columns) in [("", [4, 2, 1]), ("\x1b[?2027h", [2, 2, 2])] {
        for (text, columns) in ["👩\u{200d}🚀", "🇩🇪", "❤\u{fe0f}"].into_iter().zip(columns)
        {
            let screen = fed(format!("{mode}{text}|")).screen();
            assert_eq!(screen.rows[0].cells[columns].character, '|', "{mode:?} {text}");
            assert_eq!(screen.rows[0].text(), format!("{text}|"), "the text itself is whole");
        }
    }
}

#[test]
fn a_flood_of_combining_marks_stays_bounded() {
    let mut terminal = terminal(20, 5);
    for _ in 0..100 {
        terminal.feed("\u{301}".repeat(2000).as_bytes());
    }
    let screen = terminal.screen();
    let marks =
        screen.rows[0].cells[0].combining.as_deref().map_or(0, |marks| marks.chars().count());
    assert_eq!(marks, 15, "16 code points with the blank");
}

#[test]
fn the_column_mode_clears_nothing() {
    assert_eq!(text(&fed("keep\x1b[?3l\x1b[?3h")), "keep");
}

#[test]
fn alternate_screens_hide_and_restore_the_primary() {
    for (enter, leave) in
        [("\x1b[?1049h", "\x1b[?1049l"), ("\x1b[?47h", "\x1b[?47l"), ("\x1b[?1047h", "\x1b[?1047l")]
    {
        let mut terminal = fed("shell$ ");
        terminal.feed(format!("{enter}\x1b[2J\x1b[Heditor").as_bytes());
        assert!(terminal.screen().alternate, "{enter:?}");
        assert_eq!(text(&terminal), "editor", "{enter:?}");
        terminal.feed(leave.as_bytes());
        assert!(!terminal.screen().alternate, "{leave:?}");
        assert_eq!(text(&terminal), "shell$", "{leave:?}");
    }
}

#[test]
fn scroll_regions_tabs_insert_origin_and_autowrap() {
    assert_eq!(text(&fed("a\r\nb\r\nc\r\nd\r\ne\x1b[2;4r\x1b[4;1H\n")), "a\nc\nd\n\ne");
    assert_eq!(text(&fed("\x1b[3g\x1b[1;6H\x1bH\r\tx")), "     x");
    assert_eq!(text(&fed("world\r\x1b[4hhello ")), "hello world");
    assert_eq!(text(&fed("\x1b[2;4r\x1b[?6h\x1b[1;1Hx")), "\nx");
    assert_eq!(text(&fed("\x1b[?7l0123456789012345678ABC")), "0123456789012345678C");
    assert_eq!(text(&fed("\x1b(0lqk\x1b(B")), "┌─┐");
}

#[test]
fn long_lines_are_wrapped_anew_on_resize() {
    let mut terminal = fed("abcdefghijklmnopqrstuvwxyz");
    assert!(terminal.screen().rows[0].wrapped);
    terminal.resize(Size { cols: 30, rows: 5 });
    assert_eq!(text(&terminal), "abcdefghijklmnopqrstuvwxyz");
    terminal.resize(Size { cols: 10, rows: 5 });
    let history = (0..terminal.history_len()).filter_map(|index| terminal.history_row(index));
    let rows: Vec<_> = history.chain(terminal.screen().rows).collect();
    assert_eq!(plain(&rows), "abcdefghij\nklmnopqrst\nuvwxyz");
}

#[test]
fn history_is_kept_up_to_its_limit_and_can_be_trimmed() {
    let mut terminal = Terminal::new(
        Size { cols: 20, rows: 5 },
        Options { scrollback_lines: 100, ..Options::default() },
    );
    for line in 0..300 {
        terminal.feed(format!("line {line}\r\n").as_bytes());
    }
    assert_eq!(terminal.history_len(), 100);
    assert_eq!(terminal.history_row(99).map(|row| row.text()), Some("line 295".into()));
    assert_eq!(terminal.history_row(100), None);
    terminal.shrink_memory(0);
    assert_eq!(terminal.history_len(), 0, "chunks go whole");
    assert!(terminal.take_events().iter().all(|event| !matches!(event, Event::Title(_))));
    terminal.feed(b"x\r\n".repeat(200).as_slice());
    assert_eq!(terminal.history_len(), 0, "no more than fits");
    terminal.grow_memory(1000);
    terminal.feed(b"x\r\n".repeat(200).as_slice());
    assert_eq!(terminal.history_len(), 0, "too little room to grow");
    terminal.grow_memory(10_000_000);
    terminal.feed(b"x\r\n".repeat(200).as_slice());
    assert_eq!(terminal.history_len(), 100);
}

#[test]
fn sizes_out_of_range_become_the_nearest() {
    assert_eq!(terminal(0, 0).size(), Size { cols: 2, rows: 1 });
    assert_eq!(terminal(u16::MAX, u16::MAX).size(), Size { cols: 1000, rows: 1000 });
    let mut terminal = terminal(80, 24);
    terminal.resize(Size { cols: 1, rows: 0 });
    terminal.feed(b"\x1b[?1049hwide \xe6\xbc\xa2\xe5\xad\x97");
    assert_eq!(terminal.size(), Size { cols: 2, rows: 1 });
}

#[test]
fn queries_are_answered() {
    let table = [
        ("\x1b[c", "\x1b[?62;22;52c"),
        ("\x1b[0c", "\x1b[?62;22;52c"),
        ("\x1b[=c", "\x1bP!|00000000\x1b\\"),
        ("\x1b[5n", "\x1b[0n"),
        ("ab\x1b[6n", "\x1b[1;3R"),
        ("ab\x1b[?6n", "\x1b[?1;3R"),
        ("\x1b[?996n", "\x1b[?997;1n"),
        ("\x1b[?25$p", "\x1b[?25;1$y"),
        ("\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y"),
        ("\x1b[?2026$p", "\x1b[?2026;2$y"),
        ("\x1b[?2026h\x1b[?2026$p", "\x1b[?2026;1$y"),
        ("\x1b[?1016$p", "\x1b[?1016;2$y"),
        ("\x1b[?7777$p", "\x1b[?7777;0$y"),
        ("\x1b[4$p", "\x1b[4;2$y"),
        ("\x1b[1;31m\x1bP$qm\x1b\\", "\x1bP1$r0;1;31m\x1b\\"),
        ("\x1b[2;4r\x1bP$qr\x1b\\", "\x1bP1$r2;4r\x1b\\"),
        ("\x1bP$qr\x1b\\", "\x1bP1$r1;5r\x1b\\"),
        ("\x1b[4 q\x1bP$q q\x1b\\", "\x1bP1$r4 q\x1b\\"),
        ("\x1bP$qzz\x1b\\", "\x1bP0$r\x1b\\"),
        ("\x1bP+q544e\x1b\\", "\x1bP1+r544e=787465726D2D323536636F6C6F72\x1b\\"),
        ("\x1bP+q436F;5a5a\x1b\\", "\x1bP1+r436F=323536\x1b\\\x1bP0+r5a5a\x1b\\"),
        ("\x1b]4;1;?\x07", "\x1b]4;1;rgb:cccc/6666/6666\x07"),
        ("\x1b]10;?\x1b\\", "\x1b]10;rgb:c5c5/c8c8/c6c6\x1b\\"),
        ("\x1b]11;?\x1b\\", "\x1b]11;rgb:1d1d/1f1f/2121\x1b\\"),
        ("\x1b]12;?\x1b\\", "\x1b]12;rgb:c5c5/c8c8/c6c6\x1b\\"),
        ("\x1b]11;#102030\x07\x1b]11;?\x07", "\x1b]11;rgb:1010/2020/3030\x07"),
        ("\x1b[?u", "\x1b[?0u"),
        ("\x1b[>5u\x1b[?u", "\x1b[?5u"),
        ("\x1b[>4;2m\x1b[?4m", "\x1b[>4;2m"),
        ("\x1b[14t", "\x1b[4;80;160t"),
        ("\x1b[16t", "\x1b[6;16;8t"),
        ("\x1b[18t", "\x1b[8;5;20t"),
        ("\x1b[19t", "\x1b[9;5;20t"),
        ("\x1b[11t", "\x1b[1t"),
        ("\x1b]2;evil\x07\x1b[21t", "\x1b]l\x1b\\"),
        ("\x1b[x", "\x1b[2;1;1;128;128;1;0x"),
    ];
    for (query, answer) in table {
        assert_eq!(replies(query), answer, "{query:?}");
    }
    assert!(replies("\x1b[>c").starts_with("\x1b[>0;"));
    assert!(replies("\x1b[>q").starts_with("\x1bP>|termbridge "));
}

#[test]
fn a_query_without_an_answer_is_named() {
    assert_eq!(fed("\x1b[c\x1b[6n").unanswered_query(), None);
    assert_eq!(fed("\x1b[?4242n").unanswered_query(), Some("CSI ?4242n"));
    assert_eq!(fed("\x1b]777;?\x07").unanswered_query(), Some("OSC 777;?"));
}

#[test]
fn answers_to_a_program_that_does_not_read_stay_bounded() {
    let mut terminal = terminal(20, 5);
    terminal.feed("\x1b[c".repeat(100_000).as_bytes());
    assert!(terminal.take_replies().len() <= 8 * 1024);
}

#[test]
fn events_of_the_program() {
    let mut terminal = fed(concat!(
        "\x07\x1b]2;my title\x07\x1b]52;c;aGVsbG8=\x07\x1b]7;file://host/tmp\x1b\\",
        "\x1b]133;A\x07\x1b]133;D;3\x07\x1b]633;P;Cwd=/srv\x07"
    ));
    assert_eq!(
        terminal.take_events(),
        [
            Event::Bell,
            Event::Title(Some("my title".into())),
            Event::Clipboard("hello".into()),
            Event::WorkingDirectory("file://host/tmp".into()),
            Event::Mark(Mark::PromptStart(String::new())),
            Event::Mark(Mark::CommandEnd("3".into())),
            Event::WorkingDirectory("/srv".into()),
            Event::Mark(Mark::Property("Cwd=/srv".into())),
        ]
    );
    assert_eq!((terminal.title(), terminal.clipboard()), ("my title", "hello"));
    assert_eq!(text(&terminal), "", "none of it is shown");
    terminal.feed(b"\x1b]52;c;?\x07");
    assert_eq!(terminal.take_replies(), b"\x1b]52;c;aGVsbG8=\x07", "only what it wrote itself");
}

#[test]
fn hyperlinks_and_titles_are_bounded() {
    let screen = fed("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\ x").screen();
    assert_eq!(screen.rows[0].cells[0].link.as_deref(), Some("https://example.org"));
    assert_eq!(screen.rows[0].cells[5].link, None);
    let long = "é".repeat(100_000);
    assert!(fed(format!("\x1b]8;;https://{long}\x1b\\x")).screen().rows[0].cells[0].link.is_none());
    assert!(fed(format!("\x1b]2;{long}\x07")).title().len() <= 1024);
    let mut terminal = fed("\x1b]52;c;");
    for _ in 0..64 {
        terminal.feed(&vec![b'A'; 64 * 1024]);
    }
    terminal.feed(b"\x07after");
    assert_eq!(text(&terminal), "after", "an endless string is dropped, not shown and not kept");
    assert_eq!(terminal.clipboard(), "");
}

#[test]
fn synchronized_output_shows_whole_updates() {
    let mut terminal = fed("before");
    let seq = terminal.look();
    terminal.feed(b"\x1b[?2026h\x1b[2J\x1b[Hhalf");
    assert!(terminal.is_synchronized());
    assert_eq!(text(&terminal), "before");
    assert_eq!(terminal.look(), seq, "no change is seen inside an update");
    terminal.feed(b" done\x1b[?2026l");
    assert_eq!(text(&terminal), "half done");
    assert!(terminal.look() > seq);
    terminal.feed(b"\x1b[?2026h\rleft");
    terminal.end_synchronized();
    assert_eq!(text(&terminal), "left done", "an update left open ends");
}

#[test]
fn marks_inside_an_update_know_the_cursor() {
    let mut terminal = fed("\x1b[?2026habc\x1b[6n\x1b[?2026l");
    assert_eq!(terminal.take_replies(), b"\x1b[1;4R");
}

#[test]
fn the_counter_tells_which_rows_changed() {
    let mut terminal = fed("one\r\ntwo\r\nthree");
    let first = terminal.look();
    assert_eq!(terminal.look(), first, "looking changes nothing");
    terminal.feed(b"\x1b[2;1HTWO\x1b[3;6H");
    let second = terminal.look();
    assert!(second > first);
    assert_eq!(terminal.rows_since(first), (vec![1], 0));
    assert_eq!(terminal.rows_since(second), (vec![], 0));
    terminal.feed(b"\x1b[1;1Hone\x1b[2;1HTWO\x1b[3;6H");
    assert_eq!(terminal.look(), second, "drawn again with the same content");
    terminal.feed(b"\x1b[1;1H");
    assert!(terminal.look() > second, "a moved cursor is a change");
    assert_eq!(terminal.rows_since(second), (vec![], 0), "but not of a row");
    terminal.resize(Size { cols: 20, rows: 6 });
    assert!(terminal.look() > second);
}

#[test]
fn rows_that_only_moved_up_are_not_fresh() {
    let mut terminal = terminal(20, 6);
    terminal.feed(b"one\r\ntwo\r\nthree\r\nfour\r\nfive\r\n$ ");
    let first = terminal.look();
    terminal.feed(b"echo hi\r\nhi\r\n$ ");
    let second = terminal.look();
    assert_eq!(terminal.rows_since(first), (vec![3, 4, 5], 2), "the line that was typed, too");
    terminal.feed(b"echo there\r\nthere\r\n$ ");
    terminal.look();
    assert_eq!(terminal.rows_since(first), (vec![1, 2, 3, 4, 5], 4), "both together");
    assert_eq!(terminal.rows_since(second), (vec![3, 4, 5], 2));
    // A screen that comes back is as it was but for what is new.
    let before = terminal.look();
    terminal.feed(b"\x1b[?1049h\x1b[2J\x1b[Hfull\x1b[2;1Hscreen");
    let within = terminal.look();
    assert_eq!(terminal.rows_since(before), (vec![0, 1, 2, 3, 4, 5], 0));
    terminal.feed(b"\x1b[?1049ldone");
    terminal.look();
    assert_eq!(terminal.rows_since(within), (vec![5], 0));
    assert!(terminal.came_back_since(within) && !terminal.came_back_since(terminal.seq()));
    // Nothing of it was there before.
    let third = terminal.look();
    terminal.feed(b"\x1b[2J\x1b[Ha\r\nb\r\nc\r\nd\r\ne\r\nf");
    terminal.look();
    assert_eq!(terminal.rows_since(third), (vec![0, 1, 2, 3, 4, 5], 0));
}

#[test]
fn rows_that_move_below_others_scroll_nothing_off() {
    for moves in ["\x1b[3;1H\x1b[M", "\x1b[3;6r\x1b[6;1H\n", "\x1b[3;6r\x1b[S", "\x1b[3;6r\x1b[r"] {
        let mut terminal = fed("history\r\n".repeat(9));
        terminal.feed(b"\x1b[2J\x1b[Hone\r\ntwo\r\nthree\r\nfour\r\nfive");
        let before = terminal.look();
        terminal.feed(moves.as_bytes());
        terminal.look();
        let (fresh, scrolled) = terminal.rows_since(before);
        assert!(!fresh.contains(&0) && !fresh.contains(&1), "{moves:?}: {fresh:?}");
        assert_eq!(scrolled, 0, "{moves:?}");
    }
}

#[test]
fn modes_reach_the_input_side() {
    let modes =
        fed("\x1b[?1h\x1b=\x1b[?2004h\x1b[?1003h\x1b[?1006h\x1b[>4;1m\x1b[20h").input_modes();
    assert!(modes.app_cursor && modes.app_keypad && modes.bracketed_paste && modes.newline_mode);
    assert_eq!(modes.mouse, MouseTracking::AnyMotion);
    assert_eq!(modes.mouse_encoding, MouseEncoding::Sgr);
    assert_eq!(modes.modify_other_keys, 1);
    assert_eq!(fed("\x1b[?9h").input_modes().mouse, MouseTracking::X10);
    assert_eq!(fed("\x1b[?1000;1015h").input_modes().mouse_encoding, MouseEncoding::Urxvt);
    assert_eq!(fed("\x1b[?1000;1015h").input_modes().mouse, MouseTracking::Normal);
    assert_eq!(fed("\x1b[?1016h").input_modes().mouse_encoding, MouseEncoding::SgrPixels);
    assert_eq!(fed("\x1b[>4;2m\x1bc").input_modes().modify_other_keys, 0);
    let reset = fed("\x1b[?1h\x1b[>4;2m\x1b[3;3Hx\x1b[!p");
    assert!(!reset.input_modes().app_cursor);
    assert_eq!(reset.screen().cursor.col, 3, "a soft reset leaves the cursor where it is");
}

#[test]
fn cursor_shapes() {
    let table = [
        (2, CursorShape::Block, false),
        (3, CursorShape::Underline, true),
        (6, CursorShape::Bar, false),
    ];
    for (parameter, shape, blinking) in table {
        let cursor = fed(format!("\x1b[{parameter} q")).screen().cursor;
        assert_eq!((cursor.shape, cursor.blinking), (shape, blinking));
    }
    assert!(!fed("\x1b[?25l").screen().cursor.visible);
}

#[test]
fn the_echo_of_an_entered_line_is_not_found() {
    let mut terminal = fed("$ ");
    terminal.begin_typing();
    terminal.note_typed("echo DONE\r");
    terminal.feed(b"echo DONE");
    assert!(!terminal.haystack().text().contains("DONE"));
    terminal.feed(b"\r\n");
    assert!(!terminal.haystack().text().contains("DONE"));
    terminal.feed(b"DONE\r\n$ ");
    let haystack = terminal.haystack();
    let at = haystack.text().find("DONE").expect("the output is found");
    let found = haystack.locate(at..at + 4);
    assert_eq!((found.row, found.col, found.text.as_str()), (1, 0, "DONE"));
}

#[test]
fn the_echoes_of_earlier_commands_are_not_found() {
    const PROMPT: &str = "\x1b]633;A\x07$ \x1b]633;B\x07";
    let line = |command: &str, output: &str| {
        format!("{PROMPT}{command}\r\n\x1b]633;C\x07{output}\x1b]633;D;0\x07")
    };
    let mut terminal = fed(line("echo DONE a command that wraps", "out\r\n"));
    terminal.feed(line("echo DONE again", "").as_bytes());
    terminal.feed(line("sleep 3; echo DONE", "").as_bytes());
    assert!(!terminal.haystack().text().contains("DONE"), "{:?}", terminal.haystack().text());
    // The first row scrolls off, and the rest moves.
    terminal.feed(b"1\r\n2");
    assert!(!terminal.haystack().text().contains("DONE"), "{:?}", terminal.haystack().text());
    // Output in a row that showed a line before.
    terminal.feed(b"\x1b[H\x1b[J\r\nDONE");
    assert!(terminal.haystack().text().contains("DONE"), "{:?}", terminal.haystack().text());
}

#[test]
fn the_line_behind_a_prompt_is_an_echo_wherever_the_cursor_was_when_it_was_typed() {
    let mut terminal = fed("\x1b]133;A\x07$ \x1b]133;B\x07\r");
    terminal.begin_typing();
    terminal.note_typed("echo DONE\r");
    terminal.feed(b"$ echo DONE");
    assert!(!terminal.haystack().text().contains("DONE"), "{:?}", terminal.haystack().text());
    // A shell that prints no mark when the output begins.
    terminal.feed(b"\r\nDONE\r\n");
    assert!(terminal.haystack().text().contains("DONE"), "{:?}", terminal.haystack().text());
    // A job that prints behind the next prompt.
    terminal.feed(b"\x1b]133;A\x07$ \x1b]133;B\x07job\r\n");
    assert!(terminal.haystack().text().contains("job"), "{:?}", terminal.haystack().text());
}

#[test]
fn the_line_is_an_echo_behind_a_prompt_that_is_drawn_after_its_mark() {
    let mut terminal = terminal(40, 4);
    terminal.feed(b"\x1b]133;A\x07\x1b]133;B\x07");
    terminal.begin_typing();
    terminal.note_typed("sleep 1; echo DONE\r");
    // As fish draws it: word by word, with a suggestion behind the cursor.
    for drawn in ["me /usr# sl", "\x1b[Keep 1; echo", " DONE", "\r\x1b[9Csleep"] {
        terminal.feed(drawn.as_bytes());
        let text = terminal.haystack().text().to_owned();
        assert!(!["sl", "echo", "DONE"].iter().any(|part| text.contains(part)), "{text:?}");
        assert!(text.contains("me /usr# "), "{text:?}");
    }
    terminal.feed(b"\r\n\x1b]133;C\x07DONE\r\n");
    assert!(terminal.haystack().text().contains("DONE"), "{:?}", terminal.haystack().text());
}

#[test]
fn prompts_in_front_of_typed_lines_are_known() {
    let mut terminal = fed(">>> ");
    terminal.begin_typing();
    terminal.note_typed("one\rtwo\r");
    terminal.feed(b"one\r\n1\r\n>>> two\r\n2\r\n>>> ");
    let haystack = terminal.haystack();
    let found = haystack.text().match_indices(">>> ").map(|(at, part)| at..at + part.len());
    let typed: Vec<bool> =
        found.map(|range| haystack.is_typed_prompt(&haystack.locate(range))).collect();
    assert_eq!(typed, [true, true, false], "{:?}", haystack.text());
    let all = haystack.locate(0..haystack.text().len());
    assert!(!haystack.is_typed_prompt(&all), "it contains more than a prompt");
}

#[test]
fn a_prompt_on_the_right_and_a_suggestion_do_not_show_the_line() {
    let mut terminal = terminal(40, 4);
    terminal.feed(b"\x1b]133;A\x07$ \x1b]133;B\x07\x1b[36G8:15\r\x1b[2C");
    terminal.begin_typing();
    terminal.note_typed("make\r");
    terminal.feed(b"mak");
    assert!(!terminal.haystack().text().contains("mak"), "{:?}", terminal.haystack().text());
    terminal.feed(b"e; echo DONE\x1b[11D");
    assert!(!terminal.haystack().text().contains("DONE"), "{:?}", terminal.haystack().text());
}

#[test]
fn the_echo_is_followed_as_it_scrolls_wraps_and_repeats() {
    // Typed without a prompt and answered by the same text: `cat`.
    let mut terminal = fed("");
    terminal.begin_typing();
    terminal.note_typed("same\r");
    terminal.feed(b"same\r\n");
    assert!(!terminal.haystack().text().contains("same"));
    terminal.feed(b"same\r\n");
    assert!(terminal.haystack().text().contains("same"));

    // Scrolled up by output, still hidden; wrapped over two rows, hidden too.
    let mut terminal = fed("1\r\n2\r\n3\r\n4\r\n$ ");
    terminal.begin_typing();
    terminal.note_typed("a command that wraps END\r");
    terminal.feed(b"a command that wraps END\r\nout\r\n");
    assert!(!terminal.haystack().text().contains("END"), "{:?}", terminal.haystack().text());

    // Several lines at once, each echoed at its own prompt.
    let mut terminal = fed("$ ");
    terminal.begin_typing();
    terminal.note_typed("one\rtwo\r");
    terminal.feed(b"one\r\n$ two\r\n");
    let text = terminal.haystack().text().to_owned();
    assert!(!text.contains("one") && !text.contains("two"), "{text:?}");

    // Completed by Tab: the whole line is echo.
    let mut terminal = fed("$ ");
    terminal.begin_typing();
    terminal.note_typed("ma");
    terminal.note_other_key();
    terminal.note_typed("\r");
    terminal.feed(b"make all\r\n");
    assert!(!terminal.haystack().text().contains("make"));
}

#[test]
fn a_line_typed_before_its_prompt_is_echoed_behind_it() {
    // The terminal may echo at once, the shell once more behind its prompt.
    for echo in ["echo DONE\r\n$ echo DONE\r\n", "$ echo DONE\r\n"] {
        let mut terminal = fed("$ ");
        terminal.begin_typing();
        terminal.note_typed("one\r");
        terminal.feed(b"one\r\nONE\r\n");
        terminal.begin_typing();
        terminal.note_typed("echo DONE\r");
        terminal.feed(echo.as_bytes());
        assert!(!terminal.haystack().text().contains("DONE"), "{:?}", terminal.haystack().text());
        terminal.feed(b"DONE\r\n$ ");
        assert!(terminal.haystack().text().contains("DONE"));
    }

    // An answer with the typed text in it is no echo.
    let mut terminal = fed("$ ");
    terminal.begin_typing();
    terminal.note_typed("DATA\r");
    terminal.feed(b"DATA\r\n> DATA\r\n");
    assert!(terminal.haystack().text().contains("> DATA"));
}

#[test]
fn the_echo_of_every_entered_line_is_left_out() {
    // One call each.
    let mut terminal = fed("$ ");
    for line in ["sleep 1; echo ONE", "echo TWO"] {
        terminal.begin_typing();
        terminal.note_typed(&format!("{line}\r"));
        terminal.feed(format!("{line}\r\n$ ").as_bytes());
    }
    let text = terminal.haystack().text().to_owned();
    assert!(!text.contains("ONE") && !text.contains("TWO"), "{text:?}");
    terminal.feed(b"\rONE\r\n");
    assert!(terminal.haystack().text().contains("ONE"));

    // In one call, while a command runs: the terminal echoes the second at once, the shell later.
    let mut terminal = fed("$ ");
    terminal.begin_typing();
    terminal.note_typed("sleep 1\recho DONE\r");
    terminal.feed(b"sleep 1\r\necho DONE\r\n$ echo DONE\r\n");
    assert!(!terminal.haystack().text().contains("DONE"), "{:?}", terminal.haystack().text());
    terminal.feed(b"DONE\r\n$ ");
    assert!(terminal.haystack().text().contains("DONE"));

    // The second one was read without echo.
    let mut terminal = fed("$ ");
    terminal.begin_typing();
    terminal.note_typed("read -s\rsecret\recho DONE\r");
    terminal.feed(b"read -s\r\n$ echo DONE\r\n");
    assert!(!terminal.haystack().text().contains("DONE"), "{:?}", terminal.haystack().text());
}

#[test]
fn a_line_begins_anew_after_an_interrupt() {
    let mut terminal = fed("running\r\n");
    terminal.begin_typing();
    terminal.note_other_key();
    terminal.feed(b"^C\r\n$ ");
    terminal.begin_typing();
    terminal.note_typed("echo DONE\r");
    terminal.feed(b"echo DONE\r\n");
    assert!(!terminal.haystack().text().contains("DONE"));
    terminal.feed(b"DONE\r\n$ ");
    assert!(terminal.haystack().text().contains("DONE"));
}

#[test]
fn command_lines_of_full_screen_programs_are_echo_their_content_is_not() {
    let mut terminal = fed("\x1b[?1049h\x1b[H");
    terminal.begin_typing();
    terminal.note_typed(":s/a/DONE/\rDONE\r");
    terminal.feed(b"\x1b[5;1H:s/a/DONE/");
    assert!(!terminal.haystack().text().contains("DONE"));
    terminal.feed(b"\x1b[HDONE");
    assert!(terminal.haystack().text().contains("DONE"));
}

#[test]
fn text_typed_without_enter_is_found() {
    let mut terminal = fed("> ");
    terminal.begin_typing();
    terminal.note_typed("query");
    terminal.feed(b"query");
    assert!(terminal.haystack().text().contains("query"));
    // Enter in a later call: the line began where the first call began.
    terminal.begin_typing();
    terminal.note_typed("\r");
    assert!(!terminal.haystack().text().contains("query"));
}

#[test]
fn wrapped_rows_are_searched_as_one_line() {
    let haystack = fed("0123456789 needle in hay").haystack();
    assert!(haystack.text().contains("needle in hay"));
    let at = haystack.text().find("hay").expect("found");
    assert_eq!((haystack.locate(at..at + 3).row, haystack.locate(at..at + 3).col), (1, 1));
}

#[test]
fn highlights_name_what_is_selected() {
    let mut terminal = terminal(40, 8);
    terminal.feed(b"Menu\r\n  one\r\n\x1b[7m  two  \x1b[m\r\n  three");
    let highlights = terminal.screen().highlights();
    assert_eq!(highlights.len(), 1);
    assert_eq!((highlights[0].row, highlights[0].text.as_str()), (2, "two"));
    // A coloured panel is not a selection, the bar on it is.
    let mut terminal = self::terminal(40, 8);
    terminal.feed(b"\x1b[44m\x1b[2J\x1b[3;5H\x1b[30;46mfile.txt\x1b[m");
    let highlights = terminal.screen().highlights();
    assert_eq!(highlights.len(), 1);
    assert_eq!(highlights[0].text, "file.txt");
}

#[test]
fn highlights_leave_out_gutters_bars_and_prompts() {
    let found = |rows: u16, bytes: &str| -> Vec<String> {
        let mut terminal = terminal(30, rows);
        terminal.feed(bytes.as_bytes());
        terminal.screen().highlights().into_iter().map(|found| found.text).collect()
    };
    // Line numbers on their own background beside a selected word.
    let number = |n: u16| format!("\x1b[{n};1H\x1b[100m {n:2} \x1b[m text");
    let numbers = (1..=6).map(number).collect::<Vec<_>>().concat();
    assert_eq!(found(10, &format!("{numbers}\x1b[3;8H\x1b[7mchosen\x1b[m")), ["chosen"]);
    // A column of entries that are wide is a selection over several rows.
    let entry = |n: u16| format!("\x1b[{n};3H\x1b[7mentry num {n}\x1b[m");
    let rows = (1..=3).map(entry).collect::<Vec<_>>().concat();
    assert_eq!(found(16, &rows).len(), 3);
    // Keys at the bottom.
    let keys = "\x1b[10;1HF1\x1b[46mHelp\x1b[m F2\x1b[46mSetup\x1b[m F3\x1b[46mQuit\x1b[m";
    assert_eq!(found(10, keys), [""; 0]);
    assert_eq!(found(10, &format!("{keys}\x1b[4;1H\x1b[46mrow\x1b[K\x1b[m")), ["row"]);
    // A title and a state, with the cursor in the text; with no cursor they may be the selection.
    let bar = |row: u16, text: &str| format!("\x1b[{row}H\x1b[7m{text:30}\x1b[m");
    let bars = bar(1, "title") + &bar(9, "state");
    assert_eq!(found(10, &format!("{bars}\x1b[4;1Htext")), [""; 0]);
    assert_eq!(found(10, &format!("\x1b[?25l{bars}\x1b[5;1H\x1b[44mrow\x1b[m")), ["row"]);
    assert_eq!(found(10, &format!("\x1b[?25l{}", bar(10, "last"))), ["last"]);
    assert_eq!(found(10, &(bar(1, "first") + "\x1b[H")), ["first"]);
    // A pager's prompt.
    assert_eq!(found(10, "text\x1b[10;1H\x1b[7m(END)\x1b[m"), [""; 0]);
    // However much is decorated, it is looked at in linear time.
    let noise =
        (0..20_000).map(|n| format!("\x1b[48;5;{}mx", n % 256)).collect::<Vec<_>>().concat();
    assert!(found(200, &noise).len() <= 8);
}

#[test]
fn a_selected_entry_in_a_window_may_have_the_background_around_the_window() {
    let mut terminal = terminal(20, 7);
    terminal.feed(b"\x1b[44m\x1b[2J");
    let rows: [&[u8]; 5] = [b"", b"one", b"\x1b[44mtwo\x1b[47m", b"three", b""];
    for (row, text) in rows.iter().enumerate() {
        terminal.feed(format!("\x1b[47m\x1b[{};4H              \x1b[{0};6H", row + 2).as_bytes());
        terminal.feed(text);
    }
    let highlights = terminal.screen().highlights();
    let texts: Vec<&str> = highlights.iter().map(|found| found.text.as_str()).collect();
    assert_eq!(texts, ["two"]);
}

#[test]
fn a_character_cut_between_reads_costs_no_other() {
    let mut terminal = terminal(20, 5);
    terminal.feed(b"\xc3");
    terminal.feed(b"\xa9a\xf0");
    terminal.feed(b"\x9f\x99\x82b");
    assert_eq!(terminal.screen().rows[0].text(), "éa🙂b");
}

#[test]
fn a_feed_ends_behind_a_mark_and_the_stream_is_tapped_where_no_output_is_captured() {
    let mut terminal = terminal(20, 5);
    terminal.feed(b"before\r\n");
    terminal.tap();
    let stream = b"$ \x1b]633;C\x07one \x1b[31mtwo\x1b]2;title\x07\x1b[5m!\x1b]633;D;0;n\x07hook";
    let mut rest: &[u8] = stream;
    rest = &rest[terminal.feed_some(rest)..];
    assert_eq!(terminal.take_mark(), Some(Mark::OutputStart(String::new())));
    assert_eq!(terminal.take_tapped(), b"$ ");
    terminal.begin_output();
    rest = &rest[terminal.feed_some(rest)..];
    assert_eq!(terminal.take_mark(), Some(Mark::CommandEnd("0;n".into())));
    assert_eq!(terminal.take_tapped(), b"");
    // What was on the line before is not output.
    assert_eq!(terminal.suspend_output().text, "one two!");
    assert_eq!(terminal.feed_some(rest), rest.len());
    assert_eq!((terminal.take_mark(), terminal.take_tapped()), (None, b"hook".to_vec()));
    assert_eq!(terminal.pending_output().text, "one two!hook");
}

#[test]
fn a_command_finds_the_terminal_as_a_shell_leaves_it() {
    assert_eq!(terminal(20, 5).reset_for_command(), "");
    for left in [
        "\x1b[?1049h\x1b[2;3rx",
        "\x1b(0\x1b[?1049h\x1b(B",
        "\x1b[2;4r\x1b[?6h",
        "\x1b[?69h\x1b[3;9s",
        "\x1b[4h",
        "\x1b[20h",
        "\x1b[?7l",
        "\x0e\x1b)0",
        "\x1b(0",
        "[begins] x",
        "\x1bVkept\r",
    ] {
        let mut terminal = terminal(20, 5);
        terminal.feed(b"$ killed\r\n");
        terminal.feed(left.as_bytes());
        let row = terminal.core.primary.cursor.row;
        assert!(!terminal.reset_for_command().is_empty(), "{left:?}");
        assert_eq!(terminal.reset_for_command(), "", "{left:?}");
        let same_row = terminal.core.primary.cursor.row == row;
        assert!(same_row || left.contains("1049") || left.ends_with('x'), "{left:?}");
        terminal.begin_output();
        let printed = format!("qx {}\r\n", "a".repeat(30)).repeat(9);
        terminal.feed(printed.as_bytes());
        let output = terminal.take_done_output() + &terminal.end_output().text;
        assert_eq!(output, printed.replace('\r', ""), "{left:?}");
    }
}

#[test]
fn a_command_prints_on_no_earlier_text() {
    for left in ["\x1b[H", "\x1b[H\x1b[41m", "\x1b[1;7H", "\x1bVkept\x1b[H"] {
        let mut terminal = terminal(20, 5);
        terminal.feed(format!("earlier line\r\nearlier line\r\n$ {left}").as_bytes());
        assert!(!terminal.reset_for_command().is_empty(), "{left:?}");
        assert_eq!(terminal.reset_for_command(), "", "{left:?}");
        terminal.begin_output();
        terminal.feed(b"1\t2\r\n30%\r\x1b[Kx\ty\r\n");
        assert_eq!(terminal.end_output().text, "1\t2\nx\ty\n", "{left:?}");
    }
}

#[test]
fn lines_of_a_command_do_not_continue_those_of_another() {
    let mut terminal = terminal(10, 6);
    terminal.feed("a".repeat(45).as_bytes());
    terminal.feed(b"\r\n\x1b[5A");
    terminal.begin_output();
    terminal.feed(b"one\r\ntwo\r\n");
    assert_eq!(terminal.end_output().text, "one\ntwo\n");
}

#[test]
fn what_is_left_of_an_earlier_command_in_a_row_is_no_output() {
    let mut terminal = terminal(40, 6);
    terminal.feed(b"\x1b[3;20Hx\tabc\r\n\x1b[5;1Hold\x1b[H");
    terminal.begin_output();
    terminal.feed(b"1\r\n2 \r\n3\r\n4\r\n\x1b[10Cnew");
    assert_eq!(terminal.end_output().text, "1\n2 \n3\n4\n          new");
}

#[test]
fn wide_output_is_whole_when_the_size_changes() {
    for (narrow, wide) in [((5, 5), (120, 40)), ((7, 3), (200, 41)), ((3, 40), (2, 41))] {
        let mut terminal = terminal(120, 40);
        terminal.feed(b"$ \r\n");
        terminal.begin_output();
        let text = "漢字".repeat(60);
        terminal.feed(format!("{text}\r\n").as_bytes());
        for (cols, rows) in [narrow, wide] {
            terminal.resize(Size { cols, rows });
        }
        let output = terminal.take_done_output() + &terminal.end_output().text;
        assert_eq!(output, format!("{text}\n"), "{narrow:?} {wide:?}");
    }
}

#[test]
fn a_tab_in_the_part_of_a_line_that_was_taken_adds_nothing_when_the_size_changes() {
    for rows in [2, 3, 24] {
        let mut terminal = terminal(20, rows);
        terminal.feed(b"$ \r\n");
        terminal.begin_output();
        let text = format!("{}12345678\t{}\n", "\n".repeat(rows.into()), "y".repeat(20));
        terminal.feed(text.replace('\n', "\r\n").as_bytes());
        terminal.feed("\r\n".repeat(usize::from(rows) - 2).as_bytes());
        let mut output = terminal.take_done_output();
        terminal.resize(Size { cols: 80, rows });
        output += &(terminal.take_done_output() + &terminal.end_output().text);
        assert_eq!(output.trim_end(), text.trim_end(), "{rows} rows");
    }
}

#[test]
fn a_cursor_that_was_saved_behind_the_last_column_is_behind_the_text_of_a_wider_screen() {
    let mut terminal = terminal(2, 1);
    terminal.feed(b"ab\x1b7");
    terminal.resize(Size { cols: 4, rows: 1 });
    let mut replayed = Terminal::new(terminal.size(), Options::default());
    replayed.feed(&terminal.dump().stream);
    for terminal in [&mut terminal, &mut replayed] {
        terminal.feed(b"\x1b8c");
        assert_eq!(text(terminal), "abc");
    }
}

#[test]
fn output_is_whole_when_the_size_changes_within_a_line() {
    let mut terminal = terminal(10, 3);
    terminal.feed(b"old\r\nold\r\n$ ");
    terminal.begin_output();
    let text: String = ('a'..='z').chain('A'..='Z').collect();
    terminal.feed(text.as_bytes());
    for cols in [25, 7, 80, 4, 30] {
        terminal.resize(Size { cols, rows: 3 });
        let done = terminal.core.capture.clone().map(|mut capture| capture.take_done());
        let output = done.unwrap_or_default() + &terminal.pending_output().text;
        assert_eq!(output, text, "{cols} columns");
    }
    terminal.feed(b"!\r\nend");
    let output = terminal.take_done_output() + &terminal.end_output().text;
    assert_eq!(output, format!("{text}!\nend"));
}

#[test]
fn text_after_an_unfinished_sequence_is_whole() {
    let mut terminal = terminal(20, 5);
    terminal.feed(b"\x1b[1\x1b]133;A\x07hello \xe6\x1b]133;B\x07\xbcx");
    assert_eq!(terminal.screen().rows[0].text(), "hello \u{fffd}\u{fffd}x");
}

#[test]
fn keyboard_modes_can_be_pushed_without_end() {
    let mut terminal = terminal(20, 5);
    terminal.feed(&b"\x1b[>1u".repeat(5000));
    terminal.feed(b"\x1b[>5u");
    assert!(terminal.input_modes().kitty.contains(KittyFlags::ALTERNATE_KEYS));
    terminal.feed(&b"\x1b[<9999u".repeat(2));
    assert!(terminal.input_modes().kitty.is_empty());
    terminal.feed(b"still here");
    assert_eq!(terminal.screen().rows[0].text(), "still here");
}

#[test]
fn links_and_marks_are_counted_and_bounded() {
    let mut terminal = terminal(100, 50);
    let plain = terminal.memory_estimate();
    let link = "u".repeat(4000);
    for number in 0..2000 {
        terminal.feed(format!("\x1b]8;;http://{number}/{link}\x1b\\x").as_bytes());
    }
    let linked = terminal.memory_estimate() - plain;
    assert!((8_000_000..=32_000_000).contains(&linked), "{linked} bytes for 8 MB of links");
    for number in 0..10_000 {
        terminal.feed(format!("\x1b]8;;http://{number}/{link}\x1b\\y").as_bytes());
    }
    assert!(terminal.memory_estimate() < 64 << 20, "{}", terminal.memory_estimate());
    // Once the lines with links are gone, there is room for new ones.
    terminal.feed(b"\x1b]8;;\x1b\\");
    terminal.feed(&b"a line without links\r\n".repeat(100_000));
    terminal.feed(b"\x1b]8;;http://new/\x1b\\z");
    let screen = terminal.screen();
    let cell = &screen.rows[usize::from(screen.cursor.row)].cells[0];
    assert_eq!(cell.link.as_deref(), Some("http://new/"));
    for _ in 0..100 {
        terminal.feed("a\u{301}".repeat(5000).as_bytes());
    }
    assert!(terminal.memory_estimate() < 64 << 20, "{}", terminal.memory_estimate());
}

#[test]
fn titles_can_be_pushed_without_end() {
    let mut terminal = terminal(20, 5);
    for number in 0..5000 {
        terminal.feed(format!("\x1b]2;title {number}\x07\x1b[22;0t").as_bytes());
    }
    terminal.feed(b"\x1b]2;now\x07\x1b[23;0t");
    assert_eq!(terminal.title(), "title 4999");
    terminal.feed(&b"\x1b[23t".repeat(5000));
    assert_eq!(terminal.title(), "title 4984", "the oldest that was kept");
}
