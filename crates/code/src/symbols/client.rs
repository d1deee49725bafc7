//! One connection to a language server: requests and notifications out, answers in.
//!
//! ```text
//! Client (handle) ── frame ──► writer task ──► server
//!        ▲ answer by id         reader task ◄── server
//!        └───────────────────────┘ └── what the server asks is answered here
//! ```
//!
//! JSON-RPC 2.0 in the frames of [`termbridge_dap::framing`]. The server is not trusted: what it asks
//! for is answered with nothing, or refused; edits that it wants to make by itself are refused. A
//! request that nobody waits for any more, because of its time or because its caller is gone, is
//! cancelled; a server that says nothing to several in a row is given up. When it closes the
//! connection or breaks the protocol every open request fails.
//! How far the server has come with reading the project is kept in [`Readiness`].

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use termbridge_dap::exchange::{Refused, Requests, write_frames};
use termbridge_dap::framing::{Decoder, encode};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// Frames waiting to be written.
const OUTGOING_QUEUE: usize = 64;
/// Requests without an answer yet.
const MAX_PENDING: usize = 256;
/// Things a server may be doing at once.
const MAX_PROGRESS: usize = 256;
/// Characters of what it says of one.
const MAX_PROGRESS_TEXT: usize = 100;
/// Bytes asked for in one read.
const READ_SIZE: usize = 64 * 1024;
/// Bytes of its error output that are kept.
const MAX_STDERR: usize = 4 * 1024;

/// How long a server may leave what it is told unread.
const WRITE_LIMIT: Duration = Duration::from_secs(20);
/// Requests in a row that a server may leave unanswered without a word.
const MAX_SILENCE: u32 = 3;

const METHOD_NOT_FOUND: i64 = -32601;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// The server refused.
    Failed { code: i64, message: String },
    /// The time is up.
    Timeout,
    /// The server is gone.
    Closed(String),
}

/// How far the server is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Readiness {
    /// What it said that it began, and not yet that it ended.
    active: BTreeMap<String, Progress>,
    /// `experimental/serverStatus`, where there is such a thing.
    pub(crate) quiescent: Option<bool>,
    pub(crate) closed: bool,
}

/// Something that a server is doing.
#[derive(Debug, Clone, Default)]
struct Progress {
    title: String,
    message: String,
}

impl Readiness {
    pub(crate) fn is_idle(&self) -> bool {
        self.active.is_empty()
    }

    /// Whether it has read the project and only builds what macros need (rust-analyzer).
    pub(crate) fn only_builds(&self) -> bool {
        let builds = |progress: &Progress| {
            progress.title.starts_with("Building") && !progress.title.contains("CrateGraph")
        };
        !self.is_idle() && self.active.values().all(builds)
    }

    fn note(&mut self, token: String, value: &Value) {
        let text = |name: &str| {
            let text = value[name].as_str().unwrap_or_default();
            text.chars().take(MAX_PROGRESS_TEXT).collect::<String>()
        };
        match value["kind"].as_str() {
            Some("begin") if self.active.len() < MAX_PROGRESS => {
                let progress = Progress { title: text("title"), message: text("message") };
                self.active.insert(token, progress);
            }
            Some("report") => {
                if let Some(progress) = self.active.get_mut(&token) {
                    progress.message = text("message");
                }
            }
            Some("end") => drop(self.active.remove(&token)),
            _ => {}
        }
    }
}

/// A handle to a connection. The connection ends when the last one is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    shared: Arc<Shared>,
    frames: mpsc::Sender<Vec<u8>>,
}

#[derive(Debug)]
struct Shared {
    requests: Requests<RequestError>,
    readiness: watch::Sender<Readiness>,
    stderr: Mutex<Vec<u8>>,
    /// Requests whose time was up, and calls that found it not reading, since it last said anything.
    silence: AtomicU32,
}

impl Shared {
    /// Fails every request, unless that was done before.
    fn close(&self, reason: &str) {
        if !self.requests.close(reason, RequestError::Closed) {
            return;
        }
        tracing::debug!(reason, "connection to language server closed");
        self.readiness.send_modify(|readiness| readiness.closed = true);
    }
}

