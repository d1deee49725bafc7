//! Ends one session: a signal, a grace, then `SIGKILL` until nobody is left. `SIGTERM` is followed by
//! `SIGHUP` within the grace, since an interactive shell ignores the first.
//!
//! A state machine that the loop advances when its time comes or a child ended. Every process of
//! the session is signalled by itself, since background jobs have groups of their own; each also
//! gets `SIGCONT`, so that a stopped one sees the signal. Processes that left the session are
//! noted and left alone.
//!
//! Bounds: the grace, then [`KILL_PATIENCE`] for what the kernel will not let go.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::Keeper;
use super::family::{Census, Family, Look, Seen};
use crate::process_table::Process;
use crate::protocol::{Event, ProgramId, RequestId};
use crate::{StopReport, sys};

/// How long processes may take to die of `SIGKILL`.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// What a program gets whose handle was dropped while it ran.
const RELEASE_GRACE: Duration = Duration::from_millis(500);

/// How long `SIGTERM` has to itself before `SIGHUP` follows it.
const HANG_UP_AFTER: Duration = Duration::from_millis(150);

/// A grace is no longer than this.
pub(super) const MAX_GRACE: Duration = Duration::from_mins(10);

/// When to look again: soon, then less and less often.
pub(super) struct Pace {
    at: Instant,
    interval: Duration,
}

impl Pace {
    const SHORTEST: Duration = Duration::from_millis(1);
    const LONGEST: Duration = Duration::from_millis(25);

    pub(super) fn start() -> Self {
        Self { at: Instant::now() + Self::SHORTEST, interval: Self::SHORTEST }
    }

    pub(super) fn next(&self) -> Instant {
        self.at
    }

    pub(super) fn at_once(&mut self) {
        self.at = Instant::now();
    }

    /// Whether it is time; if so, sets the next.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let due = now >= self.at;
        if due {
            self.interval = (self.interval * 2).min(Self::LONGEST);
            self.at = now + self.interval;
        }
        due
    }
}

/// A session that is being ended.
pub(super) struct Stop {
    waiters: Vec<RequestId>,
    then: Then,
    kill_at: Instant,
    /// Shells ignore `SIGTERM`; what they follow is their terminal being closed.
    hang_up_at: Option<Instant>,
    pace: Pace,
    killed: BTreeSet<i32>,
    detached: Seen,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Keep,
    Forget,
}

impl Stop {
    fn new(grace: Duration) -> Self {
        Self {
            waiters: Vec::new(),
            then: Then::Keep,
            kill_at: Instant::now() + grace,
            hang_up_at: None,
            pace: Pace::start(),
            killed: BTreeSet::new(),
            detached: Seen::default(),
        }
    }

    pub(super) fn next_look(&self) -> Instant {
        self.pace.next()
    }

    pub(super) fn look_at_once(&mut self) {
        self.pace.at_once();
    }

    /// Whether the program is forgotten then.
    pub(super) fn forgets(&self) -> bool {
        self.then == Then::Forget
    }

    /// Who waited is gone.
    pub(super) fn forget_waiters(&mut self) {
        self.waiters.clear();
    }
}

impl Keeper {
    /// Begins a stop, or joins the one that is under way: the signal is sent again, and the
    /// shorter grace counts.
    pub(super) fn stop(&mut self, request: RequestId, program: ProgramId, signal: i32, ms: u32) {
        let grace = Duration::from_millis(ms.into()).min(MAX_GRACE);
        match self.begin_stop(program, signal, grace) {
            Some(stop) => stop.waiters.push(request),
            None => self.send(&Event::Done { request, errno: libc::ESRCH }),
        }
    }

    /// Ends what is left of the session, then forgets the program.
    pub(super) fn release(&mut self, program: ProgramId) {
        let Some(held) = self.programs.get(&program) else {
            return;
        };
        let is_over = held.status.is_some() && held.stop.is_none();
        self.census = Census::default();
        if is_over && self.family(program, Look::Quick).members.is_empty() {
            self.forget(program);
        } else if let Some(stop) = self.begin_stop(program, libc::SIGHUP, RELEASE_GRACE) {
            stop.then = Then::Forget;
        }
    }

    fn begin_stop(
        &mut self,
        program: ProgramId,
        signal: i32,
        grace: Duration,
    ) -> Option<&mut Stop> {
        let family = self.family(program, Look::Thorough);
        let held = self.programs.get_mut(&program)?;
        signal_members(&family.members, signal);
        if signal != libc::SIGCONT && signal != libc::SIGKILL {
            signal_members(&family.members, libc::SIGCONT);
        }
        let stop = held.stop.get_or_insert_with(|| Stop::new(grace));
        stop.kill_at = stop.kill_at.min(Instant::now() + grace);
        if signal == libc::SIGTERM {
            stop.hang_up_at = Some(Instant::now() + (grace / 4).min(HANG_UP_AFTER));
        }
        stop.pace = Pace::start();
        stop.detached.add(&family.detached);
        Some(stop)
    }

    pub(super) fn advance_stops(&mut self) {
        let now = Instant::now();
        // Processes that were reaped meanwhile are not in the next census.
        self.census = Census::default();
        let due: Vec<ProgramId> = self
            .programs
            .iter_mut()
            .filter_map(|(&program, held)| held.stop.as_mut()?.pace.is_due(now).then_some(program))
            .collect();
        for program in due {
            self.advance_stop(program, now);
        }
    }

    fn advance_stop(&mut self, program: ProgramId, now: Instant) {
        let family = self.family_if_any(program);
        let Some(held) = self.programs.get_mut(&program) else {
            return;
        };
        let Some(mut stop) = held.stop.take() else {
            return;
        };
        stop.detached.add(&family.detached);
        let is_gone = family.members.is_empty() && held.status.is_some();
        if !is_gone && now < stop.kill_at + KILL_PATIENCE {
            if stop.hang_up_at.take_if(|at| now >= *at).is_some() {
                signal_members(&family.members, libc::SIGHUP);
            }
            if now >= stop.kill_at {
                signal_members(&family.members, libc::SIGKILL);
                stop.killed.extend(family.members.iter().map(|process| process.info.pid));
                if stop.forgets() {
                    sys::discard_output(&held.master);
                }
            }
            held.stop = Some(stop);
            return;
        }
        let (detached, unlisted) = stop.detached.living();
        let report = StopReport {
            status: held.status,
            killed: stop.killed.len() as u32,
            remaining: family.members.len() as u32,
            detached,
            unlisted,
        };
        for request in stop.waiters {
            self.send(&Event::Stopped { request, report: report.clone() });
        }
        if stop.then == Then::Forget {
            self.forget(program);
        }
    }

    /// Quickly, and thoroughly before concluding that nobody is there.
    fn family_if_any(&self, program: ProgramId) -> Family {
        let quick = self.family(program, Look::Quick);
        if quick.members.is_empty() { self.family(program, Look::Thorough) } else { quick }
    }
}

fn signal_members(members: &[Process], signal: i32) {
    for process in members {
        let _ = sys::kill(process.info.pid, signal);
    }
}
