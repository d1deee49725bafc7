//! Search over a large history: `cargo bench -p termbridge-benches --bench history`.
//!
//! The floor is one entry by its id, from the same file in the same run. `--quick` takes few
//! entries: it shows that everything runs, not how fast.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use termbridge_benches::percentile;
use termbridge_store::{Entry, Filter, History, Limits, Query, Recorded, Scope, StatsQuery};

struct Scale {
    entries: u64,
    samples: usize,
}

const FULL: Scale = Scale { entries: 1_000_000, samples: 100 };
const QUICK: Scale = Scale { entries: 5_000, samples: 5 };

/// One word in this many entries: a thousand of a million.
const MEDIUM: u64 = 1_000;
/// One word in this many entries.
const RARE: u64 = 50_000;
/// Between two commands.
const STEP_MS: i64 = 30_000;

#[allow(clippy::print_stdout, reason = "the table is what a benchmark is for")]
fn main() -> Result<()> {
    let quick = std::env::args().any(|argument| argument == "--quick" || argument == "--test");
    let scale = if quick { QUICK } else { FULL };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("history.db");
    fill(&path, &scale)?;

    let opened = measure(1, || History::open(&path, Limits::default()).context("open"))?;
    line("open", &opened.1, Duration::ZERO, "");
    let history = opened.0.history;
    ensure!(opened.0.warnings.is_empty(), "{:?}", opened.0.warnings);
    let mut number = 0;
    let (_, mut floor) = measure(scale.samples, || {
        number = (number + 7919) % scale.entries;
        history.get(&id(number))?.context("an entry is missing")
    })?;
    let floor = percentile(&mut floor, 50);
    println!("{:44} {:>10}", "floor: one entry by its id, p50", show(floor));
    for (name, query) in queries(scale.entries) {
        let (page, times) = measure(scale.samples, || Ok(history.search(&query)?))?;
        let hits = page.hits.len();
        let more = if page.approximate { "+, newest 1000 ranked" } else { "" };
        line(name, &times, floor, &format!("{hits} hits{more}"));
    }
    let mut next = Query::new("error");
    next.cursor = history.search(&next)?.cursor;
    let (_, times) = measure(scale.samples, || Ok(history.search(&next)?))?;
    line("second page of a common word", &times, floor, "");
    let (_, times) = measure(1, || Ok(history.stats(&StatsQuery::default())?))?;
    line("stats over everything", &times, floor, "");
    record(&history, &scale)
}

fn queries(entries: u64) -> Vec<(&'static str, Query)> {
    let session = Filter { session: Some(session(entries / 2)), ..Filter::default() };
    let failed = Filter { failed: true, project: Some(project(3)), ..Filter::default() };
    let since = Filter { since_ms: Some(started(entries / 2, entries)), ..Filter::default() };
    let filtered = |text: &str, filter: Filter| Query { filter, ..Query::new(text) };
    let commands = |text: &str| Query { scope: Scope::Commands, ..Query::new(text) };
    vec![
        ("newest (no words)", Query::new("")),
        ("newest of a session", filtered("", session.clone())),
        ("rare word", Query::new("rareword")),
        ("rare prefix", Query::new("rarewo")),
        ("medium word (1 in 1,000)", Query::new("mediumword")),
        ("medium and a common prefix", Query::new("mediumword err")),
        ("medium and a common word, failed", filtered("error mediumword", failed.clone())),
        ("no match", Query::new("wordthatisnowhere")),
        ("path", Query::new("src/katomi/relosu.rs")),
        ("common word", Query::new("error")),
        ("common words", Query::new("error not found")),
        ("common prefix of one letter", Query::new("e")),
        ("common prefix of two letters", Query::new("ka")),
        ("common word in commands", commands("cargo")),
        ("output word in commands only", commands("warning")),
        ("common word in one session", filtered("error", session)),
        ("common word, failed, in a project", filtered("error", failed)),
        ("common word since half of it", filtered("error", since)),
    ]
}

/// Recording as a server does it: one at a time, none waited for.
fn record(history: &History, scale: &Scale) -> Result<()> {
    let mut random = Random(99);
    let entries: Vec<_> = (0..scale.samples as u64 * 10)
        .map(|n| entry(scale.entries + n, scale.entries, &mut random))
        .collect();
    let count = entries.len();
    let mut entries = entries.into_iter();
    let (_, times) =
        measure(count, || entries.next().map(|entry| history.record(entry)).context("none"))?;
    line("record (the caller's part)", &times, Duration::ZERO, "");
    history.flush()?;
    let health = history.health();
    ensure!(health.failed == 0, "{health:?}");
    Ok(())
}

#[allow(clippy::print_stdout, reason = "the table is what a benchmark is for")]
fn fill(path: &Path, scale: &Scale) -> Result<()> {
    let began = Instant::now();
    let history = History::open(path, Limits::default())?.history;
    let mut random = Random(88_172_645_463_325_252);
    let mut text = 0;
    for number in 0..scale.entries {
        let entry = entry(number, scale.entries, &mut random);
        text += entry.run.command.len() + entry.output.text.len();
        while history.record(entry.clone()) == Recorded::Dropped {
            history.flush()?;
        }
    }
    drop(history);
    let seconds = began.elapsed().as_secs_f64();
    let size = std::fs::metadata(path)?.len();
    println!(
        "{} entries in {seconds:.1} s: {} B of text, {} B on disk per entry",
        scale.entries,
        text as u64 / scale.entries,
        size / scale.entries
    );
    Ok(())
}

