//! `termbridge serve` as a process: a server that others connect to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use termbridge_testkit::TestEnvironment;

use crate::TERMBRIDGE;
use crate::support::await_that;

/// A server that listens on a port of its own.
pub(crate) struct Serving {
    pub(crate) child: Child,
    pub(crate) environment: TestEnvironment,
    /// What it said about itself.
    pub(crate) greeting: String,
    pub(crate) url: String,
}

/// The command with a runtime folder of its own.
pub(crate) fn command(environment: &TestEnvironment, words: &[&str]) -> Command {
    let runtime = environment.path().join("run");
    std::fs::create_dir_all(&runtime).expect("a folder");
    let mut command = environment.command(TERMBRIDGE);
    command.args(words).env("XDG_RUNTIME_DIR", runtime);
    command
}

impl Serving {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let environment = TestEnvironment::new();
        let words = [&["serve", "--port", "0"], arguments].concat();
        let mut server = command(&environment, &words);
        Self::of(&mut server, environment)
    }

    pub(crate) fn of(command: &mut Command, environment: TestEnvironment) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the server starts");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
        let mut greeting = String::new();
        // The last thing it says.
        while !greeting.contains("Ctrl+C") {
            let line =
                lines.next().unwrap_or_else(|| panic!("it ended: {greeting}")).expect("text");
            greeting.push_str(&format!("{line}\n"));
        }
        std::thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| eprintln!("{line}"));
        });
        let from = greeting.find("http").expect("an address");
        let url = greeting[from..].split([',', ' ']).next().expect("an address").to_owned();
        Self { child, environment, greeting, url }
    }

    pub(crate) fn runtime(&self) -> PathBuf {
        self.environment.path().join("run/termbridge")
    }

    pub(crate) fn token(&self) -> String {
        let text = std::fs::read_to_string(self.runtime().join("token")).expect("a token");
        text.trim().to_owned()
    }

    fn address(&self) -> &str {
        self.url
            .strip_prefix("http://")
            .and_then(|rest| rest.split('/').next())
            .expect("an address")
    }

    /// The status and body of a GET.
    fn get(&self, path: &str, token: Option<&str>) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address()).expect("it listens");
        let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
        let text = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{}\r\n",
            self.address(),
            authorization.unwrap_or_default()
        );
        stream.write_all(text.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("read");
        let status =
            answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default();
        (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Ends it by a signal; its exit code.
    pub(crate) fn end(mut self, signal: &str) -> Option<i32> {
        self.signal(signal);
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // What it had started would go on.
        let stop = command(&self.environment, &["stop", "--all"]).stderr(Stdio::null()).output();
        drop(stop);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client on the unix socket that has shaken hands.
pub(crate) struct SocketClient {
    writer: UnixStream,
    reader: BufReader<UnixStream>,
}

impl SocketClient {
    pub(crate) fn open(path: &std::path::Path) -> Self {
        let writer = UnixStream::connect(path).expect("it listens");
        let reader = BufReader::new(writer.try_clone().expect("a clone"));
        let mut client = Self { writer, reader };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        client.request("initialize", params);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).expect("sent");
    }

    pub(crate) fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        let count = self.reader.read_line(&mut line).ok()?;
        (count > 0).then(|| serde_json::from_str(&line).expect("JSON"))
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        self.receive().expect("an answer")
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))["result"].take()
    }
}

fn mode(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(path).expect("it is there").mode() & 0o777
}

