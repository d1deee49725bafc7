//! Nothing stays in the temporary folder, however the server ends.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use termbridge_mcp::client::Client;
use termbridge_testkit::{PROTOCOL, TestEnvironment};

use crate::TERMBRIDGE;
use crate::debug::configured;
use crate::robustness::keeper;
use crate::support::{await_empty, repository};

/// Nothing here takes this long unless it hangs.
const LIMIT: Duration = Duration::from_secs(40);

/// A server whose temporary folder is `temporary`, with two shells, one of them restarted, a program
/// that could not be started and a long output.
fn busy_server(environment: &TestEnvironment, temporary: &Path) -> Client {
    let mut command = environment.command(TERMBRIDGE);
    command.arg("mcp").env("TMPDIR", temporary);
    let mut client = Client::start(&mut command).expect("the server starts");
    client.initialize(PROTOCOL).expect("the server shakes hands");
    for (tool, arguments) in [
        ("execute_command", json!({"command": "seq 1 100000", "shell": "bash"})),
        ("execute_command", json!({"command": "echo hi", "shell": "zsh", "name": "other"})),
        ("launch_app", json!({"command": "/no/such/program"})),
        ("restart_app", json!({})),
    ] {
        let mut arguments = arguments;
        if tool == "restart_app" {
            let list = client.call("list_sessions", json!({})).expect("an answer").structured;
            arguments["session_id"] = list["sessions"][0]["session_id"].clone();
        }
        client.call(tool, arguments).expect("an answer");
    }
    assert_eq!(entries(temporary), 1, "one folder for all of it");
    client
}

fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).expect("a folder").count()
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn temporary(environment: &TestEnvironment) -> std::path::PathBuf {
    let folder = environment.path().join("temporary");
    std::fs::create_dir(&folder).expect("a folder");
    folder
}

#[test]
fn nothing_stays_when_the_server_ends() {
    for signal in
        [None, Some(Signal::TERM), Some(Signal::INT), Some(Signal::HUP), Some(Signal::KILL)]
    {
        let environment = TestEnvironment::new();
        let temporary = temporary(&environment);
        let client = busy_server(&environment, &temporary);
        if let Some(signal) = signal {
            let pid = Pid::from_raw(client.pid() as i32).expect("a pid");
            kill_process(pid, signal).expect("signalled");
        }
        client.close().expect("the server ends");
        // The keeper of a killed server may take a moment more.
        until(&format!("left after {signal:?}"), || entries(&temporary) == 0);
    }
}

#[test]
fn what_a_language_server_writes_goes_with_it() {
    let environment = TestEnvironment::new();
    let temporary = temporary(&environment);
    environment.write("cart.py", "def total():\n    return 1\n");
    let mut folders = vec![repository("tests/debuggers/node_modules/.bin").into()];
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").expect("a path")));
    let mut command = environment.command(TERMBRIDGE);
    let path = std::env::join_paths(folders).expect("a path");
    command.args(["mcp", "--toolsets", "debug"]).env("TMPDIR", &temporary).env("PATH", path);
    let mut client = Client::start(&mut command).expect("the server starts");
    client.initialize(PROTOCOL).expect("the server shakes hands");
    let found = client.call("search_symbol_search", json!({"query": "total"})).expect("an answer");
    assert!(found.text.contains("cart.py"), "{}", found.text);
    let entries_of = |folder: &Path| folder.read_dir().expect("a folder").flatten();
    for entry in entries_of(&temporary) {
        let name = entry.file_name().into_string().expect("text");
        assert!(name.starts_with("termbridge-"), "{name}");
    }
    client.close().expect("the server ends");
    let left: Vec<_> = entries_of(&temporary).map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_the_debugger_of_javascript_writes_goes_with_it() {
    let environment = configured();
    let temporary = environment.path().join("temporary");
    std::fs::create_dir(&temporary).expect("a folder");
    environment.write("app.js", "const answer = 42;\nconsole.log(answer);\n");
    let mut command = environment.command(TERMBRIDGE);
    command.arg("mcp").env("TMPDIR", &temporary);
    let mut client = Client::start(&mut command).expect("the server starts");
    client.initialize(PROTOCOL).expect("the server shakes hands");
    client.call("breakpoint_set", json!({"path": "app.js", "line": 2})).expect("an answer");
    let start = json!({"program": "app.js", "wait": true, "timeoutMs": 40_000});
    let stop = client.call("debug_start", start).expect("an answer");
    assert!(stop.text.contains("answer = 42"), "{}", stop.text);
    client.close().expect("the server ends");
    await_empty(&temporary);
}

#[test]
fn a_later_server_removes_what_killed_ones_left() {
    let environment = TestEnvironment::new();
    let temporary = temporary(&environment);
    let client = busy_server(&environment, &temporary);
    let server = client.pid() as i32;
    let keeper = keeper(&client) as i32;
    let pid = |raw: i32| Pid::from_raw(raw).expect("a pid");
    kill_process(pid(keeper), Signal::STOP).expect("stopped");
    kill_process(pid(server), Signal::KILL).expect("killed");
    kill_process(pid(keeper), Signal::KILL).expect("killed");
    client.close().expect("the server ended");
    assert_eq!(entries(&temporary), 1);

    // It need not start anything for that.
    let mut command = environment.command(TERMBRIDGE);
    command.arg("mcp").env("TMPDIR", &temporary);
    let mut later = Client::start(&mut command).expect("the server starts");
    later.initialize(PROTOCOL).expect("the server shakes hands");
    until("not swept", || entries(&temporary) == 0);
    later.close().expect("the server ends");
}

#[test]
fn a_later_server_removes_what_killed_ones_left_elsewhere() {
    let environment = TestEnvironment::new();
    // Then it is /tmp.
    let missing = environment.path().join("missing");
    let start = || {
        let mut command = environment.command(TERMBRIDGE);
        command.arg("mcp").env("TMPDIR", &missing);
        let mut client = Client::start(&mut command).expect("the server starts");
        client.initialize(PROTOCOL).expect("the server shakes hands");
        client
    };
    let mut client = start();
    let command =
        "tr '\\0' '\\n' </proc/$$/cmdline | grep -o '/tmp/termbridge-[0-9a-f]*' | head -n 1";
    let arguments = json!({"command": command, "shell": "bash"});
    let answer = client.call("execute_command", arguments).expect("an answer");
    let folder = answer.structured["output"].as_str().expect("output").trim().to_owned();
    assert!(Path::new(&folder).is_dir(), "{}", answer.text);
    let keeper = keeper(&client) as i32;
    let pid = |raw: i32| Pid::from_raw(raw).expect("a pid");
    kill_process(pid(keeper), Signal::STOP).expect("stopped");
    kill_process(pid(client.pid() as i32), Signal::KILL).expect("killed");
    kill_process(pid(keeper), Signal::KILL).expect("killed");
    client.close().expect("the server ended");

    let later = start();
    until("not swept", || !Path::new(&folder).exists());
    later.close().expect("the server ends");
}
