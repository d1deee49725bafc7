//! [`serve`]: one connection of an editor, from its first message to its end.
//!
//! ```text
//! reader ─┬─ replies ──► the requests that wait for them
//!         ├─ requests of a window ─► queue ─► Window::request, one at a time but for slow ones ─► reply
//!         └─ reports of a window ──► queue ─► Terminals::event, one at a time
//! queues of the Peer ─► writer
//! ```
//!
//! The first message decides what the peer is: a `hello` makes it a window of ours, anything else, or nothing, a plain
//! peer. A plain extension says nothing until it is asked, so it is sent a `ping` after [`GREETING_PAUSE`].
//!
//! Everything of a connection runs in the task of its caller and ends with it: nothing is left behind, whichever way it
//! ends. The peer is dead when it does not answer a ping (every [`PING_INTERVAL`]) within the limit of a reply.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::channel::{MessageReader, MessageWriter, Received};
use crate::greeting::{Greeted, greet};
use crate::message::{Incoming, Outline, REPLIES};
use crate::peer::{Peer, PeerError, Queues};
use crate::terminals::{TerminalEvent, Terminals};
use crate::window::{Refused, Window, Windows};

/// How often a peer is asked whether it lives.
pub const PING_INTERVAL: Duration = Duration::from_secs(30);
/// How long a silent connection is left alone before it is pinged to find out what it is.
pub const GREETING_PAUSE: Duration = Duration::from_millis(300);
/// Requests of a window that wait for their turn; a window that sends more is not read meanwhile.
const WINDOW_REQUESTS: usize = 64;
/// Of them, those that take long and are answered beside the others.
const SLOW_REQUESTS: usize = 16;
/// Reports of a window that wait for their turn; the same.
const EVENTS: usize = 64;
/// How often it is looked whether a window's token is still valid.
const TOKEN_CHECK: Duration = Duration::from_secs(5);
/// How long requests and reports that have come may take once the connection has ended.
const LAST_WORK: Duration = Duration::from_secs(5);
/// How long the last message and the goodbye may take.
pub(crate) const GOODBYE: Duration = Duration::from_secs(1);

/// Whether a token is valid.
pub type TokenCheck = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// What all connections share.
#[derive(Clone)]
pub struct EditorService {
    /// Shows the server's sessions to windows.
    pub windows: Arc<dyn Windows>,
    /// Uses the editors' terminals.
    pub terminals: Arc<dyn Terminals>,
    /// Checks the tokens that windows bring.
    pub is_valid_token: TokenCheck,
}

/// Who is let in. A token that is brought has to be valid in any case.
#[derive(Clone, PartialEq, Eq)]
pub enum Admission {
    /// Plain peers and windows: the transport has established that the process is this user's.
    Anyone,
    /// The same, as long as this token of the handshake is valid.
    Bearer(String),
    /// Windows only: the transport admits this user only, and plain peers do not come this way.
    Windows,
    /// Windows with a token: the transport has established nothing, or the user wants it so.
    Token,
}

/// Serves a connection until it ends, or until `stop`.
pub async fn serve<R, W>(
    (mut reader, mut writer): (R, W),
    admission: Admission,
    service: &EditorService,
    stop: &CancellationToken,
) where
    R: MessageReader,
    W: MessageWriter,
{
    tokio::select! {
        () = talk(&mut reader, &mut writer, admission, service) => {}
        () = stop.cancelled() => {}
    }
    let _ = timeout(GOODBYE, writer.close()).await;
}

/// The peer of a connection that is open; the end of the connection is the end of it.
struct Joined {
    peer: Peer,
    terminals: Arc<dyn Terminals>,
    ended: CancellationToken,
}

impl Drop for Joined {
    fn drop(&mut self) {
        self.ended.cancel();
        self.terminals.left(&self.peer);
        tracing::info!(peer = %self.peer.id(), "an editor has disconnected");
    }
}

