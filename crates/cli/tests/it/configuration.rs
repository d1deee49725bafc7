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
    let table: [(&str, &[&str]); 16] = [
        ("max_sesions = 3\n", &["config.toml", "line 1", "max_sesions"]),
        ("max_sessions = \"many\"\n", &["config.toml", "line 1", "a whole number"]),
        ("max_sessions = -1\n", &["max_sessions", "line 1", "a whole number"]),
        ("max_sessions = 0\n", &["max_sessions is 0", "from 1 to"]),
        ("buffer_size = 100000000000\n", &["buffer_size is 100000000000", "from 1 to 1048576"]),
        ("scrollback_lines = 99999999999\n", &["scrollback_lines", "from 0 to"]),
        ("output_disk_mb = 99999999999\n", &["output_disk_mb", "from 0 to"]),
        ("port = 70000\n", &["port is 70000"]),
        ("[history]\nmax_megabytes = 99999999999\n", &["history.max_megabytes"]),
        ("session_timeout = \"soon\"\n", &["session_timeout", "30m"]),
        ("session_timeout = true\n", &["session_timeout", "a duration such as"]),
        ("keep_finished = 999999999999\n", &["keep_finished", "100 years"]),
        ("[commands]\nshell = \"python3\"\n", &["commands.shell", "python3", "bash, zsh"]),
        ("[commands]\nshell = \"/bin/cat\"\n", &["commands.shell", "/bin/cat"]),
        ("[commands]\nshell = \"/nowhere/bash\"\n", &["commands.shell", "not installed"]),
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
    let table: [(&[&str], &str); 9] = [
        (&["mcp", "--config", "/nowhere.toml"], "no file /nowhere.toml"),
        (&["mcp", "--session-timeout", "soon"], "not a duration"),
        (&["mcp", "--log-level", "=="], "not a log level"),
        (&["mcp", "--log-level", "loud"], "\"loud\" is not a log level: it takes off, error, warn"),
        (&["mcp", "--log-level", "rmcp=debug,loud"], "\"loud\" is not a log level"),
        (&["frobnicate"], "unrecognized subcommand"),
        (&["policy", "test", "--shell", "nope", "ls"], "--shell is \"nope\""),
        (&["history", "--failed", "stats"], "come after them"),
        (&["mcp", "--no-editor", "--debug-backend", "editor"], "cannot be used with"),
    ];
    for (arguments, part) in table {
        let (code, stdout, stderr) = run(&environment, arguments);
        assert!(matches!(code, Some(1 | 2)) && stdout.is_empty(), "{arguments:?}");
        assert!(stderr.contains(part), "{arguments:?}: {stderr}");
    }
}

/// The exit code and stderr of a server that is started with these variables and no client.
fn start(environment: &TestEnvironment, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut command = environment.command(TERMBRIDGE);
    command.arg("mcp").envs(variables.iter().copied()).stdin(std::process::Stdio::null());
    let output = command.output().expect("runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn variables_that_are_empty_are_not_set_and_bad_ones_are_named() {
    let environment = TestEnvironment::new();
    let variables = [
        "MCP_PORT",
        "LOG_LEVEL",
        "TERMBRIDGE_CONFIG",
        "TERMBRIDGE_TOOLSETS",
        "TERMBRIDGE_WORKSPACE",
        "TERMBRIDGE_DEBUG_BACKEND",
        "TERMBRIDGE_WORKSPACE_TOOLS",
        "TERMBRIDGE_DEBUG_RAW",
        "TERMBRIDGE_TIMEOUT",
        "TERMBRIDGE_SHELL",
        "TERMBRIDGE_NO_HISTORY",
        "TERMBRIDGE_MAX_SESSIONS",
        "TERMBRIDGE_SESSION_TIMEOUT",
        "TERMBRIDGE_LOG_FORMAT",
        "TERMBRIDGE_LOG_FILE",
    ];
    let empty: Vec<(&str, &str)> = variables.iter().map(|name| (*name, "")).collect();
    assert_eq!(start(&environment, &empty).0, Some(0), "{:?}", start(&environment, &empty).1);
    for value in ["1", "0", "true", "false", "yes", "no", "on", "off"] {
        for name in ["TERMBRIDGE_NO_HISTORY", "TERMBRIDGE_WORKSPACE_TOOLS"] {
            assert_eq!(start(&environment, &[(name, value)]), (Some(0), String::new()), "{name}");
        }
    }
    for (name, value) in [
        ("TERMBRIDGE_NO_HISTORY", "perhaps"),
        ("TERMBRIDGE_MAX_SESSIONS", "many"),
        ("TERMBRIDGE_SESSION_TIMEOUT", "soon"),
        ("MCP_PORT", "80000"),
    ] {
        let (code, stderr) = start(&environment, &[(name, value)]);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(name) && stderr.contains(value), "{stderr}");
    }
    let flag = ["mcp", "--max-sessions", "many"];
    assert!(!run(&environment, &flag).2.contains("TERMBRIDGE_MAX"), "the flag is to blame");
}

