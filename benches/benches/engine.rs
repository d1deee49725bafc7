//! The engine against its floors, all in one run: `cargo bench -p termbridge-benches`.
//!
//! `TERMBRIDGE=path` measures another build of the program, an older version for example; only the rows about dumps
//! measure this one.
//!
//! `--quick` takes few samples: it shows that everything runs, not how fast.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;
use termbridge_benches::{
    BarePty, Mode, children, client, memory, row, server_binary, times, workload,
};
use termbridge_mcp::client::Client;
use termbridge_vt::{Options, Size, Terminal};

struct Scale {
    keys: usize,
    launches: usize,
    starts: usize,
    dumps: usize,
    megabytes: usize,
    sessions: &'static [usize],
}

const FULL: Scale = Scale {
    keys: 2000,
    launches: 200,
    starts: 50,
    dumps: 100,
    megabytes: 64,
    sessions: &[1, 100, 500],
};
const QUICK: Scale =
    Scale { keys: 50, launches: 5, starts: 3, dumps: 3, megabytes: 2, sessions: &[1, 10] };

fn main() -> Result<()> {
    let quick = std::env::args().any(|argument| argument == "--quick" || argument == "--test");
    let scale = if quick { QUICK } else { FULL };
    let server = server_binary()?;
    row("measure", "ours", "floor", "ratio");
    start_to_initialize(&server, &scale)?;
    key_to_screen(&server, &scale)?;
    launch_to_screen(&server, &scale)?;
    ingest(&server, &scale)?;
    dump(&scale)?;
    idle_memory(&server, &scale)
}

fn start_to_initialize(server: &Path, scale: &Scale) -> Result<()> {
    let mut ours = Vec::new();
    let mut floor = Vec::new();
    for _ in 0..scale.starts {
        let began = Instant::now();
        let client = client(server, &[])?;
        ours.push(began.elapsed());
        client.close()?;
        let began = Instant::now();
        Command::new(server).arg("--version").stdout(Stdio::null()).status()?;
        floor.push(began.elapsed());
    }
    times("start -> initialize (floor: --version)", &mut ours, &mut floor);
    Ok(())
}

fn key_to_screen(server: &Path, scale: &Scale) -> Result<()> {
    let mut floor = Vec::new();
    let mut bare = BarePty::start(&mut Command::new("cat"), Mode::Raw)?;
    for count in 0..scale.keys {
        let began = Instant::now();
        bare.echo(b'a' + (count % 26) as u8)?;
        floor.push(began.elapsed());
    }
    let mut client = client(server, &[])?;
    let script = "stty raw -echo; printf ready; exec cat";
    let answer = client.call(
        "launch_app",
        json!({"command": "sh", "args": ["-c", script], "wait": {"text": "ready"}}),
    )?;
    let id = answer.structured["session_id"].as_str().context("no session")?.to_owned();
    let kinds = [
        ("key -> screen over MCP", json!({"wait": {"change": true}, "view": "plain"})),
        ("send_keys without a wait", json!({})),
    ];
    for (name, options) in kinds {
        let mut ours = Vec::new();
        for count in 0..scale.keys {
            let key = char::from(b'a' + (count % 26) as u8);
            let mut arguments = options.clone();
            arguments["session_id"] = id.as_str().into();
            arguments["text"] = key.to_string().into();
            let began = Instant::now();
            let answer = client.call("send_keys", arguments)?;
            ours.push(began.elapsed());
            let shown = answer.structured["view"]["content"].as_str();
            if shown.is_none() && std::env::var_os("TERMBRIDGE").is_some() {
                // An older version.
                row(name, "no screen", "", "");
                return Ok(());
            }
            anyhow::ensure!(shown.is_some_and(|shown| shown.contains(key)), "{}", answer.text);
        }
        times(&format!("{name} (floor: bare PTY echo)"), &mut ours, &mut floor);
    }
    Ok(())
}

fn launch_to_screen(server: &Path, scale: &Scale) -> Result<()> {
    let mut client = client(server, &["--max-sessions", "1000"])?;
    let mut ours = Vec::new();
    let mut floor = Vec::new();
    for _ in 0..scale.launches {
        let began = Instant::now();
        let answer = client.call(
            "launch_app",
            json!({"command": "echo", "args": ["hello"], "wait": {"text": "hello"}, "view": "plain"}),
        )?;
        ours.push(began.elapsed());
        anyhow::ensure!(answer.text.contains("hello"), "{}", answer.text);
        let began = Instant::now();
        Command::new("echo").arg("hello").stdin(Stdio::null()).output()?;
        floor.push(began.elapsed());
    }
    times("launch -> first screen (floor: fork+exec, read)", &mut ours, &mut floor);
    Ok(())
}

