//! Agents that a person has paused, and passwords that a person is asked for.
//!
//! A pause holds for a client with all of its agents: the name of an agent is the client's own choice. It lasts until a
//! person ends it or the server ends.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use termbridge_session::{Owner, SessionId};
use tokio::sync::watch;

use crate::caller::Caller;
use crate::error::BridgeError;
use crate::hub::Bridge;
use crate::scopes::Scope;

/// How long a window that shows a session may take to ask its person for a password.
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
    /// Refuses a caller that was not given a scope, and one that is paused and would change something.
    pub fn require(&self, caller: &Caller, scope: Scope) -> Result<(), BridgeError> {
        if !caller.may(scope) {
            return Err(BridgeError::MissingScope(scope));
        }
        if scope == Scope::Write && self.is_paused(&caller.owner()) {
            return Err(BridgeError::Paused);
        }
        Ok(())
    }

    /// Pauses the client of an owner: it reads, and changes nothing.
    pub fn pause(&self, Owner { principal, client, .. }: Owner) {
        self.shared.paused.change(|paused| {
            paused.insert((principal, client));
        });
    }

    /// Ends the pause of an owner's client; of all without one.
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

    /// Whether a window asks its person for the password that a session waits for. A window that shows the session gets a
    /// moment to do so.
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
