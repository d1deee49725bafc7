//! The servers, and a home of its own for each run of one.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use termbridge_mcp::client::Client;
use termbridge_testkit::TestEnvironment;

/// A server that the tasks are done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    /// termbridge.
    Ours,
    /// `terminal-mcp` of `PyPI`: terminals of its own.
    TerminalMcp,
    /// `mcp-tmux` of `PyPI`: panes of tmux.
    McpTmux,
    /// `@debugmcp/mcp-debugger` of npm: debug adapters.
    McpDebugger,
}

/// All of them, in the order of the tables.
pub(crate) const SERVERS: [Server; 4] =
    [Server::Ours, Server::TerminalMcp, Server::McpTmux, Server::McpDebugger];

impl Server {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "termbridge",
            Self::TerminalMcp => "terminal-mcp",
            Self::McpTmux => "mcp-tmux",
            Self::McpDebugger => "mcp-debugger",
        }
    }
}

/// Where the programs are.
#[derive(Debug)]
pub(crate) struct Programs {
    ours: PathBuf,
    target: PathBuf,
}

impl Programs {
    /// `ours` is the server's binary: target/PROFILE/termbridge.
    pub(crate) fn new(ours: PathBuf) -> Result<Self> {
        let target = ours.ancestors().nth(2).context("no target folder")?.to_owned();
        Ok(Self { ours, target })
    }

    /// The words that start a server; none if it is not installed.
    pub(crate) fn command(&self, server: Server) -> Option<Vec<PathBuf>> {
        let peers = self.target.join("peers");
        let words = match server {
            Server::Ours => vec![self.ours.clone(), "mcp".into()],
            Server::TerminalMcp => vec![peers.join("venv/bin/terminal-mcp")],
            Server::McpTmux => vec![peers.join("venv/bin/mcp-tmux")],
            Server::McpDebugger => {
                vec![peers.join("node_modules/.bin/mcp-debugger"), "stdio".into()]
            }
        };
        words[0].exists().then_some(words)
    }
}

/// A home with a project in it, for one run of one task.
#[derive(Debug)]
pub(crate) struct Home {
    environment: TestEnvironment,
}

impl Home {
    pub(crate) fn new() -> Self {
        let environment = TestEnvironment::new();
        environment.write(
            ".gitconfig",
            "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n[core]\neditor = vim\n",
        );
        environment.write("project/.keep", "");
        Self { environment }
    }

    /// The project's folder.
    pub(crate) fn project(&self) -> PathBuf {
        self.environment.path().join("project")
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        self.environment.write(&format!("project/{name}"), content);
    }

    /// Reads a file of the project.
    pub(crate) fn read(&self, name: &str) -> Result<String> {
        std::fs::read_to_string(self.project().join(name)).with_context(|| format!("no {name}"))
    }

    /// What a line of shell prints in the project; an error unless it exits with 0.
    pub(crate) fn shell(&self, line: &str) -> Result<String> {
        let mut command = self.environment.command("/bin/sh");
        let output = command.args(["-ec", line]).current_dir(self.project()).output()?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "{line}: {printed}{error}");
        Ok(printed)
    }

    /// Starts a server in the project, with the Python of the tests first on the search path.
    pub(crate) fn start(&self, programs: &Programs, words: &[PathBuf]) -> Result<Client> {
        let mut command = self.environment.command(&words[0]);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let python = programs.target.join("test-venv/bin");
        // A login shell, which tmux starts, begins with the system's search path.
        self.environment.write(".profile", format!("PATH='{}':$PATH\n", python.display()));
        let path =
            std::env::join_paths(std::iter::once(python).chain(std::env::split_paths(&path)))?;
        command
            .args(&words[1..])
            .env("PATH", path)
            .env("SHELL", "/bin/bash")
            .env("TERM", "xterm-256color")
            .env("TMPDIR", self.environment.path())
            .env("TMUX_TMPDIR", self.environment.path())
            .current_dir(self.project())
            .stderr(Stdio::null());
        Ok(Client::start(&mut command)?)
    }
}

impl Drop for Home {
    /// Ends what a server left behind (a tmux server outlives its client): every process with this home.
    fn drop(&mut self) {
        let mark = format!("HOME={}", self.environment.path().display());
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            if has_variable(&entry.path(), &mark)
                && let Some(pid) = Pid::from_raw(pid)
            {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

fn has_variable(process: &Path, mark: &str) -> bool {
    let variables = std::fs::read(process.join("environ")).unwrap_or_default();
    variables.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
}
