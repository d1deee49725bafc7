//! `termbridge install`: our entry in the configuration of MCP clients.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use termbridge_clients::{Entry, Plan};
use termbridge_mcp::Toolset;

use super::clients::{self, Task};
use crate::args::{InstallArguments, ScopeName};

pub(crate) fn run(arguments: &InstallArguments) -> Result<ExitCode> {
    let mut args = vec!["mcp".to_owned()];
    if arguments.connect {
        args.push("--connect".to_owned());
    }
    if let Some(names) = &arguments.toolsets {
        Toolset::named(names)?;
        let names: Vec<&str> = names.iter().map(|name| name.trim()).collect();
        args.extend(["--toolsets".to_owned(), names.join(",")]);
    }
    let command = match (&arguments.command, arguments.edit.scope) {
        (Some(command), _) if command.is_empty() => bail!("--command is empty"),
        (Some(command), _) => command.clone(),
        // A path of this machine is of no use to others.
        (None, ScopeName::Project) => "termbridge".to_owned(),
        (None, ScopeName::User) => this_program()?,
    };
    let entry = Entry::new(&arguments.edit.name, command, args).context("--name")?;
    clients::run(&arguments.edit, &Task { verb: "install", entry, plan: Plan::install })
}

/// This program by the path under which it stays: the one on the search path if that is it, because installers
/// replace the file behind it.
pub(super) fn this_program() -> Result<String> {
    let own = std::env::current_exe().context("this program does not know its own path")?;
    let is_own = |file: &Path| match (file.canonicalize(), own.canonicalize()) {
        (Ok(file), Ok(own)) => file == own,
        _ => false,
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = own.file_name().unwrap_or_default();
    let found = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| is_own(file))
        .unwrap_or_else(|| own.clone());
    match found.into_os_string().into_string() {
        Ok(path) => Ok(path),
        Err(path) => {
            bail!("{} is not UTF-8; name the command with --command", path.display())
        }
    }
}
