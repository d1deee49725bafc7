//! [`DebugFailure`]: why a script has no data.

use std::time::Duration;

use serde_json::Value;
use termbridge_code::CodeError;
use termbridge_dap::DebugError;

use crate::error::BridgeError;

/// Why a script has no data, in the words of the catalogue.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("[{code}] {message}")]
pub struct DebugFailure {
    /// A code of the catalogue, or of a workspace's own script.
    pub code: String,
    /// What happened.
    pub message: String,
    /// What to do next, where it is known here; else the catalogue's words for the code hold.
    pub hint: Option<String>,
    /// More of it, in the script's own shape.
    pub details: Option<Value>,
}

impl DebugFailure {
    /// A failure with this code.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), hint: None, details: None }
    }

    /// With what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn cancelled() -> Self {
        Self::new("E_CANCELLED", "the request was cancelled")
    }

    pub(crate) fn timeout(script: &str, after: Duration) -> Self {
        let after = after.as_millis();
        Self::new("E_TIMEOUT", format!("{script} did not end within {after} ms"))
            .hint("call again, with a larger timeoutMs where the tool takes one")
    }

    /// A script that only an editor runs.
    pub(crate) fn editor_only(script: &str) -> Self {
        let message = format!("{script} needs an editor, and none is connected to this workspace");
        Self::new("E_BRIDGE_UNAVAILABLE", message)
            .hint("open the workspace in VS Code with the bridge extension; bridge_status tells")
    }
}

impl From<DebugError> for DebugFailure {
    fn from(error: DebugError) -> Self {
        Self::new(error.code(), error.to_string()).hint(error.hint())
    }
}

/// The file system did not answer in time.
impl From<std::io::Error> for DebugFailure {
    fn from(error: std::io::Error) -> Self {
        Self::new("E_INTERNAL", error.to_string()).hint("try again, or use files on a local disk")
    }
}

impl From<CodeError> for DebugFailure {
    fn from(error: CodeError) -> Self {
        Self::new(error.code(), error.to_string()).hint(error.hint())
    }
}

/// What the policy refused: no code of the catalogue says that, so those of the terminal tools do.
impl From<BridgeError> for DebugFailure {
    fn from(error: BridgeError) -> Self {
        let (code, hint) = match error {
            BridgeError::Blocked { .. } => (
                "COMMAND_BLOCKED",
                "do it another way, or ask the user: only they can change the rules",
            ),
            BridgeError::PathNotAllowed { .. } | BridgeError::SessionOutside { .. } => {
                ("PATH_NOT_ALLOWED", "use a directory that is allowed")
            }
            BridgeError::FileSystem(error) => return error.into(),
            _ => ("E_INTERNAL", "see the server's log"),
        };
        Self::new(code, error.to_string()).hint(hint)
    }
}

impl From<termbridge_editor::BridgeError> for DebugFailure {
    fn from(error: termbridge_editor::BridgeError) -> Self {
        let details = match &error {
            termbridge_editor::BridgeError::Script(script) if !script.details.is_null() => {
                Some(script.details.clone())
            }
            _ => None,
        };
        Self {
            code: error.code().to_owned(),
            message: error.to_string(),
            hint: error.hint(),
            details,
        }
    }
}