#[test]
fn switches_of_the_environment_override_the_file() {
    let environment = TestEnvironment::new();
    let recorded = |value: Option<&str>| {
        let mut command = environment.command(TERMBRIDGE);
        command.arg("mcp");
        if let Some(value) = value {
            command.env("TERMBRIDGE_NO_HISTORY", value);
        }
        let mut client = Client::start(&mut command).expect("starts");
        client.initialize(PROTOCOL).expect("shakes hands");
        let answer = client.call("search_history", json!({"query": ""})).expect("answers");
        !answer.is_error
    };
    assert!(recorded(None) && !recorded(Some("yes")) && recorded(Some("0")));
    environment.write(".config/termbridge/config.toml", "[history]\nenabled = false\n");
    assert!(!recorded(None) && recorded(Some("no")));
}

#[test]
fn a_number_alone_is_a_time_in_seconds() {
    let environment = TestEnvironment::new();
    for text in ["session_timeout = 0\n", "session_timeout = \"0\"\nkeep_finished = 60\n"] {
        environment.write(".config/termbridge/config.toml", text);
        assert_eq!(start(&environment, &[]), (Some(0), String::new()), "{text}");
    }
}

#[test]
fn the_level_error_silences_the_protocol_library_too() {
    let environment = TestEnvironment::new();
    let log_of = |level: &str| {
        let file = environment.path().join(level);
        let file = file.display().to_string();
        let flags = ["--log-level", level, "--log-file", &file];
        let mut server = environment.server(TERMBRIDGE, &flags);
        let missing = server.request("resources/read", json!({"uri": "term://nobody/screen"}));
        assert!(missing.is_err(), "the library warns of an answer that is an error");
        server.close();
        environment.read(level)
    };
    assert!(log_of("warn").contains("WARN rmcp"), "{}", log_of("warn"));
    assert_eq!(log_of("error"), "");
}

#[test]
fn what_cannot_be_written_is_no_panic() {
    let environment = TestEnvironment::new();
    let full = || std::fs::File::options().write(true).open("/dev/full").expect("is there");
    let table: [&[&str]; 8] = [
        &["completions", "bash"],
        &["install", "--yes", "codex"],
        &["policy", "rules"],
        &["tools"],
        &["--help"],
        &["debug", "help"],
        &["history"],
        &["demo", "--fast"],
    ];
    for arguments in table {
        let mut command = environment.command(TERMBRIDGE);
        command.args(arguments).stdin(std::process::Stdio::null());
        let stderr = command.stdout(full()).output().expect("runs").stderr;
        let stderr = String::from_utf8_lossy(&stderr);
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
        let status = command.stdout(full()).stderr(full()).status().expect("runs");
        assert!(matches!(status.code(), Some(0..=2)), "{arguments:?}: {status}");
    }
}

#[test]
fn definitions_are_those_that_the_file_chooses() {
    let environment = TestEnvironment::new();
    environment.write(".config/termbridge/config.toml", "toolsets = [\"compat\"]\n");
    let (_, printed, _) = run(&environment, &["tools"]);
    let printed: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(printed["tools"].as_array().map(Vec::len), Some(7));
    let (_, printed, _) = run(&environment, &["tools", "--tools", "launch_app"]);
    assert!(printed.contains("\"launch_app\""), "a flag overrides the file");
}

