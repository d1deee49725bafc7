//! Subscriptions: a client is told when a resource has changed, and when it will not change again.
//!
//! One task per subscription waits for the session's next change; changes within [`PAUSE`] of one
//! another are one notice. The end of a command is a change of its session's output and its own last one. Before 2026-07-28 a client subscribes to one address after the other, since
//! then it opens one stream for several.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionSink};
use rmcp::{ErrorData, RoleServer};
use termbridge_bridge::{Bridge, Caller, ScreenHandle};
use termbridge_session::vt::Seq;
use termbridge_session::{State, Wait};
use tokio::task::{AbortHandle, JoinSet};

use crate::error::message_of;
use crate::resources::Address;

/// Least time between two notices of one subscription.
const PAUSE: Duration = Duration::from_millis(100);
/// A wait without a change is begun anew after this.
const LONG: Duration = Duration::from_hours(1);
/// Most subscriptions of one client.
const MAX: usize = 256;

/// The subscriptions of a client that opened them one by one.
#[derive(Clone, Default)]
pub(crate) struct Subscriptions {
    tasks: Arc<Mutex<HashMap<String, AbortHandle>>>,
}

impl Subscriptions {
    pub(crate) async fn add(
        &self,
        bridge: &Bridge,
        caller: &Caller,
        uri: String,
        peer: Peer<RoleServer>,
    ) -> Result<(), ErrorData> {
        let watched = Watched::find(bridge, caller, &uri)?;
        let since = watched.now().await;
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|_, task| !task.is_finished());
        if tasks.len() >= MAX {
            let message = format!("{MAX} subscriptions are open, which is the limit");
            return Err(ErrorData::invalid_request(message, None));
        }
        let task = tokio::spawn(watched.run(uri.clone(), since, Notifier::Peer(peer)));
        if let Some(before) = tasks.insert(uri, task.abort_handle()) {
            before.abort();
        }
        Ok(())
    }

    pub(crate) fn remove(&self, uri: &str) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = tasks.remove(uri) {
            task.abort();
        }
    }

    /// The client is gone.
    pub(crate) fn clear(&self) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.drain().for_each(|(_, task)| task.abort());
    }
}

/// Whether changes of this address can be told.
pub(crate) fn is_known(bridge: &Bridge, caller: &Caller, uri: &str) -> bool {
    Watched::find(bridge, caller, uri).is_ok()
}

/// Tells of changes of all these addresses until none can change any more.
pub(crate) async fn watch_all(
    bridge: &Bridge,
    caller: &Caller,
    uris: &[String],
    sink: &SubscriptionSink,
) {
    let mut tasks = JoinSet::new();
    for uri in uris.iter().take(MAX) {
        if let Ok(watched) = Watched::find(bridge, caller, uri) {
            let since = watched.now().await;
            tasks.spawn(watched.run(uri.clone(), since, Notifier::Stream(sink.clone())));
        }
    }
    while tasks.join_next().await.is_some() {}
}

/// Whom to tell.
enum Notifier {
    Peer(Peer<RoleServer>),
    Stream(SubscriptionSink),
}

impl Notifier {
    /// False when nobody listens any more.
    async fn updated(&self, uri: &str) -> bool {
        let update = ResourceUpdatedNotificationParam::new(uri);
        match self {
            Self::Peer(peer) => peer.notify_resource_updated(update).await.is_ok(),
            Self::Stream(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }
}

/// What can change.
struct Watched {
    bridge: Bridge,
    caller: Caller,
    session: ScreenHandle,
    command: Option<u64>,
    is_output: bool,
}

/// From where on a change counts.
struct Since {
    screen: Option<Seq>,
    printed: Option<u64>,
}

impl Watched {
    fn find(bridge: &Bridge, caller: &Caller, uri: &str) -> Result<Self, ErrorData> {
        let refuse =
            |why: &str| ErrorData::invalid_params(message_of(format!("{uri}: {why}")), None);
        let (id, command, is_output) = match Address::parse(uri) {
            Some(Address::Screen(id)) => (id, None, false),
            Some(Address::Output(id)) => (id, None, true),
            Some(Address::Command(id, command)) => (id, Some(command), false),
            Some(Address::Sessions) | None => {
                return Err(refuse("only a session's screen, output and commands tell of changes"));
            }
        };
        let session = bridge.screen(caller, &id).map_err(|error| refuse(&error.to_string()))?;
        let (bridge, caller) = (bridge.clone(), caller.clone());
        Ok(Self { bridge, caller, session, command, is_output })
    }

    /// Changes count from here: whoever subscribed may make the next one at once.
    async fn now(&self) -> Since {
        let screen = self.session.screen().await.ok().map(|snapshot| snapshot.seq);
        Since { screen, printed: self.printed().await }
    }

    /// How much was printed, where that is what is watched: more than the screen shows, and the end of
    /// a command counts too.
    async fn printed(&self) -> Option<u64> {
        match self.is_output {
            true => self.session.info().await.ok().map(|info| info.printed),
            false => None,
        }
    }

    async fn run(self, uri: String, mut since: Since, notifier: Notifier) {
        loop {
            let wait = Wait {
                change: true,
                exit: true,
                command: self.command,
                printed_after: since.printed,
                after: since.screen,
                ..Wait::default()
            };
            let Ok(waited) = self.session.wait(wait.timeout(LONG)).await else { return };
            // Read before the notice: what is printed after it, and an end after it, lead to another.
            let printed = self.printed().await;
            let is_last = self.is_over(&waited.state).await;
            if waited.fired.is_none() {
                continue;
            }
            if !notifier.updated(&uri).await || is_last {
                return;
            }
            since = Since { screen: Some(waited.seq), printed };
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn is_over(&self, state: &State) -> bool {
        match self.command {
            None => matches!(state, State::Exited(_)),
            Some(command) => {
                let id = self.session.id();
                let report = self.bridge.command(&self.caller, id, command, 0, 0).await;
                !matches!(report, Ok(Some(report)) if report.is_running())
            }
        }
    }
}
