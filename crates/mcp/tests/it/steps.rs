//! `run_steps`: which answers of a step end the chain.

use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use crate::support::{TestServer, text};

async fn run(server: &TestServer, steps: Value) -> (CallToolResult, Value) {
    let answer = server.call("run_steps", json!({"steps": steps})).await;
    let data = answer.structured_content.clone().expect("structured content");
    (answer, data)
}

fn command(command: &str) -> Value {
    json!({"tool": "execute_command", "arguments": {"command": command}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn steps_stop_behind_a_command_that_waits_for_input() {
    let server = TestServer::new();
    let asks = json!({"tool": "execute_command", "save_as": "asks",
        "arguments": {"command": "read q; echo got $q; sleep 0.1"}});
    for next in [command("echo elsewhere"), json!({"tool": "list_sessions"})] {
        let (answer, data) = run(&server, json!([asks, next])).await;
        let text = text(&answer);
        assert!(answer.is_error == Some(true) && data["skipped"] == 1, "{text}");
        assert!(text.contains("== 1 execute_command failed"), "{text}");
        let session = data["steps"][0]["result"]["session_id"].as_str().expect("an id");
        let note = data["note"].as_str().expect("a note");
        assert!(note.contains("step 1 waits for input"), "{note}");
        assert!(note.contains(&format!("send_keys to session {session}")), "{note}");
        assert!(text.ends_with(&format!("[1 step did not run: {note}]")), "{text}");
    }
    // Steps for its session go on, and others once it has ended.
    let session = "${asks.session_id}";
    let look = json!({"tool": "view_screen", "arguments": {"session_id": session}});
    let types = json!({"tool": "send_keys", "arguments": {"session_id": session,
        "keys": "yes<Enter>", "wait": {"text": "got yes"}}});
    let (answer, data) = run(&server, json!([asks, look, types, command("echo after")])).await;
    assert_eq!(data["success"], true, "{}", text(&answer));
    assert_eq!(data["steps"][3]["result"]["session_id"], data["steps"][0]["result"]["session_id"]);
    // A command that still waits is not forgotten.
    let twice = json!({"tool": "execute_command", "save_as": "asks",
        "arguments": {"command": "read q; read r"}});
    let (answer, data) =
        run(&server, json!([twice, types_line(session), command("echo no")])).await;
    assert_eq!(data["skipped"], 1, "{}", text(&answer));
    assert_eq!(data["steps"][0]["ok"], false, "{}", text(&answer));
    // With `stop_on_error: false` the rest runs, and the answer says so.
    let all = json!({"steps": [asks, command("echo elsewhere")], "stop_on_error": false});
    let answer = server.call("run_steps", all).await;
    let data = answer.structured_content.clone().expect("structured content");
    assert_eq!((&data["skipped"], &data["steps"][0]["ok"]), (&json!(0), &json!(false)));
    server.sessions.shutdown().await;
}

fn types_line(session: &str) -> Value {
    json!({"tool": "send_keys", "arguments": {"session_id": session, "keys": "yes<Enter>"}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn steps_stop_at_an_exit_code_that_any_tool_reports() {
    let server = TestServer::new();
    let shell = |command: &str| json!({"tool": "execute_command", "save_as": "run", "arguments": {"command": command}});
    let app = |script: &str, wait: Value| {
        json!({"tool": "launch_app", "save_as": "run",
            "arguments": {"command": "sh", "args": ["-c", script], "wait": wait}})
    };
    let keys = |mut more: Value| {
        more["session_id"] = "${run.session_id}".into();
        more["keys"] = "Enter".into();
        json!({"tool": "send_keys", "arguments": more})
    };
    let wait_for = |mut condition: Value| {
        condition["session_id"] = "${run.session_id}".into();
        json!({"tool": "wait_for", "arguments": condition})
    };
    let next = json!({"tool": "list_sessions"});
    let none = json!({});
    let table = [
        json!([shell("read q; (exit 3)"), keys(json!({})), next]),
        json!([shell("read q; (exit 3)"), keys(json!({"wait": {"prompt": true}})), next]),
        json!([
            shell("read q; sleep 0.5; (exit 3)"),
            keys(json!({"wait": {}})),
            wait_for(json!({"prompt": true})),
            next
        ]),
        json!([app("exit 3", Value::Null), next]),
        json!([app("exit 3", json!({"exit": true})), next]),
        json!([app("sleep 0.3; exit 3", none.clone()), wait_for(json!({"exit": true})), next]),
        json!([app("read q; exit 3", none.clone()), keys(json!({})), next]),
        json!([
            app("read q; exit 3", none.clone()),
            keys(json!({"wait": {"exit": true}, "view": "none"})),
            next
        ]),
    ];
    for steps in table {
        let (answer, data) = run(&server, steps.clone()).await;
        assert_eq!(answer.is_error, Some(true), "{steps}: {}", text(&answer));
        assert_eq!(data["skipped"], 1, "{steps}: {}", text(&answer));
    }
    let fine = json!([app("exit 0", json!({"exit": true})), next]);
    let (answer, data) = run(&server, fine).await;
    assert_eq!(data["success"], true, "{}", text(&answer));
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn structured_answers_say_what_was_cut() {
    let server = TestServer::new();
    let long = json!({"tool": "execute_command", "arguments":
        {"command": "head -c 50000 /dev/zero | tr '\\0' x", "max_bytes": 1_048_576}});
    let (answer, data) = run(
        &server,
        json!([long, command("seq 3000"), command("seq 3000"), command("echo short")]),
    )
    .await;
    assert!(text(&answer).len() < 60_000 && data.to_string().len() < 60_000, "{}", text(&answer));
    for (index, end) in [(0, "xxx"), (2, "2999\n3000\n")] {
        let result = &data["steps"][index]["result"];
        let output = result["output"].as_str().expect("output");
        assert_eq!(result["truncated"], true, "{output}");
        assert!(output.ends_with(end), "{output}");
        let rest = json!({"session_id": result["session_id"], "command_id": result["command_id"]});
        assert!(output.contains(&format!("get_terminal_output {rest} has them")), "{output}");
    }
    let result = &data["steps"][3]["result"];
    assert_eq!((&result["output"], &result["truncated"]), (&json!("short\n"), &json!(false)));
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_are_kept_are_bounded() {
    let server = TestServer::new();
    let large = json!({"command": "head -c 900000 /dev/zero | tr '\\0' x", "max_bytes": 1_048_576});
    let step = json!({"tool": "execute_command", "arguments": large, "save_as": "a"});
    let (answer, data) = run(&server, json!([step, step, step, step, step, step, step])).await;
    assert_eq!(data["skipped"], 2, "{}", text(&answer));
    assert!(text(&answer).contains("`save_as` keeps at most 4 MB"), "{}", text(&answer));
    server.sessions.shutdown().await;
}
