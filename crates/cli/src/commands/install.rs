//! `termbridge install`: our entry in the configuration of MCP clients.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use termbridge_bridge::dap::Environment as Programs;
use termbridge_clients::{Entry, PYPI_PACKAGE, Plan};
use termbridge_mcp::Toolset;
use termbridge_mcp::socket::check_supported;

use super::clients::{self, Task};
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
    let entry = start.entry(&arguments.edit.name, args)?;
    let is_chosen = arguments.connect || arguments.toolsets.is_some();
    let entry = if is_chosen { entry } else { entry.keeping_arguments() };
    let task = Task { verb: "install", entry, plan: Plan::install };
    let code = clients::run(&arguments.edit, &task)?;
    if let Some(command) = missing {
        tell(&format!(
            "termbridge: {} is not on your PATH, where clients look for it",
            printable(&command)
        ));
    }
    Ok(code)
}

/// How a client starts this program.
pub(super) struct Start {
    command: String,
    /// Arguments of a program that runs packages, before ours.
    before: Vec<String>,
}

impl Start {
    fn program(command: &str) -> Self {
        Self { command: command.to_owned(), before: Vec::new() }
    }

    /// The path of this program; the program that runs packages if this one came by it, because its cache is emptied
    /// some day; in projects a name, because a path of this machine is of no use to others.
    pub(super) fn of_this_program(scope: ScopeName) -> Result<Self> {
        let own = std::env::current_exe().context("this program does not know its own path")?;
        if let Some((command, before)) = package_runner(&own) {
            let before = before.iter().map(|&word| word.to_owned()).collect();
            return Ok(Self { command: command.to_owned(), before });
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
        !self.command.contains(std::path::is_separator)
            && Programs::of_process().find_program(&self.command).is_none()
    }
}

/// The command that runs a package, for a program in the cache of one.
fn package_runner(own: &Path) -> Option<(&'static str, &'static [&'static str])> {
    let parts: Vec<&str> = own.iter().filter_map(|part| part.to_str()).collect();
    let has = |name: &str| parts.contains(&name);
    let begins = |start: &str| parts.iter().any(|part| part.starts_with(start));
    if has("_npx") {
        Some(("npx", &["-y", "termbridge"]))
    } else if begins("archive-v") && has("bin") {
        Some(("uvx", &[PYPI_PACKAGE]))
    } else if has(".cache") && has("pipx") {
        Some(("pipx", &["run", PYPI_PACKAGE]))
    } else if begins("bunx-") {
        Some(("bunx", &["termbridge"]))
    } else if has("pnpm") && has("dlx") {
        Some(("pnpm", &["dlx", "termbridge"]))
    } else {
        None
    }
}

/// A program by the path under which it stays: the one on the search path if that is it, because installers
/// replace the file behind it.
fn lasting_path(own: &Path) -> Result<String> {
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
        .unwrap_or_else(|| own.to_owned());
    match found.into_os_string().into_string() {
        Ok(path) => Ok(path),
        Err(path) => {
            bail!("{} is not UTF-8; name the command with --command", path.display())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_is_not_where_a_program_stays() {
        let of = |path: &str| package_runner(Path::new(path)).map(|(command, _)| command);
        for (path, command) in [
            (
                "/home/a/.npm/_npx/0a1b/node_modules/@termbridge/linux-x64/bin/termbridge",
                Some("npx"),
            ),
            ("/home/a/.cache/uv/archive-v0/Xy_z/bin/termbridge", Some("uvx")),
            ("/home/a/.cache/pipx/6036f9e45af1128/bin/termbridge", Some("pipx")),
            ("/home/a/.local/share/pipx/venvs/termbridge-mcp/bin/termbridge", None),
            ("/tmp/bunx-1000-termbridge@latest/node_modules/x/bin/termbridge", Some("bunx")),
            ("/home/a/.cache/pnpm/dlx/0a/1b/node_modules/x/bin/termbridge", Some("pnpm")),
            (
                "/usr/lib/node_modules/termbridge/node_modules/@termbridge/linux-x64/bin/termbridge",
                None,
            ),
            ("/home/a/.local/share/uv/tools/termbridge/bin/termbridge", None),
            ("/home/a/.cargo/bin/termbridge", None),
        ] {
            assert_eq!(of(path), command, "{path}");
        }
    }
}
