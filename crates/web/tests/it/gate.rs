//! What is let in: tokens, names, pages, sizes and times.

use std::time::Duration;

use serde_json::json;
use termbridge_bridge::policy::RateLimit;
use termbridge_mcp::Scope;
use termbridge_mcp::http::HttpSettings;
use termbridge_web::{Limits, NewToken, TokenStore, WebError, WebServer, WebSettings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Answer, Bed, HttpClient, counter, mcp_server, request_text, stateless_call};
use crate::websocket::WsClient;

const PATHS: [(&str, &str); 5] =
    [("GET", "/mcp"), ("POST", "/mcp"), ("GET", "/ws"), ("GET", "/metrics"), ("GET", "/nothing")];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_valid_token_nothing_answers() {
    let bed = Bed::start().await;
    let (id, valid) = bed.new_token(Scope::Write);
    let (_, over) = bed
        .tokens
        .create(NewToken { lifetime: Some(Duration::ZERO), ..NewToken::default() })
        .expect("a token");
    let bearer = |text: &str| format!("Bearer {text}");
    let refused = [
        None,
        Some(String::new()),
        Some(valid.clone()),
        Some(format!("Basic {valid}")),
        Some(bearer("")),
        Some(bearer("tb_0_0")),
        Some(bearer(&valid[..valid.len() - 1])),
        Some(bearer(&over)),
    ];
    for (method, path) in PATHS {
        for authorization in &refused {
            let header = authorization.as_deref().map(|value| ("Authorization", value));
            let answer = bed.request(method, path, header.as_slice(), "").await;
            assert_eq!(answer.status, 401, "{method} {path} with {authorization:?}: {answer:?}");
            let challenge = answer.headers.get("www-authenticate").map(String::as_str);
            assert!(
                challenge.is_some_and(|challenge| challenge.starts_with("Bearer")),
                "{answer:?}"
            );
        }
        let twice = bearer(&valid);
        let both = [("Authorization", twice.as_str()), ("Authorization", twice.as_str())];
        assert_eq!(bed.request(method, path, &both, "").await.status, 401, "{path}");
    }
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let authorization = format!("{scheme} {valid}");
        let answer = bed.request("GET", "/metrics", &[("Authorization", &authorization)], "").await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    assert!(
        counter(&bed, &valid, "termbridge_http_refused_total{reason=\"token\"}").await > Some(40.0)
    );
    // A server that runs notices at once.
    bed.tokens.revoke(&id).expect("revoked");
    let authorization = bearer(&valid);
    let answer = bed.request("GET", "/metrics", &[("Authorization", &authorization)], "").await;
    assert_eq!(answer.status, 401, "{answer:?}");
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_is_for_everyone_and_says_no_more_than_that() {
    let bed = Bed::start().await;
    let answer = bed.request("GET", "/healthz", &[], "").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let health: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
    let fields: Vec<&str> =
        health.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(fields, ["status", "uptime_seconds", "version"]);
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_our_names_and_our_pages_are_answered() {
    let settings = WebSettings {
        allowed_hosts: vec!["box.example".into()],
        allowed_origins: vec!["https://app.example".into()],
        ..WebSettings::default()
    };
    let bed = Bed::with(settings, HttpSettings::default()).await;
    let token = bed.token(Scope::Write);
    let (bearer, port) = (format!("Bearer {token}"), bed.address.port());
    let hosts = [
        (format!("localhost:{port}"), true),
        (format!("127.0.0.1:{port}"), true),
        (format!("[::1]:{port}"), true),
        ("box.example".into(), true),
        ("localhost".into(), false),
        (format!("evil.example:{port}"), false),
        (format!("localhost.evil.example:{port}"), false),
        (format!("localhost:{}", port ^ 1), false),
        (String::new(), false),
    ];
    for (host, is_ours) in &hosts {
        for path in ["/healthz", "/metrics"] {
            let headers = [("Host", host.as_str()), ("Authorization", bearer.as_str())];
            let status = bed.request("GET", path, &headers, "").await.status;
            assert_eq!(status, if *is_ours { 200 } else { 403 }, "{host:?} {path}");
        }
    }
    let origins = [
        (format!("http://localhost:{port}"), true),
        ("https://app.example".into(), true),
        ("https://box.example".into(), true),
        ("null".into(), false),
        ("http://localhost".into(), false),
        (format!("https://localhost:{port}"), false),
        ("https://evil.example".into(), false),
    ];
    for (origin, is_ours) in &origins {
        let headers = [("Origin", origin.as_str()), ("Authorization", bearer.as_str())];
        let answer = bed.request("GET", "/metrics", &headers, "").await;
        assert_eq!(answer.status, if *is_ours { 200 } else { 403 }, "{origin}");
        assert!(
            !answer.headers.keys().any(|name| name.starts_with("access-control")),
            "{answer:?}"
        );
    }
    // Two names, none, or another in the request line.
    for request in [
        format!(
            "GET /healthz HTTP/1.1\r\nHost: localhost:{port}\r\nHost: evil\r\nConnection: close\r\n\r\n"
        ),
        "GET /healthz HTTP/1.0\r\n\r\n".to_owned(),
        format!(
            "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"
        ),
    ] {
        let answer = bed.raw(request.as_bytes()).await;
        assert!([400, 403].contains(&answer.status), "{request}: {answer:?}");
    }
    // A browser that asks before it calls gets no permission.
    let asks = [("Origin", origins[0].0.as_str()), ("Access-Control-Request-Method", "POST")];
    let answer = bed.request("OPTIONS", "/mcp", &asks, "").await;
    assert_eq!(answer.status, 204, "{answer:?}");
    assert!(!answer.headers.keys().any(|name| name.starts_with("access-control")), "{answer:?}");
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_and_headers_are_bounded() {
    let limits = Limits { max_body: 10_000, max_headers: 8192, ..Limits::default() };
    let bed = Bed::limited(limits).await;
    let token = bed.token(Scope::Write);
    let client = HttpClient::with_session(&bed, &token).await;
    let fits =
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y".repeat(9000)}});
    assert_eq!(client.post(&[], &fits.to_string()).await.status, 200);
    assert_eq!(client.post(&[], &"x".repeat(10_001)).await.status, 413);
    // One that does not say how long it is.
    let mut stream = bed.connect().await;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nTransfer-Encoding: chunked\r\n\
         Connection: close\r\n\r\n",
        bed.address
    );
    stream.write_all(head.as_bytes()).await.expect("sent");
    for _ in 0..20 {
        // The server may have answered and closed by now.
        let _ = stream.write_all(format!("3e8\r\n{}\r\n", "x".repeat(1000)).as_bytes()).await;
    }
    let status = Answer::read(&mut stream).await.status;
    // Where it closes while we still send, the answer may be lost on the way.
    assert!([413, 0].contains(&status), "{status}");
    // One that is not even what it says.
    let mut stream = bed.connect().await;
    stream.write_all(format!("{head}not a length\r\n").as_bytes()).await.expect("sent");
    assert_eq!(Answer::read(&mut stream).await.status, 400);
    let long = "x".repeat(20_000);
    let answer = bed.request("GET", "/healthz", &[("X-Long", &long)], "").await;
    assert!([431, 0].contains(&answer.status), "{answer:?}");
    assert_eq!(bed.request("GET", "/healthz", &[], "").await.status, 200);
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_takes_its_time_is_cut_off() {
    let time = Duration::from_millis(300);
    let limits =
        Limits { header_time: time, body_time: time, max_connections: 2, ..Limits::default() };
    let bed = Bed::limited(limits).await;
    let token = bed.token(Scope::Write);
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\n", bed.address);
    // Silent, half a header, half a body: as many as there are places, again and again.
    let halves = [
        String::new(),
        head.clone(),
        format!("{head}Authorization: Bearer {token}\r\nContent-Length: 100\r\n\r\n{{"),
        // Idle after an answer.
        format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", bed.address),
    ];
    for half in halves.iter().cycle().take(8) {
        let mut stream = bed.connect().await;
        stream.write_all(half.as_bytes()).await.expect("sent");
        // It ends without our doing.
        let answer = Answer::read(&mut stream).await;
        assert!([0, 200, 408].contains(&answer.status), "{half:?}: {answer:?}");
    }
    assert_eq!(bed.request("GET", "/healthz", &[], "").await.status, 200);
    bed.end().await;
}

/// Connections without a valid token, kept open by requests that are refused, are as many as there are places.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_no_token_keeps_nobody_out() {
    // Longer than a test waits for an answer: no place comes free by itself.
    let header_time = Duration::from_mins(5);
    let bed = Bed::limited(Limits { header_time, max_connections: 4, ..Limits::default() }).await;
    let token = bed.token(Scope::Write);
    let bearer = format!("Bearer {token}");
    let metrics = format!(
        "GET /metrics HTTP/1.1\r\nHost: {}\r\nAuthorization: {bearer}\r\n\r\n",
        bed.address
    );
    let answered = async |stream: &mut tokio::net::TcpStream, request: &str, status: &str| {
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = vec![0; 64 * 1024];
        let count = stream.read(&mut answer).await.expect("an answer");
        let answer = String::from_utf8_lossy(&answer[..count]).into_owned();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    };
    let mut known = bed.connect().await;
    answered(&mut known, &metrics, "200").await;
    let mut strangers = Vec::new();
    for request in ["GET /mcp", "GET /healthz", "OPTIONS /mcp"].iter().cycle().take(12) {
        let mut stream = bed.connect().await;
        let request = format!("{request} HTTP/1.1\r\nHost: {}\r\n\r\n", bed.address);
        stream.write_all(request.as_bytes()).await.expect("sent");
        strangers.push(stream);
    }
    let answer = bed.request("GET", "/metrics", &[("Authorization", &bearer)], "").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let _websocket = WsClient::initialized(&bed, &token).await;
    // The oldest stranger is gone; who has shown a token stays, however old.
    assert!([0, 401].contains(&Answer::read(&mut strangers[0]).await.status));
    answered(&mut known, &metrics, "200").await;
    // Places that tokens were shown for are not kept for ever.
    let mut known = Vec::new();
    for _ in 0..4 {
        let mut stream = bed.connect().await;
        answered(&mut stream, &metrics, "200").await;
        known.push(stream);
    }
    let answer = bed.request("GET", "/metrics", &[("Authorization", &bearer)], "").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    bed.end().await;
}

/// All places are kept when the next connection comes: it gets the first that is idle, after its answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_waits_gets_the_place_of_one_that_becomes_idle() {
    let header_time = Duration::from_mins(5);
    let bed = Bed::limited(Limits { header_time, max_connections: 1, ..Limits::default() }).await;
    let bearer = format!("Bearer {}", bed.token(Scope::Write));
    let long = json!({"command": "sleep 1; seq 100000", "max_bytes": 1_048_576});
    let (headers, body) = stateless_call("test", "execute_command", &long);
    let mut headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    headers.push(("Authorization", &bearer));
    let call = request_text(bed.address, "POST", "/mcp", &headers, &body);
    let mut kept = bed.connect().await;
    let call = call.replace("Connection: close", "Connection: keep-alive");
    kept.write_all(call.as_bytes()).await.expect("sent");
    tokio::time::sleep(Duration::from_millis(200)).await;
    let (waited, kept) =
        tokio::join!(bed.request("GET", "/healthz", &[], ""), Answer::read(&mut kept));
    assert_eq!((waited.status, kept.status), (200, 200), "{waited:?}");
    let output = &kept.json()["result"]["structuredContent"]["output"];
    assert!(output.as_str().is_some_and(|output| output.ends_with("100000\n")), "{output}");
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_has_a_rate_and_room_of_its_own() {
    let rate = RateLimit { calls: 20, per_seconds: 3600 };
    let bed = Bed::limited(Limits { rate, ..Limits::default() }).await;
    let (busy, other) = (bed.token(Scope::Write), bed.token(Scope::Write));
    let mut statuses = Vec::new();
    for _ in 0..25 {
        let bearer = format!("Bearer {busy}");
        let answer = bed.request("GET", "/metrics", &[("Authorization", &bearer)], "").await;
        assert_eq!(answer.status == 429, answer.headers.contains_key("retry-after"), "{answer:?}");
        statuses.push(answer.status);
    }
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 5, "{statuses:?}");
    assert_eq!(
        counter(&bed, &other, "termbridge_http_refused_total{reason=\"rate\"}").await,
        Some(5.0)
    );
    bed.end().await;

    let bed = Bed::limited(Limits { max_per_token: 2, ..Limits::default() }).await;
    let token = bed.token(Scope::Write);
    let client = HttpClient::with_session(&bed, &token).await;
    let session = client.session.clone().expect("a session");
    let open = |stream: tokio::net::TcpStream| {
        let text = format!(
            "GET /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nAccept: text/event-stream\r\n\
             Mcp-Session-Id: {session}\r\n\r\n",
            bed.address
        );
        async move {
            let mut stream = stream;
            stream.write_all(text.as_bytes()).await.expect("sent");
            // The head is there: the place is taken.
            let mut byte = [0];
            tokio::io::AsyncReadExt::read_exact(&mut stream, &mut byte).await.expect("an answer");
            stream
        }
    };
    let first = open(bed.connect().await).await;
    let second = open(bed.connect().await).await;
    let answer =
        client.post(&[], &json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string()).await;
    assert_eq!(answer.status, 429, "{answer:?}");
    drop(first);
    let (mut status, mut tries) = (429, 0);
    while status == 429 && tries < 1000 {
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
        status = client.post(&[], &ping).await.status;
        tries += 1;
    }
    assert_eq!(status, 200, "the place is free again");
    drop(second);
    bed.end().await;
}

#[tokio::test]
async fn an_address_that_is_taken_or_open_is_refused_with_words() {
    let bed = Bed::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let (server, _sessions) = mcp_server(&folder);
    let bind = |address: std::net::SocketAddr| {
        let stop = tokio_util::sync::CancellationToken::new();
        let http = HttpSettings::default();
        let endpoint = termbridge_mcp::http::HttpEndpoint::new(server.clone(), &http);
        let tokens = std::sync::Arc::new(TokenStore::new(folder.path()));
        WebServer::bind(
            address,
            WebSettings::default(),
            std::sync::Arc::new(endpoint),
            tokens,
            stop,
        )
    };
    let error = bind(bed.address).await.err().expect("taken").to_string();
    assert!(error.contains(&format!("(pid {})", std::process::id())), "{error}");
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let error = bind(address.parse().expect("an address")).await.err();
        assert!(matches!(error, Some(WebError::NeedsTls(_))), "{address}: {error:?}");
    }
    bed.end().await;
}
