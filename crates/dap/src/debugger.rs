//! [`Debugger`]: every debug session of a server, and the breakpoints they share.

mod breakpoints;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::adapter::{AdapterStatus, doctor, survey};
use crate::configuration::Configuration;
use crate::context::{Context, Hooks};
use crate::error::DebugError;
use crate::events::EventStore;
use crate::id::DebugSessionId;
use crate::last_line::LastLine;
use crate::launch_json::{LaunchPlan, Task};
use crate::report::EndReason;
use crate::session::{DebugSession, DebugSessionInfo};
use crate::settings::Settings;

/// The debug sessions of a server. Clones are the same debugger.
#[derive(Clone)]
pub struct Debugger {
    context: Arc<Context>,
    sessions: Arc<Mutex<Sessions>>,
}

impl std::fmt::Debug for Debugger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Debugger").field("sessions", &self.sessions()).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Sessions {
    known: HashMap<DebugSessionId, Entry>,
    next: u64,
}

struct Entry {
    session: DebugSession,
    /// Order of the start.
    number: u64,
}

impl Debugger {
    /// A debugger that does everything itself.
    pub fn new(settings: Settings) -> Self {
        Self::with_hooks(settings, Hooks::default())
    }

    /// A debugger that leaves terminals and tasks to its caller.
    pub fn with_hooks(settings: Settings, hooks: Hooks) -> Self {
        let context = Arc::new(Context::new(settings, hooks));
        Self { context, sessions: Arc::default() }
    }

    /// Runs the tasks of a plan and starts its programs, in order. When one fails, those that were
    /// started are ended.
    /// Each program has the time to start. What is run and built meanwhile is kept in `said`.
    pub async fn launch(
        &self,
        plan: LaunchPlan,
        timeout: Duration,
        said: &LastLine,
    ) -> Result<Vec<DebugSession>, DebugError> {
        let mut started = Started(Vec::new());
        self.run_tasks(plan.before, said).await?;
        for (tasks, configuration) in plan.parts {
            self.run_tasks(tasks, said).await?;
            started.0.push(self.start_within(configuration, timeout, said).await?);
        }
        let sessions = std::mem::take(&mut started.0);
        if plan.stop_all && sessions.len() > 1 {
            for session in &sessions {
                session.stop_with(&sessions);
            }
        }
        Ok(sessions)
    }

    async fn run_tasks(&self, tasks: Vec<Task>, said: &LastLine) -> Result<(), DebugError> {
        for task in tasks {
            let label = task.label.clone();
            said.note(&format!("task {label:?}: {}", task.command.shown()));
            self.context.tasks.run(task, said.clone()).await.map_err(|reason| {
                DebugError::LaunchFailed(format!("the task {label:?} failed: {reason}"))
            })?;
        }
        Ok(())
    }

    /// Starts a program under the debugger, or attaches to one. It runs when this returns, or has
    /// stopped or ended already. On failure nothing is left behind.
    pub async fn start(&self, configuration: Configuration) -> Result<DebugSession, DebugError> {
        let limit = self.context.settings.launch_timeout;
        self.start_within(configuration, limit, &LastLine::default()).await
    }

    /// As [`Debugger::start`], within a time. What the adapter builds first is kept in `said`: it is
    /// silent while it does.
    pub async fn start_within(
        &self,
        configuration: Configuration,
        timeout: Duration,
        said: &LastLine,
    ) -> Result<DebugSession, DebugError> {
        let adapter = configuration.adapter()?;
        configuration.check()?;
        if let Some(build) = adapter.quirks().build_line(&configuration) {
            said.note(&build);
        }
        let id = DebugSessionId::random()?;
        let context = Arc::clone(&self.context);
        let session = DebugSession::new(id.clone(), configuration, adapter, context);
        self.add(session.clone())?;
        let failed = Forget { sessions: &self.sessions, id: Some(id) };
        session.start(timeout).await?;
        failed.defuse();
        Ok(session)
    }

    /// A session; without an id the latest that is stopped, or else that runs, or else that ended.
    pub fn session(&self, id: Option<&DebugSessionId>) -> Result<DebugSession, DebugError> {
        let sessions = self.lock();
        if let Some(id) = id {
            let entry = sessions.known.get(id);
            let entry = entry.ok_or_else(|| DebugError::NoSession(Some(id.to_string())))?;
            return Ok(entry.session.clone());
        }
        let entries = sessions.known.values();
        let latest = entries.max_by_key(|entry| {
            let session = &entry.session;
            (session.is_stopped(), !session.is_ended(), entry.number)
        });
        Ok(latest.ok_or(DebugError::NoSession(None))?.session.clone())
    }

