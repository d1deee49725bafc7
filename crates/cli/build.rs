//! What `termbridge --version --verbose` reports of this build.
//!
//! The commit is recorded in optimised builds only: a build that is tested and thrown away would be made
//! anew with every commit. `TERMBRIDGE_COMMIT` overrides it; `scripts/release` sets it.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=TERMBRIDGE_COMMIT");
    let given = std::env::var("TERMBRIDGE_COMMIT").ok().filter(|commit| !commit.is_empty());
    println!("cargo:rustc-env=TERMBRIDGE_COMMIT={}", given.unwrap_or_else(commit));
    println!("cargo:rustc-env=TERMBRIDGE_TARGET={}", variable("TARGET"));
    println!("cargo:rustc-env=TERMBRIDGE_PROFILE={}", profile());
}

fn commit() -> String {
    if variable("PROFILE") == "debug" {
        return "not recorded in a debug build".to_owned();
    }
    let Some(commit) = git(&["rev-parse", "HEAD"]).filter(|_| is_own_repository()) else {
        return "unknown: built without the git repository".to_owned();
    };
    // What moves with a commit: HEAD itself, the branch it names, and where branches go when they are packed.
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]).unwrap_or_default();
    for name in ["HEAD", "packed-refs", &branch] {
        if let Some(path) = git(&["rev-parse", "--git-path", name])
            && Path::new(&path).is_file()
        {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    let is_clean = git(&["status", "--porcelain", "--untracked-files=no"]).is_none();
    if is_clean { commit } else { format!("{commit}, with changes") }
}

/// Whether the repository is this workspace's, and not one that a source archive was unpacked into.
fn is_own_repository() -> bool {
    let workspace = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../..");
    let top = git(&["rev-parse", "--show-toplevel"]).map(PathBuf::from);
    top.is_some_and(|top| top.canonicalize().ok() == workspace.canonicalize().ok())
}

/// What git prints, if it succeeds and prints anything.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| output.status.success() && !text.is_empty())
}

/// The profile by its own name: Cargo says only whether it inherits from `release`. The build script runs in
/// `target/[TRIPLE/]PROFILE/build/termbridge-HASH/out`.
fn profile() -> String {
    let out = PathBuf::from(variable("OUT_DIR"));
    let folder = out.ancestors().nth(3).and_then(Path::file_name);
    folder.map_or_else(|| variable("PROFILE"), |name| name.to_string_lossy().into_owned())
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}
