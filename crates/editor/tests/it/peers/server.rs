//! The WebSocket: who is let in, how it ends, what is left.

use std::net::Ipv6Addr;

use serde_json::{Value, json};
use termbridge_editor::{MAX_CONNECTIONS, MAX_MESSAGE, PeerError, Reply, ServerSettings};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::StatusCode;

use super::support::{PlainClient, Seen, Server, TOKEN, hello, plain_service};
use crate::support::{limited, until};

/// How a connection with such a header is answered; `None` when it is let in.
async fn answer(port: u16, path: &str, header: Option<(&'static str, &str)>) -> Option<StatusCode> {
    let url = format!("ws://localhost:{port}{path}");
    let mut request = url.into_client_request().expect("a request");
    if let Some((name, value)) = header {
        request.headers_mut().insert(name, value.parse().expect("a value"));
    }
    match limited(tokio_tungstenite::connect_async(request)).await {
        Ok(_) => None,
        Err(Error::Http(response)) => Some(response.status()),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn pages_and_strange_hosts_are_refused() {
    let (service, _seen) = plain_service();
    let server = Server::start(&service, ServerSettings::default()).await;
    let port = server.port;
    assert_eq!(answer(port, "/", None).await, None);
    let forbidden = Some(StatusCode::FORBIDDEN);
    for origin in ["https://evil.example", "null", "http://localhost:3000", "vscode-webview://x"] {
        assert_eq!(answer(port, "/", Some(("origin", origin))).await, forbidden, "{origin}");
    }
    for host in ["evil.example", "localhost", "localhost:1", "127.0.0.1.evil:3000"] {
        assert_eq!(answer(port, "/", Some(("host", host))).await, forbidden, "{host}");
    }
    for name in ["localhost", "127.0.0.1", "[::1]"] {
        assert_eq!(answer(port, "/", Some(("host", &format!("{name}:{port}")))).await, None);
    }
    assert_eq!(answer(port, "/other", None).await, Some(StatusCode::NOT_FOUND));
}

#[tokio::test]
async fn a_required_token_keeps_plain_peers_out() {
    let (service, mut seen) = plain_service();
    let settings = ServerSettings { require_token: true, ..ServerSettings::default() };
    let server = Server::start(&service, settings).await;
    let mut client = PlainClient::connect(server.port).await;
    client.send(r#"{"type":"pong","id":"1"}"#).await;
    let error: Value = serde_json::from_str(&client.next().await.expect("a reply")).expect("JSON");
    assert_eq!(error["type"], "error");
    assert_eq!(client.next().await, None);
    let mut client = PlainClient::connect(server.port).await;
    let mut data = hello();
    data["token"] = json!(TOKEN);
    client.send(&json!({"type": "hello", "data": data}).to_string()).await;
    assert!(client.next().await.expect("a reply").starts_with(r#"{"type":"welcome","data":{"#));
    assert!(seen.joined().await.is_window());
}

#[tokio::test]
async fn a_token_in_the_handshake_lets_a_plain_peer_in() {
    let (service, mut seen) = plain_service();
    let settings = ServerSettings { require_token: true, ..ServerSettings::default() };
    let server = Server::start(&service, settings).await;
    for wrong in ["Bearer wrong", "Bearer", "Basic dXNlcjpwYXNz"] {
        let refused = answer(server.port, "/", Some(("authorization", wrong))).await;
        assert_eq!(refused, Some(StatusCode::UNAUTHORIZED), "{wrong}");
    }
    let mut request =
        format!("ws://localhost:{}", server.port).into_client_request().expect("a request");
    let header = format!("Bearer {TOKEN}").parse().expect("a value");
    request.headers_mut().insert("authorization", header);
    let opened = limited(tokio_tungstenite::connect_async(request)).await.expect("let in");
    let mut client = PlainClient(opened.0);
    client.greet().await;
    assert!(!seen.joined().await.is_window(), "a plain peer");
}

#[tokio::test]
async fn both_addresses_are_listened_on() {
    let (service, _seen) = plain_service();
    let server = Server::start(&service, ServerSettings::default()).await;
    limited(TcpStream::connect(("127.0.0.1", server.port))).await.expect("127.0.0.1");
    if tokio::net::TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).await.is_ok() {
        limited(TcpStream::connect((Ipv6Addr::LOCALHOST, server.port))).await.expect("::1");
    }
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_taken_port_is_told_with_its_holder() {
    use termbridge_editor::{EditorListener, ListenError};
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let Err(error) = EditorListener::bind(port).await else { panic!("it is taken") };
    assert!(
        matches!(&error, ListenError::Taken { holder: Some((pid, _)), .. } if *pid == std::process::id())
    );
    assert!(error.to_string().contains(&format!("(pid {})", std::process::id())), "{error}");
}

#[tokio::test]
async fn there_is_room_for_so_many() {
    let (service, mut seen) = plain_service();
    let server = Server::start(&service, ServerSettings::default()).await;
    let mut clients = Vec::new();
    for _ in 0..MAX_CONNECTIONS {
        clients.push(PlainClient::connect(server.port).await);
    }
    let url = format!("ws://localhost:{}", server.port);
    assert!(limited(tokio_tungstenite::connect_async(&url)).await.is_err(), "one more");
    drop(clients.pop());
    loop {
        // It is noticed in its own time that one is gone.
        if let Ok((socket, _)) = limited(tokio_tungstenite::connect_async(&url)).await {
            clients.push(PlainClient(socket));
            break;
        }
    }
    for client in &mut clients {
        client.greet().await;
        seen.joined().await;
    }
    server.end().await;
    for client in &mut clients {
        assert_eq!(client.next().await, None, "closed by the server");
    }
    for _ in 0..MAX_CONNECTIONS {
        seen.left().await;
    }
}

/// Only root can become another user: skipped for others.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn another_user_takes_no_place_of_ours() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become another user");
        return;
    }
    let (service, mut seen) = plain_service();
    let server = Server::start(&service, ServerSettings::default()).await;
    let silent = 2 * MAX_CONNECTIONS;
    let script = format!(
        "for _ in {{1..{silent}}}; do exec {{c}}<>/dev/tcp/127.0.0.1/{}; done; echo; read -r",
        server.port
    );
    let mut stranger = Command::new("bash")
        .args(["-c", &script])
        .uid(65_534)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("bash");
    let connected = BufReader::new(stranger.stdout.take().expect("piped"));
    let connected = tokio::task::spawn_blocking(move || connected.lines().next());
    limited(connected).await.expect("a thread").expect("a line").expect("text");
    let mut client = PlainClient::connect(server.port).await;
    client.greet().await;
    seen.joined().await;
    drop(stranger.stdin.take());
    stranger.wait().expect("it ends");
}

#[tokio::test]
async fn a_peer_that_reconnects_in_mid_request_is_another() {
    let (service, mut seen) = plain_service();
    let server = Server::start(&service, ServerSettings::default()).await;
    let mut client = PlainClient::connect(server.port).await;
    client.greet().await;
    let first = seen.joined().await;
    let request = first.request("execute", json!({"command": "true", "terminalId": "t"}));
    let leaving = Box::pin(async {
        let (_, id) = client.next_with_id().await;
        drop(client);
        let mut client = PlainClient::connect(server.port).await;
        client.greet().await;
        // The reply comes on the new connection, which has not asked for it.
        client.send(&format!(r#"{{"type":"success","id":"{id}","data":{{"output":""}}}}"#)).await;
        client
    });
    let (outcome, mut client) = limited(async { tokio::join!(request, leaving) }).await;
    assert_eq!(outcome, Err(PeerError::Lost));
    assert_eq!(seen.left().await, first.id());
    let second = seen.joined().await;
    assert_ne!(second.id(), first.id());
    let request = second.request("execute", json!({"command": "true", "terminalId": "t"}));
    let answering = async {
        let (_, id) = client.next_with_id().await;
        client.send(&format!(r#"{{"type":"success","id":"{id}","data":{{"output":""}}}}"#)).await;
    };
    let (outcome, ()) = limited(async { tokio::join!(request, answering) }).await;
    assert!(outcome.is_ok());
}

#[tokio::test]
async fn huge_and_binary_frames() {
    use futures_util::SinkExt;
    use tokio_tungstenite::tungstenite::{Bytes, Message};
    let (service, mut seen) = plain_service();
    let server = Server::start(&service, ServerSettings::default()).await;
    let mut client = PlainClient::connect(server.port).await;
    client.greet().await;
    let peer = seen.joined().await;
    client.0.send(Message::Binary(Bytes::from_static(b"\0\xff"))).await.expect("sent");
    let request = peer.request("execute", json!({"command": "true"}));
    let answering = async {
        let (_, id) = client.next_with_id().await;
        client.send(&format!(r#"{{"type":"success","id":"{id}","data":{{"output":""}}}}"#)).await;
    };
    let (outcome, ()) = limited(async { tokio::join!(request, answering) }).await;
    assert!(outcome.is_ok(), "a binary frame is dropped");
    let _ = client.0.send(Message::text("x".repeat(MAX_MESSAGE + 1))).await;
    assert!(matches!(seen.next().await, Seen::Left(id) if id == peer.id()));
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

#[tokio::test]
async fn a_thousand_cycles_leave_nothing_behind() {
    let metrics = tokio::runtime::Handle::current().metrics();
    let (tasks, descriptors) = (metrics.num_alive_tasks(), open_descriptors());
    let (service, mut seen) = plain_service();
    let server = Server::start(&service, ServerSettings::default()).await;
    for _ in 0..10 {
        let mut client = PlainClient::connect(server.port).await;
        client.greet().await;
        let peer = seen.joined().await;
        let connected = (metrics.num_alive_tasks(), open_descriptors());
        let editor = async {
            for _ in 0..100 {
                let (_, terminal) = client.next_with_id().await;
                client.send(&format!(r#"{{"type":"terminal_created","id":"{terminal}","data":{{"terminalId":"{terminal}","terminalName":"n"}}}}"#)).await;
                for _ in 0..2 {
                    let (_, id) = client.next_with_id().await;
                    client
                        .send(&format!(
                            r#"{{"type":"success","id":"{id}","data":{{"output":"ok"}}}}"#
                        ))
                        .await;
                }
            }
        };
        let cycles = async {
            for _ in 0..100 {
                let created = peer.request("create_terminal", json!({"terminalName": "n"})).await;
                let Ok(Reply::TerminalCreated { terminal_id, .. }) = created else {
                    panic!("{created:?}")
                };
                let data = json!({"command": "true", "terminalId": terminal_id});
                peer.request("execute", data).await.expect("ran");
                let data = json!({"terminalId": terminal_id});
                peer.request("close_terminal", data).await.expect("closed");
            }
        };
        limited(async { tokio::join!(editor, cycles) }).await;
        assert_eq!((metrics.num_alive_tasks(), open_descriptors()), connected);
        drop(client);
        assert_eq!(seen.left().await, peer.id());
    }
    server.end().await;
    until("all is gone", || {
        metrics.num_alive_tasks() <= tasks && open_descriptors() <= descriptors + 1
    })
    .await;
}
