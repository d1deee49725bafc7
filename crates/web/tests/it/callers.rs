//! Whose session is whose, over each transport.

mod table;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use termbridge_mcp::Scope;
use termbridge_mcp::socket::{ServerFolder, SocketListener, SocketServer};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::support::{Bed, HttpClient, SocketClient};
use crate::websocket::WsClient;
use table::{Caller, sessions_are_their_owner_s};

fn http(client: HttpClient) -> Caller {
    Box::new(move |tool, arguments| {
        let client = client.clone();
        Box::pin(async move { client.call(tool, arguments).await })
    })
}

fn websocket(client: WsClient) -> Caller {
    let client = Arc::new(Mutex::new(client));
    Box::new(move |tool, arguments| {
        let client = Arc::clone(&client);
        Box::pin(async move { client.lock().await.call(tool, arguments).await })
    })
}

// A token is one client: whoever holds it may use what it started, from wherever it connects. So there is no other window.

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http_without_sessions() {
    let bed = Bed::start().await;
    let client = || http(HttpClient::stateless(&bed, &bed.token(Scope::Write)));
    sessions_are_their_owner_s(client(), None, client()).await;
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http_with_sessions() {
    let bed = Bed::start().await;
    let mine = HttpClient::with_session(&bed, &bed.token(Scope::Write)).await;
    let other = HttpClient::with_session(&bed, &bed.token(Scope::Write)).await;
    sessions_are_their_owner_s(http(mine), None, http(other)).await;
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_websocket() {
    let bed = Bed::start().await;
    let mine = WsClient::initialized(&bed, &bed.token(Scope::Write)).await;
    let other = WsClient::initialized(&bed, &bed.token(Scope::Write)).await;
    sessions_are_their_owner_s(websocket(mine), None, websocket(other)).await;
    bed.end().await;
}

/// A client on the unix socket, with a hello where it names its folder.
async fn unix(path: &std::path::Path, folder: Option<&str>) -> Caller {
    let hello = folder
        .map(|folder| json!({"protocol": 1, "cwd": folder, "env": {}, "client": "t", "pid": 1}));
    let client = Arc::new(Mutex::new(SocketClient::open(path, hello).await));
    Box::new(move |tool, arguments| {
        let client = Arc::clone(&client);
        let params = json!({"name": tool, "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        Box::pin(async move { client.lock().await.ask(&call).await["result"].take() })
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_the_unix_socket() {
    let bed = Bed::start().await;
    let runtime = tempfile::tempdir().expect("a folder");
    let folder = ServerFolder::open(Some(runtime.path()), runtime.path()).expect("a folder");
    let listener = SocketListener::bind(&folder).expect("a socket");
    let (path, stop) = (listener.path(), CancellationToken::new());
    let serving = SocketServer::new(listener).run(bed.server.clone(), stop.clone(), Duration::ZERO);
    let serving = tokio::spawn(serving);
    // All processes of a user are one principal: the stranger is one with a token.
    let stranger = HttpClient::stateless(&bed, &bed.token(Scope::Write));
    let (one, two) = (unix(&path, Some("/")).await, unix(&path, Some("/usr")).await);
    sessions_are_their_owner_s(one, Some(two), http(stranger)).await;
    // A plain client, without a hello, is another one.
    let plain = unix(&path, None).await;
    let stranger = HttpClient::stateless(&bed, &bed.token(Scope::Write));
    let other = Some(unix(&path, Some("/usr")).await);
    sessions_are_their_owner_s(plain, other, http(stranger)).await;
    stop.cancel();
    serving.await.expect("it ends");
    assert!(!path.exists());
    bed.end().await;
}
