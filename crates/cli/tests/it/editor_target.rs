//! The target `vscode` through the whole server, with an extension that knows only the published protocol.

use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};
use termbridge_testkit::TestEnvironment;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};

use crate::serving::{Serving, SocketClient, command};
use crate::support::await_that;

/// A port that is free now.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// An extension that keeps no terminals but confirms everything, until its connection ends; what it was asked.
fn plain_extension(port: u16) -> thread::JoinHandle<Vec<Value>> {
    let connect = || TcpStream::connect(("127.0.0.1", port));
    await_that("the server listens for editors", || connect().is_ok());
    let url = format!("ws://localhost:{port}");
    let stream = connect().expect("a connection");
    let (mut socket, _) = client(url, stream).expect("a WebSocket");
    thread::spawn(move || {
        let mut asked = Vec::new();
        while let Some(request) = next(&mut socket) {
            let (id, data) = (&request["id"], &request["data"]);
            let reply = match request["type"].as_str().expect("a type") {
                "ping" => json!({"type": "pong", "id": id}),
                "create_terminal" => {
                    json!({"type": "terminal_created", "id": id, "data": {"terminalId": id, "terminalName": "MCP Terminal 1"}})
                }
                "execute" => {
                    let output = format!(
                        "Command executed: {}",
                        data["command"].as_str().expect("a command")
                    );
                    json!({"type": "success", "id": id, "data": {"output": output}})
                }
                "close_terminal" => {
                    json!({"type": "success", "id": id, "data": {"output": "Terminal closed"}})
                }
                other => panic!("{other}"),
            };
            socket.send(Message::text(reply.to_string())).expect("sent");
            asked.push(request);
        }
        asked
    })
}

pub(crate) fn next(socket: &mut WebSocket<TcpStream>) -> Option<Value> {
    loop {
        match socket.read().ok()? {
            Message::Text(text) => return Some(serde_json::from_str(&text).expect("JSON")),
            Message::Close(_) => return None,
            _ => {}
        }
    }
}

fn text(answer: &Value) -> &str {
    answer["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn a_plain_extension_serves_an_agent() {
    let port = free_port();
    let serving = Serving::start(&["--editor-port", &port.to_string()]);
    let extension = plain_extension(port);
    let mut agent = SocketClient::open(&serving.runtime().join("server.sock"));
    let made = agent.call("create_session", json!({"target": "vscode", "name": "build"}));
    assert_ne!(made["isError"], true, "{made}");
    let session = made["structuredContent"]["session_id"].clone();
    assert!(session.is_string(), "{made}");

    let ran =
        agent.call("execute_command", json!({"command": "npm run build", "session_id": session}));
    assert_ne!(ran["isError"], true, "{ran}");
    assert!(text(&ran).contains("cannot be captured"), "{ran}");
    assert!(text(&ran).contains("[sent | "), "{ran}");
    assert!(text(&ran).contains("Command executed: cd -- '/"), "the extension's reply: {ran}");
    assert_eq!(ran["structuredContent"]["state"], "sent", "{ran}");
    let moved = agent
        .call("execute_command", json!({"command": "true", "session_id": session, "cwd": "/"}));
    assert!(text(&moved).starts_with("[NOT_SUPPORTED]"), "{moved}");
    let listed = agent.call("list_sessions", json!({}));
    assert!(text(&listed).contains("build"), "{listed}");
    let seen = agent.call("view_screen", json!({"session_id": session}));
    assert!(text(&seen).starts_with("[NOT_SUPPORTED]"), "{seen}");
    let stopped = agent.call("stop_app", json!({"session_id": session}));
    assert_ne!(stopped["isError"], true, "{stopped}");

    // Without a session: one is made in the editor, and the next command goes there too.
    let arguments = json!({"command": "true", "target": "vscode"});
    let first = agent.call("execute_command", arguments.clone());
    let second = agent.call("execute_command", arguments);
    let id = |answer: &Value| answer["structuredContent"]["session_id"].clone();
    assert!(id(&first).is_string() && id(&first) == id(&second), "{first} {second}");
    // Elsewhere it is as ever.
    let local =
        agent.call("execute_command", json!({"command": "echo $((6*7))", "target": "local"}));
    assert!(text(&local).contains("42"), "{local}");
    let unknown = agent.call("execute_command", json!({"command": "true", "target": "moon"}));
    assert!(text(&unknown).contains("local, vscode"), "{unknown}");

    assert_eq!(serving.end("-TERM"), Some(143));
    let asked = extension.join().expect("no panic");
    let kinds: Vec<&str> = asked.iter().filter_map(|request| request["type"].as_str()).collect();
    let expected = [
        "ping",
        "create_terminal",
        "execute",
        "execute",
        "close_terminal",
        "create_terminal",
        "execute",
        "execute",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(asked[1]["data"], json!({"terminalName": "build"}));
    assert_eq!(asked[2]["data"]["terminalId"], asked[1]["id"]);
}

#[test]
fn a_taken_port_is_a_warning_and_no_editor_is_none() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let environment = TestEnvironment::new();
    let mut server = command(&environment, &["serve", "--port", "0", "--editor-port", &port]);
    let log = environment.path().join("log");
    server.stderr(std::fs::File::create(&log).expect("a log"));
    let mut child = server.spawn().expect("it starts");
    let warning = format!("port {port} is in use by ");
    await_that("the warning", || {
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        said.contains(&warning) && said.contains("Ctrl+C")
    });
    let stop = command(&environment, &["stop", "--all"]).output().expect("runs");
    assert!(stop.status.success(), "{stop:?}");
    child.wait().expect("it ends");

    let serving = Serving::start(&["--no-editor"]);
    let mut agent = SocketClient::open(&serving.runtime().join("server.sock"));
    let refused = agent.call("create_session", json!({"target": "vscode"}));
    assert!(text(&refused).contains("there is no target"), "{refused}");
}