impl Client {
    /// Starts the tasks of a connection.
    pub(crate) fn start<R, W, E>(stdout: R, stdin: W, stderr: E) -> Self
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
        E: AsyncRead + Unpin + Send + 'static,
    {
        let shared = Arc::new(Shared {
            requests: Requests::new(MAX_PENDING),
            readiness: watch::Sender::new(Readiness::default()),
            stderr: Mutex::default(),
            silence: AtomicU32::new(0),
        });
        let (frames, outgoing) = mpsc::channel(OUTGOING_QUEUE);
        tokio::spawn(write_frames(stdin, outgoing));
        // The reader must not keep the writer alive: the server's input ends with the handles.
        tokio::spawn(read(stdout, stderr, Arc::clone(&shared), frames.downgrade()));
        Self { shared, frames }
    }

    /// Sends a request and waits for its answer until the deadline.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Value,
        deadline: Instant,
    ) -> Result<Value, RequestError> {
        let (id, answer) = self.shared.requests.add().map_err(|refused| match refused {
            Refused::Closed(reason) => RequestError::Closed(reason),
            Refused::TooMany(message) => RequestError::Failed { code: 0, message },
        })?;
        let _cancel = CancelUnanswered { client: self, id };
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let exchange = async {
            self.send(&request).await;
            answer.await
        };
        match tokio::time::timeout_at(deadline, exchange).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(RequestError::Closed("the connection was given up".to_owned())),
            Err(_) => {
                self.note_silence();
                Err(RequestError::Timeout)
            }
        }
    }

    /// Tells the server something.
    pub(crate) async fn notify(&self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// Waits until the server is as far as asked; false when it closed the connection or the time
    /// is up.
    pub(crate) async fn wait_until(
        &self,
        deadline: Instant,
        ready: impl Fn(&Readiness) -> bool,
    ) -> bool {
        let mut readiness = self.shared.readiness.subscribe();
        let wait = readiness.wait_for(|state| state.closed || ready(state));
        match tokio::time::timeout_at(deadline, wait).await {
            Ok(Ok(state)) => !state.closed,
            _ => false,
        }
    }

    /// Looks whether the server still reads, between two calls.
    pub(crate) fn check(&self) {
        if self.frames.capacity() == 0 {
            self.note_silence();
        }
    }

    fn note_silence(&self) {
        let silence = self.shared.silence.fetch_add(1, Ordering::Relaxed) + 1;
        if silence >= MAX_SILENCE {
            self.close("it no longer answers");
        }
    }

    /// Gives the connection up: every request fails.
    pub(crate) fn close(&self, reason: &str) {
        self.shared.close(reason);
    }

    /// Whether the server is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.readiness.borrow().closed
    }

    /// What the server says that it is doing.
    pub(crate) fn doing(&self) -> Option<String> {
        let readiness = self.shared.readiness.borrow();
        let progress = readiness.active.values().next()?;
        match progress.message.is_empty() {
            true => Some(progress.title.clone()),
            false => Some(format!("{}: {}", progress.title, progress.message)),
        }
    }

    /// The last that the server wrote beside the protocol, on one line.
    pub(crate) fn stderr(&self) -> String {
        let stderr = self.shared.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&stderr);
        let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines.join(" | ")
    }

    async fn send(&self, message: &Value) {
        if self.is_closed() {
            return;
        }
        tracing::trace!(%message, "to language server");
        let frame = encode(&message.to_string());
        // A writer that is gone is told by the reader, which closes every request.
        if tokio::time::timeout(WRITE_LIMIT, self.frames.send(frame)).await.is_err() {
            self.close("it does not read its input");
        }
    }
}

/// Forgets a request, and tells the server when it had no answer.
struct CancelUnanswered<'a> {
    client: &'a Client,
    id: i64,
}

impl Drop for CancelUnanswered<'_> {
    fn drop(&mut self) {
        if self.client.shared.requests.take(self.id).is_some() {
            let cancel =
                json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": self.id}});
            // A server that does not even read needs no word of it.
            let _ = self.client.frames.try_send(encode(&cancel.to_string()));
        }
    }
}

