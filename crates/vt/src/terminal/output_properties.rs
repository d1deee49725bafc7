//! What is left of any output is what the terminal shows, wherever the stream is cut.

use proptest::prelude::*;

use crate::{CellWidth, CleanOutput, Options, Row, Size, Terminal};

/// Output such as programs print, with every edit and movement, but without clearing the whole screen,
/// which moves it to the terminal's scrollback, or that scrollback. Tabs and wide characters only where it is `rich`.
fn output(rich: bool) -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![3 => Just(String::new()), 3 => (0u16..12).prop_map(|n| n.to_string()),
        1 => (0u16..400).prop_map(|n| n.to_string())];
    let csi = (number.clone(), number, "[A-HJKLMPSTXZ@abdefhlrsu`]")
        .prop_filter("leaves the scrollback alone", |(a, _, last)| {
            last != "J" || !matches!(a.as_str(), "2" | "3")
        })
        .prop_map(|(a, b, last)| match last.as_str() {
            "J" => format!("\x1b[{a}J"),
            _ => format!("\x1b[{a};{b}{last}"),
        })
        .prop_map(String::into_bytes);
    let escape = proptest::sample::select(vec![
        "\x1b7",
        "\x1b8",
        "\x1bM",
        "\x1bD",
        "\x1bE",
        "\x1b(0",
        "\x1b(B",
        "\x0e",
        "\x0f",
        "\x1b)0",
        "\x1b[1m",
        "\x1b[m",
        "\x1b[4h",
        "\x1b[4l",
        "\x1b[?7l",
        "\x1b[?7h",
        "\x1b[?6h",
        "\x1b[?6l",
        "\x1b[!p",
        "\x1b]0;t\x07",
        "\x1b]8;;http://x\x1b\\",
        "\x1b]133;A\x07",
        "\x1b[?1049hx",
        "\x1b[?1049l",
        "\x1b[?47h",
        "\x1b[?47l",
        "\x1b[?1048h",
        "\x1b[?1048l",
        "\x1b[?2026h",
        "\x1b#8",
        "\x1b[?3l",
    ]);
    let text = prop_oneof![
        3 => "[ -~]{1,30}".prop_map(String::into_bytes),
        3 => if rich { "[漢字é🙂a \u{301}\u{fe0f}]{1,8}" } else { "[éa \u{301}\u{200d}\u{fe0f}]{1,8}" }
            .prop_map(String::into_bytes),
        1 => "[\u{301}\u{fe0f}]{1,40}".prop_map(String::into_bytes),
        2 => Just(b"\r\n".to_vec()),
        2 => Just(b"\r".to_vec()),
        1 => Just(b"\x08".to_vec()),
        1 => Just(b"\xe6\xbc".to_vec()),
        1 => Just(if rich { b"\t".to_vec() } else { b"\n".to_vec() }),
        1 => Just(if rich { b"\x1b[3g".to_vec() } else { b"\r".to_vec() }),
    ];
    let piece = prop_oneof![
        6 => text, 4 => csi, 3 => escape.prop_map(|text: &str| text.as_bytes().to_vec()),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn size() -> impl Strategy<Value = Size> {
    (2u16..24, 1u16..8).prop_map(|(cols, rows)| Size { cols, rows })
}

fn clean(size: Size, bytes: &[u8]) -> String {
    let mut output = CleanOutput::new(size, 0);
    output.feed(bytes);
    output.finish()
}

/// Scrollback and primary screen of the terminal, soft-wrapped rows joined.
fn shown(size: Size, bytes: &[u8]) -> String {
    let options = Options { scrollback_lines: 100_000, ..Options::default() };
    let mut terminal = Terminal::new(size, options);
    terminal.feed(bytes);
    terminal.feed(b"\x1b[?1049l\x1b[?2026l");
    let history = (0..terminal.history_len()).filter_map(|index| terminal.history_row(index));
    let rows: Vec<Row> = history.chain(terminal.screen().rows).collect();
    let mut text = String::new();
    for row in &rows {
        for cell in row.cells.iter().filter(|cell| cell.width != CellWidth::Continuation) {
            text.push(cell.character);
            text.extend(cell.combining.iter().flat_map(|marks| marks.chars()));
        }
        if !row.wrapped {
            text.push('\n');
        }
    }
    text
}

fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{301}' | '\u{200d}' | '\u{fe0f}')
}

