//! A debug adapter that does what a test says, over TCP.
//!
//! It is reached by attaching to a server, which is how `dlv --headless` is reached: that adapter
//! speaks the protocol itself.

use serde_json::{Value, json};
use termbridge_dap::framing::{Decoder, encode};
use termbridge_dap::{Configuration, DebugError, DebugSession, Debugger};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::support::limited;

/// A port on which the adapter listens.
pub(crate) struct Fake {
    listener: TcpListener,
    kind: &'static str,
}

/// One connection to the adapter.
pub(crate) struct FakeLink {
    stream: TcpStream,
    decoder: Decoder,
    seq: i64,
}

impl Fake {
    pub(crate) async fn new() -> Self {
        Self::of("go").await
    }

    /// The adapter of another language.
    pub(crate) async fn of(kind: &'static str) -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.expect("a port"), kind }
    }

    pub(crate) fn configuration(&self) -> Configuration {
        let port = self.listener.local_addr().expect("an address").port();
        Configuration::attach_to_server(self.kind, "127.0.0.1", port, "/")
    }

    /// Starts a session in a task of its own.
    pub(crate) fn start(
        &self,
        debugger: &Debugger,
    ) -> JoinHandle<Result<DebugSession, DebugError>> {
        let (debugger, configuration) = (debugger.clone(), self.configuration());
        tokio::spawn(async move { debugger.start(configuration).await })
    }

    pub(crate) async fn accept(&self) -> FakeLink {
        let (stream, _) = limited("a connection", self.listener.accept()).await.expect("accepts");
        FakeLink { stream, decoder: Decoder::default(), seq: 0 }
    }

    /// A session that runs, and the adapter's end of it.
    pub(crate) async fn running(&self, debugger: &Debugger) -> (DebugSession, FakeLink) {
        self.running_with(debugger, json!({"supportsConfigurationDoneRequest": true})).await
    }

    pub(crate) async fn running_with(
        &self,
        debugger: &Debugger,
        capabilities: Value,
    ) -> (DebugSession, FakeLink) {
        let start = self.start(debugger);
        let mut link = self.accept().await;
        link.shake_hands(capabilities).await;
        (start.await.expect("no panic").expect("starts"), link)
    }
}

impl FakeLink {
    /// The next request.
    pub(crate) async fn receive(&mut self) -> Value {
        limited("a request", async {
            let mut buffer = [0; 4096];
            loop {
                if let Some(message) = self.decoder.next_message().expect("frames") {
                    return serde_json::from_slice(message).expect("JSON");
                }
                let count = self.stream.read(&mut buffer).await.expect("reads");
                assert!(count > 0, "the client closed the connection");
                self.decoder.feed(&buffer[..count]);
            }
        })
        .await
    }

    /// The next request, which must be this one.
    pub(crate) async fn expect(&mut self, command: &str) -> Value {
        let request = self.receive().await;
        assert_eq!(request["command"], command, "{request}");
        request
    }

    /// The next request, which must be this one, answered.
    pub(crate) async fn answer(&mut self, command: &str, body: Value) -> Value {
        let request = self.expect(command).await;
        self.respond(&request, body).await;
        request
    }

    pub(crate) async fn respond(&mut self, request: &Value, body: Value) {
        let response = json!({
            "type": "response", "request_seq": request["seq"], "command": request["command"],
            "success": true, "body": body,
        });
        self.send(response).await;
    }

    pub(crate) async fn fail(&mut self, request: &Value, message: &str) {
        let response = json!({
            "type": "response", "request_seq": request["seq"], "command": request["command"],
            "success": false, "message": message,
        });
        self.send(response).await;
    }

    pub(crate) async fn event(&mut self, event: &str, body: Value) {
        self.send(json!({"type": "event", "event": event, "body": body})).await;
    }

    pub(crate) async fn send(&mut self, mut message: Value) {
        self.seq += 1;
        message["seq"] = json!(self.seq);
        self.raw(&encode(&message.to_string())).await;
    }

    pub(crate) async fn raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("writes");
    }

    /// Writes to a client that may be gone.
    pub(crate) async fn try_raw(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// The whole handshake, in the order of debugpy: the answer to the attach comes last.
    pub(crate) async fn shake_hands(&mut self, capabilities: Value) {
        self.answer("initialize", capabilities).await;
        let attach = self.receive().await;
        self.event("initialized", Value::Null).await;
        loop {
            let request = self.receive().await;
            match request["command"].as_str() {
                Some("setBreakpoints") => {
                    let count = request["arguments"]["breakpoints"].as_array().expect("list").len();
                    let list: Vec<_> =
                        (0..count).map(|id| json!({"id": id, "verified": true})).collect();
                    self.respond(&request, json!({"breakpoints": list})).await;
                }
                Some("configurationDone") => {
                    self.respond(&request, Value::Null).await;
                    break;
                }
                _ => self.respond(&request, json!({})).await,
            }
        }
        self.respond(&attach, Value::Null).await;
    }

    /// Stops the program, all threads.
    pub(crate) async fn stop(&mut self, reason: &str) {
        let body = json!({"reason": reason, "threadId": 1, "allThreadsStopped": true});
        self.event("stopped", body).await;
    }

    /// Answers everything that a stop report asks for, the variables last.
    pub(crate) async fn answer_report(&mut self) {
        loop {
            let request = self.receive().await;
            let command = request["command"].as_str().unwrap_or_default().to_owned();
            let body = match command.as_str() {
                "stackTrace" => json!({"stackFrames": [{"id": 1000, "name": "main", "line": 3,
                    "column": 1, "source": {"path": "/nowhere/main.go"}}], "totalFrames": 1}),
                "scopes" => json!({"scopes": [{"name": "Locals", "variablesReference": 1001,
                    "expensive": false}]}),
                "variables" => json!({"variables": [{"name": "x", "value": "1", "type": "int",
                    "variablesReference": 0}]}),
                "threads" => json!({"threads": [{"id": 1, "name": "main thread"}]}),
                other => panic!("unexpected {other}"),
            };
            self.respond(&request, body).await;
            if command == "variables" {
                return;
            }
        }
    }
}
