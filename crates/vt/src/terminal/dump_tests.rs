//! A restored terminal and the rest of the output give what the whole output gives, at every cut.
//!
//! The terminals are a few cells large, so that edges are met all the time.

use std::fmt;

use proptest::prelude::*;

use crate::input::InputModes;
use crate::{Event, Haystack, Options, Row, Screen, Seq, Size, Terminal};

/// What happens to a terminal.
#[derive(Clone)]
enum Step {
    Feed(Vec<u8>),
    Resize(Size),
    Look,
    Type(&'static str),
    EndSynchronized,
    Shrink(usize),
    Grow,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feed(bytes) => write!(f, "Feed(b\"{}\")", bytes.escape_ascii()),
            Self::Resize(size) => write!(f, "Resize({} x {})", size.cols, size.rows),
            Self::Look => write!(f, "Look"),
            Self::Type(text) => write!(f, "Type({text:?})"),
            Self::EndSynchronized => write!(f, "EndSynchronized"),
            Self::Shrink(bytes) => write!(f, "Shrink({bytes})"),
            Self::Grow => write!(f, "Grow"),
        }
    }
}

fn run(terminal: &mut Terminal, step: &Step) {
    match step {
        Step::Feed(bytes) => terminal.feed(bytes),
        Step::Resize(size) => terminal.resize(*size),
        Step::Look => {
            terminal.look();
        }
        Step::Type(text) => {
            terminal.begin_typing();
            terminal.note_typed(text);
            terminal.note_command_given();
        }
        Step::EndSynchronized => terminal.end_synchronized(),
        Step::Shrink(bytes) => terminal.shrink_memory(*bytes),
        Step::Grow => terminal.grow_memory(usize::MAX),
    }
}

/// Everything that can be read from a terminal.
#[derive(Debug, PartialEq)]
struct Seen {
    size: Size,
    screen: Screen,
    history: Vec<Row>,
    modes: InputModes,
    texts: [String; 3],
    synchronized: bool,
    seq: Seq,
    fresh: Vec<(Vec<u16>, u64, bool)>,
    haystack: Haystack,
    replies: String,
    events: Vec<Event>,
}

fn see(terminal: &mut Terminal) -> Seen {
    let seq = terminal.seq();
    let since = [0, 1, seq.0 / 2, seq.0.saturating_sub(1), seq.0].map(Seq);
    Seen {
        size: terminal.size(),
        screen: terminal.screen(),
        history: (0..terminal.history_len()).filter_map(|row| terminal.history_row(row)).collect(),
        modes: terminal.input_modes(),
        texts: [
            terminal.title().to_owned(),
            terminal.clipboard().to_owned(),
            terminal.unanswered_query().unwrap_or_default().to_owned(),
        ],
        synchronized: terminal.is_synchronized(),
        seq,
        fresh: since
            .map(|since| {
                let (rows, scrolled) = terminal.rows_since(since);
                (rows, scrolled, terminal.came_back_since(since))
            })
            .to_vec(),
        haystack: terminal.haystack(),
        replies: terminal.take_replies().escape_ascii().to_string(),
        events: terminal.take_events(),
    }
}

/// Output that shows what is not on the screen: it is fed one after the other, with a look at everything
/// between.
const PROBES: &[&[u8]] = &[
    b"",
    b"\x1bP$qm\x1b\\\x1bP$qr\x1b\\\x1bP$q q\x1b\\\x1b[6n\x1b[?u\x1b[?4m\x1b]10;?\x07\x1b]11;?\x07\x1b]12;?\x07",
    b"\x1b]4;1;?\x07\x1b]4;200;?\x07\x1b[?1$p\x1b[?6$p\x1b[?7$p\x1b[?9$p\x1b[?12$p\x1b[?25$p\x1b[?1000$p",
    b"\x1b[?1002$p\x1b[?1003$p\x1b[?1004$p\x1b[?1005$p\x1b[?1006$p\x1b[?1007$p\x1b[?1015$p\x1b[?1016$p",
    b"\x1b[?1042$p\x1b[?1049$p\x1b[?2004$p\x1b[?2026$p\x1b[4$p\x1b[20$p\x1b]52;c;?\x07",
    b"\x1b[2b",
    "x\u{301}漢".as_bytes(),
    b"qx\x0eqx\x0fqx",
    b"\n\x1bM\x1bM\x1b[S\x1b[T",
    b"\x1b8abc\xe2\x94\x80",
    b"\r\tA\tB\tC\x1b[ZD\x1b[2Z",
    b"\x1b[J\x1b[1K",
    b"\x1b[?2026l",
    b"\x1b[23t\x1b[<u\x1b[?u",
    b"\x1b[?1049h\x1b8alt\x1b[<u\x1b[?u\r\tT",
    b"\x1b[?1049l\x1b[<u\x1b[?u",
    b"\x1b8back\r\n\r\n\x1b[r\x1b[?6l\x1b[99Hend\n\n",
];

