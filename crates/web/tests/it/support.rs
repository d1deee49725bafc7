//! A server in this process, and a client that speaks HTTP by hand, so that it can say what no library would.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use termbridge_bridge::policy::{Policy, PolicyConfig};
use termbridge_bridge::session::{Sessions, Settings};
use termbridge_bridge::{Bridge, BridgeSettings, DebugSettings, NativeBackend};
use termbridge_mcp::http::{HttpEndpoint, HttpSettings};
use termbridge_mcp::{McpServer, Offer, Scope, Structured, Toolset};
use termbridge_web::{Limits, NewToken, TokenStore, WebServer, WebSettings};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// For a machine that does much else: only a failing test takes this long.
const PATIENCE: Duration = Duration::from_secs(40);
pub(crate) const STATELESS: &str = "2026-07-28";
pub(crate) const LEGACY: &str = "2025-11-25";

/// A server and what it stands on.
pub(crate) struct Bed {
    pub(crate) folder: TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) server: McpServer,
    pub(crate) tokens: TokenStore,
    sessions: Sessions,
    stop: CancellationToken,
    running: JoinHandle<()>,
}

pub(crate) fn mcp_server(folder: &TempDir) -> (McpServer, Sessions) {
    let sessions = Sessions::new(Settings::default());
    let backend = Arc::new(NativeBackend::new(sessions.clone()));
    let home = folder.path().to_owned();
    let policy = Policy::new(&PolicyConfig::default(), &home).expect("a policy");
    let mut settings = BridgeSettings::new("bash", home.clone(), home.clone());
    // No start-up files of whoever runs the tests.
    settings.env.insert("HOME".into(), home.display().to_string());
    let mut offer = Offer::new(Toolset::DEFAULT, DebugSettings::new(home));
    offer.structured = Structured::Always;
    let server = McpServer::new(Bridge::new(backend, settings, policy, None), offer);
    (server.expect("all tools are known"), sessions)
}

impl Bed {
    pub(crate) async fn start() -> Self {
        Self::with(WebSettings::default(), HttpSettings::default()).await
    }

    pub(crate) async fn limited(limits: Limits) -> Self {
        let settings = WebSettings { limits, ..WebSettings::default() };
        Self::with(settings, HttpSettings::default()).await
    }

    pub(crate) async fn with(settings: WebSettings, http: HttpSettings) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (server, sessions) = mcp_server(&folder);
        let stop = CancellationToken::new();
        let endpoint = Arc::new(HttpEndpoint::new(server.clone(), &http));
        let tokens = Arc::new(TokenStore::new(folder.path()));
        let address = "127.0.0.1:0".parse().expect("an address");
        let web = WebServer::bind(address, settings, endpoint, tokens, stop.clone()).await;
        let web = web.expect("it listens");
        let address = web.address();
        let running = tokio::spawn(web.run(Duration::from_millis(200)));
        // Another one, as `termbridge token` is.
        let tokens = TokenStore::new(folder.path());
        Self { folder, address, server, tokens, sessions, stop, running }
    }

    pub(crate) fn token(&self, scope: Scope) -> String {
        self.new_token(scope).1
    }

    /// A token's id and text.
    pub(crate) fn new_token(&self, scope: Scope) -> (String, String) {
        let new = NewToken { scope, ..NewToken::default() };
        let (token, text) = self.tokens.create(new).expect("a token");
        (token.id, text)
    }

    /// Ends the server as a signal would.
    pub(crate) async fn end(self) {
        self.server.end_waits();
        self.stop.cancel();
        let ended = tokio::time::timeout(PATIENCE, self.running).await;
        ended.expect("the server ends").expect("without a panic");
        self.sessions.shutdown().await;
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("a connection")
    }

    /// Sends bytes and reads the answer to the end of the connection.
    pub(crate) async fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect().await;
        stream.write_all(request).await.expect("sent");
        Answer::read(&mut stream).await
    }

    /// A request with these headers; `Host` is the right one unless it is among them.
    pub(crate) async fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        self.raw(request_text(self.address, method, path, headers, body).as_bytes()).await
    }
}

pub(crate) fn request_text(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> String {
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        text.push_str(&format!("Host: {address}\r\n"));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    format!("{text}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// An HTTP answer.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) async fn read(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> Self {
        let mut bytes = Vec::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await;
        // A connection that is cut off has what came until then.
        let _ = read.expect("the answer ends");
        Self::parse(&String::from_utf8_lossy(&bytes))
    }

    pub(crate) fn parse(text: &str) -> Self {
        let Some((head, body)) = text.split_once("\r\n\r\n") else { return Self::default() };
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let headers: HashMap<String, String> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let is_chunked = headers.get("transfer-encoding").is_some_and(|value| value == "chunked");
        let body = if is_chunked { unchunked(body) } else { body.to_owned() };
        Self { status: status.unwrap_or_default(), headers, body }
    }

    /// The JSON-RPC answer in it: the whole body, or an event's data.
    pub(crate) fn json(&self) -> Value {
        let events = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let texts = events.chain([self.body.as_str()]);
        let all: Vec<Value> =
            texts.filter_map(|text| serde_json::from_str(text.trim()).ok()).collect();
        let is_answer =
            |value: &&Value| value.get("result").is_some() || value.get("error").is_some();
        all.iter().find(is_answer).cloned().unwrap_or_default()
    }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or_default();
        let Some(chunk) = rest.get(..size).filter(|chunk| !chunk.is_empty()) else { break };
        whole.push_str(chunk);
        body = rest.get(size + 2..).unwrap_or_default();
    }
    whole
}

