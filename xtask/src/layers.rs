//! `cargo xtask layers`: the directions of ARCHITECTURE.md, its column "sole user of", [`crate::reads`] and
//! [`crate::modules`].
//!
//! Read from `cargo metadata`, so it takes less than a second. Dependencies of tests are free: a test may
//! look at anything. cargo-deny (`deny.toml`, run by `scripts/nightly`) knows licences and sources too.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::modules::{counts, cycles};
use crate::reads::broken_reads;

/// What each crate may use of ours; one that is not named may use all.
const INTERNAL: [(&str, &[&str]); 18] = [
    ("termbridge-foreign-files", &[]),
    ("termbridge-vt", &[]),
    ("termbridge-pty", &[]),
    ("termbridge-shell", &[]),
    ("termbridge-policy", &[]),
    ("termbridge-store", &["termbridge-foreign-files"]),
    ("termbridge-editor", &["termbridge-foreign-files"]),
    ("termbridge-catalog", &["termbridge-foreign-files"]),
    ("termbridge-clients", &["termbridge-foreign-files"]),
    ("termbridge-dap", &["termbridge-foreign-files", "termbridge-pty"]),
    ("termbridge-code", &["termbridge-dap", "termbridge-foreign-files", "termbridge-pty"]),
    ("termbridge-session", &["termbridge-pty", "termbridge-shell", "termbridge-vt"]),
    (
        "termbridge-bridge",
        &[
            "termbridge-catalog",
            "termbridge-code",
            "termbridge-dap",
            "termbridge-editor",
            "termbridge-foreign-files",
            "termbridge-policy",
            "termbridge-session",
            "termbridge-store",
        ],
    ),
    ("termbridge-viewers", &["termbridge-bridge", "termbridge-editor", "termbridge-session"]),
    ("termbridge-mcp", &["termbridge-bridge", "termbridge-foreign-files", "termbridge-session"]),
    ("termbridge-web", &["termbridge-bridge", "termbridge-foreign-files", "termbridge-mcp"]),
    (
        "termbridge",
        &[
            "termbridge-bridge",
            "termbridge-clients",
            "termbridge-foreign-files",
            "termbridge-mcp",
            "termbridge-session",
            "termbridge-viewers",
            "termbridge-web",
        ],
    ),
    ("termbridge-testkit", &["termbridge-foreign-files", "termbridge-mcp"]),
];

/// Crates of others that only some of ours know, by name or by the beginning of it (`*`).
const EXTERNAL: [(&str, &[&str]); 14] = [
    ("libc", &["termbridge-pty"]),
    // The debugger's process groups, the editor's watches and the flags of an open are safe calls.
    (
        "rustix",
        &["termbridge-pty", "termbridge-dap", "termbridge-editor", "termbridge-foreign-files"],
    ),
    ("rusqlite", &["termbridge-store"]),
    ("rmcp", &["termbridge-mcp"]),
    ("schemars", &["termbridge-mcp"]),
    ("axum*", &["termbridge-web"]),
    ("hyper*", &["termbridge-web"]),
    ("tokio-rustls", &["termbridge-web"]),
    ("clap*", &["termbridge"]),
    ("saphyr-parser", &["termbridge-catalog"]),
    ("tree-sitter*", &["termbridge-code"]),
    ("jsonc-parser", &["termbridge-clients", "termbridge-dap"]),
    ("toml_edit", &["termbridge-clients"]),
    ("notify", &["termbridge-editor", "termbridge-testkit"]),
];

/// Tools of ours that are in no layer.
const FREE: [&str; 3] = ["termbridge-benches", "termbridge-fuzz", "xtask"];

/// Fails with every dependency, every read and every cycle of modules that breaks a rule.
pub(crate) fn check() -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .output()
        .context("cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let mut broken = broken_rules(&dependencies(&metadata));
    broken.extend(broken_reads(&root())?);
    broken.extend(cycles(&root())?);
    if !broken.is_empty() {
        bail!("layers (see ARCHITECTURE.md):\n  {}", broken.join("\n  "));
    }
    Ok(())
}

/// Prints the number of module cycles in each of our crates.
pub(crate) fn print_cycles() -> Result<()> {
    let mut stdout = std::io::stdout();
    for (name, count) in counts(&root())? {
        writeln!(stdout, "{count:4} {name}")?;
    }
    Ok(())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Our crates and what each uses, tests aside.
fn dependencies(metadata: &Value) -> BTreeMap<String, Vec<String>> {
    let name = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .map(|package| {
            let all = package["dependencies"].as_array().into_iter().flatten();
            (name(package), all.filter(|one| one["kind"] != "dev").map(name).collect())
        })
        .collect()
}

fn broken_rules(dependencies: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut broken = Vec::new();
    for (package, uses) in dependencies {
        if FREE.contains(&package.as_str()) {
            continue;
        }
        let Some((_, allowed)) = INTERNAL.iter().find(|(name, _)| name == package) else {
            broken.push(format!("{package} is in no layer: name it in xtask/src/layers.rs"));
            continue;
        };
        for used in uses {
            let ours = dependencies.contains_key(used);
            if ours && !allowed.contains(&used.as_str()) {
                broken.push(format!("{package} must not depend on {used}"));
            }
            let rule = EXTERNAL.iter().find(|(name, _)| matches(name, used));
            if let Some((_, owners)) = rule
                && !owners.contains(&package.as_str())
            {
                broken.push(format!("{package} must not know {used}: {} does", owners.join(", ")));
            }
        }
    }
    broken
}

fn matches(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(package: &str, uses: &[&str]) -> Vec<String> {
        let uses = uses.iter().map(|&name| name.to_owned()).collect();
        let known = ["termbridge-vt", "termbridge-bridge"].map(|name| (name.to_owned(), vec![]));
        let mut all = BTreeMap::from(known);
        all.insert(package.to_owned(), uses);
        broken_rules(&all)
    }

    #[test]
    fn what_points_upwards_or_at_anothers_engine_is_named() {
        assert_eq!(broken("termbridge-session", &["termbridge-vt", "serde"]), [""; 0]);
        let upwards = broken("termbridge-pty", &["termbridge-bridge", "tree-sitter-go"]);
        assert_eq!(
            upwards,
            [
                "termbridge-pty must not depend on termbridge-bridge",
                "termbridge-pty must not know tree-sitter-go: termbridge-code does",
            ]
        );
        assert_eq!(broken("termbridge-new", &[]).len(), 1);
        assert_eq!(broken("xtask", &["clap", "termbridge-bridge"]), [""; 0]);
    }
}
