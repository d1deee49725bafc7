//! What the writer's thread and everyone else count together.

use std::collections::HashSet;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::entry::{Entry, State};

/// Started commands that are remembered, so that one whose end is dropped does not seem to run for
/// ever.
const STARTED: usize = 65_536;

/// Counters; `Relaxed` throughout, since none guards anything else.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    queued_bytes: AtomicUsize,
    dropped: AtomicU64,
    failed: AtomicU64,
    written: AtomicU64,
    closing: AtomicBool,
    last_error: Mutex<Option<String>>,
    commands: Mutex<Commands>,
}

#[derive(Debug, Default)]
struct Commands {
    /// Their start is queued or written.
    started: HashSet<String>,
    /// Their end was dropped.
    unfinished: Vec<String>,
}

impl Shared {
    /// Makes room in the queue for that many bytes, if there is any.
    pub(super) fn reserve(&self, bytes: usize, max: usize) -> bool {
        let grow = |queued: usize| (queued == 0 || queued + bytes <= max).then_some(queued + bytes);
        self.queued_bytes.try_update(Ordering::Relaxed, Ordering::Relaxed, grow).is_ok()
    }

    pub(super) fn release(&self, bytes: usize) {
        self.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Called with each entry before it is put in the queue.
    pub(super) fn coming(&self, entry: &Entry) {
        let mut commands = lock(&self.commands);
        if entry.run.state == State::Running && commands.started.len() < STARTED {
            commands.started.insert(entry.run.id.clone());
        }
    }

    /// Called with each entry that is taken from it.
    pub(super) fn taken(&self, entry: &Entry) {
        self.release(entry.bytes());
        if entry.run.state != State::Running {
            lock(&self.commands).started.remove(&entry.run.id);
        }
    }

    /// Called with each entry that found no place in it.
    pub(super) fn dropped(&self, entry: &Entry) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
        let mut commands = lock(&self.commands);
        if commands.started.remove(&entry.run.id) && entry.run.state != State::Running {
            commands.unfinished.push(entry.run.id.clone());
        }
    }

    pub(super) fn take_unfinished(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.commands).unfinished)
    }

    pub(super) fn written(&self, entries: usize) {
        self.written.fetch_add(entries as u64, Ordering::Relaxed);
    }

    pub(super) fn failed(&self, entries: usize) {
        self.failed.fetch_add(entries as u64, Ordering::Relaxed);
    }

    pub(super) fn report(&self, error: &dyn Display) {
        *lock(&self.last_error) = Some(error.to_string());
    }

    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Entries dropped, entries whose batch failed, entries written, and the last error.
    pub(crate) fn counts(&self) -> (u64, u64, u64, Option<String>) {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let last_error = lock(&self.last_error).clone();
        (load(&self.dropped), load(&self.failed), load(&self.written), last_error)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
