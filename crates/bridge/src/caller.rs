//! Who calls, from which world, and what they may do with whose session.
//!
//! A [`Caller`] is made at a transport's edge and taken by every operation of the hub. What a session's owner is
//! to a caller is decided here alone.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use termbridge_session::Owner;

use crate::scopes::{Scope, Scopes};

/// Variables by name.
pub type Environment = BTreeMap<OsString, OsString>;

/// A client of the server, as its transport knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Client {
    /// Who answers for it. Empty where there is only one, as over stdio.
    pub principal: String,
    /// What tells it from other clients of the principal. If it is empty, it is made of `name` and `workspace`; where
    /// those are missing too, there is only one client.
    pub label: String,
    /// What tells connections apart that have the label in common: each has its own current session, and what one makes
    /// belongs to all of them. Empty where there is only one.
    pub instance: String,
    /// It may see and end everyone's sessions. No scope implies it: a transport that means it says so.
    pub is_admin: bool,
    /// What it calls itself.
    pub name: Option<String>,
    /// Its process, where it is on this machine.
    pub pid: Option<u32>,
    /// Where it works: relative paths, new sessions and debugging start there. `None` is where the server does.
    pub workspace: Option<PathBuf>,
    /// All of its variables, which what is started for it gets. `None` are the server's own.
    pub environment: Option<Arc<Environment>>,
    /// What it may do; everything by default.
    pub scopes: Scopes,
}

impl Client {
    /// By what it is told from other clients of the principal.
    fn label(&self) -> String {
        if !self.label.is_empty() {
            return self.label.clone();
        }
        let workspace = self.workspace.as_ref().map(|workspace| workspace.to_string_lossy());
        match (self.name.as_deref(), workspace) {
            (None, None) => String::new(),
            (Some(name), None) => name.to_owned(),
            (name, Some(workspace)) => format!("{} in {workspace}", name.unwrap_or_default()),
        }
    }
}

/// Whoever calls. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    client: Arc<Client>,
    label: Arc<str>,
    instance: Arc<str>,
    agent: Option<String>,
}

/// What a session is to a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Its own.
    Own,
    /// Another agent's, or another client's, of the same principal.
    Others,
    /// Another principal's: for the caller there is no such session.
    None,
}

/// By what a caller's current session and the shells that it gets again are found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Key {
    principal: String,
    name: String,
    is_agent: bool,
    #[serde(default)]
    instance: String,
}

impl Key {
    /// By what the caller is found that made a session.
    pub(crate) fn of(owner: &Owner) -> Self {
        let (name, is_agent) = match &owner.agent {
            Some(agent) => (agent.clone(), true),
            None => (owner.client.clone(), false),
        };
        Self { principal: owner.principal.clone(), name, is_agent, instance: String::new() }
    }

    /// Whether it is the same client's or agent's, on whichever connection.
    pub(crate) fn is_same_client(&self, other: &Self) -> bool {
        (&self.principal, &self.name, self.is_agent)
            == (&other.principal, &other.name, other.is_agent)
    }
}

impl Caller {
    /// A call of a client.
    pub fn new(client: Arc<Client>) -> Self {
        let (label, instance) = (client.label().into(), client.instance.as_str().into());
        Self { label, instance, client, agent: None }
    }

    /// The same for one of several connections ([`Client::instance`]).
    #[must_use]
    pub fn for_instance(&self, instance: &str) -> Self {
        Self { instance: instance.into(), ..self.clone() }
    }

    /// The same for one of the client's agents.
    #[must_use]
    pub fn for_agent(&self, agent: Option<&str>) -> Self {
        let agent = agent.filter(|agent| !agent.is_empty()).map(str::to_owned);
        Self { agent, ..self.clone() }
    }

    /// The client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The agent, where the client tells its agents apart.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Who answers for it; empty where there is only one.
    pub fn principal(&self) -> &str {
        &self.client.principal
    }

    /// Where it works, if that is not where the server does.
    pub fn workspace(&self) -> Option<&Path> {
        self.client.workspace.as_deref()
    }

    /// Its variables, if they are not the server's.
    pub fn environment(&self) -> Option<&Arc<Environment>> {
        self.client.environment.as_ref()
    }

