//! Processes outside of a terminal's session that read it: a password dialog that an agent starts
//! (`gpg-agent` and its pinentry), a program behind `su -c`.
//!
//! Those that the foreground started are always looked at. Looking at every process costs milliseconds, so it is done only while the terminal is raw or hides what
//! is typed and nobody in the foreground waits for it, not at once, and seldom.

use std::time::{Duration, Instant};

use super::Held;
use super::family::Family;
use crate::{Waiting, process_table, sys};

/// How long nobody has to wait before strangers are looked for.
const PATIENCE: Duration = Duration::from_millis(300);
/// The least time between two looks at every process.
const INTERVAL: Duration = Duration::from_secs(1);

/// What is known of them.
#[derive(Default)]
pub(super) struct Strangers {
    /// Since when nobody in the foreground waits for the terminal, though it is set for keys.
    since: Option<Instant>,
    looked: Option<Instant>,
    /// The one that was found.
    reader: Option<i32>,
}

impl Held {
    /// What a process outside of the family does that waits for this terminal. Called when nobody in the
    /// foreground waits for it.
    pub(super) fn stranger_waits(
        &mut self,
        family: &Family,
        foreground: Option<i32>,
    ) -> Option<Waiting> {
        let modes = sys::modes(&self.master).ok()?.c_lflag;
        let left = descendants(family, foreground);
        if let Some((_, waiting)) = process_table::waiting_elsewhere(&left, &self.tty) {
            return Some(waiting);
        }
        if modes & libc::ICANON != 0 && modes & libc::ECHO != 0 {
            self.strangers = Strangers::default();
            return None;
        }
        let now = Instant::now();
        let since = *self.strangers.since.get_or_insert(now);
        let known: Vec<i32> = self.strangers.reader.into_iter().collect();
        if let Some((_, waiting)) = process_table::waiting_elsewhere(&known, &self.tty) {
            return Some(waiting);
        }
        let is_early = now < since + PATIENCE;
        if is_early || self.strangers.looked.is_some_and(|looked| now < looked + INTERVAL) {
            return None;
        }
        self.strangers.looked = Some(now);
        let members = || family.members.iter().map(|each| each.info.pid);
        let all = process_table::all().into_iter().map(|each| each.info.pid);
        let others: Vec<i32> = all.filter(|pid| !members().any(|member| member == *pid)).collect();
        let found = process_table::waiting_elsewhere(&others, &self.tty);
        self.strangers.reader = found.map(|(pid, _)| pid);
        found.map(|(_, waiting)| waiting)
    }
}

/// The processes in other sessions that descend from the foreground group.
fn descendants(family: &Family, foreground: Option<i32>) -> Vec<i32> {
    let in_front = family.members.iter().filter(|each| Some(each.info.group) == foreground);
    let mut parents: Vec<i32> = in_front.map(|each| each.info.pid).collect();
    let mut found = Vec::new();
    while let Some(parent) = parents.pop() {
        let children = family.detached.iter().filter(|each| each.info.parent == parent);
        let children: Vec<i32> =
            children.map(|each| each.info.pid).filter(|pid| !found.contains(pid)).collect();
        found.extend(&children);
        parents.extend(children);
    }
    found
}
