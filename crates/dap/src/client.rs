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

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::sync::{mpsc, oneshot};

use crate::exchange::{Refused, Requests, write_frames};
use crate::framing::{Decoder, encode};
use crate::protocol::{self, Message, mended};

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
    Event {
        event: String,
        body: Value,
    },
    Request {
        seq: i64,
        command: String,
        arguments: Value,
    },
    Closed {
        reason: String,
    },
    /// Everything that came before this was taken in; see [`Client::taken_in`].
    Fence(oneshot::Sender<()>),
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
    requests: Arc<Requests<RequestError>>,
    frames: mpsc::Sender<Vec<u8>>,
    /// Weak: the queue ends with its reader.
    incoming: mpsc::WeakSender<Incoming>,
}

impl Client {
    /// Starts the tasks of a connection.
    pub(crate) fn start<R, W>(reader: R, writer: W) -> (Self, mpsc::Receiver<Incoming>)
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let requests = Arc::new(Requests::new(MAX_PENDING));
        let (frames, outgoing) = mpsc::channel(OUTGOING_QUEUE);
        let (incoming, receiver) = mpsc::channel(INCOMING_QUEUE);
        tokio::spawn(write_frames(writer, outgoing));
        let weak = incoming.downgrade();
        tokio::spawn(read(reader, Arc::clone(&requests), incoming));
        (Self { requests, frames, incoming: weak }, receiver)
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn request(
        &self,
        command: &str,
        arguments: Value,
        timeout: Duration,
    ) -> Result<Value, RequestError> {
        let (seq, answer) = self.requests.add().map_err(|refused| match refused {
            Refused::Closed(reason) => RequestError::Closed(reason),
            Refused::TooMany(message) => RequestError::Failed { message },
        })?;
        let _forget = Forget { requests: &self.requests, seq };
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

    /// Waits until the events that came so far were taken in: an answer overtakes those before it. Not for
    /// the task that takes them in.
    pub(crate) async fn taken_in(&self, limit: Duration) {
        let Some(incoming) = self.incoming.upgrade() else { return };
        let (fence, passed) = oneshot::channel();
        let exchange = async {
            // Where nobody takes them in any more, nothing is waited for.
            let _ = incoming.send(Incoming::Fence(fence)).await;
            drop(incoming);
            let _ = passed.await;
        };
        let _ = tokio::time::timeout(limit, exchange).await;
    }

    /// Fails every request, and those to come.
    pub(crate) fn close(&self, reason: &str) {
        self.requests.close(reason, RequestError::Closed);
    }

    /// Answers a reverse request.
    pub(crate) async fn respond(&self, seq: i64, command: &str, result: Result<Value, String>) {
        let number = self.requests.number();
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
    requests: &'a Requests<RequestError>,
    seq: i64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        drop(self.requests.take(self.seq));
    }
}

async fn read<R: AsyncRead + Unpin>(
    mut reader: R,
    requests: Arc<Requests<RequestError>>,
    incoming: mpsc::Sender<Incoming>,
) {
    let reason = read_until_closed(&mut reader, &requests, &incoming).await;
    tracing::debug!(%reason, "connection to adapter closed");
    requests.close(&reason, RequestError::Closed);
    let _ = incoming.send(Incoming::Closed { reason }).await;
}

async fn read_until_closed<R: AsyncRead + Unpin>(
    reader: &mut R,
    requests: &Requests<RequestError>,
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
            let message = match parse(message) {
                Ok(message) => message,
                Err(error) => return format!("the adapter does not speak DAP: {error}"),
            };
            if !deliver(message, requests, incoming).await {
                return "the connection was given up".to_owned();
            }
        }
    }
}

/// Parses a message; fields that do not fit have their default, and halves of characters, which programs
/// in Python and JavaScript can have in their texts, are shown as such.
fn parse(message: &[u8]) -> serde_json::Result<Message> {
    let lenient = |text: &[u8]| {
        serde_json::from_slice(text)
            .or_else(|_| serde_json::from_slice(text).map(|value| protocol::read(&value)))
    };
    lenient(message).or_else(|_| lenient(mended(message).as_bytes()))
}

/// Hands a message to whoever waits for it; false when nobody listens any more.
async fn deliver(
    message: Message,
    requests: &Requests<RequestError>,
    incoming: &mpsc::Sender<Incoming>,
) -> bool {
    match message.kind.as_str() {
        "response" => {
            let Some(reply) = requests.take(message.request_seq) else {
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