async fn read<R, E>(
    mut stdout: R,
    stderr: E,
    shared: Arc<Shared>,
    frames: mpsc::WeakSender<Vec<u8>>,
) where
    R: AsyncRead + Unpin,
    E: AsyncRead + Unpin + Send + 'static,
{
    let mut errors = tokio::spawn(keep_last(stderr, Arc::clone(&shared)));
    let reason = read_until_closed(&mut stdout, &shared, &frames).await;
    // Why it ended is often written there, just before; a process it left may hold it open.
    let last_words = Duration::from_millis(200);
    let _ = tokio::time::timeout(last_words, &mut errors).await;
    shared.close(&reason);
}

async fn keep_last<E: AsyncRead + Unpin>(mut stderr: E, shared: Arc<Shared>) {
    let mut buffer = vec![0; MAX_STDERR];
    while let Ok(count) = stderr.read(&mut buffer).await {
        if count == 0 {
            return;
        }
        let mut kept = shared.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..count]);
        let surplus = kept.len().saturating_sub(MAX_STDERR);
        kept.drain(..surplus);
    }
}

async fn read_until_closed<R: AsyncRead + Unpin>(
    stdout: &mut R,
    shared: &Shared,
    frames: &mpsc::WeakSender<Vec<u8>>,
) -> String {
    let mut decoder = Decoder::default();
    let mut buffer = vec![0; READ_SIZE];
    loop {
        match stdout.read(&mut buffer).await {
            Ok(0) if decoder.is_mid_message() => return "it ended in a message".to_owned(),
            Ok(0) => return "it ended".to_owned(),
            Ok(count) => decoder.feed(&buffer[..count]),
            Err(error) => return format!("it cannot be read: {error}"),
        }
        loop {
            let message = match decoder.next_message() {
                Ok(Some(message)) => serde_json::from_slice::<Value>(message),
                Ok(None) => break,
                Err(error) => return format!("it does not speak LSP: {error}"),
            };
            let message = match message {
                Ok(message) => message,
                Err(error) => return format!("it does not speak LSP: {error}"),
            };
            tracing::trace!(%message, "from language server");
            shared.silence.store(0, Ordering::Relaxed);
            let Some(answer) = deliver(message, shared) else { continue };
            let Some(frames) = frames.upgrade() else {
                return "the connection was given up".to_owned();
            };
            // Nobody waits for the reader to write, so waiting for the writer cannot lock up; a
            // server that reads nothing while it writes is stopped by its own pipe.
            let _ = frames.send(encode(&answer.to_string())).await;
        }
    }
}

/// Hands an answer to whoever waits for it, keeps what is told, and returns what to answer.
fn deliver(mut message: Value, shared: &Shared) -> Option<Value> {
    let params = message["params"].take();
    let Some(method) = message["method"].as_str() else {
        let id = message["id"].as_i64()?;
        let reply = shared.requests.take(id);
        let error = message["error"].take();
        let answer = if error.is_null() {
            Ok(message["result"].take())
        } else {
            let text = error["message"].as_str().unwrap_or("it gave no reason");
            let message = text.chars().take(1000).collect();
            Err(RequestError::Failed { code: error["code"].as_i64().unwrap_or(0), message })
        };
        // An answer that comes after its request gave up is dropped.
        let _ = reply?.send(answer);
        return None;
    };
    if message["id"].is_null() {
        notice(method, &params, shared);
        return None;
    }
    let result = match method {
        "workspace/configuration" => {
            let items = params["items"].as_array().map_or(0, Vec::len);
            json!(vec![Value::Null; items])
        }
        "workspace/applyEdit" => json!({"applied": false, "failureReason": "not asked for"}),
        "window/workDoneProgress/create"
        | "client/registerCapability"
        | "client/unregisterCapability"
        | "window/showMessageRequest"
        | "workspace/workspaceFolders" => Value::Null,
        _ => {
            let error = json!({"code": METHOD_NOT_FOUND, "message": "not supported"});
            return Some(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
        }
    };
    Some(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
}

/// Keeps what a server tells of its state.
fn notice(method: &str, params: &Value, shared: &Shared) {
    match method {
        "$/progress" => {
            let token = params["token"].to_string();
            shared.readiness.send_modify(|readiness| readiness.note(token, &params["value"]));
        }
        "experimental/serverStatus" => {
            let quiescent = params["quiescent"].as_bool();
            shared.readiness.send_modify(|readiness| readiness.quiescent = quiescent);
        }
        _ => {}
    }
}
