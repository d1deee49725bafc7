//! Debugging from a terminal: the debugger's processes leave the terminal of whoever started us alone.
//!
//! debugpy's launcher puts the program that it starts into the foreground of its terminal. Were that the
//! client's, the client would be stopped when it reads the next key.

use std::io::BufRead;
use std::process::Command;

use serde_json::{Value, json};
use termbridge_mcp::client::Client;
use termbridge_testkit::PROTOCOL;

use super::{PATIENCE_MS, configured};
use crate::TERMBRIDGE;
use crate::support::{App, built};

/// The variable that tells the client on the terminal what to call.
const CALL: &str = "TERMBRIDGE_TEST_CALL";

#[test]
#[ignore = "the client that the other tests run on a terminal"]
fn client() {
    let call = std::env::var(CALL).expect("is started by another test");
    let mut call: Value = serde_json::from_str(&call).expect("a call");
    let tool = call["tool"].as_str().expect("a tool").to_owned();
    let mut client = Client::start(Command::new(TERMBRIDGE).arg("mcp")).expect("the server starts");
    client.initialize(PROTOCOL).expect("the server shakes hands");
    let answer = client.call(&tool, call["arguments"].take()).expect("an answer");
    assert!(!answer.is_error, "{}", answer.text);
    let in_front = rustix::termios::tcgetpgrp(std::io::stdin()).expect("a terminal");
    println!("in front: {}", in_front == rustix::process::getpgrp());
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).expect("a line");
    println!("typed: {line}");
}

/// An interactive shell on a terminal, which has job control, in a project of Python.
fn shell(call: &Value) -> App {
    let environment = configured();
    environment.write("app.py", "for number in range(3):\n    print(number)\n");
    environment.write("test_app.py", "def test_app():\n    assert 1 == 2\n");
    std::os::unix::fs::symlink(built("test-venv"), environment.path().join(".venv"))
        .expect("a link");
    let env = json!({CALL: call.to_string()});
    let launch = json!({"command": "bash", "args": ["--norc", "-i"], "env": env, "cols": 160});
    let mut app = App::launch(environment, launch);
    app.until("a prompt", |screen| screen.contains("$"));
    app
}

#[track_caller]
fn client_stays_in_front(tool: &str, arguments: Value) {
    let mut app = shell(&json!({"tool": tool, "arguments": arguments}));
    let test = std::env::current_exe().expect("a path");
    let line =
        format!("{} --ignored --exact debug::foreground::client --nocapture\n", test.display());
    let (_, screen) = app.send(json!({"text": line}), json!({"text": "in front: "}));
    assert!(screen.contains("in front: true"), "{}", screen.content());
    app.keys_show("hello<Enter>", "typed: hello");
}

#[test]
fn a_client_that_starts_a_program_stays_in_front() {
    let arguments = json!({
        "program": "app.py", "stopOnEntry": true, "wait": true, "timeoutMs": PATIENCE_MS,
    });
    client_stays_in_front("debug_start", arguments);
}

#[test]
fn a_client_that_debugs_a_test_stays_in_front() {
    let arguments = json!({"path": "test_app.py", "line": 2, "timeoutMs": PATIENCE_MS});
    client_stays_in_front("test_debug_single", arguments);
}

#[test]
fn the_command_line_reads_on_after_a_start() {
    let mut app = shell(&Value::Null);
    app.send(json!({"text": format!("{TERMBRIDGE} debug\n")}), json!({"text": "debug>"}));
    let start = format!("start --program app.py --stop-on-entry --wait --timeout-ms {PATIENCE_MS}");
    app.send(json!({"text": format!("{start}\n")}), json!({"text": "for number in range"}));
    app.send(json!({"text": "evaluate --expression 6*7\n"}), json!({"text": "42 (int)"}));
}
