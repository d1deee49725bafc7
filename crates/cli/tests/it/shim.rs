//! `termbridge mcp --connect` as a process: an agent's stdio on a server that is shared, restarted and killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use termbridge_testkit::TestEnvironment;

use crate::serving::{Serving, SocketClient, command};
use crate::support::{await_end_of, await_that, is_running};

/// Longest wait for a message.
const PATIENCE: Duration = Duration::from_secs(40);

/// A runtime folder whose servers end with it.
pub(crate) struct Runtime {
    pub(crate) environment: TestEnvironment,
}

impl Runtime {
    pub(crate) fn new() -> Self {
        Self { environment: TestEnvironment::new() }
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = command(&self.environment, words);
        // A server that listens on a port must not meet another one's.
        command.env("MCP_PORT", "0");
        command
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.environment.path().join("run/termbridge")
    }

    /// The processes of the servers that have announced themselves.
    pub(crate) fn servers(&self) -> Vec<i64> {
        let entries = std::fs::read_dir(self.folder().join("servers")).into_iter().flatten();
        let pid = |path: PathBuf| {
            let is_record = path.extension().is_some_and(|end| end == "json");
            path.file_stem().filter(|_| is_record)?.to_str()?.parse().ok()
        };
        let pids = entries.flatten().filter_map(|entry| pid(entry.path()));
        pids.filter(|pid| is_running(*pid)).collect()
    }

    #[track_caller]
    fn server(&self) -> i64 {
        let servers = self.servers();
        assert_eq!(servers.len(), 1, "{servers:?}");
        servers[0]
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let _ = self.command(&["stop", "--all"]).stderr(Stdio::null()).output();
        for pid in self.servers() {
            signal(pid, "-KILL");
        }
    }
}

pub(crate) fn signal(pid: i64, name: &str) {
    let _ = Command::new("kill").args([name, &pid.to_string()]).status();
}

/// The shim and the client's end of it.
pub(crate) struct Shim {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// All that came.
    seen: Vec<Value>,
}

impl Shim {
    pub(crate) fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the shim starts");
        let stdout = BufReader::new(child.stdout.take().expect("stdout"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).expect("JSON"));
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, messages, seen: Vec::new() }
    }

    /// One that has shaken hands.
    pub(crate) fn ready(command: &mut Command) -> Self {
        let mut shim = Self::start(command);
        shim.initialize();
        shim
    }

    pub(crate) fn initialize(&mut self) {
        self.begin_initialize();
        let welcome = self.reply(&json!("init"));
        assert!(welcome["result"]["serverInfo"].is_object(), "{welcome}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    fn begin_initialize(&mut self) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "tester", "version": "1"}});
        self.send(
            &json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params}),
        );
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("open");
        stdin.write_all(format!("{line}\n").as_bytes()).expect("sent");
    }

    pub(crate) fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) -> Value {
        let id = id.into();
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.reply(&id)
    }

    #[track_caller]
    pub(crate) fn call(&mut self, id: u64, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let mut reply = self.request(id, "tools/call", params);
        assert_eq!(reply["result"]["isError"], false, "{tool}: {reply}");
        reply["result"]["structuredContent"].take()
    }

    #[track_caller]
    fn reply(&mut self, id: &Value) -> Value {
        self.receive(|message| message["id"] == *id && message.get("method").is_none())
    }

    /// The same, though it may have come before.
    #[track_caller]
    pub(crate) fn reply_or_seen(&mut self, id: &Value) -> Value {
        let is_reply = |message: &&Value| message["id"] == *id && message.get("method").is_none();
        match self.seen.iter().find(is_reply) {
            Some(reply) => reply.clone(),
            None => self.reply(id),
        }
    }

    /// The next message that is wanted.
    #[track_caller]
    fn receive(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.messages.recv_timeout(PATIENCE).unwrap_or_else(|error| {
                panic!("no message ({error}); {:?}", self.seen.last());
            });
            self.seen.push(message.clone());
            if wanted(&message) {
                return message;
            }
        }
    }

    /// Closes the client's side; the exit code, stderr and all that came.
    pub(crate) fn close(mut self) -> (Option<i32>, String, Vec<Value>) {
        self.stdin = None;
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().expect("stderr");
        stderr.read_to_string(&mut said).expect("text");
        let code = self.child.wait().expect("it ends").code();
        let mut seen = std::mem::take(&mut self.seen);
        seen.extend(self.messages.iter());
        (code, said, seen)
    }
}

impl Drop for Shim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn replies_to(seen: &[Value], id: impl Into<Value>) -> usize {
    let id = id.into();
    seen.iter().filter(|message| message["id"] == id && message.get("method").is_none()).count()
}

