//! What stays of what a command prints.

use proptest::prelude::*;

use crate::CleanOutput;

fn clean(bytes: impl AsRef<[u8]>) -> String {
    let mut output = CleanOutput::default();
    output.feed(bytes.as_ref());
    let done = output.take_done();
    done + &output.finish()
}

#[test]
fn text_stays_as_printed() {
    let table: [(&[u8], &str); 28] = [
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
        (b"gone\r\nalso\r\n\x1b[H\x1b[2Jleft", "left"),
        ("漢字\rab\r\n".as_bytes(), "ab字\n"),
        ("e\u{301}x\r\n".as_bytes(), "e\u{301}x\n"),
        (b"\xff\xfe\r\n", "\u{fffd}\u{fffd}\n"),
        (b"a\xe6\xbc", "a\u{fffd}"),
        (b"a\xe6\x1b[mb", "a\u{fffd}b"),
        (b"\x00\x01\x07bell", "bell"),
        (b"a\x1b(Bb\x1b=c", "abc"),
        (b"before\r\n\x1b[?1049h\x1b[2Jeditor\x1b[?1049lafter\r\n", "before\nafter\n"),
        (b"half\x1b[", "half"),
        (b"gone\r\n\x1bcleft", "left"),
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cuts_do_not_matter(
        pieces in proptest::collection::vec(prop_oneof![
            "[ -~]{0,20}".prop_map(String::into_bytes),
            "[漢é🙂\u{301}]{0,4}".prop_map(String::into_bytes),
            Just(b"\r\n".to_vec()), Just(b"\r".to_vec()), Just(b"\x1b[A".to_vec()),
            Just(b"\x1b[2K".to_vec()), Just(b"\x1b]0;x\x07".to_vec()), Just(b"\t\x08".to_vec()),
            proptest::collection::vec(any::<u8>(), 0..6),
        ], 0..30),
    ) {
        let bytes = pieces.concat();
        let mut single = CleanOutput::default();
        bytes.iter().for_each(|byte| single.feed(&[*byte]));
        prop_assert_eq!(single.finish(), clean(&bytes));
    }
}
