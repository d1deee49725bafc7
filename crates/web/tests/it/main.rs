//! The web server over real connections.

mod callers;
mod connections;
mod gate;
mod http;
mod support;
mod tls;
mod websocket;
