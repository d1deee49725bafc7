//! HTTPS with a certificate of the test's own.

use std::path::Path;
use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use termbridge_bridge::editor::{
    EditorListener, EditorService, NoSessionsShown, Peer, ServerSettings, TerminalEvent, Terminals,
};
use termbridge_mcp::http::HttpSettings;
use termbridge_web::{TlsFiles, WebSettings};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_tungstenite::tungstenite::Message;

use crate::support::{Answer, Bed, request_text};

/// A certificate for localhost in a folder, and a client that trusts it.
fn certificate(folder: &Path) -> (TlsFiles, TlsConnector) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).expect("a certificate");
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).expect("written");
    std::fs::write(&key, made.signing_key.serialize_pem()).expect("written");
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).expect("a root");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    (TlsFiles { certificate, key }, TlsConnector::from(Arc::new(config)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn https_answers_who_trusts_its_certificate() {
    let folder = tempfile::tempdir().expect("a folder");
    let (files, connector) = certificate(folder.path());
    let tls = Some(files);
    let settings = WebSettings { tls, ..WebSettings::default() };
    let bed = Bed::with(settings, HttpSettings::default()).await;

    let name = ServerName::try_from("localhost").expect("a name");
    let mut stream = connector.connect(name, bed.connect().await).await.expect("a handshake");
    let request = request_text(bed.address, "GET", "/healthz", &[], "");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let answer = Answer::read(&mut stream).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    // Plain HTTP gets nothing there.
    assert_eq!(bed.request("GET", "/healthz", &[], "").await.status, 0);
    bed.end().await;
}

/// Welcomes windows and uses no terminals.
struct NoTerminals;

#[async_trait::async_trait]
impl Terminals for NoTerminals {
    fn joined(&self, _peer: &Peer) {}
    async fn event(&self, _peer: &Peer, _event: TerminalEvent) {}
    fn left(&self, _peer: &Peer) {}
}

#[tokio::test]
async fn editors_get_wss_beside_ws_on_the_same_port() {
    let folder = tempfile::tempdir().expect("a folder");
    let (files, connector) = certificate(folder.path());
    let tls = termbridge_web::editor_tls(&files).expect("TLS");
    let listener = EditorListener::bind(0).await.expect("a port");
    let (port, stop) = (listener.port(), tokio_util::sync::CancellationToken::new());
    let service = EditorService {
        windows: Arc::new(NoSessionsShown::default()),
        terminals: Arc::new(NoTerminals),
        is_valid_token: Arc::new(|_| false),
    };
    let settings = ServerSettings { require_token: false, tls: Some(tls) };
    let running = tokio::spawn(listener.run(settings, service, stop.clone()));

    let stream = TcpStream::connect(("127.0.0.1", port)).await.expect("it listens");
    let name = ServerName::try_from("localhost").expect("a name");
    let stream = connector.connect(name, stream).await.expect("TLS");
    welcomed(&format!("wss://localhost:{port}/"), stream).await;
    let stream = TcpStream::connect(("127.0.0.1", port)).await.expect("it listens");
    welcomed(&format!("ws://localhost:{port}/"), stream).await;
    stop.cancel();
    running.await.expect("it ends");
}

/// Says hello over a stream, and is welcomed.
async fn welcomed(url: &str, stream: impl AsyncRead + AsyncWrite + Unpin) {
    let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await.expect("a WebSocket");
    let hello = r#"{"type":"hello","data":{"protocol":1,"window":"w"}}"#;
    socket.send(Message::text(hello)).await.expect("sent");
    let reply = socket.next().await.expect("a reply").expect("a message");
    assert!(reply.to_text().expect("text").contains("welcome"), "{url}: {reply}");
}

#[tokio::test]
async fn a_certificate_that_is_none_is_refused_with_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&certificate, "nothing").expect("written");
    let files = TlsFiles { certificate, key };
    let settings = WebSettings { tls: Some(files), ..WebSettings::default() };
    let (server, _sessions) = crate::support::mcp_server(&folder);
    let stop = tokio_util::sync::CancellationToken::new();
    let http = HttpSettings::default();
    let endpoint = termbridge_mcp::http::HttpEndpoint::new(server, &http);
    let tokens = Arc::new(termbridge_web::TokenStore::new(folder.path()));
    let address = "127.0.0.1:0".parse().expect("an address");
    let refused =
        termbridge_web::WebServer::bind(address, settings, Arc::new(endpoint), tokens, stop).await;
    let error = refused.err().expect("refused").to_string();
    assert!(error.contains("cert.pem"), "{error}");
}