fn ingest(server: &Path, scale: &Scale) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut client = client(server, &[])?;
    let mut ratios = Vec::new();
    for name in ["plain", "colour", "screens"] {
        let path = folder.path().join(name);
        workload(name, scale.megabytes * 1_000_000, &path)?;
        let size = std::fs::metadata(&path)?.len() as f64 / 1e6;
        let mut best = (Duration::MAX, Duration::MAX);
        for _ in 0..3 {
            let began = Instant::now();
            let mut bare = BarePty::start(Command::new("cat").arg(&path), Mode::Cooked)?;
            bare.drain();
            best.1 = best.1.min(began.elapsed());
            best.0 = best.0.min(feed(&mut client, &path)?);
        }
        let speed = |time: Duration| size / time.as_secs_f64();
        let ratio = speed(best.0) / speed(best.1);
        ratios.push(ratio);
        row(
            &format!("ingest, {name} (floor: bare read)"),
            &format!("{:.0} MB/s", speed(best.0)),
            &format!("{:.0} MB/s", speed(best.1)),
            &format!("{ratio:.2}"),
        );
    }
    let mean = ratios.iter().product::<f64>().powf(1.0 / ratios.len() as f64);
    row("ingest, geometric mean", "", "", &format!("{mean:.2}"));
    Ok(())
}

fn feed(client: &mut Client, path: &Path) -> Result<Duration> {
    let began = Instant::now();
    let answer = client.call(
        "launch_app",
        json!({"command": "cat", "args": [path], "wait": {"exit": true, "timeout_ms": 50_000}}),
    )?;
    let took = began.elapsed();
    anyhow::ensure!(answer.text.contains("exit code 0"), "{}", answer.text);
    Ok(took)
}

/// A terminal of 10,000 lines; the floor is the copy of its text, and feeding that to a new terminal.
fn dump(scale: &Scale) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let empty = || Terminal::new(Size { cols: 80, rows: 24 }, Options::default());
    for name in ["plain", "colour"] {
        let path = folder.path().join(name);
        workload(name, 1_000_000, &path)?;
        let text = std::fs::read_to_string(&path)?.replace('\n', "\r\n");
        let mut terminal = empty();
        terminal.feed(text.as_bytes());
        let mut took: [Vec<Duration>; 4] = Default::default();
        let mut measure = |what: usize, began: Instant| took[what].push(began.elapsed());
        for _ in 0..scale.dumps {
            let began = Instant::now();
            let dump = terminal.dump();
            measure(0, began);
            let began = Instant::now();
            let copy = dump.stream.clone();
            measure(1, began);
            let began = Instant::now();
            let restored = Terminal::from_bytes(&terminal.to_bytes(), Options::default())?;
            measure(2, began);
            anyhow::ensure!(restored.history_len() == terminal.history_len(), "lines are missing");
            let began = Instant::now();
            let mut fed = empty();
            fed.feed(&copy);
            measure(3, began);
        }
        let [dumped, copied, restored, fed] = &mut took;
        times(&format!("dump, {name}, 10,000 lines (floor: copy)"), dumped, copied);
        times(&format!("persist and restore, {name}, 10,000 lines (floor: feed)"), restored, fed);
    }
    Ok(())
}

fn idle_memory(server: &Path, scale: &Scale) -> Result<()> {
    let mut client = client(server, &["--max-sessions", "1000"])?;
    let all = |client: &Client| {
        let keepers = children(client.pid());
        std::iter::once(client.pid()).chain(keepers).map(memory).sum::<u64>()
    };
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    row("memory, no session yet", &megabytes(all(&client)), "", "");
    let mut launched = 0;
    let mut first = 0;
    for &count in scale.sessions {
        while launched < count {
            client.call("launch_app", json!({"command": "cat", "wait": {}}))?;
            launched += 1;
        }
        let bytes = all(&client);
        let each = match launched {
            1 => {
                first = bytes;
                String::new()
            }
            _ => format!("{:.0} KB each", (bytes - first) as f64 / (launched - 1) as f64 / 1e3),
        };
        row(&format!("memory, {count} sessions (server and keeper)"), &megabytes(bytes), &each, "");
    }
    Ok(())
}
