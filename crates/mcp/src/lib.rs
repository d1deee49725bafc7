//! The MCP server: tools over a transport.
//!
//! ```text
//! client ── transport (lines, frames, HTTP; JSON-RPC codes) ── rmcp ── McpServer ── one file per tool ── Sessions
//! ```
//!
//! A call's arguments are validated against the tool's schema before anything runs; an answer is text
//! for the model and the same as structured content; an error has a code, a message and a hint that
//! names the next action. Wire types live here and only here.

mod advice;
mod again;
mod bound;
mod calls;
pub mod client;
mod client_instances;
mod debug;
mod error;
pub mod http;
mod identity;
mod lenient;
mod metrics;
mod offered;
mod prompts;
mod resources;
mod schema;
mod scope;
mod server;
pub mod shim;
pub mod socket;
mod stdio;
mod structured;
mod subscriptions;
mod tasks;
mod told;
mod tool;
mod tools;
mod toolset;
mod transport;
mod validate;
mod view;

pub use calls::Calls;
pub use error::ToolError;
pub use identity::{Identity, Proof};
pub use metrics::Metrics;
pub use rmcp::model::{CallToolResult, Tool as ToolDefinition};
pub use scope::{Scope, UnknownScope};
pub use server::{McpServer, ServeError};
pub use stdio::{StdioReader, StdioWriter, stdio};
pub use structured::{Structured, UnknownStructured};
pub use termbridge_bridge::{Bridge, Client, DebugSettings, NativeBackend, TerminalBackend};
pub use toolset::{Offer, Toolset, UnknownTool, UnknownToolset};
pub use transport::frames::{FrameEnds, Frames};
