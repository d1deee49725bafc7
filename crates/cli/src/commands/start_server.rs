//! `termbridge start-server`: the process between a shim and the server that it needs.
//!
//! It starts `termbridge serve` in a session of its own, waits until that answers, and ends: so the server is
//! nobody's child, and whoever ends an agent with all its descendants does not end everybody's server. The
//! server's own lock decides which of several stays; one that comes second is fine, as long as one answers.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use termbridge_mcp::socket::{check_supported, connect_blocking};
use termbridge_session::files::open_private_file;

use super::printable;
use crate::args::StartServerArguments;
use crate::config::{home, server_folder};

/// How long a server may take until it answers.
const START_LIMIT: Duration = Duration::from_secs(5);
/// How long another may take, whose lock ended ours.
const OTHER_LIMIT: Duration = Duration::from_millis(500);
const INTERVAL: Duration = Duration::from_millis(5);
/// Bytes of the log beyond which it is begun anew.
const MAX_LOG: u64 = 1024 * 1024;
/// Bytes of the log that are looked through for what went wrong.
const LOG_END: u64 = 8 * 1024;

pub(crate) fn run(arguments: StartServerArguments) -> Result<ExitCode> {
    check_supported()?;
    let folder = server_folder()?;
    let log = open_log(&folder.log())
        .with_context(|| format!("cannot write to {}", folder.log().display()))?;
    let before = log.metadata().map_or(0, |log| log.len());
    let mut command = Command::new(own_executable()?);
    command
        .args(["serve", "--started-by-client"])
        // Its own folder does not matter; one that is removed later would.
        .current_dir(home().filter(|home| home.is_dir()).unwrap_or_else(|| "/".into()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    if let Some(config) = arguments.config {
        command.arg("--config").arg(std::path::absolute(config)?);
    }
    termbridge_session::start_in_own_session(&mut command);
    let mut server = command.spawn().context("cannot start `termbridge serve`")?;
    let mut deadline = Instant::now() + START_LIMIT;
    let mut has_ended = false;
    while connect_blocking(&folder.socket()).is_err() {
        if !has_ended && server.try_wait()?.is_some() {
            has_ended = true;
            deadline = deadline.min(Instant::now() + OTHER_LIMIT);
        }
        if Instant::now() >= deadline {
            match last_line(&folder.log(), before).filter(|_| has_ended) {
                Some(line) => bail!("{line}"),
                None if has_ended => bail!("`termbridge serve` ended at once"),
                None => bail!("`termbridge serve` does not answer; {}", folder.log().display()),
            }
        }
        std::thread::sleep(INTERVAL);
    }
    Ok(ExitCode::SUCCESS)
}

/// The program that this process runs, or what has taken its place on disk.
pub(super) fn own_executable() -> Result<PathBuf> {
    let path = std::env::current_exe().context("this program does not know its own path")?;
    let replaced = path.to_str().and_then(|path| path.strip_suffix(" (deleted)"));
    let replaced = replaced.map(PathBuf::from).filter(|path| path.is_file());
    Ok(replaced.unwrap_or(path))
}

/// The log can hold what programs were called with: only its owner may read it.
fn open_log(path: &Path) -> io::Result<File> {
    let log = open_private_file(OpenOptions::new().append(true), path)?;
    if log.metadata()?.len() > MAX_LOG {
        log.set_len(0)?;
    }
    Ok(log)
}

/// The last thing that was logged since then.
fn last_line(path: &Path, before: u64) -> Option<String> {
    let mut log = termbridge_foreign_files::open(path).ok()?;
    let length = log.metadata().ok()?.len();
    log.seek(SeekFrom::Start(before.max(length.saturating_sub(LOG_END)))).ok()?;
    let mut bytes = Vec::new();
    log.take(LOG_END).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(printable(line.strip_prefix("termbridge: ").unwrap_or(line)))
}
