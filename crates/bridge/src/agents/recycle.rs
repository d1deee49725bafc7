//! Ending sessions that nobody needs, so that agents can have new ones.
//!
//! An agent keeps at most [`SPARES`] idle spare sessions; the one used least recently goes first.
//! When every place is taken, an idle session that was made automatically is ended, whoever's it is:
//! spare ones first, then those that an agent has used by its id. If all of them are busy, a request waits while one
//! of them begins a command or has just begun one. So many short commands at once take turns, and nobody waits for a
//! long one. An agent's current session is ended only after [`ABANDONED`] without use: agents that are gone must not
//! lock others out. Sessions with a name, those of `create_session`, and shells in which a background job runs are
//! never ended.

use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use termbridge_session::{SessionId, State};
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use super::{Agents, Held};
use crate::backends::{BackendIndex, Backends};
use crate::caller::Caller;

/// Idle spare sessions of one agent.
const SPARES: usize = 4;
/// A current session that was not used for this long may make room: its agent is probably gone.
const ABANDONED: Duration = Duration::from_mins(30);
/// Nobody waits for a command that has run longer than this.
const SHORT_COMMAND: Duration = Duration::from_secs(1);
/// How long a request waits for a place: clients give up after a minute.
const PLACE_LIMIT: Duration = Duration::from_secs(50);
/// How often the request whose turn it is looks for an idle session.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// The wait of a request that found every place taken. Requests take turns, so that not all of them
/// look for an idle session at once.
pub(crate) struct Room<'a> {
    agents: &'a Agents,
    backends: &'a Backends,
    /// Where a place is needed.
    at: BackendIndex,
    deadline: Instant,
    turn: Option<OwnedMutexGuard<()>>,
}

impl<'a> Room<'a> {
    pub(crate) fn new(
        agents: &'a Agents,
        backends: &'a Backends,
        at: BackendIndex,
        patience: Duration,
    ) -> Self {
        let deadline = Instant::now() + patience.min(PLACE_LIMIT);
        Self { agents, backends, at, deadline, turn: None }
    }

    /// Makes room, or waits for it; true when it is worth another try.
    pub(crate) async fn make(&mut self) -> bool {
        if Instant::now() >= self.deadline {
            return false;
        }
        if self.turn.is_none() {
            // While it waited for its turn a session may have become free.
            let turn = self.agents.turn.clone().lock_owned();
            self.turn = tokio::time::timeout_at(self.deadline, turn).await.ok();
        } else if !self.agents.make_place(self.backends, self.at).await {
            if !self.agents.may_have_idle_soon(self.backends, self.at).await {
                return false;
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
            self.turn = None;
        }
        true
    }
}

/// An idle session that may be ended.
struct Idle {
    /// An agent's current session.
    is_current: bool,
    is_spare: bool,
    used: SystemTime,
    id: SessionId,
}

impl Idle {
    /// Whether it may make room at this time.
    fn may_end(&self, now: SystemTime) -> bool {
        !self.is_current || now.duration_since(self.used).is_ok_and(|unused| unused >= ABANDONED)
    }
}

impl Agents {
    /// Ends what an agent has more than [`SPARES`] of.
    pub(crate) async fn trim(&self, backends: &Backends, caller: &Caller) {
        let key = caller.key();
        let idle = self.idle(backends, |held| held.key == key).await;
        let mut spares: Vec<Idle> = idle.into_iter().filter(|idle| idle.is_spare).collect();
        let mut extra = spares.len().saturating_sub(SPARES);
        spares.sort_by_key(|spare| spare.used);
        for Idle { id, .. } in spares {
            if extra == 0 {
                break;
            }
            extra -= usize::from(self.end(backends, &id).await);
        }
    }

    /// Ends one idle session of a backend; false when there is none.
    async fn make_place(&self, backends: &Backends, at: BackendIndex) -> bool {
        let mut idle = self.idle(backends, |held| held.at == at).await;
        let now = SystemTime::now();
        idle.retain(|idle| idle.may_end(now));
        idle.sort_by_key(|idle| (idle.is_current, !idle.is_spare, idle.used));
        for Idle { id, .. } in idle {
            if self.end(backends, &id).await {
                return true;
            }
        }
        false
    }

    /// Whether a session that could be ended may become idle in a moment.
    async fn may_have_idle_soon(&self, backends: &Backends, at: BackendIndex) -> bool {
        // Before the look at the table, which has a session once it is made.
        if self.making.load(Ordering::Relaxed) > 0 {
            return true;
        }
        let automatic: Vec<(SessionId, bool)> = {
            let table = self.lock();
            let automatic = table.held.iter().filter(|held| held.automatic && held.at == at);
            let automatic = automatic.filter(|held| !table.is_current(&held.id));
            automatic.map(|held| (held.id.clone(), held.reserved)).collect()
        };
        for (id, is_reserved) in automatic {
            let backend = backends.of(&id);
            let info = backend.session(&id).await.ok();
            let Some(running) = info.and_then(|info| info.shell?.running) else {
                // Its command is about to begin, or has just ended.
                if is_reserved {
                    return true;
                }
                continue;
            };
            let report = backend.command(&id, running, 0, 0).await.ok().flatten();
            if report.is_none_or(|report| report.duration < SHORT_COMMAND) {
                return true;
            }
        }
        false
    }

    /// The idle sessions that were made automatically, of those that count. Forgets ended ones.
    async fn idle(&self, backends: &Backends, counts: impl Fn(&Held) -> bool) -> Vec<Idle> {
        let automatic: Vec<(SessionId, bool, bool)> = {
            let table = self.lock();
            let asked = table.held.iter().filter(|held| counts(held));
            let free = asked.filter(|held| held.automatic && !held.reserved);
            let described = |held: &Held| {
                let is_current = table.is_current(&held.id);
                (held.id.clone(), is_current, !is_current && !held.addressed)
            };
            free.map(described).collect()
        };
        let mut idle = Vec::new();
        for (id, is_current, is_spare) in automatic {
            match backends.of(&id).session(&id).await {
                Ok(info) if info.state != State::Running => self.forget_ended(&info),
                Ok(info) if info.takes_commands() => {
                    idle.push(Idle { is_current, is_spare, used: info.last_active, id });
                }
                Ok(_) => {}
                Err(_) => self.forget(&id),
            }
        }
        idle
    }

    async fn end(&self, backends: &Backends, id: &SessionId) -> bool {
        // Nobody may pick it meanwhile.
        let Some(_reservation) = self.reserve(id) else { return false };
        let ended = matches!(backends.of(id).end_idle_session(id).await, Ok(true));
        if ended {
            match backends.of(id).session(id).await {
                Ok(info) => self.forget_ended(&info),
                Err(_) => self.forget(id),
            }
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_current_session_makes_room_only_when_it_is_abandoned() {
        let used = SystemTime::UNIX_EPOCH;
        let idle =
            |is_current| Idle { is_current, is_spare: false, used, id: SessionId::from_text("x") };
        assert!(idle(false).may_end(used));
        assert!(!idle(true).may_end(used + ABANDONED - Duration::from_secs(1)));
        assert!(idle(true).may_end(used + ABANDONED));
    }
}
