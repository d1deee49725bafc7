//! The servers that run: one for a language and a project, started when they are needed.
//!
//! A [`Slot`] holds a server, and calls to it take turns; a server that died is started again by the
//! next. There are at most [`MAX_SERVERS`]: when another is needed, the one that was not used for
//! the longest time ends, and when all are busy the call waits for one. A task ends those that were
//! not used for a while. What runs ends with the pool: the processes are the slots'.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use termbridge_dap::Environment;
use tokio::sync::{Notify, OwnedMutexGuard};
use tokio::time::Instant;

use super::language::Language;
use super::server::{Deadline, Process, Server, take};
use crate::CodeError;

/// Servers that run at once.
pub(crate) const MAX_SERVERS: usize = 4;

type Key = (Language, PathBuf);

#[derive(Debug)]
pub(crate) struct Pool {
    environment: Environment,
    idle_limit: Duration,
    slots: Mutex<HashMap<Key, Arc<Slot>>>,
    /// Told when a turn ends.
    freed: Arc<Notify>,
}

#[derive(Debug)]
struct Slot {
    server: Arc<tokio::sync::Mutex<Option<Server>>>,
    process: Process,
    used: Mutex<Instant>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        drop(take(&self.process));
    }
}

/// A server for as long as one call takes.
pub(crate) struct Turn {
    server: OwnedMutexGuard<Option<Server>>,
    slot: Arc<Slot>,
    freed: Arc<Notify>,
}

impl Turn {
    /// The server.
    pub(crate) fn server(&mut self) -> Result<&mut Server, CodeError> {
        let gone = || CodeError::Internal("the language server was ended".to_owned());
        self.server.as_mut().ok_or_else(gone)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.slot.touch();
        // A permit for one that is about to wait: it looks again in any case.
        self.freed.notify_one();
    }
}

impl Slot {
    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_free(&self) -> bool {
        self.server.try_lock().is_ok()
    }
}

impl Pool {
    pub(crate) fn new(environment: Environment, idle_limit: Duration) -> Self {
        Self { environment, idle_limit, slots: Mutex::default(), freed: Arc::default() }
    }

    /// An empty pool with another limit.
    pub(crate) fn with_idle_limit(&self, limit: Duration) -> Self {
        Self::new(self.environment.clone(), limit)
    }

    /// A turn with the server of a project, started if it does not run.
    pub(crate) async fn turn(
        self: &Arc<Self>,
        language: Language,
        root: &Path,
        deadline: Deadline,
    ) -> Result<Turn, CodeError> {
        let slot = self.slot((language, root.to_owned()), deadline).await?;
        let lock =
            tokio::time::timeout_at(deadline.at, Arc::clone(&slot.server).lock_owned()).await;
        let busy = || format!("the language server of {} was not free", language.name());
        let mut server = lock.map_err(|_| deadline.missed(busy()))?;
        slot.touch();
        if server.as_ref().is_none_or(|server| !server.is_alive()) {
            // The old one goes first: both have one place for their process.
            *server = None;
            let process = Arc::clone(&slot.process);
            let started = Server::start(language, root, &self.environment, process, deadline).await;
            match started {
                Ok(started) => *server = Some(started),
                Err(error) => {
                    drop(server);
                    self.forget(&slot);
                    return Err(error);
                }
            }
        }
        Ok(Turn { server, slot, freed: Arc::clone(&self.freed) })
    }

    /// Ends every server and waits until their processes are gone; calls under way fail.
    pub(crate) async fn shutdown(&self) {
        let slots: Vec<_> = self.lock().drain().map(|(_, slot)| slot).collect();
        let processes = slots.iter().filter_map(|slot| take(&slot.process));
        for process in processes.collect::<Vec<_>>() {
            process.end().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place of a server, made by the end of another where there are too many.
    async fn slot(self: &Arc<Self>, key: Key, deadline: Deadline) -> Result<Arc<Slot>, CodeError> {
        loop {
            if let Some(slot) = self.find_or_make(&key) {
                return Ok(slot);
            }
            let freed = tokio::time::timeout_at(deadline.at, self.freed.notified()).await;
            let busy = || format!("none of {MAX_SERVERS} busy language servers was free");
            freed.map_err(|_| deadline.missed(busy()))?;
        }
    }

    fn find_or_make(self: &Arc<Self>, key: &Key) -> Option<Arc<Slot>> {
        let mut slots = self.lock();
        if let Some(slot) = slots.get(key) {
            return Some(Arc::clone(slot));
        }
        if slots.len() >= MAX_SERVERS {
            let free = slots.iter().filter(|(_, slot)| slot.is_free());
            let oldest = free.min_by_key(|(_, slot)| slot.used()).map(|(key, _)| key.clone())?;
            tracing::debug!(root = %oldest.1.display(), "language server ends for another");
            slots.remove(&oldest);
        }
        if slots.is_empty() {
            tokio::spawn(end_idle(Arc::downgrade(self), self.idle_limit));
        }
        let slot = Arc::new(Slot {
            server: Arc::default(),
            process: Process::default(),
            used: Mutex::new(Instant::now()),
        });
        slots.insert(key.clone(), Arc::clone(&slot));
        Some(slot)
    }

    /// Gives up the place of a server that did not start.
    fn forget(&self, slot: &Arc<Slot>) {
        self.lock().retain(|_, other| !Arc::ptr_eq(other, slot));
        self.freed.notify_one();
    }
}

/// Ends servers that are not used, until none is left.
async fn end_idle(pool: Weak<Pool>, limit: Duration) {
    loop {
        tokio::time::sleep(limit / 4).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut slots = pool.lock();
        slots.retain(|_, slot| !slot.is_free() || slot.used().elapsed() < limit);
        if slots.is_empty() {
            return;
        }
    }
}
