//! The system's limits: what cannot be had is refused, and what runs goes on.

use std::os::unix::fs::chown;
use std::process::{Command, Stdio};

use serde_json::json;
use termbridge_mcp::client::Client;
use termbridge_testkit::{PROTOCOL, TestEnvironment};

use crate::TERMBRIDGE;

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
    for processes in [1, 3, 6] {
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
