//! One connection to a debug adapter: requests out, answers, events and reverse requests in.
//!
//! ```text
//! Client (handle) ── frame ──► writer task ──► adapter
//!        ▲ answer by seq        reader task ◄── adapter
//!        └───────────────────────┘ └── Incoming ──► whoever owns the session
//! ```
//!
//! The reader hands events over in the order they came and waits when nobody takes them
//! ([`INCOMING_QUEUE`]), so whoever takes them must never wait for an answer in between. An answer
//! that comes after its request gave up is dropped. When the adapter closes the connection or breaks
//! the protocol, every open request fails and a last [`Incoming::Closed`] says why.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};

use crate::framing::{Decoder, encode};
use crate::protocol::Message;

/// Events and reverse requests waiting to be taken.
const INCOMING_QUEUE: usize = 256;
/// Frames waiting to be written.
const OUTGOING_QUEUE: usize = 64;
/// Requests without an answer yet.
const MAX_PENDING: usize = 1024;
/// Bytes asked for in one read.
const READ_SIZE: usize = 64 * 1024;

/// What comes from the adapter without being asked for.
#[derive(Debug)]
pub(crate) enum Incoming {
    Event { event: String, body: Value },
    Request { seq: i64, command: String, arguments: Value },
    Closed { reason: String },
}

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("{message}")]
    Failed { message: String },
    #[error("the adapter did not answer {command} within {} ms", .after.as_millis())]
    Timeout { command: String, after: Duration },
    #[error("{0}")]
    Closed(String),
}

/// A handle to a connection. The connection ends when the last one is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    shared: Arc<Shared>,
    frames: mpsc::Sender<Vec<u8>>,
}

#[derive(Debug)]
struct Shared {
    next_seq: AtomicI64,
    pending: Mutex<Pending>,
}

#[derive(Debug)]
enum Pending {
    Open(HashMap<i64, oneshot::Sender<Result<Value, RequestError>>>),
    Closed(String),
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client {
    /// Starts the tasks of a connection.
    pub(crate) fn start<R, W>(reader: R, writer: W) -> (Self, mpsc::Receiver<Incoming>)
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let shared = Arc::new(Shared {
            next_seq: AtomicI64::new(1),
            pending: Mutex::new(Pending::Open(HashMap::new())),
        });
        let (frames, outgoing) = mpsc::channel(OUTGOING_QUEUE);
        let (incoming, receiver) = mpsc::channel(INCOMING_QUEUE);
        tokio::spawn(write(writer, outgoing));
        tokio::spawn(read(reader, Arc::clone(&shared), incoming));
        (Self { shared, frames }, receiver)
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn request(
        &self,
        command: &str,
        arguments: Value,
        timeout: Duration,
    ) -> Result<Value, RequestError> {
        let (reply, answer) = oneshot::channel();
        let seq = self.shared.next_seq.fetch_add(1, Ordering::Relaxed);
        match &mut *self.shared.lock() {
            Pending::Closed(reason) => return Err(RequestError::Closed(reason.clone())),
            Pending::Open(pending) if pending.len() >= MAX_PENDING => {
                let message = format!("{MAX_PENDING} requests are without an answer");
                return Err(RequestError::Failed { message });
            }
            Pending::Open(pending) => pending.insert(seq, reply),
        };
        let _forget = Forget { shared: &self.shared, seq };
        let mut request = json!({"seq": seq, "type": "request", "command": command});
        if !arguments.is_null() {
            request["arguments"] = arguments;
        }
        tracing::trace!(%request, "to adapter");
        let exchange = async {
            // A writer that is gone is told by the reader, which closes every request.
            let _ = self.frames.send(encode(&request.to_string())).await;
            answer.await
        };
        match tokio::time::timeout(timeout, exchange).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(RequestError::Closed("the connection was given up".to_owned())),
            Err(_) => Err(RequestError::Timeout { command: command.to_owned(), after: timeout }),
        }
    }

