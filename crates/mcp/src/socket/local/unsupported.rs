//! No sockets: nothing listens, and a connection is refused. The types are those of connections that are never made.

use std::io;
use std::path::Path;

pub use std::net::TcpStream as BlockingStream;
pub use tokio::net::TcpStream as LocalStream;
pub use tokio::net::tcp::{OwnedReadHalf as LocalReader, OwnedWriteHalf as LocalWriter};

/// Why not, and what to do.
const WHY: &str = "NOT_SUPPORTED: there are no sockets for a shared server on this system; run termbridge inside WSL for them";

/// Whether this system has them; why not, where it has none.
pub fn check_supported() -> io::Result<()> {
    Err(refused())
}

/// Connects to a socket: here that is refused.
#[expect(clippy::unused_async, reason = "as where there are sockets")]
pub async fn connect(_path: &Path) -> io::Result<LocalStream> {
    Err(refused())
}

/// Connects to a socket: here that is refused.
pub fn connect_blocking(_path: &Path) -> io::Result<BlockingStream> {
    Err(refused())
}

fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, WHY)
}

/// What stands for a bound socket: nobody connects.
#[derive(Debug)]
pub(in crate::socket) struct Listener;

impl Listener {
    #[expect(clippy::unnecessary_wraps, reason = "as where there are sockets")]
    pub(in crate::socket) fn bind(_path: &Path) -> io::Result<Self> {
        Ok(Self)
    }

    pub(in crate::socket) async fn accept(&self) -> io::Result<Option<LocalStream>> {
        std::future::pending().await
    }
}
