//! `termbridge status`, `ls`, `logs`, `send` and `stop` against a real server.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::restarts::parent_of;
use crate::shim::{Runtime, Shim, signal};
use crate::support::{await_end_of, await_that};

/// A runtime folder with a server and an agent that uses it.
struct People {
    agent: Shim,
    runtime: Runtime,
    calls: u64,
}

impl People {
    fn new() -> Self {
        let runtime = Runtime::new();
        let agent = Shim::ready(&mut runtime.command(&["mcp", "--connect"]));
        Self { agent, runtime, calls: 0 }
    }

    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.calls += 1;
        self.agent.call(self.calls, tool, arguments)
    }

    #[track_caller]
    fn launch(&mut self, arguments: Value) -> String {
        self.call("launch_app", arguments)["session_id"].as_str().expect("an id").to_owned()
    }

    /// The exit code, stdout and stderr of a command.
    fn run(&self, words: &[&str]) -> (Option<i32>, String, String) {
        run(&self.runtime, words)
    }

    #[track_caller]
    fn ok(&self, words: &[&str]) -> String {
        let (code, text, said) = self.run(words);
        assert_eq!(code, Some(0), "{words:?}: {text}{said}");
        text
    }

    #[track_caller]
    fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.ok(words)).expect("JSON")
    }
}

fn run(runtime: &Runtime, words: &[&str]) -> (Option<i32>, String, String) {
    let output = runtime.command(words).stdin(Stdio::null()).output().expect("runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn without_a_server_they_say_so() {
    let runtime = Runtime::new();
    for words in [
        &["status"][..],
        &["status", "--json"],
        &["ls"],
        &["logs", "x"],
        &["send", "x", "y"],
        &["stop", "x"],
        &["stop", "--all"],
    ] {
        let (code, text, said) = run(&runtime, words);
        assert_eq!(code, Some(3), "{words:?}: {text}{said}");
        assert!(
            said.contains("no termbridge server runs") && said.contains("termbridge serve"),
            "{said}"
        );
        if words.contains(&"--json") {
            let shown: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(shown, json!({"running": false, "programs_kept": false}));
        }
    }
    // Nothing was started.
    assert!(runtime.servers().is_empty());
    let (code, _, said) = run(&runtime, &["stop"]);
    assert!(code == Some(2) && said.contains("--all"), "{said}");
}

#[test]
fn status_and_ls_show_the_server_and_every_session() {
    let mut people = People::new();
    let id = people.launch(json!({"command": "cat", "name": "dev", "cols": 90, "rows": 20}));
    // What a program or an agent calls itself does not reach the terminal's controls.
    people.launch(json!({"command": "sh", "args": ["-c", "cat # evil\u{1b}[2J\u{7}"]}));
    let ended = people.launch(json!({"command": "sh", "args": ["-c", "exit 4"]}));
    people.call("wait_for", json!({"session_id": ended, "exit": true}));

    let status = people.ok(&["status"]);
    for text in ["server", "socket", "clients    1", "sessions   2 running, 1 ended", "memory"] {
        assert!(status.contains(text), "{text} in {status}");
    }
    let shown = people.json(&["status", "--json"]);
    assert_eq!(
        Some(&shown["pid"]),
        people.runtime.servers().first().map(|pid| json!(pid)).as_ref()
    );
    assert_eq!(
        (&shown["clients"], &shown["sessions"]),
        (&json!(1), &json!({"running": 2, "ended": 1}))
    );

    let list = people.ok(&["ls"]);
    assert!(!list.contains('\u{1b}') && !list.contains('\u{7}'), "{list:?}");
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 3, "{list}");
    assert!(lines[0].starts_with("ID "), "{list}");
    let row = lines.iter().find(|line| line.starts_with(&id)).expect("listed");
    for text in ["dev", "running", "cat", "tester /", "90x20"] {
        assert!(row.contains(text), "{text} in {row}");
    }
    let all = people.ok(&["ls", "--all"]);
    assert!(all.lines().any(|line| line.starts_with(&ended) && line.contains("exited 4")), "{all}");
    let rows = people.json(&["ls", "--json"]);
    assert_eq!(rows.as_array().map(Vec::len), Some(2), "{rows}");
    assert!(rows.as_array().expect("rows").iter().any(|row| row["session_id"] == *id), "{rows}");
}

