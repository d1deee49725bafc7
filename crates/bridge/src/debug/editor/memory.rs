//! Facts about an editor that last from call to call.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::params::Scripts;
use crate::debug::DebugFailure;
use crate::debug::answer::{Answer, Halt};

/// Most sessions that are remembered.
const REMEMBERED: usize = 64;

#[derive(Debug, Default)]
pub(in crate::debug) struct Memory {
    scripts: Mutex<Option<(String, Arc<Scripts>)>>,
    /// Breakpoints of the editor that the native debugger was given.
    lent: Mutex<Vec<(String, u64)>>,
    sessions: Mutex<Sessions>,
}

#[derive(Debug, Default)]
struct Sessions {
    /// The time of the last reported output, by session.
    reported: HashMap<String, u64>,
    /// Sessions that were started from here. A child that a debugger starts for one has an id of its own.
    started: VecDeque<String>,
    /// A session that the editor lists although its debugger has ended.
    gone: Option<String>,
    /// The last answer shows an active session.
    is_active: bool,
}

impl Memory {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scripts of an extension, if they are known.
    pub(super) fn scripts_of(&self, bridge: &str) -> Option<Arc<Scripts>> {
        let known = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, scripts) = known.as_ref().filter(|(of, _)| of == bridge)?;
        Some(Arc::clone(scripts))
    }

    pub(super) fn keep_scripts(&self, bridge: String, scripts: &Arc<Scripts>) {
        let mut known = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some((bridge, Arc::clone(scripts)));
    }

    /// Breakpoints that the native debugger was given, in exchange for those that it gets now.
    pub(in crate::debug) fn lend(&self, places: Vec<(String, u64)>) -> Vec<(String, u64)> {
        let mut lent = self.lent.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut lent, places)
    }

    /// The earliest time of output that was not reported yet.
    pub(super) fn unreported_since(&self, session: &str) -> u64 {
        self.sessions().reported.get(session).map_or(0, |last| last + 1)
    }

    pub(super) fn note_reported(&self, session: &str, last: u64) {
        let mut sessions = self.sessions();
        if sessions.reported.len() >= REMEMBERED && !sessions.reported.contains_key(session) {
            sessions.reported.clear();
        }
        sessions.reported.insert(session.to_owned(), last);
    }

    pub(super) fn note_started(&self, session: String) {
        let mut sessions = self.sessions();
        sessions.is_active = true;
        sessions.started.push_back(session);
        if sessions.started.len() > REMEMBERED {
            sessions.started.pop_front();
        }
    }

    /// Whether a session was started from here.
    pub(super) fn was_started(&self, session: &str) -> bool {
        self.sessions().started.iter().any(|started| started == session)
    }

    pub(super) fn note_gone(&self, session: &str) {
        self.sessions().gone = Some(session.to_owned());
    }

    /// Whether the editor lists a session although its debugger has ended.
    pub(super) fn is_gone(&self, session: &str) -> bool {
        self.sessions().gone.as_deref() == Some(session)
    }

    /// Whether the last answer shows an active session.
    pub(super) fn has_session(&self) -> bool {
        self.sessions().is_active
    }

    pub(super) fn note_session(&self, is_active: bool) {
        self.sessions().is_active = is_active;
    }

    /// Forgets the active session after an answer that may have ended it.
    pub(super) fn note_answer(&self, answer: &Result<Answer, DebugFailure>) {
        let ends = match answer {
            Ok(Answer::Halt(Halt::End(_))) => true,
            Ok(_) => false,
            Err(failure) => {
                matches!(failure.code.as_str(), "E_NO_SESSION" | "E_TIMEOUT" | "E_PROGRAM_EXITED")
            }
        };
        if ends {
            self.note_session(false);
        }
    }
}