#[test]
fn everything_passes_in_both_directions() {
    let serving = Serving::start(&[]);
    let mut shim = Shim::ready(&mut command(&serving.environment, &["mcp", "--connect"]));
    // Ids keep their type, however they are written.
    for id in [json!(7), json!("7"), json!(-1), json!("")] {
        let reply = shim.request(id.clone(), "ping", json!({}));
        assert_eq!(reply["id"], id, "{reply}");
    }
    shim.send_line(r#"{"jsonrpc":"2.0","id":"\u00e4\/","method":"ping"}"#);
    shim.reply(&json!("ä/"));
    // A program, and what the server says of its own accord.
    let cat = shim.call(8, "launch_app", json!({"command": "cat"}))["session_id"].take();
    let uri = format!("term://{}/screen", cat.as_str().expect("an id"));
    let subscribed = shim.request(9, "resources/subscribe", json!({"uri": uri}));
    assert!(subscribed["result"].is_object(), "{subscribed}");
    shim.call(10, "send_keys", json!({"session_id": cat, "keys": "hello<Enter>"}));
    let is_update = |message: &Value| message["method"] == "notifications/resources/updated";
    if !shim.seen.iter().any(is_update) {
        shim.receive(is_update);
    }
    // It is this client's, in the folder of its process, and a plain client's calls see another.
    let listed = shim.call(11, "list_sessions", json!({}));
    let owner = listed["sessions"][0]["client"].as_str().expect("an owner").to_owned();
    assert!(owner.starts_with("tester /"), "{owner}");
    // What is no message gets an error, and the next message its reply.
    shim.send_line("nonsense");
    shim.receive(|message| message["error"]["code"] == -32_700);
    let long = format!("{{\"id\":12,\"method\":\"{}\"}}", "x".repeat(17 * 1024 * 1024));
    shim.send_line(&long);
    shim.receive(|message| {
        message["error"]["message"].as_str().is_some_and(|it| it.contains("longer"))
    });
    let large = "y".repeat(1024 * 1024);
    let ping = shim.request(13, "ping", json!({"_meta": {"large": large}}));
    assert!(ping["result"].is_object(), "{ping}");
    let (code, said, seen) = shim.close();
    assert_eq!((code, said.as_str()), (Some(0), ""));
    assert!((7..=13).all(|id| id == 12 || replies_to(&seen, id) == 1), "{seen:?}");
    // The server goes on.
    SocketClient::open(&serving.runtime().join("server.sock"));
}

#[test]
fn a_client_that_closes_its_side_gets_the_replies_that_are_due() {
    let runtime = Runtime::new();
    for _ in 0..2 {
        // The first also has to start the server.
        let mut shim = Shim::start(&mut runtime.command(&["mcp", "--connect"]));
        shim.begin_initialize();
        shim.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        shim.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
        let (code, said, seen) = shim.close();
        assert_eq!(code, Some(0), "{said}");
        assert_eq!((replies_to(&seen, "init"), replies_to(&seen, 1)), (1, 1), "{seen:?}");
    }
}

#[test]
fn of_many_that_start_at_once_one_server_comes() {
    let runtime = Runtime::new();
    let mut shims: Vec<Shim> = (0..10)
        .map(|_| {
            let mut shim = Shim::start(&mut runtime.command(&["mcp", "--connect"]));
            shim.begin_initialize();
            shim
        })
        .collect();
    for shim in &mut shims {
        assert!(shim.reply(&json!("init"))["result"].is_object());
    }
    let server = runtime.server();
    // It is nobody's child: whoever ends an agent and its descendants does not end it.
    let stat = std::fs::read_to_string(format!("/proc/{server}/stat")).expect("it runs");
    let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1));
    let parent: u32 = parent.and_then(|pid| pid.parse().ok()).expect("a parent");
    assert!(shims.iter().all(|shim| shim.child.id() != parent), "{stat}");
    let log = runtime.folder().join("server.log");
    let mode = std::os::unix::fs::MetadataExt::mode(&log.metadata().expect("a log"));
    assert_eq!(mode & 0o777, 0o600);
    for shim in shims {
        assert_eq!(shim.close().0, Some(0));
    }
    assert_eq!(runtime.server(), server, "it goes on");
}

#[test]
fn a_killed_server_costs_no_reply() {
    let runtime = Runtime::new();
    let mut shim = Shim::ready(&mut runtime.command(&["mcp", "--connect"]));
    let first = runtime.server();
    let cat = shim.call(1, "launch_app", json!({"command": "cat"}))["session_id"].take();
    let arguments = json!({"session_id": cat, "text": "never", "timeout_ms": 2000});
    let params = json!({"name": "wait_for", "arguments": arguments});
    shim.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}));
    shim.request(3, "ping", json!({}));
    signal(first, "-KILL");
    await_end_of(first);
    let reply = shim.reply(&json!(2));
    assert!(reply["result"].is_object() || reply["error"].is_object(), "{reply}");
    let second = runtime.server();
    assert_ne!(first, second);
    // The handshake was repeated behind the client's back.
    let answer = shim.call(4, "execute_command", json!({"command": "echo again"}));
    assert!(answer["output"].as_str().is_some_and(|text| text.contains("again")), "{answer}");
    let (code, said, seen) = shim.close();
    assert_eq!(code, Some(0), "{said}");
    for id in [json!("init"), json!(1), json!(2), json!(3), json!(4)] {
        assert_eq!(replies_to(&seen, id.clone()), 1, "{id}: {seen:?}");
    }
    let strange = seen.iter().filter_map(|message| message["id"].as_str());
    assert_eq!(strange.collect::<Vec<_>>(), ["init"], "no reply to what the shim asked");
}

