//! A line in a large log.

use std::fmt::Write;

use anyhow::{Result, ensure};
use serde_json::json;

use super::{Scripts, Task};
use crate::model::Model;

/// About 20 MB.
const LINES: usize = 250_000;
/// The one line of interest, far from both ends.
const AT: usize = 173_204;
const SEARCH: &str = "grep -n -C3 'ERROR' service.log";

pub(super) const LOG: Task = Task {
    name: "a large log",
    prompt: "service.log is large. What went wrong in it, and what led to that?",
    prepare: |home| {
        let mut log = String::with_capacity(LINES * 84);
        for line in 0..LINES {
            let (minute, second) = (line / 60 % 60, line % 60);
            write!(log, "2026-03-14T09:{minute:02}:{second:02}Z ")?;
            match line {
                AT => writeln!(log, "ERROR payment 48213 refused: card expired")?,
                _ if line == AT - 1 => writeln!(log, "WARN  payment 48213 retried 3 times")?,
                _ => writeln!(
                    log,
                    "INFO  request {line:06} GET /api/items/{} 200 in {} ms, cache hit",
                    line * 31 % 977,
                    line % 43
                )?,
            }
        }
        home.write("service.log", log);
        Ok(())
    },
    scripts: Scripts::in_terminals(ours, terminal, tmux),
    check: |_, read| {
        ensure!(read.contains("refused: card expired"), "the line was not read");
        ensure!(read.contains("retried 3 times"), "what led to it was not read");
        Ok(())
    },
};

fn ours(model: &mut Model) -> Result<()> {
    model.call("execute_command", json!({"command": SEARCH}))?.expect("card expired")
}

fn terminal(model: &mut Model) -> Result<()> {
    model.call("session_exec", json!({"exec": SEARCH}))?.expect("card expired")
}

fn tmux(model: &mut Model) -> Result<()> {
    model.call("tmux_new_session", json!({"name": "dev"}))?;
    let search = json!({"target_pane": "dev", "command": SEARCH});
    model.call("tmux_run", search)?.expect("card expired")
}
