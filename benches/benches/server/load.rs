//! Many agents at once, each with its sessions, on every way to the server.
//!
//! An agent calls, looks at what came for a while, and calls again. Its programs print on one line, and its shell's
//! scrollback is full before it begins: what grows is not what they print.

use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};
use termbridge_benches::percentile;

use crate::home::{Home, Served, launch, session_of};
use crate::wire::Peer;
use crate::{Scale, megabytes, milliseconds, note, row};

const CONFIG: &str = "max_sessions = 1000\nscrollback_lines = 100\n";
/// Of each agent, its shell included.
const SESSIONS: usize = 5;
/// Between the end of a call and the next one.
const THOUGHT: Duration = Duration::from_millis(100);
/// So much more at the end than after a quarter is flat.
const FLAT: f64 = 1.05;
/// A command that prints more lines than the scrollback has.
const FILL: &str = "seq 300";
/// A program that prints what it is sent.
const ECHO: &str = "stty raw -echo; printf ready; exec cat";

/// What an agent has done.
#[derive(Default)]
struct Work {
    times: Vec<Duration>,
    errors: Vec<String>,
}

pub(crate) fn agents(server: &Path, scale: &Scale) -> Result<()> {
    let home = Home::new(server, CONFIG)?;
    let served = home.serve()?;
    let (done, works) = mpsc::channel();
    let length = Duration::from_secs(scale.seconds);
    // All work from when the last one has its sessions.
    let begin = std::sync::Arc::new(std::sync::Barrier::new(scale.agents + 1));
    for number in 0..scale.agents {
        let agent =
            Agent::start(number, &home, &served).with_context(|| format!("agent {number}"))?;
        let (done, begin) = (done.clone(), std::sync::Arc::clone(&begin));
        std::thread::spawn(move || {
            begin.wait();
            let _ = done.send(agent.work(length));
        });
    }
    drop(done);
    begin.wait();
    std::thread::sleep(length / 4);
    let early = served.memory();
    std::thread::sleep(length * 3 / 4);
    let late = served.memory();
    let (mut times, mut errors) = (Vec::new(), Vec::new());
    for work in works {
        times.extend(work.times);
        errors.extend(work.errors);
    }
    let count = times.len();
    let rate = count as f64 / length.as_secs_f64();
    note(
        &format!("{} agents, {SESSIONS} sessions each, {count} calls", scale.agents),
        &format!("{rate:.0}/s"),
    );
    for percent in [50, 99] {
        note(
            &format!("a call among them, p{percent}"),
            &milliseconds(percentile(&mut times, percent)),
        );
    }
    row("errors", &errors.len().to_string(), "0", errors.is_empty());
    for error in errors.iter().take(3) {
        note(&format!("  {error}"), "");
    }
    note("memory of the server after a quarter", &megabytes(early));
    let growth = late as f64 / early as f64;
    row("memory of the server at the end", &megabytes(late), &format!("x {FLAT}"), growth <= FLAT);
    Ok(())
}

struct Agent {
    number: usize,
    peer: Peer,
    programs: Vec<String>,
    shell: String,
}

impl Agent {
    /// A client with its sessions; those over HTTP and WebSocket have a token each.
    fn start(number: usize, home: &Home, served: &Served) -> Result<Self> {
        let token = || home.new_token();
        let mut peer = match number % 4 {
            0 => Peer::stateless(served.address, &token()?)?,
            1 => Peer::with_session(served.address, &token()?)?,
            2 => Peer::web_socket(served.address, &token()?)?,
            _ => Peer::process(&mut home.command(&["mcp", "--connect"]))?,
        };
        let mut programs = Vec::new();
        while programs.len() + 1 < SESSIONS {
            programs.push(launch(&mut peer, "sh", &["-c", ECHO], &json!({"text": "ready"}))?);
        }
        let shell = session_of(&peer.call("create_session", &json!({}))?)?;
        peer.call("execute_command", &json!({"session_id": shell, "command": FILL}))?;
        Ok(Self { number, peer, programs, shell })
    }

    fn work(mut self, length: Duration) -> Work {
        let mut work = Work::default();
        let began = Instant::now();
        // Not all at the same moment.
        std::thread::sleep(THOUGHT * (self.number as u32 % 100) / 100);
        for round in 0.. {
            if began.elapsed() >= length {
                break;
            }
            let (tool, arguments) = self.next(round);
            let called = Instant::now();
            let answer = self.peer.call(tool, &arguments);
            work.times.push(called.elapsed());
            if let Err(error) = answer.and_then(|answer| check(tool, &answer)) {
                work.errors.push(format!("agent {}: {error:#}", self.number));
            }
            std::thread::sleep(THOUGHT);
        }
        work
    }

    fn next(&self, round: usize) -> (&'static str, Value) {
        let program = &self.programs[round % self.programs.len()];
        // What is printed differs from what is there.
        let text = format!("{}\r", char::from(b'a' + (round % 26) as u8));
        match (round + self.number) % 8 {
            0 | 4 => (
                "send_keys",
                json!({"session_id": program, "text": text, "wait": {"change": true}, "view": "plain"}),
            ),
            1 => ("view_screen", json!({"session_id": program})),
            2 => ("get_screen_size", json!({"session_id": program})),
            3 => ("execute_command", json!({"session_id": self.shell, "command": "echo hi"})),
            5 => ("list_sessions", json!({})),
            6 => ("get_terminal_output", json!({"session_id": self.shell})),
            _ => ("wait_for", json!({"session_id": program, "idle_ms": 1, "timeout_ms": 1000})),
        }
    }
}

/// Whether a call did what it was for.
fn check(tool: &str, answer: &Value) -> Result<()> {
    let content = &answer["structuredContent"];
    let is_right = match tool {
        "send_keys" => content["wait"]["fired"] == "change",
        "execute_command" => content["exit_code"] == 0,
        "list_sessions" => {
            content["sessions"].as_array().is_some_and(|rows| rows.len() >= SESSIONS)
        }
        _ => true,
    };
    is_right.then_some(()).ok_or_else(|| anyhow!("{tool}: {answer}"))
}