#[test]
fn steps_whose_server_dies_say_how_far_they_came() {
    let runtime = Runtime::new();
    let mut shim = Shim::ready(&mut runtime.command(&["mcp", "--connect"]));
    let cat = shim.call(1, "launch_app", json!({"command": "cat"}))["session_id"].take();
    let steps = json!([
        {"tool": "send_keys", "arguments": {"session_id": cat, "keys": "typed<Enter>"}},
        {"tool": "wait_for", "arguments": {"session_id": cat, "text": "never", "timeout_ms": 40_000}},
        {"tool": "send_keys", "arguments": {"session_id": cat, "keys": "not typed<Enter>"}},
    ]);
    let params = json!({"name": "run_steps", "arguments": {"steps": steps}});
    shim.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}));
    // By then the second has begun.
    shim.call(3, "wait_for", json!({"session_id": cat, "text": "typed\\ntyped", "idle_ms": 200}));
    let first = runtime.server();
    signal(first, "-KILL");
    await_end_of(first);
    let said = shim.reply(&json!(2))["result"]["content"][0]["text"].take().to_string();
    for part in ["SERVER_RESTARTED", "step 1 ran, step 2 (wait_for)", "those after it did not"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let screen = shim.call(4, "view_screen", json!({"session_id": cat}))["content"].take();
    assert!(!screen.to_string().contains("not typed"), "{screen}");
}

#[test]
fn a_server_that_is_restarted_by_hand_is_found_again() {
    let mut serving = Serving::start(&[]);
    let mut shim = Shim::ready(&mut command(&serving.environment, &["mcp", "--connect"]));
    // The shim would start one at once.
    let start = std::fs::File::create(serving.runtime().join("start.lock")).expect("a file");
    start.lock().expect("locked");
    serving.signal("-TERM");
    serving.child.wait().expect("it ends");
    shim.send(&json!({"jsonrpc": "2.0", "id": "while away", "method": "ping"}));
    let environment = std::mem::take(&mut serving.environment);
    let mut again = command(&environment, &["serve", "--port", "0"]);
    let again = Serving::of(&mut again, environment);
    let reply = shim.reply(&json!("while away"));
    assert!(reply["result"].is_object(), "{reply}");
    shim.call(2, "launch_app", json!({"command": "cat"}));
    let (code, _, seen) = shim.close();
    assert_eq!((code, replies_to(&seen, "while away")), (Some(0), 1));
    drop(again);
}

#[test]
fn where_no_server_can_be_every_request_is_told_so() {
    for (in_the_way, expected) in
        [("termbridge", "not a folder"), ("termbridge/server.lock", "not a regular file")]
    {
        let runtime = Runtime::new();
        let mut command = runtime.command(&["mcp", "--connect"]);
        let path = runtime.environment.path().join("run").join(in_the_way);
        match in_the_way {
            "termbridge" => std::fs::write(&path, "").expect("a file"),
            _ => {
                use std::os::unix::fs::DirBuilderExt;
                let mut private = std::fs::DirBuilder::new();
                private.mode(0o700).recursive(true).create(&path).expect("a folder");
            }
        }
        let mut shim = Shim::start(&mut command);
        shim.begin_initialize();
        shim.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
        let reply = shim.reply(&json!("init"));
        let text = reply["error"]["message"].as_str().expect("an error").to_owned();
        assert!(text.contains(expected) && text.contains("did not run"), "{text}");
        let (code, said, seen) = shim.close();
        assert_eq!((code, replies_to(&seen, 1)), (Some(1), 1), "{seen:?}");
        assert!(said.contains("no server") && said.contains(expected), "{said}");
    }
}

#[test]
fn settings_of_a_server_are_refused() {
    let environment = TestEnvironment::new();
    let run = |words: &[&str]| {
        let mut command = command(&environment, &[&["mcp", "--connect"], words].concat());
        let output = command.env("TERMBRIDGE_TOOLSETS", "debug").stdin(Stdio::null()).output();
        let output = output.expect("runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run(&["--tools", "run", "--max-sessions=3", "--no-editor"]);
    assert_eq!(code, Some(2), "{said}");
    for text in
        ["--tools", "--max-sessions", "--no-editor", "termbridge serve", "configuration file"]
    {
        assert!(said.contains(text), "{text} in {said}");
    }
    // Its own are not, and a client that says nothing starts no server.
    let (code, said) = run(&["--log-level", "warn", "--workspace", ".", "--toolsets", "compat"]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    assert!(!environment.path().join("run/termbridge/server.sock").exists());
}

#[test]
fn a_signal_ends_the_shim_alone() {
    let runtime = Runtime::new();
    let mut shim = Shim::ready(&mut runtime.command(&["mcp", "--connect"]));
    let server = runtime.server();
    signal(shim.child.id().into(), "-TERM");
    assert_eq!(shim.child.wait().expect("it ends").code(), Some(143));
    await_that("the server goes on", || is_running(server));
    assert!(Path::new(&runtime.folder().join("server.sock")).exists());
}
