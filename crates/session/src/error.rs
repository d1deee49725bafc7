//! What can go wrong with a session.

use std::time::Duration;

use termbridge_pty::SpawnError;
use termbridge_vt::input::{KeyError, MouseError};

use crate::id::SessionId;

/// Why a session did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// No session has this id, or no longer.
    #[error("no session {0}")]
    NotFound(SessionId),
    /// The program has ended; its last screen can still be read.
    #[error("the program of session {id} has ended ({how})")]
    Dead {
        /// The session.
        id: SessionId,
        /// How it ended.
        how: String,
    },
    /// The terminal is another program's, which has taken it away.
    #[error("session {id} can no longer be used: {why}")]
    Withdrawn {
        /// The session.
        id: SessionId,
        /// What became of it.
        why: &'static str,
    },
    /// The program could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// A key that does not exist.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// A mouse event that cannot be sent.
    #[error(transparent)]
    Mouse(#[from] MouseError),
    /// The text to click on is not on the screen.
    #[error("{0:?} is not on the screen")]
    TextNotOnScreen(String),
    /// The request makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// A command that a shell is not given: it would not fit.
    #[error("the command has {bytes} bytes; a shell takes at most {most}")]
    CommandTooLong {
        /// What it has.
        bytes: usize,
        /// What it may have.
        most: usize,
    },
    /// A limit of the server.
    #[error("{limit} sessions are open, which is the limit")]
    TooManySessions {
        /// How many may be open.
        limit: usize,
    },
    /// More than can be typed in one piece.
    #[error("{bytes} bytes are too many to type at once; {most} can be")]
    InputTooLong {
        /// Bytes of it.
        bytes: usize,
        /// Bytes that there may be.
        most: usize,
    },
    /// The program does not read what was sent before.
    #[error("{queued} bytes are waiting because the program does not read its input")]
    InputFull {
        /// Bytes in the queue.
        queued: usize,
    },
    /// The program reads a line that the terminal hides, and callers may not type those.
    #[error(
        "the program reads a hidden line, or may come to do so before it reads what is typed; only a \
         person may type that here. What stood before it was typed, nothing else"
    )]
    HiddenLine,
    /// Lines of an earlier call wait for the program.
    #[error("{queued} lines of an earlier call are not typed yet")]
    LinesWaiting {
        /// How many.
        queued: usize,
    },
    /// The shell runs a command.
    #[error("the shell of session {0} is busy")]
    ShellBusy(SessionId),
    /// The shell has not shown its first prompt: its start-up files take long, wait for input, or
    /// start something else.
    #[error(
        "the shell of session {id} has shown no prompt within {} s; its screen:\n{screen}",
        limit.as_secs_f32()
    )]
    ShellNotReady {
        /// The session.
        id: SessionId,
        /// How long it had.
        limit: Duration,
        /// What it shows.
        screen: String,
    },
    /// It was launched as a program: what is typed to it is not told apart as commands.
    #[error("session {0} was launched as a program: it takes keys, not commands")]
    TakesNoCommands(SessionId),
    /// Another program took the shell's place, by `exec`; commands cannot be told apart any more.
    #[error(
        "the shell of session {id} was replaced by {program}, which can be typed to but does not take \
         commands; restart the session to have the shell back"
    )]
    ShellReplaced {
        /// The session.
        id: SessionId,
        /// The program's name.
        program: String,
    },
    /// A person drives it.
    #[error("a person has taken over session {0}")]
    TakenOver(SessionId),
    /// The session is being restarted or stopped by another request.
    #[error("session {0} is being restarted or stopped")]
    Changing(SessionId),
    /// The session's place cannot do that.
    #[error("{0}")]
    NotSupported(String),
    /// The session's place cannot be reached, or not now.
    #[error("{0}")]
    Unavailable(String),
    /// The system refused something it usually grants.
    #[error("{0}")]
    System(String),
    /// The session's task ended without an answer: it panicked, or the session was removed at that
    /// moment.
    #[error("the session was removed before it answered")]
    Gone,
}
