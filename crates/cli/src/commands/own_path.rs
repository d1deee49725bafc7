//! How others start this program: by its name, by its path, or by what runs packages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use termbridge_bridge::dap::Environment as Programs;
use termbridge_clients::PYPI_PACKAGE;

/// Bytes of a `package.json`.
const MAX_MANIFEST: u64 = 1024 * 1024;

/// Where this program is.
pub(super) fn own_path() -> Result<PathBuf> {
    std::env::current_exe().context("this program does not know its own path")
}

/// The command that runs a package, for a program in the cache of one.
pub(super) fn package_runner(own: &Path) -> Option<(&'static str, &'static [&'static str])> {
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

/// Whether a program in such a cache came from a file and not from a registry, where the command would look for it.
pub(super) fn is_from_file(own: &Path) -> bool {
    own.ancestors().any(|folder| {
        let is_npx = folder.parent().is_some_and(|above| above.ends_with("_npx"));
        // npx notes what it was asked for, installers of Python's packages where one came from.
        is_npx
            && termbridge_foreign_files::read_to_string(&folder.join("package.json"), MAX_MANIFEST)
                .is_ok_and(|text| text.contains("\"file:"))
            || has_origin(folder)
    })
}

/// Whether a Python environment says where our package came from, which it does not for one from a registry.
fn has_origin(environment: &Path) -> bool {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let pythons = entries(environment.join("lib"));
    let packages = pythons.flat_map(|python| entries(python.path().join("site-packages")));
    let prefix = format!("{}-", PYPI_PACKAGE.replace('-', "_"));
    packages
        .filter(|package| package.file_name().to_string_lossy().starts_with(&prefix))
        .any(|package| package.path().join("direct_url.json").exists())
}

/// A program of the search path that stays there: what runs packages puts its cache there for a while.
pub(super) fn lasting_program(name: &str) -> Option<PathBuf> {
    Programs::of_process().find_programs(name).find(|path| package_runner(path).is_none())
}

/// Whether a script is the one of the npm package that starts this program.
pub(super) fn is_launcher(script: &Path, own: &Path) -> bool {
    let modules = |path: &Path| {
        let outermost = path.ancestors().filter(|folder| folder.ends_with("node_modules")).last();
        outermost.map(Path::to_owned)
    };
    script.extension().is_some_and(|ending| ending == "js")
        && modules(script).is_some_and(|folder| modules(own) == Some(folder))
}

/// What a person types to run this program again.
pub(super) fn typed() -> Result<String> {
    let own = own_path()?;
    let own = own.canonicalize().unwrap_or(own);
    if let Some((command, before)) = package_runner(&own).filter(|_| !is_from_file(&own)) {
        return Ok(format!("{command} {}", before.join(" ")));
    }
    let named = lasting_program("termbridge").and_then(|found| found.canonicalize().ok());
    Ok(match named.is_some_and(|found| found == own || is_launcher(&found, &own)) {
        true => "termbridge".to_owned(),
        false => super::quoted(&own),
    })
}

/// A program by the path under which it stays: the one on the search path if that is it, because installers
/// replace the file behind it.
pub(super) fn lasting_path(own: &Path) -> Result<String> {
    let is_own = |file: &Path| match (file.canonicalize(), own.canonicalize()) {
        (Ok(file), Ok(own)) => file == own,
        _ => false,
    };
    let name = own.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let found = Programs::of_process().find_programs(name).find(|file| is_own(file));
    let found = found.unwrap_or_else(|| own.to_owned());
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
