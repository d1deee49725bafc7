//! Servers that are ended, killed and replaced in the middle of twenty busy sessions: nothing is lost, and every screen
//! is that of an undisturbed twin.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::shim::{Runtime, Shim, replies_to, signal};
use crate::support::{await_end_of, await_file, await_that};

const FLOODS: u64 = 6;
const PROMPTS: u64 = 3;
const EDITORS: u64 = 4;
const WAITS: u64 = 7;
const DISTURBANCES: u64 = 3;
/// Longest wait of a call.
const PATIENCE_MS: u64 = 120_000;

/// Prints lines all the time, says when it is in the middle of each part, and begins the next when told to.
const FLOOD: &str = r#"#!/bin/bash
for ((part = 1; part <= 3; part++)); do
  for ((block = 1; block <= 60; block++)); do
    from=$(((part * 60 + block) * 100))
    for ((line = from; line < from + 100; line++)); do echo "flood $1 line $line"; done
    if [ $block = 20 ]; then : > at-$part-$1; fi
    sleep 0.02
  done
  until [ -e go-$part ]; do sleep 0.02; done
done
echo "the end of $1"
exit $1
"#;
const PROMPT: &str =
    "bash -c 'read -rs -p \"Password: \" word; echo; echo \"length ${#word}\"; exit 3'";
const WAIT: &str = "until [ -e finish ]; do sleep 0.02; done; echo finished; (exit 5)";

/// A server with a client, and what runs there.
struct World {
    runtime: Runtime,
    shim: Shim,
    asked: u64,
    /// The sessions in the order in which they were made.
    sessions: Vec<Value>,
}

impl World {
    fn new() -> Self {
        let runtime = Runtime::new();
        let mut command = runtime.command(&["mcp", "--connect"]);
        let shim = Shim::ready(command.current_dir(runtime.environment.path()));
        Self { runtime, shim, asked: 0, sessions: Vec::new() }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.runtime.environment.path().join(name)
    }

    fn touch(&self, name: &str) {
        std::fs::write(self.file(name), "").expect("written");
    }

    /// Calls a tool, and leaves its answer for later.
    fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.asked += 1;
        let params = json!({"name": tool, "arguments": arguments});
        let id = self.asked;
        self.shim
            .send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        id
    }

    #[track_caller]
    fn finish(&mut self, id: u64) -> Value {
        let mut reply = self.shim.reply_or_seen(&json!(id));
        assert_eq!(reply["result"]["isError"], false, "{reply}\n{}", self.log());
        reply["result"]["structuredContent"].take()
    }

    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin(tool, arguments);
        self.finish(id)
    }

    #[track_caller]
    fn shell(&mut self, name: String) -> Value {
        let made = self.call("create_session", json!({"name": name, "shell": "bash"}));
        self.sessions.push(made["session_id"].clone());
        made["session_id"].clone()
    }

    /// Types to every editor.
    fn edit(&mut self, editors: &[Value], text: &str) {
        for editor in editors {
            let keys = format!("o{text}<Esc>");
            let wait = json!({"text": text, "timeout_ms": PATIENCE_MS});
            self.call("send_keys", json!({"session_id": editor, "keys": keys, "wait": wait}));
        }
    }

    fn type_to(&mut self, sessions: &[Value], keys: &str) {
        for session in sessions {
            self.call("send_keys", json!({"session_id": session, "keys": keys}));
        }
    }

    /// What the servers have said.
    fn log(&self) -> String {
        std::fs::read_to_string(self.runtime.folder().join("server.log")).unwrap_or_default()
    }

    #[track_caller]
    fn server(&self) -> i64 {
        let servers = self.runtime.servers();
        assert_eq!(servers.len(), 1, "{servers:?}");
        servers[0]
    }

    /// Ends the server in the way of this number; the next one is there when it returns.
    fn disturb(&self, number: u64) -> Option<Child> {
        let old = self.server();
        let replacing = match number {
            1 => {
                signal(old, "-TERM");
                None
            }
            2 => {
                signal(old, "-KILL");
                None
            }
            _ => {
                let mut command = self.runtime.command(&["serve", "--replace"]);
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                Some(command.spawn().expect("it starts"))
            }
        };
        await_end_of(old);
        await_that("the next server is there", || self.runtime.servers().len() == 1);
        replacing
    }
}

/// What a world has come to.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// What each session shows.
    screens: Vec<(String, Value)>,
    /// What each call was told: exit code and state.
    told: Vec<(Value, Value)>,
    /// All that each flood printed.
    floods: Vec<String>,
    /// The commands that the history knows, and how they ended.
    history: Vec<(Value, Value)>,
}

