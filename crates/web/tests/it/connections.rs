//! Clients that come, begin something and go: nothing of them stays.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use termbridge_mcp::socket::{ServerFolder, SocketListener, SocketServer};
use termbridge_mcp::{Calls, Scope};
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

use crate::support::{Bed, HttpClient, SocketClient, await_that, request_text, stateless_call};
use crate::websocket::WsClient;

/// As many at once as a test process may have descriptors for.
const AT_ONCE: usize = 100;
const ROUNDS: usize = 10;

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("a folder").count()
}

fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_that_leave_in_the_middle_leave_nothing_behind() {
    let bed = Bed::start().await;
    let token = bed.token(Scope::Write);
    let client = HttpClient::stateless(&bed, &token);
    let launched = client.call("launch_app", json!({"command": "cat"})).await;
    let session = launched["structuredContent"]["session_id"].clone();
    let (headers, body) = stateless_call(
        "test",
        "wait_for",
        &json!({"session_id": session, "text": "never", "timeout_ms": 45_000}),
    );
    let bearer = format!("Bearer {token}");
    let mut headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    headers.push(("Authorization", &bearer));
    let waiting = request_text(bed.address, "POST", "/mcp", &headers, &body);
    // Everything that stays has been made.
    WsClient::initialized(&bed, &token).await;
    await_that("only the token's own server is left", || bed.server.metrics().clients() == 1).await;
    let (before, files) = ((tasks(), descriptors()), entries(&bed));
    for _ in 0..ROUNDS {
        let mut open = Vec::new();
        for number in 0..AT_ONCE {
            if number % 10 == 9 {
                let mut client = WsClient::initialized(&bed, &token).await;
                let params = json!({"name": "wait_for", "arguments":
                    {"session_id": session, "text": "never", "timeout_ms": 45_000}});
                client.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})).await;
                open.push(client.socket.into_inner());
                continue;
            }
            let mut stream = bed.connect().await;
            let sent = match number % 3 {
                0 => 0,
                1 => waiting.len() / 2,
                _ => waiting.len(),
            };
            stream.write_all(&waiting.as_bytes()[..sent]).await.expect("sent");
            open.push(tokio_tungstenite::MaybeTlsStream::Plain(stream));
        }
        drop(open);
    }
    let settled = || tasks() <= before.0 && descriptors() <= before.1;
    await_that("tasks and descriptors are as before", settled).await;
    assert_eq!(bed.server.metrics().clients(), 1);
    assert_eq!(entries(&bed), files);
    // Nor did anyone's wait end another's: the session answers.
    let seen = client.call("view_screen", json!({"session_id": session})).await;
    assert_ne!(seen["isError"], true, "{seen}");
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_on_the_socket_leave_nothing_behind() {
    let bed = Bed::start().await;
    let runtime = tempfile::tempdir().expect("a folder");
    let folder = ServerFolder::open(Some(runtime.path()), runtime.path()).expect("a folder");
    let listener = SocketListener::bind(&folder).expect("a socket");
    let (path, stop) = (listener.path(), CancellationToken::new());
    let calls = Arc::new(Calls::open(&folder.calls()));
    let server = bed.server.clone().with_calls(calls);
    let serving = SocketServer::new(listener).run(server, stop.clone(), Duration::ZERO);
    let serving = tokio::spawn(serving);
    let files = || std::fs::read_dir(folder.path()).expect("a folder").count();
    let call = |id: u64, tool: &str, arguments: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}})
    };
    let mut first = SocketClient::open(&path, Some(world("first"))).await;
    let made = first.ask(&call(1, "launch_app", json!({"command": "cat"}))).await;
    let session = &made["result"]["structuredContent"]["session_id"];
    let never = json!({"session_id": session, "text": "never", "timeout_ms": 45_000});
    let before = (tasks(), descriptors(), files());
    for round in 0..ROUNDS {
        let mut open = Vec::new();
        for number in 0..AT_ONCE {
            let key = format!("{round} {number}");
            let mut client = match number % 3 {
                0 => SocketClient::connect(&path).await,
                1 => SocketClient::open(&path, None).await,
                // One that might come again.
                _ => SocketClient::open(&path, Some(world(&key))).await,
            };
            if number % 3 > 0 {
                client.send(&call(7, "wait_for", never.clone())).await;
            }
            open.push(client);
        }
        drop(open);
    }
    let settled = || tasks() <= before.0 && descriptors() <= before.1;
    await_that("tasks and descriptors are as before", settled).await;
    assert_eq!(files(), before.2);
    let seen = first.ask(&call(2, "view_screen", json!({"session_id": session}))).await;
    assert_ne!(seen["result"]["isError"], true, "{seen}");
    drop(first);
    stop.cancel();
    serving.await.expect("it ends");
    bed.end().await;
}

/// What a client says of itself that comes again by this key.
fn world(key: &str) -> Value {
    json!({"protocol": 1, "cwd": "/", "env": {}, "client": "t", "pid": 1, "key": key})
}

fn entries(bed: &Bed) -> usize {
    std::fs::read_dir(bed.folder.path()).expect("a folder").count()
}
