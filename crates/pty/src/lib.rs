//! Programs on pseudo-terminals, held by a keeper process.
//!
//! [`Keeper::spawn`] starts a program on a terminal of its own and gives a [`Program`]: its bytes
//! out, its bytes in, its size, its signals, its exit. The crate knows nothing of what the bytes
//! mean; that is `termbridge-vt`.
//!
//! # Who does what
//!
//! ```text
//!   server process                          keeper process (same executable, other role)
//!   ┌───────────────────────────┐           ┌──────────────────────────────┐
//!   │ Keeper ─► connection task ├─ socket ──┤ poll loop ─ fork ─► programs │
//!   │ Program ─ PTY master ◄────┼─ fd ──────┤ reaps, stops, surveys        │
//!   └───────────────────────────┘           └──────────────────────────────┘
//! ```
//!
//! * `client` is the server's end: handles, the one task that owns the socket.
//! * `keeper` is the other process: small, single-threaded, the parent and (on Linux) subreaper of every
//!   program. `role` turns an executable into it before `main`.
//! * `protocol` is what passes between them; `wire` moves its frames and descriptors.
//! * `lasting` is what a keeper that outlives its server is asked for; `journal` the shared memory in
//!   which the next server finds what this one read.
//! * `process_table` reads `/proc`, or asks libproc; `sys` wraps the libc calls that rustix lacks.
//! * `runtime_folder` is the server's folder among the temporary files, `command_pipe` a pipe in it;
//!   `files` is where systems differ about files: what only its owner may use, which file it is, paths.
//! * `own_session` is for the processes that other crates start, `processes` what they ask about others; `terminal_look` for
//!   terminals that are not ours; `machine` what the system offers, for reports.
//!
//! # Invariants
//!
//! * Only the keeper forks for programs, so a spawn costs the same however much memory the server holds.
//! * A program's pid is its session id, and neither is reused while a process of the session is left: the
//!   keeper holds the zombie until then. No process is looked for by a number that may have been reused.
//! * When the server is gone, even by `SIGKILL`, a private keeper ends every program and everything
//!   that descends from one, and then itself (on macOS, where orphans do not come to it, those that it can
//!   attribute). A lasting keeper keeps them for the next server; when it
//!   holds none and nobody comes, it ends.
//! * No descriptor of the server or the keeper reaches a program, other than its terminal.
//! * `unsafe` stands in `sys`, `role`, `own_session`, `machine`, `journal::mapping` and the code between fork and exec, nowhere
//!   else in the workspace.

mod error;
mod files;
mod host;
mod lasting;
mod report;
mod signal;
mod spec;
mod terminal_look;

#[cfg(unix)]
mod client;
#[cfg(unix)]
mod command_pipe;
#[cfg(unix)]
mod journal;
#[cfg(unix)]
mod keeper;
#[cfg(unix)]
mod machine;
#[cfg(unix)]
mod own_session;
#[cfg(unix)]
mod process_table;
#[cfg(unix)]
mod processes;
#[cfg(unix)]
mod protocol;
#[cfg(unix)]
mod role;
#[cfg(unix)]
mod runtime_folder;
#[cfg(unix)]
mod sys;
#[cfg(unix)]
mod wire;

#[cfg(not(unix))]
mod unsupported;

#[cfg(unix)]
pub use client::{Keeper, Program};
#[cfg(unix)]
pub use command_pipe::CommandPipe;
pub use error::{AttachError, ControlError, SpawnError};
pub use files::{
    FileStamp, close_folder, grants_others, is_executable, is_own, keep_owner, make_private_file,
    make_private_folder, make_private_folders, open_private_file, path_from_bytes, path_to_bytes,
    real_path, replace_private_file,
};
pub use host::{BoxFuture, ProgramHost};
#[cfg(unix)]
pub use journal::Journal;
pub use lasting::{
    Checkpoint, Claim, HeldProgram, JournalSize, KeeperLoss, Lasting, ProgramId, Register,
};
#[cfg(unix)]
pub use machine::{descriptor_limit, free_space};
#[cfg(target_os = "linux")]
pub use machine::{has_pidfd, landlock_abi};
#[cfg(unix)]
pub use own_session::{end_group, end_process, start_in_own_session};
#[cfg(unix)]
pub use processes::{
    executable_of, is_running, own_user, owner_of, process, processes, resident_memory,
};
pub use report::{ExitStatus, LineMode, ProcessInfo, ProcessStart, StopReport, Survey, Waiting};
#[cfg(unix)]
pub use runtime_folder::{PrivateFolder, RuntimeFolder, sweep_stale_folders};
pub use signal::{Signal, SignalScope, UnknownSignal};
pub use spec::{PtySize, SESSION_VARIABLE, SpawnSpec};
#[cfg(unix)]
pub use sys::release_memory;
pub use terminal_look::{
    TerminalLook, WaitingPlace, is_in_foreground, look_at_terminal_of, terminal_size_of,
};
#[cfg(not(unix))]
pub use unsupported::{
    CommandPipe, Journal, Keeper, PrivateFolder, Program, RuntimeFolder, descriptor_limit,
    end_group, end_process, executable_of, free_space, is_running, own_user, owner_of, process,
    processes, release_memory, resident_memory, start_in_own_session, sweep_stale_folders,
};
