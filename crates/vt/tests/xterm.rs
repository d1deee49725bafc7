//! Another terminal shows the same: xterm.js is fed what a program printed, and the dump of our terminal
//! that was fed the same, and both times shows the same rows, scrollback, soft wraps, styles, cursor and
//! modes; then both are fed what the program prints next.
//!
//! Needs Node and `tests/xterm/node_modules`: `scripts/setup-tests` installs them.

#[path = "common/xterm.rs"]
mod xterm;

use std::fmt::Write as _;

use termbridge_vt::{Options, Row, Size, Terminal};

use crate::xterm::{Request, Shown, Xterm};

const SIZE: Size = Size { cols: 20, rows: 6 };

/// What was printed before the dump, and after it. Both terminals agree about all of it: `CSI 2 J` on
/// the primary screen, which goes to the scrollback in one of them only, is left out.
const OUTPUT: &[(&str, &str)] = &[
    ("hello\r\nworld", "!\r\nmore"),
    ("one\r\ntwo\r\n\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\neight", "\r\nnine"),
    ("a line that is longer than twenty columns and wraps\r\nnext", " and on\r\n"),
    (
        "\x1b[1;31mred\x1b[0m \x1b[3;4;38;5;208mitalic\x1b[m\r\n\x1b[48;2;1;2;3mrgb\x1b[7mx",
        "y\x1b[mz",
    ),
    ("\x1b[41mbackground that wraps around the margin\x1b[m\r\n\r\n\r\n\r\n\r\n\r\nend", "!"),
    ("\x1b[44m\x1b[J\x1b[3;4Hblue\x1b[K", "\r\nx\x1b[m\x1b[K"),
    ("wide 漢字 at the margin漢字漢字 e\u{301}", "漢"),
    ("exactly twenty cols.", "X"),
    ("exactly twenty cols.\r", "X"),
    ("tabs\tat\tstops\x1b[3g\x1b[5G\x1bH\x1b[9G\x1bH\r", "\ta\tb\tc"),
    ("a\tb\tc\r\nx", "\tz"),
    ("shell\r\n$ vim\x1b[?1049h\x1b[2J\x1b[Hfull\x1b[6;1Hstatus\x1b[2;3H", "typed\x1b[?1049lback"),
    ("\x1b[2;3H\x1b[31m\x1b7\x1b[m\x1b[5;5Hx", "y\x1b8z"),
    (
        "1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[2;4r\x1b[4;1H",
        "\n\nin the region\x1b[1;1Hx\x1b[2;1H\x1bM\x1bM",
    ),
    ("1\r\n2\r\n3\x1b[2;5r\x1b[?6h\x1b[2;2H", "x\x1b[1;1Hy\x1b[99;1Hz"),
    ("\x1b(0lqqk\x1b(B text \x1b)0", "\x0elqk\x0fq"),
    ("\x1b(0", "lqk\x1b(Bq"),
    ("insert\x1b[1;3H\x1b[4h", "XY\x1b[4lZ"),
    ("\x1b[?7lno autowrap at this margin, ever", "x\x1b[?7hyz"),
    ("\x1b[?1h\x1b=\x1b[?2004h\x1b[?1004h\x1b[?1002h\x1b[?1006h\x1b[?25l", "x\x1b[?1l\x1b[?1002l"),
    ("\x1b[?1003h\x1b[?1049halt\x1b[4h\x1b[>1u", "\x1b[?1049lx"),
    ("half a sequence \x1b[3", "1mred"),
    ("half a string \x1b]2;ti", "tle\x07shown"),
    ("erased\x1b[1;3H\x1b[41m\x1b[2X\x1b[m\x1b[2;1H\x1b[42m\x1b[K\x1b[m", "\r\nx"),
    ("\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\ text", "\x1b]8;;http://b\x1b\\x"),
    ("\x1b[5mblink\x1b[25m \x1b[8mhid\x1b[28m \x1b[9mgone\x1b[29m \x1b[2mdim", "x\x1b[22my"),
    ("line\r\n\x1b[H\x1b[2Kx\x1b[99;99H", "end\r\nof"),
];

#[test]
fn xterm_js_shows_the_same_from_a_dump() {
    let dumps: Vec<(Terminal, Vec<u8>)> = OUTPUT
        .iter()
        .map(|(before, _)| {
            let mut terminal = Terminal::new(SIZE, Options::default());
            terminal.feed(before.as_bytes());
            let stream = terminal.dump().stream;
            (terminal, stream)
        })
        .collect();
    let request = |feeds: [&[u8]; 2]| Request {
        size: SIZE,
        scrollback: 1000,
        feeds: feeds.map(<[u8]>::to_vec).to_vec(),
        last: false,
    };
    let requests: Vec<Request> = OUTPUT
        .iter()
        .zip(&dumps)
        .flat_map(|((before, after), (_, dump))| {
            let after = after.as_bytes();
            [request([before.as_bytes(), after]), request([dump.as_slice(), after])]
        })
        .collect();
    let shown: Vec<Vec<Shown>> = Xterm::start()
        .show(&requests)
        .into_iter()
        .map(|shown| shown.expect("xterm.js throws no error"))
        .collect();
    let mut failures = String::new();
    for ((output, (terminal, dump)), pair) in OUTPUT.iter().zip(&dumps).zip(shown.chunks(2)) {
        let (printed, replayed) = (&pair[0], &pair[1]);
        let history = (0..terminal.history_len()).filter_map(|row| terminal.history_row(row));
        let ours: Vec<String> =
            history.chain(terminal.screen().rows).map(|row: Row| row.text()).collect();
        let rows = replayed[0].history.iter().chain(&replayed[0].screen);
        let theirs: Vec<String> = rows.map(Row::text).collect();
        if ours != theirs {
            let _ = writeln!(failures, "{output:?}: ours {ours:?}, xterm.js {theirs:?}");
        }
        for (moment, (printed, replayed)) in printed.iter().zip(replayed).enumerate() {
            // What a dump asks is not what the program asked.
            let [printed, replayed] =
                [printed, replayed].map(|shown| Shown { replies: Vec::new(), ..shown.clone() });
            if printed != replayed {
                let dump = dump.escape_ascii();
                let _ = writeln!(
                    failures,
                    "{output:?}, at {moment}:\n  {printed:?}\n  {replayed:?}\n  {dump}"
                );
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}
