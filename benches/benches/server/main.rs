//! The shared server: `cargo bench -p termbridge-benches --bench server`.
//!
//! Servers are processes of their own, with a home and a runtime folder of their own. The floor of a call is rmcp's
//! own transport with one tool behind it that has nothing to do ([`bare`]), in a process too, called in turns with
//! ours. Each row has a target; one that is missed is reported, not a failure. `--quick` takes few samples: it shows
//! that everything runs, not how fast. `TERMBRIDGE_BENCH_SECONDS` is how long the many agents work.

mod bare;
mod home;
mod kept;
mod latency;
mod load;
mod ring;
mod wire;

use std::time::Duration;

use anyhow::Result;
use termbridge_benches::{percentile, server_binary};

pub(crate) struct Scale {
    calls: usize,
    starts: usize,
    agents: usize,
    seconds: u64,
    idle_sessions: usize,
    adopted_sessions: usize,
    megabytes: usize,
    floods: usize,
}

const FULL: Scale = Scale {
    calls: 3000,
    starts: 50,
    agents: 100,
    seconds: 60,
    idle_sessions: 1000,
    adopted_sessions: 100,
    megabytes: 64,
    floods: 7,
};
const QUICK: Scale = Scale {
    calls: 20,
    starts: 3,
    agents: 8,
    seconds: 2,
    idle_sessions: 20,
    adopted_sessions: 5,
    megabytes: 2,
    floods: 1,
};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == bare::MODE) {
        return bare::run(arguments.get(1).map_or("", String::as_str));
    }
    let mut scale =
        match arguments.iter().any(|argument| argument == "--quick" || argument == "--test") {
            true => QUICK,
            false => FULL,
        };
    if let Ok(seconds) = std::env::var("TERMBRIDGE_BENCH_SECONDS") {
        scale.seconds = seconds.parse()?;
    }
    // Part of the names after the options; all without any.
    let chosen: Vec<&String> =
        arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|chosen| *chosen == name);
    let server = server_binary()?;
    line("measure", "ours", "floor", "ratio", "target", "");
    if is_chosen("calls") {
        latency::calls(&server, &scale)?;
    }
    if is_chosen("shim") {
        latency::shim(&server, &scale)?;
        latency::starts(&server, &scale)?;
    }
    if is_chosen("idle") {
        kept::idle(&server, &scale)?;
    }
    if is_chosen("adopt") {
        kept::adopt(&server, &scale)?;
    }
    if is_chosen("ring") {
        ring::floods(&server, &scale)?;
    }
    if is_chosen("agents") {
        load::agents(&server, &scale)?;
    }
    Ok(())
}

/// A row without a floor: the value, and whether it is within its target.
pub(crate) fn row(measure: &str, value: &str, target: &str, is_met: bool) {
    line(measure, value, "", "", target, verdict(is_met));
}

/// A row without a target.
pub(crate) fn note(measure: &str, value: &str) {
    line(measure, value, "", "", "", "");
}

/// Two rows: the median, which has a target, and the 99th percentile, which has none.
pub(crate) fn against(measure: &str, ours: &mut [Duration], floor: &mut [Duration], most: f64) {
    for percent in [50, 99] {
        let (ours, floor) = (percentile(ours, percent), percentile(floor, percent));
        let ratio = ours.as_secs_f64() / floor.as_secs_f64();
        let (target, verdict) = match percent {
            50 => (format!("<= {most}"), verdict(ratio <= most)),
            _ => (String::new(), ""),
        };
        let measure = format!("{measure}, p{percent}");
        line(
            &measure,
            &milliseconds(ours),
            &milliseconds(floor),
            &format!("{ratio:.2}"),
            &target,
            verdict,
        );
    }
}

pub(crate) fn milliseconds(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

fn verdict(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}

#[allow(clippy::print_stdout, reason = "the table is what a benchmark is for")]
pub(crate) fn line(
    measure: &str,
    ours: &str,
    floor: &str,
    ratio: &str,
    target: &str,
    verdict: &str,
) {
    println!("{measure:56} {ours:>12} {floor:>14} {ratio:>7} {target:>10} {verdict}");
}
