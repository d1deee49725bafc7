//! The filesystem bridge: calls to an editor extension through a folder both can see.
//!
//! ```text
//! WORKSPACE/.vsc-bridge/host.json            the extension lives: touched every 5 s
//! WORKSPACE/.vsc-bridge/execute/ID/          one call, made by us, mode 0700
//!     command.json    ours: the script and its arguments, written aside and renamed
//!     claimed.json    whoever creates it first runs the call, the extension or nobody
//!     events.ndjson   the extension's: progress, a line each
//!     response.json | error.json [data.json]
//!     done            the extension's last word
//!     cancel          ours: give up
//! ```
//!
//! A call waits for its folder to change (inotify and its like) with a slow poll beneath, so a round
//! trip does not cost a polling interval, and a file system without notices still works.
//!
//! Who is trusted: a bridge whose folder belongs to this user or to the owner of the workspace; what
//! it writes is data, bounded and parsed leniently.
//!
//! Invariants:
//! - A call nobody claimed in time is claimed by us before it is given up, so it never runs late.
//! - `command.json` is the first file of a folder to go: a half-removed folder is not a call.
//! - A call that ends for whatever reason, its future dropped included, leaves no folder, watch or
//!   descriptor; what the extension still runs is told to stop and holds its place until it has.
//! - No file is touched on a thread of the runtime, except the two small ones that stop a call.

use std::path::PathBuf;

mod answer;
mod bridge;
mod call;
mod clean;
mod clock;
mod error;
mod events;
mod host;
mod job;
mod settings;
mod watch;

pub use answer::{Envelope, Meta};
pub use bridge::{EditorBridge, Found};
pub use call::Request;
pub use error::{BridgeError, ScriptError};
pub use events::{Event, EventKind};
pub use host::{Host, HostInfo, Liveness};
pub use settings::Settings;

/// Runs file work in a folder off the runtime's threads.
async fn blocking<T: Send + 'static>(
    folder: PathBuf,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, BridgeError> {
    Ok(termbridge_foreign_files::off_worker(folder, work).await?)
}