#[test]
fn it_listens_says_so_and_leaves_nothing_behind() {
    let environment = TestEnvironment::new();
    // Whatever the umask.
    let mut server = command(&environment, &[]);
    server = {
        let mut shell = environment.command("sh");
        let script = format!("umask 0; exec {} serve --port 0", server.get_program().display());
        shell.args(["-c", &script]).env("XDG_RUNTIME_DIR", environment.path().join("run"));
        shell
    };
    let serving = Serving::of(&mut server, environment);
    let runtime = serving.runtime();
    for (path, expected) in [
        ("", 0o700),
        ("server.sock", 0o600),
        ("server.lock", 0o600),
        ("token", 0o600),
        ("servers", 0o700),
    ] {
        assert_eq!(mode(&runtime.join(path)), expected, "{path}");
    }
    let state = serving.environment.path().join(".local/state/termbridge");
    assert_eq!((mode(&state.join("tokens.json")), mode(&state)), (0o600, 0o700));
    let record = runtime.join(format!("servers/{}.json", serving.child.id()));
    assert_eq!(mode(&record), 0o600);
    let found: Value =
        serde_json::from_str(&std::fs::read_to_string(&record).expect("read")).expect("JSON");
    assert_eq!(found["http"], serving.url, "{found}");
    assert_eq!(found["socket"], runtime.join("server.sock").display().to_string(), "{found}");
    assert_eq!(found["pid"], serving.child.id(), "{found}");

    let token = serving.token();
    for text in [
        "claude mcp add --scope user --transport http termbridge http://",
        "\"servers\"",
        "\"mcpServers\"",
        "YOUR_TOKEN",
        &runtime.join("token").display().to_string(),
    ] {
        assert!(serving.greeting.contains(text), "{text} in {}", serving.greeting);
    }
    assert!(!serving.greeting.contains(&token), "a log is no place for it");
    assert_eq!(serving.get("/healthz", None).0, 200);
    assert_eq!(serving.get("/metrics", None).0, 401);
    let (status, body) = serving.get("/metrics", Some(&token));
    assert!(status == 200 && body.contains("termbridge_sessions{state=\"running\"} 0"), "{body}");

    let mut client = SocketClient::open(&runtime.join("server.sock"));
    let answer = client.call("execute_command", json!({"command": "echo hello"}));
    assert!(
        answer["content"][0]["text"].as_str().is_some_and(|text| text.contains("hello")),
        "{answer}"
    );

    // A second one says who is there, and stops; so does one on another's port.
    let second = command(&serving.environment, &["serve", "--port", "0"]).output().expect("runs");
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("already runs (pid {})", serving.child.id())), "{said}");
    let port = serving.address().rsplit(':').next().expect("a port");
    let other = TestEnvironment::new();
    let third = command(&other, &["serve", "--port", port]).output().expect("runs");
    let said = String::from_utf8_lossy(&third.stderr).into_owned();
    assert_eq!(third.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("termbridge (pid {})", serving.child.id())), "{said}");
    let open = command(&other, &["serve", "--listen", "0.0.0.0:0"]).output().expect("runs");
    let said = String::from_utf8_lossy(&open.stderr).into_owned();
    assert!(open.status.code() == Some(1) && said.contains("--tls-cert"), "{said}");

    // A wait under way is answered.
    let id =
        client.call("launch_app", json!({"command": "cat"}))["structuredContent"]["session_id"]
            .take();
    let arguments = json!({"session_id": id, "text": "never", "timeout_ms": 40_000});
    client.send(&json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "wait_for", "arguments": arguments}}));
    let ping = client.request("ping", json!({}));
    assert_eq!(ping["id"], 1, "{ping}");
    serving.signal("-TERM");
    let answer = client.receive().expect("the wait is answered");
    assert_eq!(
        (&answer["id"], &answer["result"]["isError"]),
        (&json!(9), &json!(true)),
        "{answer}"
    );
    assert_eq!(client.receive(), None);
    let mut serving = serving;
    assert_eq!(serving.child.wait().expect("it ends").code(), Some(143));
    // What runs goes on until it is ended too.
    let stopped = command(&serving.environment, &["stop", "--all"]).output().expect("runs");
    assert_eq!(stopped.status.code(), Some(0), "{stopped:?}");
    let mut left: Vec<String> = std::fs::read_dir(&runtime)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    // The agents' table is for the next server: it tells them that their sessions have ended.
    let expected = ["agents", "keeper.sock.lock", "server.lock", "servers", "start.lock", "token"];
    assert_eq!(left, expected);
    assert_eq!(std::fs::read_dir(runtime.join("servers")).expect("a folder").count(), 0);
}

#[test]
fn a_killed_server_is_in_nobody_s_way() {
    let serving = Serving::start(&[]);
    let (runtime, first) = (serving.runtime(), serving.token());
    serving.signal("-KILL");
    let mut serving = serving;
    serving.child.wait().expect("it ends");
    assert!(runtime.join("server.sock").exists());
    let again = command(&serving.environment, &["serve", "--port", "0"]);
    let environment = std::mem::take(&mut serving.environment);
    let mut again = again;
    let second = Serving::of(&mut again, environment);
    assert_eq!(second.token(), first, "the same token");
    let records: Vec<_> =
        std::fs::read_dir(runtime.join("servers")).expect("a folder").flatten().collect();
    assert_eq!(records.len(), 1, "{records:?}");
    SocketClient::open(&runtime.join("server.sock"));
    assert_eq!(second.end("-INT"), Some(130));
}

