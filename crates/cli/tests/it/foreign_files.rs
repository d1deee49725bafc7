//! Files that a workspace, a person or another program put there: whatever they are, calls answer, other agents are served
//! and memory is bounded.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;
use termbridge_testkit::TestEnvironment;

use crate::TERMBRIDGE;
use crate::shim::{Runtime, Shim};

/// Links to these never end, wait for somebody, or are the server's own input.
const TARGETS: [&str; 4] = ["/dev/zero", "/dev/ptmx", "/dev/stdin", "pipe"];

/// What a server may hold; a link to /dev/zero that is followed fills any memory.
const MAX_KILOBYTES: u64 = 400 * 1024;

/// Files of a workspace that the server reads by itself or for a tool.
const FILES: [&str; 13] = [
    ".vsc-bridge/host.json",
    ".vsc-bridge/manifest.json",
    ".vscode/launch.json",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".venv/pyvenv.cfg",
    ".env",
    "Cargo.toml",
    "package.json",
    "go.mod",
    "tsconfig.json",
    "app.py",
    "test_app.py",
];

/// A workspace in which every such file is a link to `target`, in a new folder.
fn hostile(folder: &Path, target: &str) {
    let pipe = folder.join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    for file in FILES {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        symlink(if target == "pipe" { pipe.as_path() } else { Path::new(target) }, path)
            .expect("a link");
    }
    std::fs::create_dir_all(folder.join(".vsc-bridge/execute")).expect("made");
    std::fs::write(folder.join(".vsc-bridge/host.lock"), "").expect("written");
    let python = folder.join(".venv/bin/python");
    std::fs::create_dir_all(python.parent().expect("a folder")).expect("made");
    symlink("/usr/bin/env", python).expect("a link");
}

fn peak_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn a_hostile_workspace_swallows_no_request_and_no_memory() {
    for target in TARGETS {
        let environment = TestEnvironment::new();
        hostile(environment.path(), target);
        let mut server = environment.debug_server(TERMBRIDGE, &["--workspace-tools"]);
        let workspace = environment.path().display().to_string();
        // Sent at once: what reads the server's input takes later ones.
        let calls = [
            ("bridge_status", json!({})),
            ("debug_start", json!({"launch": "any"})),
            ("breakpoint_set", json!({"path": format!("{workspace}/app.py"), "line": 1})),
            ("breakpoint_set", json!({"path": format!("{workspace}/app.py"), "text": "x"})),
            ("test_debug_single", json!({"path": format!("{workspace}/test_app.py"), "line": 1})),
            ("execute_command", json!({"command": "echo served"})),
        ];
        let requests: Vec<u64> = calls
            .iter()
            .map(|(tool, arguments)| {
                let params = json!({"name": tool, "arguments": arguments});
                server.begin("tools/call", params).expect("sent")
            })
            .collect();
        for ((tool, _), request) in calls.iter().zip(requests) {
            let answer = server.finish(request);
            if let Err(error @ termbridge_mcp::client::ClientError::TimedOut) = answer {
                panic!("{target}: {tool}: {error}");
            }
        }
        let served = server.ok("execute_command", json!({"command": "echo served"}));
        assert!(served.text.contains("served"), "{target}");
        assert!(peak_memory(server.pid()) < MAX_KILOBYTES, "{target}");
    }
}

#[test]
fn an_env_file_that_is_none_is_refused() {
    for target in TARGETS {
        let environment = TestEnvironment::new();
        let pipe = environment.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
        let target = if target == "pipe" { pipe.as_path() } else { Path::new(target) };
        symlink(target, environment.path().join("variables")).expect("a link");
        environment.write("app.py", "print(1)\n");
        environment.write(
            ".vscode/launch.json",
            r#"{"configurations": [{"name": "App", "type": "debugpy", "request": "launch",
                "program": "${workspaceFolder}/app.py", "envFile": "${workspaceFolder}/variables"}]}"#,
        );
        let mut server = environment.debug_server(TERMBRIDGE, &[]);
        let (code, message) = server.error("debug_start", json!({"launch": "App"}));
        assert_eq!(code, "E_INVALID_PATH", "{}: {message}", target.display());
        assert!(message.contains("not a regular file"), "{message}");
    }
}

#[test]
fn a_configuration_that_is_no_file_is_an_error_at_once() {
    for target in ["/dev/zero", "/dev/ptmx", "/dev/stdin"] {
        let environment = TestEnvironment::new();
        let folder = environment.path().join(".config/termbridge");
        std::fs::create_dir_all(&folder).expect("made");
        symlink(target, folder.join("config.toml")).expect("a link");
        let mut command = environment.command(TERMBRIDGE);
        let output = command.arg("mcp").stdin(Stdio::piped()).output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{target}: {stderr}");
        assert!(stderr.contains("config.toml"), "{target}: {stderr}");
        assert!(stderr.contains("not a regular file"), "{target}: {stderr}");
    }
}

/// One agent's workspace is hostile and its server shared: the other is served meanwhile, and people's commands too, also
/// where a record in the server's folder is a pipe.
#[test]
fn other_agents_and_people_are_served() {
    for target in ["pipe", "/dev/ptmx"] {
        let runtime = Runtime::new();
        let mut other = Shim::ready(&mut runtime.command(&["mcp", "--connect"]));
        let workspace = TestEnvironment::new();
        hostile(workspace.path(), target);
        let mut command = runtime.command(&["mcp", "--connect"]);
        let mut victim = Shim::ready(command.current_dir(workspace.path()));
        let server = runtime.servers()[0];
        let record = runtime.folder().join("servers/strange.json");
        assert!(Command::new("mkfifo").arg(&record).status().expect("mkfifo").success());
        let call = |tool: &str, arguments| {
            json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
                "params": {"name": tool, "arguments": arguments}})
        };
        victim.send(&call("debug_start", json!({"launch": "any"})));
        let answer = other.call(1, "execute_command", json!({"command": "echo served"}));
        assert!(answer.to_string().contains("served"), "{target}: {answer}");
        victim.reply_or_seen(&json!(7));
        let status = runtime.command(&["status"]).stdin(Stdio::null()).output().expect("runs");
        assert!(status.status.success(), "{target}: {status:?}");
        assert!(peak_memory(server as u32) < MAX_KILOBYTES, "{target}");
    }
}
