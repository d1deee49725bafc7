//! Looking through programs that run another one on a terminal of their own (`script`, `sudo`, `apt`,
//! `expect`): they poll our terminal whatever the other does, so what the other does counts.

use std::fs;

use super::{Process, waiting};
use crate::Waiting;

/// Terminals within terminals that are looked through.
const MAX_DEPTH: usize = 4;
/// Descriptors of one process looked at.
const MAX_DESCRIPTORS: usize = 1024;
/// The first major device number of terminals in `/dev/pts`.
const UNIX98_MAJOR: u32 = 136;

/// What the foreground does on the terminals whose other end a group holds, as far as processes of
/// `detached` run on them; `None` where there are none.
pub(crate) fn beyond(group: &[&Process], detached: &[Process]) -> Option<Waiting> {
    look_beyond(group, detached, MAX_DEPTH)
}

fn look_beyond(group: &[&Process], detached: &[Process], depth: usize) -> Option<Waiting> {
    if depth == 0 || detached.iter().all(|each| each.terminal == 0) {
        return None;
    }
    let mut held: Vec<u32> = group.iter().flat_map(|process| terminals_held(process)).collect();
    held.sort_unstable();
    held.dedup();
    let each = held.into_iter().filter_map(|index| {
        let on_it = || detached.iter().filter(move |each| number(each.terminal) == Some(index));
        let foreground = on_it().next()?.foreground;
        let group: Vec<&Process> = on_it().filter(|each| each.info.group == foreground).collect();
        let (seen, _) = waiting(&group, &format!("/dev/pts/{index}"));
        let beyond = seen.is_for_input().then(|| look_beyond(&group, detached, depth - 1));
        Some(beyond.flatten().unwrap_or(seen))
    });
    // One that waits is enough: its keys can be typed.
    each.reduce(|one, other| match (one, other) {
        (waits, _) | (_, waits) if waits.is_for_input() => waits,
        (Waiting::Unknown, _) | (_, Waiting::Unknown) => Waiting::Unknown,
        (no, _) => no,
    })
}

/// The numbers of the terminals whose other end the process holds.
fn terminals_held(process: &Process) -> Vec<u32> {
    let pid = process.info.pid;
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let is_master =
        |entry: &fs::DirEntry| fs::read_link(entry.path()).is_ok_and(|link| link.ends_with("ptmx"));
    let masters = entries.flatten().take(MAX_DESCRIPTORS).filter(is_master);
    masters
        .filter_map(|entry| {
            let name = entry.file_name();
            let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{}", name.to_str()?)).ok()?;
            info.lines().find_map(|line| line.strip_prefix("tty-index:"))?.trim().parse().ok()
        })
        .collect()
}

/// The number in `/dev/pts` of a device, as `/proc` has it.
fn number(device: u32) -> Option<u32> {
    let (major, minor) = ((device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xf_ff00));
    (major == UNIX98_MAJOR).then_some(minor)
}
