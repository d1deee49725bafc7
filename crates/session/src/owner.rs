//! Whose a session is.

/// Whose a session is, in words that only the caller's side understands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Who answers for it: a user or a token. Empty where there is only one.
    pub principal: String,
    /// The client that made it, such as an editor's window. Empty where there is only one.
    pub client: String,
    /// The agent that it was made for, where the client tells its agents apart.
    pub agent: Option<String>,
}
