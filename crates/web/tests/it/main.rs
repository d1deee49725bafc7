//! The web server over real connections.

#![cfg(unix)]

mod callers;
mod connections;
mod gate;
mod http;
mod support;
mod tls;
mod websocket;
