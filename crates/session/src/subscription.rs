//! Watching a session: what its terminal shows now, then what its program prints.
//!
//! A [`Subscription`] gives a dump that brings any terminal to the same state, then every byte since,
//! in order. It never slows the session down: of a reader that falls behind by [`QUEUE`] pieces the
//! rest is dropped, and a new dump takes its place once it reads on. A new size brings a new dump too,
//! because terminals do not agree on how lines are wrapped anew.

use std::sync::Arc;

use termbridge_vt::Dump;
use tokio::sync::mpsc;

use crate::error::SessionError;
use crate::info::Ended;
use crate::session::Session;

/// Pieces of output that a reader may be behind, each of at most a read or a portion of one.
pub(crate) const QUEUE: usize = 256;

/// What a watcher is told.
#[derive(Debug, Clone)]
pub enum Update {
    /// The whole terminal; whatever came before does not count any more.
    Dump(Arc<Dump>),
    /// What the program printed since.
    Output(Arc<[u8]>),
    /// The program has ended. It may be started again, so more can follow.
    Ended(Ended),
}

/// A watcher's end.
#[derive(Debug)]
pub struct Subscription {
    session: Session,
    updates: mpsc::Receiver<Update>,
}

impl Subscription {
    pub(crate) async fn begin(session: Session) -> Result<Self, SessionError> {
        let updates = session.updates().await?;
        Ok(Self { session, updates })
    }

    /// The next update; `None` once the session is gone. Cancel safe.
    pub async fn next(&mut self) -> Option<Update> {
        loop {
            if let Some(update) = self.updates.recv().await {
                return Some(update);
            }
            // This reader was too slow, or the session is gone.
            self.updates = self.session.updates().await.ok()?;
        }
    }
}
