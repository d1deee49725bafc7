//! A call beside hostile output, and memory after a flood: `cargo bench -p termbridge-benches --bench
//! hostile`.
//!
//! One session prints what is hard to follow, without end, or one more than there are cores do; the time
//! of calls to another session is measured meanwhile (the floor: the same calls with nothing beside them),
//! then that of reading the last line of the one that prints (the floor: of the other). `--quick` takes
//! few samples: it shows that everything runs, not how fast.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use termbridge_benches::{client_at, memory, row, server_binary, times, workload};
use termbridge_mcp::client::{Answer, Client};

struct Scale {
    calls: usize,
    reads: usize,
    megabytes: usize,
}

const FULL: Scale = Scale { calls: 300, reads: 20, megabytes: 250 };
const QUICK: Scale = Scale { calls: 5, reads: 2, megabytes: 2 };

/// Sessions that flood at once for the measure of memory.
const FLOODS: usize = 8;
/// Time for the floods of all sessions.
const FLOOD_LIMIT: Duration = Duration::from_mins(10);

/// Longest time in which memory is awaited to go back.
const RELEASE_LIMIT: Duration = Duration::from_secs(5);

/// Hostile output: what it is, the size of its terminal, what is printed over and over.
struct Hostile {
    name: &'static str,
    size: (u16, u16),
    output: Vec<u8>,
    /// Sessions that print it.
    sessions: usize,
    /// Text that is waited for and never comes.
    wait: bool,
}

fn main() -> Result<()> {
    let quick = std::env::args().any(|argument| argument == "--quick" || argument == "--test");
    let scale = if quick { QUICK } else { FULL };
    let server = server_binary()?;
    row("measure", "ours", "floor: alone", "ratio");
    for hostile in all() {
        beside(&server, &hostile, &scale)?;
    }
    flood_memory(&server, &scale)
}

fn all() -> Vec<Hostile> {
    let usual = (120, 40);
    let hostile = |name, size, output: String| Hostile {
        name,
        size,
        output: output.into_bytes(),
        sessions: 1,
        wait: false,
    };
    let more_than_cores = std::thread::available_parallelism().map_or(2, |cores| cores.get() + 1);
    let marks = "\r\u{26a0}\u{fe0f}\u{200d}e\u{301} building 40%".repeat(50_000);
    let line = "x".repeat(1_000_000);
    let links = (0..500).fold(String::new(), |mut text, number| {
        let _ = write!(text, "\x1b]8;;http://{number}/{}\x1b\\x", "u".repeat(4000));
        text
    });
    let lines = "the quick brown fox jumps over the lazy dog\n".repeat(20_000);
    vec![
        hostile("a flood of lines", usual, lines.clone()),
        hostile("rewritten lines with marks", usual, marks),
        hostile("deletions in a long line", usual, line + &"\x1b[P".repeat(10_000)),
        hostile("cursor movements", usual, "\x1b[999C\x1b[999B.\n\x1b[999A".repeat(2000)),
        hostile("repeated characters", usual, "x\x1b[65535b".repeat(2000)),
        hostile("links", usual, links),
        hostile("combining marks", usual, format!("a{}", "\u{301}".repeat(40)).repeat(20_000)),
        hostile("lines at 1000x1000", (1000, 1000), lines.clone()),
        hostile(
            "screens filled at 1000x1000",
            (1000, 1000),
            "\x1b#8\x1b[41m\x1b[2J\x1b[m".repeat(200),
        ),
        Hostile { wait: true, ..hostile("a text wait at 1000x1000", (1000, 1000), lines) },
        Hostile {
            sessions: more_than_cores,
            ..hostile("screens filled in cores + 1 sessions", usual, "\x1b#8".repeat(20_000))
        },
        Hostile {
            sessions: more_than_cores,
            ..hostile("repeated characters in cores + 1", usual, "x\x1b[65535b".repeat(5000))
        },
    ]
}

