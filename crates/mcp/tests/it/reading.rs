//! Reading on: each line comes once, and what is left out is named.

use std::time::Duration;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use crate::connection::Connection;
use crate::support::{TestServer, text};

fn field<'a>(answer: &'a CallToolResult, name: &str) -> &'a Value {
    &answer.structured_content.as_ref().expect("structured content")[name]
}

async fn run(server: &TestServer, command: &str) -> CallToolResult {
    let ran = server.call("execute_command", json!({"command": command, "name": "s"})).await;
    assert_ne!(ran.is_error, Some(true), "{}", text(&ran));
    ran
}

async fn read(server: &TestServer, mut arguments: Value) -> CallToolResult {
    arguments["session_id"] = "s".into();
    server.call("get_terminal_output", arguments).await
}

async fn press(server: &TestServer, keys: &str) {
    let sent = server.call("send_keys", json!({"session_id": "s", "keys": keys, "view": "none"}));
    assert_ne!(sent.await.is_error, Some(true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_grows_is_read_on_where_the_last_answer_ended() {
    let server = TestServer::new();
    run(&server, "printf 'a\\nDown'; read -s; printf load; read -s; printf ' done\\nz\\n'").await;
    let first = read(&server, json!({})).await;
    assert!(field(&first, "output").as_str().is_some_and(|output| output.ends_with("a\nDown")));
    let cursor = field(&first, "cursor").clone();
    let again = read(&server, json!({"since": cursor, "wait_ms": 50})).await;
    assert_eq!(field(&again, "output"), "");
    press(&server, "<Enter>").await;
    let more = read(&server, json!({"since": cursor, "wait_ms": 10_000})).await;
    assert_eq!(field(&more, "output"), "load");
    let cursor = field(&more, "cursor").clone();
    let again = read(&server, json!({"since": cursor, "wait_ms": 50})).await;
    assert_eq!(field(&again, "output"), "", "it is not shown once more");
    press(&server, "<Enter>").await;
    let end = json!({"since": cursor, "until": "end", "wait_ms": 10_000});
    assert_eq!(field(&read(&server, end).await, "output"), " done\nz\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_an_interactive_program_pads_are_shown_without_it() {
    let server = TestServer::new();
    let drawn = run(&server, "printf 'name     \\nvalue    \\n> '; read -n 1").await;
    assert_eq!(field(&drawn, "state"), "interactive");
    assert!(text(&drawn).starts_with("name\nvalue\n> \n["), "{}", text(&drawn));
    assert_eq!(field(&drawn, "output"), "name     \nvalue    \n> ");
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_that_a_session_does_not_show_any_more_are_named() {
    let server = TestServer::new();
    for number in 1..=52 {
        run(&server, &format!("echo number-{number}-")).await;
    }
    let note = "commands 1-2 are left out: command_id reads one";
    for arguments in [json!({"offset": 0}), json!({"since": "1:0"}), json!({"grep": "number-1-"})] {
        let page = read(&server, arguments).await;
        assert!(text(&page).contains(note), "{}", text(&page));
    }
    let tail = read(&server, json!({"lines": 3})).await;
    assert!(!text(&tail).contains("left out"), "{}", text(&tail));
    let first = read(&server, json!({"command_id": 1})).await;
    assert_eq!(field(&first, "output"), "number-1-\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_was_typed_is_waited_for() {
    let server = TestServer::new();
    run(&server, "echo before").await;
    press(&server, "cat<Enter>").await;
    let note = "a typed line runs: view_screen shows it";
    let running = read(&server, json!({})).await;
    assert!(text(&running).contains(note), "{}", text(&running));
    assert_eq!(field(&running, "running"), true);
    let refused = server.call("execute_command", json!({"command": "true", "name": "s"})).await;
    assert!(text(&refused).contains("until"), "{}", text(&refused));
    let end = read(&server, json!({"until": "end", "wait_ms": 20_000}));
    let typed = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        press(&server, "<C-d>").await;
    };
    let (end, ()) = tokio::join!(end, typed);
    assert!(!text(&end).contains(note), "{}", text(&end));
    run(&server, "echo after").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_typed_line_prints_is_read() {
    let server = TestServer::new();
    run(&server, "echo before").await;
    press(&server, "echo first; sleep 0.3; echo sec''ond; seq 3<Enter>").await;
    let end = read(&server, json!({"until": "end", "wait_ms": 20_000})).await;
    assert!(text(&end).contains("before\n"), "{}", text(&end));
    let grep = read(&server, json!({"grep": "second"})).await;
    assert!(text(&grep).contains("second"), "{}", text(&grep));
    let since = field(&grep, "cursor").clone();
    press(&server, "sleep 0.3; echo thi''rd<Enter>").await;
    let new = read(&server, json!({"since": since, "wait_ms": 20_000})).await;
    assert_eq!(field(&new, "output"), "[background or typed]\nthird\n", "{}", text(&new));
    assert_eq!(field(&run(&server, "echo after").await, "output"), "after\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_line_of_a_background_job_is_lost_between_commands() {
    let server = TestServer::new();
    run(&server, "for i in {1..200}; do echo log-$i-; sleep 0.003; done &").await;
    // The session shows fifty commands.
    for _ in 0..45 {
        run(&server, "true").await;
    }
    run(&server, "wait").await;
    let all = read(&server, json!({"lines": 100_000, "max_bytes": 1_000_000, "offset": 0})).await;
    let all = field(&all, "output").as_str().expect("text").to_owned();
    let count = |number: u32| all.matches(&format!("log-{number}-")).count();
    let wrong: Vec<_> =
        (1..=200).map(|it| (it, count(it))).filter(|(_, found)| *found != 1).collect();
    assert_eq!(wrong, [], "{all}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_command_is_an_exit() {
    let server = TestServer::new();
    run(&server, "read code; (exit $code)").await;
    let keys = json!({"session_id": "s", "keys": "4<Enter>", "wait": {"exit": true}});
    let answer = server.call("send_keys", keys).await;
    assert_eq!(field(&answer, "wait")["fired"], "exit", "{}", text(&answer));
    assert_eq!(field(&answer, "command")["exit_code"], 4, "{}", text(&answer));
    let slow = json!({"command": "sleep 0.2; (exit 5)", "name": "s", "timeout_ms": 0});
    assert_eq!(field(&server.call("execute_command", slow).await, "state"), "running");
    let answer = server.call("wait_for", json!({"session_id": "s", "exit": true})).await;
    assert_eq!(field(&answer, "fired"), "exit", "{}", text(&answer));
    assert_eq!(field(&answer, "command")["exit_code"], 5, "{}", text(&answer));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_typed_before_the_prompt_waits_for_it() {
    let server = TestServer::new();
    run(&server, "PROMPT_COMMAND='sleep 0.2'").await;
    run(&server, "echo first").await;
    let keys = "sh -c 'echo T''YPED; exit 7'<Enter>";
    let keys = |wait: Value| json!({"session_id": "s", "keys": keys, "wait": wait});
    for wait in [json!({"prompt": true}), json!({"text": "TYPED"}), json!({"exit": true})] {
        let answer = server.call("send_keys", keys(wait.clone())).await;
        let shown = text(&answer);
        assert!(shown.contains("\nTYPED\n"), "{wait}: {shown}");
        assert_eq!(
            shown.matches("T''YPED").count(),
            1,
            "{wait}: the terminal echoed it too: {shown}"
        );
        assert_eq!(field(&answer, "wait")["timed_out"], false, "{wait}");
        server.call("wait_for", json!({"session_id": "s", "prompt": true})).await;
        let next = run(&server, "echo status $?").await;
        assert_eq!(field(&next, "output"), "status 7\n", "{wait}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_answers_are_built_as_the_client_reads_them() {
    let server = TestServer::new();
    let mut client = Connection::to(server.server.clone()).await;
    client.call("execute_command", json!({"command": "seq 200000", "max_bytes": 256})).await;
    let read = json!({"command_id": 1, "lines": 100_000, "max_bytes": 1_048_576});
    let read = json!({"name": "get_terminal_output", "arguments": read});
    for id in 1000..1020 {
        client
            .send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": read}))
            .await;
    }
    let small = json!({"name": "list_sessions", "arguments": {}});
    client
        .send(&json!({"jsonrpc": "2.0", "id": 1020, "method": "tools/call", "params": small}))
        .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let metrics = server.server.metrics().prometheus();
    let sent = metrics.lines().find_map(|line| line.strip_prefix("termbridge_sent_bytes_total "));
    let sent: usize = sent.expect("counted").parse().expect("a number");
    assert!(sent < 12_000_000, "{sent} bytes are ready for a client that does not read");
    let mut answered = Vec::new();
    while answered.len() < 21 {
        let answer = client.receive().await;
        assert_ne!(answer["result"]["isError"], true);
        answered.extend(answer["id"].as_u64());
    }
    assert!(answered[..6].contains(&1020), "{answered:?}");
    server.sessions.shutdown().await;
}
