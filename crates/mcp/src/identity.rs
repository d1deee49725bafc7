//! Whom a transport let in, and as which client the hub knows it.

use std::sync::Arc;

use termbridge_bridge::Client;

use crate::scope::Scope;
use crate::socket::Hello;

/// A client, as its transport knows it.
#[derive(Debug, Clone)]
pub struct Identity {
    /// As whom the hub knows it.
    pub client: Client,
    /// What it may do.
    pub scope: Scope,
}

/// How a client proved who it is.
#[derive(Debug, Clone)]
pub enum Proof {
    /// Its process runs as the server's own user; our shim says more about it.
    OwnUser(Option<Hello>),
    /// It holds a token.
    Token {
        /// The token's id.
        id: String,
        /// What its user calls it.
        name: String,
        /// What the token permits.
        scope: Scope,
        /// It sees everyone's sessions.
        all_sessions: bool,
        /// The folder that the token belongs to.
        workspace: Option<std::path::PathBuf>,
    },
}

impl From<&Proof> for Identity {
    fn from(proof: &Proof) -> Self {
        let scope = match proof {
            Proof::OwnUser(Some(hello)) if hello.admin => Scope::Admin,
            Proof::OwnUser(_) => Scope::Write,
            Proof::Token { scope, .. } => *scope,
        };
        Self { client: client_of(proof), scope }
    }
}

/// The client of a proof: the one place where what a transport knows becomes what the hub knows. Processes of the
/// server's own user are one principal, the one without a name, as over stdio; each token is one of its own.
fn client_of(proof: &Proof) -> Client {
    match proof {
        Proof::OwnUser(None) => Client::default(),
        Proof::OwnUser(Some(hello)) => Client {
            label: hello.label(),
            is_admin: hello.admin,
            name: Some(hello.client.clone()).filter(|name| !name.is_empty()),
            pid: Some(hello.pid).filter(|pid| *pid > 0),
            workspace: Some(hello.cwd.clone()).filter(|cwd| cwd.is_absolute()),
            environment: Some(&hello.env).filter(|env| !env.is_empty()).map(|env| {
                let pairs = env.iter().map(|(name, value)| (name.into(), value.into()));
                Arc::new(pairs.collect())
            }),
            ..Client::default()
        },
        Proof::Token { id, name, scope, all_sessions, workspace } => Client {
            principal: id.clone(),
            // Whoever holds it is one client.
            label: format!("token {name}"),
            is_admin: *all_sessions || *scope == Scope::Admin,
            workspace: workspace.clone(),
            scopes: (*scope).into(),
            ..Client::default()
        },
    }
}
