//! `termbridge uninstall`: takes out what install added.

use std::process::ExitCode;

use anyhow::{Context, Result};
use termbridge_clients::{Entry, Plan};

use super::clients::{self, Task};
use super::install::this_program;
use crate::args::UninstallArguments;

pub(crate) fn run(arguments: &UninstallArguments) -> Result<ExitCode> {
    let entry = Entry::new(&arguments.edit.name, this_program()?, ["mcp"]).context("--name")?;
    clients::run(&arguments.edit, &Task { verb: "uninstall", entry, plan: Plan::uninstall })
}