fn run(is_disturbed: bool) -> Outcome {
    let mut world = World::new();
    make_executable(&world.file("flood"), FLOOD);
    let floods: Vec<u64> = (1..=FLOODS)
        .map(|number| {
            let session = world.shell(format!("flood {number}"));
            let command = format!("./flood {number}");
            world.begin(
                "execute_command",
                json!({"session_id": session, "command": command, "timeout_ms": PATIENCE_MS}),
            )
        })
        .collect();
    let waits: Vec<u64> = (1..=WAITS)
        .map(|number| {
            let session = world.shell(format!("wait {number}"));
            world.begin(
                "execute_command",
                json!({"session_id": session, "command": WAIT, "timeout_ms": PATIENCE_MS}),
            )
        })
        .collect();
    let prompts: Vec<Value> = (1..=PROMPTS)
        .map(|number| {
            let session = world.shell(format!("prompt {number}"));
            let asked = world.call(
                "execute_command",
                json!({"session_id": session, "command": PROMPT, "timeout_ms": PATIENCE_MS}),
            );
            assert_eq!(asked["state"], "needs_input", "{asked}");
            session
        })
        .collect();
    let editors: Vec<Value> = (1..=EDITORS)
        .map(|number| {
            let file = format!("notes-{number}.txt");
            let launch = json!({"command": "vim", "args": ["-u", "NONE", "-N", file]});
            let session = world.call("launch_app", launch)["session_id"].clone();
            world.sessions.push(session.clone());
            session
        })
        .collect();
    world.type_to(&prompts, "sec");
    world.edit(&editors, "before all");
    let mut replacing = None;
    for number in 1..=DISTURBANCES {
        for flood in 1..=FLOODS {
            await_file(&world.file(&format!("at-{number}-{flood}")));
        }
        if is_disturbed {
            replacing = world.disturb(number);
        }
        world.edit(&editors, &format!("after {number}"));
        world.touch(&format!("go-{number}"));
    }
    world.type_to(&prompts, "ret<Enter>");
    world.touch("finish");
    let mut told = Vec::new();
    let mut printed = Vec::new();
    for id in &floods {
        let answer = world.finish(*id);
        told.push((answer["exit_code"].clone(), answer["state"].clone()));
        let name = format!("read {id}");
        let read = world.shim.request(name, "resources/read", json!({"uri": answer["resource"]}));
        printed.push(read["result"]["contents"][0]["text"].as_str().expect("text").to_owned());
    }
    for id in &waits {
        let answer = world.finish(*id);
        assert_eq!(answer["output"], "finished\n", "{answer}");
        told.push((answer["exit_code"].clone(), answer["state"].clone()));
    }
    for prompt in &prompts {
        let ended = json!({"session_id": prompt, "prompt": true, "timeout_ms": PATIENCE_MS});
        world.call("wait_for", ended);
        let answer = world.call("get_terminal_output", json!({"session_id": prompt}));
        let output = answer["output"].as_str().expect("output");
        assert!(output.ends_with("length 6\n"), "{answer}");
        told.push((answer["exit_code"].clone(), answer["state"].clone()));
    }
    for editor in &editors {
        // It takes its time to see that an Escape is one.
        let left = json!({"session_id": editor, "gone": "INSERT", "timeout_ms": PATIENCE_MS});
        let left = world.call("wait_for", left);
        assert_eq!(left["fired"], "gone", "{left}");
    }
    let mut screens = Vec::new();
    for session in world.sessions.clone() {
        let screen = world.call("view_screen", json!({"session_id": session}));
        let content = screen["content"].as_str().expect("a screen").to_owned();
        screens.push((content, screen["cursor"].clone()));
    }
    let found = world.call("search_history", json!({"query": "", "limit": 100}));
    let found = found["entries"].as_array().expect("entries").iter();
    let mut history: Vec<(Value, Value)> =
        found.map(|entry| (entry["command"].clone(), entry["exit_code"].clone())).collect();
    history.sort_by_key(|(command, _)| command.to_string());
    let World { runtime, shim, asked, .. } = world;
    let (code, said, seen) = shim.close();
    assert_eq!(code, Some(0), "{said}");
    for id in 1..=asked {
        assert_eq!(replies_to(&seen, id), 1, "call {id}");
    }
    drop(runtime);
    if let Some(mut replacing) = replacing {
        replacing.wait().expect("it ends");
    }
    Outcome { screens, told, floods: printed, history }
}

