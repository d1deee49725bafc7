//! What a client was told of each session, so that an answer has what is new, and all of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use termbridge_bridge::OutputPlace;
use termbridge_session::vt::{Seq, Since};
use termbridge_session::{CommandReport, SessionId};

/// Sessions that are remembered; with more, all are forgotten, and answers say more than is new.
const MAX_SESSIONS: usize = 1000;

/// What was told, by session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told(Arc<Mutex<HashMap<SessionId, OfSession>>>);

#[derive(Debug, Default)]
struct OfSession {
    cwd: Option<String>,
    /// Until when what is on each screen was shown, or told in other words.
    seen: Since,
    output: Option<ToldOutput>,
    /// Bytes that people had typed.
    typed: u64,
}

/// How far a running command's output was told.
#[derive(Debug, Clone)]
pub(crate) struct ToldOutput {
    pub(crate) command: u64,
    /// What could still change then begins there.
    pub(crate) from: OutputPlace,
    /// What stood there.
    pub(crate) text: String,
}

impl ToldOutput {
    /// All that a command had printed when this report was made, with what stood behind its final part.
    pub(crate) fn new(report: &CommandReport, text: String) -> Self {
        let open = text.matches('\n').count() as u64 + u64::from(report.ends_within_line);
        let line = report.output_lines.saturating_sub(open);
        let from = OutputPlace { byte: report.final_bytes, line };
        Self { command: report.id, from, text }
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

    /// Whether it is news that people have typed so many bytes; from now on it is not.
    pub(crate) fn is_new_typing(&self, session: &SessionId, typed: u64) -> bool {
        // Nothing is remembered of the many sessions in which nobody types.
        if typed == 0 {
            return false;
        }
        std::mem::replace(&mut Self::of(&mut self.lock(), session).typed, typed) != typed
    }

    /// What a diff counts from: what was never shown is new.
    pub(crate) fn seen(&self, session: &SessionId) -> Since {
        self.lock().get(session).map(|told| told.seen).unwrap_or_default()
    }

    /// The screen was shown.
    pub(crate) fn note_screen(&self, session: &SessionId, seq: Seq, is_alternate: bool) {
        let mut all = self.lock();
        let seen = &mut Self::of(&mut all, session).seen;
        let screen = if is_alternate { &mut seen.alternate } else { &mut seen.main };
        *screen = seq;
    }

    /// How far a command's output was told.
    pub(crate) fn output(&self, session: &SessionId, command: u64) -> Option<ToldOutput> {
        let all = self.lock();
        all.get(session)?.output.clone().filter(|told| told.command == command)
    }

    /// The command of which something is perhaps not told yet.
    pub(crate) fn open_command(&self, session: &SessionId) -> Option<u64> {
        self.lock().get(session)?.output.as_ref().map(|told| told.command)
    }

    /// All of a command was told, its end too.
    pub(crate) fn note_end(&self, session: &SessionId, command: u64) {
        let mut all = self.lock();
        let told = &mut Self::of(&mut all, session).output;
        if told.as_ref().is_some_and(|told| told.command == command) {
            *told = None;
        }
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