    /// Answers a reverse request.
    pub(crate) async fn respond(&self, seq: i64, command: &str, result: Result<Value, String>) {
        let number = self.shared.next_seq.fetch_add(1, Ordering::Relaxed);
        let mut response = json!({
            "seq": number, "type": "response", "request_seq": seq, "command": command,
            "success": result.is_ok(),
        });
        match result {
            Ok(body) => response["body"] = body,
            Err(message) => response["message"] = json!(message),
        }
        tracing::trace!(%response, "to adapter");
        // A connection that is gone needs no answer.
        let _ = self.frames.send(encode(&response.to_string())).await;
    }
}

/// Forgets a request that nobody waits for any more.
struct Forget<'a> {
    shared: &'a Shared,
    seq: i64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        if let Pending::Open(pending) = &mut *self.shared.lock() {
            pending.remove(&self.seq);
        }
    }
}

async fn write<W: AsyncWrite + Unpin>(mut writer: W, mut frames: mpsc::Receiver<Vec<u8>>) {
    while let Some(frame) = frames.recv().await {
        if writer.write_all(&frame).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
    // Adapters on a pipe end when their input does.
    let _ = writer.shutdown().await;
}

async fn read<R: AsyncRead + Unpin>(
    mut reader: R,
    shared: Arc<Shared>,
    incoming: mpsc::Sender<Incoming>,
) {
    let reason = read_until_closed(&mut reader, &shared, &incoming).await;
    tracing::debug!(%reason, "connection to adapter closed");
    let pending = std::mem::replace(&mut *shared.lock(), Pending::Closed(reason.clone()));
    if let Pending::Open(pending) = pending {
        for reply in pending.into_values() {
            // Whoever asked may have given up.
            let _ = reply.send(Err(RequestError::Closed(reason.clone())));
        }
    }
    let _ = incoming.send(Incoming::Closed { reason }).await;
}

async fn read_until_closed<R: AsyncRead + Unpin>(
    reader: &mut R,
    shared: &Shared,
    incoming: &mpsc::Sender<Incoming>,
) -> String {
    let mut decoder = Decoder::default();
    let mut buffer = vec![0; READ_SIZE];
    loop {
        match reader.read(&mut buffer).await {
            Ok(0) if decoder.is_mid_message() => {
                return "the adapter ended in the middle of a message".to_owned();
            }
            Ok(0) => return "the adapter closed the connection".to_owned(),
            Ok(count) => decoder.feed(&buffer[..count]),
            Err(error) => return format!("the adapter cannot be read: {error}"),
        }
        loop {
            let message = match decoder.next_message() {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(error) => return format!("the adapter does not speak DAP: {error}"),
            };
            tracing::trace!(message = %String::from_utf8_lossy(message), "from adapter");
            let message: Message = match serde_json::from_slice(message) {
                Ok(message) => message,
                Err(error) => return format!("the adapter does not speak DAP: {error}"),
            };
            if !deliver(message, shared, incoming).await {
                return "the connection was given up".to_owned();
            }
        }
    }
}

/// Hands a message to whoever waits for it; false when nobody listens any more.
async fn deliver(message: Message, shared: &Shared, incoming: &mpsc::Sender<Incoming>) -> bool {
    match message.kind.as_str() {
        "response" => {
            let reply = match &mut *shared.lock() {
                Pending::Open(pending) => pending.remove(&message.request_seq),
                Pending::Closed(_) => None,
            };
            let Some(reply) = reply else {
                tracing::debug!(command = message.command, "answer without a request");
                return true;
            };
            let answer = if message.success {
                Ok(message.body)
            } else {
                Err(RequestError::Failed { message: message.failure() })
            };
            let _ = reply.send(answer);
            true
        }
        "event" => {
            let event = Incoming::Event { event: message.event, body: message.body };
            incoming.send(event).await.is_ok()
        }
        "request" => {
            let (seq, command, arguments) = (message.seq, message.command, message.arguments);
            incoming.send(Incoming::Request { seq, command, arguments }).await.is_ok()
        }
        other => {
            tracing::debug!(kind = other, "message of an unknown kind");
            true
        }
    }
}
