//! Whether the foreground program waits for keys.
//!
//! It does when the terminal is in raw mode, a process of the foreground group reads or polls it, all
//! that was typed has been read, and for [`QUIET`] nothing was printed and no processor time was used
//! by the group and by what descends from it in other sessions. Background jobs do not count, nor does
//! anything beside the session's own shell where that is what reads. All of it is read from the kernel; what a program polls the terminal for is not known, so a program in raw mode
//! that waits for the network without a sign of life looks the same.
//!
//! A program that runs another on a terminal of its own (`script`, `apt`) waits when the other does, unless
//! it has a full screen of its own (`mc`).
//!
//! Any other relay polls its terminal whatever happens at the other end, and another user's process cannot be
//! looked into: after [`UNCERTAIN_QUIET`] both count, as uncertain.

use std::time::Duration;

use termbridge_pty::{ProcessInfo, Survey, Waiting};
use tokio::time::Instant;

use super::SessionTask;

/// How long a program has to be quiet.
const QUIET: Duration = Duration::from_millis(500);
/// The same for one that cannot be looked into.
const UNCERTAIN_QUIET: Duration = Duration::from_secs(3);
/// Clock ticks that an idle program may use meanwhile, for timers of its own.
const IDLE_TICKS: u64 = 1;
/// Programs that hand a terminal on to another one, by the kernel's name for them.
pub(super) const RELAYS: &[&str] = &[
    "abduco",
    "docker",
    "dtach",
    "incus",
    "kubectl",
    "lxc",
    "machinectl",
    "minicom",
    "mosh-client",
    "nerdctl",
    "picocom",
    "podman",
    "screen",
    "ssh",
    "telnet",
    "tmux: client",
    "zellij",
];

/// How long the foreground has done nothing.
#[derive(Debug)]
pub(super) struct Calm {
    since: Instant,
    load: Load,
}

/// Who is in the foreground, and what processor time they have used.
#[derive(Debug, PartialEq, Eq)]
struct Load {
    group: i32,
    pids: Vec<i32>,
    ticks: u64,
    is_running: bool,
    is_relay: bool,
}

impl Load {
    /// `reader` is the one process that counts, where it is known.
    fn of(survey: &Survey, reader: Option<i32>) -> Option<Self> {
        let group = survey.foreground?;
        let counts = |each: &&ProcessInfo| match reader {
            Some(reader) => each.pid == reader,
            None => each.group == group,
        };
        let all = survey.processes.iter().chain(&survey.detached);
        let mut members: Vec<&ProcessInfo> = all.filter(counts).collect();
        let is_relay = members.iter().any(|each| RELAYS.contains(&each.name.as_str()));
        let mut index = 0;
        while let Some(parent) =
            members.get(index).map(|each| each.pid).filter(|_| reader.is_none())
        {
            // Another group of the same session is a background job.
            members.extend(survey.detached.iter().filter(|each| each.parent == parent));
            index += 1;
        }
        let mut pids: Vec<i32> = members.iter().map(|each| each.pid).collect();
        pids.sort_unstable();
        pids.dedup();
        Some(Self {
            group,
            pids,
            ticks: members.iter().map(|each| each.ticks).sum(),
            is_running: members.iter().any(|each| matches!(each.state, 'R' | 'D')),
            is_relay,
        })
    }

    fn goes_on_from(&self, before: &Self) -> bool {
        let idle = self.ticks.saturating_sub(before.ticks) <= IDLE_TICKS;
        idle && !self.is_running && self.group == before.group && self.pids == before.pids
    }
}

impl SessionTask {
    /// A program that runs another on a terminal of its own waits when that one does, unless it draws a
    /// screen of its own around it.
    pub(super) fn looking_beyond(&self, survey: Survey) -> Survey {
        match survey.beyond {
            Some(waiting) if !self.terminal.input_modes().alternate_screen => {
                Survey { waiting, ..survey }
            }
            _ => survey,
        }
    }

    /// Compares what a survey found with the one before.
    pub(super) fn note_calm(&mut self, survey: Option<&Survey>, now: Instant) {
        let pid = self.program.pid();
        let in_front = survey.is_some_and(|survey| survey.foreground == Some(pid));
        let reads = self.shell.is_some() && in_front && self.program.waiting().is_for_input();
        let load = survey.and_then(|survey| Load::of(survey, reads.then_some(pid)));
        self.survey.is_at_work = load.as_ref().is_some_and(|load| load.is_running);
        let calm = self.survey.calm.take();
        self.survey.calm = load.map(|load| match calm {
            Some(calm) if load.goes_on_from(&calm.load) => calm,
            _ => Calm { since: now, load },
        });
    }

    /// Whether the foreground program waits for keys; `Some(true)` when that is not certain. The survey
    /// is one that began after all input was read.
    pub(super) fn waits_for_keys(&self, survey: &Survey) -> Option<bool> {
        let calm = self.survey.calm.as_ref()?;
        let uncertain = calm.load.is_relay || survey.waiting == Waiting::Unknown;
        if !(survey.waiting.is_for_input() || uncertain) || self.shell_is_reading_command() {
            return None;
        }
        let quiet_since = calm.since.max(self.last_output).max(self.last_input);
        let quiet = if uncertain { UNCERTAIN_QUIET } else { QUIET };
        (quiet_since.elapsed() >= quiet).then_some(uncertain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32, group: i32, session: i32, ticks: u64) -> ProcessInfo {
        ProcessInfo { pid, parent, group, session, state: 'S', name: "node".into(), ticks }
    }

    fn survey(worker_ticks: u64, job_ticks: u64) -> Survey {
        Survey {
            foreground: Some(20),
            processes: vec![
                process(10, 1, 10, 10, 5),
                process(20, 10, 20, 10, 7),
                process(30, 10, 30, 10, job_ticks),
            ],
            detached: vec![
                process(21, 20, 21, 21, worker_ticks),
                process(31, 30, 31, 31, job_ticks),
            ],
            unlisted: 0,
            waiting: Waiting::Polling,
            beyond: None,
        }
    }

    #[test]
    fn workers_count_and_background_jobs_do_not() {
        let before = Load::of(&survey(100, 100), None).expect("a foreground");
        assert_eq!(before.pids, [20, 21]);
        assert!(Load::of(&survey(101, 9000), None).expect("there").goes_on_from(&before));
        assert!(!Load::of(&survey(103, 100), None).expect("there").goes_on_from(&before));
    }

    #[test]
    fn a_new_process_is_work() {
        let before = Load::of(&survey(1, 1), None).expect("a foreground");
        let mut later = survey(1, 1);
        later.processes.push(process(22, 20, 20, 10, 0));
        assert!(!Load::of(&later, None).expect("there").goes_on_from(&before));
    }
}
