//! The unix socket of a shared server: for processes of the server's own user.
//!
//! ```text
//! $XDG_RUNTIME_DIR/termbridge/            0700; without XDG_RUNTIME_DIR: /tmp/termbridge-UID
//!     server.lock                         locked (flock) while a server lives; holds its pid
//!     server.sock                         0600
//!     start.lock                          locked while a client starts a server
//!     server.log                          0600, what a server says that a client started
//!     servers/PID.json                    0600, locked while that server lives: where it listens
//! ```
//!
//! A connection carries lines of JSON-RPC, as stdio does. The first line may be a hello ([`Hello`]) of our own shim,
//! which is answered with one; any other first line is the first message. The kernel tells whose process the peer is;
//! one of another user is turned away.
//!
//! One winner: whoever holds the lock owns the socket, so it may replace one that a dead server left. The lock file
//! is never removed, so that nobody locks a file that has lost its name.
//!
//! Windows has the folder (in `LOCALAPPDATA`) and the lock, and no socket: `local`.

mod folder;
mod greeting;
mod hello;
mod listener;
mod local;
mod record;

pub(crate) use folder::private_file;
pub use folder::{FolderError, ServerFolder};
pub use greeting::{Welcome, greet};
pub use hello::Hello;
pub use listener::{
    EditorDoor, EditorStream, ServerLock, SocketError, SocketListener, SocketServer,
};
pub use local::{
    BlockingStream, LocalReader, LocalStream, LocalWriter, check_supported, connect,
    connect_blocking,
};
pub use record::{ServerRecord, records};
