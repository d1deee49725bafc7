//! Measures what the journal adds to reading a terminal:
//! `cargo run --release -p termbridge-pty --example journal_cost [MiB] [KiB of ring]`.
//!
//! A program prints as fast as the terminal takes it; its output is read plainly and into the journal in
//! turn. Prints the best of time and of this process's processor time, which
//! other work on the machine disturbs least. Cooked output is what
//! programs print to; raw output costs the kernel less, so there the journal weighs more.

use std::io::Write;
use std::time::{Duration, Instant};

use termbridge_pty::{Journal, JournalSize, Keeper, Program, SpawnSpec};

const ROUNDS: usize = 15;
const READ_SIZE: usize = 64 << 10;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let amount = std::env::args().nth(1).map_or(Ok(64), |mib| mib.parse::<u64>())? << 20;
    let ring = std::env::args().nth(2).map_or(Ok(8 << 10), |kib| kib.parse::<u64>())? << 10;
    let size = JournalSize { ring, ..JournalSize::default() };
    let keeper = Keeper::new();
    let mut err = std::io::stderr();
    for (name, mode) in [("cooked", "stty -echo"), ("raw", "stty raw -echo")] {
        let mut plain = Vec::new();
        let mut kept = Vec::new();
        for _ in 0..ROUNDS {
            plain.push(round(&keeper, mode, amount, None).await?);
            kept.push(round(&keeper, mode, amount, Some(size)).await?);
        }
        for (kind, rounds) in [("plain", &plain), ("journal", &kept)] {
            let (time, work) = (best(rounds, |each| each.0), best(rounds, |each| each.1));
            let rate = amount as f64 / time.as_secs_f64() / 1e6;
            writeln!(err, "{name:7} {kind:8} {time:9.1?} {rate:6.1} MB/s  processor {work:9.1?}")?;
        }
    }
    keeper.shutdown(Duration::from_millis(500)).await;
    Ok(())
}

async fn round(
    keeper: &Keeper,
    mode: &str,
    amount: u64,
    journal: Option<JournalSize>,
) -> Result<(Duration, Duration), Box<dyn std::error::Error>> {
    let mut spec = SpawnSpec::new("/bin/sh");
    // Lines of 80 columns.
    let print = format!("yes {:0>79} | head -c {amount}", 7);
    spec.args = vec!["-c".into(), format!("{mode}; read go; {print}").into()];
    spec.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    spec.journal = journal;
    let mut program = keeper.spawn(spec).await?;
    let mut journal = program.take_journal();
    // The program is ready, and so is its terminal.
    while !program.survey().await?.waiting.is_reading() {}
    let (start, work) = (Instant::now(), processor_time()?);
    program.write(b"\n").await?;
    read(&program, journal.as_mut()).await?;
    Ok((start.elapsed(), processor_time()?.saturating_sub(work)))
}

async fn read(program: &Program, journal: Option<&mut Journal>) -> std::io::Result<()> {
    if let Some(journal) = journal {
        while !program.read_into(journal, READ_SIZE).await?.is_empty() {}
    } else {
        let mut buffer = vec![0; READ_SIZE];
        while program.read(&mut buffer).await? > 0 {}
    }
    Ok(())
}

/// What this process has used.
fn processor_time() -> Result<Duration, Box<dyn std::error::Error>> {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Ok(Duration::new(used.tv_sec.try_into()?, used.tv_nsec.try_into()?))
}

fn best(
    rounds: &[(Duration, Duration)],
    of: impl Fn(&(Duration, Duration)) -> Duration,
) -> Duration {
    rounds.iter().map(of).min().unwrap_or_default()
}
