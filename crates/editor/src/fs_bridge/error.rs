//! What can go wrong with a call, each with the code and the hint an agent gets.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

/// What the script, or the extension for it, answered instead of a result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ScriptError {
    /// The code, as it was given.
    pub code: String,
    /// What happened.
    pub message: String,
    /// More of it, in the script's own shape; null when there is none.
    pub details: Value,
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// No folder above the workspace holds a bridge.
    #[error("no editor bridge at or above {}", .0.display())]
    NotFound(PathBuf),
    /// There is a bridge, but no living extension behind it.
    #[error("the editor bridge at {} is not served: {reason}", bridge.display())]
    Unavailable {
        /// The bridge's folder.
        bridge: PathBuf,
        /// How that is known.
        reason: String,
    },
    /// The editor was closed.
    #[error("the editor that served {} was closed", .0.display())]
    Closed(PathBuf),
    /// The extension lives but did not take the call.
    #[error("the editor did not take the call within {} ms", .0.as_millis())]
    PickupTimeout(Duration),
    /// The script took too long and was told to stop.
    #[error("{script} did not end within {} ms", after.as_millis())]
    Timeout {
        /// The script.
        script: String,
        /// The time it had.
        after: Duration,
    },
    /// The caller gave up.
    #[error("the call was cancelled")]
    Cancelled,
    /// The extension finished the call and left no answer that can be read.
    #[error("the editor finished the call without an answer: {0}")]
    NoResponse(String),
    /// Too many calls at once.
    #[error("{0} calls to the editor are running, which is the limit")]
    Capacity(usize),
    /// The extension refuses calls after too many failures.
    #[error("{message}")]
    CircuitOpen {
        /// What it says.
        message: String,
        /// When to try again.
        retry_after: Option<Duration>,
    },
    /// The answer is too large to be read.
    #[error("the answer has {bytes} bytes, more than {limit}")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The most that is read.
        limit: u64,
    },
    /// The workspace is no folder that can be read.
    #[error("{} is not a readable folder: {reason}", path.display())]
    InvalidPath {
        /// What was asked for.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The arguments are no object.
    #[error("the arguments of a script are an object")]
    InvalidParams,
    /// The script failed, in its own words.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The system refused something it usually grants.
    #[error("the bridge's folder cannot be used: {0}")]
    Io(#[from] std::io::Error),
}

impl BridgeError {
    /// The code of the tool contract; the script's own where the script failed.
    pub fn code(&self) -> &str {
        match self {
            Self::NotFound(_) => "E_BRIDGE_NOT_FOUND",
            Self::Unavailable { .. } | Self::Closed(_) => "E_BRIDGE_UNAVAILABLE",
            Self::PickupTimeout(_) => "E_PICKUP_TIMEOUT",
            Self::Timeout { .. } => "E_TIMEOUT",
            Self::Cancelled => "E_CANCELLED",
            Self::NoResponse(_) => "E_NO_RESPONSE",
            Self::Capacity(_) => "E_CAPACITY",
            Self::CircuitOpen { .. } => "E_CIRCUIT_OPEN",
            Self::TooLarge { .. } => "E_LARGE_DATA",
            Self::InvalidPath { .. } => "E_INVALID_PATH",
            Self::InvalidParams => "E_INVALID_PARAMS",
            Self::Script(error) => &error.code,
            Self::Io(_) => "E_INTERNAL",
        }
    }

    /// What to do next; none where only the script knows.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotFound(_) => {
                "Open the workspace in VS Code with the bridge extension, or use the native backend."
            }
            Self::Unavailable { .. } => {
                "Reload the VS Code window of this workspace, or use the native backend."
            }
            Self::Closed(_) => "Open the workspace in VS Code again, or use the native backend.",
            Self::PickupTimeout(_) => {
                "VS Code is busy or shows a dialog. Look at its window, then try again."
            }
            Self::Timeout { .. } => "Try again with a larger timeoutMs, or look with debug_status.",
            Self::Cancelled => return None,
            Self::NoResponse(_) => "Try again; if it stays, reload the VS Code window.",
            Self::Capacity(_) => "Wait for running calls to end, then try again.",
            Self::CircuitOpen { retry_after: Some(after), .. } => {
                return Some(format!("Try again in {} s.", after.as_secs_f64().ceil()));
            }
            Self::CircuitOpen { .. } => "Try again in a minute.",
            Self::TooLarge { .. } => "Ask for less: a page, a smaller depth, or a file.",
            Self::InvalidPath { .. } => "Give a folder that exists with --workspace.",
            Self::InvalidParams => "Pass the arguments as an object.",
            Self::Script(_) => return None,
            Self::Io(_) => "Check the disk and the permissions of the .vsc-bridge folder.",
        };
        Some(hint.to_owned())
    }

    /// The same call may work later, with nothing changed.
    pub fn retryable(&self) -> bool {
        match self {
            Self::PickupTimeout(_)
            | Self::Timeout { .. }
            | Self::Cancelled
            | Self::NoResponse(_)
            | Self::Capacity(_)
            | Self::CircuitOpen { .. } => true,
            Self::Script(error) => matches!(error.code.as_str(), "E_TIMEOUT" | "E_BUSY"),
            _ => false,
        }
    }
}
