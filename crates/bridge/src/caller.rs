//! Who calls, and what they may do with whose session.
//!
//! A [`Caller`] is made at a transport's edge and taken by every operation of the hub. What a session's owner is
//! to a caller is decided here alone.

use std::sync::Arc;

use termbridge_session::Owner;

/// A client of the server, as its transport knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Client {
    /// Who answers for it. Empty where there is only one, as over stdio.
    pub principal: String,
    /// What tells it from other clients of the principal: its name and its workspace. Empty where there is only one.
    pub label: String,
    /// It may see and end everyone's sessions.
    pub is_admin: bool,
}

/// Whoever calls. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    client: Arc<Client>,
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    principal: String,
    name: String,
    is_agent: bool,
}

impl Caller {
    /// A call of a client.
    pub fn new(client: Arc<Client>) -> Self {
        Self { client, agent: None }
    }

    /// The same for one of the client's agents.
    #[must_use]
    pub fn for_agent(&self, agent: Option<&str>) -> Self {
        let agent = agent.filter(|agent| !agent.is_empty()).map(str::to_owned);
        Self { client: Arc::clone(&self.client), agent }
    }

    /// The agent, where the client tells its agents apart.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Whose the sessions are that it makes.
    pub fn owner(&self) -> Owner {
        Owner {
            principal: self.client.principal.clone(),
            client: self.client.label.clone(),
            agent: self.agent.clone(),
        }
    }

    /// What a session of an owner is to it. Between the agents of a principal this is a courtesy; the wall is between
    /// principals.
    pub fn access(&self, owner: &Owner) -> Access {
        if self.client.is_admin {
            return Access::Own;
        }
        if self.client.principal != owner.principal {
            return Access::None;
        }
        let is_own = match (&self.agent, &owner.agent) {
            (Some(own), Some(other)) => own == other,
            // A call that names no agent can use what its client made for one, and the other way round.
            _ => self.client.label == owner.client,
        };
        if is_own { Access::Own } else { Access::Others }
    }

    /// By what its current session is found.
    pub(crate) fn key(&self) -> Key {
        let (name, is_agent) = match &self.agent {
            Some(agent) => (agent.clone(), true),
            None => (self.client.label.clone(), false),
        };
        Key { principal: self.client.principal.clone(), name, is_agent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(principal: &str, label: &str, agent: Option<&str>) -> Caller {
        let client = Client { principal: principal.into(), label: label.into(), is_admin: false };
        Caller::new(Arc::new(client)).for_agent(agent)
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
    fn an_agent_that_is_called_like_a_client_is_another() {
        assert_ne!(caller("", "x", None).key(), caller("", "", Some("x")).key());
        assert_eq!(caller("", "", Some("")).key(), caller("", "", None).key());
    }
}