    /// One of its variables; of the server's, where it has none of its own.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        match self.environment() {
            Some(environment) => environment.get(OsStr::new(name)).cloned(),
            None => std::env::var_os(name),
        }
    }

    /// What `~` stands for, if that is not what it is for the server.
    pub(crate) fn home(&self) -> Option<&Path> {
        let home = self.environment()?.get(OsStr::new("HOME"))?;
        Some(Path::new(home)).filter(|home| home.is_absolute())
    }

    /// Whether it may do what takes this scope.
    pub fn may(&self, scope: Scope) -> bool {
        self.client.scopes.has(scope)
    }

    /// Whether what ran on behalf of a principal is for it to see.
    pub(crate) fn sees(&self, principal: &str) -> bool {
        self.client.is_admin || self.client.principal == principal
    }

    /// Whose the sessions are that it makes.
    pub fn owner(&self) -> Owner {
        Owner {
            principal: self.client.principal.clone(),
            client: self.label.to_string(),
            agent: self.agent.clone(),
            workspace: self.client.workspace.clone(),
        }
    }

    /// What a session of an owner is to it. Between the agents of a principal this is a courtesy; the wall is between
    /// principals.
    pub fn access(&self, owner: &Owner) -> Access {
        if self.client.is_admin {
            return Access::Own;
        }
        if !self.sees(&owner.principal) {
            return Access::None;
        }
        let is_own = match (&self.agent, &owner.agent) {
            _ if owner.is_everyone() => true,
            (Some(own), Some(other)) => own == other,
            // A call that names no agent can use what its client made for one, and the other way round.
            _ => *self.label == *owner.client,
        };
        if is_own { Access::Own } else { Access::Others }
    }

    /// By what its current session is found.
    pub(crate) fn key(&self) -> Key {
        let (name, is_agent, instance) = match &self.agent {
            Some(agent) => (agent.clone(), true, ""),
            None => (self.label.to_string(), false, &*self.instance),
        };
        let (principal, instance) = (self.client.principal.clone(), instance.to_owned());
        Key { principal, name, is_agent, instance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(principal: &str, label: &str, agent: Option<&str>) -> Caller {
        let (principal, label) = (principal.into(), label.into());
        let client = Client { principal, label, ..Client::default() };
        Caller::new(Arc::new(client)).for_agent(agent)
    }

    #[test]
    fn without_a_label_it_is_the_name_and_the_workspace() {
        let key = |name: Option<&str>, workspace: Option<&str>| {
            let (name, workspace) = (name.map(str::to_owned), workspace.map(PathBuf::from));
            Caller::new(Arc::new(Client { name, workspace, ..Client::default() })).key()
        };
        let all = [
            key(None, None),
            key(Some("editor"), None),
            key(None, Some("/a")),
            key(Some("editor"), Some("/a")),
            key(Some("editor"), Some("/b")),
            key(Some("other"), Some("/a")),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(!all[..index].contains(one), "{one:?}");
        }
        assert_eq!(all[0], Caller::default().key(), "over stdio nothing is known of the client");
        assert_eq!(key(Some("editor"), Some("/a")), all[3]);
    }

    #[test]
    fn one_rule_says_whose_session_it_is() {
        let owner = |principal: &str, label: &str, agent| caller(principal, label, agent).owner();
        for (own, other, access) in [
            (("me", "a", None), ("me", "a", None), Access::Own),
            (("me", "a", None), ("me", "b", None), Access::Others),
            (("me", "a", None), ("me", "a", Some("x")), Access::Own),
            (("me", "a", Some("x")), ("me", "a", None), Access::Own),
            (("me", "a", Some("x")), ("me", "a", Some("y")), Access::Others),
            // The same agent in another window.
            (("me", "a", Some("x")), ("me", "b", Some("x")), Access::Own),
            (("me", "a", Some("x")), ("me", "b", None), Access::Others),
            (("me", "a", None), ("you", "a", None), Access::None),
            (("me", "a", Some("x")), ("you", "a", Some("x")), Access::None),
        ] {
            let (principal, label, agent) = own;
            let found = caller(principal, label, agent).access(&owner(other.0, other.1, other.2));
            assert_eq!(found, access, "{own:?} and a session of {other:?}");
        }
        let admin = Client { is_admin: true, ..Client::default() };
        assert_eq!(Caller::new(Arc::new(admin)).access(&owner("you", "b", None)), Access::Own);
    }

    #[test]
    fn connections_of_a_client_differ_in_their_current_session_alone() {
        let (first, second) = (caller("me", "a", None), caller("me", "a", None).for_instance("2"));
        assert_ne!(first.key(), second.key());
        assert!(first.key().is_same_client(&second.key()), "names of sessions are theirs together");
        assert_eq!(second.access(&first.owner()), Access::Own);
        let agent = |caller: &Caller| caller.for_agent(Some("x")).key();
        assert_eq!(agent(&first), agent(&second), "an agent has one, wherever it is");
    }

    #[test]
    fn an_agent_that_is_called_like_a_client_is_another() {
        assert_ne!(caller("", "x", None).key(), caller("", "", Some("x")).key());
        assert_eq!(caller("", "", Some("")).key(), caller("", "", None).key());
    }
}
