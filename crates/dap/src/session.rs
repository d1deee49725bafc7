//! One debug session: a program, the adapter that debugs it, and what is known of both.
//!
//! ```text
//! DebugSession (handle) ── request ──────────────► Client ──► adapter
//!        │ reads, registers references               │
//!        └────► State ◄── events, in order ── pump task
//!                 └── change counter ──► waits
//! ```
//!
//! A request goes from the caller's own task to the connection and back. Events reach the state
//! through the pump task of their connection, the only one that applies them, in the order they
//! came; it waits for an answer only where a stop is not yet one that may be seen (`pass_prologue`), and not for
//! long. The state is behind a lock that is never held across an
//! await. Waits look at the state and then for its next change, so nothing is missed between.
//!
//! The pump holds the session weakly: when the last handle is gone, its processes end.

mod asking;
mod child;
mod control;
mod data;
mod ending;
mod evaluate;
mod exceptions;
mod failures;
mod focus;
mod foresight;
mod function_name;
mod goto;
mod inspect;
mod one_line;
mod other_stops;
mod placing;
mod pump;
mod reverse;
mod save;
mod signals;
mod source;
mod sources;
mod start;
pub(crate) mod state;
mod stop_report;
mod stopped;
mod tree;
mod unset;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use tokio::sync::{Semaphore, watch};

pub use self::control::{Resume, Ticket};
pub use self::evaluate::EvaluateContext;
pub use self::inspect::{LeftOut, Page, VariableFilter, VariablePage};
pub use self::save::{Save, Saved};
pub use self::source::lines_of_file;
use self::sources::Sources;
pub(crate) use self::start::{initialize_arguments, private_folder};
use self::state::{Phase, State};
pub use self::tree::{ScopeFilter, ScopeRest, VariableTree};
use crate::adapter::AdapterKind;
use crate::configuration::{Configuration, Request};
use crate::context::Context;
use crate::error::DebugError;
use crate::id::DebugSessionId;
use crate::report::EndReport;

/// A handle to a debug session. Clones are the same session.
#[derive(Clone)]
pub struct DebugSession {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) id: DebugSessionId,
    pub(crate) configuration: Configuration,
    pub(crate) adapter: AdapterKind,
    pub(crate) context: Arc<Context>,
    state: Mutex<State>,
    changed: watch::Sender<u64>,
    /// Someone starts or restarts it.
    changing: AtomicBool,
    /// It is to be stopped, whatever the one who starts it is about to do.
    stop_requested: AtomicBool,
    workspace: OnceLock<focus::Workspace>,
    sources: Sources,
    /// Bytes of output so far; not all of them are kept.
    printed: AtomicUsize,
    /// The sessions that are stopped with this one.
    companions: OnceLock<Vec<Weak<Inner>>>,
    /// Places for connections to child processes.
    children: Arc<Semaphore>,
}

/// Where a session is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionState {
    /// The adapter is being prepared.
    Starting,
    /// The program runs.
    Running,
    /// The program, or a thread of it, is stopped.
    Stopped {
        /// Why.
        reason: String,
        /// The thread that stopped last.
        thread: Option<i64>,
    },
    /// It is over.
    Ended(EndReport),
}

/// What is known of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugSessionInfo {
    /// Its id.
    pub id: DebugSessionId,
    /// The configuration's name.
    pub name: String,
    /// Who debugs.
    pub adapter: AdapterKind,
    /// Started or attached to.
    pub request: Request,
    /// The program.
    pub program: String,
    /// Its process, where known.
    pub pid: Option<i32>,
    /// How many times it was started.
    pub run: u64,
    /// Where it is.
    pub state: SessionState,
    /// Child sessions, by name, each with that of its parent.
    pub children: Vec<(String, String)>,
}

impl std::fmt::Debug for DebugSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DebugSession").field("id", &self.inner.id).finish_non_exhaustive()
    }
}