#[test]
fn keys_are_sent_and_what_they_did_is_shown() {
    let mut people = People::new();
    let id = people.launch(json!({"command": "cat", "name": "dev"}));
    let screen = people.ok(&["send", "dev", "--show", "one<Enter>"]);
    assert!(screen.starts_with("one\none\n"), "{screen}");
    assert_eq!(people.ok(&["send", &id[..6], "two<Enter>"]), "");
    assert!(people.ok(&["logs", &id]).starts_with("one\none\ntwo\ntwo"), "logs");
    assert_eq!(people.ok(&["logs", &id, "-n", "1"]), "two\n");
    let shown = people.json(&["logs", "dev", "--json"]);
    assert!(shown["output"].as_str().is_some_and(|text| text.contains("one")), "{shown}");
    let screen = people.ok(&["send", "dev", "--show", "--text", "C-d <Enter>"]);
    assert!(screen.contains("two\nC-d <Enter>"), "typed as it is: {screen}");
    people.ok(&["send", "dev", "Enter"]);
    let shown = people.json(&["send", "dev", "--json", "C-d"]);
    assert_eq!(shown["session_id"], *id, "{shown}");
    people.call("wait_for", json!({"session_id": id, "exit": true}));
    let (code, _, said) = people.run(&["send", "dev", "x"]);
    let ended = format!("session {id} has ended; `termbridge logs {id}` shows what it printed");
    assert!(code == Some(1) && said.contains(&ended), "{said}");
    let (code, _, said) = people.run(&["logs", "nobody"]);
    assert!(code == Some(1) && said.contains("ls --all"), "{said}");
}

#[test]
fn logs_follow_a_session_to_its_end() {
    let mut people = People::new();
    // Half a line, a bell and a colour, and more than one page.
    let script = "echo begun; read x; printf 'half '; printf '\\a\\033[31mred\\033[0m\\n'; seq 1 3000; echo over";
    let id = people.launch(json!({"command": "sh", "args": ["-c", script], "name": "long"}));
    people.call("wait_for", json!({"session_id": id, "text": "begun"}));
    let mut follow = people.runtime.command(&["logs", "-f", "long"]);
    let mut follow = follow.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(follow.stdout.take().expect("stdout")).lines();
    assert_eq!(lines.next().expect("a line").expect("text"), "begun");
    people.call("send_keys", json!({"session_id": id, "keys": "<Enter>"}));
    let lines: Vec<String> = lines.map_while(Result::ok).collect();
    assert!(follow.wait().expect("it ends").success());
    let text = lines.join("\n");
    assert!(text.contains("half red") && !text.contains('\u{1b}'), "{:?}", &lines[..5]);
    let numbers: Vec<u32> = lines.iter().filter_map(|line| line.parse().ok()).collect();
    assert!(numbers.iter().copied().eq(1..=3000), "{} numbers", numbers.len());
    assert_eq!(lines.last().map(String::as_str), Some("over"));
}

#[test]
fn logs_follow_what_people_type_between_an_agents_commands() {
    let mut people = People::new();
    let made = people.call("create_session", json!({"name": "dev", "shell": "bash"}));
    let id = made["session_id"].as_str().expect("an id").to_owned();
    people.call("execute_command", json!({"session_id": id, "command": "echo one"}));
    let mut follow = people.runtime.command(&["logs", "-f", "dev"]);
    let mut follow = follow.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(follow.stdout.take().expect("stdout")).lines();
    let mut until = |wanted: &str| {
        let mut seen = Vec::new();
        while seen.last().is_none_or(|line: &String| line != wanted) {
            seen.push(lines.next().expect("more lines").expect("text"));
        }
        seen
    };
    until("one");
    people.ok(&["send", "dev", "echo ty''ped<Enter>"]);
    until("typed");
    people.call("execute_command", json!({"session_id": id, "command": "echo last"}));
    let seen = until("last");
    assert!(seen.iter().all(|line| !line.contains("typed")), "once: {seen:?}");
    people.call("stop_app", json!({"session_id": id}));
    assert!(follow.wait().expect("it ends").success());
}

