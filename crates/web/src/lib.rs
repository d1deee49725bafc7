//! The HTTP server: MCP over streamable HTTP (`/mcp`) and WebSocket (`/ws`), `/healthz`, `/metrics`.
//!
//! ```text
//! connection ── (TLS) ── hyper ── gate: Host, Origin, token, rate, room ── route ── Endpoint (in `mcp`)
//! ```
//!
//! It knows HTTP, WebSocket and tokens, and nothing of MCP but that an [`Endpoint`](termbridge_mcp::http::Endpoint)
//! answers it. Who is trusted: nobody without a token, not on loopback either, since a page in a browser and other
//! users' programs are there too. Everything a peer can make grow has a bound in [`Limits`].

mod connections;
mod gate;
mod hosts;
mod limits;
mod metrics;
mod principals;
mod server;
mod tls;
mod tokens;
mod websocket;

pub use limits::Limits;
pub use server::{WebError, WebListener, WebServer, WebSettings};
pub use tls::{TlsError, TlsFiles, editor_tls};
pub use tokens::{NewToken, Token, TokenError, TokenStore};
