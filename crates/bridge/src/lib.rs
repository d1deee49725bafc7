//! The boundary between who asks and what runs: requests in, answers out.
//!
//! ```text
//! tools ──► Bridge ──► policy (may it run?) ──► choice of a session ──► TerminalBackend ──► a shell
//!             └──────────────── history ◄── a task that waits for the command's end ◄────┘
//! ```
//!
//! [`TerminalBackend`] is what a terminal has to offer: shells that run one command at a time and tell
//! where each ends. [`NativeBackend`] is ours, on real terminals; another implementation serves the
//! same tools (`McpServer::with_backend`). Where its sessions have screens, [`Screens`] offers them. [`Bridge`] has
//! one backend or several side by side, leads each call to the one that has the session, and adds what is the
//! same for all of them: which session an agent gets, what may run, and the history.
//!
//! Invariants:
//! - A command passes the policy before anything is started for it, whichever way it came.
//! - Every operation on a session takes a [`Caller`]; what a session is to one is decided in `caller` alone.
//! - Nothing here waits for the history.
//!
//! What is deliberately absent: MCP, JSON, configuration files, printing.

mod adopted;
mod agents;
mod backend;
mod backends;
mod caller;
mod checks;
pub mod debug;
mod directories;
mod editor_terminals;
mod error;
mod execute;
mod files;
mod folder_limits;
mod follower;
mod guard;
mod history;
mod hub;
mod native;
mod output;
mod pausing;
mod recorded;
mod scopes;
mod screens;
mod settings;
mod transcript;

pub use agents::Pick;
pub use backend::{Awaited, CommandWait, NewSession, OwnerFilter, TerminalBackend, Until};
pub use backends::Listed;
pub use caller::{Access, Caller, Client, Environment};
pub use debug::{
    Answer, BackendChoice, DebugAnswer, DebugBackend, DebugCall, DebugFailure, DebugSettings,
    Debuggers, Debugging, EditorBackend, Installed, MAX_DEBUGGERS, NativeDebugger, Progress,
    UnknownBackend,
};
pub use editor_terminals::{EDITOR_TARGET, EditorTerminals, FirstUse};
pub use error::BridgeError;
pub use execute::{Execute, Moved, Started};
pub use files::{FileContents, FileEntry, MAX_DIRECTORY, MAX_FILE};
pub use folder_limits::{FolderLimiting, FolderLimits};
pub use history::HistoryPlace;
pub use hub::Bridge;
pub use native::NativeBackend;
pub use output::{Bounded, OutputPlace};
pub use recorded::Recorded;
pub use scopes::{Scope, Scopes, UnknownScope};
pub use screens::{ScreenHandle, ScreenSession, Screens, Waiting};
pub use settings::{BridgeSettings, SHELLS};
pub use termbridge_catalog as catalog;
pub use termbridge_code as code;
pub use termbridge_dap as dap;
pub use termbridge_editor as editor;
pub use termbridge_policy as policy;
pub use termbridge_session as session;
pub use termbridge_store as store;
pub use transcript::{OutputPage, OutputRequest, OutputWait, ReadFrom, Select};
