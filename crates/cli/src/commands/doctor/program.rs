//! The program itself: where it is, and whether the one on the search path is another.

use std::path::Path;
use std::process::Stdio;

use serde_json::json;
use termbridge_bridge::dap::{CommandLine, Environment};
use tokio::io::AsyncReadExt;

use super::LIMIT;
use super::check::{Check, Group};
use crate::commands::own_path::is_launcher;

/// Bytes that are read of a version.
const MAX_VERSION: u64 = 200;

pub(super) async fn check() -> Vec<Check> {
    let own = std::env::current_exe().unwrap_or_default();
    let data = json!({"path": own.display().to_string(), "version": env!("CARGO_PKG_VERSION")});
    let detail = format!("{} {}", own.display(), env!("CARGO_PKG_VERSION"));
    let mut checks = vec![Check::ok(Group::Program, "termbridge", detail).data(data)];
    let Some(other) = Environment::of_process().find_program("termbridge") else {
        checks.push(Check::info(
            Group::Program,
            "PATH",
            "has no termbridge; clients start it by its path, projects' entries by name",
        ));
        return checks;
    };
    let (own, found) = (own.canonicalize().unwrap_or(own), other.canonicalize());
    if found.is_ok_and(|found| found == own || is_launcher(&found, &own)) {
        return checks;
    }
    let version = tokio::time::timeout(LIMIT, version_of(&other)).await.ok().flatten();
    let version = version.unwrap_or_else(|| "does not report its version".to_owned());
    let detail = format!("its termbridge is another one: {} ({version})", other.display());
    let data = json!({"path": other.display().to_string(), "version": version});
    let check = match version.split_whitespace().nth(1) == Some(env!("CARGO_PKG_VERSION")) {
        true => Check::info(Group::Program, "PATH", detail),
        false => Check::warning(Group::Program, "PATH", detail, "type -a termbridge"),
    };
    checks.push(check.data(data));
    checks
}

async fn version_of(program: &Path) -> Option<String> {
    let mut process = CommandLine::new(program).args(["--version"]).spawn(Stdio::null()).ok()?;
    let (_, stdout, _) = process.pipes();
    let mut text = String::new();
    stdout?.take(MAX_VERSION).read_to_string(&mut text).await.ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
