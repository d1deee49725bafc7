//! Windows of our own extension: hello and welcome, tokens, their requests, their reports.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use termbridge_editor::{
    Admission, Hello, Peer, Refused, Reply, TerminalEvent, Welcome, Window, Windows,
};
use tokio::sync::{Notify, mpsc};

use super::support::{LineClient, Seen, TOKEN, hello, plain_service, service, window_pair};
use crate::support::limited;

#[tokio::test]
async fn a_window_is_welcomed() {
    let (service, mut seen) = plain_service();
    let mut client = LineClient::connect(&service, Admission::Anyone);
    client.send_json(json!({"type": "hello", "id": "first", "data": hello()})).await;
    let (id, welcome) = client.expect("welcome").await;
    assert_eq!(id, "first");
    let pid = std::process::id();
    assert_eq!(welcome, json!({"protocol": 1, "version": "1.2.3", "pid": pid, "sessions": []}));
    let peer = seen.joined().await;
    let hello = peer.hello().expect("a window");
    assert_eq!((hello.window.as_str(), hello.trusted), ("w1", true));
}

#[tokio::test]
async fn tokens_are_checked() {
    let with = |token: Option<&str>| {
        let mut hello = hello();
        hello["token"] = json!(token);
        hello
    };
    for (admission, token, code) in [
        (Admission::Anyone, Some("wrong"), Some("wrong_token")),
        (Admission::Windows, Some("wrong"), Some("wrong_token")),
        (Admission::Token, Some("wrong"), Some("wrong_token")),
        (Admission::Token, None, Some("token_needed")),
        (Admission::Token, Some(TOKEN), None),
        (Admission::Anyone, Some(TOKEN), None),
        (Admission::Windows, None, None),
    ] {
        let (service, mut seen) = plain_service();
        let mut client = LineClient::connect(&service, admission);
        client.send_json(json!({"type": "hello", "id": "h", "data": with(token)})).await;
        if let Some(code) = code {
            let (id, error) = client.expect("error").await;
            assert_eq!((id.as_str(), &error["code"]), ("h", &json!(code)), "{token:?}");
            assert!(error["error"].is_string());
            assert_eq!(client.next().await, None, "closed");
        } else {
            client.expect("welcome").await;
            let hello = seen.joined().await.hello().expect("a window");
            assert_eq!(hello.token, None, "it is not kept");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_is_revoked_ends_what_it_opened() {
    let is_revoked = Arc::new(AtomicBool::new(false));
    let known = Arc::clone(&is_revoked);
    let (mut service, mut seen) = plain_service();
    service.is_valid_token = Arc::new(move |_| !known.load(Ordering::Relaxed));
    let mut client = LineClient::connect(&service, Admission::Token);
    let mut with_token = hello();
    with_token["token"] = json!(TOKEN);
    client.send_json(json!({"type": "hello", "id": "h", "data": with_token})).await;
    client.expect("welcome").await;
    seen.joined().await;
    is_revoked.store(true, Ordering::Relaxed);
    assert_eq!(client.next().await, None);
    seen.left().await;
}

#[tokio::test(start_paused = true)]
async fn who_does_not_say_hello_where_it_is_needed_is_sent_away() {
    for first in [Some(r#"{"type":"pong","id":"1"}"#), Some("garbage"), None] {
        for admission in [Admission::Windows, Admission::Token] {
            let (service, _seen) = plain_service();
            let mut client = LineClient::connect(&service, admission);
            if let Some(first) = first {
                client.send(first).await;
            }
            let (_, error) = client.expect("error").await;
            assert_eq!(error["code"], "hello_expected");
            assert_eq!(client.next().await, None, "closed");
        }
    }
    let (service, _seen) = plain_service();
    let mut client = LineClient::connect(&service, Admission::Anyone);
    client.send_json(json!({"type": "hello", "data": {"protocol": "one"}})).await;
    assert_eq!(client.expect("error").await.1["code"], "malformed_hello");
    assert_eq!(client.next().await, None, "closed");
}

/// Answers `slow` once it is let go, everything else at once, and tells when it is dropped.
struct Scripted {
    let_go: Arc<Notify>,
    dropped: mpsc::UnboundedSender<()>,
}

struct ScriptedWindow(Arc<Notify>, mpsc::UnboundedSender<()>);

impl Drop for ScriptedWindow {
    fn drop(&mut self) {
        let _ = self.1.send(());
    }
}

#[async_trait]
impl Windows for Scripted {
    async fn open(&self, hello: Hello, peer: Peer) -> Result<(Welcome, Box<dyn Window>), Refused> {
        if hello.window == "unwanted" {
            return Err(Refused { code: "too_many", message: "no room".into() });
        }
        peer.notify("session", json!({"sessionId": "s"})).await.expect("queued");
        let welcome = Welcome {
            protocol: 1,
            version: "0".into(),
            pid: 7,
            sessions: vec![],
            wrong_settings: vec![],
        };
        Ok((welcome, Box::new(ScriptedWindow(Arc::clone(&self.let_go), self.dropped.clone()))))
    }
}

#[async_trait]
impl Window for ScriptedWindow {
    async fn request(&self, kind: &str, data: Value) -> Result<Value, Refused> {
        match kind {
            "slow" | "stop" => self.0.notified().await,
            "bad" => return Err(Refused { code: "bad", message: "no".into() }),
            _ => {}
        }
        Ok(data)
    }
}

#[tokio::test]
async fn requests_are_answered_in_order_while_replies_are_read() {
    let let_go = Arc::new(Notify::new());
    let (dropped, mut drops) = mpsc::unbounded_channel();
    let (service, mut seen) = service(Scripted { let_go: Arc::clone(&let_go), dropped });
    let mut client = LineClient::connect(&service, Admission::Windows);
    client.hello().await;
    client.expect("session").await;
    let peer = seen.joined().await;
    client.send_json(json!({"type": "slow", "id": "1", "data": {"n": 1}})).await;
    client.send_json(json!({"type": "input", "id": "2", "data": {"n": 2}})).await;
    client.send_json(json!({"type": "bad", "id": "3"})).await;
    let data = json!({"folders": ["/elsewhere"], "trusted": false});
    client.send_json(json!({"type": "update", "id": "4", "data": data})).await;

    // The first is still under way: the server's own request is answered all the same.
    let requesting = peer.request("send_text", json!({"terminalId": "t", "text": "x"}));
    let answering = async {
        let (id, _) = client.expect("send_text").await;
        client.send_json(json!({"type": "success", "id": id, "data": {}})).await;
    };
    let (reply, ()) = limited(async { tokio::join!(requesting, answering) }).await;
    assert_eq!(reply, Ok(Reply::Success(json!({}))));

    let_go.notify_one();
    assert_eq!(client.expect("success").await, ("1".to_owned(), json!({"n": 1})));
    assert_eq!(client.expect("success").await, ("2".to_owned(), json!({"n": 2})));
    assert_eq!(
        client.expect("error").await,
        ("3".to_owned(), json!({"error": "no", "code": "bad"}))
    );
    assert_eq!(client.expect("success").await.0, "4");
    let hello = peer.hello().expect("a window");
    assert_eq!(hello.folders, ["/elsewhere".as_ref() as &std::path::Path]);
    assert_eq!((hello.trusted, hello.window.as_str()), (false, "w1"));

    drop(client);
    limited(drops.recv()).await.expect("the window is dropped with its connection");
    assert_eq!(seen.left().await, peer.id());
}

#[tokio::test]
async fn a_stop_that_takes_long_holds_up_nothing_else() {
    let let_go = Arc::new(Notify::new());
    let (service, _seen) =
        service(Scripted { let_go: Arc::clone(&let_go), dropped: mpsc::unbounded_channel().0 });
    let mut client = LineClient::connect(&service, Admission::Windows);
    client.hello().await;
    client.expect("session").await;
    for (kind, id) in [("stop", "1"), ("stop", "2"), ("input", "3")] {
        client.send_json(json!({"type": kind, "id": id, "data": {}})).await;
    }
    assert_eq!(client.expect("success").await.0, "3");
    let_go.notify_one();
    let_go.notify_one();
    let mut stopped = [client.expect("success").await.0, client.expect("success").await.0];
    stopped.sort();
    assert_eq!(stopped, ["1", "2"]);
}

#[tokio::test]
async fn a_request_that_cannot_be_read_is_refused_where_it_has_an_id() {
    let let_go = Arc::new(Notify::new());
    let (service, _seen) = service(Scripted { let_go, dropped: mpsc::unbounded_channel().0 });
    let mut client = LineClient::connect(&service, Admission::Windows);
    client.hello().await;
    client.expect("session").await;
    client.send(r#"{"type":"input","id":"1","data":{"data":"half \ud83d"}}"#).await;
    let (id, refused) = client.expect("error").await;
    assert_eq!((id.as_str(), &refused["code"]), ("1", &json!("INVALID_INPUT")), "{refused}");
    client.send_json(json!({"type": "input", "id": "2", "data": {}})).await;
    assert_eq!(client.expect("success").await.0, "2");
}

#[tokio::test]
async fn a_window_can_be_refused() {
    let (dropped, _drops) = mpsc::unbounded_channel();
    let (service, _seen) = service(Scripted { let_go: Arc::default(), dropped });
    let mut client = LineClient::connect(&service, Admission::Windows);
    let data = json!({"protocol": 1, "window": "unwanted"});
    client.send_json(json!({"type": "hello", "id": "h", "data": data})).await;
    let (id, error) = client.expect("error").await;
    assert_eq!((id.as_str(), error), ("h", json!({"error": "no room", "code": "too_many"})));
    assert_eq!(client.next().await, None, "closed");
    limited(client.serving).await.expect("no panic");
}

#[tokio::test]
async fn reports_come_in_order_and_malformed_ones_are_dropped() {
    let (mut client, _peer, mut seen) = window_pair().await;
    for (kind, data) in [
        (
            "terminal_shared",
            json!({"terminalId": "t", "terminalName": "zsh", "pid": 7, "cwd": "/w"}),
        ),
        ("terminal_integration", json!({"terminalId": "t", "shell": "zsh", "cwd": "/w"})),
        ("execution_output", json!({"terminalId": "t", "data": "without its execution"})),
        ("execution_output", json!({"terminalId": "t", "executionId": "e", "data": "hi\r\n"})),
        ("execution_ended", json!({"terminalId": "t", "executionId": "e", "exitCode": null})),
        ("execution_output", json!("nonsense")),
        ("unheard_of", json!({})),
        ("terminal_unshared", json!({"terminalId": "t", "more": true})),
        ("terminal_closed", json!({"terminalId": "t", "exitCode": 1})),
    ] {
        client.send_json(json!({"type": kind, "data": data})).await;
    }
    let id = || "t".to_owned();
    let (cwd, shell) = (Some("/w".into()), Some("zsh".to_owned()));
    let expected = [
        TerminalEvent::TerminalShared {
            terminal_id: id(),
            terminal_name: "zsh".into(),
            pid: Some(7),
            cwd: cwd.clone(),
            shell: None,
        },
        TerminalEvent::TerminalIntegration { terminal_id: id(), shell, cwd },
        TerminalEvent::ExecutionOutput {
            terminal_id: id(),
            execution_id: "e".into(),
            data: "hi\r\n".into(),
            at: None,
        },
        TerminalEvent::ExecutionEnded {
            terminal_id: id(),
            execution_id: "e".into(),
            exit_code: None,
            cwd: None,
        },
        TerminalEvent::TerminalUnshared { terminal_id: id() },
        TerminalEvent::TerminalClosed { terminal_id: id(), exit_code: Some(1) },
    ];
    for expected in expected {
        match seen.next().await {
            Seen::Event(event) => assert_eq!(event, expected),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_window_says_hello_after_a_while() {
    let (service, mut seen) = plain_service();
    let mut client = LineClient::connect(&service, Admission::Anyone);
    tokio::time::sleep(Duration::from_secs(1)).await;
    // It was pinged meanwhile.
    client.send_json(json!({"type": "hello", "id": "h", "data": hello()})).await;
    let (id, _) = client.expect("ping").await;
    client.expect("welcome").await;
    client.send_json(json!({"type": "pong", "id": id})).await;
    assert!(seen.joined().await.is_window());
}
