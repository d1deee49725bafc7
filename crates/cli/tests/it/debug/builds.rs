//! Starts that take longer than their call, because something is built first.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use termbridge_mcp::client::Client;
use termbridge_testkit::{PROTOCOL, Server, TestEnvironment};

use super::{PATIENCE_MS, configured, data};
use crate::TERMBRIDGE;
use crate::support::{await_end_of, await_file};

/// What a client sends to withdraw a request.
fn cancel(server: &mut Server, id: u64) {
    let params = json!({"requestId": id});
    let message = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    server.send(&message).expect("sent");
}

/// Waits for the file that a task makes while it runs, and lets it go on.
const SLOW_TASK: &str = r#"{"version": "2.0.0", "tasks": [
    {"label": "slow", "type": "shell", "command": "echo first; echo building parts; echo $$ > part; mv part begun; while [ ! -e go ]; do sleep 0.02; done"}
]}"#;
const SLOW_LAUNCH: &str = r#"{"configurations": [{"name": "Slow", "type": "debugpy", "request": "launch",
    "program": "${workspaceFolder}/app.py", "preLaunchTask": "slow"}]}"#;

fn slow_project() -> (TestEnvironment, Server) {
    let environment = configured();
    environment.write("app.py", "value = 1\nprint(value)\n");
    environment.write(".vscode/launch.json", SLOW_LAUNCH);
    environment.write(".vscode/tasks.json", SLOW_TASK);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    data(&mut server, "breakpoint_set", json!({"path": "app.py", "line": 2}));
    (environment, server)
}

#[test]
fn a_wait_for_a_build_that_is_cancelled_leaves_it_going() {
    let (environment, mut server) = slow_project();
    let begun = server.ok("debug_start", json!({"launch": "Slow", "timeoutMs": 1500}));
    assert!(begun.text.contains("Last line: building parts"), "{}", begun.text);
    let status = server.ok("debug_status", json!({})).text;
    assert!(status.ends_with("is starting"), "{status}");
    let call = json!({"name": "debug_wait_for_hit", "_meta": {"progressToken": "p"},
                      "arguments": {"timeoutMs": PATIENCE_MS}});
    let id = server.begin("tools/call", call).expect("sent");
    let is_line = |message: &Value| message["params"]["message"] == "building parts";
    server.receive(is_line).expect("progress tells of it too");
    cancel(&mut server, id);
    let again = server.error("debug_start", json!({"launch": "Slow"}));
    assert_eq!(again.0, "E_BUSY", "it goes on");
    environment.write("go", "");
    let stop = data(&mut server, "debug_wait_for_hit", json!({"timeoutMs": PATIENCE_MS}));
    assert_eq!(stop["location"]["line"], 2, "{stop:#}");
}

#[test]
fn a_start_that_is_cancelled_ends_its_build() {
    let (environment, mut server) = slow_project();
    let start = json!({"launch": "Slow", "timeoutMs": PATIENCE_MS});
    let call = json!({"name": "debug_start", "arguments": start});
    let id = server.begin("tools/call", call).expect("sent");
    let build = || {
        let begun = environment.path().join("begun");
        await_file(&begun);
        let pid = environment.read("begun").trim().parse().expect("a number");
        std::fs::remove_file(begun).expect("it was there");
        pid
    };
    let first: i64 = build();
    cancel(&mut server, id);
    await_end_of(first);
    // The next takes its place, and is ended in another way.
    let next = json!({"launch": "Slow", "timeoutMs": 1500});
    assert_eq!(server.ok("debug_start", next).structured["data"]["state"], "starting");
    data(&mut server, "debug_stop", json!({}));
    await_end_of(build());
    let (code, text) = server.error("debug_wait_for_hit", json!({"timeoutMs": 1000}));
    assert_eq!(code, "E_NO_SESSION", "neither was started: {text}");
}

#[test]
fn a_stop_ends_a_start_whose_call_still_waits() {
    let (environment, mut server) = slow_project();
    let start = json!({"launch": "Slow", "timeoutMs": PATIENCE_MS});
    let call = json!({"name": "debug_start", "arguments": start});
    let id = server.begin("tools/call", call).expect("sent");
    let begun = environment.path().join("begun");
    await_file(&begun);
    let build = environment.read("begun").trim().parse().expect("a number");
    data(&mut server, "debug_stop", json!({}));
    await_end_of(build);
    let answer = server.finish(id).expect("an answer");
    assert!(answer.to_string().contains("E_ABORTED"), "{answer}");
    let (code, text) = server.error("debug_stop", json!({}));
    assert_eq!(code, "E_NO_SESSION", "nothing is left to stop: {text}");
}

#[test]
fn a_stop_ends_what_was_started_meanwhile() {
    let (environment, mut server) = slow_project();
    environment.write("app.py", "import os, time\nopen('pid', 'w').write(str(os.getpid()))\nos.rename('pid', 'runs')\ntime.sleep(600)\n");
    data(&mut server, "breakpoint_clear_project", json!({}));
    let begun = server.ok("debug_start", json!({"launch": "Slow", "timeoutMs": 1500}));
    assert_eq!(begun.structured["data"]["state"], "starting");
    environment.write("go", "");
    let runs = environment.path().join("runs");
    await_file(&runs);
    let program = environment.read("runs").trim().parse().expect("a number");
    data(&mut server, "debug_stop", json!({}));
    await_end_of(program);
}

#[test]
fn a_go_program_that_is_built_says_so() {
    let environment = configured();
    environment.write("go.mod", "module slow\n\ngo 1.19\n");
    environment.write("cmd/main.go", "package main\n\nfunc main() {\n\tprintln(1)\n}\n");
    // A build that takes as long as it may.
    let go = "#!/bin/sh\nexec sleep 600\n";
    let path = environment.write("bin/go", go);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("its mode");
    let mut command = environment.command(TERMBRIDGE);
    let search = std::env::var("PATH").expect("a search path");
    let folder = path.parent().expect("a folder").display();
    command.env("PATH", format!("{folder}:{search}")).args(["mcp", "--toolsets", "debug"]);
    let mut server = Client::start(&mut command).expect("the server starts");
    server.initialize(PROTOCOL).expect("the server shakes hands");
    let start = json!({"program": "cmd", "type": "go", "timeoutMs": 1500});
    let begun = server.call("debug_start", start).expect("an answer");
    assert!(begun.text.contains("Last line: go build ./cmd"), "{}", begun.text);
    server.call("debug_stop", json!({})).expect("ends");
}
