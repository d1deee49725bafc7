//! The tool itself: what it prints can be read back, and what it finds is made simple.

use termbridge_vt::Size;

use crate::compare::{Compared, difference, ours};
use crate::minimise::minimise;
use crate::pieces::KINDS;
use crate::run::random_stream;
use crate::stream::{Body, Piece, Stream, escape};
use crate::unescape::unescape;

const SIZE: Size = Size { cols: 20, rows: 6 };

fn contains(stream: &Stream, bytes: &[u8]) -> bool {
    stream.bytes().windows(bytes.len()).any(|window| window == bytes)
}

#[test]
fn what_is_printed_can_be_read_back() {
    let kinds: Vec<_> = KINDS.iter().collect();
    for seed in 0..500 {
        let bytes = random_stream(seed, &kinds).bytes();
        assert_eq!(unescape(&escape(&bytes)), bytes, "{}", escape(&bytes));
        let given = Stream::from_bytes(&bytes, SIZE, 100);
        assert_eq!(given.bytes(), bytes, "{}", escape(&bytes));
        assert_eq!(given.feeds().concat(), bytes);
    }
}

#[test]
fn a_stream_is_made_as_simple_as_it_can_be() {
    let kinds: Vec<_> = KINDS.iter().filter(|kind| kind.name != "cup").collect();
    let mut stream = random_stream(7, &kinds);
    let parameters = vec!["17".to_owned(), "4".to_owned()];
    let body = Body::Sequence { start: "\x1b[", parameters, end: "H" };
    stream.pieces.insert(1, Piece { kind: "cup", body });
    stream
        .pieces
        .insert(2, Piece { kind: "text", body: Body::Text("some Z text".chars().collect()) });
    let fails = |stream: &Stream| {
        contains(stream, b"Z") && stream.pieces.iter().any(|piece| piece.kind == "cup")
    };
    let simplest = minimise(stream, |streams| streams.iter().map(fails).collect());
    assert_eq!(escape(&simplest.bytes()), "\\e[HZ");
    assert_eq!((simplest.size.cols, simplest.size.rows), (3, 2));
    assert!(simplest.cuts.is_empty());
}

#[test]
fn what_differs_is_named() {
    let shown = |text: &str| ours(&Stream::from_bytes(text.as_bytes(), SIZE, 100));
    let all = Compared { wraps: true, history: true };
    let difference = |ours: &str, theirs: &str| {
        difference(&shown(ours), &shown(theirs).expect("no panic"), all).unwrap_or_default()
    };
    assert_eq!(difference("same \x1b[1mtext", "same \x1b[1mtext"), "");
    let long = "x".repeat(20);
    for (ours, theirs, named) in [
        ("a", "b", "row 0, column 0: ours 'a', xterm.js 'b'"),
        ("\x1b[31ma", "\x1b[32;1ma", "ours 'a' fg=1, xterm.js 'a' fg=2 bold"),
        ("漢\x1b[H", "x\x1b[H", "ours wide '漢', xterm.js 'x'"),
        ("a\x1b[H", "a", "cursor (row, column): ours (0, 0), xterm.js (0, 1)"),
        ("\x1b[?25l", "", "cursor visible: ours false, xterm.js true"),
        ("\x1b[?1049h", "", "alternate screen: ours true, xterm.js false"),
        ("\x1b[?2004h", "", "modes: ours [\"bracketed paste\", \"mouse: none\"]"),
        ("\x1b[5n", "", "answers: ours \"\\\\e[0n\", xterm.js \"\""),
        ("\n\n\n\n\n\n\n\x1b[H", "\x1b[H", "lines of the history: ours 2, xterm.js 0"),
        (&format!("{long}y"), &format!("{long}\r\ny"), "row 0 continues in the next only in ours"),
    ] {
        let text = difference(ours, theirs);
        assert!(text.contains(named), "{named} is not in\n{text}");
    }
}
