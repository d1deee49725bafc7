//! Sessions that a server keeps: what idle ones cost, and how soon the next server has them.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use termbridge_benches::memory;

use crate::home::{Home, launch};
use crate::wire::Peer;
use crate::{Scale, megabytes, milliseconds, note, row};

const CONFIG: &str = "max_sessions = 2000\n";
const MOST_PER_SESSION: u64 = 200_000;
const MOST_ADOPTION: Duration = Duration::from_secs(1);
/// How long the next server may take before the benchmark gives up on it.
const LIMIT: Duration = Duration::from_mins(1);
/// What a session to be adopted has printed: a screen and a scrollback.
const PRINT: &str = "seq 200; echo ready; exec cat";

/// Memory of server and keeper for each idle session, beyond the programs' own.
pub(crate) fn idle(server: &Path, scale: &Scale) -> Result<()> {
    let home = Home::new(server, CONFIG)?;
    let served = home.serve()?;
    let mut peer = Peer::socket(&served.socket)?;
    launch(&mut peer, "cat", &[], &json!({}))?;
    let keeper = home.keeper()?;
    let all = || served.memory() + memory(keeper) + journals(keeper, served.pid());
    let first = all();
    for _ in 0..scale.idle_sessions {
        launch(&mut peer, "cat", &[], &json!({}))?;
    }
    let each = all().saturating_sub(first) / scale.idle_sessions as u64;
    let measure = format!("memory, {} idle sessions (server and keeper)", scale.idle_sessions);
    note(&measure, &megabytes(all()));
    let shown = format!("{} KB", each / 1000);
    row("memory for each of them", &shown, "<= 200 KB", each <= MOST_PER_SESSION);
    note("of it in the keeper", &megabytes(memory(keeper)));
    Ok(())
}

/// Bytes of the journals that `memory` does not count: those that no process has mapped.
fn journals(keeper: u32, server: u32) -> u64 {
    let Ok(files) = std::fs::read_dir(format!("/proc/{keeper}/fd")) else { return 0 };
    let is_journal = |path: &Path| {
        std::fs::read_link(path).is_ok_and(|target| target.to_string_lossy().starts_with("/memfd:"))
    };
    let journals = files.flatten().map(|file| file.path()).filter(|path| is_journal(path));
    let held: u64 =
        journals.filter_map(|path| Some(std::fs::metadata(path).ok()?.blocks() * 512)).sum();
    held.saturating_sub(mapped(server))
}

/// Bytes of shared memory that a process has mapped.
fn mapped(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss_Shmem:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// From the next server's start until it lists all sessions, and until it has shown each of their screens.
pub(crate) fn adopt(server: &Path, scale: &Scale) -> Result<()> {
    let home = Home::new(server, CONFIG)?;
    let served = home.serve()?;
    let mut peer = Peer::socket(&served.socket)?;
    let mut sessions = Vec::new();
    for _ in 0..scale.adopted_sessions {
        sessions.push(launch(&mut peer, "sh", &["-c", PRINT], &json!({"text": "ready"}))?);
    }
    drop(peer);
    served.kill()?;
    let began = Instant::now();
    let mut command = home.command(&["serve", "--port", "0"]);
    let mut next =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let mut peer = loop {
        match Peer::socket(&home.socket()) {
            Ok(peer) => break peer,
            Err(error) => {
                ensure!(began.elapsed() < LIMIT, "the next server does not answer: {error:#}");
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let listed = peer.call("list_sessions", &json!({}))?;
    let took = began.elapsed();
    let count = listed["structuredContent"]["sessions"].as_array().map_or(0, Vec::len);
    ensure!(count == sessions.len(), "{count} of {} sessions were adopted", sessions.len());
    for session in &sessions {
        let shown = peer.call("view_screen", &json!({"session_id": session}))?;
        let has_screen = |shown: &Value| shown.to_string().contains("ready");
        ensure!(has_screen(&shown), "{session} has lost its screen: {shown}");
    }
    let shown = began.elapsed();
    let measure = format!("adoption of {count} sessions: start -> list_sessions");
    row(&measure, &milliseconds(took), "<= 1 s", took <= MOST_ADOPTION);
    note("until each has shown its screen", &milliseconds(shown));
    drop(peer);
    drop(home);
    next.wait()?;
    Ok(())
}
