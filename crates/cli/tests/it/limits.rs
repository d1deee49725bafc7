//! The system's limits: what cannot be had is refused, and what runs goes on.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use termbridge_mcp::client::Client;
use termbridge_testkit::{PROTOCOL, TestEnvironment};

use crate::TERMBRIDGE;
use crate::robustness::keeper;
use crate::serving::{Serving, command};
use crate::support::{await_that, descriptors};

/// A server of a user who may have so many processes and threads; `None` where that cannot be had: the
/// limit does not bind root, and only root can become a user who has none yet.
fn limited(environment: &TestEnvironment, processes: u32) -> Option<Command> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become another user");
        return None;
    }
    // Nobody else's, not even another test's: the limit counts all processes of a user.
    let user = 1_000_000_000 + std::process::id();
    chown(environment.path(), Some(user), Some(user)).expect("root may");
    let mut command = environment.command("setpriv");
    command
        .args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".into()])
        .args(["prlimit".into(), format!("--nproc={processes}"), TERMBRIDGE.into(), "mcp".into()]);
    Some(command)
}

#[test]
fn without_threads_the_server_says_so_and_ends() {
    for processes in 1..=4 {
        let environment = TestEnvironment::new();
        let Some(mut command) = limited(&environment, processes) else { return };
        let ended = command.stdin(Stdio::null()).output().expect("it starts");
        let message = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{processes}: {message}");
        assert!(message.contains("ulimit -u"), "{processes}: {message}");
    }
}

#[test]
fn a_program_that_uses_up_the_processes_stops_no_other_session() {
    let environment = TestEnvironment::new();
    let Some(mut command) = limited(&environment, 40) else { return };
    let mut client = Client::start(&mut command).expect("the server starts");
    client.initialize(PROTOCOL).expect("the server shakes hands");
    let mut call = |tool, arguments| client.call(tool, arguments).expect("an answer");
    let run =
        |command: &str, name: &str| json!({"command": command, "shell": "bash", "name": name});
    call("execute_command", run("echo ready", "quiet"));
    assert!(!call("search_history", json!({"query": "echo"})).is_error, "it is open from here on");
    let bomb = "while sleep 600 & do :; done 2>/dev/null";
    let bomb = call(
        "execute_command",
        json!({"command": bomb, "shell": "bash", "name": "greedy", "timeout_ms": 3000}),
    );
    // Each asks for threads: the policy's, the history's; none is to be had.
    for _ in 0..3 {
        let answer = call("execute_command", run("echo hi", "quiet"));
        assert_eq!(answer.structured["output"], "hi\n", "{}", answer.text);
    }
    let found = call("search_history", json!({"query": "echo"}));
    assert!(!found.is_error, "{}", found.text);
    let refused = call("create_session", json!({"shell": "bash"}));
    assert_eq!(refused.structured["error"]["code"], "RESOURCE_LIMIT", "{}", refused.text);
    let greedy = bomb.structured["session_id"].clone();
    let stopped = call("stop_app", json!({"session_id": greedy}));
    assert!(!stopped.is_error, "{}", stopped.text);
    let answer = call("execute_command", run("/bin/echo back", "quiet"));
    assert_eq!(answer.structured["output"], "back\n", "{}", answer.text);
    assert!(client.close().expect("the server ends").success());
}

/// Starts sessions until one is refused; the ids of the others.
fn fill(client: &mut Client, tool: &str, arguments: &Value) -> Vec<Value> {
    let mut sessions = Vec::new();
    loop {
        let answer = client.call(tool, arguments.clone()).expect("an answer");
        if answer.is_error {
            assert_eq!(answer.structured["error"]["code"], "RESOURCE_LIMIT", "{}", answer.text);
            assert!(answer.text.contains("file descriptors"), "{}", answer.text);
            return sessions;
        }
        sessions.push(answer.structured["session_id"].clone());
        assert!(sessions.len() < 64, "there is no limit");
    }
}

