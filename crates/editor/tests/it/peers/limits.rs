//! Times and sizes, on a clock of the test's own.

use std::time::Duration;

use serde_json::json;
use termbridge_editor::{
    Admission, GREETING_PAUSE, MAX_MESSAGE, MAX_REQUESTS, PING_INTERVAL, PeerError, REPLY_LIMIT,
};
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

use super::support::{LineClient, Seen, plain_pair, plain_service};

#[tokio::test(start_paused = true)]
async fn a_silent_peer_is_a_plain_one() {
    let (service, mut seen) = plain_service();
    let began = Instant::now();
    let mut client = LineClient::connect(&service, Admission::Anyone);
    client.expect("ping").await;
    assert_eq!(began.elapsed(), GREETING_PAUSE);
    let peer = seen.joined().await;
    assert!(!peer.is_window());
    assert_eq!(began.elapsed(), GREETING_PAUSE + Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn pings_come_every_30_s_and_a_dead_peer_is_noticed() {
    let (mut client, peer, mut seen) = plain_pair().await;
    let began = Instant::now();
    for round in 1..=3 {
        client.greet_as_plain().await;
        assert_eq!(began.elapsed(), PING_INTERVAL * round);
    }
    client.expect("ping").await;
    // The test's clock stands still while somebody works, so the limits are exact.
    peer.closed().await;
    assert_eq!(began.elapsed(), PING_INTERVAL * 4 + REPLY_LIMIT);
    assert_eq!(seen.left().await, peer.id());
    assert_eq!(client.next().await, None, "the connection is closed");
}

#[tokio::test(start_paused = true)]
async fn a_reply_has_30_s() {
    let (mut client, peer, _seen) = plain_pair().await;
    let began = Instant::now();
    let requesting = peer.request("execute", json!({"command": "true", "terminalId": "t"}));
    let answering = async {
        let (id, _) = client.expect("execute").await;
        client.greet_as_plain().await;
        id
    };
    let (outcome, id) = tokio::join!(requesting, answering);
    assert_eq!(outcome, Err(PeerError::TimedOut { was_written: true }));
    assert_eq!(began.elapsed(), REPLY_LIMIT);
    // A late one is a reply to nothing.
    client.send_json(json!({"type": "success", "id": id, "data": {"output": "late"}})).await;
    let requesting = peer.request("execute", json!({"command": "true", "terminalId": "t"}));
    let answering = async {
        let (id, _) = client.expect("execute").await;
        client.send_json(json!({"type": "success", "id": id, "data": {"output": "new"}})).await;
    };
    let (outcome, ()) = tokio::join!(requesting, answering);
    assert!(matches!(outcome, Ok(reply) if format!("{reply:?}").contains("new")));
}

#[tokio::test]
async fn at_most_64_requests_are_under_way() {
    let (mut client, peer, _seen) = plain_pair().await;
    let requests: Vec<_> = (0..=MAX_REQUESTS)
        .map(|_| {
            let peer = peer.clone();
            tokio::spawn(async move { peer.request("execute", json!({"command": "true"})).await })
        })
        .collect();
    let mut ids = Vec::new();
    for _ in 0..MAX_REQUESTS {
        ids.push(client.expect("execute").await.0);
    }
    // A notice overtakes the request that waits for room.
    peer.notify("focus", json!({})).await.expect("sent");
    client.expect("focus").await;
    let id = &ids[0];
    client.send_json(json!({"type": "success", "id": id, "data": {"output": ""}})).await;
    client.expect("execute").await;
    drop(client);
    let mut results = Vec::new();
    for request in requests {
        results.push(request.await.expect("no panic").is_ok());
    }
    assert_eq!(results.iter().filter(|is_ok| **is_ok).count(), 1);
}

#[tokio::test]
async fn a_huge_message_ends_the_connection() {
    let (mut client, peer, mut seen) = plain_pair().await;
    let too_long = json!({"text": "x".repeat(MAX_MESSAGE)});
    let refused = peer.notify("output", too_long).await;
    assert!(matches!(refused, Err(PeerError::TooLong(bytes)) if bytes > MAX_MESSAGE));
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..20 {
        if client.writer.write_all(&chunk).await.is_err() {
            break;
        }
    }
    assert!(matches!(seen.next().await, Seen::Left(id) if id == peer.id()));
}

#[tokio::test]
async fn a_large_message_is_one() {
    let (mut client, peer, _seen) = plain_pair().await;
    let output = "x".repeat(8 << 20);
    let requesting = peer.request("execute", json!({"command": "true"}));
    let answering = async {
        let (id, _) = client.expect("execute").await;
        client.send_json(json!({"type": "success", "id": id, "data": {"output": output}})).await;
    };
    let (outcome, ()) = tokio::join!(requesting, answering);
    assert!(outcome.is_ok());
}
