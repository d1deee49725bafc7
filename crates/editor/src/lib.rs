//! The editor's side doors: how this server reaches an extension inside an editor.
//!
//! One door so far, the filesystem bridge ([`EditorBridge`]): a call is a folder, the extension finds
//! it, runs the script it names and leaves the answer there.
//!
//! ```no_run
//! use std::time::Duration;
//! use termbridge_editor::{BridgeError, EditorBridge, Settings};
//!
//! # async fn example() -> Result<(), BridgeError> {
//! let bridge = EditorBridge::new(Settings::default());
//! if let Some(host) = bridge.discover("/home/me/project".as_ref()).await? {
//!     let params = serde_json::json!({"path": "src/main.rs", "line": 12});
//!     let timeout = Duration::from_secs(30);
//!     let answer = host.call("breakpoint.set", params, timeout, |_event| {}).await?;
//!     assert!(answer.data["breakpoint"].is_object());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What is deliberately absent: MCP, tool definitions, printing, the environment.

mod fs_bridge;

pub use fs_bridge::{
    BridgeError, EditorBridge, Envelope, Event, EventKind, Found, Host, HostInfo, Liveness, Meta,
    Request, ScriptError, Settings,
};