fn observe(mut terminal: Terminal) -> Vec<Seen> {
    let mut seen = vec![see(&mut terminal)];
    let size = terminal.size();
    for probe in PROBES {
        terminal.feed(probe);
        seen.push(see(&mut terminal));
    }
    for (cols, rows) in
        [(size.cols + 3, size.rows + 2), (size.cols / 2, size.rows / 2 + 1), (size.cols, 9)]
    {
        terminal.resize(Size { cols, rows });
        terminal.look();
        seen.push(see(&mut terminal));
        terminal.feed(b"\x1b[2Jafter");
    }
    seen
}

fn options() -> Options {
    Options { scrollback_lines: 12, ..Options::default() }
}

fn restored(bytes: &[u8]) -> Terminal {
    let mut terminal = Terminal::from_bytes(bytes, options()).expect("a terminal can be restored");
    assert_eq!(terminal.take_replies(), b"", "a restored terminal owes nothing");
    assert_eq!(terminal.take_events(), Vec::new(), "nothing has happened in it yet");
    terminal
}

fn feed_all(terminal: &mut Terminal, steps: &[Step]) {
    steps.iter().for_each(|step| run(terminal, step));
}

#[test]
fn a_style_that_a_restored_terminal_meets_again_changes_no_row() {
    let mut terminal = Terminal::new(Size { cols: 10, rows: 2 }, options());
    terminal.feed(b"\x1b[41m\x1b[2K");
    let seq = terminal.look();
    let mut terminal = restored(&terminal.to_bytes());
    terminal.feed(b"\x1b[41m\x1b[3X");
    assert_eq!(terminal.look(), seq);
}

/// Checks every cut of the steps where `wanted` says so.
fn check(size: Size, steps: &[Step], mut wanted: impl FnMut(usize) -> bool) {
    let mut whole = Terminal::new(size, options());
    feed_all(&mut whole, steps);
    let (replies, events) = (whole.take_replies(), whole.take_events());
    let expected = observe(whole);
    let mut before = Terminal::new(size, options());
    let (mut replied, mut happened) = (Vec::new(), Vec::new());
    let mut place = 0;
    for (index, step) in steps.iter().enumerate() {
        let len = if let Step::Feed(bytes) = step { bytes.len() } else { 0 };
        for at in 0..len.max(1) {
            place += 1;
            // How much memory was reserved decides what is dropped.
            let shrinks = steps[index..].iter().any(|step| matches!(step, Step::Shrink(_)));
            if wanted(place) && !shrinks {
                let bytes = before.to_bytes();
                let mut after = restored(&bytes);
                assert_eq!(
                    see(&mut after),
                    see(&mut before),
                    "as restored, step {index}, byte {at}"
                );
                assert!(after.to_bytes() == bytes, "written again, step {index}, byte {at}");
                assert_eq!(after.dump(), before.dump(), "step {index}, byte {at}");
                match step {
                    Step::Feed(bytes) => after.feed(&bytes[at..]),
                    step => run(&mut after, step),
                }
                feed_all(&mut after, &steps[index + 1..]);
                let bytes = [replied.clone(), after.take_replies()].concat();
                assert_eq!(bytes.escape_ascii().to_string(), replies.escape_ascii().to_string());
                let all: Vec<Event> = happened.iter().cloned().chain(after.take_events()).collect();
                assert_eq!(all, events);
                for (probe, (seen, expected)) in observe(after).iter().zip(&expected).enumerate() {
                    assert_eq!(seen, expected, "step {index}, byte {at}, probe {probe}");
                }
            }
            match step {
                Step::Feed(bytes) if len > 0 => before.feed(&bytes[at..=at]),
                step => run(&mut before, step),
            }
            replied.extend(before.take_replies());
            happened.extend(before.take_events());
        }
    }
}

