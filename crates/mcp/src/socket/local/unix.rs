//! Unix sockets; the kernel tells whose process the other end is.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tokio::net::UnixListener;

pub use std::os::unix::net::UnixStream as BlockingStream;
pub use tokio::net::UnixStream as LocalStream;
pub use tokio::net::unix::{OwnedReadHalf as LocalReader, OwnedWriteHalf as LocalWriter};

use crate::socket::folder::own_user;

/// Whether this system has them; why not, where it has none.
pub fn check_supported() -> io::Result<()> {
    Ok(())
}

/// Connects to a socket.
pub async fn connect(path: &Path) -> io::Result<LocalStream> {
    LocalStream::connect(path).await
}

/// Connects to a socket, for whoever may block.
pub fn connect_blocking(path: &Path) -> io::Result<BlockingStream> {
    BlockingStream::connect(path)
}

/// A bound socket.
#[derive(Debug)]
pub(in crate::socket) struct Listener {
    listener: UnixListener,
    user: u32,
}

impl Listener {
    pub(in crate::socket) fn bind(path: &Path) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        // Until here the folder alone keeps others out.
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        Ok(Self { listener, user: own_user()? })
    }

    /// The next connection; `None` for one of another user, which is refused.
    pub(in crate::socket) async fn accept(&self) -> io::Result<Option<LocalStream>> {
        let (stream, _) = self.listener.accept().await?;
        match stream.peer_cred() {
            Ok(peer) if is_admitted(peer.uid(), self.user) => return Ok(Some(stream)),
            Ok(peer) => tracing::warn!(uid = peer.uid(), "a process of another user was refused"),
            Err(error) => tracing::warn!(%error, "a process of an unknown user was refused"),
        }
        Ok(None)
    }
}

/// Only the server's own user is; root could take what it wants anyway, but is another principal.
fn is_admitted(peer: u32, own: u32) -> bool {
    peer == own
}

#[cfg(test)]
mod tests {
    use super::is_admitted;

    #[test]
    fn only_the_own_user_is_admitted() {
        for (peer, own, admitted) in
            [(1000, 1000, true), (1001, 1000, false), (0, 1000, false), (1000, 0, false)]
        {
            assert_eq!(is_admitted(peer, own), admitted, "{peer} at {own}'s");
        }
    }
}
