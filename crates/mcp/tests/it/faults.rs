//! A panic in a tool is that call's error; the connection and other calls go on.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use termbridge_bridge::session::{CommandReport, Scrollback, SessionError, SessionId, SessionInfo};
use termbridge_bridge::{Awaited, NewSession, TerminalBackend, Until};
use termbridge_mcp::McpServer;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

/// Panics when its sessions are listed, and has none.
struct Faulty;

#[async_trait]
impl TerminalBackend for Faulty {
    async fn create_session(&self, _: NewSession) -> Result<SessionInfo, SessionError> {
        Err(SessionError::System("no sessions here".into()))
    }

    async fn list_sessions(&self) -> Result<Vec<SessionInfo>, SessionError> {
        tokio::task::yield_now().await;
        panic!("a fault on request")
    }

    async fn session(&self, id: &SessionId) -> Result<SessionInfo, SessionError> {
        Err(SessionError::NotFound(id.clone()))
    }

    async fn start_command(
        &self,
        id: &SessionId,
        _: &str,
        _: Duration,
    ) -> Result<u64, SessionError> {
        Err(SessionError::NotFound(id.clone()))
    }

    async fn wait_command(
        &self,
        _: &SessionId,
        _: u64,
        _: Awaited,
        _: Duration,
    ) -> Result<Until, SessionError> {
        Ok(Until::Over)
    }

    async fn command(
        &self,
        _: &SessionId,
        _: u64,
        _: u64,
        _: u64,
    ) -> Result<Option<CommandReport>, SessionError> {
        Ok(None)
    }

    async fn terminal_text(&self, _: &SessionId, _: usize) -> Result<Scrollback, SessionError> {
        Ok(Scrollback::default())
    }

    async fn interrupt(&self, _: &SessionId, _: u64) -> Result<(), SessionError> {
        Ok(())
    }
}

/// A client of one server in this process.
struct Client {
    reader: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    next: u64,
}

impl Client {
    async fn connect(backend: impl TerminalBackend) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        tokio::spawn(McpServer::with_backend(Arc::new(backend)).serve(reader, writer));
        let (reader, writer) = tokio::io::split(ours);
        let mut client = Self { reader: BufReader::new(reader).lines(), writer, next: 0 };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"}});
        client.request("initialize", hello).await;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.expect("the server reads");
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.send(&request).await;
        loop {
            let line = self.reader.next_line().await.expect("the server writes");
            let line = line.expect("the server is still there");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == self.next {
                return message;
            }
        }
    }

    async fn call(&mut self, tool: &str) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": {}})).await;
        answer["result"]["structuredContent"]["error"]["code"].clone()
    }
}

#[tokio::test]
async fn a_panicking_tool_leaves_the_others_alive() {
    let mut client = Client::connect(Faulty).await;
    for _ in 0..3 {
        assert_eq!(client.call("list_sessions").await, "INTERNAL_ERROR");
        assert_eq!(client.call("get_terminal_output").await, "SESSION_NOT_FOUND");
    }
}

#[tokio::test]
async fn a_panicking_request_is_answered() {
    let mut client = Client::connect(Faulty).await;
    let answer = client.request("resources/read", json!({"uri": "term://sessions"})).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    let answer = client.request("resources/list", json!({})).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert_eq!(client.call("get_terminal_output").await, "SESSION_NOT_FOUND");
}
