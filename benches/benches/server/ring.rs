//! What it costs that nothing is lost: a flood through the server that keeps a journal of each terminal, against
//! `termbridge mcp`, which keeps none.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use termbridge_benches::{work, workload};

use crate::home::{Home, session_of};
use crate::wire::Peer;
use crate::{Scale, line};

/// How much more the server may have to do.
const MOST_WORK: f64 = 1.05;

/// Two rows: what the server has to do for the floods, which has a target, and how fast the fastest was, which depends on
/// what else the machine does.
pub(crate) fn floods(server: &Path, scale: &Scale) -> Result<()> {
    let home = Home::new(server, "")?;
    let served = home.serve()?;
    let mut lasting = Peer::socket(&served.socket)?;
    let mut ordinary = Peer::process(&mut home.command(&["mcp"]))?;
    let pids = [served.pid(), ordinary.pid().context("no process")?];
    for name in ["plain", "colour", "screens"] {
        let path = home.path().join(name);
        workload(name, scale.megabytes * 1_000_000, &path)?;
        let size = std::fs::metadata(&path)?.len() as f64 / 1e6;
        let before = pids.map(work);
        let mut best = [Duration::MAX; 2];
        for _ in 0..scale.floods {
            best[0] = best[0].min(flood(&mut lasting, &path)?);
            best[1] = best[1].min(flood(&mut ordinary, &path)?);
        }
        let after = pids.map(work);
        let [ours, floor] = [0, 1].map(|at| after[at].saturating_sub(before[at]).as_secs_f64());
        let ratio = ours / floor;
        line(
            &format!("server's work for a flood, {name}, with the journal (floor: mcp)"),
            &format!("{ours:.2} s"),
            &format!("{floor:.2} s"),
            &format!("{ratio:.2}"),
            &format!("<= {MOST_WORK}"),
            if ratio <= MOST_WORK { "met" } else { "missed" },
        );
        let [ours, floor] = best.map(|time| size / time.as_secs_f64());
        line(
            &format!("flood, {name}, with the journal (floor: mcp)"),
            &format!("{ours:.0} MB/s"),
            &format!("{floor:.0} MB/s"),
            &format!("{:.2}", ours / floor),
            "",
            "",
        );
    }
    Ok(())
}

fn flood(peer: &mut Peer, path: &Path) -> Result<Duration> {
    let launch = json!({
        "command": "cat", "args": [path], "cols": 120, "rows": 40, "view": "none",
        "wait": {"exit": true, "timeout_ms": 50_000},
    });
    let began = Instant::now();
    let answer = peer.call("launch_app", &launch)?;
    let took = began.elapsed();
    ensure!(answer["structuredContent"]["wait"]["fired"] == "exit", "{answer}");
    peer.call("stop_app", &json!({"session_id": session_of(&answer)?}))?;
    Ok(took)
}
