//! A connection as text messages, whatever carries them: a WebSocket ([`websocket`]) or lines on a socket ([`lines`]).
//!
//! Invariants:
//! - [`MessageReader::next`] can be dropped at any time without losing a message.
//! - A message is at most [`MAX_MESSAGE`] bytes; a longer one ends the connection, whatever carries it.

mod lines;
mod websocket;

use std::future::Future;
use std::io;

pub use lines::{LineReader, LineWriter, lines};
pub(crate) use websocket::websocket;

/// Longest message, either way.
pub const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// What a reader got.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    /// A message.
    Message(String),
    /// Something that is no message, and is skipped.
    Skipped(&'static str),
    /// One that is longer than [`MAX_MESSAGE`].
    TooLong,
    /// The other side has closed the connection.
    Closed,
}

/// The incoming half of a connection.
pub trait MessageReader: Send {
    /// The next message.
    fn next(&mut self) -> impl Future<Output = io::Result<Received>> + Send;
}

/// The outgoing half of a connection.
pub trait MessageWriter: Send {
    /// Writes a message and flushes.
    fn send(&mut self, message: String) -> impl Future<Output = io::Result<()>> + Send;

    /// Says goodbye.
    fn close(&mut self) -> impl Future<Output = io::Result<()>> + Send;
}
