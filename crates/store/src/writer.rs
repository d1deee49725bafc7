//! The one thread that writes.
//!
//! Entries come over a bounded queue and are committed in batches: at most [`BATCH_WAIT`] after the
//! first of a batch came, or when [`BATCH_ENTRIES`] or [`BATCH_BYTES`] are together. Two entries
//! with one id in a batch are one write, so a short command costs one. What is committed survives
//! `kill -9`; what is queued does not.
//!
//! Between batches the thread deletes what retention no longer allows, a step at a time. It ends
//! when the queue is closed and empty, and marks what this server leaves running.

mod batch;
mod retention;
mod shared;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel,
};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::entry::Entry;
use crate::error::{Kind, StoreError};
use crate::limits::Limits;
use crate::open::{Live, Place};

use batch::Batch;
pub(crate) use shared::Shared;

/// How long an entry waits for others.
const BATCH_WAIT: Duration = Duration::from_millis(50);
/// Entries of one transaction.
const BATCH_ENTRIES: usize = 1024;
/// Bytes of one transaction.
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// How often a batch is tried while another process holds the file.
const BUSY_ATTEMPTS: u32 = 5;
/// How often a quiet writer looks for dead servers and old entries.
const TICK: Duration = Duration::from_secs(30);

enum Message {
    Record(Box<Entry>),
    Flush(SyncSender<()>),
    /// A fault, for tests of what it leaves behind.
    #[cfg(test)]
    Panic,
}

/// The sending side.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
    limits: Limits,
}

impl Writer {
    pub(crate) fn start(
        connection: Connection,
        place: Place,
        live: Option<Live>,
        limits: Limits,
    ) -> Result<Self, StoreError> {
        let (queue, messages) = sync_channel(limits.queue_entries.max(1));
        let shared = Arc::new(Shared::default());
        let task = Task {
            connection,
            place,
            live,
            limits: limits.clone(),
            messages,
            shared: Arc::clone(&shared),
            prune: true,
            last_seq: 0,
        };
        let thread = std::thread::Builder::new()
            .name("history".to_owned())
            .spawn(move || task.run())
            .map_err(StoreError::Thread)?;
        Ok(Self { queue: Some(queue), thread: Some(thread), shared, limits })
    }

    /// Puts an entry in the queue, or counts that it could not.
    pub(crate) fn record(&self, entry: Entry) -> bool {
        let Some(queue) = &self.queue else { return false };
        let entry = Box::new(entry.bounded(&self.limits));
        let bytes = entry.bytes();
        self.shared.coming(&entry);
        if !self.shared.reserve(bytes, self.limits.queue_bytes) {
            self.shared.dropped(&entry);
            return false;
        }
        match queue.try_send(Message::Record(entry)) {
            Ok(()) => true,
            Err(TrySendError::Full(message) | TrySendError::Disconnected(message)) => {
                self.shared.release(bytes);
                if let Message::Record(entry) = message {
                    self.shared.dropped(&entry);
                }
                false
            }
        }
    }