async fn talk(
    reader: &mut impl MessageReader,
    writer: &mut impl MessageWriter,
    admission: Admission,
    service: &EditorService,
) {
    let greeted = greet(reader, writer, &admission, &service.is_valid_token).await;
    let bearer = if let Admission::Bearer(token) = admission { Some(token) } else { None };
    let (hello, hello_id, token) = match greeted {
        Greeted::Plain => (None, None, None),
        Greeted::Window { hello, id, token } => (Some(*hello), id, token),
        Greeted::Gone => return,
    };
    let ended = CancellationToken::new();
    let _ending = ended.clone().drop_guard();
    let (peer, queues) = Peer::new(hello.clone(), ended.clone());
    let mut window = None;
    if let Some(hello) = hello {
        let opened = service.windows.open(hello, peer.clone()).await;
        let id = hello_id.as_deref();
        let message = match &opened {
            Ok((welcome, _)) => crate::greeting::message("welcome", id, json!(welcome)),
            Err(refused) => crate::greeting::message("error", id, failure(refused)),
        };
        if timeout(crate::peer::REPLY_LIMIT, writer.send(message)).await.is_err() {
            return;
        }
        match opened {
            Ok((_, opened)) => window = Some(opened),
            Err(refused) => return tracing::warn!(%refused, "a window was not let in"),
        }
    }
    tracing::info!(
        peer = %peer.id(),
        editor = peer.hello().map(|hello| hello.editor.clone()),
        "an editor has connected"
    );
    service.terminals.joined(&peer);
    let joined = Joined { peer: peer.clone(), terminals: Arc::clone(&service.terminals), ended };
    let (requests, requested) = mpsc::channel(WINDOW_REQUESTS);
    let (events, reported) = mpsc::channel(EVENTS);
    let dispatch = Dispatch { peer: &peer, requests, events };
    let working = async {
        let answering = answer(&peer, window.as_deref(), requested);
        let reporting = report(&peer, &*joined.terminals, reported);
        let mut work = std::pin::pin!(async { tokio::join!(answering, reporting) });
        tokio::select! {
            () = read(reader, dispatch) => {}
            // Not before the reader has ended, which holds what they wait for.
            _ = &mut work => return,
        }
        let _ = timeout(LAST_WORK, work).await;
    };
    tokio::select! {
        () = working => {}
        () = write(writer, queues, &peer) => {}
        () = keep_alive(&peer) => tracing::warn!(peer = %peer.id(), "an editor no longer answers"),
        () = lapse(token.or(bearer), &service.is_valid_token) => tracing::warn!(peer = %peer.id(), "the editor's token is no longer valid"),
    }
}

/// Where what is read goes. Dropped when nothing more comes.
struct Dispatch<'a> {
    peer: &'a Peer,
    requests: mpsc::Sender<Incoming>,
    events: mpsc::Sender<TerminalEvent>,
}

async fn read(reader: &mut impl MessageReader, dispatch: Dispatch<'_>) {
    let peer = dispatch.peer.id();
    loop {
        match reader.next().await {
            Ok(Received::Message(text)) => match serde_json::from_str(&text) {
                Ok(message) => dispatch.take(message).await,
                Err(error) => {
                    tracing::warn!(%peer, %error, bytes = text.len(), "dropped something that is not a message");
                    dispatch.refuse(&text, &error).await;
                }
            },
            Ok(Received::Skipped(what)) => {
                tracing::warn!(%peer, what, "dropped something that is not a message");
            }
            Ok(Received::TooLong) => {
                return tracing::warn!(%peer, "an editor sent a message that is too long");
            }
            Ok(Received::Closed) => return,
            Err(error) => return tracing::debug!(%peer, %error, "a connection cannot be read"),
        }
    }
}

impl Dispatch<'_> {
    /// Answers a request whose data cannot be read, such as text with half a character. Such a reply fails its request.
    async fn refuse(&self, text: &str, error: &serde_json::Error) {
        let Ok(Outline { kind, id: Some(id) }) = serde_json::from_str(text) else { return };
        if REPLIES.contains(&kind.as_str()) {
            self.peer.fail_request(&id, error.to_string());
        } else if self.peer.is_window() {
            let refused = Refused { code: "INVALID_INPUT", message: error.to_string() };
            let _ = self.peer.reply("error", Some(&id), failure(&refused)).await;
        }
    }

    async fn take(&self, message: Incoming) {
        let Incoming { kind, id, data } = message;
        let peer = self.peer.id();
        if REPLIES.contains(&kind.as_str()) {
            return self.peer.take_reply(id.as_deref(), &kind, data);
        }
        if !self.peer.is_window() {
            let why = format!("{kind:?} is not a type of reply");
            if !id.is_some_and(|id| self.peer.fail_request(&id, why)) {
                tracing::warn!(%peer, kind, "dropped a message that plain editors do not send");
            }
            return;
        }
        if id.is_some() {
            tracing::debug!(%peer, kind, id, "request of the editor");
            let _ = self.requests.send(Incoming { kind, id, data }).await;
        } else if TerminalEvent::TYPES.contains(&kind.as_str()) {
            match TerminalEvent::parse(&kind, data) {
                Ok(event) => {
                    tracing::trace!(%peer, kind, terminal = event.terminal_id(), "report of the editor");
                    let _ = self.events.send(event).await;
                }
                Err(error) => tracing::warn!(%peer, kind, %error, "dropped a malformed report"),
            }
        } else {
            tracing::warn!(%peer, kind, "dropped a message of an unknown type");
        }
    }
}

