//! Clients that come, begin something and go: nothing of them stays.

use serde_json::json;
use termbridge_mcp::Scope;
use tokio::io::AsyncWriteExt;

use crate::support::{Bed, HttpClient, await_that, request_text, stateless_call};
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

fn entries(bed: &Bed) -> usize {
    std::fs::read_dir(bed.folder.path()).expect("a folder").count()
}
