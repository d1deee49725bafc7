//! Limits that sessions run into: descriptors, pseudo-terminals, room on the disk.

use std::path::Path;

use serde_json::json;
use termbridge_session::machine::{descriptor_limit, free_space};

use super::check::{Check, Group};
use super::show::megabytes;
use crate::config::{Config, state_folder};

/// Descriptors that a server with its default number of sessions can need.
const ENOUGH_DESCRIPTORS: u64 = 1024;
/// Pseudo-terminals that should be left.
const ENOUGH_TERMINALS: u64 = 32;
/// Room below which the history and kept output soon fail, and below which they do.
const LITTLE_ROOM: u64 = 500 << 20;
const NO_ROOM: u64 = 20 << 20;

pub(super) fn check(config: &Config) -> Vec<Check> {
    let mut checks = vec![descriptors()];
    checks.extend(terminals());
    let state = state_folder();
    let data = config.history.as_ref().map(|place| place.path.clone()).or_else(|| state.clone());
    if let Some(path) = data {
        checks.push(room("room for history", &path));
    }
    checks.push(room("room for temporary files", &std::env::temp_dir()));
    if let Some(history) = &config.history {
        let found = std::fs::metadata(&history.path);
        let size = found.map_or("not there yet".to_owned(), |found| megabytes(found.len()));
        checks.push(Check::info(
            Group::Program,
            "history",
            format!("{}, {size}", history.path.display()),
        ));
    } else {
        checks.push(Check::info(Group::Program, "history", "off"));
    }
    checks
}

fn descriptors() -> Check {
    const NAME: &str = "open files";
    let data = json!({"limit": descriptor_limit()});
    let check = match descriptor_limit() {
        None => Check::ok(Group::System, NAME, "no limit"),
        Some(limit) if limit >= ENOUGH_DESCRIPTORS => {
            Check::ok(Group::System, NAME, format!("{limit} at most"))
        }
        Some(limit) => {
            let detail = format!("{limit} at most, which is too few for many sessions");
            Check::warning(Group::System, NAME, detail, format!("ulimit -n {ENOUGH_DESCRIPTORS}"))
        }
    };
    check.data(data)
}

/// Where the system says how many there are.
fn terminals() -> Option<Check> {
    const NAME: &str = "pseudo-terminals";
    let read = |name: &str| {
        std::fs::read_to_string(format!("/proc/sys/kernel/pty/{name}"))
            .ok()?
            .trim()
            .parse::<u64>()
            .ok()
    };
    let (most, used) = (read("max")?, read("nr")?);
    let detail = format!("{used} of {most} are used");
    let check = match most.saturating_sub(used) {
        0..ENOUGH_TERMINALS => {
            Check::warning(Group::System, NAME, detail, "sudo sysctl kernel.pty.max=8192")
        }
        _ => Check::ok(Group::System, NAME, detail),
    };
    Some(check.data(json!({"max": most, "used": used})))
}

fn room(name: &str, path: &Path) -> Check {
    // The folder may not have been made yet: then the one above it is what counts.
    let found = path.ancestors().find_map(|folder| Some((folder, free_space(folder).ok()?)));
    let Some((folder, free)) = found else {
        return Check::info(Group::System, name, format!("not known of {}", path.display()));
    };
    let nearest = path.ancestors().find(|folder| folder.is_dir()).unwrap_or(folder);
    if let Err(error) = tempfile::tempfile_in(nearest) {
        let detail = format!("{} cannot be written: {error}", nearest.display());
        let fix = format!("ls -ld {}", nearest.display());
        return Check::failed(Group::System, name, detail, fix);
    }
    let detail = format!("{} left for {}", megabytes(free), folder.display());
    let fix = format!("df -h {}", folder.display());
    let check = match free {
        0..NO_ROOM => Check::failed(Group::System, name, detail, fix),
        NO_ROOM..LITTLE_ROOM => Check::warning(Group::System, name, detail, fix),
        _ => Check::ok(Group::System, name, detail),
    };
    check.data(json!({"path": path.display().to_string(), "free_bytes": free}))
}
