//! The second part of `cargo xtask layers`: a file that others write is read through `termbridge-foreign-files`, and
//! crates that serve agents look at no path on an async worker.
//!
//! Searches the text of our crates for std's own reads and looks. They are allowed in a line that names a file of the
//! system, in the files of [`ALLOWED`] and [`LOOKING`], and in tests: `*tests.rs`, and everything from a file's inner
//! module on.

use std::path::Path;

use anyhow::{Context, Result};

const READS: [&str; 4] = ["fs::read", "fs::read_to_string", "File::open", "tokio::fs"];

/// Files that no other user, program or workspace writes.
const SYSTEM: [&str; 4] = ["\"/proc/", "\"/sys/", "\"/etc/", "\"/dev/null\""];

/// Crates that may read as they like: the one that does it for others, and the tests' own.
const FREE: [&str; 2] = ["crates/foreign-files/", "crates/testkit/"];

/// Where a direct read is right, and why.
const ALLOWED: [(&str, &str); 10] = [
    ("crates/cli/src/commands/doctor/kernel.rs", "constants that name files of /proc and /sys"),
    ("crates/cli/src/commands/doctor/ports.rs", "entries of /proc"),
    ("crates/cli/src/commands/doctor/server.rs", "opens a folder for its lock"),
    ("crates/clients/src/backup.rs", "opens a folder for its lock"),
    ("crates/clients/src/file.rs", "opens a folder to sync it"),
    ("crates/dap/src/target.rs", "a constant that names a file of /proc"),
    ("crates/editor/src/sockets.rs", "constants that name files of /proc"),
    ("crates/pty/src/client/lasting.rs", "the keeper's lock, in a folder of this user's alone"),
    ("crates/pty/src/keeper/inherited.rs", "a constant that names a file of /proc"),
    ("crates/pty/src/process_table/linux.rs", "files of /proc"),
];

/// Looks at a path, which wait for its file system.
const LOOKS: [&str; 9] = [
    ".is_dir()",
    ".is_file()",
    ".exists()",
    "canonicalize(",
    "real_path(",
    "read_dir(",
    "read_link(",
    "fs::metadata(",
    "symlink_metadata(",
];

/// Crates whose async code gets paths from agents.
const SERVING: [&str; 2] = ["crates/bridge/src/", "crates/mcp/src/"];

/// Files whose looks are off the workers, or at our own files.
const LOOKING: [(&str, &str); 10] = [
    ("crates/bridge/src/debug/native/core.rs", "a part of the plan of start.rs"),
    ("crates/bridge/src/debug/native/start.rs", "a plan is made off the workers"),
    ("crates/bridge/src/directories.rs", "each of its functions is off the workers"),
    ("crates/bridge/src/files.rs", "files are read off the workers"),
    ("crates/bridge/src/settings.rs", "a shell is judged off the workers"),
    ("crates/mcp/src/calls.rs", "the server's own file"),
    ("crates/mcp/src/socket/folder.rs", "the server's own folder"),
    ("crates/mcp/src/socket/folder/unix.rs", "the server's own folder"),
    ("crates/mcp/src/socket/folder/windows.rs", "the server's own folder"),
    ("crates/mcp/src/socket/record.rs", "the server's own folder"),
];

/// Every read in the sources of our crates that breaks the rule.
pub(crate) fn broken_reads(root: &Path) -> Result<Vec<String>> {
    let mut folders = vec![root.join("crates")];
    let mut broken = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = folder.read_dir().with_context(|| folder.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            let name = path.strip_prefix(root)?.to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs")
                && name.contains("/src/")
            {
                broken.extend(in_file(&name, &std::fs::read_to_string(&path)?));
            }
        }
    }
    broken.sort();
    Ok(broken)
}

fn in_file(name: &str, text: &str) -> Vec<String> {
    if name.ends_with("tests.rs") {
        return Vec::new();
    }
    let may_read = FREE.iter().any(|folder| name.starts_with(folder))
        || ALLOWED.iter().any(|(allowed, _)| *allowed == name);
    let may_look = !SERVING.iter().any(|folder| name.starts_with(folder))
        || LOOKING.iter().any(|(allowed, _)| *allowed == name);
    let is_test = |line: &str| line.starts_with("mod ") && line.ends_with('{');
    let problem = |line: &str| {
        if !may_read
            && READS.iter().any(|read| has_word(line, read))
            && !SYSTEM.iter().any(|path| line.contains(path))
        {
            Some("reads a file directly: use termbridge_foreign_files")
        } else if !may_look && LOOKS.iter().any(|look| line.contains(look)) {
            Some("looks at a path: use off_worker of termbridge_foreign_files")
        } else {
            None
        }
    };
    let lines = (1..).zip(text.lines()).take_while(|(_, line)| !is_test(line));
    let broken = lines.filter_map(|(number, line)| {
        let problem = problem(line)?;
        Some(format!("{name}:{number} {problem}, or name the file in xtask/src/reads.rs"))
    });
    broken.collect()
}

/// Whether a line has this text, not as part of a longer name.
fn has_word(line: &str, word: &str) -> bool {
    let is_part =
        |sign: Option<char>| sign.is_some_and(|sign| sign == '_' || sign.is_alphanumeric());
    line.match_indices(word).any(|(at, _)| {
        !is_part(line[..at].chars().next_back()) && !is_part(line[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direct_reads_are_named_by_their_line() {
        for line in [
            "let text = std::fs::read_to_string(path)?;",
            "let bytes = fs::read(&path)?;",
            "let file = path.map(File::open);",
            "tokio::fs::metadata(path).await",
        ] {
            let broken = in_file("crates/dap/src/new.rs", &format!("mod tests;\n{line}\n"));
            assert_eq!(broken.len(), 1, "{line}");
            assert!(broken[0].starts_with("crates/dap/src/new.rs:2 "), "{broken:?}");
        }
    }

    #[test]
    fn the_systems_files_folders_and_tests_are_free() {
        for line in [
            "fs::read_to_string(format!(\"/proc/{pid}/stat\"))",
            "fs::read_dir(folder)",
            "fs::read_link(path)",
            "OutputFile::open(path)",
            "mod tests {\n    fs::read(path)",
        ] {
            assert_eq!(in_file("crates/dap/src/new.rs", line), [""; 0], "{line}");
        }
        assert_eq!(in_file("crates/dap/src/new_tests.rs", "fs::read(path)"), [""; 0]);
        assert_eq!(in_file("crates/testkit/src/new.rs", "fs::read(path)"), [""; 0]);
    }

    #[test]
    fn crates_that_serve_agents_look_at_no_path() {
        for line in [
            "if path.is_dir() {",
            "let there = folder.join(name).exists();",
            "path.canonicalize().ok()",
            "let found = fs::symlink_metadata(path)?;",
        ] {
            let broken = in_file("crates/bridge/src/new.rs", line);
            assert_eq!(broken.len(), 1, "{line}");
            assert!(broken[0].starts_with("crates/bridge/src/new.rs:1 looks "), "{broken:?}");
            assert_eq!(in_file("crates/bridge/src/directories.rs", line), [""; 0], "{line}");
            assert_eq!(in_file("crates/code/src/new.rs", line), [""; 0], "{line}");
        }
    }

    #[test]
    fn our_sources_keep_the_rule() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert_eq!(broken_reads(&root).expect("the sources"), [""; 0]);
        for (allowed, _) in ALLOWED.into_iter().chain(LOOKING) {
            assert!(root.join(allowed).is_file(), "{allowed} is gone: remove it from the list");
        }
    }
}
