//! Keeping a session for the next server: the journal, and when what is saved in it.
//!
//! ```text
//!          dumped ─────── saved ─────── position ─────── head
//! terminal: │ its dump     │             │ fed            │ read, not fed yet
//! the rest:                │ its record  │ fed            │
//! ```
//!
//! Bytes are read straight into the journal's ring. A record of everything but the screens is saved as
//! soon as something in it changes that does not follow from those bytes: a command was given, a key
//! was written, the kernel confirmed an end. A dump of the terminal is saved when the ring is about to
//! lose the bytes since the last one, when the size changed, and once the session is quiet. The next
//! server restores the dump, feeds it up to the record's position without following the shell, and
//! goes on from there as if it had just read the rest.
//!
//! Invariants: `dumped ≤ saved ≤ position ≤ head`, so a record is saved before a dump of the same
//! position. Nothing is done that cannot be undone (a command put into the pipe) before the record that
//! tells of it is saved.
//!
//! A session without a journal, as in `termbridge mcp`, keeps nothing and pays nothing.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_bytes::ByteBuf;
use termbridge_pty::{Checkpoint, Journal, Register};
use tokio::time::Instant;

use super::SessionTask;
use super::lifecycle::Change;
use super::shell::ShellState;
use crate::saved::{
    self, SavedLaunch, SavedOrigin, SavedSession, SavedState, save_size, save_time,
};

/// Bytes in the ring that make a dump, after which they can be given up, worth its time once the session is quiet.
const WORTH_A_DUMP: u64 = 256 * 1024;
/// How long a session has printed nothing that is quiet.
const QUIET: Duration = Duration::from_secs(1);
/// Bytes of the ring that are left when a dump is made in the middle of a flood: what one batch reads.
const RESERVE: u64 = 1024 * 1024;

/// What is kept of a session outside this process.
pub(super) struct Keeping {
    pub(super) journal: Journal,
    /// The record of what never changes, once it was made.
    origin: Vec<u8>,
    /// The record of the state that was saved last.
    state: Vec<u8>,
    buffer: Vec<u8>,
    /// Position of the last dump.
    dumped: u64,
    /// Position of the last dump that could be stored.
    stored: u64,
    /// Position of the dump after which the ring's memory was given back.
    given_back: u64,
    /// The bytes since then do not lead to the screen any more.
    is_stale: bool,
}

impl Keeping {
    /// Keeps a session in this journal from now on, whose last dump is at this position.
    pub(super) fn new(journal: Journal, dumped: u64) -> Self {
        let (origin, state, buffer) = (Vec::new(), Vec::new(), Vec::new());
        let (stored, given_back) = (dumped, dumped);
        Self { journal, origin, state, buffer, dumped, stored, given_back, is_stale: false }
    }
}

impl SessionTask {
    /// Saves what has changed, before whoever asked for it is answered.
    pub(super) fn keep_state(&mut self) {
        if self.keeping.is_none() {
            return;
        }
        let state = self.saved_state();
        let Some(keeping) = &mut self.keeping else { return };
        saved::encode_into(&state, &mut keeping.buffer);
        if keeping.buffer != keeping.state {
            self.save();
        }
    }

    /// The same after every turn of the loop; and the screens, when it is time.
    pub(super) fn keep(&mut self) {
        if self.keeping.is_none() {
            return;
        }
        self.keep_state();
        let (seq, printed) = (self.terminal.seq().0, self.printed);
        let Some(keeping) = &mut self.keeping else { return };
        keeping.journal.set(Register::Seq, seq);
        keeping.journal.set(Register::Printed, printed);
        let is_quiet = self.keep_deadline().is_some_and(|deadline| Instant::now() >= deadline);
        let is_stale = self.keeping.as_ref().is_some_and(|keeping| keeping.is_stale);
        if is_quiet || is_stale {
            self.dump();
            self.give_back();
        }
    }

    /// When the session is quiet enough for a dump.
    pub(super) fn keep_deadline(&self) -> Option<Instant> {
        let keeping = self.keeping.as_ref()?;
        let worth = self.fed().saturating_sub(keeping.given_back) >= WORTH_A_DUMP;
        worth.then(|| self.last_output + QUIET)
    }

