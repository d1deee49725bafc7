//! The formats, on screens small enough to read.

use crate::format::{cells, html, markers, plain, raw, repaint, svg};
use crate::{Options, Palette, Size, Terminal};

fn screen(bytes: &str) -> crate::Screen {
    let mut terminal = Terminal::new(Size { cols: 24, rows: 4 }, Options::default());
    terminal.feed(bytes.as_bytes());
    terminal.screen()
}

const SAMPLE: &str =
    "plain \x1b[1;31mred\x1b[m\r\n\x1b[7m bar \x1b[m <b>&\x1b]8;;https://a.b\x1b\\x\x1b]8;;\x1b\\";

#[test]
fn plain_has_no_escapes_and_no_trailing_blanks() {
    assert_eq!(plain(&screen("a  \r\n\r\n  b\x1b[31m c").rows), "a\n\n  b c");
    assert_eq!(plain(&screen("").rows), "");
}

#[test]
fn markers_name_attributes() {
    assert_eq!(
        markers(&screen(SAMPLE).rows),
        "plain ⟦bold red⟧red⟦/⟧\n⟦inverse⟧ bar ⟦/⟧ <b>&⟦link https://a.b⟧x⟦/⟧"
    );
}

#[test]
fn cells_are_runs() {
    let screen = screen(SAMPLE);
    let runs = cells(&screen.rows[0]);
    assert_eq!(runs.len(), 2);
    assert_eq!((runs[0].col, runs[0].text.as_str(), &runs[0].fg), (0, "plain ", &None));
    assert_eq!((runs[1].col, runs[1].text.as_str()), (6, "red"));
    assert_eq!(runs[1].fg.as_deref(), Some("red"));
    assert_eq!(runs[1].attributes, ["bold"]);
    assert_eq!(cells(&screen.rows[1])[2].link.as_deref(), Some("https://a.b"));
}

#[test]
fn markup_is_escaped() {
    let html = html(&screen(SAMPLE), &Palette::default());
    assert!(html.contains("&lt;b&gt;&amp;"), "{html}");
    assert!(html.contains("<a href=\"https://a.b\">x</a>"), "{html}");
    let hostile = html_of("\x1b]8;;javascript:alert(1)\x1b\\click\x1b]8;;\x1b\\<script>");
    assert!(!hostile.contains("javascript:") && !hostile.contains("<script>"), "{hostile}");
    let svg = svg(&screen(SAMPLE), &Palette::default());
    assert!(svg.contains("&lt;b&gt;&amp;") && svg.ends_with("</svg>\n"), "{svg}");
}

fn html_of(bytes: &str) -> String {
    html(&screen(bytes), &Palette::default())
}

#[test]
fn a_repaint_leaves_nothing_of_what_was_there_and_scrolls_the_rest_off() {
    let wanted =
        screen("\x1b[2;3H\x1b[41mred\x1b[m plain\x1b[4;1H\x1b[7mlast\x1b[K\x1b[3;2H\x1b[5 q");
    let above = screen("\x1b[44mblue\x1b[m\r\nsecond").rows;
    let mut terminal = Terminal::new(Size { cols: 24, rows: 4 }, Options::default());
    terminal.feed("\x1b[42mold\r\n".repeat(20).as_bytes());
    terminal.feed(b"\x1b[3J");
    terminal.feed(repaint(&above[..2], &wanted).as_bytes());
    assert_eq!(terminal.screen(), wanted);
    let history: Vec<_> =
        (0..terminal.history_len()).filter_map(|at| terminal.history_row(at)).collect();
    assert_eq!(plain(&history), "blue\nsecond");
    assert_eq!(history, above[..2]);
}

#[test]
fn raw_gives_the_same_screen() {
    let original = screen("\x1b]2;t\x07\x1b[?1049h\x1b[?25l\x1b[5 q\x1b[3;20H漢\x1b[44mbg\x1b[K");
    assert_eq!(screen(&raw(&original)), original);
}
