//! `doctor --bundle`: a text file to attach to a bug report, without secrets.
//!
//! Masked are values of environment variables but for a few that say nothing of a person, secrets in configuration
//! and log (as in the diffs of `install`), the home folder, the user's name and the machine's.

use std::fmt::Write as _;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use termbridge_clients::{masked, masked_words};
use termbridge_session::files::make_private_file;

use super::check::Check;
use super::show::{Colour, as_json, as_text};
use crate::commands::printable;
use crate::config::{find_server_folder, home};

/// Last lines of the server's log.
const LOG_LINES: usize = 200;
/// Bytes that are read of a file, from its end.
const MAX_BYTES: u64 = 256 * 1024;

/// Variables whose values are shown: they are about the system, or are our own settings.
const SHOWN: [&str; 14] = [
    "TERM",
    "COLORTERM",
    "LANG",
    "LC_ALL",
    "SHELL",
    "PATH",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "LOG_LEVEL",
    "MCP_PORT",
    "TERM_PROGRAM",
    "NO_COLOR",
];
/// What our own variables begin with.
const OWN: &str = "TERMBRIDGE_";

/// Where a report goes unless a file is named.
pub(super) fn default_file() -> PathBuf {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    PathBuf::from(format!("termbridge-report-{seconds}.txt"))
}

/// Fails where a report could not be written, before the work is done.
pub(super) fn check_free(path: &Path) -> Result<()> {
    match path.symlink_metadata() {
        Ok(_) => bail!("{} already exists: name another file", path.display()),
        Err(_) => Ok(()),
    }
}

/// Writes the report; what was written, for people.
pub(super) fn write(path: &Path, checks: &[Check], config: Option<&Path>) -> Result<String> {
    let private = Private::of_process();
    let text = private.masked(&report(checks, config));
    let mut file =
        make_private_file(path).with_context(|| format!("cannot write {}", path.display()))?;
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(format!(
        "Wrote {}, which only you can read: these checks, names of environment variables, the configuration, and \
         the last lines of the server's log. Secrets, your name and your home folder are masked; look at it \
         before you attach it.",
        path.display()
    ))
}

fn report(checks: &[Check], config: Option<&Path>) -> String {
    let mut text = lines_masked(&as_text(checks, Colour::No)) + "\n";
    let mut section = |title: &str, body: &str| {
        let _ = write!(text, "\n==== {title}\n\n{}\n", printable(body.trim_end()));
    };
    section("environment", &variables());
    let config = config.and_then(|path| Some((path.display().to_string(), tail(path)?)));
    let (name, body) = config.unwrap_or(("configuration".to_owned(), "none".to_owned()));
    section(&name, &masked(&body));
    let log = find_server_folder()
        .ok()
        .flatten()
        .map(|folder| folder.log())
        // A link would lead to what is not the server's.
        .filter(|log| !log.is_symlink())
        .and_then(|log| tail(&log))
        .unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    let last = &lines[lines.len().saturating_sub(LOG_LINES)..];
    let last = lines_masked(&last.join("\n"));
    section("server.log", if last.is_empty() { "none" } else { &last });
    section("checks as JSON", &lines_masked(&format!("{:#}", as_json(checks))));
    text
}

fn lines_masked(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(masked_words).collect();
    lines.join("\n")
}

fn variables() -> String {
    let mut lines: Vec<String> = std::env::vars_os()
        .map(|(name, value)| {
            let name = name.to_string_lossy().into_owned();
            let is_shown = SHOWN.contains(&name.as_str()) || name.starts_with(OWN);
            match is_shown {
                true => masked_words(&format!("{name}={}", value.to_string_lossy())),
                false => format!("{name}=***"),
            }
        })
        .collect();
    lines.sort();
    lines.join("\n")
}

/// The end of a file, as text.
fn tail(path: &Path) -> Option<String> {
    let mut file = termbridge_foreign_files::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// What names this person and this machine.
struct Private {
    /// What is replaced by what, the longest first.
    names: Vec<(String, &'static str)>,
}

impl Private {
    fn of_process() -> Self {
        let mut names = Vec::new();
        for folder in
            home().into_iter().flat_map(|home| [home.canonicalize().ok(), Some(home)]).flatten()
        {
            names.push((folder.display().to_string(), "~"));
        }
        for name in
            ["USER", "LOGNAME", "USERNAME"].iter().filter_map(|name| std::env::var(name).ok())
        {
            names.push((name, "USER"));
        }
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname")
            .or_else(|_| std::fs::read_to_string("/etc/hostname"));
        names.extend(host.ok().map(|host| (host.trim().to_owned(), "HOST")));
        Self::new(names)
    }

    fn new(mut names: Vec<(String, &'static str)>) -> Self {
        // Short ones are parts of other words, and root is everyone's.
        names.retain(|(name, _)| name.len() > 2 && name != "root");
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        names.dedup();
        Self { names }
    }

    /// The text without them; only whole words count, so that a user `ada` does not mask `adapter`.
    fn masked(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, with) in &self.names {
            text = replaced(&text, name, with);
        }
        text
    }
}

fn replaced(text: &str, name: &str, with: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let is_inside =
            before.chars().next_back().or(result.chars().next_back()).is_some_and(is_word)
                && name.starts_with(is_word)
                || after.chars().next().is_some_and(is_word);
        result.push_str(before);
        result.push_str(if is_inside { name } else { with });
        rest = after;
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_masked_where_they_are_words() {
        let names = vec![
            ("ada".to_owned(), "USER"),
            ("/home/ada".to_owned(), "~"),
            ("box".to_owned(), "HOST"),
        ];
        let private = Private::new(names);
        for (text, expected) in [
            ("/home/ada/x and /home/adam", "~/x and /home/adam"),
            ("ada@box: adapter sandbox", "USER@HOST: adapter sandbox"),
            ("/tmp/ada-1 ada", "/tmp/USER-1 USER"),
        ] {
            assert_eq!(private.masked(text), expected);
        }
    }
}
