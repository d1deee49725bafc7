//! File, environment and flags, each stronger than the one before; logs; help.

use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use serde_json::{Value, json};
use termbridge_mcp::client::Client;
use termbridge_testkit::{PROTOCOL, TestEnvironment};

use crate::TERMBRIDGE;

/// How many programs the server lets run.
fn allowed_sessions(
    environment: &TestEnvironment,
    variable: Option<&str>,
    flags: &[&str],
) -> usize {
    let mut command = environment.command(TERMBRIDGE);
    command.arg("mcp").args(flags);
    if let Some(value) = variable {
        command.env("TERMBRIDGE_MAX_SESSIONS", value);
    }
    let mut client = Client::start(&mut command).expect("starts");
    client.initialize(PROTOCOL).expect("shakes hands");
    for launched in 0..10 {
        let answer = client.call("launch_app", json!({"command": "cat"})).expect("answers");
        if answer.is_error {
            assert_eq!(answer.structured["error"]["code"], "RESOURCE_LIMIT", "{}", answer.text);
            assert_eq!(answer.structured["error"]["retryable"], true);
            return launched;
        }
    }
    10
}

#[test]
fn a_flag_beats_the_environment_which_beats_the_file() {
    let environment = TestEnvironment::new();
    environment.write(".config/termbridge/config.toml", "max_sessions = 1\nport = 9000\n");
    assert_eq!(allowed_sessions(&environment, None, &[]), 1);
    assert_eq!(allowed_sessions(&environment, Some("2"), &[]), 2);
    assert_eq!(allowed_sessions(&environment, Some("2"), &["--max-sessions", "3"]), 3);
    let other = environment.write("other.toml", "max_sessions = 4\n");
    let other = other.display().to_string();
    assert_eq!(allowed_sessions(&environment, None, &["--config", &other]), 4);
}

fn run(environment: &TestEnvironment, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = environment
        .command(TERMBRIDGE)
        .args(arguments)
        .stdin(std::process::Stdio::null())
        .output()
        .expect("runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn mistakes_are_named() {
    let environment = TestEnvironment::new();
    let table: [(&str, &[&str]); 5] = [
        ("max_sesions = 3\n", &["config.toml", "line 1", "max_sesions"]),
        ("max_sessions = \"many\"\n", &["config.toml", "line 1"]),
        ("max_sessions = 0\n", &["max_sessions must be at least 1"]),
        ("session_timeout = \"soon\"\n", &["session_timeout", "30m"]),
        ("toolsets = [\"nope\"]\n", &["no toolset \"nope\"", "terminal"]),
    ];
    for (text, parts) in table {
        environment.write(".config/termbridge/config.toml", text);
        let (code, stdout, stderr) = run(&environment, &["mcp"]);
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{text}: {stderr}");
        for part in parts {
            assert!(stderr.contains(part), "{text}: {part:?} is not in {stderr:?}");
        }
    }
    environment.write(".config/termbridge/config.toml", "");
    let table: [(&[&str], &str); 4] = [
        (&["mcp", "--config", "/nowhere.toml"], "no file /nowhere.toml"),
        (&["mcp", "--session-timeout", "soon"], "not a duration"),
        (&["mcp", "--log-level", "=="], "not a log level"),
        (&["frobnicate"], "unrecognized subcommand"),
    ];
    for (arguments, part) in table {
        let (code, stdout, stderr) = run(&environment, arguments);
        assert!(matches!(code, Some(1 | 2)) && stdout.is_empty(), "{arguments:?}");
        assert!(stderr.contains(part), "{arguments:?}: {stderr}");
    }
}

#[test]
fn logs_go_where_they_are_told_and_never_to_stdout() {
    let environment = TestEnvironment::new();
    let file = environment.path().join("server.log");
    let path = file.display().to_string();
    let flags = ["--log-level", "info", "--log-format", "json", "--log-file", &path, "--no-editor"];
    let mut server = environment.server(TERMBRIDGE, &flags);
    server.ok("launch_app", json!({"command": "true", "wait": {"exit": true}}));
    assert_eq!(server.close(), Some(0));
    let mode = std::fs::metadata(&file).expect("there is a log").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let lines: Vec<Value> = environment
        .read("server.log")
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    assert!(lines.iter().any(|line| line["message"] == "call" && line["tool"] == "launch_app"));
}

#[test]
fn people_get_help() {
    let environment = TestEnvironment::new();
    let (code, help, _) = run(&environment, &["--help"]);
    assert_eq!(code, Some(0));
    assert!(help.contains("Examples:") && help.contains("termbridge demo"), "{help}");
    assert!(!help.contains('\x1b'), "no colour where there is no terminal");
    let (_, help, _) = run(&environment, &["mcp", "--help"]);
    assert!(help.contains("TERMBRIDGE_MAX_SESSIONS") && help.contains("config.toml"), "{help}");
    let (_, version, _) = run(&environment, &["--version"]);
    assert!(version.starts_with("termbridge "), "{version}");
    for shell in ["bash", "zsh", "fish"] {
        let (code, script, _) = run(&environment, &["completions", shell]);
        assert!(code == Some(0) && script.contains("completions"), "{shell}");
    }
}