fn make_executable(path: &Path, text: &str) {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o700).open(path);
    std::io::Write::write_all(&mut file.expect("made"), text.as_bytes()).expect("written");
}

#[test]
fn twenty_busy_sessions_lose_nothing_when_their_server_goes() {
    assert_eq!(FLOODS + PROMPTS + EDITORS + WAITS, 20);
    let twin = std::thread::spawn(|| run(false));
    let disturbed = run(true);
    let twin = twin.join().expect("the twin ends well");
    for (number, text) in (1..).zip(&disturbed.floods) {
        let numbers = (1..=3).flat_map(|part| (part * 60 + 1) * 100..(part * 60 + 61) * 100);
        let lines = numbers.map(|line| format!("flood {number} line {line}\n"));
        let expected = lines.collect::<String>() + &format!("the end of {number}\n");
        assert_eq!(text.len(), expected.len(), "flood {number}");
        assert!(*text == expected, "flood {number}");
    }
    let codes: Vec<i64> = disturbed.told.iter().filter_map(|(code, _)| code.as_i64()).collect();
    assert_eq!(codes, [1, 2, 3, 4, 5, 6, 5, 5, 5, 5, 5, 5, 5, 3, 3, 3]);
    for (session, (is, should_be)) in disturbed.screens.iter().zip(&twin.screens).enumerate() {
        assert_eq!(is, should_be, "session {session}:\n{}\nnot\n{}", is.0, should_be.0);
    }
    assert_eq!(disturbed, twin);
}

#[test]
fn a_server_that_an_agent_started_makes_room_for_one_that_a_person_starts() {
    let mut world = World::new();
    world.call("launch_app", json!({"command": "cat"}));
    let first = world.server();
    let mut command = world.runtime.command(&["serve", "--port", "0"]);
    let mut serving = command.stderr(Stdio::null()).spawn().expect("it starts");
    let second = i64::from(serving.id());
    await_that("the person's server is there", || world.runtime.servers() == [second]);
    await_end_of(first);
    let listed = world.call("list_sessions", json!({}));
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1), "{listed}");
    drop(world);
    serving.wait().expect("it ends");
}

#[test]
fn each_agent_s_current_session_is_the_same_at_the_next_server() {
    let mut world = World::new();
    // Another window of the same client, in the same folder.
    let mut command = world.runtime.command(&["mcp", "--connect"]);
    let mut window = Shim::ready(command.current_dir(world.runtime.environment.path()));
    let chosen = world.shell("chosen".into());
    world.call("execute_command", json!({"command": "cd /usr; W=first"}));
    let last = world.shell("last".into());
    world.call("execute_command", json!({"session_id": last, "command": "cd /var"}));
    world.call("switch_session", json!({"session_id": chosen}));
    let with = json!({"command": "echo $X", "env": {"X": "9"}});
    let made = world.call("execute_command", with.clone());
    assert_eq!(made["output"], "9\n");
    let other = window.call(1, "execute_command", json!({"command": "echo \"$W\"; cd /etc"}));
    assert_eq!(other["output"], "\n", "a shell of its own: {other}");
    for (number, name) in (2..).zip(["-KILL", "-TERM"]) {
        let old = world.server();
        signal(old, name);
        await_end_of(old);
        let found = world.call("execute_command", json!({"command": "pwd; echo \"$X\""}));
        assert_eq!(found["output"], "/usr\n\n", "{name}: {found}");
        let found = window.call(number, "execute_command", json!({"command": "pwd"}));
        assert_eq!(found["output"], "/etc\n", "{name}: {found}");
        let found = world.call("execute_command", with.clone());
        assert_eq!(found["session_id"], made["session_id"], "{name}: {found}");
    }
}

/// The process that started another one, or took it over.
pub(crate) fn parent_of(pid: &Value) -> i64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    let fields = stat.rsplit(") ").next().expect("fields");
    fields.split(' ').nth(1).expect("a parent").parse().expect("a number")
}

