//! Why a request was refused or failed.

use termbridge_policy::RateLimited;
use termbridge_session::{SessionError, SessionId};
use termbridge_store::StoreError;

use crate::files::MAX_FILE;
use crate::scopes::Scope;

/// What can go wrong between a request and its answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// The terminal's side.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The history's side.
    #[error(transparent)]
    History(#[from] StoreError),
    /// There is no history.
    #[error("the history is off")]
    NoHistory,
    /// The policy refused the command.
    #[error("{part:?} is refused by the rule `{rule}`: {reason}")]
    Blocked {
        /// The rule.
        rule: String,
        /// Why.
        reason: String,
        /// The piece of the command.
        part: String,
    },
    /// The policy refused the directory.
    #[error("{path} is not allowed: {reason}")]
    PathNotAllowed {
        /// The directory.
        path: String,
        /// Why.
        reason: String,
    },
    /// The policy refused the directory that a session is in.
    #[error("session {session} is in {path}, which is not allowed: {reason}")]
    SessionOutside {
        /// The session.
        session: SessionId,
        /// Where it is.
        path: String,
        /// Why.
        reason: String,
    },
    /// A person has limited the sessions in this folder.
    #[error("a person has limited the sessions of an agent in this folder to {limit}")]
    FolderFull {
        /// How many there may be.
        limit: usize,
    },
    /// The agent calls too often.
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
    /// The session is another agent's.
    #[error("session {session} belongs to another agent")]
    Forbidden {
        /// The session.
        session: SessionId,
        /// The caller gave an `agent_id`.
        has_agent_id: bool,
    },
    /// The client was not given the right to it.
    #[error("this needs the scope `{0}`, which the client does not have")]
    MissingScope(Scope),
    /// A person has paused the client.
    #[error("the user has paused this agent: nothing was done")]
    Paused,
    /// The backend has no terminals of ours.
    #[error("these sessions have no screen")]
    NoScreens,
    /// Nothing was named, and nothing is current.
    #[error("the call names no session, and this agent has none")]
    NoCurrentSession,
    /// The session that a name means cannot take a command now.
    #[error("the session named {name:?} is busy: {doing}")]
    NameBusy {
        /// The name.
        name: String,
        /// What keeps it busy.
        doing: String,
    },
    /// The name is another session's.
    #[error("the name {name:?} belongs to session {session}: {why}")]
    NameTaken {
        /// The name.
        name: String,
        /// Whose it is.
        session: SessionId,
        /// Why that one does not do.
        why: String,
    },
    /// The session has ended and cannot be the current one.
    #[error("session {session} has ended; running ones: {living}")]
    NotAlive {
        /// The session.
        session: SessionId,
        /// The shells of the agent that go on.
        living: String,
    },
    /// There is no such command.
    #[error("session {session} has no command {command}")]
    NoCommand {
        /// The session.
        session: SessionId,
        /// The number asked for.
        command: u64,
    },
    /// A session's program has to be a shell that is supported.
    #[error("{0:?} is not a supported shell")]
    NotAShell(String),
    /// A file system gives no answer.
    #[error(transparent)]
    FileSystem(#[from] std::io::Error),
    /// The request makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// The file is larger than what is returned at once.
    #[error("the file has {size} bytes or more; at most {MAX_FILE} are read")]
    FileTooLarge {
        /// Its size.
        size: u64,
    },
    /// The directory that a command was to run in cannot be entered.
    #[error("the session cannot change to {cwd}: {why}")]
    BadDirectory {
        /// The directory.
        cwd: String,
        /// What the shell said.
        why: String,
    },
}
