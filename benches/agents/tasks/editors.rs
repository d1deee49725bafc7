//! Editing in vim: a file, a commit message, a rebase.

use anyhow::{Result, bail, ensure};
use serde_json::json;

use super::{Scripts, Task, ours, theirs};
use crate::model::Model;
use crate::server::Home;

/// How often a model asks the same again before it tries something else.
const POLLS: usize = 5;
const CONFIG: &str = "[server]\nhost = localhost\nport = 8080\nworkers = 4\n";

pub(super) const VIM: Task = Task {
    name: "edit a file in vim",
    prompt: "Edit config.ini in vim: the port becomes 9090, and a last line `debug = false` is added.",
    prepare: |home| {
        home.write("config.ini", CONFIG);
        Ok(())
    },
    scripts: Scripts::in_terminals(vim_ours, vim_terminal, vim_tmux),
    check: |home, _| {
        let wanted = CONFIG.replace("8080", "9090") + "debug = false\n";
        let text = home.read("config.ini")?;
        ensure!(text == wanted, "config.ini is {text:?}");
        Ok(())
    },
};

fn vim_ours(model: &mut Model) -> Result<()> {
    let seen = model.call("launch_app", json!({"command": "vim", "args": ["config.ini"]}))?;
    let session = seen.value(ours::SESSION)?;
    ours::until(model, seen, &session, "port = 8080")?;
    let keys = ":%s/8080/9090/<Enter>Godebug = false<Escape>:wq<Enter>";
    ours::type_keys(model, &session, keys, "exit code 0")
}

fn vim_terminal(model: &mut Model) -> Result<()> {
    let session = theirs::start(model, "vim config.ini", "port = 8080")?;
    let input = json!({"input": ":%s/8080/9090/\rGodebug = false\u{1b}:wq"});
    theirs::interact(model, &session, &input, "written")
}

fn vim_tmux(model: &mut Model) -> Result<()> {
    let start = json!({"name": "vim", "command": "vim config.ini"});
    model.call("tmux_new_session", start)?;
    let wait = json!({"target_pane": "vim", "pattern": "All"});
    model.call("tmux_wait_for_text", wait)?.expect("port = 8080")?;
    let keys = [":%s/8080/9090/", "Enter", "Godebug = false", "Escape", ":wq", "Enter"];
    model.call("tmux_send_keys", json!({"target_pane": "vim", "keys": keys}))?;
    // It sends and does not wait: the session is asked for until it has gone.
    for _ in 0..POLLS {
        if model.call("tmux_has_session", json!({"session": "vim"}))?.expect("false").is_ok() {
            return Ok(());
        }
    }
    bail!("vim did not end")
}

pub(super) const COMMIT: Task = Task {
    name: "commit with an editor",
    prompt: "Commit all changes with `git commit -a`, and write the message `Move to port 9090` in the editor.",
    prepare: |home| {
        home.write("config.ini", CONFIG);
        home.shell(
            "git init -q; git add .; git commit -qm 'Add config'; sed -i s/8080/9090/ config.ini",
        )?;
        Ok(())
    },
    scripts: Scripts::in_terminals(commit_ours, commit_terminal, commit_tmux),
    check: |home, _| is_log(home, "Move to port 9090\nAdd config\n"),
};

fn commit_ours(model: &mut Model) -> Result<()> {
    let seen = model.call("execute_command", json!({"command": "git commit -a"}))?;
    let session = seen.value(ours::SESSION)?;
    ours::until(model, seen, &session, "modified: +config.ini")?;
    ours::type_keys(model, &session, "iMove to port 9090<Escape>:wq<Enter>", "1 file changed")
}

fn commit_terminal(model: &mut Model) -> Result<()> {
    let session = theirs::start(model, "git commit -a", "modified: +config.ini")?;
    let input = json!({"input": "iMove to port 9090\u{1b}:wq"});
    theirs::interact(model, &session, &input, "1 file changed")
}

