//! The processes that came of one program.
//!
//! Members are in the program's session. Detached ones descend from it but left: they called
//! `setsid`, with their parents alive or, after a double fork, dead. The first kind is found in
//! the leader's tree; orphans came to the keeper, and are told apart by their session or by the
//! mark in the environment they were started with. An orphan that left the session with a cleared
//! environment cannot be attributed; it stays the keeper's to end with everything else.
//!
//! Where there is no subreaper (macOS) orphans went to launchd, and are looked for there. One that cannot
//! be attributed, since it cleared its environment or is a program whose environment the system hides,
//! is then nobody's: it outlives the keeper.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

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

impl Family {
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.detached.is_empty()
    }
}

/// The system's processes, looked up at most once in a turn of the loop.
///
/// The tree finds a process that a session gets later. An empty session whose leader ended before the census stays empty.
#[derive(Default)]
pub(super) struct Census {
    by_session: OnceCell<BTreeMap<i32, Vec<Process>>>,
    /// Where orphans come to the keeper.
    orphans: OnceCell<Vec<i32>>,
}

impl Census {
    fn members(&self, session: i32) -> &[Process] {
        let by_session = self.by_session.get_or_init(|| {
            let mut by_session: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
            for process in process_table::all() {
                by_session.entry(process.info.session).or_default().push(process);
            }
            by_session
        });
        by_session.get(&session).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Keeper {
    pub(super) fn family(&self, program: ProgramId, look: Look) -> Family {
        let Some(held) = self.programs.get(&program) else {
            return Family::default();
        };
        let leader = held.leader();
        let mut roots: Vec<i32> = leader.into_iter().collect();
        roots.extend(self.orphans(held.pid).into_iter().filter(|&pid| held.is_origin_of(pid)));
        let tree = process_table::tree(&roots);
        let (mut members, detached): (Vec<_>, Vec<_>) =
            tree.into_iter().partition(|process| Some(process.info.session) == leader);
        if look == Look::Thorough && leader.is_some() {
            let known: BTreeSet<i32> = members.iter().map(|process| process.info.pid).collect();
            let all = self.census.members(held.pid).iter();
            members.extend(all.filter(|process| !known.contains(&process.info.pid)).cloned());
        }
        Family { members, detached }
    }

    /// Orphans that may be a program's, and are no program's leader.
    fn orphans(&self, leader: i32) -> Vec<i32> {
        let without_leaders = |mut orphans: Vec<i32>| {
            let leaders: BTreeSet<i32> = self.programs.values().filter_map(Held::leader).collect();
            orphans.retain(|pid| !leaders.contains(pid));
            orphans
        };
        if process_table::IS_SUBREAPER {
            let find = || without_leaders(process_table::children_of_self());
            return self.census.orphans.get_or_init(find).clone();
        }
        without_leaders(process_table::orphans(leader))
    }

    /// Every living process that came of a program, as far as it is known.
    pub(super) fn everybody(&self) -> Vec<Process> {
        let mut roots = process_table::children_of_self();
        if process_table::IS_SUBREAPER {
            return process_table::tree(&roots);
        }
        roots.extend(self.left_behind.alive().map(|process| process.info.pid));
        let mut found = process_table::tree(&roots);
        for &program in self.programs.keys() {
            let family = self.family(program, Look::Thorough);
            found.extend(family.members.into_iter().chain(family.detached));
        }
        found.sort_unstable_by_key(|process| process.info.pid);
        found.dedup_by_key(|process| process.info.pid);
        found
    }
}

impl Held {
    /// The leader's pid, which is its session's number, until it may be reused.
    pub(super) fn leader(&self) -> Option<i32> {
        (!self.is_reaped).then_some(self.pid)
    }

    fn is_origin_of(&self, orphan: i32) -> bool {
        let session = process_table::read(orphan).map(|process| process.info.session);
        let in_session = session.is_some() && session == self.leader();
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

    fn alive(&self) -> impl Iterator<Item = Process> {
        self.0.iter().filter_map(|&(pid, start)| {
            let process = process_table::read(pid)?;
            (process.start == start && process.is_alive()).then_some(process)
        })
    }

    /// Those that still live, at most [`MAX_LISTED`] of them, and how many more.
    pub(super) fn living(&self) -> (Vec<ProcessInfo>, u32) {
        cut(self.alive().map(|process| process.info).collect())
    }
}

/// At most [`MAX_LISTED`], and how many more there were.
pub(super) fn cut(mut processes: Vec<ProcessInfo>) -> (Vec<ProcessInfo>, u32) {
    let over = processes.len().saturating_sub(MAX_LISTED);
    processes.truncate(MAX_LISTED);
    (processes, over as u32)
}
