//! Clients that others wrote: the libraries of Python and TypeScript, and Inspector.

use std::process::Output;

use serde_json::Value;
use termbridge_testkit::TestEnvironment;

use crate::TERMBRIDGE;
use crate::serving::Serving;
use crate::support::{built, program, repository};

/// Who gets structured content, and as whom a client comes.
const MODES: [(&str, &str); 4] = [
    ("auto", "a_client"),
    ("auto", "claude-code"),
    ("always", "claude-code"),
    ("never", "a_client"),
];

/// Runs a client to its end.
fn run(command: &str, arguments: &[&str]) -> Output {
    run_as(command, arguments, MODES[0])
}

fn run_as(command: &str, arguments: &[&str], (structured, name): (&str, &str)) -> Output {
    let environment = TestEnvironment::new();
    environment
        .command(command)
        .args(arguments)
        .env("TERMBRIDGE_BIN", TERMBRIDGE)
        .env("STRUCTURED", structured)
        .env("CLIENT_NAME", name)
        .output()
        .expect("the client runs")
}

/// Runs a client to its end that connects to a server over HTTP.
fn run_over_http(command: &str, arguments: &[&str], (structured, name): (&str, &str)) -> Output {
    let serving = Serving::start(&["--structured", structured]);
    serving
        .environment
        .command(command)
        .args(arguments)
        .env("TERMBRIDGE_URL", &serving.url)
        .env("TERMBRIDGE_TOKEN", serving.token())
        .env("STRUCTURED", structured)
        .env("CLIENT_NAME", name)
        .output()
        .expect("the client runs")
}

#[track_caller]
fn says_ok(output: &Output, what: &str) {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stdout.starts_with("ok "),
        "{what}: {}\n{stdout}{stderr}",
        output.status
    );
}

fn library(name: &str) -> String {
    repository("tests/clients/node_modules");
    repository(&format!("tests/clients/{name}"))
}

#[test]
fn the_python_library() {
    let python = built("test-venv/bin/python");
    let client = repository("tests/clients/python_client.py");
    for version in ["auto", "legacy", "2026-07-28"] {
        for mode in MODES {
            says_ok(&run_as(&python, &[&client, version], mode), &format!("{version} {mode:?}"));
        }
    }
}

#[test]
fn the_python_library_over_http() {
    let python = built("test-venv/bin/python");
    let client = repository("tests/clients/python_client.py");
    for version in ["auto", "legacy", "2026-07-28"] {
        for mode in &MODES[..2] {
            let output = run_over_http(&python, &[&client, version], *mode);
            says_ok(&output, &format!("{version} {mode:?}"));
        }
    }
}

#[test]
fn the_typescript_libraries_over_http() {
    let node = program("node");
    for mode in &MODES[..2] {
        let client = library("sdk_client.mjs");
        says_ok(&run_over_http(&node, &[&client], *mode), &format!("sdk {mode:?}"));
        let client = library("client_client.mjs");
        for version in ["legacy", "auto", "2026-07-28"] {
            let output = run_over_http(&node, &[&client, version], *mode);
            says_ok(&output, &format!("client {version} {mode:?}"));
        }
    }
}

#[test]
fn the_typescript_sdk() {
    for mode in MODES {
        let client = library("sdk_client.mjs");
        says_ok(&run_as(&program("node"), &[&client], mode), &format!("{mode:?}"));
    }
}

#[test]
fn the_typescript_client() {
    let client = library("client_client.mjs");
    for version in ["legacy", "auto", "2026-07-28"] {
        for mode in MODES {
            let output = run_as(&program("node"), &[&client, version], mode);
            says_ok(&output, &format!("{version} {mode:?}"));
        }
    }
}

/// Runs Inspector's command line, which must have nothing to complain about.
#[track_caller]
fn inspect(options: &[&str], server: &[&str], method: &[&str]) -> Value {
    let inspector = repository(
        "tests/clients/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
    );
    // Inspector does not pass our environment on, and shows what the server logs.
    let mut arguments = vec![inspector.as_str(), "--cli", "-e", "LOG_LEVEL=warn"];
    arguments.extend(options);
    arguments.extend([TERMBRIDGE, "mcp"]);
    arguments.extend(server);
    arguments.extend(method);
    let output = run(&program("node"), &arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{method:?}: {stderr}");
    assert_eq!(stderr, "", "{method:?}");
    serde_json::from_slice(&output.stdout).expect("Inspector prints JSON")
}

#[test]
fn inspector_lists_the_tools_without_a_warning() {
    for mode in ["auto", "always", "never"] {
        let listed = inspect(&["--strict"], &["--structured", mode], &["--method", "tools/list"]);
        let tools = listed["tools"].as_array().expect("tools");
        assert!(tools.iter().any(|tool| tool["name"] == "launch_app"));
        assert!(tools.iter().all(|tool| tool["outputSchema"].is_object() == (mode != "never")));
    }
}

#[test]
fn inspector_lists_the_tools_over_http() {
    let inspector = repository(
        "tests/clients/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
    );
    let serving = Serving::start(&[]);
    let header = format!("Authorization: Bearer {}", serving.token());
    let output = serving
        .environment
        .command(program("node"))
        .args([&inspector, "--cli", &serving.url, "--transport", "http"])
        .args(["--header", &header, "--method", "tools/list"])
        .output()
        .expect("Inspector runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let listed: Value = serde_json::from_slice(&output.stdout).expect("Inspector prints JSON");
    let tools = listed["tools"].as_array().expect("tools");
    assert!(tools.iter().any(|tool| tool["name"] == "launch_app"), "{listed}");
}

#[test]
fn inspector_calls_the_tools_without_a_warning() {
    let call = ["--method", "tools/call", "--tool-name"];
    let launched =
        inspect(&[], &[], &[&call[..], &["launch_app", "--tool-arg", "command=\"true\""]].concat());
    assert_eq!(launched["structuredContent"]["success"], true, "{launched}");

    let arguments = [
        "launch_app",
        "--tool-arg",
        "command=echo",
        "args=[\"seen by inspector\"]",
        "wait={\"exit\":true}",
        "view=plain",
        "cols=40",
    ];
    let launched = inspect(&[], &[], &[&call[..], &arguments].concat());
    let view = &launched["structuredContent"]["view"];
    assert_eq!(view["cols"], 40, "{launched}");
    assert!(
        view["content"].as_str().is_some_and(|text| text.contains("seen by inspector")),
        "{launched}"
    );
    let listed = inspect(&[], &[], &[&call[..], &["list_sessions"]].concat());
    assert_eq!(listed["structuredContent"]["sessions"], serde_json::json!([]));
    let listed =
        inspect(&[], &["--structured", "never"], &[&call[..], &["list_sessions"]].concat());
    assert_eq!(listed["content"][0]["text"], "no sessions");
    assert!(listed["structuredContent"].is_null(), "{listed}");
}
