//! The two ways between this server and an extension inside an editor.
//!
//! A connection that the extension makes ([`EditorListener`], [`serve`]): the server runs commands in the editor's
//! terminals ([`Terminals`]) and shows it its own sessions ([`Windows`]). `docs/editor-protocol.md` has the messages.
//!
//! The filesystem bridge ([`EditorBridge`]), for debugging: a call is a folder, the extension finds it, runs the script it
//! names and leaves the answer there.
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

mod channel;
mod connection;
mod fs_bridge;
mod greeting;
mod message;
mod peer;
mod server;
mod sockets;
mod terminals;
mod window;

pub use channel::{
    LineReader, LineWriter, MAX_MESSAGE, MessageReader, MessageWriter, Received, lines,
};
pub use connection::{Admission, EditorService, GREETING_PAUSE, PING_INTERVAL, TokenCheck, serve};
pub use fs_bridge::{
    BridgeError, EditorBridge, Envelope, Event, EventKind, Found, Host, HostInfo, Liveness, Meta,
    Request, ScriptError, Settings,
};
pub use message::Reply;
pub use peer::{MAX_REQUESTS, Peer, PeerError, PeerId, QUEUE, REPLY_LIMIT};
pub use server::{
    DEFAULT_PORT, EditorListener, HANDSHAKE_LIMIT, ListenError, MAX_CONNECTIONS, ServerSettings,
    Stream, TlsAccept,
};
pub use sockets::holder_of;
pub use terminals::{TerminalEvent, Terminals};
pub use window::{
    Hello, NOTICES_BEFORE_WELCOME, NoSessionsShown, PROTOCOL, Refused, Welcome, Window, Windows,
    WrongSetting,
};
