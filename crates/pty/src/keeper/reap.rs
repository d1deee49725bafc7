//! Learns what became of children: whether `execve` succeeded, and how they ended.

use std::collections::BTreeMap;

use rustix::process::{Pid, WaitId, WaitIdOptions, WaitOptions};

use super::family::Look;
use super::{Held, Keeper, child};
use crate::ExitStatus;
use crate::process_table;
use crate::protocol::{Event, Failure, ProgramId};

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

    /// Reports leaders that ended, keeping them; reaps every other child that did. The stops of their sessions look at
    /// once.
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
            self.programs.values_mut().map(|held| (held.pid, held)).collect();
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
    }

    /// Reaps the leader and closes its terminal.
    pub(super) fn forget(&mut self, program: ProgramId) {
        if !process_table::IS_SUBREAPER {
            // By nothing else could they be found when everything ends.
            let detached = self.family(program, Look::Thorough).detached;
            self.left_behind.add(&detached);
        }
        if let Some(held) = self.programs.remove(&program) {
            reap_one(held.pid);
        }
    }
}

/// Whether the child had ended.
fn reap_one(pid: i32) -> bool {
    let reaped =
        Pid::from_raw(pid).map(|pid| rustix::process::waitpid(Some(pid), WaitOptions::NOHANG));
    matches!(reaped, Some(Ok(Some(_))))
}