/// A call as a client of 2026-07-28 sends it: path, headers and body.
pub(crate) fn stateless_call(
    client: &str,
    tool: &str,
    arguments: &Value,
) -> (Vec<(String, String)>, String) {
    let params = json!({
        "name": tool,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": {"name": client, "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let headers = [
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
        ("MCP-Protocol-Version", STATELESS),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", tool),
    ];
    (headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into(), body.to_string())
}

/// A client with a token; with a session where it speaks an earlier version.
#[derive(Debug, Clone)]
pub(crate) struct HttpClient {
    address: SocketAddr,
    authorization: String,
    pub(crate) session: Option<String>,
    /// What it calls itself where it has no session.
    pub(crate) name: String,
}

impl HttpClient {
    pub(crate) fn stateless(bed: &Bed, token: &str) -> Self {
        let authorization = format!("Bearer {token}");
        Self { address: bed.address, authorization, session: None, name: "test".into() }
    }

    pub(crate) async fn with_session(bed: &Bed, token: &str) -> Self {
        let mut client = Self::stateless(bed, token);
        let params = json!({
            "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let answer = client.post(&[], &body.to_string()).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.json()["result"]["protocolVersion"], LEGACY, "{answer:?}");
        client.session = answer.headers.get("mcp-session-id").cloned();
        assert!(client.session.is_some(), "{answer:?}");
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let answer = client.post(&[], &initialized.to_string()).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        client
    }

    pub(crate) async fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut all = vec![("Authorization", self.authorization.as_str())];
        all.extend(headers);
        if let Some(session) = &self.session {
            all.extend([("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", LEGACY)]);
        }
        let mut stream = TcpStream::connect(self.address).await.expect("a connection");
        let text = request_text(self.address, method, "/mcp", &all, body);
        stream.write_all(text.as_bytes()).await.expect("sent");
        Answer::read(&mut stream).await
    }

    pub(crate) async fn post(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut all = vec![
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
        ];
        all.extend(headers.iter().filter(|(name, _)| !["Accept", "Content-Type"].contains(name)));
        self.send("POST", &all, body).await
    }

    /// Calls a tool; what it answered, or the JSON-RPC error.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let (headers, mut body) = stateless_call(&self.name, tool, &arguments);
        let mut headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        if self.session.is_some() {
            headers.clear();
            let params = json!({"name": tool, "arguments": arguments});
            body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
                .to_string();
        }
        let answer = self.post(&headers, &body).await;
        assert_eq!(answer.status, 200, "{tool}: {answer:?}");
        let mut message = answer.json();
        match message.get("result") {
            Some(_) => message["result"].take(),
            None => message,
        }
    }
}

/// Waits until something holds.
pub(crate) async fn await_that(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "not so: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The value of a counter in `/metrics`.
pub(crate) async fn counter(bed: &Bed, token: &str, name: &str) -> Option<f64> {
    let authorization = format!("Bearer {token}");
    let answer = bed.request("GET", "/metrics", &[("Authorization", &authorization)], "").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let line = answer.body.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok())
}

/// A client on the unix socket.
pub(crate) struct SocketClient {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
}

impl SocketClient {
    pub(crate) async fn connect(path: &Path) -> Self {
        let (reader, writer) = UnixStream::connect(path).await.expect("connected").into_split();
        Self { lines: BufReader::new(reader).lines(), writer }
    }

    /// One that has shaken hands, after it has said this of itself.
    pub(crate) async fn open(path: &Path, hello: Option<Value>) -> Self {
        let mut client = Self::connect(path).await;
        if let Some(hello) = hello {
            let answer = client.ask(&json!({"termbridge": hello})).await;
            assert_eq!(answer["termbridge"]["pid"], std::process::id(), "{answer}");
        }
        let params = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let initialize =
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let greeted = client.ask(&initialize).await;
        assert!(greeted.get("result").is_some(), "{greeted}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.expect("sent");
    }

    pub(crate) async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        loop {
            let line = self.lines.next_line().await.expect("read").expect("an answer");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            if answer["id"] == message["id"] {
                return answer;
            }
        }
    }
}
