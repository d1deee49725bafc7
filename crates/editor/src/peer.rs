//! [`Peer`]: a handle to one connected editor, for requests and notices.
//!
//! ```text
//! request ─► pending ─► queue ─► the connection's writer      reply ─► the connection's reader ─► pending ─► request
//! ping ────► pending ─► urgent ───────┘
//! ```
//!
//! Invariants:
//! - Ids are unique over all connections and servers: a terminal is called by the id of the request that made it, and
//!   outlives both.
//! - A request is written at most once, and one whose caller has given up is not written any more. An error says
//!   whether it was written ([`PeerError::was_written`]): only one that was not may be sent again.
//! - Bounds: [`MAX_REQUESTS`] under way, [`QUEUE`] messages that wait to be written, [`REPLY_LIMIT`] for a reply.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::channel::MAX_MESSAGE;
use crate::message::{Outgoing, Reply};
use crate::window::Hello;

/// How long a peer may take to reply.
pub const REPLY_LIMIT: Duration = Duration::from_secs(30);
/// Requests of ours that are under way; further ones wait.
pub const MAX_REQUESTS: usize = 64;
/// Messages that wait to be written; further ones wait for room, which is the back-pressure of a slow peer.
pub const QUEUE: usize = 64;

/// Why a request has no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeerError {
    /// The editor replied that it did not do it.
    #[error("{message}")]
    Refused {
        /// For people.
        message: String,
        /// For programs; a window of ours reports it.
        code: Option<String>,
    },
    /// The connection ended before it was written.
    #[error("the editor has disconnected")]
    NotSent,
    /// The connection ended before the reply came.
    #[error("the editor disconnected before it replied")]
    Lost,
    /// No reply came in time.
    #[error("the editor did not reply within {} s", REPLY_LIMIT.as_secs())]
    TimedOut {
        /// Whether the request was written.
        was_written: bool,
    },
    /// The editor replied with something that does not fit the request.
    #[error("the editor's reply cannot be used: {0}")]
    Malformed(String),
    /// The message is longer than a message may be.
    #[error("a message to the editor is at most {MAX_MESSAGE} bytes, and this one has {0}")]
    TooLong(usize),
}

impl PeerError {
    /// Whether the editor may have seen the request. One that it has not seen may be sent again.
    pub fn was_written(&self) -> bool {
        match self {
            Self::Refused { .. } | Self::Lost | Self::Malformed(_) => true,
            Self::TimedOut { was_written } => *was_written,
            Self::NotSent | Self::TooLong(_) => false,
        }
    }
}

/// Names a connection, for logs and maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(u64);

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A connected editor. Clones are the same; it outlives its connection, and then every request fails.
#[derive(Clone)]
pub struct Peer(Arc<Inner>);

struct Inner {
    id: PeerId,
    /// None of a plain peer.
    hello: Option<Mutex<Arc<Hello>>>,
    queue: mpsc::Sender<Queued>,
    urgent: mpsc::Sender<Queued>,
    pending: Mutex<HashMap<String, Pending>>,
    room: Semaphore,
    ended: CancellationToken,
}

/// A request without its reply.
struct Pending {
    kind: String,
    was_written: bool,
    reply: oneshot::Sender<Result<Reply, PeerError>>,
}

/// A message that waits to be written.
pub(crate) struct Queued {
    text: String,
    /// Of a request: it is written only while somebody waits for its reply.
    request: Option<String>,
}

/// The writer's end.
pub(crate) struct Queues {
    queue: mpsc::Receiver<Queued>,
    urgent: mpsc::Receiver<Queued>,
}