#[test]
fn logs_go_where_they_are_told_and_never_to_stdout() {
    let environment = TestEnvironment::new();
    let file = environment.path().join("server.log");
    let path = file.display().to_string();
    let flags =
        ["--log-level", "debug", "--log-format", "json", "--log-file", &path, "--no-editor"];
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
    for asked in [&["help", "--help"][..], &["help", "-h"]] {
        assert_eq!(run(&environment, asked), (Some(0), help.clone(), String::new()));
    }
    let (_, help, _) = run(&environment, &["mcp", "--help"]);
    assert!(help.contains("TERMBRIDGE_MAX_SESSIONS") && help.contains("config.toml"), "{help}");
    let (_, version, _) = run(&environment, &["--version"]);
    assert!(version.starts_with("termbridge ") && version.lines().count() == 1, "{version}");
    for order in [["--version", "--verbose"], ["--verbose", "--version"]] {
        let (code, verbose, _) = run(&environment, &order);
        assert!(code == Some(0) && verbose.starts_with(&version), "{verbose}");
        for fact in ["\ncommit: ", "\ntarget: ", "\nprofile: ", "\nfeatures: "] {
            assert!(verbose.contains(fact), "{fact} in {verbose}");
        }
    }
    let (code, _, refused) = run(&environment, &["--verbose", "status"]);
    assert!(code == Some(2) && refused.contains("--version"), "{refused}");
    let (_, help, _) = run(&environment, &["history", "show", "--help"]);
    assert!(help.contains("--json") && !help.contains("--since"), "only what it uses: {help}");
    for shell in ["bash", "zsh", "fish"] {
        let (code, script, _) = run(&environment, &["completions", shell]);
        assert!(code == Some(0) && script.contains("completions"), "{shell}");
    }
}

#[test]
fn every_command_has_a_man_page() {
    let environment = TestEnvironment::new();
    let folder = environment.path().join("new/man1").display().to_string();
    let (code, printed, _) = run(&environment, &["man", &folder]);
    assert_eq!((code, printed.as_str()), (Some(0), ""));
    let page = environment.read("new/man1/termbridge-history-show.1");
    assert!(page.contains("one command with its output") && page.contains("TERMBRIDGE_CONFIG"));
    assert!(environment.read("new/man1/termbridge.1").contains("termbridge\\-install(1)"));
    environment.write("file", "");
    let inside = environment.path().join("file/man1").display().to_string();
    let (code, _, refused) = run(&environment, &["man", &inside]);
    assert!(code == Some(1) && refused.contains("cannot write the man pages"), "{refused}");
}

#[test]
fn sessions_and_relative_paths_start_in_the_workspace() {
    let environment = TestEnvironment::new();
    environment.write("project/sub/file", "");
    let project = environment.path().join("project").canonicalize().expect("a folder");
    let folder = project.display().to_string();
    let of_file = format!("workspace = {folder:?}\n");
    let table: [(&str, Option<&str>, &[&str]); 3] = [
        (&of_file, None, &[]),
        ("", Some(&folder), &[]),
        ("workspace = \"/\"\n", Some("/"), &["--workspace", "project"]),
    ];
    for (file, variable, flags) in table {
        environment.write(".config/termbridge/config.toml", file);
        let mut command = environment.command(TERMBRIDGE);
        command.current_dir(environment.path()).arg("mcp").args(flags);
        command.envs(variable.map(|folder| ("TERMBRIDGE_WORKSPACE", folder)));
        let mut client = Client::start(&mut command).expect("starts");
        client.initialize(PROTOCOL).expect("shakes hands");
        for (arguments, expected) in [
            (json!({"command": "pwd"}), folder.clone()),
            (json!({"command": "pwd", "cwd": "sub"}), format!("{folder}/sub")),
        ] {
            let answer = client.call("execute_command", arguments).expect("answers");
            assert_eq!(answer.structured["output"], format!("{expected}\n"), "{flags:?}");
        }
        let arguments = json!({"command": "pwd", "wait": {"exit": true}});
        let answer = client.call("launch_app", arguments).expect("answers");
        assert!(answer.text.contains(&folder), "{flags:?}: {}", answer.text);
    }
}
