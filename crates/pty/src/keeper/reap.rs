//! Learns what became of children: whether `execve` succeeded, how they ended, and whose sessions are empty.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, WaitOptions};

use super::family::Look;
use super::{Held, Keeper, child};
use crate::ExitStatus;
use crate::process_table;
use crate::protocol::{Event, Failure, ProgramId};

/// How long ended leaders wait for the look that may reap them. One look at every process serves all that end
/// meanwhile.
const EMPTY_LOOK_DELAY: Duration = Duration::from_secs(1);

impl Keeper {
    /// The exec pipe of a spawn is readable: it was closed by `execve`, or carries a report.
    pub(super) fn finish_start(&mut self, program: ProgramId) {
        let Some(held) = self.programs.get_mut(&program) else {
            return;
        };
        let Some(start) = held.start.take() else {
            return;
        };
        // Whichever it is, the child may have ended before we came to look at it.
        self.reap_due = true;
        let Some(report) = child::read_report(&start.pipe) else {
            // Nobody was told of it, so nobody will ask for it.
            let Some(request) = start.request else { return self.release(program) };
            match held.duplicates() {
                Ok((parcels, descriptors)) => {
                    held.is_handed = true;
                    let (pid, tty) = (held.pid, held.tty.clone());
                    let spawned = Event::Spawned { request, program, pid, tty, parcels };
                    self.send_with(&spawned, descriptors);
                }
                Err(error) => {
                    let _ = crate::sys::kill(held.pid, libc::SIGKILL);
                    self.programs.remove(&program);
                    let errno = error.raw_os_error().unwrap_or(libc::EIO);
                    self.refuse(request, Failure::Process, errno);
                }
            }
            return;
        };
        // The child is about to exit; without its entry it is reaped as any orphan.
        self.programs.remove(&program);
        let path = start.candidates.into_iter().nth(report.candidate).unwrap_or_default();
        if let Some(request) = start.request {
            let (failure, errno) = (report.failure, report.errno);
            self.send(&Event::SpawnFailed { request, failure, errno, path });
        }
    }

    /// Reports leaders that ended, and keeps them as zombies; reaps every other ended child. Stops of their sessions look
    /// at once.
    pub(super) fn reap(&mut self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let mut ended = Vec::new();
        for (&program, held) in &mut self.programs {
            if held.status.is_some() || held.start.is_some() {
                continue;
            }
            let Some(pid) = Pid::from_raw(held.pid) else {
                continue;
            };
            let status = match rustix::process::waitid(WaitId::Pid(pid), options) {
                Ok(None) => continue,
                Ok(Some(status)) => status.exit_status().map(ExitStatus::Code).or_else(|| {
                    let core_dumped = status.dumped();
                    let signal = status.terminating_signal();
                    signal.map(|number| ExitStatus::Signal { number, core_dumped })
                }),
                Err(_) => None,
            };
            let status = status.unwrap_or(ExitStatus::Lost);
            held.status = Some(status);
            held.slave = None;
            if let Some(stop) = &mut held.stop {
                stop.look_at_once();
            }
            ended.push((program, status));
        }
        for (program, status) in ended {
            self.send(&Event::Exited { program, status });
        }
        let mut leaders: BTreeMap<i32, &mut Held> =
            self.programs.values_mut().filter_map(|held| Some((held.leader()?, held))).collect();
        for pid in process_table::children_of_self() {
            if leaders.contains_key(&pid) {
                continue;
            }
            let session = process_table::read(pid).map(|orphan| orphan.info.session);
            if reap_one(pid)
                && let Some(held) = session.and_then(|session| leaders.get_mut(&session))
                && let Some(stop) = &mut held.stop
            {
                stop.look_at_once();
            }
        }
        if let Some(ending) = &mut self.ending {
            ending.look_at_once();
        }
        // The last process of a session may have been the child that ended just now.
        if process_table::IS_SUBREAPER && self.programs.values().any(Held::may_be_empty) {
            self.empty_look.get_or_insert_with(|| Instant::now() + EMPTY_LOOK_DELAY);
        }
    }

    /// Reaps ended leaders whose sessions are empty, when it is time to look.
    pub(super) fn reap_leaders(&mut self) {
        if self.empty_look.take_if(|at| Instant::now() >= *at).is_none() {
            return;
        }
        // Twice: a process that forks and ends during a look can be missed once.
        let sessions = || process_table::all().into_iter().map(|process| process.info.session);
        let used: BTreeSet<i32> = sessions().chain(sessions()).collect();
        // Without descriptors nothing is seen, not even this process.
        if !rustix::process::getsid(None)
            .is_ok_and(|own| used.contains(&own.as_raw_nonzero().get()))
        {
            return;
        }
        for held in self.programs.values_mut() {
            if held.may_be_empty() && !used.contains(&held.pid) {
                reap_one(held.pid);
                held.is_reaped = true;
            }
        }
    }

    /// Reaps the leader, if that was not done, and closes its terminal.
    pub(super) fn forget(&mut self, program: ProgramId) {
        if !process_table::IS_SUBREAPER {
            // By nothing else could they be found when everything ends.
            let detached = self.family(program, Look::Thorough).detached;
            self.left_behind.add(&detached);
        }
        if let Some(leader) = self.programs.remove(&program).and_then(|held| held.leader()) {
            reap_one(leader);
        }
    }
}

impl Held {
    /// It has ended, and its session may be empty.
    fn may_be_empty(&self) -> bool {
        self.status.is_some() && !self.is_reaped
    }
}

/// Whether the child had ended.
fn reap_one(pid: i32) -> bool {
    let reaped =
        Pid::from_raw(pid).map(|pid| rustix::process::waitpid(Some(pid), WaitOptions::NOHANG));
    matches!(reaped, Some(Ok(Some(_))))
}
