//! The history, opened when it is first needed and never waited for.

use std::panic::catch_unwind;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use termbridge_store::{Entry, History, Limits, Page, Query, StoreError};

use crate::error::BridgeError;

/// Entries that may wait for the file to be opened.
const MAX_PENDING: usize = 1000;

/// Where the history is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryPlace {
    /// The file.
    pub path: PathBuf,
    /// How much of it.
    pub limits: Limits,
}

/// Commands are noted here; a thread opens the file beside them.
#[derive(Clone)]
pub(crate) struct HistoryLog {
    shared: Arc<Shared>,
}

struct Shared {
    place: HistoryPlace,
    state: Mutex<State>,
    opened: Condvar,
}

enum State {
    Closed,
    Opening(Vec<Entry>),
    Open(Arc<History>),
    /// Not even memory could be had.
    Failed,
}

impl HistoryLog {
    pub(crate) fn new(place: HistoryPlace) -> Self {
        let shared = Shared { place, state: Mutex::new(State::Closed), opened: Condvar::new() };
        Self { shared: Arc::new(shared) }
    }

    /// Notes an entry; never waits.
    pub(crate) fn record(&self, entry: Entry) {
        let mut state = self.open();
        match &mut *state {
            State::Open(history) => {
                history.record(entry);
            }
            State::Opening(pending) if pending.len() < MAX_PENDING => pending.push(entry),
            State::Opening(_) | State::Closed | State::Failed => {}
        }
    }

    /// Searches, in a thread of its own.
    pub(crate) async fn search(&self, query: Query) -> Result<Page, BridgeError> {
        let log = self.clone();
        let page = tokio::task::spawn_blocking(move || {
            let history = log.wait_open()?;
            // What was run a moment ago is to be found.
            history.flush()?;
            history.search(&query)
        });
        Ok(page.await.unwrap_or(Err(StoreError::Closed))?)
    }

    /// An entry, read in a thread of its own.
    pub(crate) async fn get(&self, id: String) -> Result<Option<Entry>, BridgeError> {
        let log = self.clone();
        let entry = tokio::task::spawn_blocking(move || {
            let history = log.wait_open()?;
            history.flush()?;
            history.get(&id)
        });
        Ok(entry.await.unwrap_or(Err(StoreError::Closed))?)
    }

    /// Writes what is queued.
    pub(crate) async fn close(&self) {
        let log = self.clone();
        let flushed = tokio::task::spawn_blocking(move || {
            let used = !matches!(*log.lock(), State::Closed);
            if used { log.wait_open()?.flush() } else { Ok(()) }
        });
        if let Ok(Err(error)) = flushed.await {
            tracing::warn!(%error, "the history could not be written to its end");
        }
    }

    fn open(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        if matches!(*state, State::Closed) {
            *state = State::Opening(Vec::new());
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("history-open".into());
            if let Err(error) = thread.spawn(move || shared.open()) {
                tracing::warn!(%error, "no thread for the history: it is off");
                *state = State::Failed;
            }
        }
        state
    }

    fn wait_open(&self) -> Result<Arc<History>, StoreError> {
        let state = self.open();
        let state =
            self.shared.opened.wait_while(state, |state| matches!(state, State::Opening(_)));
        match &*state.unwrap_or_else(PoisonError::into_inner) {
            State::Open(history) => Ok(Arc::clone(history)),
            _ => Err(StoreError::Closed),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn open(&self) {
        // Whatever happens there, those who wait for it are woken.
        let opened = catch_unwind(|| History::open(&self.place.path, self.place.limits.clone()));
        let opened = opened.unwrap_or(Err(StoreError::Closed));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *state, State::Failed);
        match opened {
            Ok(opened) => {
                for warning in opened.warnings {
                    tracing::warn!("{warning}");
                }
                if let State::Opening(pending) = before {
                    pending.into_iter().for_each(|entry| {
                        opened.history.record(entry);
                    });
                }
                *state = State::Open(Arc::new(opened.history));
            }
            Err(error) => tracing::warn!(%error, "the history is off"),
        }
        self.opened.notify_all();
    }
}
