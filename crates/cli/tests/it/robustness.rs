//! The server process itself: how it ends, what it leaves, what it does while a call waits.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use termbridge_mcp::client::Client;
use termbridge_testkit::{PROTOCOL, Server, TestEnvironment};

use crate::TERMBRIDGE;

/// Nothing here takes this long unless it hangs.
const LIMIT: Duration = Duration::from_secs(20);

fn start() -> (TestEnvironment, Server) {
    let environment = TestEnvironment::new();
    let server = environment.server(TERMBRIDGE, &[]);
    (environment, server)
}

fn signal(server: &Server, signal: Signal) {
    let pid = Pid::from_raw(server.pid() as i32).expect("a pid");
    kill_process(pid, signal).expect("signalled");
}

/// A shell with a job in the background, one that has left the terminal, one that ignores signals,
/// and itself; returns all their ids.
fn family(server: &mut Server) -> Vec<u32> {
    let script = "sleep 600 & echo a=$!; setsid sh -c 'echo b=$$; exec sleep 600' & \
                  (trap '' TERM HUP; exec sleep 600) & echo c=$!; echo d=$$; exec cat";
    let id = server.launch(json!({"command": "sh", "args": ["-c", script]}));
    let pids: Vec<u32> = ["a", "b", "c", "d"]
        .iter()
        .map(|name| {
            let regex = format!(r"(?m)^{name}=\d+$");
            let answer = server.ok("wait_for", json!({"session_id": id, "regex": regex}));
            let found = answer.structured["match"]["text"].as_str().expect("a match");
            found[2..].parse().expect("a number")
        })
        .collect();
    for pid in &pids {
        assert!(is_alive(*pid), "{pid}");
    }
    pids
}

fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"))
}