    /// Makes room in the ring for what is read next, before the bytes since the last dump are lost. Its memory is not
    /// given back: what comes next needs it again.
    pub(super) fn keep_room(&mut self) {
        let is_short =
            |keeping: &Keeping| keeping.journal.room_until_lost(keeping.dumped) < RESERVE;
        if self.keeping.as_ref().is_some_and(is_short) {
            self.dump();
        }
    }

    /// The bytes since the last dump do not lead to this screen: the size has changed, say.
    pub(super) fn keep_screens(&mut self) {
        if let Some(keeping) = &mut self.keeping {
            keeping.is_stale = true;
        }
    }

    /// Saves the record, whatever has changed.
    pub(super) fn save(&mut self) {
        if self.keeping.is_none() {
            return;
        }
        let (state, position) = (self.saved_state(), self.fed());
        let text = self.shell.as_ref().map(ShellState::save_text).unwrap_or_default();
        let runs = self.shell.as_mut().map(ShellState::save_runs).unwrap_or_default();
        let origin = self.saved_origin();
        let Some(keeping) = &mut self.keeping else { return };
        if keeping.origin.is_empty() {
            keeping.origin = saved::encode(&origin);
        }
        saved::encode_into(&state, &mut keeping.state);
        let record = SavedSession {
            version: saved::VERSION,
            origin: ByteBuf::from(keeping.origin.as_slice()),
            state: ByteBuf::from(keeping.state.as_slice()),
            text,
            runs,
        };
        saved::encode_into(&record, &mut keeping.buffer);
        let store = || keeping.journal.store(Checkpoint::Small, position, &keeping.buffer);
        if let Some(Err(error)) = self.program.while_ours(store) {
            tracing::warn!(session = %self.id, %error, "the session's record cannot be kept");
        }
    }

    /// Saves the record and the screens.
    fn dump(&mut self) {
        self.save();
        let position = self.fed();
        let dump = self.terminal.to_bytes();
        let Some(keeping) = &mut self.keeping else { return };
        keeping.is_stale = false;
        // If it cannot be stored, it is not tried again at once: what is lost is the scrollback, and only if this
        // server dies.
        keeping.dumped = position;
        let store = || keeping.journal.store(Checkpoint::Big, position, &dump);
        match self.program.while_ours(store) {
            Some(Ok(())) => keeping.stored = position,
            Some(Err(error)) => {
                tracing::warn!(session = %self.id, %error, "the session's screens cannot be kept");
            }
            None => {}
        }
    }

    /// Gives back the ring's memory before the last dump that was stored.
    fn give_back(&mut self) {
        let Some(keeping) = &mut self.keeping else { return };
        keeping.given_back = keeping.dumped;
        let stored = keeping.stored;
        self.program.while_ours(|| keeping.journal.forget_before(stored));
    }

    /// Counts bytes as written before they are, so that none is written twice.
    pub(super) fn count_written(&self, bytes: u64) {
        if let Some(keeping) = &self.keeping {
            keeping.journal.set(Register::Written, bytes);
        }
    }

    /// Bytes that were fed to the terminal; 0 without a journal.
    pub(super) fn fed(&self) -> u64 {
        let head = self.keeping.as_ref().map_or(0, |keeping| keeping.journal.head());
        head.saturating_sub((self.unfed.len() + self.batch_rest) as u64)
    }

    fn saved_origin(&self) -> SavedOrigin {
        let launch = SavedLaunch::from(&self.launch);
        SavedOrigin { launch, created: save_time(self.created), number: self.number }
    }

    fn saved_state(&self) -> SavedState {
        SavedState {
            size: save_size(self.terminal.size()),
            ended: self.ended.as_ref().map(Into::into),
            stopping: match &self.change {
                Some(Change::Stopping { reason, already: false, .. }) => Some((*reason).into()),
                _ => None,
            },
            bells: self.bells,
            bells_heard: self.bells_heard,
            at_prompt: self.at_prompt,
            input: self.input.save(),
            shell: self.shell.as_ref().map(ShellState::save),
            size_before: self.size_before().map(save_size),
            typed: self.typed.load(Ordering::Relaxed),
        }
    }
}