fn entry(number: u64, entries: u64, random: &mut Random) -> Entry {
    const TOOLS: [&str; 12] = [
        "git commit -m",
        "cargo test -p",
        "npm run",
        "docker run --rm -it",
        "kubectl get pods -n",
        "ls -la",
        "rg -n",
        "python3 -m pytest",
        "make -j8",
        "curl -sS",
        "sed -i",
        "git log --oneline",
    ];
    let tool = TOOLS[random.skewed(12) as usize];
    let (folder, file) = (word(random.skewed(500)), word(random.skewed(5000)));
    let command = format!("{tool} {} src/{folder}/{file}.rs", word(random.skewed(30_000)));
    let mut output = String::new();
    for _ in 0..=random.skewed(60) {
        let (a, b) = (word(random.skewed(3000)), word(random.skewed(40_000)));
        let line = match random.below(6) {
            0 => format!("error[E{:04}]: {a} {b} not found\n", random.below(700)),
            1 => format!("test {a}::{b} ... ok\n"),
            2 => format!(
                "-rw-r--r-- 1 root root {} Nov {} {b}.txt\n",
                random.below(99_999),
                random.below(30)
            ),
            3 => format!(
                "warning: unused {a} in /home/me/{folder}/{b}.rs:{}:{}\n",
                random.below(900),
                random.below(80)
            ),
            _ => format!("{a} {b} {} {}\n", word(random.skewed(3000)), word(random.skewed(60_000))),
        };
        output.push_str(&line);
    }
    if number % MEDIUM == MEDIUM / 2 {
        output.push_str("mediumword here\n");
    }
    if number % RARE == RARE / 2 {
        output.push_str("rareword here\n");
    }
    let code = i32::from(random.below(5) == 0);
    let mut entry = Entry::new(id(number), session(number), command).output(output).exit_code(code);
    entry.run.started_ms = started(number, entries);
    entry.run.duration_ms = Some(random.skewed(100_000));
    entry.run.cwd = format!("/home/me/{folder}");
    entry.run.project = Some(project(random.skewed(40)));
    entry.run.agent = Some(format!("agent-{}", random.below(4)));
    entry.run.shell = Some("bash".to_owned());
    entry
}

fn id(number: u64) -> String {
    format!("{:012x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16)
}

fn session(number: u64) -> String {
    format!("{:012x}", (number / 200).wrapping_mul(0xc2b2_ae3d_27d4_eb4f) >> 16)
}

fn project(number: u64) -> String {
    format!("/home/me/project-{number}")
}

/// The last entry started about now.
fn started(number: u64, entries: u64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64;
    now - 1000 - (entries as i64 - number as i64).max(0) * STEP_MS
}

fn word(number: u64) -> String {
    const SYLLABLES: [&str; 16] = [
        "ka", "to", "mi", "re", "lo", "su", "ne", "vi", "ar", "on", "ix", "el", "um", "sta", "pro",
        "con",
    ];
    let syllable = |shift: u64| SYLLABLES[(number >> shift) as usize % 16];
    let end = if number >> 12 > 0 { (number >> 12).to_string() } else { String::new() };
    format!("{}{}{}{end}", syllable(0), syllable(4), syllable(8))
}

/// Xorshift: the same entries in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    /// Small numbers are far more likely, as words of a language are.
    fn skewed(&mut self, bound: u64) -> u64 {
        let bound = self.below(bound) + 1;
        let bound = self.below(bound) + 1;
        self.below(bound)
    }
}

fn measure<T>(samples: usize, mut work: impl FnMut() -> Result<T>) -> Result<(T, Vec<Duration>)> {
    let mut times = Vec::with_capacity(samples);
    let mut last = None;
    for _ in 0..samples {
        let began = Instant::now();
        last = Some(work()?);
        times.push(began.elapsed());
    }
    Ok((last.context("no samples")?, times))
}

#[allow(clippy::print_stdout, reason = "the table is what a benchmark is for")]
fn line(name: &str, times: &[Duration], floor: Duration, note: &str) {
    let mut times = times.to_vec();
    let (p50, p99) = (percentile(&mut times, 50), percentile(&mut times, 99));
    let ratio = match floor.as_secs_f64() {
        0.0 => String::new(),
        floor => format!("{:.0}x", p50.as_secs_f64() / floor),
    };
    println!("{name:44} p50 {:>9}  p99 {:>9} {ratio:>7}  {note}", show(p50), show(p99));
}

fn show(time: Duration) -> String {
    match time.as_secs_f64() * 1e3 {
        ms if ms < 1.0 => format!("{:.1} us", ms * 1e3),
        ms => format!("{ms:.2} ms"),
    }
}
