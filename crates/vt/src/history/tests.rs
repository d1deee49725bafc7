//! What is read of the history is what scrolled off, at any width.

use proptest::prelude::*;

use crate::{Options, Row, Size, Terminal};

fn terminal(cols: u16, scrollback_lines: usize) -> Terminal {
    Terminal::new(Size { cols, rows: 3 }, Options { scrollback_lines, ..Options::default() })
}

fn rows(terminal: &Terminal) -> Vec<Row> {
    let rows: Vec<Row> = terminal.history_rows(0).collect();
    assert_eq!(rows.len(), terminal.history_len());
    rows
}

fn texts(terminal: &Terminal) -> Vec<String> {
    rows(terminal).iter().map(Row::text).collect()
}

type MakeLine = Box<dyn Fn(usize) -> String>;

#[test]
fn ten_thousand_lines_take_little_memory() {
    let full = |n: usize, col: usize| {
        format!(
            "\x1b[38;5;{};48;5;{}m{}",
            (n + col) % 256,
            col * 7 % 256,
            (b'a' + (col % 26) as u8) as char
        )
    };
    let rgb = |n: usize, col: usize| {
        format!("\x1b[38;2;{};{};9;48;2;7;{};{}mx", n % 256, col, col * 2, n / 50)
    };
    let line = |n: usize, cell: &dyn Fn(usize, usize) -> String| {
        (0..120).map(|col| cell(n, col)).collect::<String>() + "\x1b[m\r\n"
    };
    let kinds: [(&str, MakeLine, usize); 3] = [
        (
            "typical",
            Box::new(|n| {
                format!("{n:5} a line of some words, as programs print it to their logs\r\n")
            }),
            1536,
        ),
        ("a pair of colours in each cell", Box::new(move |n| line(n, &full)), 4 * 1024),
        ("a pair of RGB colours in each cell", Box::new(move |n| line(n, &rgb)), 16 * 1024),
    ];
    for (what, make, kilobytes) in kinds {
        let mut terminal = Terminal::new(Size { cols: 120, rows: 40 }, Options::default());
        (0..10_040).for_each(|n| terminal.feed(make(n).as_bytes()));
        assert_eq!(terminal.history_len(), 10_000);
        let taken = terminal.core_history_memory();
        assert!(taken <= kilobytes * 1024, "{what}: {taken} bytes");
    }
}

#[test]
fn a_line_that_never_ends_is_kept_in_pieces() {
    let mut terminal = terminal(100, 10_000);
    terminal.feed("x".repeat(300_000).as_bytes());
    assert_eq!(texts(&terminal).concat().len(), 300_000 - 300);
    assert!(rows(&terminal).iter().all(|row| row.wrapped));
}

#[test]
fn lines_are_cut_off_at_the_limit_row_by_row() {
    let mut terminal = terminal(10, 7);
    for n in 0..20_000 {
        terminal.feed(format!("line {n}\r\n").as_bytes());
    }
    assert_eq!(terminal.history_len(), 7);
    assert_eq!(texts(&terminal)[0], "line 19991");
    assert!(terminal.memory_estimate() < 400_000, "{}", terminal.memory_estimate());
}

#[test]
fn styles_links_and_clusters_come_back() {
    let mut terminal = terminal(12, 100);
    terminal.feed("\x1b[1;31mred\x1b[m \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\r\n".as_bytes());
    terminal.feed("e\u{301}漢\tx\r\n\x1b[44m  \x1b[K\x1b[m\r\n\r\n\r\n".as_bytes());
    let before: Vec<Row> = {
        let mut shown = Terminal::new(Size { cols: 12, rows: 9 }, Options::default());
        shown.feed("\x1b[1;31mred\x1b[m \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\r\n".as_bytes());
        shown.feed("e\u{301}漢\tx\r\n\x1b[44m  \x1b[K\x1b[m\r\n\r\n\r\n".as_bytes());
        shown.screen().rows
    };
    assert_eq!(rows(&terminal), before[..3]);
}

fn output() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z ]{1,30}",
        2 => "[a-z漢é🙂]{1,12}",
        1 => Just("e\u{301}".to_owned()),
        2 => (0u8..40).prop_map(|code| format!("\x1b[{code}m")),
        1 => any::<(u8, u8)>().prop_map(|(r, g)| format!("\x1b[38;2;{r};{g};0m")),
        1 => Just("\t".to_owned()),
        3 => Just("\r\n".to_owned()),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    /// Rows that scrolled off are the rows of a screen so high that nothing does.
    #[test]
    fn what_scrolled_off_is_what_a_higher_screen_shows(cols in 2u16..30, output in output()) {
        let mut low = terminal(cols, 10_000);
        let mut high = Terminal::new(Size { cols, rows: 900 }, Options::default());
        low.feed(output.as_bytes());
        high.feed(output.as_bytes());
        let all: Vec<Row> = rows(&low).into_iter().chain(low.screen().rows).collect();
        let expected = high.screen().rows;
        prop_assert_eq!(&all[..], &expected[..all.len()]);
    }

    /// At another width the lines are those that were printed, whatever part of them had scrolled off.
    #[test]
    fn a_line_partly_scrolled_off_is_laid_out_as_one(cols in 2u16..30, other in 2u16..30, output in "([a-z漢 ]{0,70}\r\n){0,6}[a-z漢]{0,90}") {
        let mut resized = terminal(cols, 10_000);
        resized.feed(output.as_bytes());
        resized.resize(Size { cols: other, rows: 3 });
        let mut direct = terminal(other, 10_000);
        direct.feed(output.as_bytes());
        let lines = |terminal: &Terminal| {
            let rows = rows(terminal).into_iter().chain(terminal.screen().rows);
            rows.map(|row| if row.wrapped { row.text() } else { row.text() + "\n" }).collect::<String>().trim_end().to_owned()
        };
        prop_assert_eq!(lines(&resized), lines(&direct));
    }
}
