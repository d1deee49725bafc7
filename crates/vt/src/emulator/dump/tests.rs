//! What a dump holds, in single cases.

use super::Dump;
use crate::codec::{self, DumpError};
use crate::{Options, Size, Terminal};

const SIZE: Size = Size { cols: 20, rows: 4 };

/// Makes the checksums of a changed dump right again.
pub(super) fn forge(dump: &mut Dump) {
    if dump.state.len() < 20 {
        return;
    }
    // Magic, length of the stream, its checksum.
    let state = &mut dump.state;
    let number = 4 + state[4..].iter().take_while(|byte| **byte >= 0x80).count() + 1;
    let mut head = codec::Writer::begin([state[0], state[1], state[2], state[3]]);
    head.size(dump.stream.len());
    head.fixed(codec::checksum(&dump.stream));
    let end = state.len() - 8;
    let rest = state.get(number + 8..end).unwrap_or_default().to_vec();
    let mut body = head.seal();
    body.truncate(body.len() - 8);
    body.extend(rest);
    let sum = codec::checksum(&body);
    body.extend_from_slice(&sum.to_le_bytes());
    dump.state = body;
}

fn after(bytes: &[u8]) -> Terminal {
    let mut terminal = Terminal::new(SIZE, Options::default());
    terminal.feed(bytes);
    terminal
}

fn restored(terminal: &Terminal) -> Terminal {
    Terminal::restore(&terminal.dump(), Options::default()).expect("a dump can be restored")
}

#[test]
fn an_empty_terminal_is_a_few_bytes() {
    let dump = after(b"").dump();
    assert!(dump.stream.len() < 100, "{}", dump.stream.escape_ascii());
    assert!(dump.state.len() < 100, "{} bytes", dump.state.len());
}

#[test]
fn plain_text_is_dumped_as_it_is() {
    let mut text = String::new();
    (0..1000).for_each(|line| text.push_str(&format!("line {line}\r\n")));
    let dump = after(text.as_bytes()).dump();
    let stream = String::from_utf8(dump.stream).unwrap();
    assert!(stream.contains(&text[..text.len() - 2]));
    assert!(stream.len() < text.len() + 100, "{} for {}", stream.len(), text.len());
    assert!(dump.state.len() < 150, "{} bytes", dump.state.len());
}

#[test]
fn links_that_fill_the_screen_in_pieces_stay_bounded() {
    let mut terminal = Terminal::new(Size { cols: 200, rows: 50 }, Options::default());
    terminal.feed(format!("\x1b]8;;http://{}\x1b\\", "x".repeat(4000)).as_bytes());
    for row in 1..=50 {
        for col in (1..=200).step_by(2) {
            terminal.feed(format!("\x1b[{row};{col}Ho").as_bytes());
        }
    }
    let dump = terminal.dump();
    assert!(dump.stream.len() + dump.state.len() < 20_000_000, "{}", dump.stream.len());
    let restored = Terminal::restore(&dump, Options::default()).unwrap();
    assert_eq!(restored.screen(), terminal.screen());
}

#[test]
fn the_primary_screen_is_there_beneath_the_alternate_one() {
    let terminal = after(b"one\r\ntwo\x1b[?1049h\x1b[31mfull\x1b[2;3H");
    let mut restored = restored(&terminal);
    assert_eq!(restored.screen(), terminal.screen());
    restored.feed(b"\x1b[?1049l!");
    assert_eq!(restored.screen().rows[1].text(), "two!");
}

#[test]
fn fewer_lines_of_scrollback_keep_the_newest() {
    let mut terminal = after(&b"a\tb\r\n".repeat(30));
    terminal.feed(b"last\r\n");
    let options = Options { scrollback_lines: 5, ..Options::default() };
    let restored = Terminal::restore(&terminal.dump(), options).unwrap();
    assert_eq!(restored.history_len(), 5);
    assert_eq!(restored.screen(), terminal.screen());
    assert_eq!(restored.history_row(0), terminal.history_row(terminal.history_len() - 5));
}

#[test]
fn an_oversized_string_goes_on_being_dropped() {
    let mut terminal = after(b"\x1b]2;");
    terminal.feed(&vec![b'x'; 2_000_000]);
    let mut restored = restored(&terminal);
    restored.feed(b"more\x1b\\shown");
    assert_eq!((restored.title(), restored.screen().rows[0].text().as_str()), ("", "shown"));
}

#[test]
fn other_versions_and_sizes_are_refused() {
    let dump = after(b"x").dump();
    let mut other = dump.clone();
    other.state[3] += 1;
    assert_eq!(Terminal::restore(&other, Options::default()).err(), Some(DumpError::Version));
    let mut other = dump.clone();
    other.size.cols = 1;
    assert_eq!(Terminal::restore(&other, Options::default()).err(), Some(DumpError::Damaged));
    let mut other = dump;
    other.stream.push(b'x');
    assert_eq!(Terminal::restore(&other, Options::default()).err(), Some(DumpError::Damaged));
}

/// The emulator keeps an empty record on a cell whose marks went with the wide character they were on.
#[test]
fn a_cell_that_lost_its_marks_is_a_blank() {
    let mut terminal = after("漢\u{301}\x1b[1;2H \x1b[H".as_bytes());
    let seq = terminal.look();
    let mut restored = restored(&terminal);
    assert_eq!(restored.dump(), terminal.dump());
    assert_eq!(restored.look(), seq);
}

#[test]
fn a_full_row_outside_of_the_margins_is_not_printed_inside_of_them() {
    let terminal = after(b"\x1b[?6h\x1b[2;5r\x1b8exactly twenty cols.");
    let restored = restored(&terminal);
    assert_eq!(restored.screen(), terminal.screen());
    assert_eq!(restored.dump(), terminal.dump());
}
