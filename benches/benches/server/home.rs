//! A user of the server: a home and a runtime folder of its own, and the server that runs there.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use termbridge_benches::memory;
use termbridge_mcp::socket::{ServerFolder, records};

use crate::wire::Peer;

const START_LIMIT: Duration = Duration::from_secs(30);

/// A user. What runs there ends with this.
pub(crate) struct Home {
    folder: TempDir,
    server: PathBuf,
    runtime: ServerFolder,
}

/// A running server.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) socket: PathBuf,
    pub(crate) token: String,
}

impl Home {
    /// With this configuration file.
    pub(crate) fn new(server: &Path, config: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir_all(folder.path().join(".config/termbridge"))?;
        std::fs::write(folder.path().join(".config/termbridge/config.toml"), config)?;
        let runtime = ServerFolder::open(Some(folder.path()), folder.path())?;
        Ok(Self { folder, server: server.to_owned(), runtime })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// `termbridge` as this user runs it.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.server);
        command
            .args(arguments)
            .env_clear()
            .envs(["PATH", "LANG"].iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command
            .env("HOME", self.path())
            .env("XDG_RUNTIME_DIR", self.path())
            .env("SHELL", "/bin/bash");
        command.env("LOG_LEVEL", "error").current_dir(self.path());
        command
    }

    /// Starts the server; returns when it answers.
    pub(crate) fn serve(&self) -> Result<Served> {
        let mut command = self.command(&["serve", "--port", "0"]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let deadline = Instant::now() + START_LIMIT;
        loop {
            let all = records(&self.runtime)?;
            let record = all.into_iter().find(|record| record.pid == child.id());
            // Of a first start, the token comes last.
            let token = std::fs::read_to_string(self.runtime.token()).unwrap_or_default();
            if let Some(url) = record.and_then(|record| record.http).filter(|_| !token.is_empty()) {
                let address = url.trim_start_matches("http://").trim_end_matches("/mcp").parse()?;
                let (socket, token) = (self.runtime.socket(), token.trim().to_owned());
                return Ok(Served { child, address, socket, token });
            }
            if let Some(status) = child.try_wait()? {
                bail!("the server ended: {status}");
            }
            ensure!(Instant::now() < deadline, "the server does not start");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A token of its own for an agent.
    pub(crate) fn new_token(&self) -> Result<String> {
        let output = self.command(&["token", "create"]).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    /// The process that keeps the programs: the one that listens on its socket and is no server.
    pub(crate) fn keeper(&self) -> Result<u32> {
        let path = self.runtime.keeper();
        let sockets = std::fs::read_to_string("/proc/net/unix")?;
        let mut lines = sockets.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        // Its type and state say that it listens.
        let listens = |line: &Vec<&str>| {
            line.get(5) == Some(&"01") && line.last().is_some_and(|last| Path::new(last) == path)
        };
        let inode = lines
            .find(listens)
            .and_then(|line| line.get(6).map(|inode| format!("socket:[{inode}]")));
        let inode = inode.context("no keeper listens")?;
        let processes = std::fs::read_dir("/proc")?.flatten();
        let mut pids =
            processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_keeper = |pid: &u32| {
            let name = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let mut files =
                std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
            let holds = |file: std::fs::DirEntry| {
                std::fs::read_link(file.path()).is_ok_and(|target| target == Path::new(&inode))
            };
            name.starts_with(b"termbridge-keeper") && files.any(holds)
        };
        pids.find(is_keeper).context("no process has the keeper's socket")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.runtime.socket()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let mut stop = self.command(&["stop", "--all"]);
        let _ = stop.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

impl Served {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn memory(&self) -> u64 {
        memory(self.pid())
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Ok(Some(_)) = self.child.try_wait() {
            return;
        }
        if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let _ = self.child.wait();
    }
}

/// Launches a program; the session's id.
pub(crate) fn launch(
    peer: &mut Peer,
    command: &str,
    arguments: &[&str],
    wait: &Value,
) -> Result<String> {
    let launch = json!({"command": command, "args": arguments, "wait": wait, "view": "none"});
    session_of(&peer.call("launch_app", &launch)?)
}

/// The session that an answer names.
pub(crate) fn session_of(answer: &Value) -> Result<String> {
    let structured = answer["structuredContent"]["session_id"].as_str().map(str::to_owned);
    structured.with_context(|| format!("no session in {answer}"))
}
