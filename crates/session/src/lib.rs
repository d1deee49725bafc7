//! Terminal sessions: launch, see, type, wait, stop.
//!
//! [`Sessions`] holds every session of a server; a [`Session`] is a cloneable handle to one. Each
//! session has one task that owns its program and its terminal: requests go in over a bounded
//! channel, answers come back, nothing is shared.
//!
//! ```text
//! Session (handle) ── Command ──► session task ──► Program (pty) ──► the program
//!                  ◄── answer ──  │ Terminal (vt) ◄── output ──┘
//!                                 └ pending waits, input queue
//! ```
//!
//! The same engine serves a Rust test that drives a TUI:
//!
//! ```no_run
//! use termbridge_session::{Launch, Sessions, Settings, Wait};
//!
//! # async fn example() -> Result<(), termbridge_session::SessionError> {
//! let sessions = Sessions::new(Settings::default());
//! let vim = sessions.launch(Launch::new("vim").arg("notes.txt").size(80, 24)).await?;
//! vim.wait(Wait::text("notes.txt")).await?;
//! vim.send_keys("iHello<Escape>").await?;
//! assert!(vim.screen().await?.contains("Hello"));
//! vim.send_keys(":wq<Enter>").await?;
//! vim.wait(Wait::exit()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! What is deliberately absent: MCP, JSON, configuration files, printing.

mod command;
mod error;
mod id;
mod info;
mod input;
mod launch;
mod memory;
mod output_store;
mod owner;
mod registry;
mod saved;
mod session;
mod settings;
mod snapshot;
mod subscription;
mod task;
mod turns;
mod typing;
mod wait;

pub use command::{CommandReport, CommandState, NewCommand};
pub use error::SessionError;
pub use id::SessionId;
pub use info::{EndReason, Ended, SessionInfo, ShellInfo, State, Stopped, is_shell_name};
pub use input::{Input, MAX_PAUSE, Mouse, MouseTarget, Sent};
pub use launch::Launch;
pub use memory::release_soon;
pub use owner::Owner;
pub use registry::{Adoption, Sessions};
pub use session::Session;
pub use settings::{SessionLimits, Settings};
pub use snapshot::{Page, Scrollback, Snapshot, SnapshotRequest};
pub use subscription::{Subscription, Update};
pub use termbridge_pty::{
    AttachError, Claim, ExitStatus, Keeper, KeeperLoss, Lasting, ProcessInfo, Signal, SpawnError,
    TerminalLook, Waiting, WaitingPlace, end_process, is_in_foreground, is_running,
    look_at_terminal_of, resident_memory, start_in_own_session, sweep_stale_folders,
    terminal_size_of,
};
/// Where systems differ about files: private ones, which one it is, how a path is written.
pub mod files {
    pub use termbridge_pty::{
        FileStamp, close_folder, grants_others, is_executable, is_own, keep_owner,
        make_private_file, make_private_folder, make_private_folders, open_private_file,
        path_from_bytes, path_to_bytes, real_path, replace_private_file,
    };
}
/// What the system offers and allows, for reports.
pub mod machine {
    pub use termbridge_pty::{descriptor_limit, free_space, own_user};
    #[cfg(target_os = "linux")]
    pub use termbridge_pty::{has_pidfd, landlock_abi};
}
pub use termbridge_shell::{CommandSetup, Shell, command_text};
pub use termbridge_vt as vt;
pub use typing::{Encoded, encode_input, note_typing};
pub use wait::{DEFAULT_TIMEOUT, Fired, Look, Wait, Waited};
