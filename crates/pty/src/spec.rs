//! What a program is started with.
//!
//! Plain data: nothing here reads the environment or the file system.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::JournalSize;

/// Environment variable that carries [`SpawnSpec::label`] into the program and its descendants.
///
/// The keeper tells by it which program a process came from that left its session and whose
/// parents are gone.
pub const SESSION_VARIABLE: &str = "TERMBRIDGE_SESSION";

/// The size of a terminal in character cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PtySize {
    /// Cells in a row.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

impl Default for PtySize {
    fn default() -> Self {
        Self { cols: 80, rows: 24 }
    }
}

/// A program to start on a terminal of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnSpec {
    /// A path when it holds a slash (relative to `cwd`), else a name searched for in the `PATH`
    /// of `env`. Also the program's `argv[0]`.
    pub program: OsString,
    /// The arguments after `argv[0]`.
    pub args: Vec<OsString>,
    /// The complete environment: nothing is inherited from the server.
    pub env: Vec<(OsString, OsString)>,
    /// Where the program starts; a relative path is taken from the server's own directory.
    pub cwd: PathBuf,
    /// The size of the terminal, set before the program runs.
    pub size: PtySize,
    /// The session's label, given to the program as [`SESSION_VARIABLE`]; not set when empty.
    /// Unique among a keeper's programs, or their detached processes cannot be told apart.
    pub label: String,
    /// A folder made for this program alone, which goes with it: the keeper removes it, with all in
    /// it, when the program is let go of, also when the server that made it was killed.
    pub private_folder: Option<PathBuf>,
    /// A journal for what is read from the terminal, so that the next server can go on where this one
    /// was killed ([`Keeper::lasting`](crate::Keeper::lasting)).
    pub journal: Option<JournalSize>,
    /// A named pipe of ours that the keeper is to hold open too, so that what is in it outlives the
    /// server; given to the next one with the program.
    pub command_pipe: Option<PathBuf>,
}

impl SpawnSpec {
    /// A program with no arguments, an empty environment, at `/`, on an 80×24 terminal.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: PathBuf::from("/"),
            size: PtySize::default(),
            label: String::new(),
            private_folder: None,
            journal: None,
            command_pipe: None,
        }
    }
}
