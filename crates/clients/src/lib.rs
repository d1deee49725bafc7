//! The MCP clients of a machine, termbridge's entry in their configuration, and its skill file.
//!
//! Data flows one way: an [`Environment`] says where things are, [`places`] lists the files of a client,
//! [`Plan::install`] and [`Plan::uninstall`] read one and work out its new text, [`Plan::diff`] shows the change
//! and [`Plan::apply`] writes it.
//!
//! Invariants:
//! - Nothing is printed, asked or read from the process's environment.
//! - A file is edited as text. Comments, order, indentation, line ends and a byte order mark stay as they are, and
//!   a new text whose meaning is not the old one plus or minus the entry is refused.
//! - Installing and then uninstalling gives the same bytes. What install had to create around its entry is known
//!   from the backup that it leaves in [`Environment::backups`].
//! - A file is replaced atomically, at the target of a symbolic link, with its permissions and owner; never if it
//!   is read-only or has changed since the plan was made.
//! - At most [`MAX_FILE_BYTES`] are read of a file.

mod backup;
mod client;
mod diff;
mod entry;
mod environment;
mod error;
mod file;
mod installed;
mod json;
mod mask;
mod place;
mod plan;
mod skill;
mod text;
mod toml;
mod vscode;

pub use client::{Client, UnknownClient};
pub use entry::{Entry, InvalidName, PYPI_PACKAGE};
pub use environment::{Environment, System};
pub use error::{Error, Problem};
pub use file::MAX_FILE_BYTES;
pub use installed::{InstalledEntry, StartKind, installed, installed_for_folders};
pub use mask::{masked, masked_words};
pub use place::{Place, Scope, places};
pub use plan::{Action, Applied, Overwrite, Plan};
pub use skill::SKILL;