#[test]
fn logs_show_every_line_once_through_a_restart_and_beyond_the_scrollback() {
    let mut people = People::new();
    let script = "echo begun; read go; seq 1 15000; printf half; read go; echo ' whole'; seq 15001 15050; read go; echo end";
    let id = people.launch(json!({"command": "sh", "args": ["-c", script], "name": "many"}));
    let mut follow = people.runtime.command(&["logs", "-f", "many"]);
    let mut follow = follow.stdout(Stdio::piped()).spawn().expect("starts");
    let mut lines = BufReader::new(follow.stdout.take().expect("stdout")).lines();
    let mut next = move || lines.next().map(|line| line.expect("text"));
    assert_eq!(next().as_deref(), Some("begun"));
    people
        .call("send_keys", json!({"session_id": id, "keys": "x<Enter>", "wait": {"text": "half"}}));
    let server = people.runtime.servers()[0];
    crate::shim::signal(server, "-KILL");
    await_end_of(server);
    people.call(
        "send_keys",
        json!({"session_id": id, "keys": "x<Enter>", "wait": {"text": "15050"}}),
    );
    people.call("send_keys", json!({"session_id": id, "keys": "x<Enter>", "wait": {"exit": true}}));
    let mut seen: Vec<String> = std::iter::from_fn(&mut next).collect();
    assert_eq!(follow.wait().expect("ends").code(), Some(0));
    assert_eq!(seen.pop().as_deref(), Some("end"));
    // What went by faster than it was read is marked, and what was read of its first line means nothing.
    while let Some(at) = seen.iter().position(|line| line.contains("not kept")) {
        seen.drain(at - 1..=at);
    }
    let numbers: Vec<u32> = seen.iter().filter_map(|line| line.parse().ok()).collect();
    let last: Vec<u32> = (15_001..=15_050).collect();
    assert!(numbers.ends_with(&last), "{:?}", numbers.iter().rev().take(60));
    let wrong = numbers.windows(2).position(|pair| pair[0] >= pair[1]);
    let around = wrong.map(|at| &numbers[at..numbers.len().min(at + 4)]);
    assert_eq!(around, None, "a line came twice, or in parts");
    assert!(seen.iter().any(|line| line.starts_with("half")), "{:?}", seen.last());
}

#[test]
fn sessions_are_ended_one_by_one_or_all_with_the_server() {
    let mut people = People::new();
    let first = people.launch(json!({"command": "cat", "name": "first"}));
    let polite = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done";
    let second = people.launch(json!({"command": "sh", "args": ["-c", polite]}));
    people.call("wait_for", json!({"session_id": second, "text": "ready"}));
    let third = people.launch(json!({"command": "cat"}));
    let shell = people.call("execute_command", json!({"command": "export KEPT=1; cd /"}));
    let shell = shell["session_id"].as_str().expect("an id").to_owned();
    let (code, text, said) = people.run(&["stop", "first", "nobody", &second]);
    assert_eq!(code, Some(1), "{text}{said}");
    assert!(said.contains("no session \"nobody\""), "{said}");
    assert!(text.contains(&format!("{first}  ended by")), "{text}");
    assert!(text.contains(&format!("{second}  exited 7")), "{text}");
    assert!(people.ok(&["stop", &first]).contains("before"));

    let server = people.runtime.servers()[0];
    let shown = people.json(&["stop", "--all", "--json"]);
    assert_eq!(shown["server"], json!(server), "{shown}");
    let ended = shown["sessions"].as_array().expect("a list");
    let ended: Vec<&Value> = ended.iter().map(|row| &row["session_id"]).collect();
    assert!(ended.contains(&&json!(third)) && ended.contains(&&json!(shell)), "{shown}");
    await_end_of(server);
    // The agent's shim is still there and starts another server for its next call.
    let listed = people.call("list_sessions", json!({}));
    assert_eq!(listed["sessions"], json!([]), "{listed}");
    await_that("another server runs", || !people.runtime.servers().is_empty());
    let mut ran = || people.call("execute_command", json!({"command": "pwd"}));
    let again = ran();
    assert_ne!(again["output"], "/\n");
    let note = format!("{shell} has ended, its exports do not apply here");
    assert_eq!(again["note"], json!(note), "{again}");
    assert_eq!(ran()["note"], Value::Null, "once");
}

#[test]
fn a_stopped_keeper_ends_with_everything() {
    let mut people = People::new();
    let cat = people.launch(json!({"command": "cat"}));
    let listed = people.call("list_sessions", json!({}));
    let keeper = parent_of(&listed["sessions"][0]["pid"]);
    let server = people.runtime.servers()[0];
    signal(keeper, "-STOP");
    let shown = people.json(&["stop", "--all", "--json"]);
    assert_eq!((&shown["server"], &shown["keeper"]), (&json!(server), &json!(true)), "{shown}");
    assert_eq!(shown["sessions"][0]["session_id"], *cat, "{shown}");
    await_end_of(keeper);
}
