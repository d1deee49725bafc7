//! MCP over WebSocket at `/ws`: a text message for each JSON-RPC message, both ways.
//!
//! The upgrade passes the gate as every request does. Each connection has a server of its own, as each connection to
//! the unix socket has. A binary message closes the connection (1003), one that is too long too (by the WebSocket
//! library), as does silence: the peer is pinged every [`Limits::ping_interval`] and has to be heard of within
//! [`Limits::silence`]. A peer that does not read is cut off after [`Limits::write_time`].

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use termbridge_mcp::{FrameEnds, Frames};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tracing::Instrument;

use crate::connections::Kept;
use crate::gate::Admitted;
use crate::limits::Limits;
use crate::server::Shared;

/// The name of the protocol inside, for clients that ask for one.
const PROTOCOL: &str = "mcp";
/// How long a server may take to end once its client is gone.
const LAST_WORK: Duration = Duration::from_secs(5);

pub(crate) async fn upgrade(
    State(shared): State<Arc<Shared>>,
    Extension(admitted): Extension<Admitted>,
    Extension(kept): Extension<Arc<Kept>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let most = shared.limits.max_body;
    let upgrade = upgrade.protocols([PROTOCOL]).max_message_size(most).max_frame_size(most);
    // What does not fit into a peer that has stopped reading.
    let upgrade = upgrade.max_write_buffer_size(2 * most.max(128 * 1024));
    let tracked = shared.connections.token();
    let span = tracing::info_span!("websocket", token = admitted.identity.client.principal);
    upgrade.on_upgrade(move |socket| {
        let talking = async move {
            talk(&shared, admitted, socket).await;
            // The connection's place would else end with the upgrade.
            drop((tracked, kept));
        };
        talking.instrument(span)
    })
}

async fn talk(shared: &Shared, admitted: Admitted, socket: WebSocket) {
    let Admitted { identity, admission } = admitted;
    let (frames, FrameEnds { incoming, outgoing }) = Frames::pair();
    let mut serving = tokio::spawn(shared.endpoint.serve_frames(identity, frames));
    let (mut sink, stream) = socket.split();
    let (heard, last_heard) = tokio::sync::watch::channel(Instant::now());
    // Both at once: an answer that waits to be read must not keep a request from being read, nor the other way round.
    let close = tokio::select! {
        close = receive(stream, &incoming, &heard) => close,
        close = send(&mut sink, outgoing, last_heard, &shared.limits) => close,
        () = admission.ended.cancelled() => Some((close_code::POLICY, "the token is no longer valid")),
        () = shared.stop.cancelled() => Some((close_code::AWAY, "the server ends")),
    };
    if let Some((code, reason)) = close {
        let frame = CloseFrame { code, reason: reason.into() };
        let _ = timeout(shared.limits.write_time, sink.send(Message::Close(Some(frame)))).await;
    }
    // Its server hears that the client is gone.
    drop(incoming);
    if timeout(LAST_WORK, &mut serving).await.is_err() {
        serving.abort();
    }
}

/// Why a connection is closed; nothing where the peer is gone.
type Close = Option<(u16, &'static str)>;

/// Hands on what comes until nothing more does.
async fn receive(
    mut stream: SplitStream<WebSocket>,
    incoming: &mpsc::Sender<Bytes>,
    heard: &tokio::sync::watch::Sender<Instant>,
) -> Close {
    while let Some(message) = stream.next().await {
        heard.send_replace(Instant::now());
        match message {
            Ok(Message::Text(text)) => {
                if incoming.send(text.into()).await.is_err() {
                    return Some((close_code::NORMAL, "the server has ended the connection"));
                }
            }
            Ok(Message::Binary(_)) => return Some((close_code::UNSUPPORTED, "text messages only")),
            // The library answers pings.
            Ok(Message::Ping(_) | Message::Pong(_)) => {}
            Ok(Message::Close(_)) => return None,
            Err(error) => {
                tracing::debug!(%error, "a WebSocket cannot be read");
                return Some((close_code::SIZE, "the message is too long or malformed"));
            }
        }
    }
    None
}

/// Sends what the server says, and pings, until one of them cannot be sent.
async fn send(
    sink: &mut SplitSink<WebSocket, Message>,
    mut outgoing: mpsc::Receiver<Vec<u8>>,
    last_heard: tokio::sync::watch::Receiver<Instant>,
    limits: &Limits,
) -> Close {
    let mut pings =
        tokio::time::interval_at(Instant::now() + limits.ping_interval, limits.ping_interval);
    loop {
        let message = tokio::select! {
            message = outgoing.recv() => match message.map(String::from_utf8) {
                Some(Ok(text)) => Message::Text(text.into()),
                // JSON is text.
                Some(Err(_)) => continue,
                None => return Some((close_code::NORMAL, "the server has ended the connection")),
            },
            _ = pings.tick() => {
                if last_heard.borrow().elapsed() > limits.silence {
                    return Some((close_code::POLICY, "nothing was heard of the client"));
                }
                Message::Ping(Bytes::new())
            }
        };
        match timeout(limits.write_time, sink.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return None,
        }
    }
}
