//! The shared server: its folder, whether it answers, its version, and what earlier ones left. Nothing is made, started
//! or removed.

use std::fs;
use std::path::Path;

use serde_json::json;
use termbridge_mcp::client::Client;
use termbridge_mcp::socket::{FolderError, Hello, ServerFolder, check_supported, connect_blocking};
use termbridge_session::files::is_own;

use super::check::{Check, Group};
use super::show::megabytes;
use crate::commands::quoted;
use crate::config::find_server_folder;

/// Files that are counted of a folder.
const MAX_FILES: usize = 10_000;
/// Entries of the temporary folder that are looked at.
const MAX_ENTRIES: usize = 65_536;
/// The name of a server's folder among the temporary files, before 16 hexadecimal digits.
const PREFIX: &str = "termbridge-";
const DIGITS: usize = 16;

pub(super) fn check() -> Vec<Check> {
    let temporary = std::env::temp_dir();
    let found = find_server_folder();
    let mut checks = Vec::new();
    match found {
        Err(error) => {
            let fix = match &error {
                FolderError::Foreign { path, .. } => format!("sudo rm -r {}", quoted(path)),
                FolderError::Open { path, .. } => format!("chmod 700 {}", quoted(path)),
                FolderError::NotAFolder { path } => format!("rm {}", quoted(path)),
                FolderError::UnsafeParent { .. } => {
                    "export XDG_RUNTIME_DIR=~/.run && mkdir -p -m 700 ~/.run".to_owned()
                }
                FolderError::NoParent { .. } => "unset XDG_RUNTIME_DIR".to_owned(),
                FolderError::Io { path, .. } => format!("ls -ld {}", quoted(path)),
            };
            let detail = error.to_string();
            checks.push(Check::failed(Group::Server, "runtime folder", detail, fix));
        }
        Ok(None) => {
            checks.push(Check::info(Group::Server, "server", "none runs, and none has run"));
        }
        Ok(Some(folder)) => {
            let (files, bytes) = size_of(folder.path());
            let detail = format!(
                "{}, yours alone, {files} files, {}",
                folder.path().display(),
                megabytes(bytes)
            );
            let data = json!({"path": folder.path().display().to_string(), "files": files, "bytes": bytes});
            checks.push(Check::ok(Group::Server, "runtime folder", detail).data(data));
            checks.push(server(&folder));
        }
    }
    checks.extend(leftovers(&temporary));
    checks
}

fn server(folder: &ServerFolder) -> Check {
    const NAME: &str = "server";
    let own = env!("CARGO_PKG_VERSION");
    if let Err(why) = check_supported() {
        return Check::info(Group::Server, NAME, why.to_string());
    }
    let Ok(stream) = connect_blocking(&folder.socket()) else {
        if connect_blocking(&folder.keeper()).is_ok() {
            let detail = "none runs, but programs of an earlier one do";
            let fix = "termbridge serve takes them over, termbridge stop --all ends them";
            return Check::warning(Group::Server, NAME, detail, fix);
        }
        return Check::info(Group::Server, NAME, "none runs");
    };
    let hello =
        Hello { client: "termbridge-doctor".to_owned(), pid: std::process::id(), ..Hello::new() };
    let welcome = match Client::connect(stream, &hello) {
        Ok(client) => client.welcome().clone(),
        Err(error) => {
            let detail = format!("one listens, but does not answer: {error}");
            return Check::failed(Group::Server, NAME, detail, "termbridge serve --replace");
        }
    };
    let data = json!({"version": welcome.version, "pid": welcome.pid, "clients": welcome.clients});
    let detail = format!(
        "version {} answers (pid {}), {} clients",
        welcome.version, welcome.pid, welcome.clients
    );
    let check = match welcome.version == own {
        true => Check::ok(Group::Server, NAME, detail),
        false => Check::failed(
            Group::Server,
            NAME,
            format!("{detail}; this program is {own}"),
            "termbridge serve --replace",
        ),
    };
    check.data(data)
}

/// Folders of servers that were killed together with their keeper.
fn leftovers(temporary: &Path) -> Option<Check> {
    let entries = fs::read_dir(temporary).ok()?.take(MAX_ENTRIES).flatten();
    let (mut count, mut bytes) = (0, 0);
    for entry in entries {
        let name = entry.file_name();
        let digits = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).unwrap_or_default();
        let is_ours = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_own = entry.metadata().is_ok_and(|found| found.is_dir() && is_own(&found));
        if !is_ours || !is_own {
            continue;
        }
        // A server that lives holds the lock.
        let Ok(folder) = fs::File::open(entry.path()) else { continue };
        if folder.try_lock_shared().is_ok() {
            count += 1;
            bytes += size_of(&entry.path()).1;
        }
    }
    (count > 0).then(|| {
        let detail = format!(
            "{count} folders of servers that were killed, {}, in {}; the next server removes them",
            megabytes(bytes),
            temporary.display()
        );
        Check::info(Group::Server, "leftovers", detail)
            .data(json!({"folders": count, "bytes": bytes}))
    })
}

/// Files below a folder and their bytes, as far as they are counted. Links are not followed.
fn size_of(folder: &Path) -> (usize, u64) {
    let (mut files, mut bytes) = (0, 0);
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            if files == MAX_FILES {
                return (files, bytes);
            }
            match found.is_dir() {
                true => open.push(entry.path()),
                false => {
                    files += 1;
                    bytes += found.len();
                }
            }
        }
    }
    (files, bytes)
}