fn beside(server: &Path, hostile: &Hostile, scale: &Scale) -> Result<()> {
    let home = tempfile::tempdir()?;
    let path = home.path().join("hostile");
    std::fs::write(&path, &hostile.output)?;
    let mut client = start(server, home.path())?;
    let quiet = client.call("create_session", json!({"name": "quiet"}))?.structured;
    let quiet = &quiet["session_id"];
    // The first command waits for the shell to start.
    client.call("execute_command", json!({"command": "true", "session_id": quiet}))?;
    let mut floor = calls(&mut client, quiet, scale)?;
    let (cols, rows) = hostile.size;
    let command = format!("while :; do cat {}; done", path.display());
    let mut loud = Vec::new();
    for number in 0..hostile.sessions {
        let name = format!("loud-{number}");
        let arguments = json!({"name": name, "cols": cols, "rows": rows});
        let session = client.call("create_session", arguments)?.structured["session_id"].clone();
        let arguments = json!({"command": command, "session_id": session, "timeout_ms": 0});
        client.call("execute_command", arguments)?;
        if hostile.wait {
            let arguments = json!({"session_id": session, "text": "never", "timeout_ms": 50_000});
            client.begin("tools/call", json!({"name": "wait_for", "arguments": arguments}))?;
        }
        loud.push(session);
    }
    let mut ours = calls(&mut client, quiet, scale)?;
    for session in &loud {
        let still = last_line(&mut client, session)?;
        ensure!(still.structured["running"] == true, "{} ended: {}", hostile.name, still.text);
    }
    times(&format!("beside {}", hostile.name), &mut ours, &mut floor);
    if let [loud] = &loud[..] {
        let mut read = |session| {
            let began = Instant::now();
            last_line(&mut client, session).map(|_| began.elapsed())
        };
        let mut of = |session| (0..scale.reads).map(|_| read(session)).collect::<Result<Vec<_>>>();
        times(&format!("its last line: {}", hostile.name), &mut of(loud)?, &mut of(quiet)?);
    }
    for session in &loud {
        client.call("stop_app", json!({"session_id": session, "signal": "KILL"}))?;
    }
    client.close()?;
    Ok(())
}

fn last_line(client: &mut Client, session: &Value) -> Result<Answer> {
    Ok(client.call("get_terminal_output", json!({"session_id": session, "lines": 1}))?)
}

/// The times of calls to the quiet session: a command, then its screen.
fn calls(client: &mut Client, session: &Value, scale: &Scale) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..scale.calls {
        let began = Instant::now();
        let arguments = json!({"command": "echo hi", "session_id": session});
        let answer = client.call("execute_command", arguments)?;
        times.push(began.elapsed());
        ensure!(answer.structured["output"] == "hi\n", "{}", answer.text);
        let began = Instant::now();
        client.call("view_screen", json!({"session_id": session}))?;
        times.push(began.elapsed());
        client.call("wait_for", json!({"session_id": session, "prompt": true}))?;
    }
    Ok(times)
}

fn start(server: &Path, home: &Path) -> Result<Client> {
    let config = home.join("config.toml");
    let history = home.join("history.db").display().to_string();
    std::fs::write(&config, format!("[history]\npath = {history:?}\n"))?;
    let config = config.display().to_string();
    client_at(home, server, &["--shell", "bash", "--keep-finished", "0s", "--config", &config])
}

fn flood_memory(server: &Path, scale: &Scale) -> Result<()> {
    let home = tempfile::tempdir()?;
    let path = home.path().join("flood");
    workload("colour", 1_000_000, &path)?;
    let mut client = start(server, home.path())?;
    let pid = client.pid();
    client.call("execute_command", json!({"command": "true"}))?;
    let idle = memory(pid);
    let mut sessions = Vec::new();
    let (count, path) = (scale.megabytes, path.display());
    let command = format!("for i in $(seq {count}); do cat {path}; done; echo finished");
    for number in 0..FLOODS {
        let name = format!("flood-{number}");
        let session = client.call("create_session", json!({"name": name}))?;
        let id = session.structured["session_id"].clone();
        let arguments = json!({"command": command, "session_id": id, "timeout_ms": 0});
        client.call("execute_command", arguments)?;
        sessions.push(id);
    }
    let until = Instant::now() + FLOOD_LIMIT;
    for id in &sessions {
        let arguments = json!({"session_id": id, "prompt": true, "timeout_ms": 40_000});
        while client.call("wait_for", arguments.clone())?.structured["timed_out"] == true {
            ensure!(Instant::now() < until, "the floods take too long");
        }
        let last = client.call("get_terminal_output", json!({"session_id": id, "lines": 1}))?;
        ensure!(last.text.contains("finished"), "not all was printed: {}", last.text);
    }
    let flooded = memory(pid);
    for id in &sessions {
        client.call("stop_app", json!({"session_id": id, "signal": "KILL"}))?;
    }
    // Freed memory goes back to the system a moment after a session has ended.
    let until = Instant::now() + RELEASE_LIMIT;
    let mut ended = memory(pid);
    while ended > idle + (2 << 20) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
        ended = memory(pid);
    }
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let ratio = |bytes: u64| format!("{:.2}", bytes as f64 / idle as f64);
    let name = format!("memory after {FLOODS} x {} MB (floor: before)", scale.megabytes);
    row(&name, &megabytes(flooded), &megabytes(idle), &ratio(flooded));
    row(
        "memory after they ended (floor: before)",
        &megabytes(ended),
        &megabytes(idle),
        &ratio(ended),
    );
    client.close().context("the server does not end")?;
    Ok(())
}
