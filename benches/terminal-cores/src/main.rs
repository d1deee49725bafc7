//! Our terminal core beside alacritty_terminal and rio-vt, in one run.
//!
//! ```text
//! cargo run --release --manifest-path benches/terminal-cores/Cargo.toml [ROUNDS]
//! ```
//!
//! Without rio-vt, which has C++ parts: add `--no-default-features`.

mod cores;
mod heap;
mod streams;

use std::time::Instant;

use crate::cores::{Alacritty, Core, HISTORY, Ours};
use crate::streams::{COLS, Line, ROWS, Stream};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// Bytes that are fed at once, as much as a read of a PTY returns.
const PIECE: usize = 4096;
/// How often each figure is measured.
const ROUNDS: usize = 7;

/// A terminal that is measured.
struct Subject {
    name: &'static str,
    new: fn() -> Box<dyn Core>,
}

fn subjects() -> Vec<Subject> {
    vec![
        Subject { name: "termbridge-vt", new: || Box::new(Ours::new()) },
        Subject { name: "alacritty_terminal", new: || Box::new(Alacritty::new()) },
        #[cfg(feature = "rio")]
        Subject { name: "rio-vt", new: || Box::new(cores::Rio::new()) },
    ]
}

/// The place of alacritty_terminal among the subjects: the others are compared with it.
const FLOOR: usize = 1;

fn feed(core: &mut dyn Core, bytes: &[u8]) {
    bytes.chunks(PIECE).for_each(|piece| core.feed(piece));
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// MB/s of each subject, measured in turns: what disturbs the machine disturbs all.
fn speeds(stream: &Stream, rounds: usize) -> Vec<f64> {
    let subjects = subjects();
    let mut figures = vec![Vec::new(); subjects.len()];
    for _ in 0..rounds {
        for (subject, figures) in subjects.iter().zip(&mut figures) {
            let mut core = (subject.new)();
            // The second half of what a session prints is more like the rest of its life than the first.
            feed(&mut *core, &stream.bytes[..stream.bytes.len() / 4]);
            let start = Instant::now();
            feed(&mut *core, &stream.bytes);
            figures.push(stream.bytes.len() as f64 / 1e6 / start.elapsed().as_secs_f64());
        }
    }
    figures.into_iter().map(median).collect()
}

/// Bytes on the heap that each subject has after it was fed this.
fn memory(bytes: &[u8]) -> Vec<f64> {
    let measure = |subject: Subject| {
        let before = heap::used();
        let mut core = (subject.new)();
        feed(&mut *core, bytes);
        (heap::used() - before) as f64 / f64::from(1 << 20)
    };
    subjects().into_iter().map(measure).collect()
}

/// Milliseconds of a resize with a full history.
fn resizes(rounds: usize) -> Vec<f64> {
    let lines = streams::lines(HISTORY + ROWS, Line::Typical);
    let measure = |subject: Subject| {
        let mut core = (subject.new)();
        feed(&mut *core, &lines);
        let times = (0..rounds).map(|round| {
            let cols = if round % 2 == 0 { COLS - 20 } else { COLS };
            let start = Instant::now();
            core.resize(cols, ROWS);
            start.elapsed().as_secs_f64() * 1e3
        });
        median(times.collect())
    };
    subjects().into_iter().map(measure).collect()
}

fn row(name: &str, figures: &[f64], unit: &str, digits: usize, faster: impl Fn(f64, f64) -> f64) {
    let cells: Vec<String> = figures
        .iter()
        .map(|figure| {
            format!("{figure:>9.digits$} {unit:<4} {:>5.2}×", faster(*figure, figures[FLOOR]))
        })
        .collect();
    println!("{name:<42} {}", cells.join("   "));
}

/// All show the same first row after each stream: otherwise one of them does other work than the others.
fn check(streams: &[Stream]) {
    for stream in streams {
        for subject in subjects() {
            let mut core = (subject.new)();
            feed(&mut *core, &stream.bytes[..1 << 16]);
            let shown = core.first_row();
            let mut floor = Alacritty::new();
            feed(&mut floor, &stream.bytes[..1 << 16]);
            let letters =
                |text: &str| text.chars().filter(char::is_ascii_graphic).collect::<String>();
            let same = letters(&shown) == letters(&floor.first_row());
            assert!(
                same,
                "{} shows {shown:?} for {}, alacritty_terminal {:?}",
                subject.name,
                stream.name,
                floor.first_row()
            );
        }
    }
}

fn main() {
    let rounds =
        std::env::args().nth(1).map_or(ROUNDS, |text| text.parse().expect("a number of rounds"));
    let streams = streams::all();
    check(&streams);
    let names: Vec<String> =
        subjects().iter().map(|subject| format!("{:>21}", subject.name)).collect();
    println!(
        "{COLS}×{ROWS}, {HISTORY} lines of scrollback, pieces of {PIECE} bytes, median of {rounds} rounds"
    );
    println!("ratios: how many times as good as alacritty_terminal\n");
    println!("{:<42} {}", "", names.join("   "));
    if cfg!(not(feature = "rio")) {
        println!("rio-vt is left out: the feature `rio` is off");
    }
    let ratio = |figure: f64, floor: f64| figure / floor;
    let less = |figure: f64, floor: f64| floor / figure;
    let mut means = vec![0.0; names.len()];
    for stream in &streams {
        let figures = speeds(stream, rounds);
        row(stream.name, &figures, "MB/s", 1, ratio);
        means
            .iter_mut()
            .zip(&figures)
            .for_each(|(mean, figure)| *mean += figure.ln() / streams.len() as f64);
    }
    let means: Vec<f64> = means.into_iter().map(f64::exp).collect();
    row("geometric mean", &means, "MB/s", 1, ratio);
    println!();
    for (name, kind) in [
        ("10,000 lines of typical text", Line::Typical),
        ("10,000 lines of words in colours", Line::FullColour),
        ("10,000 lines, an RGB pair in every cell", Line::RgbPairs),
    ] {
        row(name, &memory(&streams::lines(HISTORY, kind)), "MiB", 2, less);
    }
    row("60 lines", &memory(&streams::lines(60, Line::Typical)), "MiB", 2, less);
    println!();
    row("resize with 10,000 lines", &resizes(rounds.max(4)), "ms", 3, less);
}
