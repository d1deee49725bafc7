//! Measures a spawn: `cargo run --release -p termbridge-pty --example spawn_cost [MiB held]`.
//!
//! Prints the median times from the call to the program's running, and to its exit being known,
//! and the resident memory of the keeper. With an argument the server holds that much memory
//! first: the times must not change.

use std::io::Write;
use std::time::{Duration, Instant};

use termbridge_pty::{Keeper, SpawnSpec};

const ROUNDS: usize = 500;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let held = std::env::args().nth(1).map_or(Ok(0), |mib| mib.parse::<usize>())?;
    let ballast = vec![1u8; held << 20];
    let keeper = Keeper::new();
    let first = Instant::now();
    drop(keeper.spawn(SpawnSpec::new("/bin/true")).await?);
    let first = first.elapsed();

    let mut running = Vec::new();
    let mut exited = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let program = keeper.spawn(SpawnSpec::new("/bin/true")).await?;
        running.push(start.elapsed());
        program.exited().await;
        exited.push(start.elapsed());
    }

    let program = keeper.spawn(SpawnSpec::new("/bin/cat")).await?;
    let mut survey = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        program.survey().await?;
        survey.push(start.elapsed());
    }

    let pid = keeper.pid().unwrap_or(0);
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let memory: Vec<&str> = status.lines().filter(|line| line.starts_with("Rss")).collect();
    let mut err = std::io::stderr();
    writeln!(err, "holding {} MiB", ballast.len() >> 20)?;
    writeln!(err, "first spawn, keeper included  {first:?}")?;
    writeln!(err, "call → running   (median)     {:?}", median(running))?;
    writeln!(err, "call → exit known (median)    {:?}", median(exited))?;
    writeln!(err, "survey           (median)     {:?}", median(survey))?;
    writeln!(err, "keeper memory                 {memory:?}")?;
    drop(program);
    keeper.shutdown(Duration::from_millis(500)).await;
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
