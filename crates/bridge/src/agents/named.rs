//! Sessions by name: among an agent's living sessions a name means one of them.

use termbridge_session::{SessionId, SessionInfo, State};

use super::{Agents, Held, Needs, Reservation, Table};
use crate::backends::Backends;
use crate::caller::{Caller, Key};
use crate::error::BridgeError;

/// Longest command that an error shows, in bytes.
const MAX_SHOWN: usize = 80;

/// Longest name of a session, in characters.
const MAX_NAME: usize = 200;

/// Refuses a name that no list or error can show.
pub(crate) fn check_name(name: &str) -> Result<(), BridgeError> {
    if name.chars().nth(MAX_NAME).is_none() && !name.chars().any(char::is_control) {
        return Ok(());
    }
    Err(BridgeError::Invalid(format!(
        "the `name` of a session has at most {MAX_NAME} characters, and no control characters"
    )))
}

/// What a name stands for.
pub(super) enum Named {
    /// A session that can take a command.
    Found(Box<SessionInfo>, Reservation),
    /// Nothing: a session of this name may be made.
    Free(NameClaim),
}

/// Keeps a name for a session that is being made.
pub(crate) struct NameClaim {
    agents: Agents,
    key: Key,
    name: String,
}

impl Drop for NameClaim {
    fn drop(&mut self) {
        let mut table = self.agents.lock();
        let mine =
            table.claimed.iter().position(|(key, name)| *key == self.key && *name == self.name);
        mine.map(|index| table.claimed.swap_remove(index));
    }
}

/// Who has a name.
enum Owner {
    Nobody(NameClaim),
    /// A session that another call makes.
    Making,
    Session(Held),
}

impl Table {
    fn named(&self, key: &Key, name: &str) -> Option<Held> {
        let is_it =
            |held: &&Held| held.key.is_same_client(key) && held.name.as_deref() == Some(name);
        self.held.iter().find(is_it).cloned()
    }
}

impl Agents {
    /// The session of this name, for a command.
    pub(super) async fn named(
        &self,
        backends: &Backends,
        needs: &Needs,
        name: &str,
    ) -> Result<Named, BridgeError> {
        let busy = |doing: String| BridgeError::NameBusy { name: name.to_owned(), doing };
        loop {
            let held = match self.owner(&needs.caller.key(), name) {
                Owner::Nobody(claim) => {
                    self.check_programs(backends, &needs.caller, name).await?;
                    return Ok(Named::Free(claim));
                }
                Owner::Making => return Err(busy("another call is starting it".into())),
                Owner::Session(held) => held,
            };
            let Some(info) = self.living(backends, &held.id).await? else { continue };
            if needs.shell.as_ref().is_some_and(|shell| *shell != held.shell) {
                return Err(taken(name, &held.id, "it was started with another `shell`"));
            }
            if !info.is_idle_shell() {
                return Err(busy(doing(backends, &info).await));
            }
            return match self.reserve(&held.id) {
                Some(reservation) => Ok(Named::Found(Box::new(info), reservation)),
                None => Err(busy(format!("another call uses session {}", held.id))),
            };
        }
    }

    /// Keeps a name for a session that the caller makes.
    pub(crate) async fn claim(
        &self,
        backends: &Backends,
        caller: &Caller,
        name: &str,
    ) -> Result<NameClaim, BridgeError> {
        loop {
            match self.owner(&caller.key(), name) {
                Owner::Nobody(claim) => {
                    self.check_programs(backends, caller, name).await?;
                    return Ok(claim);
                }
                Owner::Making => {
                    let doing = "another call is starting it".to_owned();
                    return Err(BridgeError::NameBusy { name: name.to_owned(), doing });
                }
                Owner::Session(held) => {
                    if self.living(backends, &held.id).await?.is_some() {
                        return Err(taken(name, &held.id, "a name means one session"));
                    }
                }
            }
        }
    }

    /// The living session of this name.
    pub(crate) async fn live_named(
        &self,
        backends: &Backends,
        caller: &Caller,
        name: &str,
    ) -> Result<Option<SessionInfo>, BridgeError> {
        let found = self.lock().named(&caller.key(), name);
        match found {
            Some(held) => self.living(backends, &held.id).await,
            None => Ok(None),
        }
    }

    /// Refuses the name of a running program, which is not in the table of shells.
    async fn check_programs(
        &self,
        backends: &Backends,
        caller: &Caller,
        name: &str,
    ) -> Result<(), BridgeError> {
        let key = caller.key();
        let own = backends.list_own(caller).await?.sessions;
        let named = own.iter().find(|info| {
            info.name.as_deref() == Some(name)
                && info.state == State::Running
                && Key::of(&info.owner) == key
        });
        match named {
            Some(info) => Err(taken(name, &info.id, "a name means one session")),
            None => Ok(()),
        }
    }

    fn owner(&self, key: &Key, name: &str) -> Owner {
        let mut table = self.lock();
        if let Some(held) = table.named(key, name) {
            return Owner::Session(held);
        }
        let is_claim =
            |(whose, claimed): &(Key, String)| whose.is_same_client(key) && claimed == name;
        if table.claimed.iter().any(is_claim) {
            return Owner::Making;
        }
        table.claimed.push((key.clone(), name.to_owned()));
        drop(table);
        Owner::Nobody(NameClaim { agents: self.clone(), key: key.clone(), name: name.to_owned() })
    }
}

fn taken(name: &str, session: &SessionId, why: &str) -> BridgeError {
    BridgeError::NameTaken { name: name.to_owned(), session: session.clone(), why: why.to_owned() }
}

/// What keeps a session busy.
async fn doing(backends: &Backends, info: &SessionInfo) -> String {
    let id = &info.id;
    let command = match info.shell.and_then(|shell| shell.running) {
        Some(running) => backends.of(id).command(id, running, 0, 0).await.ok().flatten(),
        None => None,
    };
    match (command, &info.foreground) {
        (Some(report), _) => {
            let text = report.command;
            let end = text.floor_char_boundary(MAX_SHOWN);
            let more = if end < text.len() { "…" } else { "" };
            format!("session {id} runs command {}: {}{more}", report.id, &text[..end])
        }
        (None, Some(program)) => format!("session {id} runs {program}"),
        (None, None) => format!("session {id} is not at its prompt"),
    }
}
