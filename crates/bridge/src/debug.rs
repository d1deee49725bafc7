//! Debugging: the scripts of the catalogue, and who runs them.
//!
//! ```text
//! Debuggers ── one for each principal and workspace ─┐
//!     ┌───────────────────────────────────────────────┘
//! Debugging ── docs, status ──► itself
//!     │ paths made absolute
//!     ├── an editor serves the workspace ──► EditorBackend ──► crates/editor
//!     └── else ───────────────────────────► NativeDebugger ──► crates/dap, crates/code
//! ```
//!
//! Both take a script by its alias with the arguments that a caller gave, checked against the
//! catalogue before, and give its data or a [`DebugFailure`] with a code of the catalogue.

pub mod answer;
mod editor;
mod failure;
mod hub;
mod native;
mod place;
mod workspaces;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::caller::Caller;

pub use self::answer::Answer;
pub use self::editor::EditorBackend;
pub use self::failure::DebugFailure;
pub use self::hub::{BackendChoice, DebugAnswer, DebugSettings, Debugging, UnknownBackend};
pub use self::native::{Installed, NativeDebugger};
pub use self::workspaces::{Debuggers, MAX_DEBUGGERS};

/// Where progress goes: a few words, and how much is done, in percent, where that is known.
pub type Progress = Arc<dyn Fn(&str, Option<f64>) + Send + Sync>;

/// A script to run.
#[derive(Clone)]
pub struct DebugCall {
    /// Its alias: `breakpoint.set`.
    pub script: String,
    /// Who calls.
    pub caller: Caller,
    /// The arguments that were given, paths absolute.
    pub arguments: Map<String, Value>,
    /// The time it has.
    pub timeout: Duration,
    /// Nobody waits for it any more.
    pub cancel: CancellationToken,
    /// Told on the way.
    pub progress: Progress,
}

/// Who runs the scripts of the catalogue.
#[async_trait]
pub trait DebugBackend: Send + Sync + 'static {
    /// What it is called in answers.
    fn name(&self) -> &'static str;

    /// Runs a script. It ends soon after the call is cancelled, with `E_CANCELLED`.
    async fn call(&self, call: DebugCall) -> Result<Answer, DebugFailure>;
}