#[test]
fn a_replacement_that_cannot_listen_leaves_the_server_alone() {
    let serving = Serving::start(&[]);
    let held = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = held.local_addr().expect("bound").port().to_string();
    for (words, expected) in [
        (["--listen", "0.0.0.0:0"], "--tls-cert"),
        (["--listen", "nonsense"], "listen is"),
        (["--port", &port], "is in use"),
    ] {
        let words = [&["serve", "--replace"], &words[..]].concat();
        let output = command(&serving.environment, &words).output().expect("runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && said.contains(expected), "{words:?}: {said}");
        assert_eq!(serving.get("/healthz", None).0, 200, "{words:?}");
    }
    let second = command(&serving.environment, &["serve", "--port", "0"]).output().expect("runs");
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(said.contains("--replace"), "{said}");
}

#[test]
fn tokens_are_made_listed_and_revoked_while_it_runs() {
    let serving = Serving::start(&[]);
    let run = |words: &[&str]| {
        let output = command(&serving.environment, words).output().expect("runs");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.code(), text)
    };
    let (code, text) =
        run(&["token", "create", "--name", "laptop", "--scopes", "read", "--expires", "30d"]);
    assert_eq!(code, Some(0), "{text}");
    let token = text.trim();
    assert_eq!(serving.get("/metrics", Some(token)).0, 200);
    let (_, text) = run(&["token", "list"]);
    assert!(
        text.contains("laptop") && text.contains("read") && text.contains("expires in 30 days"),
        "{text}"
    );
    let (_, text) = run(&["token", "list", "--json"]);
    let listed: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    assert!(listed[0].get("hash").is_none(), "{listed}");
    let id = listed[1]["id"].as_str().expect("an id");
    let (code, text) = run(&["token", "revoke", id, "--json"]);
    assert_eq!(
        (code, serde_json::from_str::<Value>(&text).expect("JSON")),
        (Some(0), json!({"revoked": id}))
    );
    assert_eq!(serving.get("/metrics", Some(token)).0, 401);
    let (code, text) = run(&["token", "revoke", id]);
    assert!(code == Some(1) && text.contains("token list"), "{text}");
    let (code, text) = run(&["token", "create", "--scopes", "all", "--json"]);
    assert!(code == Some(2) && text.contains("read, write or admin"), "{text}");
    let (_, text) = run(&["token", "create", "--scopes", "read,write", "--json"]);
    let made: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(made["scope"], "write", "{made}");
    assert_eq!(serving.get("/metrics", made["token"].as_str()).0, 200);
    // A start that finds tokens makes none, and says how.
    let environment = TestEnvironment::new();
    let made = command(&environment, &["token", "create"]).output().expect("runs");
    assert!(made.status.success());
    let mut other = command(&environment, &["serve", "--port", "0"]);
    let other = Serving::of(&mut other, environment);
    assert!(other.greeting.contains("termbridge token create"), "{}", other.greeting);
    assert!(!other.runtime().join("token").exists());
}

#[test]
fn without_a_runtime_folder_it_is_one_in_the_temporary_folder() {
    let environment = TestEnvironment::new();
    let temporary = environment.path().join("tmp");
    std::fs::create_dir(&temporary).expect("a folder");
    let mut server = environment.command(TERMBRIDGE);
    server.args(["serve", "--port", "0"]).env("TMPDIR", &temporary);
    let serving = Serving::of(&mut server, environment);
    let folder = || {
        std::fs::read_dir(&temporary).expect("a folder").flatten().find_map(|entry| {
            let socket = entry.path().join("server.sock");
            socket.exists().then_some(entry.path())
        })
    };
    let folder = folder().expect("a socket");
    let user = std::fs::metadata(serving.environment.path())
        .map(|found| std::os::unix::fs::MetadataExt::uid(&found));
    assert_eq!(
        folder.file_name().and_then(|name| name.to_str()),
        Some(format!("termbridge-{}", user.expect("a user")).as_str())
    );
    SocketClient::open(&folder.join("server.sock"));
    await_that("it lives", || folder.join("server.sock").exists());
}
