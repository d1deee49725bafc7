//! What a client was told of each session, so that an answer has what is new, and all of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use termbridge_session::vt::Seq;
use termbridge_session::{CommandReport, SessionId};

/// Sessions that are remembered; with more, all are forgotten, and answers say more than is new.
const MAX_SESSIONS: usize = 1000;

/// What was told, by session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told(Arc<Mutex<HashMap<SessionId, OfSession>>>);

#[derive(Debug, Default)]
struct OfSession {
    cwd: Option<String>,
    /// The screen was shown as of then, and nothing was told in other words since.
    seq: Option<Seq>,
    output: Option<ToldOutput>,
}

/// How far a running command's output was told.
#[derive(Debug, Clone)]
pub(crate) struct ToldOutput {
    pub(crate) command: u64,
    /// What could still change then begins there.
    pub(crate) from: u64,
    /// What stood there.
    pub(crate) text: String,
    pub(crate) lines: u64,
}

impl ToldOutput {
    /// All that a command had printed when this report was made, with what stood behind its final part.
    pub(crate) fn new(report: &CommandReport, text: String) -> Self {
        let CommandReport { id, final_bytes, output_lines, .. } = *report;
        Self { command: id, from: final_bytes, text, lines: output_lines }
    }
}

impl Told {
    /// Whether the directory is news; from now on it is not.
    pub(crate) fn is_new_cwd(&self, session: &SessionId, cwd: &str) -> bool {
        let mut all = self.lock();
        let known = &mut Self::of(&mut all, session).cwd;
        let is_new = known.as_deref() != Some(cwd);
        if is_new {
            *known = Some(cwd.to_owned());
        }
        is_new
    }

    /// The last screen that was shown.
    pub(crate) fn seq(&self, session: &SessionId) -> Option<Seq> {
        self.lock().get(session)?.seq
    }

    /// The screen was shown; none where something was told in other words.
    pub(crate) fn note_seq(&self, session: &SessionId, seq: Option<Seq>) {
        Self::of(&mut self.lock(), session).seq = seq;
    }

    /// How far a command's output was told.
    pub(crate) fn output(&self, session: &SessionId, command: u64) -> Option<ToldOutput> {
        let all = self.lock();
        all.get(session)?.output.clone().filter(|told| told.command == command)
    }

    pub(crate) fn note_output(&self, session: &SessionId, told: ToldOutput) {
        Self::of(&mut self.lock(), session).output = Some(told);
    }

    fn of<'a>(
        all: &'a mut HashMap<SessionId, OfSession>,
        session: &SessionId,
    ) -> &'a mut OfSession {
        if all.len() >= MAX_SESSIONS && !all.contains_key(session) {
            all.clear();
        }
        all.entry(session.clone()).or_default()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, OfSession>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
