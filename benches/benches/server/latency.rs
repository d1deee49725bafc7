//! What a call costs on each way to the server, through the shim, and what a start costs.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use termbridge_benches::{children, memory, percentile};

use crate::bare::BareServer;
use crate::home::{Home, launch};
use crate::wire::Peer;
use crate::{Scale, against, megabytes, milliseconds, note, row};

/// As often as its p50 may be the floor's.
const MOST_RATIO: f64 = 1.3;
const MOST_SHIM: Duration = Duration::from_micros(200);
const MOST_START: Duration = Duration::from_millis(3);
const MOST_MEMORY: u64 = 10_000_000;
/// More requests than a person's agents make.
const CONFIG: &str = "[serve]\nrate_limit = 100000\n";
/// The cheapest question about a session.
const TOOL: &str = "get_screen_size";
/// Calls before those that count.
const WARM_UP: usize = 50;

/// Each way against the same way to the bare server.
pub(crate) fn calls(server: &Path, scale: &Scale) -> Result<()> {
    let home = Home::new(server, CONFIG)?;
    let ours = home.serve()?;
    let bare = BareServer::start(home.path())?;
    let pairs = [
        (
            "HTTP, requests alone",
            Peer::stateless(ours.address, &ours.token)?,
            Peer::stateless(bare.address, "")?,
        ),
        (
            "HTTP, with a session",
            Peer::with_session(ours.address, &ours.token)?,
            Peer::with_session(bare.address, "")?,
        ),
        (
            "WebSocket",
            Peer::web_socket(ours.address, &ours.token)?,
            Peer::web_socket(bare.address, "")?,
        ),
        ("unix socket", Peer::socket(&ours.socket)?, Peer::socket(&bare.socket)?),
    ];
    for (name, mut ours, mut floor) in pairs {
        let session = launch(&mut ours, "cat", &[], &json!({}))?;
        let sessions = [session.as_str(); 2];
        let (mut ours, mut floor) = in_turns(&mut ours, &mut floor, sessions, scale.calls)?;
        against(&format!("call over {name} (floor: bare rmcp)"), &mut ours, &mut floor, MOST_RATIO);
    }
    Ok(())
}

/// The same call through `termbridge mcp --connect` and directly over the socket.
pub(crate) fn shim(server: &Path, scale: &Scale) -> Result<()> {
    let home = Home::new(server, CONFIG)?;
    let served = home.serve()?;
    let mut direct = Peer::socket(&served.socket)?;
    let mut through = Peer::process(&mut home.command(&["mcp", "--connect"]))?;
    let own = launch(&mut direct, "cat", &[], &json!({}))?;
    let sessions = [launch(&mut through, "cat", &[], &json!({}))?, own];
    let sessions = sessions.each_ref().map(String::as_str);
    let (mut through, mut direct) = in_turns(&mut through, &mut direct, sessions, scale.calls)?;
    let [through, direct] = [percentile(&mut through, 50), percentile(&mut direct, 50)];
    let cost = through.saturating_sub(direct);
    note("call through the shim, p50", &milliseconds(through));
    row("what the shim adds to a call, p50", &milliseconds(cost), "<= 0.2 ms", cost <= MOST_SHIM);
    let mut starts = Vec::new();
    for _ in 0..scale.starts {
        let began = Instant::now();
        let peer = Peer::process(&mut home.command(&["mcp", "--connect"]))?;
        starts.push(began.elapsed());
        drop(peer);
    }
    note("start of the shim -> initialize, p50", &milliseconds(percentile(&mut starts, 50)));
    Ok(())
}

/// `termbridge mcp` alone.
pub(crate) fn starts(server: &Path, scale: &Scale) -> Result<()> {
    let home = Home::new(server, "")?;
    let (mut starts, mut memories) = (Vec::new(), Vec::new());
    for _ in 0..scale.starts {
        let began = Instant::now();
        let peer = Peer::process(&mut home.command(&["mcp"]))?;
        starts.push(began.elapsed());
        let pid = peer.pid().context("no process")?;
        memories.push(std::iter::once(pid).chain(children(pid)).map(memory).sum::<u64>());
    }
    let start = percentile(&mut starts, 50);
    row("start of mcp -> initialize, p50", &milliseconds(start), "<= 3 ms", start <= MOST_START);
    memories.sort_unstable();
    let memory = memories.get(memories.len() / 2).copied().context("no starts")?;
    row("memory of mcp, server and keeper", &megabytes(memory), "<= 10 MB", memory <= MOST_MEMORY);
    Ok(())
}

/// Calls both in turns, so that both have the same machine.
fn in_turns(
    ours: &mut Peer,
    floor: &mut Peer,
    sessions: [&str; 2],
    calls: usize,
) -> Result<(Vec<Duration>, Vec<Duration>)> {
    let [ours_of, floor_of] = sessions.map(|session| json!({"session_id": session}));
    let timed = |peer: &mut Peer, arguments: &Value| -> Result<Duration> {
        let began = Instant::now();
        peer.call(TOOL, arguments)?;
        Ok(began.elapsed())
    };
    let (mut times, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..WARM_UP + calls {
        times.push(timed(ours, &ours_of)?);
        floors.push(timed(floor, &floor_of)?);
    }
    Ok((times.split_off(WARM_UP), floors.split_off(WARM_UP)))
}