#[test]
fn the_death_of_the_keeper_loses_its_sessions_and_not_the_server() {
    let mut world = World::new();
    let app = world.call("launch_app", json!({"command": "cat"}))["session_id"].take();
    let server = world.server();
    for round in 1..=2 {
        let shell = world.shell(format!("work {round}"));
        let waiting = json!({"session_id": app, "text": "never", "timeout_ms": PATIENCE_MS});
        let waiting = world.begin("wait_for", waiting);
        let command = format!("echo partly; : > begun-{round}; sleep 1000");
        let arguments = json!({"session_id": shell, "command": command, "timeout_ms": PATIENCE_MS});
        let command = world.begin("execute_command", arguments);
        await_file(&world.file(&format!("begun-{round}")));
        let listed = world.call("list_sessions", json!({}));
        let rows = listed["sessions"].as_array().expect("sessions");
        let row = rows.iter().find(|row| row["session_id"] == shell).expect("the shell");
        signal(parent_of(&row["pid"]), "-KILL");

        for (call, next) in [(waiting, "restart_app"), (command, "then run it again")] {
            let reply = world.shim.reply_or_seen(&json!(call));
            let text = reply["result"]["content"][0]["text"].as_str().expect("text");
            assert_eq!(reply["result"]["isError"], true, "{text}");
            assert!(
                text.contains("SESSION_DEAD") && text.contains("keeper process died"),
                "{text}"
            );
            assert!(text.contains(next), "{text}");
            assert_eq!(text.contains("partly"), call == command, "{text}");
        }
        assert_eq!(world.server(), server, "the same server runs: {}", world.log());
        let listed = world.call("list_sessions", json!({"all": true}));
        let lost = listed["sessions"].as_array().expect("sessions").iter();
        let lost = lost.filter(|row| row["state"] == "exited" && row["lost"] == true);
        assert_eq!(lost.count(), 2 * round, "{listed}");
        let told = world.log().matches("the keeper process died, and with it").count();
        assert_eq!(told, round, "{}", world.log());
        // At once, and with what was lost.
        let ran = world.call("execute_command", json!({"command": "echo at work"}));
        assert_eq!(ran["output"], "at work\n", "{ran}");
        world.call("restart_app", json!({"session_id": app}));
        let wait = json!({"text": "again", "timeout_ms": PATIENCE_MS});
        let typed = json!({"session_id": app, "keys": "again<Enter>", "wait": wait});
        assert_eq!(world.call("send_keys", typed)["wait"]["fired"], "text");
    }
}

#[test]
fn a_command_whose_server_and_keeper_die_together_does_not_run_again() {
    let mut world = World::new();
    for (round, is_keeper_first) in [(1, true), (2, false)] {
        let shell = world.call("execute_command", json!({"command": "true"}))["session_id"].take();
        let listed = world.call("list_sessions", json!({}));
        let rows = listed["sessions"].as_array().expect("sessions");
        let row = rows.iter().find(|row| row["session_id"] == shell).expect("the shell");
        let (server, keeper) = (world.server(), parent_of(&row["pid"]));
        let command = format!("echo ran >> ran-{round}; : > begun-{round}; sleep 1000");
        let call = world.begin("execute_command", json!({"command": command}));
        await_file(&world.file(&format!("begun-{round}")));
        // The server has no time to see that its keeper is gone.
        signal(server, "-STOP");
        let order = if is_keeper_first { [keeper, server] } else { [server, keeper] };
        order.iter().for_each(|pid| signal(*pid, "-KILL"));
        let reply = world.shim.reply_or_seen(&json!(call));
        let text = reply["result"]["content"][0]["text"].as_str().expect("text");
        assert!(text.contains("SERVER_RESTARTED") && text.contains("may have run"), "{text}");
        let ran = std::fs::read_to_string(world.file(&format!("ran-{round}"))).expect("read");
        assert_eq!(ran, "ran\n", "it ran once");
    }
    // One that no server has begun runs, though it was sent before.
    let params = json!({
        "name": "execute_command", "arguments": {"command": "echo once"},
        "_meta": {"termbridge/again": true},
    });
    let reply = world.shim.request("unknown", "tools/call", params);
    assert_eq!(reply["result"]["structuredContent"]["output"], "once\n", "{reply}");
}

#[test]
fn who_was_debugging_is_told_that_it_ended_with_the_server() {
    let runtime = Runtime::new();
    let mut shim = Shim::ready(&mut runtime.command(&["mcp", "--connect"]));
    let mut step = |id: u64| {
        let params = json!({"name": "debug_step_over", "arguments": {}});
        shim.request(id, "tools/call", params)["result"]["content"][0]["text"].take()
    };
    let before = step(1).as_str().expect("text").to_owned();
    assert!(before.contains("E_NO_SESSION") && !before.contains("earlier server"), "{before}");
    let server = runtime.servers()[0];
    signal(server, "-KILL");
    await_end_of(server);
    let after = step(2).as_str().expect("text").to_owned();
    assert!(after.contains("E_NO_SESSION") && after.contains("earlier server"), "{after}");
}