/// Output that is rich in what a dump has to carry.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let small = prop_oneof![2 => Just(String::new()), 5 => (0u16..9).prop_map(|n| n.to_string()),
        1 => (0u16..300).prop_map(|n| n.to_string())];
    let csi = (small.clone(), small, "[@A-HIJKLMPSTXZ`abdefghlrsu]")
        .prop_map(|(a, b, last)| format!("\x1b[{a};{b}{last}").into_bytes());
    let sgr = proptest::collection::vec(
        prop_oneof![
            (0u16..60).prop_map(|n| n.to_string()),
            (90u16..108).prop_map(|n| n.to_string()),
            any::<u8>().prop_map(|n| format!("38;5;{n}")),
            any::<(u8, u8)>().prop_map(|(r, b)| format!("48;2;{r};0;{b}")),
            any::<u8>().prop_map(|n| format!("58:5:{n}")),
            any::<(u8, u8)>().prop_map(|(r, g)| format!("58;2;{r};{g};9")),
            (0u8..6).prop_map(|n| format!("4:{n}")),
        ],
        0..4,
    )
    .prop_map(|parts| format!("\x1b[{}m", parts.join(";")).into_bytes());
    let modes = [
        "1", "3", "5", "6", "7", "9", "12", "25", "47", "1000", "1002", "1003", "1004", "1005",
        "1006", "1007", "1015", "1016", "1042", "1047", "1048", "1049", "1049", "2004", "2026",
    ];
    let mode = (proptest::sample::select(modes.to_vec()), any::<bool>())
        .prop_map(|(mode, on)| format!("\x1b[?{mode}{}", if on { 'h' } else { 'l' }).into_bytes());
    let fixed = proptest::sample::select(vec![
        "\x1b7",
        "\x1b8",
        "\x1bM",
        "\x1bD",
        "\x1bE",
        "\x1bH",
        "\x1b(0",
        "\x1b(B",
        "\x1b)0",
        "\x1b*0",
        "\x1b+0",
        "\x0e",
        "\x0f",
        "\x1b[4h",
        "\x1b[4l",
        "\x1b[20h",
        "\x1b=",
        "\x1b>",
        "\x1b[!p",
        "\x1b#8",
        "\x1b[3g",
        "\x1b[?2J",
        "\x1b[2J",
        "\x1b[3J",
        "\x1b[>1u",
        "\x1b[>5u",
        "\x1b[=31u",
        "\x1b[=2;2u",
        "\x1b[<u",
        "\x1b[<2u",
        "\x1b[>4;2m",
        "\x1b[22t",
        "\x1b[23t",
        "\x1b[22;0t",
        "\x1b[ q",
        "\x1b[3 q",
        "\x1b[6 q",
        "\x1b]50;CursorShape=1\x07",
        "\x1b]2;title\x07",
        "\x1b]2;\u{9c}x\x07",
        "\x1b]0;\x07",
        "\x1b]8;;http://a\x1b\\",
        "\x1b]8;id=i;http://b;c\x1b\\",
        "\x1b]8;;h\u{9c}\x1b\\",
        "\x1b]8;;\x1b\\",
        "\x1b]52;c;YWJj\x07",
        "\x1b]4;1;#123456\x07",
        "\x1b]4;200;rgb:1/22/333\x07",
        "\x1b]10;#fff\x07",
        "\x1b]11;#000;#123\x07",
        "\x1b]104;1\x07",
        "\x1b]133;A\x07",
        "\x1b]133;B\x07",
        "\x1b]133;C\x07",
        "\x1b]133;D;0\x07",
        "\x1b[998n",
        "\x1b[5b",
        "\x1b[r",
        "\x1b[2;4r",
        "\x1b[3;9r",
        "\x1b[50;60r",
        "\x1b[?6h\x1b[2;5r",
        "\x1b[41m\x1b[K",
        "\x1b[41m\x1b[2J",
        "\x1b[44m\r\n",
        "\x1bc",
        "\x1b[999C",
        "\x1b[999;999H",
        "\x1b[?7l漢",
        "\x1b[Zx",
        "\x1b[1;31m",
        "\x1b[m",
        "\x1b_Ga\x1b\\",
    ])
    .prop_map(|text: &str| text.as_bytes().to_vec());
    let text = prop_oneof![
        4 => "[ -~]{1,12}".prop_map(String::into_bytes),
        2 => "[ -~]{20,40}".prop_map(String::into_bytes),
        4 => "[漢字é🙂a \u{301}\u{200d}\u{fe0f}]{1,8}".prop_map(String::into_bytes),
        1 => "[\u{301}\u{fe0f}]{1,40}".prop_map(String::into_bytes),
        4 => Just(b"\r\n".to_vec()),
        2 => Just(b"\r\n\r\n\n\n".to_vec()),
        1 => Just(b"\r".to_vec()),
        2 => Just(b"\t".to_vec()),
        1 => Just(b"\x08".to_vec()),
        1 => Just(b"\xe6\xbc".to_vec()),
        1 => Just(b"\x1b[12\n;3\x1b]2;x\x18\x1b[1\x1b\x1b(".to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..6),
    ];
    prop_oneof![6 => text, 3 => csi, 2 => sgr, 3 => mode, 7 => fixed]
}