impl DebugSession {
    pub(crate) fn new(
        id: DebugSessionId,
        configuration: Configuration,
        adapter: AdapterKind,
        context: Arc<Context>,
    ) -> Self {
        let references = crate::reference::References::new(context.numbers.clone());
        let state = State::new(configuration.program_name(), adapter, references);
        let (changed, _) = watch::channel(0);
        let inner = Inner {
            id,
            configuration,
            adapter,
            context,
            state: Mutex::new(state),
            changed,
            changing: AtomicBool::new(false),
            stop_requested: AtomicBool::new(false),
            workspace: OnceLock::new(),
            sources: Sources::default(),
            printed: AtomicUsize::new(0),
            companions: OnceLock::new(),
            children: Arc::new(Semaphore::new(child::MAX_CHILDREN)),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The session's id.
    pub fn id(&self) -> &DebugSessionId {
        &self.inner.id
    }

    /// What is known of it.
    pub fn info(&self) -> DebugSessionInfo {
        let mut state = self.inner.lock();
        let latest = state.latest_stop(None);
        let session_state = match (&state.phase, latest) {
            (Phase::Ended(end), _) => SessionState::Ended(end.clone()),
            (_, Some((link, stop))) => SessionState::Stopped {
                reason: stop.event.reason,
                thread: stop.event.thread_id.map(|id| state.thread_number(link, id)),
            },
            (Phase::Starting, None) => SessionState::Starting,
            (_, None) => SessionState::Running,
        };
        let name = |number: u32| state.links.get(&number).map(|link| link.name.clone());
        let children = state
            .links
            .values()
            .filter_map(|link| Some((link.name.clone(), name(link.parent?).unwrap_or_default())));
        DebugSessionInfo {
            id: self.inner.id.clone(),
            name: self.inner.configuration.name.clone(),
            adapter: self.inner.adapter,
            request: self.inner.configuration.request,
            program: state.program.clone(),
            pid: state.pid,
            run: state.run,
            children: children.collect(),
            state: session_state,
        }
    }

    /// Whether the program traps at an assertion that fails.
    pub fn traps_at_failures(&self) -> bool {
        self.inner.configuration.traps_at_failures
    }

    /// Whether the program, or a thread of it, is stopped.
    pub fn is_stopped(&self) -> bool {
        self.inner.lock().latest_stop(None).is_some()
    }

    /// Whether the session is over.
    pub fn is_ended(&self) -> bool {
        matches!(self.inner.lock().phase, Phase::Ended(_))
    }

    /// Whether a reference is this session's and still good.
    pub fn knows(&self, reference: u64) -> bool {
        self.inner.lock().references.contains(reference)
    }
}

impl Inner {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sessions that are stopped with this one, as far as they still exist.
    fn companions(&self) -> impl Iterator<Item = DebugSession> + '_ {
        let known = self.companions.get().into_iter().flatten().filter_map(Weak::upgrade);
        known.map(|inner| DebugSession { inner })
    }

    /// Tells waits that the state changed.
    pub(crate) fn notify(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Keeps an event of ours or the adapter's.
    pub(crate) fn record(&self, event: &str, body: serde_json::Value) {
        let category = body["category"].as_str();
        if event == "output" && !matches!(category, Some("adapter" | "telemetry")) {
            let length = body["output"].as_str().map_or(0, str::len);
            self.printed.fetch_add(length, Ordering::AcqRel);
        }
        self.context.events.record(self.id.as_str(), event, body);
    }

    /// The right to start or restart, for one at a time.
    pub(crate) fn change(self: &Arc<Self>) -> Result<Changing, DebugError> {
        if self.changing.swap(true, Ordering::AcqRel) {
            return Err(DebugError::Busy(self.id.to_string()));
        }
        self.stop_requested.store(false, Ordering::Release);
        Ok(Changing(Arc::downgrade(self)))
    }
}

/// The right to start a session; given back when dropped.
pub(crate) struct Changing(Weak<Inner>);

impl Drop for Changing {
    fn drop(&mut self) {
        if let Some(inner) = self.0.upgrade() {
            inner.changing.store(false, Ordering::Release);
            inner.notify();
        }
    }
}
