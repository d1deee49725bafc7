//! The second part of `cargo xtask layers`: a file that others write is read through `termbridge-foreign-files`.
//!
//! Searches the text of our crates for std's own reads. They are allowed in a line that names a file of the system, in
//! the files of [`ALLOWED`], and in tests: `*tests.rs`, and everything from a file's inner module on.

use std::path::Path;

use anyhow::{Context, Result};

const READS: [&str; 4] = ["fs::read", "fs::read_to_string", "File::open", "tokio::fs"];

/// Files that no other user, program or workspace writes.
const SYSTEM: [&str; 4] = ["\"/proc/", "\"/sys/", "\"/etc/", "\"/dev/null\""];

/// Crates that may read as they like: the one that does it for others, and the tests' own.
const FREE: [&str; 2] = ["crates/foreign-files/", "crates/testkit/"];

/// Where a direct read is right, and why.
const ALLOWED: [(&str, &str); 9] = [
    ("crates/cli/src/commands/doctor/kernel.rs", "constants that name files of /proc and /sys"),
    ("crates/cli/src/commands/doctor/ports.rs", "entries of /proc"),
    ("crates/cli/src/commands/doctor/server.rs", "opens a folder for its lock"),
    ("crates/clients/src/backup.rs", "opens a folder for its lock"),
    ("crates/clients/src/file.rs", "opens a folder to sync it"),
    ("crates/dap/src/target.rs", "a constant that names a file of /proc"),
    ("crates/editor/src/sockets.rs", "constants that name files of /proc"),
    ("crates/pty/src/keeper/inherited.rs", "a constant that names a file of /proc"),
    ("crates/pty/src/process_table/linux.rs", "files of /proc"),
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
    let is_free = FREE.iter().any(|folder| name.starts_with(folder))
        || ALLOWED.iter().any(|(allowed, _)| *allowed == name)
        || name.ends_with("tests.rs");
    if is_free {
        return Vec::new();
    }
    let is_test = |line: &str| line.starts_with("mod ") && line.ends_with('{');
    let lines = (1..).zip(text.lines()).take_while(|(_, line)| !is_test(line));
    let broken = lines.filter(|(_, line)| {
        READS.iter().any(|read| has_word(line, read))
            && !SYSTEM.iter().any(|path| line.contains(path))
    });
    broken
        .map(|(number, _)| {
            format!("{name}:{number} reads a file directly: use termbridge_foreign_files, or name it in xtask/src/reads.rs")
        })
        .collect()
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
    fn our_sources_keep_the_rule() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert_eq!(broken_reads(&root).expect("the sources"), [""; 0]);
        for (allowed, _) in ALLOWED {
            assert!(root.join(allowed).is_file(), "{allowed} is gone: remove it from the list");
        }
    }
}
