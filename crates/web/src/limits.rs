//! What a peer may take.

use std::time::Duration;

use termbridge_bridge::policy::RateLimit;

/// The bounds of the web server.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of a request's body, and of a WebSocket message.
    pub max_body: usize,
    /// Bytes of a request's line and headers.
    pub max_headers: usize,
    /// How long headers may take to come, from the connection's beginning or the last answer's end: a connection
    /// that is idle is closed after this too.
    pub header_time: Duration,
    /// How long a body may take to come.
    pub body_time: Duration,
    /// How long a TLS handshake may take.
    pub handshake_time: Duration,
    /// Connections at once. A further one takes the place of the oldest that has not shown a valid token, or waits
    /// where there is none.
    pub max_connections: usize,
    /// Requests, streams and WebSocket connections of one token at once.
    pub max_per_token: usize,
    /// How many requests a token may make.
    pub rate: RateLimit,
    /// How often a WebSocket is pinged.
    pub ping_interval: Duration,
    /// A WebSocket from which nothing came for this long is closed.
    pub silence: Duration,
    /// How long a WebSocket's peer may take to read a message.
    pub write_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body: 4 * 1024 * 1024,
            max_headers: 64 * 1024,
            header_time: Duration::from_secs(5),
            body_time: Duration::from_secs(30),
            handshake_time: Duration::from_secs(10),
            max_connections: 1024,
            max_per_token: 256,
            rate: RateLimit { calls: 10_000, per_seconds: 10 },
            ping_interval: Duration::from_secs(20),
            silence: Duration::from_mins(1),
            write_time: Duration::from_secs(30),
        }
    }
}