    /// Waits until what was recorded before is committed or given up.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        let (done, finished) = sync_channel(1);
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(Message::Flush(done)).map_err(|_| StoreError::Closed)?;
        self.wake();
        let patience = self.limits.busy_timeout * (BUSY_ATTEMPTS + 1) + Duration::from_secs(30);
        finished.recv_timeout(patience).map_err(|error| match error {
            RecvTimeoutError::Timeout => StoreError::Busy,
            RecvTimeoutError::Disconnected => StoreError::Closed,
        })
    }

    /// Ends the thread's wait for the rest of a batch.
    fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }

    #[cfg(test)]
    pub(crate) fn panic(&self) {
        let queue = self.queue.as_ref().expect("open");
        queue.send(Message::Panic).expect("the writer lives");
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.close();
        self.queue = None;
        self.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Task {
    connection: Connection,
    place: Place,
    live: Option<Live>,
    limits: Limits,
    messages: Receiver<Message>,
    shared: Arc<Shared>,
    /// Entries may be over the limits.
    prune: bool,
    /// Where the last entry went: the first place to look for a free one.
    last_seq: i64,
}

impl Task {
    fn run(mut self) {
        let mut next_tick = Instant::now() + TICK;
        loop {
            let patience = if self.prune { Duration::ZERO } else { TICK };
            match self.messages.recv_timeout(patience) {
                Ok(message) => self.write_surviving(message),
                Err(RecvTimeoutError::Timeout) => self.prune = self.prune_step(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if Instant::now() >= next_tick {
                next_tick = Instant::now() + TICK;
                self.prune = true;
                self.sweep();
            }
        }
        if let Some(live) = &self.live
            && let Err(error) = live.end(&self.connection)
        {
            self.report(&error);
        }
    }

    /// Writes a batch; a panic loses that batch and its transaction, not the thread.
    fn write_surviving(&mut self, first: Message) {
        if catch_unwind(AssertUnwindSafe(|| self.write(first))).is_err() {
            self.shared.report(&"an internal fault: a batch of entries was lost");
        }
    }

    /// Gathers a batch that begins with `first` and commits it.
    fn write(&mut self, first: Message) {
        let deadline = Instant::now() + BATCH_WAIT;
        let mut batch = Batch::default();
        let mut flush = None;
        let mut next = Some(first);
        while let Some(message) = next.take() {
            match message {
                Message::Record(entry) => {
                    self.shared.taken(&entry);
                    batch.add(*entry);
                }
                Message::Flush(done) => {
                    flush = Some(done);
                    break;
                }
                #[cfg(test)]
                Message::Panic => panic!("a fault on request"),
            }
            if batch.entries() >= BATCH_ENTRIES || batch.bytes() >= BATCH_BYTES {
                break;
            }
            next = self.next_before(deadline);
        }
        self.commit(batch);
        // A steady stream of entries must not keep retention from its turn.
        self.prune = self.prune_step();
        if let Some(done) = flush {
            while self.prune {
                self.prune = self.prune_step();
            }
            let _ = done.try_send(());
        }
    }

    /// The next message of a batch. Senders of entries do not wake the thread while it gathers.
    fn next_before(&self, deadline: Instant) -> Option<Message> {
        loop {
            match self.messages.try_recv() {
                Ok(message) => return Some(message),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => {}
            }
            let left = deadline.checked_duration_since(Instant::now())?;
            std::thread::park_timeout(left);
        }
    }

    fn commit(&mut self, batch: Batch) {
        let unfinished = self.shared.take_unfinished();
        if batch.entries() == 0 && unfinished.is_empty() {
            return;
        }
        let server = self.live.as_ref().map_or("", Live::name);
        for attempt in 1.. {
            match batch.commit(
                &mut self.connection,
                &self.limits,
                server,
                self.last_seq,
                &unfinished,
            ) {
                Ok(last_seq) => {
                    self.last_seq = last_seq;
                    return self.shared.written(batch.entries());
                }
                Err(error) => {
                    let busy = Kind::of(&error) == Kind::Busy;
                    if busy && attempt < BUSY_ATTEMPTS && !self.shared.is_closing() {
                        continue;
                    }
                    self.shared.failed(batch.entries());
                    return self.report(&error);
                }
            }
        }
    }

    fn prune_step(&mut self) -> bool {
        match retention::step(&mut self.connection, &self.limits) {
            Ok(more) => more,
            Err(error) => {
                self.report(&error);
                false
            }
        }
    }

    /// Keeps the error for whoever asks how the history fares.
    fn report(&self, error: &rusqlite::Error) {
        if Kind::of(error) == Kind::Damaged {
            self.place.mark_suspect();
        }
        self.shared.report(error);
    }

    fn sweep(&mut self) {
        if let Some(live) = &self.live
            && let Err(error) = live.sweep_if_free(&mut self.connection)
        {
            self.report(&error);
        }
    }
}
