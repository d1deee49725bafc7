//! A hub with real sessions, and an extension that speaks the protocol.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use termbridge_bridge::policy::{Policy, PolicyConfig};
use termbridge_bridge::{Bridge, BridgeSettings, NativeBackend};
use termbridge_editor::{Admission, EditorService, Peer, TerminalEvent, Terminals, lines, serve};
use termbridge_session::{Launch, Session, Sessions, Settings};
use termbridge_viewers::SessionWindows;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio_util::sync::CancellationToken;

/// Nothing here takes this long unless it hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);
/// Bytes on their way: little, so that a window that does not read is noticed.
const ON_THE_WAY: usize = 64 * 1024;

/// Nobody uses the windows' own terminals here.
struct NoTerminals;

#[async_trait]
impl Terminals for NoTerminals {
    fn joined(&self, _peer: &Peer) {}

    async fn event(&self, _peer: &Peer, _event: TerminalEvent) {}

    fn left(&self, _peer: &Peer) {}
}

pub(crate) struct Bed {
    pub(crate) sessions: Sessions,
    pub(crate) bridge: Bridge,
    service: EditorService,
}

impl Bed {
    pub(crate) fn new() -> Self {
        let sessions = Sessions::new(Settings::default());
        let backend = Arc::new(NativeBackend::new(sessions.clone()));
        let policy = Policy::new(&PolicyConfig::default(), "/".as_ref()).expect("a policy");
        let settings = BridgeSettings::new("bash", "/".into(), "/".into());
        let bridge = Bridge::new(backend, settings, policy, None);
        let service = EditorService {
            windows: Arc::new(SessionWindows::new(bridge.clone(), "1.2.3")),
            terminals: Arc::new(NoTerminals),
            is_valid_token: Arc::new(|_| false),
        };
        Self { sessions, bridge, service }
    }

    pub(crate) async fn launch(&self, launch: Launch) -> Session {
        self.sessions.launch(launch).await.expect("launches")
    }

    pub(crate) fn script(&self, text: &str) -> impl Future<Output = Session> {
        self.launch(Launch::new("/bin/sh").args(["-c", text]))
    }

    /// A window with these folders, welcomed.
    pub(crate) async fn window(&self, name: &str, folders: &[&str]) -> (Extension, Value) {
        self.returning(name, folders, &[]).await
    }

    /// The same for one whose person drove these sessions before.
    pub(crate) async fn returning(
        &self,
        name: &str,
        folders: &[&str],
        driving: &[&str],
    ) -> (Extension, Value) {
        let (ours, theirs) = tokio::io::duplex(ON_THE_WAY);
        let (reader, writer) = tokio::io::split(ours);
        let service = self.service.clone();
        tokio::spawn(async move {
            let stop = CancellationToken::new();
            serve(lines(reader, writer), Admission::Windows, &service, &stop).await;
        });
        let (reader, writer) = tokio::io::split(theirs);
        let mut window =
            Extension { reader: BufReader::new(reader), writer, seen: Vec::new(), ids: 0 };
        let hello = json!({"protocol": 1, "window": name, "editor": "test", "folders": folders,
            "trusted": true, "driving": driving});
        window.send("hello", "0", hello).await;
        let welcome = window.reply("0").await;
        assert_eq!(welcome["type"], "welcome", "{welcome}");
        (window, welcome["data"].clone())
    }
}

/// The extension's end of a connection.
pub(crate) struct Extension {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    /// Notices that came while something else was waited for.
    seen: Vec<Value>,
    ids: u64,
}

impl Extension {
    async fn send(&mut self, kind: &str, id: &str, data: Value) {
        let line = format!("{}\n", json!({"type": kind, "id": id, "data": data}));
        self.writer.write_all(line.as_bytes()).await.expect("sent");
    }

    async fn receive(&mut self) -> Value {
        let mut line = String::new();
        let read = tokio::time::timeout(LIMIT, self.reader.read_line(&mut line)).await;
        assert_ne!(read.expect("a message in time").expect("read"), 0, "it is gone");
        serde_json::from_str(&line).expect("JSON")
    }

    async fn reply(&mut self, id: &str) -> Value {
        loop {
            let message = self.receive().await;
            if message["id"] == id {
                return message;
            }
            self.seen.push(message);
        }
    }

    /// A request's answer.
    pub(crate) async fn ask(&mut self, kind: &str, data: Value) -> Value {
        self.ids += 1;
        let id = self.ids.to_string();
        self.send(kind, &id, data).await;
        self.reply(&id).await
    }

    /// The same where it is to succeed.
    #[track_caller]
    pub(crate) fn does(&mut self, kind: &str, data: Value) -> impl Future<Output = Value> {
        let at = std::panic::Location::caller();
        async move {
            let answer = self.ask(kind, data).await;
            assert_eq!(answer["type"], "success", "{at}: {answer}");
            answer["data"].clone()
        }
    }

    /// The next notice that is as it should be; those before it are dropped.
    pub(crate) async fn told(&mut self, is_it: impl Fn(&str, &Value) -> bool) -> Value {
        loop {
            let message = match self.seen.is_empty() {
                true => self.receive().await,
                false => self.seen.remove(0),
            };
            if is_it(message["type"].as_str().unwrap_or_default(), &message["data"]) {
                return message["data"].clone();
            }
        }
    }

    /// Reads what a terminal is given until it shows a text; all of it.
    pub(crate) async fn shown(&mut self, text: &str) -> String {
        let mut all = String::new();
        while !all.contains(text) {
            let kinds = ["dump", "output", "frame"];
            let data = self.told(|kind, _| kinds.contains(&kind)).await;
            all.push_str(data["data"].as_str().expect("text"));
        }
        all
    }
}
