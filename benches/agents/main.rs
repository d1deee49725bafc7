//! What ten everyday tasks cost a model: `cargo bench -p termbridge-benches --bench agents`.
//!
//! Each task is scripted as a capable model would do it with a server's tools: the fewest sensible calls, and only with
//! what it has read by then. The server is real and speaks MCP over stdio; afterwards the task is checked to be
//! done. Counted are calls, bytes that the model writes (tool name and arguments) and bytes that it reads, for
//! each of three client behaviours ([`model::Shown`]).
//!
//! `benches/agents/setup-peers` installs the peers. `--quick` runs ours alone, `--markdown` prints the README's
//! table, `--trace` every call with what the model reads; other words select tasks by name.
//!
//! A task that fails with ours fails the run. One that a peer cannot do, or fails at, is shown as `-` with the
//! reason and counts for neither side. Peers show the best of three runs, ours the most calls of its three.

mod bench;
mod model;
mod report;
mod server;
mod tasks;

use anyhow::{Result, ensure};

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| words.iter().any(|word| word == flag);
    let wanted: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let tasks: Vec<_> = tasks::all()
        .into_iter()
        .filter(|task| wanted.is_empty() || wanted.iter().any(|word| task.name.contains(*word)))
        .collect();
    ensure!(!tasks.is_empty(), "no task has {wanted:?} in its name");
    let bench = bench::Bench::new(has("--quick") || has("--test"), has("--trace"))?;
    let results = bench.run(&tasks)?;
    if has("--markdown") {
        report::markdown(&results);
    } else {
        report::terminal(&results);
    }
    ensure!(results.ours_did_all(), "a task failed with ours");
    Ok(())
}