fn size() -> impl Strategy<Value = Size> {
    (2u16..14, 1u16..7).prop_map(|(cols, rows)| Size { cols, rows })
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let feed =
        proptest::collection::vec(output(), 1..6).prop_map(|pieces| Step::Feed(pieces.concat()));
    let step = prop_oneof![
        12 => feed,
        2 => size().prop_map(Step::Resize),
        3 => Just(Step::Look),
        1 => proptest::sample::select(vec!["ls\r", "a", "漢\rb\r"]).prop_map(Step::Type),
        1 => Just(Step::EndSynchronized),
        1 => (0usize..20_000).prop_map(Step::Shrink),
        1 => Just(Step::Grow),
    ];
    proptest::collection::vec(step, 1..most)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn the_rest_of_the_output_gives_the_whole_at_every_cut(size in size(), steps in steps(4)) {
        check(size, &steps, |_| true);
    }

    #[test]
    fn the_rest_of_long_output_gives_the_whole(size in size(), steps in steps(24), every in 7usize..60) {
        check(size, &steps, |place| place % every == 0);
    }

    #[test]
    fn damaged_records_do_no_harm(
        size in size(), steps in steps(6), at in any::<proptest::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        let mut terminal = Terminal::new(size, options());
        feed_all(&mut terminal, &steps);
        let mut bytes = terminal.to_bytes();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        let restored = Terminal::from_bytes(&bytes, options());
        prop_assert!(!cut || restored.is_err());
        if let Ok(mut terminal) = restored {
            terminal.look();
            terminal.feed(b"x\x1b8y\r\n\tz\x1b[?1049h\x1b8a\x1b[?1049l");
            terminal.resize(Size { cols: 5, rows: 3 });
            let _ = observe(terminal);
        }
    }

    /// A dump makes another terminal show the same, and a dump of that is the same.
    #[test]
    fn a_dump_replays_to_the_same_screen(size in size(), steps in steps(12)) {
        let mut terminal = Terminal::new(size, options());
        feed_all(&mut terminal, &steps);
        let mut replayed = Terminal::new(terminal.size(), options());
        replayed.feed(&terminal.dump().stream);
        prop_assert_eq!(replayed.screen(), terminal.screen());
        prop_assert_eq!(replayed.input_modes(), terminal.input_modes());
        prop_assert_eq!(replayed.take_replies(), Vec::new());
    }
}
