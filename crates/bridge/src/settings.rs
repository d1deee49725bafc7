//! What a bridge is told at the start.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::caller::Caller;

/// How agents' commands run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BridgeSettings {
    /// The shell of a new session.
    pub shell: String,
    /// Variables of every new session: pagers that would wait for a key are `cat`.
    pub env: BTreeMap<String, String>,
    /// Where a new session starts, unless its caller works elsewhere.
    pub cwd: PathBuf,
    /// What `~` stands for.
    pub home: PathBuf,
    /// Whether commands go into the shell's own history.
    pub keep_shell_history: bool,
    /// How long a shell may take to show its first prompt.
    pub shell_start: Duration,
}

/// Variables that name a pager.
const PAGERS: [&str; 8] = [
    "PAGER",
    "GIT_PAGER",
    "MANPAGER",
    "SYSTEMD_PAGER",
    "GH_PAGER",
    "AWS_PAGER",
    "BAT_PAGER",
    "DELTA_PAGER",
];

/// Shells whose commands can be told apart, by name.
pub const SHELLS: [&str; 8] = ["bash", "zsh", "fish", "dash", "sh", "ash", "ksh", "mksh"];

/// Where systems keep their shells.
const SYSTEM_FOLDERS: [&str; 4] = ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// The file that a program's name or path leads to, by a `PATH`.
fn real_file(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    if program.contains('/') {
        return Path::new(program).canonicalize().ok();
    }
    let found = std::env::split_paths(path?).map(|folder| folder.join(program));
    found.into_iter().find(|file| file.is_file())?.canonicalize().ok()
}

impl BridgeSettings {
    /// Where a caller's new sessions start.
    pub(crate) fn start_folder<'a>(&'a self, caller: &'a Caller) -> &'a Path {
        caller.workspace().unwrap_or(&self.cwd)
    }

    /// Whether a program is a shell that sessions may run: a known one, or the configured one.
    pub(crate) fn is_shell(&self, program: &str) -> bool {
        let name = Path::new(program).file_name();
        program == self.shell || name.is_some_and(|name| SHELLS.iter().any(|known| name == *known))
    }

    /// Whether a program is the configured shell, or a known one where the system keeps its programs:
    /// by the file that it is, not by its name. A name is looked for in `path`.
    pub(crate) fn is_system_shell(&self, program: &str, path: Option<&OsStr>) -> bool {
        let Some(file) = real_file(program, path) else { return false };
        let own_path = std::env::var_os("PATH");
        if real_file(&self.shell, own_path.as_deref()).is_some_and(|own| own == file) {
            return true;
        }
        let known = file.file_name().is_some_and(|name| SHELLS.iter().any(|known| name == *known));
        let listed = || std::fs::read_to_string("/etc/shells").unwrap_or_default();
        let in_system = file
            .parent()
            .is_some_and(|folder| SYSTEM_FOLDERS.iter().any(|known| folder == Path::new(known)));
        known && (in_system || listed().lines().any(|line| Path::new(line.trim()) == file))
    }

    /// Commands in this shell, starting in `cwd`, for a user whose home is `home`.
    pub fn new(shell: impl Into<String>, cwd: PathBuf, home: PathBuf) -> Self {
        let settings = Self {
            shell: shell.into(),
            env: BTreeMap::new(),
            cwd,
            home,
            keep_shell_history: false,
            shell_start: Duration::from_secs(20),
        };
        settings.pager("cat")
    }

    /// What shows long texts; empty leaves it to the user's own settings.
    pub fn pager(mut self, pager: &str) -> Self {
        for name in PAGERS {
            self.env.remove(name);
            if !pager.is_empty() {
                self.env.insert(name.to_owned(), pager.to_owned());
            }
        }
        self
    }
}
