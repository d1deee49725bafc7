//! Answers that say what to do next: a call that works, as written.

use std::time::Duration;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use termbridge_bridge::policy::PolicyConfig;
use termbridge_bridge::session::SessionId;

use crate::fake_adapter;
use crate::support::{TestServer, text};

fn data(answer: &CallToolResult) -> &Value {
    answer.structured_content.as_ref().expect("structured content")
}

/// The call that an answer names, as `tool {arguments}`.
fn named_call(answer: &str, tool: &str) -> Value {
    let begin = answer.find(&format!("{tool} {{")).unwrap_or_else(|| panic!("no call: {answer}"));
    let arguments = &answer[begin + tool.len() + 1..];
    let read = serde_json::Deserializer::from_str(arguments).into_iter().next();
    read.expect("arguments").unwrap_or_else(|error| panic!("{error}: {answer}"))
}

async fn launch(server: &TestServer, script: &str) -> CallToolResult {
    let launched =
        server.call("launch_app", json!({"command": "sh", "args": ["-c", script]})).await;
    assert_ne!(launched.is_error, Some(true), "{launched:?}");
    launched
}

async fn ended(server: &TestServer, name: &str, script: &str) {
    let arguments = json!({"command": "sh", "args": ["-c", script], "name": name,
        "wait": {"exit": true}});
    let launched = server.call("launch_app", arguments).await;
    assert!(text(&launched).contains("exited"), "{}", text(&launched));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ended_session_does_not_end_the_wait_for_another() {
    let server = TestServer::new();
    ended(&server, "a", "exit 0").await;
    server.call("execute_command", json!({"command": "read -p 'q? ' x", "name": "b"})).await;
    let b = server.call("list_sessions", json!({})).await;
    let rows = data(&b)["sessions"].as_array().expect("rows").clone();
    let b = rows.iter().find(|row| row["name"] == "b").expect("a row")["session_id"].clone();
    for ids in [["a", "b"], ["b", "a"]] {
        let wait = json!({"session_ids": ids, "needs_input": true});
        let waited = server.call("wait_for", wait).await;
        assert_eq!(data(&waited)["session_id"], b, "{}", text(&waited));
        assert_eq!(data(&waited)["fired"], "needs_input", "{}", text(&waited));
    }
    // The end is what this waits for.
    let waited = server.call("wait_for", json!({"session_ids": ["b", "a"], "exit": true})).await;
    assert_eq!(data(&waited)["fired"], "exit", "{}", text(&waited));
    // The one that runs may meet it until the time runs out.
    let wait = json!({"session_ids": ["a", "b"], "text": "never", "timeout_ms": 50});
    let waited = server.call("wait_for", wait).await;
    assert_eq!(data(&waited)["timed_out"], true, "{}", text(&waited));
    ended(&server, "c", "exit 3").await;
    let waited = server.call("wait_for", json!({"session_ids": ["a", "c"], "text": "never"})).await;
    assert!(text(&waited).contains("all sessions have ended"), "{}", text(&waited));
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hint_for_a_program_at_work_is_a_call_that_waits_for_it() {
    let server = TestServer::new();
    let script = "echo begun; sleep 1; echo ready; read x; sleep 1; exit 3";
    let launched = text(&launch(&server, script).await);
    assert!(launched.contains("still at work; read on: wait_for {"), "{launched}");
    let call = named_call(&launched, "wait_for");
    let id = call["session_id"].clone();
    let waited = text(&server.call("wait_for", call).await);
    assert!(waited.contains("ready") && waited.contains("needs_input"), "{waited}");
    let typed = server.call("send_keys", json!({"session_id": id, "keys": "Enter"})).await;
    let waited = server.call("wait_for", named_call(&text(&typed), "wait_for")).await;
    assert!(text(&waited).contains("exit code 3"), "{}", text(&waited));
    let restarted = text(&server.call("restart_app", json!({"session_id": id})).await);
    assert_eq!(named_call(&restarted, "wait_for")["session_id"], id);
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answer_says_that_a_person_has_to_type_a_hidden_line() {
    let policy = PolicyConfig { secrets_by_person: true, ..PolicyConfig::default() };
    let server = TestServer::with_policy(&policy);
    let command = json!({"command": "read -s -p 'Password: ' p; echo got ${#p}"});
    let answer = server.call("execute_command", command).await;
    let id = data(&answer)["session_id"].as_str().expect("an id").to_owned();
    let said = text(&answer);
    assert!(said.contains("a person must type it"), "{said}");
    assert!(!said.contains("send_keys"), "{said}");
    assert!(said.contains("echo off"), "{said}");
    let note = data(&answer)["note"].to_string();
    assert!(note.contains("a person must type it"), "{note}");
    let read = server.call("get_terminal_output", json!({"session_id": id})).await;
    assert!(text(&read).contains("a person must type it"), "{}", text(&read));
    let waited = server.call("wait_for", json!({"session_id": id, "needs_input": true})).await;
    assert!(text(&waited).contains("a person must type it"), "{}", text(&waited));
    let script = "stty -echo; printf 'Password: '; read y";
    let launched = json!({"command": "sh", "args": ["-c", script], "wait": {"needs_input": true}});
    let launched = text(&server.call("launch_app", launched).await);
    assert!(launched.contains("a person must type it"), "{launched}");
    // The call waits for the person.
    let call = named_call(&said, "get_terminal_output");
    let session = server.sessions.get(&SessionId::from_text(&id)).expect("there");
    let person = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        session.take_over("ann").await.expect("taken over");
        session.type_in("ann", b"secret\r".to_vec()).await.expect("typed");
    };
    let (read, ()) = tokio::join!(server.call("get_terminal_output", call), person);
    assert!(text(&read).contains("got 6"), "{}", text(&read));
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_notice_names_no_command_that_is_not_known() {
    let server = TestServer::new();
    let first = server.call("execute_command", json!({"command": "true"})).await;
    let id = data(&first)["session_id"].clone();
    let read = server.call("get_terminal_output", json!({"session_id": id})).await;
    let since = data(&read)["cursor"].clone();
    server.call("execute_command", json!({"command": "seq 100000", "session_id": id})).await;
    let request = json!({"session_id": id, "since": since, "until": "end"});
    let read = server.call("get_terminal_output", request).await;
    let call = named_call(&text(&read), "get_terminal_output");
    assert_eq!(call.get("command_id"), None, "{call}");
    let rest = server.call("get_terminal_output", call).await;
    assert_ne!(rest.is_error, Some(true), "{rest:?}");
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_without_a_view_wait_all_the_same() {
    let server = TestServer::new();
    let launched = launch(&server, "read x; sleep 0.1; echo took $x; read y").await;
    let id = data(&launched)["session_id"].clone();
    let keys = json!({"session_id": id, "keys": "one<Enter>", "view": "none"});
    let sent = server.call("send_keys", keys).await;
    assert_eq!(text(&sent), "sent 4 bytes");
    let screen = server.call("view_screen", json!({"session_id": id})).await;
    assert!(text(&screen).contains("took one"), "{}", text(&screen));
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_of_a_program_that_has_ended_says_how() {
    let server = TestServer::new();
    ended(&server, "ended", "echo last words; exit 3").await;
    let read = server.call("get_terminal_output", json!({"session_id": "ended"})).await;
    assert!(text(&read).contains("last words\n[exited: exit code 3 | "), "{}", text(&read));
    assert_eq!(data(&read)["exited"], "exit code 3");
    let made = server.call("create_session", json!({"name": "typed"})).await;
    let id = data(&made)["session_id"].clone();
    let typed = json!({"session_id": id, "keys": "echo typed<Enter>", "wait": {"prompt": true}});
    server.call("send_keys", typed).await;
    let read = server.call("get_terminal_output", json!({"session_id": id})).await;
    assert!(!text(&read).contains("running"), "{}", text(&read));
    assert_eq!(data(&read)["running"], false);
    let typed = json!({"session_id": id, "keys": "sleep 100<Enter>"});
    server.call("send_keys", typed).await;
    let read = server.call("get_terminal_output", json!({"session_id": id})).await;
    assert!(text(&read).contains("[running | "), "{}", text(&read));
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_that_lead_to_a_hidden_line_say_so() {
    let server = TestServer::new();
    let script = "read x; stty -echo; printf 'Password: '; read y; stty echo; read z";
    let launched = launch(&server, script).await;
    let id = data(&launched)["session_id"].clone();
    let keys = json!({"session_id": id, "keys": "Enter"});
    let sent = text(&server.call("send_keys", keys.clone()).await);
    assert!(sent.contains("Password:") && sent.contains("needs_input, echo off"), "{sent}");
    let sent = text(&server.call("send_keys", keys).await);
    assert!(!sent.contains("echo off"), "{sent}");
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_sees_no_stop_reports_the_time_that_was_given() {
    let server = TestServer::new();
    let port = fake_adapter::listen().await;
    let configuration =
        json!({"name": "x", "type": "go", "request": "attach", "mode": "remote", "port": port});
    let launch = json!({"configurations": [configuration]});
    server.write(".vscode/launch.json", &launch.to_string());
    let start = json!({"launch": "x", "wait": true, "timeoutMs": 700});
    let late = text(&server.call("debug_start", start).await);
    assert!(late.contains("no stop within 700 ms"), "{late}");
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_tools_of_an_error_fit_its_hint() {
    let server = TestServer::new();
    let busy = json!({"command": "sleep 100", "name": "busy", "timeout_ms": 0});
    server.call("execute_command", busy.clone()).await;
    let refused = text(&server.call("execute_command", busy).await);
    assert!(refused.starts_with("[BUSY]") && !refused.contains("Next:"), "{refused}");
    let open = json!({"command": "if true; then"});
    let refused = text(&server.call("execute_command", open).await);
    assert!(refused.ends_with("\nClose what is open and send it again."), "{refused}");
    let refused = text(&server.call("debug_continue", json!({})).await);
    assert!(refused.ends_with("\nStart one with debug_start"), "{refused}");
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_say_what_is_the_case() {
    let server = TestServer::new();
    let refused = text(&server.call("create_session", json!({"shell": "tcsh"})).await);
    assert!(refused.contains("\"tcsh\" is not a supported shell"), "{refused}");
    let unknown = json!({"steps": [{"tool": "nope"}]});
    let unknown = text(&server.call("run_steps", unknown).await);
    assert!(
        unknown.contains("execute_command, ") && unknown.contains("list_sessions, "),
        "{unknown}"
    );
    assert!(!unknown.contains("run_steps"), "{unknown}");
    let named = json!({"steps": [{"name": "list_sessions", "arguments": {}}]});
    let named = text(&server.call("run_steps", named).await);
    assert!(named.contains("Did you mean `steps[0].tool`?"), "{named}");
    let launched = launch(&server, "echo hi; sleep 100").await;
    let bogus = json!({"session_id": data(&launched)["session_id"], "since": "bogus"});
    let bogus = text(&server.call("get_terminal_output", bogus).await);
    assert!(bogus.ends_with("leave `since` out to start at the end"), "{bogus}");
    let steps = json!({"steps": [{"tool": "execute_command", "arguments": {"command": "false"}},
        {"tool": "list_sessions"}]});
    let stopped = text(&server.call("run_steps", steps).await);
    assert!(stopped.ends_with("[1 step did not run]"), "{stopped}");
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hint_for_a_program_on_the_alternate_screen_shows_its_screen() {
    let server = TestServer::new();
    let draws = r"printf '\033[?1049hclock'; while sleep 0.1; do printf .; done";
    let begun = json!({"command": draws, "timeout_ms": 1000});
    let begun = server.call("execute_command", begun).await;
    let told = text(&begun);
    assert!(told.contains("still running; read on: view_screen {"), "{told}");
    let shown = server.call("view_screen", named_call(&told, "view_screen")).await;
    assert!(text(&shown).contains("clock."), "{}", text(&shown));
    // Its output does not change, so the wait is short.
    let read = json!({"session_id": data(&begun)["session_id"], "until": "end", "wait_ms": 30_000});
    let read =
        tokio::time::timeout(Duration::from_secs(10), server.call("get_terminal_output", read));
    let read = text(&read.await.expect("the wait is short"));
    assert!(read.contains("full-screen program runs: view_screen shows it"), "{read}");
    // Back on the main screen, output is what it prints.
    let then = r"printf '\033[?1049h\033[?1049lback\n'; sleep 100";
    let then =
        text(&server.call("execute_command", json!({"command": then, "timeout_ms": 1000})).await);
    assert!(then.contains("still running; read on: get_terminal_output {"), "{then}");
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_does_not_repeat_a_long_argument() {
    let server = TestServer::new();
    let long = "x".repeat(3_000_000);
    for (tool, arguments) in [
        ("execute_command", json!({"command": "true", "cwd": format!("/{long}")})),
        ("wait_for", json!({"session_id": long, "change": true})),
        ("view_screen", json!({"session_id": "x", "format": long})),
    ] {
        let answer = server.call(tool, arguments).await;
        let size = serde_json::to_string(&answer).expect("JSON").len();
        assert!(answer.is_error == Some(true) && size < 40_000, "{tool}: {size}");
    }
}
