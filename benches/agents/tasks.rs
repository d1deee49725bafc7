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

/// One task.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) name: &'static str,
    /// What the user asks for. The model knows the project's folder and nothing else.
    pub(crate) prompt: &'static str,
    /// Sets the project up.
    pub(crate) prepare: fn(&Home) -> Result<()>,
    /// The script for a server, or why its tools cannot do it.
    pub(crate) script: fn(Server) -> Result<Script, &'static str>,
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

/// Why a debugger's tools do none of the terminal's tasks.
const NO_TERMINAL: &str = "it has no terminal";
