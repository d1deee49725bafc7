//! Makes streams, compares them, and describes what differs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use termbridge_vt::{Row, Size};

use crate::compare::{Compared, difference, hide_panics, ours, request};
use crate::minimise::minimise;
use crate::pieces::{self, BASE, KINDS, Kind, PRINTING_BASE, Status};
use crate::random::Random;
use crate::stream::{Piece, Stream, escape};
use crate::xterm::Xterm;

/// Streams that are compared at once.
const BATCH: usize = 250;
/// Streams that are made simple: each takes some tenths of a second.
const MOST_MINIMISED: usize = 40;
/// Kinds in a stream, beside those that are in every one.
const KINDS_AT_MOST: usize = 8;
const SIZES: [(u16, u16); 6] = [(20, 6), (20, 6), (10, 4), (5, 3), (3, 2), (40, 12)];

/// A stream that looks different.
pub(crate) struct Finding {
    seed: u64,
    stream: Stream,
}

/// Streams that look different, of so many; those where xterm.js threw an error say nothing.
pub(crate) struct Findings {
    findings: Vec<Finding>,
    cases: usize,
    errors: Vec<String>,
}

/// What both terminals show.
pub(crate) struct Compare {
    pub(crate) text: String,
    pub(crate) differs: bool,
}

/// Both terminals.
pub(crate) struct Run {
    xterm: Xterm,
}

impl Run {
    pub(crate) fn start() -> Self {
        hide_panics();
        Self { xterm: Xterm::start() }
    }

    /// What differs for each stream; an error is what xterm.js threw.
    fn judge(&mut self, streams: &[Stream]) -> Vec<Result<Option<String>, String>> {
        let requests: Vec<_> = streams.iter().map(request).collect();
        std::thread::scope(|scope| {
            let ours = scope.spawn(|| streams.iter().map(ours).collect::<Vec<_>>());
            let theirs = self.xterm.show(&requests);
            let ours = ours.join().expect("panics are caught");
            let all = streams.iter().zip(ours).zip(theirs);
            all.map(|((stream, ours), theirs)| {
                let theirs = theirs?.pop().expect("one for the feed");
                Ok(difference(&ours, &theirs, compared(stream)))
            })
            .collect()
        })
    }

    fn fails(&mut self, streams: &[Stream]) -> Vec<bool> {
        self.judge(streams).iter().map(|judged| matches!(judged, Ok(Some(_)))).collect()
    }

    /// Both screens after a stream.
    pub(crate) fn show(&mut self, stream: &Stream) -> Compare {
        let theirs = self.xterm.show(&[request(stream)]).remove(0);
        let theirs = theirs.unwrap_or_else(|error| panic!("xterm.js: {error}")).remove(0);
        let ours = ours(stream);
        match difference(&ours, &theirs, compared(stream)) {
            Some(text) => Compare { text, differs: true },
            None => {
                let rows: Vec<String> = theirs.screen.iter().map(Row::text).collect();
                let screen = rows.join("\n  │");
                Compare {
                    text: format!("both show\n  │{screen}\n  cursor {:?}", theirs.cursor),
                    differs: false,
                }
            }
        }
    }