impl Peer {
    pub(crate) fn new(hello: Option<Hello>, ended: CancellationToken) -> (Self, Queues) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let (queue, queued) = mpsc::channel(QUEUE);
        let (urgent, urgent_queued) = mpsc::channel(1);
        let inner = Inner {
            id: PeerId(NEXT.fetch_add(1, Ordering::Relaxed)),
            hello: hello.map(|hello| Mutex::new(Arc::new(hello))),
            queue,
            urgent,
            pending: Mutex::default(),
            room: Semaphore::new(MAX_REQUESTS),
            ended,
        };
        (Self(Arc::new(inner)), Queues { queue: queued, urgent: urgent_queued })
    }

    /// Its name in logs; another connection of the same window has another.
    pub fn id(&self) -> PeerId {
        self.0.id
    }

    /// What our own extension said of its window, as last updated; `None` of a plain peer.
    pub fn hello(&self) -> Option<Arc<Hello>> {
        self.0.hello.as_ref().map(|hello| Arc::clone(&lock(hello)))
    }

    /// Whether it is a window of our own extension.
    pub fn is_window(&self) -> bool {
        self.0.hello.is_some()
    }

    /// Whether its connection is open.
    pub fn is_open(&self) -> bool {
        !self.0.ended.is_cancelled()
    }

    /// Waits for the end of its connection.
    pub async fn closed(&self) {
        self.0.ended.cancelled().await;
    }

    /// Sends a request and waits for its reply, at most [`REPLY_LIMIT`].
    pub async fn request(&self, kind: &str, data: Value) -> Result<Reply, PeerError> {
        let deadline = Instant::now() + REPLY_LIMIT;
        let room = timeout_at(deadline, self.0.room.acquire());
        let _room = tokio::select! {
            room = room => room.map_err(|_| PeerError::TimedOut { was_written: false })?,
            () = self.closed() => return Err(PeerError::NotSent),
        };
        self.exchange(&self.0.queue, kind, data, deadline).await
    }

    /// Asks whether it lives. Takes precedence over what is queued, and needs no room among the requests.
    pub(crate) async fn ping(&self) -> Result<Reply, PeerError> {
        let deadline = Instant::now() + REPLY_LIMIT;
        self.exchange(&self.0.urgent, "ping", Value::Null, deadline).await
    }

    /// Sends a notice. Waits while the peer is slow, at most until its connection ends.
    pub async fn notify(&self, kind: &str, data: Value) -> Result<(), PeerError> {
        self.put(Outgoing { kind, id: None, data }).await
    }

    /// Replies to a request of the peer's.
    pub(crate) async fn reply(
        &self,
        kind: &str,
        id: Option<&str>,
        data: Value,
    ) -> Result<(), PeerError> {
        self.put(Outgoing { kind, id, data }).await
    }

    async fn put(&self, message: Outgoing<'_>) -> Result<(), PeerError> {
        let text = bounded(message.text())?;
        tracing::trace!(peer = %self.id(), kind = message.kind, id = message.id, bytes = text.len(), "to the editor");
        let sent = self.0.queue.send(Queued { text, request: None }).await;
        sent.map_err(|_| PeerError::NotSent)
    }

    async fn exchange(
        &self,
        queue: &mpsc::Sender<Queued>,
        kind: &str,
        data: Value,
        deadline: Instant,
    ) -> Result<Reply, PeerError> {
        let id = unique_id();
        let text = bounded(Outgoing { kind, id: Some(&id), data }.text())?;
        tracing::debug!(peer = %self.id(), kind, id, bytes = text.len(), "request to the editor");
        let (reply, replied) = oneshot::channel();
        let pending = Pending { kind: kind.to_owned(), was_written: false, reply };
        lock(&self.0.pending).insert(id.clone(), pending);
        let registered = Registered { peer: self, id: &id };
        let queued = Queued { text, request: Some(id.clone()) };
        let exchange = async {
            if queue.send(queued).await.is_err() {
                return Err(PeerError::NotSent);
            }
            tokio::select! {
                biased;
                // The sender is dropped with its pending entry only, which is ours.
                reply = replied => reply.unwrap_or(Err(PeerError::Lost)),
                () = self.closed() => Err(PeerError::Lost),
            }
        };
        let outcome = timeout_at(deadline, exchange).await;
        let was_written = registered.withdraw();
        let result = match outcome {
            Ok(Err(PeerError::Lost)) if !was_written => Err(PeerError::NotSent),
            Ok(result) => result,
            Err(_) => Err(PeerError::TimedOut { was_written }),
        };
        if let Err(error) = &result
            && !matches!(error, PeerError::Refused { .. })
        {
            tracing::debug!(peer = %self.id(), kind, id, %error, "no reply of the editor");
        }
        result
    }

    /// Hands a reply to its request, which was written. A malformed one fails the request.
    pub(crate) fn take_reply(&self, id: Option<&str>, kind: &str, data: Value) {
        let peer = self.id();
        let Some((id, waiting)) = id.and_then(|id| Some((id, self.take_written(id)?))) else {
            tracing::warn!(%peer, kind, id, "dropped a reply of the editor to nothing that was asked");
            return;
        };
        let reply =
            Reply::read(&waiting.kind, self.is_window(), kind, data).unwrap_or_else(|why| {
                tracing::warn!(%peer, kind, id, why, "a malformed reply of the editor");
                Err(PeerError::Malformed(why))
            });
        tracing::debug!(%peer, kind, id, "reply of the editor");
        // The caller may have given up.
        let _ = waiting.reply.send(reply);
    }

    /// Fails a written request whose reply cannot be read. Returns whether there is one with this id.
    pub(crate) fn fail_request(&self, id: &str, why: String) -> bool {
        let Some(waiting) = self.take_written(id) else { return false };
        tracing::warn!(peer = %self.id(), id, why, "a malformed reply of the editor");
        let _ = waiting.reply.send(Err(PeerError::Malformed(why)));
        true
    }

    fn take_written(&self, id: &str) -> Option<Pending> {
        let mut pending = lock(&self.0.pending);
        pending.get(id).filter(|waiting| waiting.was_written)?;
        pending.remove(id)
    }

    /// Changes what is known of the window.
    pub(crate) fn set_hello(&self, hello: Hello) {
        if let Some(known) = &self.0.hello {
            *lock(known) = Arc::new(hello);
        }
    }

    /// Marks a request as written, unless nobody waits for its reply any more.
    fn begin_to_write(&self, id: &str) -> bool {
        match lock(&self.0.pending).get_mut(id) {
            Some(pending) => {
                pending.was_written = true;
                true
            }
            None => false,
        }
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("id", &self.id()).field("hello", &self.hello()).finish()
    }
}

