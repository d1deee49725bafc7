//! The server's end: the handle that starts programs.
//!
//! [`Keeper`] starts the keeper process with the first spawn and talks to it through a
//! [`link::Link`], whose other end is the one task that owns the socket ([`connection`]).
//! [`Program`] is one program and its terminal. A keeper that died is noticed by the task; the
//! next spawn starts another.
//!
//! No lock is held across an await: the mutex here guards the making of a link, which is
//! `posix_spawn` and takes about a millisecond.

mod aftermath;
mod connection;
mod link;
mod process;
mod program;
mod translate;

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::protocol::{Request, RequestId};
use crate::{SpawnError, SpawnSpec};
use link::{Answer, Link, NoAnswer};

pub use program::Program;

/// How long the keeper may take to answer what needs no waiting.
const REPLY_LIMIT: Duration = Duration::from_secs(10);

/// How long the keeper may take beyond the grace to end everything.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(15);

/// Descriptors that a new program leaves free: what runs cannot be looked at without any.
const SPARE: usize = 12;

/// Whether there are so many free descriptors.
fn room_for(count: usize) -> io::Result<()> {
    let null = File::open("/dev/null")?;
    (0..count).map(|_| null.try_clone()).collect::<io::Result<Vec<_>>>().map(drop)
}

/// Starts programs on terminals, each held by one keeper process.
///
/// Clones share the keeper. It is started with the first spawn and needs a Tokio runtime with I/O
/// and time enabled, the same one as long as the keeper lives. When every clone and every
/// [`Program`] is dropped, or the runtime ends, or this process dies, the keeper ends all that it
/// started, processes that detached themselves included; [`Keeper::shutdown`] does so in order.
#[derive(Debug, Clone, Default)]
pub struct Keeper {
    link: Arc<Mutex<Option<Link>>>,
}

impl Keeper {
    /// A handle; no process yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a program; returns once it runs, or with why it does not.
    ///
    /// Cancel safe: a program whose future was dropped is ended.
    pub async fn spawn(&self, spec: SpawnSpec) -> Result<Program, SpawnError> {
        let spawn = translate::to_wire(&spec)?;
        room_for(SPARE).map_err(|source| {
            SpawnError::descriptor_limit(source)
                .unwrap_or_else(|source| SpawnError::Terminal { source })
        })?;
        let link = self.link()?;
        let request = link.next_request();
        let frame = Request::Spawn { request, spawn: spawn.clone() }
            .encode()
            .map_err(|_| SpawnError::TooLarge)?;
        let label = spec.label.clone();
        match link.ask(request, frame, label, REPLY_LIMIT).await {
            Ok(Answer::Launched(launched)) => Program::new(launched, link),
            Ok(Answer::SpawnFailed { failure, errno, path }) => {
                Err(translate::spawn_error(&spec, &spawn, failure, errno, &path))
            }
            Err(NoAnswer::Silent(limit)) => Err(SpawnError::KeeperSilent { limit }),
            Ok(_) | Err(NoAnswer::Gone) => Err(SpawnError::KeeperGone),
        }
    }

    /// Ends every program and whatever descends from one, detached processes included: hangup
    /// and `SIGTERM`, the grace, then `SIGKILL`. Returns when all are gone and the keeper too.
    ///
    /// A later spawn starts a new keeper.
    pub async fn shutdown(&self, grace: Duration) {
        let taken = self.link.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(link) = taken else { return };
        let request = link.next_request();
        let grace_ms = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
        let limit = grace.saturating_add(SHUTDOWN_LIMIT);
        if let Ok(frame) = (Request::Shutdown { request, grace_ms }).encode() {
            let _ = link.ask(request, frame, String::new(), limit).await;
        }
        link.ended(REPLY_LIMIT).await;
    }

    /// The keeper's process id, while there is one.
    pub fn pid(&self) -> Option<u32> {
        let link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        link.as_ref().filter(|link| link.is_open()).map(Link::keeper_pid)
    }

    /// The link to the keeper, which is started if there is none.
    fn link(&self) -> Result<Link, SpawnError> {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = link.as_ref().filter(|link| link.is_open()) {
            return Ok(open.clone());
        }
        let started = connection::start().map_err(translate::start_error)?;
        Ok(link.insert(started).clone())
    }
}
