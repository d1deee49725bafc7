//! Pauses of agents, and questions to a person for a password.
//!
//! A pause applies to a client with all of its agents, because a client names its agents itself. It lasts until a person
//! ends it or the server ends.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use termbridge_session::{Owner, SessionId};
use tokio::sync::watch;

use crate::caller::Caller;
use crate::error::BridgeError;
use crate::hub::Bridge;
use crate::scopes::Scope;

/// How long a window may take to open its box for a password.
const BOX_OPENS: Duration = Duration::from_secs(1);

/// Paused clients, by principal and label.
#[derive(Debug, Default)]
pub(crate) struct PausedClients {
    clients: Mutex<HashSet<(String, String)>>,
    /// Grows with each change.
    changed: watch::Sender<u64>,
}

impl PausedClients {
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn change(&self, change: impl FnOnce(&mut HashSet<(String, String)>)) {
        change(&mut self.clients.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.send_modify(|count| *count += 1);
    }

    fn contains(&self, owner: &Owner) -> bool {
        let client = (owner.principal.clone(), owner.client.clone());
        self.clients.lock().unwrap_or_else(PoisonError::into_inner).contains(&client)
    }
}

impl Bridge {
    /// Refuses a caller without the scope, and a paused one that would change something.
    pub fn require(&self, caller: &Caller, scope: Scope) -> Result<(), BridgeError> {
        if !caller.may(scope) {
            return Err(BridgeError::MissingScope(scope));
        }
        if scope == Scope::Write && self.is_paused(&caller.owner()) {
            return Err(BridgeError::Paused);
        }
        Ok(())
    }

    /// Pauses the client of an owner: it can read, but changes nothing.
    pub fn pause(&self, Owner { principal, client, .. }: Owner) {
        self.shared.paused.change(|paused| {
            paused.insert((principal, client));
        });
    }

    /// Ends the pause of an owner's client, or all pauses.
    pub fn resume(&self, owner: Option<Owner>) {
        self.shared.paused.change(|paused| match owner {
            Some(Owner { principal, client, .. }) => {
                paused.remove(&(principal, client));
            }
            None => paused.clear(),
        });
    }

    /// Whether an owner's client is paused.
    pub fn is_paused(&self, owner: &Owner) -> bool {
        self.shared.paused.contains(owner)
    }

    /// Whether only a person may type a hidden line, such as a password.
    pub fn secrets_by_person(&self) -> bool {
        self.shared.guard.secrets_by_person()
    }

    /// Whether a window asks its person for the password that a session waits for. Waits for a window that shows the
    /// session, up to `BOX_OPENS`.
    pub async fn asks_person(&self, caller: &Caller, id: &SessionId) -> bool {
        let Some(mut changes) = self.backend_of(id).changes() else { return false };
        let asked = async {
            loop {
                changes.borrow_and_update();
                let info = self.session(caller, id).await.ok()?;
                if info.asks_person || !info.is_watched {
                    return Some(info.asks_person);
                }
                changes.changed().await.ok()?;
            }
        };
        tokio::time::timeout(BOX_OPENS, asked).await.ok().flatten().unwrap_or_default()
    }
}
