//! Leftovers of ours: folders of calls whose server died before it could remove them.
//!
//! The extension cleans up too, after a day; until then a call that was never claimed could still be
//! run, long after anyone wanted it.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::job::{REMOVED, remove, withdraw};

/// Before the process id, in the `clientId` of every command of ours.
pub(super) const CLIENT_PREFIX: &str = "termbridge-";
/// Folders looked at in one sweep.
const MOST: usize = 10_000;
/// Most bytes of a command that is looked at.
const MAX_COMMAND: u64 = 1 << 20;

/// Removes folders of ours that are older than `age` and that no extension works on.
pub(super) fn sweep(execute: &Path, age: Duration) {
    let Ok(entries) = fs::read_dir(execute) else {
        return;
    };
    for entry in entries.flatten().take(MOST) {
        let folder = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(REMOVED) && is_old(&folder, age) {
            remove(&folder);
            continue;
        }
        if !is_old(&folder, age) || !is_ours(&folder) {
            continue;
        }
        let over = folder.join("done").exists() || folder.join("cancel").exists();
        if over || withdraw(&folder) {
            remove(&folder);
        }
    }
}

fn is_old(folder: &Path, age: Duration) -> bool {
    let Ok(meta) = fs::symlink_metadata(folder) else {
        return false;
    };
    let touched = meta.modified().ok().filter(|_| meta.is_dir());
    touched
        .and_then(|touched| SystemTime::now().duration_since(touched).ok())
        .is_some_and(|since| since >= age)
}

fn is_ours(folder: &Path) -> bool {
    let text = termbridge_foreign_files::read(&folder.join("command.json"), MAX_COMMAND).ok();
    let command = text.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    command
        .as_ref()
        .and_then(|command| command["clientId"].as_str())
        .is_some_and(|client| client.starts_with(CLIENT_PREFIX))
}
