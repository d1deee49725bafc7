//! Programs that stay: a REPL and a menu.

use anyhow::{Result, ensure};
use serde_json::json;

use super::{Scripts, Task, ours, theirs};
use crate::model::Model;

pub(super) const REPL: Task = Task {
    name: "a REPL",
    prompt: "Look at times.json in a Python REPL: what is the median of its durations, and which request took longest?",
    prepare: |home| {
        let request = |index: u32| {
            let ms = if index == 97 { 4321 } else { 20 + index * 7 % 60 };
            json!({"path": format!("/item/{index}"), "ms": ms, "status": 200})
        };
        home.write("times.json", json!((0..200).map(request).collect::<Vec<_>>()).to_string());
        Ok(())
    },
    scripts: Scripts::in_terminals(repl_ours, repl_terminal, repl_tmux),
    check: |_, read| {
        ensure!(read.contains("/item/97") && read.contains("4321"), "the longest was not read");
        ensure!(read.contains("(49.5, "), "the median was not read");
        Ok(())
    },
};

const LOAD: &str = "import json, statistics; d = json.load(open('times.json')); len(d), d[0]";
/// What the first answer makes possible.
const ANALYSE: &str = "statistics.median(r['ms'] for r in d), max(d, key=lambda r: r['ms'])";

fn repl_ours(model: &mut Model) -> Result<()> {
    let seen = model.call("launch_app", json!({"command": "python3"}))?;
    let session = seen.value(ours::SESSION)?;
    ours::until(model, seen, &session, ">>>")?;
    ours::type_keys(model, &session, &format!("{LOAD}<Enter>"), "'ms': 20")?;
    ours::type_keys(model, &session, &format!("{ANALYSE}<Enter>"), "/item/97")
}

fn repl_terminal(model: &mut Model) -> Result<()> {
    let seen = model.call("session_create", json!({"command": "python3"}))?;
    let session = seen.value(theirs::SESSION)?;
    theirs::interact(model, &session, &json!({"input": LOAD}), "'ms': 20")?;
    theirs::interact(model, &session, &json!({"input": ANALYSE}), "/item/97")
}

fn repl_tmux(model: &mut Model) -> Result<()> {
    let start = json!({"name": "py", "command": "python3"});
    model.call("tmux_new_session", start)?;
    for (line, wanted) in [(LOAD, "'ms': 20"), (ANALYSE, "/item/97")] {
        let keys = json!({"target_pane": "py", "text": line, "enter": true});
        model.call("tmux_send_keys", keys)?;
        let wait = json!({"target_pane": "py", "idle_seconds": 0.5});
        model.call("tmux_wait_for_idle", wait)?.expect(wanted)?;
    }
    Ok(())
}

pub(super) const MENU: Task = Task {
    name: "a TUI menu",
    prompt: "Run ./setup.sh and install PostgreSQL.",
    prepare: |home| {
        home.write(
            "setup.sh",
            "#!/bin/bash\n\
             choice=$(whiptail --title Setup --menu 'Which database?' 15 50 4 1 SQLite 2 MySQL 3 PostgreSQL 4 None \
             3>&1 1>&2 2>&3) || exit 1\n\
             whiptail --title Setup --yesno \"Install number $choice now?\" 8 40 || exit 1\n\
             echo \"$choice\" >choice.txt\necho \"Installed number $choice\"\n",
        );
        home.shell("chmod +x setup.sh")?;
        Ok(())
    },
    scripts: Scripts::in_terminals(menu_ours, menu_terminal, menu_tmux),
    check: |home, _| {
        ensure!(home.read("choice.txt")? == "3\n", "another one was chosen");
        Ok(())
    },
};

fn menu_ours(model: &mut Model) -> Result<()> {
    let seen = model.call("execute_command", json!({"command": "./setup.sh"}))?;
    let session = seen.value(ours::SESSION)?;
    ours::until(model, seen, &session, "3 PostgreSQL")?;
    ours::type_keys(model, &session, "Down Down Enter", "Install number 3")?;
    ours::type_keys(model, &session, "Enter", "Installed number 3")
}

fn menu_terminal(model: &mut Model) -> Result<()> {
    let session = theirs::start(model, "./setup.sh", "3 PostgreSQL")?;
    // `key` takes one key a call; a model that knows the sequences sends all three at once.
    let choose = json!({"input": "\u{1b}[B\u{1b}[B\r", "press_enter": false});
    theirs::interact(model, &session, &choose, "Install number 3")?;
    theirs::interact(model, &session, &json!({"key": "enter"}), "Installed number 3")
}

fn menu_tmux(model: &mut Model) -> Result<()> {
    // In a shell, so that what it prints at the end is there to be read.
    model.call("tmux_new_session", json!({"name": "dev"}))?;
    let run = json!({"target_pane": "dev", "text": "./setup.sh", "enter": true});
    model.call("tmux_send_keys", run)?;
    let wait = json!({"target_pane": "dev", "pattern": "Cancel"});
    model.call("tmux_wait_for_text", wait)?.expect("3 PostgreSQL")?;
    let keys = json!({"target_pane": "dev", "keys": ["Down", "Down", "Enter"]});
    model.call("tmux_send_keys", keys)?;
    let wait = json!({"target_pane": "dev", "pattern": "<No>"});
    model.call("tmux_wait_for_text", wait)?.expect("Install number 3")?;
    model.call("tmux_send_keys", json!({"target_pane": "dev", "keys": ["Enter"]}))?;
    let wait = json!({"target_pane": "dev", "pattern": "Installed"});
    model.call("tmux_wait_for_text", wait)?.expect("Installed number 3")
}
