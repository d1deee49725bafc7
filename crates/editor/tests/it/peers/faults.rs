//! Order, loss, duplicates, garbage.

use serde_json::{Value, json};
use termbridge_editor::{Admission, Peer, PeerError, QUEUE, REPLY_LIMIT, Reply};
use tokio::task::JoinHandle;

use super::support::{LineClient, plain_pair, plain_service};
use crate::support::limited;

type Requested = JoinHandle<Result<Reply, PeerError>>;

fn execute(peer: &Peer, command: &str) -> Requested {
    let (peer, data) = (peer.clone(), json!({"command": command, "terminalId": "t"}));
    tokio::spawn(async move { peer.request("execute", data).await })
}

fn success(id: &str, output: &str) -> Value {
    json!({"type": "success", "id": id, "data": {"output": output}})
}

#[tokio::test]
async fn replies_find_their_requests_in_any_order() {
    let (mut client, peer, _seen) = plain_pair().await;
    let requests: Vec<Requested> =
        (0..10).map(|number| execute(&peer, &format!("echo {number}"))).collect();
    let mut asked = Vec::new();
    for _ in &requests {
        let (id, data) = client.expect("execute").await;
        asked.push((id, data["command"].as_str().expect("a command").to_owned()));
    }
    for (id, command) in asked.iter().rev() {
        client.send_json(success(id, command)).await;
    }
    for (number, request) in requests.into_iter().enumerate() {
        let reply = limited(request).await.expect("no panic");
        assert_eq!(reply, Ok(Reply::Success(json!({"output": format!("echo {number}")}))));
    }
}

#[tokio::test]
async fn garbage_and_replies_to_nothing_are_dropped() {
    let (mut client, peer, _seen) = plain_pair().await;
    let request = execute(&peer, "true");
    let (id, _) = client.expect("execute").await;
    client.writer_raw(b"\xff\xfe\n").await;
    let deep = "[".repeat(100_000);
    for garbage in ["", "nonsense", "{", "[]", "7", "null", "{}", r#"{"type":7}"#, &deep] {
        client.send(garbage).await;
    }
    for reply in [
        json!({"type": "success", "id": "nobody", "data": {"output": "x"}}),
        json!({"type": "success", "data": {"output": "x"}}),
        json!({"type": "success", "id": 7, "data": {"output": "x"}}),
        json!({"type": "exploded", "id": "nobody", "data": {"output": "x"}}),
        json!({"type": "execution_output", "data": {"terminalId": "t"}}),
        json!({"type": "watch", "id": "w", "data": {}}),
    ] {
        client.send_json(reply).await;
    }
    client.send_json(success(&id, "at last")).await;
    // The second is a reply to nothing.
    client.send_json(success(&id, "again")).await;
    let reply = limited(request).await.expect("no panic");
    assert_eq!(reply, Ok(Reply::Success(json!({"output": "at last"}))));

    let request = execute(&peer, "true");
    let (id, _) = client.expect("execute").await;
    client.send_json(success(&id, "it goes on")).await;
    assert!(limited(request).await.expect("no panic").is_ok());
}

impl LineClient {
    async fn writer_raw(&mut self, bytes: &[u8]) {
        use tokio::io::AsyncWriteExt;
        self.writer.write_all(bytes).await.expect("sent");
    }
}

#[tokio::test(start_paused = true)]
async fn a_malformed_reply_fails_its_request_at_once() {
    let (mut client, peer, _seen) = plain_pair().await;
    let began = tokio::time::Instant::now();
    for reply in [
        r#"{"type":"success","id":"ID"}"#,
        r#"{"type":"success","id":"ID","data":{"output":7}}"#,
        r#"{"type":"success","id":"ID","data":{"output":"half a character: \ud800"}}"#,
        r#"{"type":"pong","id":"ID"}"#,
        r#"{"type":"terminal_created","id":"ID","data":{"terminalId":"1","terminalName":"n"}}"#,
        r#"{"type":"error","id":"ID","data":{}}"#,
        r#"{"type":"exploded","id":"ID","data":{"output":"x"}}"#,
    ] {
        let request = execute(&peer, "true");
        let (id, _) = client.expect("execute").await;
        client.send(&reply.replace("ID", &id)).await;
        let failed = limited(request).await.expect("no panic").expect_err(reply);
        assert!(matches!(failed, PeerError::Malformed(_)), "{reply}: {failed}");
        assert!(failed.was_written(), "it may have run");
    }
    assert!(began.elapsed() < REPLY_LIMIT, "none waited for the time limit of a reply");
}

#[tokio::test]
async fn a_lost_connection_tells_what_was_written() {
    let (service, mut seen) = plain_service();
    // So little room that what is not read is not written.
    let mut client = LineClient::with_buffer(&service, Admission::Anyone, 256);
    client.greet_as_plain().await;
    let peer = seen.joined().await;
    let written = execute(&peer, "true");
    client.expect("execute").await;
    let blocks = peer.notify("focus", json!({"sessionId": "x".repeat(1000)}));
    limited(blocks).await.expect("queued");
    let queued = execute(&peer, "false");
    // Until it is in the queue: the runtime of the test has one thread.
    tokio::task::yield_now().await;
    drop(client);
    let lost = limited(written).await.expect("no panic");
    assert_eq!(lost, Err(PeerError::Lost));
    assert!(PeerError::Lost.was_written());
    let unsent = limited(queued).await.expect("no panic");
    assert_eq!(unsent, Err(PeerError::NotSent));
    assert!(!PeerError::NotSent.was_written());
    assert_eq!(seen.left().await, peer.id());
    assert!(!peer.is_open());
    let late = limited(peer.request("execute", json!({"command": "true"}))).await;
    assert_eq!(late, Err(PeerError::NotSent));
    assert_eq!(limited(peer.notify("focus", Value::Null)).await, Err(PeerError::NotSent));
}

#[tokio::test]
async fn a_request_that_was_given_up_is_not_written() {
    let (service, mut seen) = plain_service();
    let mut client = LineClient::with_buffer(&service, Admission::Anyone, 256);
    client.greet_as_plain().await;
    let peer = seen.joined().await;
    limited(peer.notify("focus", json!({"sessionId": "x".repeat(1000)}))).await.expect("queued");
    let given_up = execute(&peer, "rm -r everything");
    tokio::task::yield_now().await;
    given_up.abort();
    assert!(given_up.await.is_err_and(|error| error.is_cancelled()));
    let wanted = execute(&peer, "true");
    client.expect("focus").await;
    let (id, data) = client.expect("execute").await;
    assert_eq!(data["command"], "true");
    client.send_json(success(&id, "done")).await;
    assert!(limited(wanted).await.expect("no panic").is_ok());
}

#[tokio::test]
async fn a_slow_peer_holds_up_those_who_write_to_it() {
    let (service, mut seen) = plain_service();
    let mut client = LineClient::with_buffer(&service, Admission::Anyone, 256);
    client.greet_as_plain().await;
    let peer = seen.joined().await;
    let all = QUEUE + 20;
    let writing = tokio::spawn(async move {
        for number in 0..all {
            peer.notify("output", json!({"number": number, "data": "x".repeat(500)})).await?;
        }
        Ok::<(), PeerError>(())
    });
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert!(!writing.is_finished(), "there is room for {QUEUE} only");
    for number in 0..all {
        let (_, data) = client.expect("output").await;
        assert_eq!(data["number"], number);
    }
    limited(writing).await.expect("no panic").expect("all written");
}