#[track_caller]
fn all_gone(pids: &[u32]) {
    let deadline = Instant::now() + LIMIT;
    while let Some(pid) = pids.iter().find(|pid| is_alive(**pid)) {
        assert!(Instant::now() < deadline, "process {pid} is an orphan");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The keeper of a server that has launched something.
pub(crate) fn keeper(server: &Client) -> u32 {
    let pid = server.pid();
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("tasks");
    let children = tasks
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let all: Vec<u32> = children
        .flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|pid| pid.parse().ok())
        .collect();
    assert_eq!(all.len(), 1, "one keeper");
    all[0]
}

/// A request for a wait that would take an hour; stays unanswered.
fn endless_wait(server: &mut Server, session: &str, token: Option<&str>) -> u64 {
    let arguments = json!({"session_id": session, "text": "never", "timeout_ms": 3_600_000});
    let mut params = json!({"name": "wait_for", "arguments": arguments});
    if let Some(token) = token {
        params["_meta"] = json!({"progressToken": token});
    }
    let request = server.begin("tools/call", params).expect("sent");
    // Requests are taken in turn: when this is answered, that one is being waited for.
    server.ok("list_sessions", json!({}));
    request
}

#[test]
fn a_killed_server_leaves_no_orphan() {
    let (_environment, mut server) = start();
    let mut pids = family(&mut server);
    pids.push(keeper(&server));
    signal(&server, Signal::KILL);
    all_gone(&pids);
}

#[test]
fn the_death_of_the_keeper_loses_its_sessions_and_not_the_server() {
    let (_environment, mut server) = start();
    let pids = family(&mut server);
    let id = server.launch(json!({"command": "cat"}));
    let request = endless_wait(&mut server, &id, None);
    let pid = Pid::from_raw(keeper(&server) as i32).expect("a pid");
    kill_process(pid, Signal::KILL).expect("killed");
    let answer = server.finish(request).expect("answered");
    let text = answer["content"][0]["text"].as_str().expect("text");
    assert!(text.contains("SESSION_DEAD") && text.contains("keeper process died"), "{text}");
    // All but the one that has left its session.
    all_gone(&[pids[0], pids[2], pids[3]]);
    let again = server.launch(json!({"command": "cat"}));
    let typed = json!({"session_id": again, "keys": "hello<Enter>", "wait": {"text": "hello"}});
    assert_eq!(server.ok("send_keys", typed).structured["wait"]["fired"], "text");
    let detached = Pid::from_raw(pids[1] as i32).expect("a pid");
    kill_process(detached, Signal::KILL).expect("killed");
    assert_eq!(server.close(), Some(0));
}

#[test]
fn a_signal_ends_the_server_in_order() {
    for (name, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let (_environment, mut server) = start();
        let mut pids = family(&mut server);
        pids.push(keeper(&server));
        signal(&server, name);
        all_gone(&pids);
        assert_eq!(server.close(), Some(code));
    }
}

#[test]
fn the_end_of_the_input_ends_the_server_though_a_wait_is_pending() {
    let (_environment, mut server) = start();
    let mut pids = family(&mut server);
    pids.push(keeper(&server));
    let id = server.launch(json!({"command": "cat"}));
    for token in [None, Some("t")] {
        endless_wait(&mut server, &id, token);
    }
    assert_eq!(server.close(), Some(0));
    assert_eq!(pids.iter().filter(|pid| is_alive(**pid)).count(), 0, "all are gone before it");
}

#[test]
fn a_cancelled_wait_gets_no_answer_and_the_session_goes_on() {
    let (_environment, mut server) = start();
    let id = server.launch(json!({"command": "cat"}));
    let request = endless_wait(&mut server, &id, None);
    server
        .send(&json!({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": request, "reason": "no longer needed"},
        }))
        .expect("sent");
    // The text it waited for comes, and would be its answer.
    let typed = json!({"session_id": id, "keys": "never<Enter>", "wait": {"text": "never"}});
    assert_eq!(server.ok("send_keys", typed).structured["wait"]["fired"], "text");
    let mine = |message: &Value| message["id"] == request;
    let marker = server.begin("ping", json!({})).expect("sent");
    let next = server.receive(|message| mine(message) || message["id"] == marker);
    assert_eq!(next.expect("answered")["id"], marker, "no answer to the cancelled one");
    server.ok("stop_app", json!({"session_id": id}));
    assert_eq!(server.close(), Some(0));
}

#[test]
fn progress_is_told_to_those_who_ask() {
    let (_environment, mut server) = start();
    let id = server.launch(json!({"command": "sh", "args": ["-c", "echo step one; exec cat"]}));
    server.ok("wait_for", json!({"session_id": id, "text": "step one"}));
    let asked = endless_wait(&mut server, &id, Some("mine"));
    let is_progress = |message: &Value| message["method"] == "notifications/progress";
    let mut last = 0.0;
    for _ in 0..2 {
        let message = server.receive(is_progress).expect("progress");
        assert_eq!(message["params"]["progressToken"], "mine");
        assert_eq!(message["params"]["total"], 3600.0);
        let told = message["params"]["message"].as_str().expect("a message");
        assert!(told.contains("step one"), "{told}");
        let progress = message["params"]["progress"].as_f64().expect("a number");
        assert!(progress > last, "it only grows");
        last = progress;
    }
    server.ok("send_keys", json!({"session_id": id, "keys": "never<Enter>"}));
    let answer = server.finish(asked).expect("answered");
    assert_eq!(answer["structuredContent"]["fired"], "text", "{answer}");
    // Nothing comes after the answer.
    let marker = server.begin("ping", json!({})).expect("sent");
    let next = server.receive(|message| is_progress(message) || message["id"] == marker);
    assert_eq!(next.expect("answered")["id"], marker);
}

#[test]
fn calls_are_answered_while_others_wait() {
    let (_environment, mut server) = start();
    let waiting: Vec<(String, u64)> = (0..20)
        .map(|_| {
            let id = server.launch(json!({"command": "cat"}));
            let request = endless_wait(&mut server, &id, None);
            (id, request)
        })
        .collect();
    for (id, request) in &waiting {
        server.ok("send_keys", json!({"session_id": id, "keys": "never<Enter>"}));
        let answer = server.finish(*request).expect("answered");
        assert_eq!(answer["structuredContent"]["fired"], "text", "{answer}");
    }
}

#[test]
fn a_full_input_queue_is_an_error_and_nothing_more() {
    let (_environment, mut server) = start();
    let script = "stty raw -echo; echo READY; exec sleep 600";
    let id = server.launch(json!({"command": "sh", "args": ["-c", script]}));
    server.ok("wait_for", json!({"session_id": id, "text": "READY"}));
    let text = "x".repeat(700_000);
    server.ok("send_keys", json!({"session_id": id, "text": text}));
    let (code, message) = server.error("send_keys", json!({"session_id": id, "text": text}));
    assert_eq!(code, "BUSY", "{message}");
    assert!(server.ok("view_screen", json!({"session_id": id})).text.contains("READY"));
    server.ok("stop_app", json!({"session_id": id}));
    let (code, _) = server.error("send_keys", json!({"session_id": id, "text": "x"}));
    assert_eq!(code, "SESSION_DEAD");
}

#[test]
fn a_client_that_closes_its_end_is_told_that_the_server_ends() {
    let environment = TestEnvironment::new();
    let mut command = environment.command(TERMBRIDGE);
    command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.spawn().expect("starts");
    let (mut input, output) = (server.stdin.take(), server.stdout.take());
    let mut output = BufReader::new(output.expect("piped")).lines().map_while(Result::ok);
    let call = json!({"name": "execute_command", "arguments": {"command": "sleep 1000"},
        "_meta": {"progressToken": "p"}});
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    ] {
        writeln!(input.as_ref().expect("piped"), "{message}").expect("sent");
    }
    output.find(|line| line.contains("notifications/progress")).expect("the call waits");
    drop(input.take());
    let answer = output.find(|line| line.contains("\"id\":2")).expect("answered");
    assert!(answer.contains("CANCELLED") && answer.contains("the server now ends"), "{answer}");
    assert!(!answer.contains("keeps running"), "{answer}");
    assert!(server.wait().expect("ends").success());
}

#[test]
fn a_limit_of_file_sizes_ends_programs_and_not_the_server() {
    let environment = TestEnvironment::new();
    let mut command = environment.command("bash");
    command.args(["-c", &format!("ulimit -f 512; exec {TERMBRIDGE} mcp --shell bash")]);
    let mut server = Client::start(&mut command).expect("starts");
    server.initialize(PROTOCOL).expect("shakes hands");
    // More than is kept in memory: the rest would go to a file that may not hold it.
    let long = json!({"command": "yes | head -c 3000000", "max_bytes": 256});
    let long = server.call("execute_command", long).expect("answers");
    assert!(!long.is_error && long.structured["exit_code"] == 0, "{}", long.text);
    let killed = json!({"command": "(head -c 1000000 /dev/zero > large)"});
    let killed = server.call("execute_command", killed).expect("answers");
    assert_eq!(killed.structured["exit_code"], 128 + 25, "a program's default is to end");
}
