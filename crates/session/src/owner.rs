//! Whose a session is.

use std::path::PathBuf;

/// Whose a session is, in words that only the caller's side understands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Who answers for it: a user or a token. Empty where there is only one.
    pub principal: String,
    /// The client that made it, such as an editor's window. Empty where there is only one.
    pub client: String,
    /// The agent that it was made for, where the client tells its agents apart.
    pub agent: Option<String>,
    /// The folder that its client works in, where that is known.
    pub workspace: Option<PathBuf>,
}

/// The client of what is shared with all clients of a principal. One that calls itself so shares what it makes.
const EVERYONE: &str = "everyone (shared by a person)";

impl Owner {
    /// All clients and agents of the principal without a name: the user that the server runs as.
    pub fn everyone() -> Self {
        Self { client: EVERYONE.to_owned(), ..Self::default() }
    }

    /// Whether it is what [`everyone`](Self::everyone) made.
    pub fn is_everyone(&self) -> bool {
        self.client == EVERYONE
    }
}
