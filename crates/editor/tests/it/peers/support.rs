//! A service that records what happens, and clients that speak the bare protocol.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use termbridge_editor::{
    Admission, EditorListener, EditorService, NoSessionsShown, Peer, PeerId, ServerSettings,
    TerminalEvent, Terminals, Windows, lines, serve,
};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use tokio_util::sync::CancellationToken;

use crate::support::limited;

/// The token that is valid.
pub(crate) const TOKEN: &str = "tbt_valid";

/// Something that a connection led to.
#[derive(Debug)]
pub(crate) enum Seen {
    Joined(Peer),
    Event(TerminalEvent),
    Left(PeerId),
}

pub(crate) struct Recorder(mpsc::UnboundedSender<Seen>);

#[async_trait]
impl Terminals for Recorder {
    fn joined(&self, peer: &Peer) {
        let _ = self.0.send(Seen::Joined(peer.clone()));
    }

    async fn event(&self, _peer: &Peer, event: TerminalEvent) {
        let _ = self.0.send(Seen::Event(event));
    }

    fn left(&self, peer: &Peer) {
        let _ = self.0.send(Seen::Left(peer.id()));
    }
}

/// What was seen, in its order.
pub(crate) struct Sightings(mpsc::UnboundedReceiver<Seen>);

impl Sightings {
    pub(crate) async fn next(&mut self) -> Seen {
        limited(self.0.recv()).await.expect("the service is gone")
    }

    pub(crate) async fn joined(&mut self) -> Peer {
        match self.next().await {
            Seen::Joined(peer) => peer,
            other => panic!("no peer, but {other:?}"),
        }
    }

    pub(crate) async fn left(&mut self) -> PeerId {
        match self.next().await {
            Seen::Left(peer) => peer,
            other => panic!("nobody left, but {other:?}"),
        }
    }
}

pub(crate) fn service(windows: impl Windows) -> (EditorService, Sightings) {
    let (sender, seen) = mpsc::unbounded_channel();
    let service = EditorService {
        windows: Arc::new(windows),
        terminals: Arc::new(Recorder(sender)),
        is_valid_token: Arc::new(|token| token == TOKEN),
    };
    (service, Sightings(seen))
}

pub(crate) fn plain_service() -> (EditorService, Sightings) {
    service(NoSessionsShown { version: "1.2.3".into() })
}

/// A connection in memory, a line for each message.
pub(crate) struct LineClient {
    reader: BufReader<ReadHalf<DuplexStream>>,
    pub(crate) writer: WriteHalf<DuplexStream>,
    pub(crate) serving: JoinHandle<()>,
}

impl LineClient {
    pub(crate) fn connect(service: &EditorService, admission: Admission) -> Self {
        Self::with_buffer(service, admission, 64 * 1024)
    }

    /// With room for so many bytes between the two.
    pub(crate) fn with_buffer(service: &EditorService, admission: Admission, bytes: usize) -> Self {
        let (ours, theirs) = tokio::io::duplex(bytes);
        let service = service.clone();
        let serving = tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(theirs);
            serve(lines(reader, writer), admission, &service, &CancellationToken::new()).await;
        });
        let (reader, writer) = tokio::io::split(ours);
        Self { reader: BufReader::with_capacity(1, reader), writer, serving }
    }

    pub(crate) async fn send(&mut self, text: &str) {
        limited(self.writer.write_all(format!("{text}\n").as_bytes())).await.expect("sent");
    }

    pub(crate) async fn send_json(&mut self, message: Value) {
        self.send(&message.to_string()).await;
    }

    /// The next message; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = limited(self.reader.read_line(&mut line)).await.unwrap_or(0);
        (read > 0).then(|| serde_json::from_str(&line).expect("JSON"))
    }

    /// The next message, which has to be of this type, and its id.
    pub(crate) async fn expect(&mut self, kind: &str) -> (String, Value) {
        let message = self.next().await.expect("a message");
        assert_eq!(message["type"], kind, "{message}");
        (message["id"].as_str().unwrap_or_default().to_owned(), message["data"].clone())
    }

    /// Answers the ping that finds out what a silent peer is.
    pub(crate) async fn greet_as_plain(&mut self) {
        let (id, _) = self.expect("ping").await;
        self.send_json(json!({"type": "pong", "id": id})).await;
    }

    pub(crate) async fn hello(&mut self) {
        self.send_json(json!({"type": "hello", "id": "h", "data": hello()})).await;
        self.expect("welcome").await;
    }
}

pub(crate) fn hello() -> Value {
    json!({"protocol": 1, "window": "w1", "editor": "Editor", "folders": ["/work"], "trusted": true})
}

/// A plain peer that has joined, in memory.
pub(crate) async fn plain_pair() -> (LineClient, Peer, Sightings) {
    let (service, mut seen) = plain_service();
    let mut client = LineClient::connect(&service, Admission::Anyone);
    client.greet_as_plain().await;
    let peer = seen.joined().await;
    (client, peer, seen)
}

/// A window that has joined, in memory.
pub(crate) async fn window_pair() -> (LineClient, Peer, Sightings) {
    let (service, mut seen) = plain_service();
    let mut client = LineClient::connect(&service, Admission::Windows);
    client.hello().await;
    let peer = seen.joined().await;
    (client, peer, seen)
}

/// A server that listens, until it is dropped.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) stop: CancellationToken,
    pub(crate) running: Mutex<Option<JoinHandle<()>>>,
}

impl Server {
    pub(crate) async fn start(service: &EditorService, settings: ServerSettings) -> Self {
        let listener = EditorListener::bind(0).await.expect("a port");
        let (port, stop) = (listener.port(), CancellationToken::new());
        let running = tokio::spawn(listener.run(settings, service.clone(), stop.clone()));
        Self { port, stop, running: Mutex::new(Some(running)) }
    }

    pub(crate) async fn end(&self) {
        self.stop.cancel();
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        limited(running.expect("it runs")).await.expect("it ends");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// An extension written to the published protocol, which knows nothing else.
pub(crate) struct PlainClient(pub(crate) WebSocketStream<MaybeTlsStream<TcpStream>>);

impl PlainClient {
    pub(crate) async fn connect(port: u16) -> Self {
        let connecting = tokio_tungstenite::connect_async(format!("ws://localhost:{port}"));
        Self(limited(connecting).await.expect("connected").0)
    }

    pub(crate) async fn send(&mut self, text: &str) {
        limited(self.0.send(Message::text(text))).await.expect("sent");
    }

    /// The next message as it came; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<String> {
        loop {
            match limited(self.0.next()).await {
                Some(Ok(Message::Text(text))) => return Some(text.as_str().to_owned()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    /// The next message and its id.
    pub(crate) async fn next_with_id(&mut self) -> (String, String) {
        let text = self.next().await.expect("a message");
        let message: Value = serde_json::from_str(&text).expect("JSON");
        let id = message["id"].as_str().expect("an id").to_owned();
        (text, id)
    }

    pub(crate) async fn greet(&mut self) {
        let (text, id) = self.next_with_id().await;
        assert_eq!(text, format!(r#"{{"type":"ping","id":"{id}"}}"#));
        self.send(&format!(r#"{{"type":"pong","id":"{id}"}}"#)).await;
    }
}