    /// The session that was started last and is open, or else that was started last.
    pub fn latest(&self) -> Result<DebugSession, DebugError> {
        let sessions = self.lock();
        let latest =
            sessions.known.values().max_by_key(|entry| (!entry.session.is_ended(), entry.number));
        Ok(latest.ok_or(DebugError::NoSession(None))?.session.clone())
    }

    /// The session that gave a reference out.
    pub fn session_of(&self, reference: u64) -> Option<DebugSession> {
        let sessions = self.lock();
        let mut entries = sessions.known.values();
        entries.find(|entry| entry.session.knows(reference)).map(|entry| entry.session.clone())
    }

    /// All sessions in the order of their start, those included that ended a while ago.
    pub fn sessions(&self) -> Vec<DebugSession> {
        let sessions = self.lock();
        let mut entries: Vec<_> = sessions.known.values().collect();
        entries.sort_by_key(|entry| entry.number);
        entries.into_iter().map(|entry| entry.session.clone()).collect()
    }

    /// What is known of every session.
    pub fn list(&self) -> Vec<DebugSessionInfo> {
        self.sessions().iter().map(DebugSession::info).collect()
    }

    /// What happened in all sessions.
    pub fn events(&self) -> &EventStore {
        &self.context.events
    }

    /// The Python that the user configured.
    pub fn python(&self) -> Option<&Path> {
        self.context.settings.adapters.python.as_deref()
    }

    /// Every adapter: where its files are, or how to install it. Starts nothing.
    pub fn adapters(&self, folder: &Path) -> Vec<AdapterStatus> {
        let settings = &self.context.settings;
        survey(&settings.adapters, &settings.environment, folder)
    }

    /// Every adapter: whether it starts within a time, or how to install it.
    pub async fn doctor(&self, folder: &Path, limit: Duration) -> Vec<AdapterStatus> {
        let settings = &self.context.settings;
        doctor(&settings.adapters, &settings.environment, folder, limit).await
    }

    /// Waits for what sessions that did not start have left to end.
    pub async fn endings_over(&self) {
        self.context.endings_over().await;
    }

    /// Ends every session and every task; returns when all programs and adapters are gone.
    pub async fn shutdown(&self) {
        let stops = self
            .sessions()
            .into_iter()
            .map(|session| tokio::spawn(async move { session.stop().await.map(|_| ()) }));
        for stop in stops.collect::<Vec<_>>() {
            if let Ok(Err(error)) = stop.await {
                tracing::warn!(%error, "a debug session did not end");
            }
        }
        self.endings_over().await;
        self.context.tasks.end_background();
    }

    fn add(&self, session: DebugSession) -> Result<(), DebugError> {
        let settings = &self.context.settings;
        let mut sessions = self.lock();
        let open = sessions.known.values().filter(|entry| !entry.session.is_ended()).count();
        if open >= settings.max_sessions {
            return Err(DebugError::Capacity { limit: settings.max_sessions });
        }
        let ended = |sessions: &Sessions| {
            let ended = sessions.known.values().filter(|entry| entry.session.is_ended());
            let mut numbers: Vec<_> =
                ended.map(|entry| (entry.number, entry.session.id().clone())).collect();
            numbers.sort();
            numbers
        };
        let old = ended(&sessions);
        let too_many = (old.len() + 1).saturating_sub(settings.max_ended.max(1));
        for (_, id) in old.into_iter().take(too_many) {
            sessions.known.remove(&id);
        }
        let number = sessions.next;
        sessions.next += 1;
        sessions.known.insert(session.id().clone(), Entry { session, number });
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Sessions> {
        lock(&self.sessions)
    }
}

fn lock(sessions: &Mutex<Sessions>) -> MutexGuard<'_, Sessions> {
    sessions.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a session that did not start off the list.
struct Forget<'a> {
    sessions: &'a Mutex<Sessions>,
    id: Option<DebugSessionId>,
}

impl Forget<'_> {
    fn defuse(mut self) {
        self.id = None;
    }
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            lock(self.sessions).known.remove(&id);
        }
    }
}

/// The sessions of a plan so far; dropping it ends them.
struct Started(Vec<DebugSession>);

impl Drop for Started {
    fn drop(&mut self) {
        for session in self.0.drain(..) {
            session.inner.finish_soon(EndReason::Stopped);
        }
    }
}
