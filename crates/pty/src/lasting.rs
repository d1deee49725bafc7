//! What a keeper that outlives its server is asked for, and what it has for the next one.
//!
//! Plain data.

use std::path::PathBuf;
use std::time::Duration;

use crate::ExitStatus;

/// A keeper that is found by name and outlives its servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasting {
    /// Its socket, absolute, in a folder that only its owner may enter. A file beside it, with `.lock`
    /// at the end of its name, lets one of several servers start the keeper.
    pub socket: PathBuf,
    /// What to do when another server has it.
    pub claim: Claim,
    /// How long the keeper stays when it holds no program and no server is connected.
    pub linger: Duration,
}

impl Lasting {
    /// Claims a keeper that no other server has, and lets it linger for ten seconds.
    pub fn new(socket: impl Into<PathBuf>) -> Self {
        Self { socket: socket.into(), claim: Claim::IfFree, linger: Duration::from_secs(10) }
    }
}

/// What a server does when another has the keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// It is refused.
    IfFree,
    /// It takes the keeper from the other, which stops reading terminals first.
    TakeOver,
}

/// A program's number, chosen by the keeper, never reused within its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProgramId(pub(crate) u64);

impl std::fmt::Display for ProgramId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A program that a keeper holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldProgram {
    /// By which it is adopted.
    pub id: ProgramId,
    /// The process id, which is also the session's.
    pub pid: i32,
    /// The terminal's name.
    pub tty: String,
    /// As in [`SpawnSpec::label`](crate::SpawnSpec::label); not valid UTF-8 is replaced.
    pub label: String,
    /// How it ended, if it has.
    pub status: Option<ExitStatus>,
    /// The folder that goes with it.
    pub private_folder: Option<PathBuf>,
    /// Whether it has a journal.
    pub has_journal: bool,
    /// Whether the keeper holds a command pipe for it.
    pub has_command_pipe: bool,
}

/// Why a server lost its keeper for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeeperLoss {
    /// Another server took it, with all programs: this one has to stop.
    TakenOver {
        /// The other server's process.
        by: u32,
    },
    /// This server left it, or the connection ended.
    Gone,
}

/// The two kinds of checkpoints in a journal, stored independently of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Checkpoint {
    /// For a terminal's whole state.
    Big,
    /// For what a session knows besides.
    Small,
}

/// Numbers in a journal that change too often for a checkpoint: each is one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Register {
    /// The screen's change counter.
    Seq,
    /// What a reader of the session's output would see anew.
    Printed,
    /// Bytes that were written to the program, counted before each write.
    Written,
}

/// How much a journal can hold. Memory is used only for what it does hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalSize {
    /// Bytes of terminal output, 64 KiB to 1 GiB; rounded up to whole pages, as are the others.
    pub ring: u64,
    /// Bytes of a big checkpoint, up to 1 GiB.
    pub big: u64,
    /// Bytes of a small checkpoint, up to 1 GiB.
    pub small: u64,
}

impl Default for JournalSize {
    fn default() -> Self {
        Self { ring: 16 << 20, big: 64 << 20, small: 16 << 20 }
    }
}
