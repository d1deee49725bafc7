//! Commands against their floors, all in one run: `cargo bench -p termbridge-benches --bench commands`.
//!
//! The floor of a command is the bare shell on a bare terminal: the line is written, and its output
//! awaited. `--quick` takes few samples: it shows that everything runs, not how fast.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use termbridge_benches::{BarePty, Mode, client_at, row, server_binary, times, workload};
use termbridge_session::{Launch, Sessions, Settings, Wait};

struct Scale {
    commands: usize,
    in_a_row: usize,
    megabytes: usize,
}

const FULL: Scale = Scale { commands: 500, in_a_row: 1000, megabytes: 100 };
const QUICK: Scale = Scale { commands: 5, in_a_row: 20, megabytes: 2 };

/// A prompt that no command prints.
const PROMPT: &str = "bare> ";

fn main() -> Result<()> {
    let quick = std::env::args().any(|argument| argument == "--quick" || argument == "--test");
    let scale = if quick { QUICK } else { FULL };
    let server = server_binary()?;
    row("measure", "ours", "floor", "ratio");
    for shell in ["bash", "zsh", "fish", "dash"] {
        echo_hi(&server, shell, &scale)?;
    }
    in_a_row(&server, &scale)?;
    long_output(&server, &scale)
}

/// A server whose home is empty, so that nobody's start-up files are measured.
fn server_with(server: &Path, home: &Path, shell: &str) -> Result<termbridge_mcp::client::Client> {
    let history = home.join("config.toml");
    let table = format!("[history]\npath = {:?}\n", home.join("history.db").display().to_string());
    std::fs::write(&history, table)?;
    client_at(home, server, &["--shell", shell, "--config", &history.display().to_string()])
}

/// The shell without anything of ours; `setsid -c` gives it the terminal.
fn bare_shell(shell: &str, home: &Path) -> Result<BarePty> {
    let mut command = Command::new("setsid");
    command.arg("-c").arg(shell).env("HOME", home).env("PS1", PROMPT).env("TERM", "xterm-256color");
    let set_prompt = match shell {
        "bash" => {
            command.args(["--norc", "--noprofile", "-i"]);
            format!("PS1='{PROMPT}'\r")
        }
        "zsh" => {
            command.args(["-f", "-i"]);
            format!("PS1='{PROMPT}'\r")
        }
        "fish" => {
            command.args(["--no-config", "-i"]);
            format!("function fish_prompt; echo -n '{PROMPT}'; end\r")
        }
        _ => {
            command.arg("-i");
            format!("PS1='{PROMPT}'\r")
        }
    };
    let mut bare = BarePty::start(&mut command, Mode::Cooked)?;
    bare.ask(&set_prompt, "\n")?;
    bare.ask("echo rea''dy\r", "ready")?;
    bare.read_until(PROMPT)?;
    Ok(bare)
}

fn echo_hi(server: &Path, shell: &str, scale: &Scale) -> Result<()> {
    let home = tempfile::tempdir()?;
    let mut bare = bare_shell(shell, home.path())?;
    let mut client = server_with(server, home.path(), shell)?;
    client.call("execute_command", json!({"command": "true"}))?;
    let (mut ours, mut floor, mut cycle) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..scale.commands {
        let began = Instant::now();
        bare.ask("echo h''i\r", "hi")?;
        floor.push(began.elapsed());
        bare.read_until(PROMPT)?;
        cycle.push(began.elapsed());
        let began = Instant::now();
        let answer = client.call("execute_command", json!({"command": "echo hi"}))?;
        ours.push(began.elapsed());
        ensure!(answer.structured["output"] == "hi\n", "{}", answer.text);
        let id = &answer.structured["session_id"];
        client.call("wait_for", json!({"session_id": id, "prompt": true}))?;
    }
    times(&format!("echo hi in {shell} (floor: its output shows)"), &mut ours, &mut floor);
    // What tells the exit code comes after the output, with the next prompt.
    times(&format!("echo hi in {shell} (floor: its next prompt)"), &mut ours, &mut cycle);
    Ok(())
}

fn in_a_row(server: &Path, scale: &Scale) -> Result<()> {
    let home = tempfile::tempdir()?;
    let mut client = server_with(server, home.path(), "bash")?;
    let mut bare = bare_shell("bash", home.path())?;
    client.call("execute_command", json!({"command": "true"}))?;
    let began = Instant::now();
    for number in 0..scale.in_a_row {
        bare.ask(&format!("echo {number}''.\r"), &format!("{number}."))?;
    }
    let floor = began.elapsed();
    let began = Instant::now();
    for number in 0..scale.in_a_row {
        let arguments = json!({"command": format!("echo {number}.")});
        let answer = client.call("execute_command", arguments)?;
        ensure!(answer.structured["output"] == format!("{number}.\n"), "{}", answer.text);
    }
    let ours = began.elapsed();
    row(
        &format!("{} commands in a row (floor: bare bash)", scale.in_a_row),
        &format!("{:.2} s", ours.as_secs_f64()),
        &format!("{:.2} s", floor.as_secs_f64()),
        &format!("{:.2}", ours.as_secs_f64() / floor.as_secs_f64()),
    );
    Ok(())
}

/// A flood as a command's output, against the same flood in a session that keeps no output.
fn long_output(server: &Path, scale: &Scale) -> Result<()> {
    let home = tempfile::tempdir()?;
    let path = home.path().join("flood");
    workload("plain", scale.megabytes * 1_000_000, &path)?;
    let size = std::fs::metadata(&path)?.len();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let sessions = Sessions::new(Settings::default());
    let mut client = server_with(server, home.path(), "bash")?;
    let (mut ours, mut floor) = (Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        let began = Instant::now();
        runtime.block_on(async {
            let session = sessions.launch(Launch::new("cat").arg(&path).size(120, 40)).await?;
            session.wait(Wait::exit().timeout(Duration::from_mins(2))).await
        })?;
        floor = floor.min(began.elapsed());
        let began = Instant::now();
        let arguments = json!({"command": format!("cat {}", path.display()), "timeout_ms": 50_000});
        let answer = client.call("execute_command", arguments)?;
        ours = ours.min(began.elapsed());
        let uri = answer.structured["resource"].as_str().context("no resource")?;
        ensure!(answer.structured["exit_code"] == 0, "{}: {uri}", answer.text);
    }
    runtime.block_on(sessions.shutdown());
    let speed = |time: Duration| size as f64 / 1e6 / time.as_secs_f64();
    row(
        &format!("{} MB of output (floor: the engine's ingest)", scale.megabytes),
        &format!("{:.0} MB/s", speed(ours)),
        &format!("{:.0} MB/s", speed(floor)),
        &format!("{:.2}", speed(ours) / speed(floor)),
    );
    Ok(())
}
