//! MCP over streamable HTTP: with and without sessions.

use std::time::Duration;

use serde_json::{Value, json};
use termbridge_mcp::Scope;
use termbridge_mcp::http::HttpSettings;
use termbridge_web::WebSettings;

use crate::support::{Bed, HttpClient, await_that, counter};
use crate::websocket::WsClient;

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

async fn run_echo(client: &HttpClient) {
    let result = client.call("execute_command", json!({"command": "echo over http"})).await;
    assert!(text(&result).contains("over http"), "{result}");
    assert_eq!(result["structuredContent"]["exit_code"], 0, "{result}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_run_in_both_kinds_of_request() {
    let bed = Bed::start().await;
    let token = bed.token(Scope::Write);
    run_echo(&HttpClient::stateless(&bed, &token)).await;
    let client = HttpClient::with_session(&bed, &token).await;
    run_echo(&client).await;
    let count = "termbridge_tool_call_seconds_count{tool=\"execute_command\"}";
    assert_eq!(counter(&bed, &token, count).await, Some(2.0));
    assert_eq!(counter(&bed, &token, "termbridge_http_sessions").await, Some(1.0));
    assert_eq!(counter(&bed, &token, "termbridge_sessions{state=\"running\"}").await, Some(2.0));
    for name in [
        "termbridge_received_bytes_total",
        "termbridge_sent_bytes_total",
        "process_resident_memory_bytes",
    ] {
        assert!(counter(&bed, &token, name).await > Some(100.0), "{name}");
    }
    let lost = client.call("view_screen", json!({"session_id": "none"})).await;
    assert_eq!(lost["structuredContent"]["error"]["code"], "SESSION_NOT_FOUND", "{lost}");
    let errors = "termbridge_errors_total{code=\"SESSION_NOT_FOUND\"}";
    assert_eq!(counter(&bed, &token, errors).await, Some(1.0));
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_client_of_a_token_has_its_own_current_session() {
    let bed = Bed::start().await;
    let token = bed.token(Scope::Write);
    let first = HttpClient::with_session(&bed, &token).await;
    let second = HttpClient::with_session(&bed, &token).await;
    // Without sessions, the name in each request identifies the client.
    let alone = HttpClient::stateless(&bed, &token);
    let mut other = alone.clone();
    other.name = "other".into();
    let mut socket = WsClient::initialized(&bed, &token).await;
    let clients = [(&first, "/usr"), (&second, "/etc"), (&alone, "/var"), (&other, "/tmp")];
    for (client, folder) in clients {
        client.call("execute_command", json!({"command": format!("cd {folder}")})).await;
    }
    socket.call("execute_command", json!({"command": "cd /dev"})).await;
    let output = |result: Value| result["structuredContent"]["output"].clone();
    for (client, folder) in clients {
        let shown = client.call("execute_command", json!({"command": "pwd"})).await;
        assert_eq!(output(shown), format!("{folder}\n"));
    }
    let shown = socket.call("execute_command", json!({"command": "pwd"})).await;
    assert_eq!(output(shown), "/dev\n");
    // All sessions are the token's, and so are their names.
    let listed = second.call("list_sessions", json!({})).await;
    let count = listed["structuredContent"]["sessions"].as_array().map(Vec::len);
    assert_eq!(count, Some(5), "{listed}");
    let named = |command: &str| json!({"command": command, "name": "shared"});
    first.call("execute_command", named("A=1")).await;
    assert_eq!(output(second.call("execute_command", named("echo $A")).await), "1\n");
    // A client that comes again gets the session of the one that has left.
    assert_eq!(first.send("DELETE", &[], "").await.status, 204);
    await_that("it has left", || bed.server.metrics().clients() == 3).await;
    let again = HttpClient::with_session(&bed, &token).await;
    let shown = again.call("execute_command", json!({"command": "pwd"})).await;
    assert_eq!(output(shown), "/usr\n");
    drop(socket);
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_its_token_s_and_ends_by_delete() {
    let bed = Bed::start().await;
    let (mine, theirs) = (bed.token(Scope::Write), bed.token(Scope::Admin));
    let client = HttpClient::with_session(&bed, &mine).await;
    let mut thief = HttpClient::stateless(&bed, &theirs);
    thief.session.clone_from(&client.session);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    assert_eq!(thief.post(&[], &ping).await.status, 404);
    assert_eq!(thief.send("GET", &[("Accept", "text/event-stream")], "").await.status, 404);
    assert_eq!(thief.send("DELETE", &[], "").await.status, 404);
    assert_eq!(client.post(&[], &ping).await.status, 200, "it is still there");

    // A wait under way ends with the session.
    let result = client.call("launch_app", json!({"command": "cat"})).await;
    let session = result["structuredContent"]["session_id"].clone();
    let waiting = {
        let client = client.clone();
        let arguments = json!({"session_id": session, "text": "never", "timeout_ms": 45_000});
        tokio::spawn(async move { client.call("wait_for", arguments).await })
    };
    let calls = || bed.server.metrics().prometheus();
    let waits = "termbridge_tool_call_seconds_count{tool=\"wait_for\"} 1";
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!calls().contains(waits));
    assert_eq!(client.send("DELETE", &[], "").await.status, 204);
    await_that("the wait has ended", || calls().contains(waits)).await;
    assert_eq!(client.post(&[], &ping).await.status, 404);
    assert_eq!(counter(&bed, &mine, "termbridge_http_sessions").await, Some(0.0));
    waiting.abort();
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_bounded_and_idle_ones_end() {
    let http = HttpSettings { max_sessions: 2, session_idle: Duration::from_millis(400) };
    let bed = Bed::with(WebSettings::default(), http).await;
    let token = bed.token(Scope::Write);
    let first = HttpClient::with_session(&bed, &token).await;
    let _second = HttpClient::with_session(&bed, &token).await;
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let open =
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string();
    let client = HttpClient::stateless(&bed, &token);
    let answer = client.post(&[], &open).await;
    assert_eq!(answer.status, 503, "{answer:?}");
    assert!(answer.headers.contains_key("retry-after"), "{answer:?}");
    // Nobody uses them.
    await_that("both have ended", || bed.server.metrics().clients() == 0).await;
    assert_eq!(client.post(&[], &open).await.status, 200);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    assert_eq!(first.post(&[], &ping).await.status, 404);
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_request_gets_a_json_rpc_error() {
    let bed = Bed::start().await;
    let client = HttpClient::with_session(&bed, &bed.token(Scope::Write)).await;
    for (body, status, code) in [
        ("", 400, -32700),
        ("{", 400, -32700),
        ("[]", 400, -32600),
        ("7", 400, -32600),
        (r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":7}"#, 200, -32602),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"x","arguments":NaN}}"#,
            200,
            -32700,
        ),
        (r#"{"jsonrpc":"2.0","id":4,"method":"no/such"}"#, 200, -32601),
    ] {
        let answer = client.post(&[], body).await;
        assert_eq!(answer.status, status, "{body}: {answer:?}");
        assert_eq!(answer.json()["error"]["code"], code, "{body}: {answer:?}");
        if status == 200 {
            assert_eq!(answer.json()["id"], 4, "{body}: {answer:?}");
        }
    }
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scopes_hold_over_http() {
    let bed = Bed::start().await;
    let (reader, admin) = (bed.token(Scope::Read), bed.token(Scope::Admin));
    let writer = HttpClient::stateless(&bed, &bed.token(Scope::Write));
    run_echo(&writer).await;
    let reader = HttpClient::stateless(&bed, &reader);
    let refused = reader.call("execute_command", json!({"command": "true"})).await;
    assert_eq!(refused["structuredContent"]["error"]["code"], "FORBIDDEN", "{refused}");
    let listed = reader.call("list_sessions", json!({"all": true})).await;
    assert_eq!(listed["structuredContent"]["sessions"], json!([]), "{listed}");
    let listed =
        HttpClient::stateless(&bed, &admin).call("list_sessions", json!({"all": true})).await;
    assert_eq!(
        listed["structuredContent"]["sessions"].as_array().map(Vec::len),
        Some(1),
        "{listed}"
    );
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_is_revoked_ends_what_it_has_under_way() {
    let bed = Bed::start().await;
    let (id, token) = bed.new_token(Scope::Write);
    let client = HttpClient::with_session(&bed, &token).await;
    let stream = {
        let client = client.clone();
        tokio::spawn(
            async move { client.send("GET", &[("Accept", "text/event-stream")], "").await },
        )
    };
    run_echo(&client).await;
    bed.tokens.revoke(&id).expect("revoked");
    // Without waiting for the client.
    let answer = stream.await.expect("the stream ends");
    assert_eq!(answer.status, 200, "{answer:?}");
    await_that("its session has ended", || bed.server.metrics().clients() == 0).await;
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ends_answers_the_waits() {
    let bed = Bed::start().await;
    let token = bed.token(Scope::Write);
    let client = HttpClient::stateless(&bed, &token);
    let result = client.call("launch_app", json!({"command": "cat"})).await;
    let session = result["structuredContent"]["session_id"].clone();
    let waiting = tokio::spawn(async move {
        client
            .call("wait_for", json!({"session_id": session, "text": "never", "timeout_ms": 45_000}))
            .await
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    bed.end().await;
    let answer = waiting.await.expect("answered");
    assert_eq!(answer["structuredContent"]["error"]["code"], "SERVER_RESTARTED", "{answer}");
}
