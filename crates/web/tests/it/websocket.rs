//! MCP over WebSocket.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use termbridge_mcp::Scope;
use termbridge_web::Limits;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::support::{Bed, LEGACY, await_that};

/// A client on a WebSocket.
pub(crate) struct WsClient {
    pub(crate) socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    next_id: u64,
}

impl WsClient {
    pub(crate) async fn open(bed: &Bed, token: &str) -> Self {
        let mut request =
            format!("ws://{}/ws", bed.address).into_client_request().expect("a request");
        let bearer = format!("Bearer {token}").parse().expect("a header");
        request.headers_mut().insert("Authorization", bearer);
        let (socket, _) = connect_async(request).await.expect("a WebSocket");
        Self { socket, next_id: 0 }
    }

    pub(crate) async fn initialized(bed: &Bed, token: &str) -> Self {
        let mut client = Self::open(bed, token).await;
        let params = json!({
            "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = client.request("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], LEGACY, "{answer}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        // With newlines: a message is a message however it is laid out.
        let text = serde_json::to_string_pretty(message).expect("JSON");
        self.socket.send(Message::text(text)).await.expect("sent");
    }

    /// The next message; `None` when the server has closed.
    async fn receive(&mut self) -> Option<Value> {
        loop {
            match self.socket.next().await?.ok()? {
                Message::Text(text) => return Some(serde_json::from_str(&text).expect("JSON")),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        loop {
            let message = self.receive().await.expect("an answer");
            if message["id"] == id {
                return message;
            }
        }
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut answer =
            self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        answer["result"].take()
    }

    /// The code with which the server closes.
    async fn close_code(&mut self) -> Option<u16> {
        while let Some(Ok(message)) = self.socket.next().await {
            if let Message::Close(frame) = message {
                return frame.map(|frame| frame.code.into());
            }
        }
        None
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_exchange() {
    let bed = Bed::start().await;
    let mut client = WsClient::initialized(&bed, &bed.token(Scope::Write)).await;
    let listed = client.request("tools/list", json!({})).await;
    assert!(listed["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 10), "{listed}");
    let launched = client.call("launch_app", json!({"command": "cat"})).await;
    let id = launched["structuredContent"]["session_id"].clone();
    client.call("send_keys", json!({"session_id": id, "text": "over a socket\n"})).await;
    let seen = client
        .call("wait_for", json!({"session_id": id, "text": "over a socket", "timeout_ms": 30_000}))
        .await;
    assert_eq!(seen["structuredContent"]["fired"], "text", "{seen}");
    // Notices come without being asked for.
    let uri = format!("terminal://sessions/{}/screen", id.as_str().expect("an id"));
    let templates = client.request("resources/list", json!({})).await;
    let resources = templates["result"]["resources"].as_array().cloned().unwrap_or_default();
    let uri = resources
        .iter()
        .filter_map(|one| one["uri"].as_str())
        .find(|uri| uri.contains("screen"))
        .unwrap_or(&uri);
    let subscribed = client.request("resources/subscribe", json!({"uri": uri})).await;
    assert!(subscribed.get("result").is_some(), "{subscribed}");
    client
        .send(&json!({"jsonrpc": "2.0", "id": "k", "method": "tools/call",
        "params": {"name": "send_keys", "arguments": {"session_id": id, "text": "more\n"}}}))
        .await;
    loop {
        let message = client.receive().await.expect("a notice");
        if message["method"] == "notifications/resources/updated" {
            break;
        }
    }
    client.socket.send(Message::text("{ no json")).await.expect("sent");
    loop {
        let message = client.receive().await.expect("an answer");
        if message["error"]["code"] == -32700 {
            break;
        }
    }
    drop(client);
    await_that("its server has ended", || bed.server.metrics().clients() == 0).await;
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_belong_closes_it() {
    let limits = Limits { max_body: 100_000, ..Limits::default() };
    let bed = Bed::limited(limits).await;
    let token = bed.token(Scope::Write);
    let mut client = WsClient::initialized(&bed, &token).await;
    client.socket.send(Message::binary(vec![1, 2, 3])).await.expect("sent");
    assert_eq!(client.close_code().await, Some(1003));
    let mut client = WsClient::initialized(&bed, &token).await;
    // The server may have closed before all of it is sent.
    let _ = client.socket.send(Message::text("x".repeat(200_000))).await;
    assert!(matches!(client.close_code().await, Some(1009) | None));
    await_that("no client is left", || bed.server.metrics().clients() == 0).await;
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silence_closes_it_and_pings_keep_it() {
    let interval = Duration::from_millis(100);
    let limits = Limits { ping_interval: interval, silence: 3 * interval, ..Limits::default() };
    let bed = Bed::limited(limits).await;
    let token = bed.token(Scope::Write);
    let silent = WsClient::initialized(&bed, &token).await;
    // One that is read answers pings, without our doing.
    let mut lively = WsClient::initialized(&bed, &token).await;
    let seen = tokio::spawn(async move {
        let until = tokio::time::Instant::now() + Duration::from_millis(1200);
        let _ = tokio::time::timeout_at(until, lively.receive()).await;
        lively.request("ping", json!({})).await
    });
    await_that("the silent one is gone", || bed.server.metrics().clients() == 1).await;
    let answer = seen.await.expect("the lively one is there");
    assert!(answer.get("result").is_some(), "{answer}");
    drop(silent);
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_ends_with_its_token_and_with_the_server() {
    let bed = Bed::start().await;
    let (id, token) = bed.new_token(Scope::Write);
    let mut client = WsClient::initialized(&bed, &token).await;
    bed.tokens.revoke(&id).expect("revoked");
    assert_eq!(client.close_code().await, Some(1008));
    let mut client = WsClient::initialized(&bed, &bed.token(Scope::Write)).await;
    let closed = tokio::spawn(async move { client.close_code().await });
    bed.end().await;
    assert_eq!(closed.await.expect("closed"), Some(1001));
}
