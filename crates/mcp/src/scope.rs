//! What a client may do: look, act, or act for everyone.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use termbridge_bridge::Scopes;

/// What a client may do; each includes those before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// List and look: the tools with `readOnlyHint`, resources, prompts.
    Read,
    /// Run things: every tool, on its own sessions.
    #[default]
    Write,
    /// Everything of everyone.
    Admin,
}

/// A word that is no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no scope {0:?}: it takes read, write or admin")]
pub struct UnknownScope(pub String);

impl Scope {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

impl From<Scope> for Scopes {
    /// What it permits, with what it includes.
    fn from(scope: Scope) -> Self {
        let reads = Self::NONE.with(termbridge_bridge::Scope::Read);
        match scope {
            Scope::Read => reads,
            Scope::Write => reads.with(termbridge_bridge::Scope::Write),
            Scope::Admin => Self::default(),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(word: &str) -> Result<Self, UnknownScope> {
        let all = [Self::Read, Self::Write, Self::Admin];
        let found = all.into_iter().find(|scope| scope.name() == word);
        found.ok_or_else(|| UnknownScope(word.to_owned()))
    }
}
