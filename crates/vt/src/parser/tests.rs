//! What the handler is called with, wherever the stream is cut.

use proptest::prelude::*;

use super::{Csi, Handler, MAX_CONTROL, MAX_STRING, Parser};
use crate::utf8::valid_start;

/// Writes down what it is called with; text is joined.
#[derive(Debug, Default, PartialEq)]
struct Calls(Vec<String>);

impl Calls {
    fn add_text(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(last) if last.starts_with('"') => last.push_str(text),
            _ => self.0.push(format!("\"{text}")),
        }
    }
}

impl Handler for Calls {
    fn ascii(&mut self, run: &[u8]) {
        self.add_text(str::from_utf8(run).expect("ASCII"));
    }

    fn text(&mut self, text: &[u8]) -> usize {
        let valid = valid_start(text);
        self.add_text(valid);
        valid.len()
    }

    fn control(&mut self, byte: u8) {
        self.0.push(format!("{byte:02x}"));
    }

    fn escape(&mut self, intermediates: &[u8], last: u8) {
        self.0.push(format!("ESC {} {}", intermediates.escape_ascii(), char::from(last)));
    }

    fn csi(&mut self, csi: &Csi<'_>) {
        let (prefix, intermediates, last) = csi.name();
        let prefix = if prefix == 0 { ' ' } else { char::from(prefix) };
        let numbers = 0..csi.params.len();
        let subs: Vec<usize> =
            numbers.filter(|at| *at > 0 && csi.params.subs(at - 1) > 0).collect();
        let params = csi.params.all();
        self.0.push(format!(
            "CSI {prefix} {params:?} {subs:?} {} {}",
            intermediates.escape_ascii(),
            char::from(last)
        ));
    }

    fn string(&mut self, introducer: u8, payload: &[u8], terminator: &'static str) {
        let (introducer, payload) = (char::from(introducer), String::from_utf8_lossy(payload));
        self.0.push(format!("{introducer} {payload} {}", terminator.escape_default()));
    }

    fn has_worked_enough(&self) -> bool {
        false
    }
}

fn calls(pieces: &[&[u8]]) -> Vec<String> {
    let (mut parser, mut calls) = (Parser::default(), Calls::default());
    for piece in pieces {
        assert_eq!(parser.feed(piece, &mut calls), piece.len());
    }
    parser.finish(&mut calls);
    calls.0
}

#[test]
fn a_stream_is_taken_apart() {
    let table: [(&[u8], &[&str]); 23] = [
        (b"one\r\ntwo", &["\"one", "0d", "0a", "\"two"]),
        ("n\u{e4}h\u{6f22}".as_bytes(), &["\"n\u{e4}h\u{6f22}"]),
        (b"\x1b[m", &["CSI   [] [] \\x00\\x00 m"]),
        (b"\x1b[;m", &["CSI   [0, 0] [] \\x00\\x00 m"]),
        (b"\x1b[38:2::1:2:3;4m", &["CSI   [38, 2, 0, 1, 2, 3, 4] [1, 2, 3, 4, 5] \\x00\\x00 m"]),
        (b"\x1b[?25h", &["CSI ? [25] [] \\x00\\x00 h"]),
        (b"\x1b[99999999d", &["CSI   [65535] [] \\x00\\x00 d"]),
        (b"\x1b[00000000000007;99999999999d", &["CSI   [7, 65535] [] \\x00\\x00 d"]),
        (b"\x1b[1 q", &["CSI   [1] []  \\x00 q"]),
        (b"\x1b[2\x08C", &["08", "CSI   [2] [] \\x00\\x00 C"]),
        (b"\x1b[1\x18x", &["\"x"]),
        (b"\x1b[1\x1b[2A", &["CSI   [2] [] \\x00\\x00 A"]),
        (b"\x1b[1?h", &[]),
        (b"\x1b(0", &["ESC ( 0"]),
        (b"\x1b#8", &["ESC # 8"]),
        (b"\x1b7", &["ESC  7"]),
        (b"\x1b]0;t\x07", &["] 0;t \\u{7}"]),
        (b"\x1b]0;t\x1b\\", &["] 0;t \\u{1b}\\\\"]),
        (b"\x1b]0;t\x1b[A", &["] 0;t \\u{1b}\\\\", "CSI   [] [] \\x00\\x00 A"]),
        (b"\x1bP$qm\x1b\\x", &["P $qm \\u{1b}\\\\", "\"x"]),
        (b"\x1bPa\x07b\x1b\\", &["P a\u{7}b \\u{1b}\\\\"]),
        (b"a\x7fb", &["\"ab"]),
        (b"\xff\xe6\xbcx\xe6", &["\"\u{fffd}\u{fffd}x\u{fffd}"]),
    ];
    for (bytes, expected) in table {
        assert_eq!(calls(&[bytes]), expected, "{}", bytes.escape_ascii());
    }
}

#[test]
fn what_goes_on_without_end_is_dropped_whole() {
    let csi = [b"\x1b[".as_slice(), &b"1;".repeat(MAX_CONTROL), b"mafter"].concat();
    let osc = [b"\x1b]2;".as_slice(), &vec![b'x'; MAX_STRING + 10], b"\x1b\\after"].concat();
    for stream in [csi, osc] {
        let pieces: Vec<&[u8]> = stream.chunks(1000).collect();
        assert_eq!(calls(&pieces), ["\"after"]);
        let (mut parser, mut sink) = (Parser::default(), Calls::default());
        for piece in pieces {
            parser.feed(piece, &mut sink);
            assert!(parser.pending.capacity() <= 2 * MAX_STRING + 2000);
        }
    }
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "[ -~]{1,40}".prop_map(String::into_bytes),
        2 => "[\u{e4}\u{6f22}\u{1f642}a]{1,6}".prop_map(String::into_bytes),
        3 => "\x1b\\[[?>]?[0-9;:]{0,9}[ $]?[@-~]".prop_map(String::into_bytes),
        2 => "\x1b[\\]PX^_][ -~]{0,9}(\x07|\x1b\\\\|\x18|\x1b)".prop_map(String::into_bytes),
        2 => proptest::collection::vec(any::<u8>(), 0..8),
        1 => Just(b"\x1b[1\n2\x1b(\r\n\x1b".to_vec()),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn cuts_do_not_matter(stream in stream(), cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..6)) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect();
        let whole = calls(&[&stream]);
        prop_assert_eq!(calls(&pieces), whole.clone());
        prop_assert_eq!(calls(&stream.chunks(1).collect::<Vec<_>>()), whole);
    }
}
