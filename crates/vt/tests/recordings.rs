//! Real programs look the same in our terminal as in xterm.js.
//!
//! `tests/recordings` has what they printed (`NAME.COLSxROWS.vt`), and the script that records them. Both terminals are
//! looked at several times on the way. A recording that looks different is made as short as possible, as in
//! `xterm_random`; `RECORDING=vim` compares only those whose name begins so.
//!
//! Needs Node and `tests/xterm/node_modules`: `scripts/setup-tests` installs them.

#[path = "common/compare.rs"]
mod compare;
#[path = "common/minimise.rs"]
mod minimise;
#[path = "common/stream.rs"]
mod stream;
#[path = "common/xterm.rs"]
mod xterm;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use termbridge_vt::Size;

use crate::compare::{Compared, difference, ours, request};
use crate::minimise::minimise;
use crate::stream::{Stream, escape};
use crate::xterm::Xterm;

/// How often a recording is looked at.
const LOOKS: usize = 4;
/// Our terminal is fed so many bytes at once: not what a character or a sequence has.
const PIECE: usize = 997;
/// Recordings at least.
const FEWEST: usize = 40;
/// What is compared: not the history, since programs clear the screen, and only one of the terminals keeps what was there.
const COMPARED: Compared = Compared { wraps: false, history: false };
/// Recordings that look different, with the reasons.
const DIFFERENT: &[(&str, &str)] = &[("tmux", "left and right margins are known (DECSLRM)")];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings")
}

/// Name and size of a recording.
fn parse_name(path: &Path) -> Option<(String, Size)> {
    let file = path.file_name()?.to_str()?.strip_suffix(".vt")?;
    let (name, size) = file.split_once('.')?;
    let (cols, rows) = size.split_once('x')?;
    Some((name.to_owned(), Size { cols: cols.parse().ok()?, rows: rows.parse().ok()? }))
}

/// The stream up to each look.
fn looks(bytes: &[u8], size: Size) -> Vec<Stream> {
    let part = |look: usize| {
        let bytes = &bytes[..bytes.len() * look / LOOKS];
        let mut stream = Stream::from_bytes(bytes, size, 0);
        stream.cuts = (PIECE..bytes.len()).step_by(PIECE).collect();
        stream
    };
    (1..=LOOKS).map(part).collect()
}

/// What differs after each stream.
fn judge(xterm: &mut Xterm, streams: &[Stream]) -> Vec<Option<String>> {
    let requests: Vec<_> = streams.iter().map(request).collect();
    let shown = xterm.show(&requests);
    let pairs = streams.iter().zip(shown);
    pairs
        .map(|(stream, theirs)| {
            let mut ours = ours(stream);
            let mut theirs = theirs.ok()?.pop().expect("one for the feed");
            // Questions are answered by the recorder, and the terminals are free to answer otherwise.
            theirs.replies.clear();
            if let Ok(ours) = &mut ours {
                ours.replies.clear();
            }
            difference(&ours, &theirs, COMPARED)
        })
        .collect()
}

/// The simplest stream that differs, if one does.
fn find_difference(xterm: &mut Xterm, bytes: &[u8], size: Size) -> Option<String> {
    let streams = looks(bytes, size);
    let judged = judge(xterm, &streams);
    let first = judged.iter().position(Option::is_some)?;
    let simplest = minimise(streams[first].clone(), |streams| {
        judge(xterm, streams).iter().map(Option::is_some).collect()
    });
    let text = judge(xterm, std::slice::from_ref(&simplest)).remove(0)?;
    let Size { cols, rows } = simplest.size;
    let stream = escape(&simplest.bytes());
    Some(format!(
        "at look {} of {LOOKS}, made simple:\n  XTERM_SIZE={cols}x{rows} XTERM_STREAM='{stream}'\n{text}",
        first + 1
    ))
}

#[test]
fn recorded_programs_look_as_in_xterm_js() {
    compare::hide_panics();
    let mut xterm = Xterm::start();
    let entries = std::fs::read_dir(folder()).expect("the recordings").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let wanted = std::env::var("RECORDING").unwrap_or_default();
    let (mut same, mut recordings, mut wrong) = (0, 0, String::new());
    for path in paths {
        let Some((name, size)) = parse_name(&path) else { continue };
        recordings += 1;
        if !name.starts_with(&wanted) {
            continue;
        }
        let bytes = std::fs::read(&path).expect("a recording");
        let listed = DIFFERENT.iter().find(|(different, _)| *different == name);
        match (find_difference(&mut xterm, &bytes, size), listed) {
            (None, None) => same += 1,
            (None, Some(_)) => {
                let _ = writeln!(wrong, "{name}: it is the same; take it out of the list");
            }
            (Some(_), Some((_, reason))) => eprintln!("{name} differs: {reason}"),
            (Some(text), None) => _ = writeln!(wrong, "── {name}, {text}"),
        }
    }
    eprintln!("{same} recordings look the same");
    assert!(wrong.is_empty(), "{wrong}");
    assert!(recordings >= FEWEST, "only {recordings} recordings");
}