    /// Compares random streams made of these kinds.
    pub(crate) fn compare(&mut self, kinds: &[&'static Kind], seed: u64, cases: usize) -> Findings {
        let mut all = Findings { findings: Vec::new(), cases, errors: Vec::new() };
        let seeds: Vec<u64> = (seed..seed + cases as u64).collect();
        for batch in seeds.chunks(BATCH) {
            let streams: Vec<Stream> =
                batch.iter().map(|seed| random_stream(*seed, kinds)).collect();
            let judged = self.judge(&streams);
            for ((seed, stream), judged) in batch.iter().zip(streams).zip(judged) {
                match judged {
                    Ok(Some(_)) => all.findings.push(Finding { seed: *seed, stream }),
                    Ok(None) => {}
                    Err(error) => all.errors.push(error),
                }
            }
        }
        all
    }

    /// The simplest streams that differ, grouped by the kinds of their pieces; `None` when there are none.
    pub(crate) fn describe(&mut self, found: Findings, most: usize) -> Option<String> {
        let Findings { findings, cases, errors } = found;
        let many_errors = errors.len() * 20 > cases;
        if findings.is_empty() && !many_errors {
            return None;
        }
        let count = findings.len();
        let groups = self.groups(findings);
        if groups.is_empty() && !many_errors {
            return None;
        }
        let mut text = format!("{count} of {cases} streams look different in xterm.js.\n");
        if let Some(error) = errors.first() {
            let _ = writeln!(text, "xterm.js threw an error for {}: {error}", errors.len());
        }
        for (index, (kinds, (found, streams))) in groups.iter().take(most).enumerate() {
            let _ = write!(
                text,
                "\n── {} of {}: {kinds} ({streams} of the streams that were made simple, one has the seed {}) ──\n{}",
                index + 1,
                groups.len(),
                found.seed,
                self.describe_stream(&found.stream)
            );
        }
        if groups.len() > most {
            let _ = write!(text, "\nThe others:\n");
            for (kinds, (found, _)) in groups.iter().skip(most) {
                let _ = writeln!(text, "  {kinds}: {}", command(&found.stream));
            }
        }
        Some(text)
    }

    fn groups(&mut self, findings: Vec<Finding>) -> Vec<(String, (Finding, usize))> {
        let mut groups: BTreeMap<String, (Finding, usize)> = BTreeMap::new();
        for Finding { seed, stream } in findings.into_iter().take(MOST_MINIMISED) {
            let stream = minimise(stream, |streams| self.fails(streams));
            let mut kinds: Vec<&str> = stream.pieces.iter().map(|piece| piece.kind).collect();
            kinds.sort_unstable();
            kinds.dedup();
            if pieces::known_reason(&kinds).is_some() {
                continue;
            }
            let found = Finding { seed, stream };
            match groups.entry(kinds.join(" + ")) {
                std::collections::btree_map::Entry::Vacant(entry) => _ = entry.insert((found, 1)),
                std::collections::btree_map::Entry::Occupied(mut entry) => {
                    let (best, streams) = entry.get_mut();
                    *streams += 1;
                    if found.stream.bytes().len() < best.stream.bytes().len() {
                        *best = found;
                    }
                }
            }
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(_, (found, streams))| {
            (usize::MAX - streams, found.stream.bytes().len())
        });
        groups
    }

    fn describe_stream(&mut self, stream: &Stream) -> String {
        let mut text = format!("  {}\n", command(stream));
        for piece in &stream.pieces {
            let _ = writeln!(text, "    {:<22} '{}'", piece.kind, escape(&piece.body.bytes()));
        }
        if !stream.cuts.is_empty() {
            let feeds = stream.feeds();
            let feeds: Vec<String> =
                feeds.iter().map(|bytes| format!("'{}'", escape(bytes))).collect();
            let _ = writeln!(text, "  Only when our terminal is fed in parts: {}", feeds.join(" "));
        }
        if stream.scrollback < 100 {
            let _ = writeln!(text, "  With a scrollback of {} lines.", stream.scrollback);
        }
        let compared = compared(stream);
        if !compared.history {
            let _ = writeln!(text, "  The history is not compared.");
        }
        text + &self.show(stream).text
    }

    /// Prints a table of all kinds.
    pub(crate) fn report(&mut self, seed: u64, cases: usize) {
        eprintln!("{:<22} {:>9}  {:<8} simplest stream that differs", "piece", "agree", "status");
        for kind in KINDS {
            let found = self.compare(&[kind], seed, cases);
            let agree = cases - found.findings.len() - found.errors.len();
            let status = match kind.status {
                Status::Agrees => "agrees",
                Status::Intended(_) => "intended",
            };
            let mut simplest = String::new();
            if let Some(finding) = found.findings.into_iter().next() {
                let stream = minimise(finding.stream, |streams| self.fails(streams));
                simplest = format!(
                    "{} {}x{}",
                    escape(&stream.bytes()),
                    stream.size.cols,
                    stream.size.rows
                );
            }
            if let Some(error) = found.errors.first() {
                let _ = write!(simplest, " (xterm.js threw {} times: {error})", found.errors.len());
            }
            eprintln!("{:<22} {agree:>4}/{cases:<4}  {status:<8} {simplest}", kind.name);
        }
    }
}

fn command(stream: &Stream) -> String {
    let Size { cols, rows } = stream.size;
    format!("XTERM_SIZE={cols}x{rows} XTERM_STREAM='{}'", escape(&stream.bytes()))
}

/// What is compared for all pieces of a stream.
fn compared(stream: &Stream) -> Compared {
    let all = Compared { wraps: true, history: true };
    stream.pieces.iter().filter_map(|piece| pieces::find(piece.kind)).fold(all, |all, kind| {
        Compared {
            wraps: all.wraps && kind.compared.wraps,
            history: all.history && kind.compared.history,
        }
    })
}

/// The stream of this seed.
pub(crate) fn random_stream(seed: u64, kinds: &[&'static Kind]) -> Stream {
    let mut random = Random::new(seed);
    let (cols, rows) = *random.pick(&SIZES);
    let size = Size { cols, rows };
    let only_printing = kinds.len() > 1 && random.one_in(4);
    let usable: Vec<&Kind> =
        kinds.iter().copied().filter(|kind| !only_printing || kind.compared.wraps).collect();
    let base = if only_printing { PRINTING_BASE } else { BASE };
    let base: Vec<&Kind> = base.iter().map(|name| pieces::named(name)).collect();
    let chosen: Vec<&Kind> =
        (0..random.within(1..=KINDS_AT_MOST)).map(|_| *random.pick(&usable)).collect();
    let pieces = (0..random.within(2..=24))
        .map(|_| {
            let kind = if random.one_in(3) { random.pick(&base) } else { random.pick(&chosen) };
            Piece { kind: kind.name, body: (kind.make)(&mut random, size) }
        })
        .collect();
    let scrollback = *random.pick(&[1000, 1000, 3]);
    let mut stream = Stream { size, scrollback, pieces, cuts: Vec::new() };
    if random.one_in(2) {
        let length = stream.bytes().len();
        stream.cuts = (0..random.within(1..=6)).map(|_| random.within(0..=length)).collect();
    }
    stream
}
