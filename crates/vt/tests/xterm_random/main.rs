//! Random streams look the same in our terminal as in xterm.js, wherever they are cut.
//!
//! Streams are made of the pieces in [`pieces::KINDS`]. When one looks different, it is made as simple as possible, and
//! both screens are printed with the stream in a form that `XTERM_STREAM` takes. What these variables change:
//!
//! | variable | meaning |
//! | --- | --- |
//! | `XTERM_SEED` | the first seed; each stream has its own, which is printed |
//! | `XTERM_CASES` | how many streams |
//! | `XTERM_PIECES` | kinds of pieces by name, separated by commas; `all` are all that are not intended to differ |
//! | `XTERM_SHOW` | how many differences are printed |
//! | `XTERM_STREAM` | only this stream, written as it is printed: `'a\e[2Jb'`; both screens are printed in any case |
//! | `XTERM_SIZE` | its size, `20x6` |
//! | `XTERM_REPORT` | a table of all kinds of pieces instead: how many streams agree, and the simplest that does not |
//!
//! ```text
//! XTERM_REPORT=1 cargo nextest run -p termbridge-vt --test xterm_random random_streams --no-capture
//! ```
//!
//! Needs Node and `tests/xterm/node_modules`: `scripts/setup-tests` installs them.

#[path = "../common/compare.rs"]
mod compare;
mod make;
#[path = "../common/minimise.rs"]
mod minimise;
mod pieces;
mod random;
mod run;
#[path = "../common/stream.rs"]
mod stream;
mod tool;
mod unescape;
#[path = "../common/xterm.rs"]
mod xterm;

use std::str::FromStr;

use termbridge_vt::Size;

use crate::pieces::{KINDS, Kind, Status};
use crate::run::Run;
use crate::stream::Stream;

/// Streams of the usual run: some ten seconds.
const CASES: usize = 2000;
/// Differences that are printed.
const SHOWN: usize = 5;

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn number<T: FromStr>(name: &str, default: T) -> T {
    match variable(name) {
        Some(value) => value.parse().unwrap_or_else(|_| panic!("{name} is a number")),
        None => default,
    }
}

/// The kinds that `XTERM_PIECES` names, or those that agree.
fn chosen_kinds() -> Vec<&'static Kind> {
    let Some(names) = variable("XTERM_PIECES") else {
        return KINDS.iter().filter(|kind| kind.status == Status::Agrees).collect();
    };
    if names == "all" {
        return KINDS.iter().filter(|kind| !matches!(kind.status, Status::Intended(_))).collect();
    }
    names.split(',').map(pieces::named).collect()
}

fn given_size() -> Size {
    let text = variable("XTERM_SIZE").unwrap_or_else(|| "20x6".to_owned());
    let (cols, rows) = text.split_once('x').expect("a size such as 20x6");
    let number = |text: &str| text.parse().expect("a number of columns or rows");
    Size { cols: number(cols), rows: number(rows) }
}

#[test]
fn random_streams_look_as_in_xterm_js() {
    let mut run = Run::start();
    if let Some(text) = variable("XTERM_STREAM") {
        let stream = Stream::from_bytes(&unescape::unescape(&text), given_size(), 1000);
        let shown = run.show(&stream);
        eprintln!("{}", shown.text);
        assert!(!shown.differs, "{}", shown.text);
        return;
    }
    let seed = number("XTERM_SEED", 1);
    if variable("XTERM_REPORT").is_some() {
        run.report(seed, number("XTERM_CASES", 100));
        return;
    }
    let findings = run.compare(&chosen_kinds(), seed, number("XTERM_CASES", CASES));
    if let Some(text) = run.describe(findings, number("XTERM_SHOW", SHOWN)) {
        panic!("{text}");
    }
}
