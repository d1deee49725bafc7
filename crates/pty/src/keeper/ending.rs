//! Ends everything: on the server's death, or because it asked.
//!
//! All that descends from the keeper, detached processes included, gets `SIGHUP`, `SIGTERM` and
//! `SIGCONT`; after the grace, `SIGKILL`, again and again until the keeper has no child. As the
//! subreaper it inherits every orphan, so no child means no descendant; where there is none, a program
//! is held until nobody is found any more who came of it. A process that the kernel will not let go is
//! given up after [`KILL_PATIENCE`].

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions};

use super::Keeper;
use super::family::Look;
use super::stop::Pace;
use crate::process_table;
use crate::protocol::{Event, ProgramId, RequestId};
use crate::sys;

/// The grace when the server died.
pub(super) const DEATH_GRACE: Duration = Duration::from_millis(500);

/// How long `SIGKILL` may take.
const KILL_PATIENCE: Duration = Duration::from_secs(10);

/// A grace is no longer than this.
const MAX_GRACE: Duration = Duration::from_mins(10);

pub(super) struct Ending {
    kill_at: Instant,
    pace: Pace,
    waiters: Vec<RequestId>,
}

impl Ending {
    pub(super) fn next_look(&self) -> Instant {
        self.pace.next()
    }

    pub(super) fn look_at_once(&mut self) {
        self.pace.at_once();
    }

    /// Who waited is gone.
    pub(super) fn forget_waiters(&mut self) {
        self.waiters.clear();
    }
}

impl Keeper {
    /// Begins to end everything, or hastens the end that is under way.
    pub(super) fn begin_ending(&mut self, grace: Duration, waiter: Option<RequestId>) {
        let kill_at = Instant::now() + grace.min(MAX_GRACE);
        if let Some(door) = &mut self.door {
            door.close();
        }
        self.signal_everything(&[libc::SIGHUP, libc::SIGTERM, libc::SIGCONT]);
        let ending = self.ending.get_or_insert_with(|| Ending {
            kill_at,
            pace: Pace::start(),
            waiters: Vec::new(),
        });
        ending.kill_at = ending.kill_at.min(kill_at);
        ending.waiters.extend(waiter);
        ending.look_at_once();
    }

    /// True when all is over and answered.
    pub(super) fn advance_ending(&mut self) -> bool {
        let now = Instant::now();
        let Some(ending) = &mut self.ending else {
            return false;
        };
        if !ending.pace.is_due(now) {
            return false;
        }
        let kill_at = ending.kill_at;
        self.forget_the_dead();
        if has_children() && now < kill_at + KILL_PATIENCE {
            if now >= kill_at {
                self.signal_everything(&[libc::SIGKILL]);
                self.programs.values().for_each(|held| sys::discard_output(&held.master));
            }
            return false;
        }
        // What the kernel would not let go has no more use for its folder.
        self.programs.clear();
        for request in self.ending.take().map(|ending| ending.waiters).unwrap_or_default() {
            self.send(&Event::Done { request, errno: 0 });
        }
        if let Some(door) = &mut self.door {
            door.answer_enders();
        }
        true
    }

    fn signal_everything(&self, signals: &[i32]) {
        let everybody = self.everybody();
        for &signal in signals {
            for process in &everybody {
                let _ = sys::kill(process.info.pid, signal);
            }
        }
    }

    /// Leaders need not be held any longer once their exit was told and nobody has to be found by them.
    fn forget_the_dead(&mut self) {
        let mut dead: Vec<ProgramId> = self
            .programs
            .iter()
            .filter(|(_, held)| held.status.is_some() && held.stop.is_none())
            .map(|(&program, _)| program)
            .collect();
        if !process_table::IS_SUBREAPER {
            dead.retain(|&program| self.family(program, Look::Thorough).is_empty());
        }
        for program in dead {
            self.forget(program);
        }
    }
}

fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(rustix::process::waitid(WaitId::All, options), Err(Errno::CHILD))
}
