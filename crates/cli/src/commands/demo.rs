//! `termbridge demo`: an agent's view, live.
//!
//! Starts this program's own MCP server as an agent would, drives a real program through it, and
//! shows each call and the screen it led to. A screen is shown once the program waits for keys again,
//! so that it is never half painted. Ctrl+C ends everything and leaves nothing behind.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use termbridge_mcp::client::{Answer, Client};

use super::own_path;
use super::signals::without_ctrl_c;
use super::{EndingSignals, wants_colour};
use crate::args::DemoArguments;

/// Time to read a step.
const PAUSE: Duration = Duration::from_millis(1500);
/// Columns of the screens shown.
const COLS: usize = 64;
/// Rows of the screens shown.
const ROWS: usize = 12;
/// Bytes of the file that the editor writes.
const MAX_WRITTEN: u64 = 4096;
/// No settings of the user, no files beside the edited one, and Escape takes effect at once.
const VIM_OPTIONS: [&str; 8] =
    ["-u", "NONE", "-i", "NONE", "-n", "-N", "--cmd", "set ttimeout ttimeoutlen=50"];

pub(crate) fn run(arguments: &DemoArguments) -> Result<ExitCode> {
    let folder = tempfile::Builder::new().prefix("termbridge-demo-").tempdir();
    let folder = folder.context("cannot make a temporary folder")?;
    let file = folder.path().join("hello.txt");
    let fast = arguments.fast;
    let runtime = super::runtime()?;
    let ended = runtime.block_on(async {
        let mut signals = EndingSignals::catch()?;
        let demo = tokio::task::spawn_blocking(move || show(&file, fast));
        tokio::select! {
            shown = demo => shown.context("the demo failed")?,
            code = signals.next() => Ok(code),
        }
    });
    // The server ends when the demo's thread, and with it the connection, is gone.
    runtime.shutdown_background();
    folder.close().context("cannot remove the temporary folder")?;
    match ended {
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        ended => ended,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

fn show(file: &Path, fast: bool) -> Result<ExitCode> {
    let executable = std::env::current_exe().context("cannot find this program")?;
    let mut command = Command::new(executable);
    // In a group of its own, Ctrl+C reaches only the demo, which ends it in order.
    without_ctrl_c(command.args(["mcp", "--log-level", "off"]));
    let mut client = Client::start(&mut command).context("cannot start the server")?;
    client.initialize("2025-11-25")?;
    let mut demo = Demo { client, colour: wants_colour(&std::io::stdout()), fast };
    match ["vim", "vi"].into_iter().find(|name| is_vim(name)) {
        Some(editor) => demo.drive_vim(editor, file)?,
        None => demo.drive_shell()?,
    }
    drop(demo);
    say("The server and everything it started are gone. Give it to your agents:")?;
    say(&format!("  {} install", own_path::typed()?))?;
    Ok(ExitCode::SUCCESS)
}

struct Demo {
    client: Client,
    colour: bool,
    fast: bool,
}

impl Demo {
    fn drive_vim(&mut self, editor: &str, file: &Path) -> Result<()> {
        say(&format!("An agent edits a file in {editor}, through MCP.\n"))?;
        let path = file.display().to_string();
        let id = self.launch(json!({
            "command": editor,
            "args": VIM_OPTIONS.iter().copied().chain([path.as_str()]).collect::<Vec<_>>(),
            "cols": COLS, "rows": ROWS,
            "wait": {"interactive": true}, "view": "plain",
        }))?;
        self.call(
            "send_keys",
            json!({
                "session_id": id,
                "keys": "iHello from an agent.<Enter>It sees what you would see.<Escape>",
                "wait": {"interactive": true}, "view": "plain",
            }),
        )?;
        self.call(
            "send_keys",
            json!({
                "session_id": id, "keys": ":wq<Enter>", "wait": {"exit": true}, "view": "none",
            }),
        )?;
        let written = termbridge_foreign_files::read_to_string(file, MAX_WRITTEN)
            .context("the editor wrote no file")?;
        if !written.starts_with("Hello from an agent.\n") {
            bail!("the file holds something else: {written:?}");
        }
        say(&format!("The file on disk now:\n{}", indent(&written)))
    }

    fn drive_shell(&mut self) -> Result<()> {
        say("No vim here, so an agent drives a shell, through MCP.\n")?;
        let id = self.launch(json!({
            "command": "sh", "env": {"PS1": "$ "}, "cols": COLS, "rows": ROWS,
            "wait": {"text": "$ "}, "view": "plain",
        }))?;
        self.call(
            "send_keys",
            json!({
                "session_id": id, "keys": "echo $((6 * 7))<Enter>", "wait": {"text": "42"},
                "view": "plain",
            }),
        )?;
        self.call("stop_app", json!({"session_id": id, "signal": "HUP"}))?;
        Ok(())
    }

    fn launch(&mut self, arguments: Value) -> Result<String> {
        let answer = self.call("launch_app", arguments)?;
        let id = answer.structured["session_id"].as_str();
        Ok(id.context("launch_app gave no session")?.to_owned())
    }

    /// Makes a call and shows it with the screen it led to.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Answer> {
        let shown = format!("→ {tool} {arguments}");
        say(&self.painted("1;36", &shown))?;
        let answer = self.client.call(tool, arguments)?;
        if answer.is_error {
            bail!("{tool} failed: {}", answer.text);
        }
        match answer.structured["view"]["content"].as_str() {
            Some(screen) => say(&boxed(screen))?,
            None => say(&indent(&answer.text))?,
        }
        if !self.fast {
            std::thread::sleep(PAUSE);
        }
        Ok(answer)
    }

    fn painted(&self, sgr: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{sgr}m{text}\x1b[m") } else { text.to_owned() }
    }
}

fn say(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

fn boxed(screen: &str) -> String {
    let line = "─".repeat(COLS);
    let mut lines = vec![format!("  ┌{line}┐")];
    let mut rows = screen.lines();
    for _ in 0..ROWS {
        lines.push(format!("  │{:COLS$}│", rows.next().unwrap_or_default()));
    }
    lines.push(format!("  └{line}┘"));
    lines.join("\n")
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// Whether a program is vim; other editors are called `vi` too.
fn is_vim(program: &str) -> bool {
    let asked = std::process::Command::new(program)
        .arg("--version")
        .stdin(std::process::Stdio::null())
        .output();
    asked.is_ok_and(|output| output.stdout.starts_with(b"VIM - Vi IMproved"))
}
