//! What all sessions of a debugger share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::adapter::Cache;
use crate::breakpoint::BreakpointStore;
use crate::events::EventStore;
use crate::reference::Numbers;
use crate::settings::Settings;
use crate::task::{PlainRunner, TaskRunner};
use crate::terminal::TerminalLauncher;

pub(crate) struct Context {
    pub(crate) settings: Settings,
    pub(crate) events: EventStore,
    pub(crate) numbers: Numbers,
    pub(crate) adapters: Cache,
    pub(crate) terminal: Option<Arc<dyn TerminalLauncher>>,
    pub(crate) tasks: Arc<dyn TaskRunner>,
    breakpoints: Mutex<BreakpointStore>,
    /// Held while breakpoints are sent, so that lists reach adapters in the order they were made.
    pub(crate) placing: tokio::sync::Mutex<()>,
    /// How many runs end beside their callers.
    endings: watch::Sender<usize>,
}

/// A run that ends beside its caller, until it is dropped.
pub(crate) struct Ending(Arc<Context>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.endings.send_modify(|count| *count -= 1);
    }
}

/// What the caller does for the debugger; what is absent it does itself, plainly.
#[derive(Clone, Default)]
pub struct Hooks {
    /// Runs programs in terminals.
    pub terminal: Option<Arc<dyn TerminalLauncher>>,
    /// Runs tasks before programs are debugged.
    pub tasks: Option<Arc<dyn TaskRunner>>,
}

impl Context {
    pub(crate) fn new(settings: Settings, hooks: Hooks) -> Self {
        let own = || Arc::new(PlainRunner::new(&settings)) as Arc<dyn TaskRunner>;
        let (terminal, tasks) = (hooks.terminal, hooks.tasks.unwrap_or_else(own));
        let events = EventStore::new(settings.events.clone(), settings.state_folder.clone());
        Self {
            settings,
            events,
            numbers: Numbers::default(),
            adapters: Cache::default(),
            terminal,
            tasks,
            breakpoints: Mutex::default(),
            placing: tokio::sync::Mutex::new(()),
            endings: watch::Sender::new(0),
        }
    }

    /// Notes that a run ends beside its caller.
    pub(crate) fn begin_ending(self: &Arc<Self>) -> Ending {
        self.endings.send_modify(|count| *count += 1);
        Ending(Arc::clone(self))
    }

    /// Waits until no run ends beside its caller; each of its steps has a limit.
    pub(crate) async fn endings_over(&self) {
        // The sender is ours.
        let _ = self.endings.subscribe().wait_for(|count| *count == 0).await;
    }

    pub(crate) fn breakpoints(&self) -> MutexGuard<'_, BreakpointStore> {
        self.breakpoints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
