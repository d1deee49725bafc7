//! The processes that came of one program.
//!
//! Members are in the program's session. Detached ones descend from it but left: they called
//! `setsid`, with their parents alive or, after a double fork, dead. The first kind is found in
//! the leader's tree; orphans came to the keeper, and are told apart by their session or by the
//! mark in the environment they were started with. An orphan that left the session with a cleared
//! environment cannot be attributed; it stays the keeper's to end with everything else.

use std::collections::BTreeSet;

use super::{Held, Keeper};
use crate::ProcessInfo;
use crate::process_table::{self, Process};
use crate::protocol::{MAX_LISTED, ProgramId};

/// How much is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// The tree: cheap, and may miss a process whose sibling ends meanwhile.
    Quick,
    /// The tree, then every process of the system.
    Thorough,
}

/// Living processes only.
#[derive(Default)]
pub(super) struct Family {
    pub(super) members: Vec<Process>,
    pub(super) detached: Vec<Process>,
}

impl Keeper {
    pub(super) fn family(&self, program: ProgramId, look: Look) -> Family {
        let Some(held) = self.programs.get(&program) else {
            return Family::default();
        };
        let mut roots = vec![held.pid];
        roots.extend(self.orphans().into_iter().filter(|&pid| held.is_origin_of(pid)));
        let tree = process_table::tree(&roots);
        let (mut members, detached): (Vec<_>, Vec<_>) =
            tree.into_iter().partition(|process| process.info.session == held.pid);
        if look == Look::Thorough {
            let known: BTreeSet<i32> = members.iter().map(|process| process.info.pid).collect();
            members.extend(process_table::all().into_iter().filter(|process| {
                process.info.session == held.pid && !known.contains(&process.info.pid)
            }));
        }
        Family { members, detached }
    }

    /// Children of ours that are no program's leader.
    fn orphans(&self) -> Vec<i32> {
        let mut children = process_table::children_of_self();
        children.retain(|&pid| !self.programs.values().any(|held| held.pid == pid));
        children
    }
}

impl Held {
    fn is_origin_of(&self, orphan: i32) -> bool {
        let in_session =
            process_table::read(orphan).is_some_and(|process| process.info.session == self.pid);
        in_session || (!self.mark.is_empty() && process_table::has_environment(orphan, &self.mark))
    }
}

/// Processes seen at different moments, by pid and start.
#[derive(Default)]
pub(super) struct Seen(BTreeSet<(i32, u64)>);

impl Seen {
    pub(super) fn add(&mut self, processes: &[Process]) {
        self.0.extend(processes.iter().map(|process| (process.info.pid, process.start)));
    }

    /// Those that still live, at most [`MAX_LISTED`] of them, and how many more.
    pub(super) fn living(&self) -> (Vec<ProcessInfo>, u32) {
        let living = self.0.iter().filter_map(|&(pid, start)| {
            let process = process_table::read(pid)?;
            (process.start == start && process.is_alive()).then_some(process.info)
        });
        cut(living.collect())
    }
}

/// At most [`MAX_LISTED`], and how many more there were.
pub(super) fn cut(mut processes: Vec<ProcessInfo>) -> (Vec<ProcessInfo>, u32) {
    let over = processes.len().saturating_sub(MAX_LISTED);
    processes.truncate(MAX_LISTED);
    (processes, over as u32)
}
