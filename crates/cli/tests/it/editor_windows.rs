//! Windows of our own extension at a real server: over its socket, and over the WebSocket with a token.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Message, client};

use crate::editor_target::{free_port, next};
use crate::serving::{Serving, SocketClient, command};
use crate::support::await_that;

/// A window on the socket: the server's greeting and its welcome were read.
struct SocketWindow {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
}

impl SocketWindow {
    fn open(serving: &Serving) -> (Self, Value) {
        let writer = UnixStream::connect(serving.runtime().join("server.sock")).expect("a socket");
        let reader = BufReader::new(writer.try_clone().expect("a socket"));
        let mut window = Self { reader, writer };
        window.send(&json!({"termbridge": {"protocol": 1, "editor": true}}));
        assert!(window.receive()["termbridge"]["pid"].is_number());
        window.send(&hello(None));
        let welcome = window.receive();
        (window, welcome)
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.writer, "{message}").expect("sent");
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("read");
        serde_json::from_str(&line).expect("JSON")
    }

    fn told(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.receive();
            if is_it(&message) {
                return message;
            }
        }
    }
}

fn hello(token: Option<&str>) -> Value {
    let mut data = json!({"protocol": 1, "window": "w", "folders": ["/"], "trusted": true});
    if let Some(token) = token {
        data["token"] = token.into();
    }
    json!({"type": "hello", "id": "h", "data": data})
}

#[test]
fn a_window_sees_a_session_and_the_agent_hears_of_its_person() {
    let serving = Serving::start(&[]);
    let (mut window, welcome) = SocketWindow::open(&serving);
    assert_eq!((&welcome["type"], &welcome["id"]), (&json!("welcome"), &json!("h")), "{welcome}");
    let mut agent = SocketClient::open(&serving.runtime().join("server.sock"));
    let made = agent.call("launch_app", json!({"command": "cat", "name": "demo"}));
    let id = made["structuredContent"]["session_id"].clone();
    let row = window.told(|message| message["type"] == "session");
    assert_eq!((&row["data"]["sessionId"], &row["data"]["title"]), (&id, &json!("demo")));
    let panel = json!({"sessionId": id, "cols": 100, "rows": 30});
    window.send(&json!({"type": "watch", "id": "1", "data": panel}));
    window.told(|message| message["type"] == "dump");
    let typed = json!({"sessionId": id, "data": "by hand\r"});
    window.send(&json!({"type": "input", "id": "2", "data": typed}));
    window.told(|message| message["type"] == "session" && message["data"]["isDriver"] == true);
    // It may look, and is told; it may not type until it is handed back.
    let seen =
        agent.call("wait_for", json!({"session_id": id, "text": "by hand", "view": "plain"}));
    let said = seen["content"][0]["text"].as_str().unwrap_or_default();
    assert!(said.contains("a person has typed"), "{said}");
    let again = agent.call("view_screen", json!({"session_id": id}));
    assert!(!again.to_string().contains("a person has typed"), "told once: {again}");
    let refused = agent.call("send_keys", json!({"session_id": id, "keys": "x"}));
    assert_eq!(refused["structuredContent"]["error"]["code"], "BUSY", "{refused}");
    window.send(&json!({"type": "hand_back", "id": "3", "data": {"sessionId": id}}));
    window.told(|message| message["id"] == "3");
    let sent = agent.call("send_keys", json!({"session_id": id, "keys": "mine<Enter>"}));
    assert_ne!(sent["isError"], true, "{sent}");
    assert_eq!(serving.end("-TERM"), Some(143));
}

#[test]
fn a_shell_that_the_editor_cannot_read_is_read_here_and_shown_there() {
    let serving = Serving::start(&[]);
    let (mut window, _) = SocketWindow::open(&serving);
    let mut agent = SocketClient::open(&serving.runtime().join("server.sock"));
    let arguments = json!({"command": "echo $((6*7)); false", "shell": "dash", "target": "vscode"});
    let ran = agent.call("execute_command", arguments.clone());
    let result = &ran["structuredContent"];
    assert_eq!((&result["output"], &result["exit_code"]), (&json!("42\n"), &json!(1)), "{ran}");
    let row = window.told(|message| message["type"] == "session");
    assert_eq!(row["data"]["sessionId"], result["session_id"], "the window shows it");
    let again = agent.call("execute_command", arguments);
    assert_eq!(again["structuredContent"]["session_id"], result["session_id"], "{again}");
    let seen = agent.call("view_screen", json!({"session_id": result["session_id"]}));
    assert!(seen["content"][0]["text"].as_str().unwrap_or_default().contains("42"), "{seen}");
}

#[test]
fn a_token_that_may_not_everything_opens_no_window() {
    let port = free_port();
    let serving = Serving::start(&["--editor-port", &port.to_string(), "--require-editor-token"]);
    let connect = || TcpStream::connect(("127.0.0.1", port));
    await_that("the server listens for editors", || connect().is_ok());
    let make = |words: &[&str]| {
        let words = [&["token", "create", "--json"], words].concat();
        let made = command(&serving.environment, &words).output().expect("runs");
        let made: Value = serde_json::from_slice(&made.stdout).expect("JSON");
        made["token"].as_str().expect("a token").to_owned()
    };
    for (token, expected) in [
        (None, "error"),
        (Some("nonsense".to_owned()), "error"),
        (Some(make(&["--scopes", "write"])), "error"),
        (Some(make(&["--scopes", "read", "--all-sessions"])), "error"),
        (Some(make(&["--scopes", "admin"])), "welcome"),
    ] {
        let stream = connect().expect("a connection");
        let (mut socket, _) =
            client(format!("ws://localhost:{port}"), stream).expect("a WebSocket");
        socket.send(Message::text(hello(token.as_deref()).to_string())).expect("sent");
        let answer = next(&mut socket).expect("an answer");
        assert_eq!(answer["type"], expected, "{token:?}: {answer}");
    }
}
