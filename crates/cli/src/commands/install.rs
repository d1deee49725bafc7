//! `termbridge install`: our entry in the configuration of MCP clients.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use termbridge_clients::{Entry, Plan};
use termbridge_mcp::Toolset;
use termbridge_mcp::socket::check_supported;

use super::clients::{self, PlanSkill, Task};
use super::own_path::{is_from_file, lasting_path, lasting_program, own_path, package_runner};
use super::{printable, tell};
use crate::args::{InstallArguments, ScopeName};

pub(crate) fn run(arguments: &InstallArguments) -> Result<ExitCode> {
    let mut args = vec!["mcp".to_owned()];
    if arguments.connect {
        check_supported().context("--connect")?;
        args.push("--connect".to_owned());
    }
    if let Some(names) = &arguments.toolsets {
        Toolset::named(names)?;
        let names: Vec<&str> = names.iter().map(|name| name.trim()).collect();
        args.extend(["--toolsets".to_owned(), names.join(",")]);
    }
    let start = match &arguments.command {
        Some(command) if command.is_empty() => bail!("--command is empty"),
        Some(command) => Start::program(command),
        None => Start::of_this_program(arguments.edit.scope)?,
    };
    let missing = start.is_missing().then(|| start.command.clone());
    let cache = start.in_cache_of;
    let entry = start.entry(&arguments.edit.name, args)?;
    let is_chosen = arguments.connect || arguments.toolsets.is_some();
    let entry = if is_chosen { entry } else { entry.keeping_arguments() };
    let plan_skill: Option<PlanSkill> = arguments.skill.then_some(Plan::install_skill);
    let task = Task { verb: "install", entry, plan: Plan::install, plan_skill };
    let code = clients::run(&arguments.edit, &task)?;
    if let Some(command) = missing {
        let folder = own_path()?.parent().map(|folder| folder.display().to_string());
        tell(&format!(
            "termbridge: {} is not on your PATH, where clients look for it: add {} to PATH",
            printable(&command),
            printable(&folder.unwrap_or_default())
        ));
    }
    if let Some(runner) = cache {
        tell(&format!(
            "termbridge: it came from a file, so the entry names the copy in {runner}'s cache, which may be emptied; \
             install the package to keep it"
        ));
    }
    Ok(code)
}

/// How a client starts this program.
pub(super) struct Start {
    command: String,
    /// Arguments of a program that runs packages, before ours.
    before: Vec<String>,
    /// What runs packages has it in its cache, and would not find it anywhere else.
    in_cache_of: Option<&'static str>,
}

impl Start {
    fn program(command: &str) -> Self {
        Self { command: command.to_owned(), before: Vec::new(), in_cache_of: None }
    }

    /// The path of this program; the program that runs packages if this one came by it, because its cache is emptied
    /// some day; in projects a name, because a path of this machine is of no use to others.
    pub(super) fn of_this_program(scope: ScopeName) -> Result<Self> {
        let own = own_path()?;
        if let Some((command, before)) = package_runner(&own) {
            if is_from_file(&own) {
                return Ok(Self {
                    in_cache_of: Some(command),
                    ..Self::program(&lasting_path(&own)?)
                });
            }
            let before = before.iter().map(|&word| word.to_owned()).collect();
            return Ok(Self { before, ..Self::program(command) });
        }
        match scope {
            ScopeName::Project => Ok(Self::program("termbridge")),
            ScopeName::User => Ok(Self::program(&lasting_path(&own)?)),
        }
    }

    pub(super) fn entry(self, name: &str, args: Vec<String>) -> Result<Entry> {
        let args = self.before.into_iter().chain(args);
        Entry::new(name, self.command, args).context("--name")
    }

    /// Whether it is a name that the search path does not have.
    fn is_missing(&self) -> bool {
        !self.command.contains(std::path::is_separator) && lasting_program(&self.command).is_none()
    }
}