/// Without trailing blanks, and without marks on blanks: a line that begins with a mark keeps it, while
/// the terminal puts it on a blank cell.
fn lines(text: &str) -> String {
    let mut kept = String::new();
    for character in text.chars() {
        let on_blank = kept.chars().next_back().is_none_or(char::is_whitespace);
        if !(is_zero_width(character) && on_blank) {
            kept.push(character);
        }
    }
    let lines: Vec<&str> = kept.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !is_zero_width(*c)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_left_is_what_the_terminal_shows(size in size(), bytes in output(false)) {
        prop_assert_eq!(lines(&clean(size, &bytes)), lines(&shown(size, &bytes)), "{}", bytes.escape_ascii());
    }

    #[test]
    fn tabs_and_wide_characters_differ_in_blanks_at_most(size in size(), bytes in output(true)) {
        let (cleaned, shown) = (clean(size, &bytes), shown(size, &bytes));
        prop_assert_eq!(without_blanks(&cleaned), without_blanks(&shown), "{}", bytes.escape_ascii());
    }

    #[test]
    fn cuts_do_not_matter(
        size in size(), bytes in output(true), noise in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let bytes = [bytes, noise].concat();
        let whole = clean(size, &bytes);
        for cut in 0..bytes.len() {
            let mut output = CleanOutput::new(size, 0);
            output.feed(&bytes[..cut]);
            let early = output.take_done();
            output.feed(&bytes[cut..]);
            prop_assert_eq!(early + &output.finish(), whole.as_str(), "cut at {} of {}", cut, bytes.escape_ascii());
        }
        let mut single = CleanOutput::new(size, 0);
        bytes.iter().for_each(|byte| single.feed(&[*byte]));
        prop_assert_eq!(single.finish(), whole);
    }

    #[test]
    fn plain_text_is_exact(size in size(), row in 0u16..8, text in "(([ -~漢é🙂]\u{301}?|\t){0,40}\n){0,6}[ -~\t漢]{0,20}") {
        let mut output = CleanOutput::new(size, row);
        output.feed(text.replace('\n', "\r\n").as_bytes());
        prop_assert_eq!(output.finish(), text);
    }

    #[test]
    fn resizes_lose_nothing(
        size in size(), others in proptest::collection::vec((size(), 0u16..8), 1..4), text in "[a-z漢]{1,60}",
    ) {
        let mut output = CleanOutput::new(size, 0);
        output.feed(text.as_bytes());
        for (other, row) in others {
            output.resize(other, row);
        }
        output.feed(b"END");
        let cleaned: String = output.finish().split('\n').collect();
        prop_assert_eq!(cleaned, text + "END");
    }

    #[test]
    fn a_restored_output_gives_the_same_text_at_every_cut(
        size in size(), row in 0u16..8, bytes in output(true), noise in proptest::collection::vec(any::<u8>(), 0..20),
        resize in (0usize..200, size(), 0u16..8),
    ) {
        let bytes = [bytes, noise].concat();
        let (at, other, to) = resize;
        let mut whole = CleanOutput::new(size, row);
        feed(&mut whole, &bytes, 0..bytes.len(), at, other, to);
        let was_full_screen = whole.was_full_screen();
        let whole = whole.finish();
        let mut before = CleanOutput::new(size, row);
        for cut in 0..bytes.len() {
            let dump = before.to_bytes();
            let mut after = CleanOutput::from_bytes(&dump).expect("a dump can be restored");
            prop_assert_eq!(after.pending(), before.pending());
            prop_assert_eq!(after.was_full_screen(), before.was_full_screen());
            prop_assert!(after.to_bytes() == dump);
            feed(&mut after, &bytes, cut..bytes.len(), at, other, to);
            prop_assert_eq!(after.was_full_screen(), was_full_screen);
            prop_assert_eq!(after.finish(), whole.as_str(), "cut at {} of {}", cut, bytes.escape_ascii());
            feed(&mut before, &bytes, cut..cut + 1, at, other, to);
        }
    }
}

/// Feeds a range of the bytes, with a resize before the byte `at`.
fn feed(
    output: &mut CleanOutput,
    bytes: &[u8],
    range: std::ops::Range<usize>,
    at: usize,
    size: Size,
    row: u16,
) {
    if range.contains(&at) {
        output.feed(&bytes[range.start..at]);
        output.resize(size, row);
        output.feed(&bytes[at..range.end]);
    } else {
        output.feed(&bytes[range]);
    }
}
