//! A round trip through the filesystem bridge: `cargo bench -p termbridge-benches --bench bridge`.
//!
//! Ours is a call to a fake host that answers at once: a folder made, a command, a claim, a response,
//! `done`, the folder removed. The floor is what no client can do without: two files written, synced and
//! renamed, one by each side, each noticed by the other through inotify. `--quick` takes few samples: it
//! shows that everything runs, not how fast.

use std::mem::MaybeUninit;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use serde_json::json;
use termbridge_benches::percentile;
use termbridge_editor::{EditorBridge, Settings};
use termbridge_testkit::{FakeHost, Reply};

const LIMIT: Duration = Duration::from_secs(30);

#[allow(clippy::print_stdout, reason = "the table is what a benchmark is for")]
fn main() -> Result<()> {
    let quick = std::env::args().any(|argument| argument == "--quick" || argument == "--test");
    let samples = if quick { 20 } else { 2000 };
    println!("{:56} {:>12} {:>14} {:>7}", "measure", "ours", "floor", "ratio");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (mut ours, mut floor) = runtime.block_on(round_trips(samples, Settings::default()))?;
    for percent in [50, 99] {
        let (ours, floor) = (percentile(&mut ours, percent), percentile(&mut floor, percent));
        let ratio = ours.as_secs_f64() / floor.as_secs_f64();
        println!(
            "{:56} {:>9.3} ms {:>11.3} ms {ratio:>7.2}",
            format!("bridge round trip (floor: rename, notice), p{percent}"),
            ours.as_secs_f64() * 1e3,
            floor.as_secs_f64() * 1e3,
        );
    }
    let blind = Settings { notices: false, ..Settings::default() };
    let (mut polled, _) = runtime.block_on(round_trips(samples / 20 + 1, blind))?;
    let polled = percentile(&mut polled, 50);
    let name = "bridge round trip where nothing is noticed, p50";
    println!("{name:56} {:>9.3} ms", polled.as_secs_f64() * 1e3);
    let calls = samples * 5;
    let took = runtime.block_on(at_once(calls))?;
    let rate = calls as f64 / took.as_secs_f64();
    println!("{:56} {rate:>10.0}/s", format!("{calls} calls, ten at once"));
    Ok(())
}

/// Ours and the floor in turns, so that both have the same machine.
async fn round_trips(samples: usize, settings: Settings) -> Result<(Vec<Duration>, Vec<Duration>)> {
    let folder = tempfile::tempdir()?;
    let _fake = FakeHost::start(folder.path(), |_| Reply::Data(json!({"ok": 1})));
    let bridge = EditorBridge::new(settings);
    let host = bridge.discover(folder.path()).await?.context("no host")?;
    let mut bare = Bare::start(samples)?;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for line in 0..samples {
        let params = json!({"path": "src/main.rs", "line": line});
        let began = Instant::now();
        host.call("breakpoint.set", params, LIMIT, |_| {}).await?;
        ours.push(began.elapsed());
        let began = Instant::now();
        bare.round_trip(line)?;
        floor.push(began.elapsed());
    }
    bare.end()?;
    Ok((ours, floor))
}

async fn at_once(calls: usize) -> Result<Duration> {
    let folder = tempfile::tempdir()?;
    let _fake = FakeHost::start(folder.path(), |_| Reply::Data(json!({"ok": 1})));
    let bridge = EditorBridge::new(Settings::default());
    let host = bridge.discover(folder.path()).await?.context("no host")?;
    let began = Instant::now();
    let clients: Vec<_> = (0..10)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move {
                for _ in 0..calls / 10 {
                    host.call("breakpoint.list", json!({}), LIMIT, |_| {}).await?;
                }
                anyhow::Ok(())
            })
        })
        .collect();
    for client in clients {
        client.await??;
    }
    Ok(began.elapsed())
}

/// Two threads that answer each other by files.
struct Bare {
    folder: tempfile::TempDir,
    answers: Mailbox,
    other: std::thread::JoinHandle<Result<()>>,
}

impl Bare {
    fn start(samples: usize) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (questions, answers) = (folder.path().join("questions"), folder.path().join("answers"));
        std::fs::create_dir(&questions)?;
        std::fs::create_dir(&answers)?;
        let mut asked = Mailbox::new(&questions)?;
        let mailbox = Mailbox::new(&answers)?;
        let other = std::thread::spawn(move || {
            for number in 0..samples {
                asked.wait()?;
                put(&answers, number)?;
            }
            Ok(())
        });
        Ok(Self { folder, answers: mailbox, other })
    }

    fn round_trip(&mut self, number: usize) -> Result<()> {
        put(&self.folder.path().join("questions"), number)?;
        self.answers.wait()
    }

    fn end(self) -> Result<()> {
        self.other.join().ok().context("the other side failed")?
    }
}

fn put(folder: &Path, number: usize) -> Result<()> {
    use std::io::Write;

    // Outside of the watched folder until it is whole.
    let aside = folder.with_extension("tmp");
    let mut file = std::fs::File::create(&aside)?;
    file.write_all(json!({"version": 1, "id": number}).to_string().as_bytes())?;
    file.sync_all()?;
    Ok(std::fs::rename(aside, folder.join(number.to_string()))?)
}

struct Mailbox(std::os::fd::OwnedFd);

impl Mailbox {
    fn new(folder: &Path) -> Result<Self> {
        let inotify = init(CreateFlags::CLOEXEC)?;
        add_watch(&inotify, folder, WatchFlags::MOVED_TO)?;
        Ok(Self(inotify))
    }

    fn wait(&mut self) -> Result<()> {
        let mut buffer = [MaybeUninit::uninit(); 1024];
        Reader::new(&self.0, &mut buffer).next()?;
        Ok(())
    }
}