impl Queues {
    /// The next message to write, pings first; `None` when the peer is gone.
    pub(crate) async fn next(&mut self, peer: &Peer) -> Option<String> {
        loop {
            let queued = tokio::select! {
                biased;
                queued = self.urgent.recv() => queued?,
                queued = self.queue.recv() => queued?,
            };
            if queued.request.as_deref().is_none_or(|id| peer.begin_to_write(id)) {
                return Some(queued.text);
            }
        }
    }
}

/// A request in the table of pending ones; leaves it when dropped.
struct Registered<'a> {
    peer: &'a Peer,
    id: &'a str,
}

impl Registered<'_> {
    /// Leaves, and returns whether the request was written. One that has its reply was.
    fn withdraw(self) -> bool {
        lock(&self.peer.0.pending).remove(self.id).is_none_or(|pending| pending.was_written)
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        lock(&self.peer.0.pending).remove(self.id);
    }
}

fn bounded(text: String) -> Result<String, PeerError> {
    if text.len() > MAX_MESSAGE { Err(PeerError::TooLong(text.len())) } else { Ok(text) }
}

/// `tb-<random>-<number>`: the first part is that of this process.
pub(crate) fn unique_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    static PROCESS: LazyLock<u64> = LazyLock::new(|| {
        let mut random = [0; 8];
        match getrandom::fill(&mut random) {
            Ok(()) => u64::from_be_bytes(random),
            // Without randomness the process still tells the ids of servers apart that live at the same time.
            Err(_) => u64::from(std::process::id()) << 16,
        }
    });
    format!("tb-{:012x}-{}", *PROCESS >> 16, NEXT.fetch_add(1, Ordering::Relaxed))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