#[test]
fn the_server_s_descriptors_run_out_and_its_sessions_go_on() {
    // Several, as the last descriptor may be wanted for a shell's pipe or for a terminal.
    for limit in [63, 64, 65, 66] {
        let environment = TestEnvironment::new();
        let mut command = environment.command("prlimit");
        command.args([&format!("--nofile={limit}:{limit}"), TERMBRIDGE, "mcp", "--no-history"]);
        let mut client = Client::start(&mut command).expect("the server starts");
        client.initialize(PROTOCOL).expect("the server shakes hands");
        let cat = json!({"command": "cat"});
        let shells = json!({"shell": "bash"});
        let mut sessions = fill(&mut client, "create_session", &shells);
        assert!(sessions.len() > 5, "{}", sessions.len());
        let programs = fill(&mut client, "launch_app", &cat);
        for session in &sessions {
            let arguments = json!({"session_id": session, "command": "echo hi"});
            let answer = client.call("execute_command", arguments).expect("an answer");
            assert_eq!(answer.structured["output"], "hi\n", "{}", answer.text);
        }
        let before = descriptors(client.pid()).len();
        sessions.extend(programs);
        let count = sessions.len();
        for session in sessions {
            let answer = client.call("stop_app", json!({"session_id": session}));
            assert!(!answer.expect("an answer").is_error, "{session}");
        }
        // What is over can still be read, and holds nothing.
        let given_up = || descriptors(client.pid()).len() + count <= before;
        await_that("the descriptors of what is over are given up", given_up);
        let answer = client.call("create_session", shells).expect("an answer");
        assert!(
            !answer.is_error,
            "{limit}: there is room again: {}\n{:#?}",
            answer.text,
            descriptors(client.pid())
        );
    }
}

#[test]
fn connections_leave_descriptors_for_the_sessions() {
    let environment = TestEnvironment::new();
    // For the same runtime folder.
    let plain = command(&environment, &["mcp", "--connect"]);
    let mut limited = environment.command("prlimit");
    limited.args(["--nofile=128:128", TERMBRIDGE, "serve", "--port", "0"]);
    limited.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let serving = Serving::of(&mut limited, environment);
    let mut client = Client::start(&mut { plain }).expect("it connects");
    client.initialize(PROTOCOL).expect("the server shakes hands");
    let run = |command: &str| json!({"command": command, "shell": "bash", "timeout_ms": 60_000});
    let answer = client.call("execute_command", run("echo A")).expect("an answer");
    assert_eq!(answer.structured["exit_code"], 0, "{}", answer.text);
    let socket = serving.runtime().join("server.sock");
    let silent: Vec<_> = (0..160).filter_map(|_| UnixStream::connect(&socket).ok()).collect();
    assert!(silent.len() > 60, "{}", silent.len());
    let answer = client.call("execute_command", run("sh -c 'exit 3'")).expect("an answer");
    assert_eq!(answer.structured["exit_code"], 3, "{}", answer.text);
}

#[test]
fn the_keeper_s_descriptors_run_out_and_its_programs_can_be_stopped() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let cat = json!({"command": "cat"});
    server.launch(cat.clone());
    let keeper = keeper(&server);
    let limited = Command::new("prlimit")
        .args([format!("--pid={keeper}"), "--nofile=40:40".to_owned()])
        .status();
    assert!(limited.expect("prlimit").success());
    let sessions = fill(&mut server, "launch_app", &cat);
    assert!(sessions.len() > 3, "{}", sessions.len());
    for session in sessions {
        server.ok("stop_app", json!({"session_id": session}));
    }
}

#[test]
fn logs_and_history_are_their_owner_s_whatever_the_umask() {
    let environment = TestEnvironment::new();
    let log = environment.path().join("log");
    let mut command = environment.command("sh");
    command.args(["-c", "umask 0777; exec \"$0\" mcp --log-file \"$1\"", TERMBRIDGE]).arg(&log);
    let mut client = Client::start(&mut command).expect("the server starts");
    client.initialize(PROTOCOL).expect("the server shakes hands");
    let arguments = json!({"command": "umask 022; echo hi", "shell": "bash"});
    let answer = client.call("execute_command", arguments).expect("an answer");
    assert!(!answer.is_error, "{}", answer.text);
    assert!(!client.call("search_history", json!({"query": "hi"})).expect("an answer").is_error);
    client.close().expect("the server ends");
    let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o7777;
    assert_eq!(mode(&log), 0o600);
    for folder in [".local", ".local/state", ".local/state/termbridge"] {
        assert_eq!(mode(&environment.path().join(folder)), 0o700, "{folder}");
    }
}
