//! Sockets between processes of one user: Unix sockets, and elsewhere none.
//!
//! Windows has them in another form, which neither the standard library nor Tokio offers. A port in their place would
//! be open to every user of the machine, so there a connection is refused, and only a server with tokens listens (HTTP).

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod unsupported;

#[cfg(unix)]
use unix as system;
#[cfg(not(unix))]
use unsupported as system;

pub(super) use system::Listener;
pub use system::{
    BlockingStream, LocalReader, LocalStream, LocalWriter, check_supported, connect,
    connect_blocking,
};