/// Answers a window's requests in their order; those that take long do not hold up the others.
async fn answer(peer: &Peer, window: Option<&dyn Window>, mut requests: mpsc::Receiver<Incoming>) {
    // Requests are taken of windows only.
    let Some(window) = window else { return while requests.recv().await.is_some() {} };
    let mut slow = FuturesUnordered::new();
    loop {
        tokio::select! {
            request = requests.recv(), if slow.len() < SLOW_REQUESTS => match request {
                None => break,
                Some(request) if request.kind == "stop" => {
                    slow.push(answer_one(peer, window, request));
                }
                Some(request) => answer_one(peer, window, request).await,
            },
            Some(()) = slow.next() => {}
        }
    }
    while slow.next().await.is_some() {}
}

async fn answer_one(peer: &Peer, window: &dyn Window, request: Incoming) {
    let Incoming { kind, id, data } = request;
    if kind == "update" {
        update(peer, &data);
    }
    let (reply, data) = match window.request(&kind, data).await {
        Ok(data) => ("success", if data.is_null() { json!({}) } else { data }),
        Err(refused) => ("error", failure(&refused)),
    };
    tracing::debug!(peer = %peer.id(), kind, id, reply, "reply to the editor");
    if let Err(error) = peer.reply(reply, id.as_deref(), data).await {
        tracing::debug!(peer = %peer.id(), kind, id, %error, "no reply to the editor");
    }
}

/// Takes over what a window says anew of itself.
fn update(peer: &Peer, data: &Value) {
    let Some(hello) = peer.hello() else { return };
    let mut hello = (*hello).clone();
    let folders = data.get("folders").map(|folders| serde_json::from_value(folders.clone()));
    match folders {
        Some(Ok(folders)) => hello.folders = folders,
        Some(Err(error)) => {
            tracing::warn!(peer = %peer.id(), %error, "malformed folders of a window");
        }
        None => {}
    }
    if let Some(trusted) = data["trusted"].as_bool() {
        hello.trusted = trusted;
    }
    if let Some(away) = data["away"].as_bool() {
        hello.away = away;
    }
    if let Some(settings) = data.get("settings") {
        hello.settings = settings.clone();
    }
    peer.set_hello(hello);
}

/// Passes on what a window reports, in its order.
async fn report(peer: &Peer, terminals: &dyn Terminals, mut events: mpsc::Receiver<TerminalEvent>) {
    while let Some(event) = events.recv().await {
        terminals.event(peer, event).await;
    }
}

async fn write(writer: &mut impl MessageWriter, mut queues: Queues, peer: &Peer) {
    while let Some(text) = queues.next(peer).await {
        if let Err(error) = writer.send(text).await {
            return tracing::debug!(peer = %peer.id(), %error, "a connection cannot be written");
        }
    }
}

/// Returns when the peer does not answer.
async fn keep_alive(peer: &Peer) {
    loop {
        tokio::time::sleep(PING_INTERVAL).await;
        match peer.ping().await {
            Ok(_) | Err(PeerError::Refused { .. } | PeerError::Malformed(_)) => {}
            Err(_) => return,
        }
    }
}

/// Returns when the token that a window was let in with is revoked or has expired.
async fn lapse(token: Option<String>, is_valid: &TokenCheck) {
    let Some(token) = token else { return std::future::pending().await };
    while is_valid(&token) {
        tokio::time::sleep(TOKEN_CHECK).await;
    }
}

pub(crate) fn failure(refused: &Refused) -> Value {
    json!({ "error": refused.message, "code": refused.code })
}
