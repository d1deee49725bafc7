//! Where the user's files are: configuration, state, and the folder of the server.

use std::path::PathBuf;

use termbridge_mcp::socket::{FolderError, ServerFolder};

/// `$XDG_CONFIG_HOME/termbridge/config.toml`, or the same under `~/.config`.
pub(crate) fn config_path() -> Option<PathBuf> {
    let base = variable("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")))?;
    Some(base.join("termbridge").join("config.toml"))
}

/// `$XDG_STATE_HOME/termbridge`, or the same under `~/.local/state`.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let base = variable("XDG_STATE_HOME").or_else(|| Some(home()?.join(".local/state")))?;
    Some(base.join("termbridge"))
}

/// What the folder of the user's server is in: `XDG_RUNTIME_DIR`, and on Windows `LOCALAPPDATA`.
fn runtime_folder() -> Option<PathBuf> {
    variable(if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_RUNTIME_DIR" })
}

/// The folder of this user's server, made if it is missing.
pub(crate) fn server_folder() -> Result<ServerFolder, FolderError> {
    ServerFolder::open(runtime_folder().as_deref(), &std::env::temp_dir())
}

/// The same without making anything; `None` if it is missing.
pub(crate) fn find_server_folder() -> Result<Option<ServerFolder>, FolderError> {
    ServerFolder::find(runtime_folder().as_deref(), &std::env::temp_dir())
}

/// The user's home.
pub(crate) fn home() -> Option<PathBuf> {
    // The latter takes a relative one too.
    variable("HOME").or_else(std::env::home_dir).filter(|home| home.is_absolute())
}

/// A directory that the environment names; XDG says to ignore a relative one.
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}
