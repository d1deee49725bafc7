//! What it costs that nothing is lost: a flood through the server that keeps a journal of each terminal, against
//! `termbridge mcp`, which keeps none.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;
use termbridge_benches::workload;

use crate::home::{Home, session_of};
use crate::wire::Peer;
use crate::{Scale, line};

/// As much slower as it may be.
const MOST_COST: f64 = 0.05;

pub(crate) fn floods(server: &Path, scale: &Scale) -> Result<()> {
    let home = Home::new(server, "")?;
    let served = home.serve()?;
    let mut lasting = Peer::socket(&served.socket)?;
    let mut ordinary = Peer::process(&mut home.command(&["mcp"]))?;
    for name in ["plain", "colour", "screens"] {
        let path = home.path().join(name);
        workload(name, scale.megabytes * 1_000_000, &path)?;
        let size = std::fs::metadata(&path)?.len() as f64 / 1e6;
        let mut best = [Duration::MAX; 2];
        for _ in 0..scale.floods {
            best[0] = best[0].min(flood(&mut lasting, &path)?);
            best[1] = best[1].min(flood(&mut ordinary, &path)?);
        }
        let [ours, floor] = best.map(|time| size / time.as_secs_f64());
        let cost = 1.0 - ours / floor;
        line(
            &format!("flood, {name}, with the journal (floor: mcp)"),
            &format!("{ours:.0} MB/s"),
            &format!("{floor:.0} MB/s"),
            &format!("{:.2}", ours / floor),
            ">= 0.95",
            if cost <= MOST_COST { "met" } else { "missed" },
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
