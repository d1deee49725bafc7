//! The tasks: how each is set up, done with each server's tools, and checked.

mod commands;
mod debugger;
mod editors;
mod ours;
mod programs;
mod search;
mod theirs;

use anyhow::Result;

use crate::model::Model;
use crate::server::{Home, Server};

/// Does a task with one server.
pub(crate) type Script = fn(&mut Model) -> Result<()>;

/// The script for each server, or why its tools cannot do the task.
#[derive(Debug)]
pub(crate) struct Scripts {
    ours: Script,
    terminal_mcp: Result<Script, &'static str>,
    mcp_tmux: Result<Script, &'static str>,
    mcp_debugger: Result<Script, &'static str>,
}

impl Scripts {
    /// Of a task for terminals.
    const fn in_terminals(ours: Script, terminal_mcp: Script, mcp_tmux: Script) -> Self {
        Self {
            ours,
            terminal_mcp: Ok(terminal_mcp),
            mcp_tmux: Ok(mcp_tmux),
            mcp_debugger: Err("it has no terminal"),
        }
    }

    pub(crate) fn of(&self, server: Server) -> Result<Script, &'static str> {
        match server {
            Server::Ours => Ok(self.ours),
            Server::TerminalMcp => self.terminal_mcp,
            Server::McpTmux => self.mcp_tmux,
            Server::McpDebugger => self.mcp_debugger,
        }
    }
}

/// One task.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) name: &'static str,
    /// What the user asks for. The model knows the project's folder and nothing else.
    pub(crate) prompt: &'static str,
    /// Sets the project up.
    pub(crate) prepare: fn(&Home) -> Result<()>,
    pub(crate) scripts: Scripts,
    /// Whether it was done: the project, and all that the model has read.
    pub(crate) check: fn(&Home, &str) -> Result<()>,
}

/// All of them, in the order of the tables.
pub(crate) fn all() -> Vec<Task> {
    vec![
        editors::VIM,
        editors::COMMIT,
        editors::REBASE,
        commands::FAILING_TEST,
        commands::DEV_SERVER,
        commands::PASSWORD,
        programs::REPL,
        programs::MENU,
        search::LOG,
        debugger::PLANTED_BUG,
    ]
}