fn commit_tmux(model: &mut Model) -> Result<()> {
    // In a shell, so that what git prints at the end is there to be read.
    model.call("tmux_new_session", json!({"name": "git"}))?;
    let run = json!({"target_pane": "git", "text": "git commit -a", "enter": true});
    model.call("tmux_send_keys", run)?;
    let wait = json!({"target_pane": "git", "pattern": "COMMIT_EDITMSG"});
    model.call("tmux_wait_for_text", wait)?.expect("modified: +config.ini")?;
    let keys = ["iMove to port 9090", "Escape", ":wq", "Enter"];
    model.call("tmux_send_keys", json!({"target_pane": "git", "keys": keys}))?;
    let wait = json!({"target_pane": "git", "pattern": "file changed"});
    model.call("tmux_wait_for_text", wait)?.expect("1 file changed")
}

pub(super) const REBASE: Task = Task {
    name: "git rebase -i",
    prompt: "With `git rebase -i` over the last three commits: reword `Add parser` to `Add the parser`, and melt `typo` \
             into `Add tests`.",
    prepare: |home| {
        home.write("config.ini", CONFIG);
        home.shell(
            "git init -q; git add .; git commit -qm 'Add config'
             echo 'import re' >parser.py; git add .; git commit -qm 'Add parser'
             echo 'import parsre' >test_parser.py; git add .; git commit -qm 'Add tests'
             echo 'import parser' >test_parser.py; git commit -qam typo",
        )?;
        Ok(())
    },
    scripts: Scripts::in_terminals(rebase_ours, rebase_terminal, rebase_tmux),
    check: |home, _| {
        let text = home.read("test_parser.py")?;
        ensure!(text == "import parser\n", "test_parser.py is {text:?}");
        is_log(home, "Add tests\nAdd the parser\nAdd config\n")
    },
};

fn rebase_ours(model: &mut Model) -> Result<()> {
    let seen = model.call("execute_command", json!({"command": "git rebase -i HEAD~3"}))?;
    let session = seen.value(ours::SESSION)?;
    ours::until(model, seen, &session, "pick .* typo")?;
    let keys = ":1s/pick/reword/<Enter>:3s/pick/fixup/<Enter>:wq<Enter>";
    ours::type_keys(model, &session, keys, "Please enter the commit message")?;
    let keys = "ccAdd the parser<Escape>:wq<Enter>";
    ours::type_keys(model, &session, keys, "Successfully rebased")
}

fn rebase_terminal(model: &mut Model) -> Result<()> {
    let session = theirs::start(model, "git rebase -i HEAD~3", "pick .* typo")?;
    let input = json!({"input": ":1s/pick/reword/\r:3s/pick/fixup/\r:wq"});
    theirs::interact(model, &session, &input, "Please enter the commit message")?;
    let input = json!({"input": "ccAdd the parser\u{1b}:wq"});
    theirs::interact(model, &session, &input, "Successfully rebased")
}

fn rebase_tmux(model: &mut Model) -> Result<()> {
    model.call("tmux_new_session", json!({"name": "git"}))?;
    let run = json!({"target_pane": "git", "text": "git rebase -i HEAD~3", "enter": true});
    model.call("tmux_send_keys", run)?;
    let wait = json!({"target_pane": "git", "pattern": "git-rebase-todo"});
    model.call("tmux_wait_for_text", wait)?.expect("pick .* typo")?;
    let keys = [":1s/pick/reword/", "Enter", ":3s/pick/fixup/", "Enter", ":wq", "Enter"];
    model.call("tmux_send_keys", json!({"target_pane": "git", "keys": keys}))?;
    let wait = json!({"target_pane": "git", "pattern": "COMMIT_EDITMSG"});
    model.call("tmux_wait_for_text", wait)?.expect("Please enter the commit message")?;
    let keys = ["ccAdd the parser", "Escape", ":wq", "Enter"];
    model.call("tmux_send_keys", json!({"target_pane": "git", "keys": keys}))?;
    let wait = json!({"target_pane": "git", "pattern": "Successfully"});
    model.call("tmux_wait_for_text", wait)?.expect("Successfully rebased")
}

fn is_log(home: &Home, wanted: &str) -> Result<()> {
    let log = home.shell("git log --format=%s")?;
    ensure!(log == wanted, "git log is {log:?}");
    Ok(())
}
