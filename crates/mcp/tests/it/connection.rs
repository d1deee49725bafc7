//! A client of a server in this process, over a pipe.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};
use termbridge_mcp::McpServer;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

/// Nothing here takes this long unless it hangs.
const LIMIT: Duration = Duration::from_secs(30);

pub(crate) struct Connection {
    reader: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    next: u64,
    /// What came while an answer was waited for.
    notices: VecDeque<Value>,
}

impl Connection {
    pub(crate) async fn to(server: McpServer) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        tokio::spawn(server.serve(reader, writer));
        let (reader, writer) = tokio::io::split(ours);
        let reader = BufReader::new(reader).lines();
        let mut client = Self { reader, writer, next: 0, notices: VecDeque::new() };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"}});
        client.request("initialize", hello).await;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.expect("the server reads");
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(LIMIT, self.reader.next_line()).await;
        let line = line.expect("an answer in time").expect("the server writes");
        serde_json::from_str(&line.expect("the server is still there")).expect("JSON")
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.send(&request).await;
        loop {
            let message = self.receive().await;
            if message["id"] == self.next {
                return message;
            }
            self.notices.push_back(message);
        }
    }

    /// The next notice of this kind.
    pub(crate) async fn notice(&mut self, method: &str) -> Value {
        loop {
            let message = match self.notices.pop_front() {
                Some(message) => message,
                None => self.receive().await,
            };
            if message["method"] == method {
                return message["params"].clone();
            }
        }
    }

    /// What a tool answers.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer =
            self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        answer["result"].clone()
    }
}
