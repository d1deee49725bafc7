//! The commands, one file each.

mod clients;
pub(crate) mod completions;
pub(crate) mod connect;
pub(crate) mod debug;
pub(crate) mod demo;
pub(crate) mod doctor;
mod editors;
pub(crate) mod history;
pub(crate) mod install;
pub(crate) mod logs;
pub(crate) mod ls;
pub(crate) mod man;
pub(crate) mod mcp;
mod own_path;
mod people;
pub(crate) mod policy;
pub(crate) mod send;
pub(crate) mod serve;
mod signals;
pub(crate) mod start_server;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod token;
pub(crate) mod tools;
pub(crate) mod uninstall;

use std::io::{self, IsTerminal, Write};
use std::mem::ManuallyDrop;
use std::panic;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Serialize;
use termbridge_bridge::{Bridge, NativeBackend};
use termbridge_mcp::{McpServer, Offer, Toolset};
use termbridge_session::Sessions;
use tokio::runtime::Runtime;

use self::signals::EndingSignals;
use crate::config::Config;

/// One worker for the protocol, one for the sessions, whatever the machine has: most of the work is
/// waiting, and an idle thread costs memory.
const WORKERS: usize = 2;

/// Threads for work that blocks, started when they are needed: hung file systems can hold half of them.
const BLOCKING: usize = 2 * termbridge_foreign_files::MAX_THREADS;

/// Why there are too few threads.
const NO_THREADS: &str = "cannot start its threads: the limit of processes (`ulimit -u`, a container's pids limit) is reached";

/// A runtime that goes on where the system refuses further threads, because a program has used up the
/// user's or the container's processes: its first blocking thread is started here and stays.
fn runtime() -> anyhow::Result<Runtime> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(WORKERS).max_blocking_threads(BLOCKING).thread_keep_alive(Duration::MAX);
    // Where a thread is refused, tokio panics, and unwinding would wait for the threads that it has.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {
        eprintln!("termbridge: {NO_THREADS}");
        std::process::exit(1);
    }));
    let runtime =
        ManuallyDrop::new(runtime.enable_all().build().context("cannot start the runtime")?);
    drop(runtime.spawn_blocking(|| ()));
    panic::set_hook(hook);
    // Or it runs without that thread.
    ensure!(own_threads().is_none_or(|threads| threads > WORKERS + 1), NO_THREADS);
    Ok(ManuallyDrop::into_inner(runtime))
}

/// How many threads this process has, where the system says so.
fn own_threads() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

/// The debugging tools in this process, without history.
struct Debugging {
    server: McpServer,
    sessions: Sessions,
}

impl Debugging {
    fn new(config: &Config) -> anyhow::Result<Self> {
        let sessions = Sessions::new(config.settings.clone());
        let backend = Arc::new(NativeBackend::new(sessions.clone()));
        let bridge = Bridge::new(backend, config.bridge.clone(), config.policy()?, None);
        let offer = Offer::new(&[Toolset::Debug], config.offer()?.debug);
        Ok(Self { server: McpServer::new(bridge, offer)?, sessions })
    }

    /// Ends everything that was started.
    async fn end(&self) {
        self.server.end_debugging().await;
        self.sessions.shutdown().await;
    }
}

/// Text that is someone else's, without what a terminal would take for a command.
fn printable(text: &str) -> String {
    let is_kept = |c: char| matches!(c, '\n' | '\t') || !is_command(c);
    let shown = |c: char| if is_kept(c) { c } else { '\u{fffd}' };
    // The ends of a terminal's lines are not to be seen.
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

/// The same on one line.
fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], "\u{fffd}")
}

/// What a terminal does not show but obeys.
fn is_command(c: char) -> bool {
    // Those that reorder a line are no better than those that move the cursor.
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a stream is a terminal whose user wants colour.
pub(crate) fn wants_colour(stream: &impl IsTerminal) -> bool {
    let variable = |name| std::env::var_os(name).unwrap_or_default();
    stream.is_terminal() && variable("NO_COLOR").is_empty() && variable("TERM") != "dumb"
}

/// Writes a line for people to stderr; one that is closed or full is no reason to fail.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Writes a value as a line of JSON to stdout.
fn print_json(value: &impl Serialize) -> anyhow::Result<ExitCode> {
    print(&format!("{}\n", json_line(value)?))
}

/// A value as JSON in one line, without what a terminal would take for a command.
fn json_line(value: &impl Serialize) -> anyhow::Result<String> {
    let text = serde_json::to_string(value)?;
    if !text.contains(is_command) {
        return Ok(text);
    }
    let mut line = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_command(c) {
            // Only within strings: JSON itself has none. All are of the first 65536.
            line.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            line.push(c);
        }
    }
    Ok(line)
}

/// Writes an answer to stdout; the reader may stop early.
pub(crate) fn print(text: &str) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to stdout")
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// A path as a word of a command line.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    match shlex::try_quote(&path) {
        Ok(word) => word.into_owned(),
        Err(_) => path.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn json_holds_no_command_of_a_terminal_and_means_the_same() {
        let value = json!({"a\u{9b}2J": "\u{1b}]0;x\u{7}\n\u{202e}\u{7f}ä\u{85}"});
        let line = json_line(&value).expect("written");
        assert!(!line.contains(is_command), "{line:?}");
        assert_eq!(serde_json::from_str::<Value>(&line).expect("read"), value);
    }
}
