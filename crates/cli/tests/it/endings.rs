//! How every command ended can be had, also of one that was not waited for to its end.

use serde_json::{Value, json};
use termbridge_testkit::{Server, TestEnvironment};

use crate::TERMBRIDGE;

/// Long enough for a machine that does much else; no passing test waits for it.
const PATIENCE_MS: u64 = 40_000;

fn bash(environment: &TestEnvironment) -> Server {
    environment.server(TERMBRIDGE, &["--shell", "bash"])
}

/// Starts a command and does not wait for it.
#[track_caller]
fn begin(server: &mut Server, command: &str) -> Value {
    server.ok("execute_command", json!({"command": command, "timeout_ms": 0})).structured
}

/// Reads on until the command is over; its last page and all that it printed from the cursor on.
#[track_caller]
fn to_the_end(server: &mut Server, begun: &Value) -> (Value, String) {
    let mut arguments = json!({"session_id": begun["session_id"], "command_id": begun["command_id"],
        "wait_ms": PATIENCE_MS, "offset": 0});
    let mut printed = String::new();
    loop {
        let page = server.ok("get_terminal_output", arguments.clone());
        printed.push_str(page.structured["output"].as_str().expect("output"));
        if page.structured["state"] != "running" {
            return (page.structured, printed);
        }
        arguments["since"] = page.structured["cursor"].clone();
        arguments.as_object_mut().expect("an object").remove("offset");
    }
}

#[test]
fn the_exit_code_comes_after_a_time_out() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    server.ok("execute_command", json!({"command": "mkfifo go; cd /usr"}));
    let command = "echo before; cat ~/go; cd /; (exit 3)";
    let first = server.ok("execute_command", json!({"command": command, "timeout_ms": 300}));
    let first = first.structured;
    assert_eq!((&first["state"], &first["timed_out"]), (&json!("running"), &json!(true)));
    let read = json!({"session_id": first["session_id"], "command_id": first["command_id"]});
    let page = server.ok("get_terminal_output", read).structured;
    assert_eq!((&page["state"], &page["cwd"]), (&json!("running"), &json!("/usr")), "{page}");
    assert_eq!(page.get("exit_code"), None, "{page}");
    std::fs::write(environment.path().join("go"), "through\n").expect("the command reads it");
    let (page, printed) = to_the_end(&mut server, &first);
    assert_eq!(printed, "before\nthrough\n");
    assert_eq!((&page["state"], &page["exit_code"]), (&json!("done"), &json!(3)), "{page}");
    assert_eq!((&page["cwd"], &page["running"]), (&json!("/"), &json!(false)), "{page}");
    assert!(page["duration_ms"].as_u64().is_some_and(|time| time >= 300), "{page}");
    // Without a number it is the session's last command.
    let last = server.ok("get_terminal_output", json!({"session_id": first["session_id"]}));
    assert_eq!(last.structured["exit_code"], 3);
    assert_eq!(last.structured["command_id"], first["command_id"]);
    let status = last.text.lines().last().expect("a status line");
    assert!(status.starts_with("[exit 3 | lines "), "the directory was told: {status}");
}

#[test]
fn the_exit_code_comes_after_a_question() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let command = "read -p 'Sure? ' answer; [ \"$answer\" = yes ] && (exit 4)";
    let asked = json!({"command": command, "timeout_ms": PATIENCE_MS});
    let asked = server.ok("execute_command", asked).structured;
    assert_eq!(asked["state"], "needs_input", "{asked}");
    let read = json!({"session_id": asked["session_id"]});
    let page = server.ok("get_terminal_output", read).structured;
    assert_eq!((&page["state"], &page["echo"]), (&json!("needs_input"), &json!("on")), "{page}");
    server.ok("send_keys", json!({"session_id": asked["session_id"], "keys": "yes<Enter>"}));
    let (page, _) = to_the_end(&mut server, &asked);
    assert_eq!((&page["state"], &page["exit_code"]), (&json!("done"), &json!(4)), "{page}");
}

#[test]
fn every_way_to_end_is_reported() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let begun = begin(&mut server, "echo $$; sh -c 'kill -TERM $$'");
    let (page, _) = to_the_end(&mut server, &begun);
    assert_eq!((&page["exit_code"], &page["signal"]), (&json!(143), &json!("SIGTERM")), "{page}");
    // The shell's own end is the command's.
    let begun = begin(&mut server, "echo bye; exit 5");
    let (page, printed) = to_the_end(&mut server, &begun);
    assert_eq!(printed, "bye\n");
    assert_eq!((&page["state"], &page["exit_code"]), (&json!("done"), &json!(5)), "{page}");
    assert_eq!(page["session_ended"], true, "{page}");
    let begun = begin(&mut server, "kill -KILL $$");
    let (page, _) = to_the_end(&mut server, &begun);
    assert_eq!((&page["state"], &page["signal"]), (&json!("done"), &json!("SIGKILL")), "{page}");
    // Its hooks are gone, and with them the status.
    let wreck = "unset PROMPT_COMMAND; PS1='$ '";
    let begun = begin(&mut server, wreck);
    let (page, _) = to_the_end(&mut server, &begun);
    assert_eq!(page["state"], "done", "{page}");
    assert_eq!(page.get("exit_code"), None, "{page}");
    assert!(page["note"].as_str().is_some_and(|note| note.contains("not known")), "{page}");
}

#[test]
fn a_wait_for_output_ends_with_new_output_or_with_the_end() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    server.ok("execute_command", json!({"command": "mkfifo go"}));
    let begun = begin(&mut server, "cat go; cat go; (exit 6)");
    let session = begun["session_id"].clone();
    let read = json!({"session_id": session, "wait_ms": PATIENCE_MS});
    let waiting = server.begin("tools/call", call(&read)).expect("sent");
    std::fs::write(environment.path().join("go"), "news\n").expect("the command reads it");
    let page = server.finish(waiting).expect("answers")["structuredContent"].clone();
    assert!(page["output"].as_str().is_some_and(|text| text.ends_with("news\n")), "{page}");
    assert_eq!(page["state"], "running", "{page}");
    // Behind the cursor there is nothing, until it ends.
    let read = json!({"session_id": session, "since": page["cursor"], "wait_ms": PATIENCE_MS});
    let waiting = server.begin("tools/call", call(&read)).expect("sent");
    std::fs::write(environment.path().join("go"), "").expect("the command reads it");
    let page = server.finish(waiting).expect("answers")["structuredContent"].clone();
    assert_eq!((&page["output"], &page["exit_code"]), (&json!(""), &json!(6)), "{page}");
    // One that ended since the cursor was given is not waited for.
    let begun = begin(&mut server, "cat go");
    let read = json!({"session_id": session});
    let page = server.ok("get_terminal_output", read).structured;
    assert_eq!(page["state"], "running", "{page}");
    std::fs::write(environment.path().join("go"), "").expect("the command reads it");
    let (_, _) = to_the_end(&mut server, &begun);
    let read = json!({"session_id": session, "since": page["cursor"], "wait_ms": 1_000_000});
    let page = server.ok("get_terminal_output", read).structured;
    assert_eq!((&page["output"], &page["exit_code"]), (&json!(""), &json!(0)), "{page}");
}

fn call(arguments: &Value) -> Value {
    json!({"name": "get_terminal_output", "arguments": arguments})
}

#[test]
fn a_finished_command_is_announced() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    server.ok("execute_command", json!({"command": "mkfifo go; PS1="}));
    for part in ["command", "output"] {
        // Nothing is printed, and the prompt is empty: the screen does not tell.
        let begun = begin(&mut server, "read < go; (exit 9)");
        let session = begun["session_id"].as_str().expect("a session").to_owned();
        let uri = match part {
            "command" => begun["resource"].as_str().expect("a resource").to_owned(),
            _ => format!("term://{session}/output"),
        };
        server.request("resources/subscribe", json!({"uri": uri})).expect("subscribed");
        std::fs::write(environment.path().join("go"), "\n").expect("the command reads it");
        let mut state = json!("running");
        while state == "running" {
            let updated = |message: &Value| {
                message["method"] == "notifications/resources/updated"
                    && message["params"]["uri"] == uri.as_str()
            };
            server.receive(updated).expect("announced");
            let read = json!({"session_id": session, "command_id": begun["command_id"]});
            let page = server.ok("get_terminal_output", read).structured;
            state = page["state"].clone();
            if state == "done" {
                assert_eq!(page["exit_code"], 9, "{page}");
            }
        }
        server.request("resources/unsubscribe", json!({"uri": uri})).expect("unsubscribed");
    }
}

/// The call that an answer names for reading on.
#[track_caller]
fn read_on(text: &str) -> Value {
    let (_, call) = text.split_once("read on: get_terminal_output ").expect("a call");
    serde_json::from_str(&call[..=call.find('}').expect("its end")]).expect("JSON")
}

#[test]
fn one_call_waits_for_the_end_of_a_command_that_prints_much() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let command = "for i in 1 2 3 4 5; do echo line $i; sleep 0.2; done; (exit 3)";
    let begun = server.ok("execute_command", json!({"command": command, "timeout_ms": 0}));
    let mut call = read_on(&begun.text);
    assert_eq!(call["until"], "end", "{call}");
    call["wait_ms"] = PATIENCE_MS.into();
    let page = server.ok("get_terminal_output", call).structured;
    assert_eq!((&page["state"], &page["exit_code"]), (&json!("done"), &json!(3)), "{page}");
    let printed = page["output"].as_str().expect("output");
    assert!(printed.ends_with("line 3\nline 4\nline 5\n"), "{page}");

    // Of more than fits, the head and the tail are shown; the rest can be had.
    let long = json!({"command": "sleep 0.3; seq 10000 19999", "timeout_ms": 0});
    let mut call = read_on(&server.ok("execute_command", long).text);
    call["wait_ms"] = PATIENCE_MS.into();
    let page = server.ok("get_terminal_output", call);
    let printed = page.structured["output"].as_str().expect("output");
    assert!(printed.starts_with("10000\n") && printed.ends_with("19999\n"), "{printed}");
    assert!(printed.len() <= 17_000 && page.structured["remaining"] == 0, "{}", page.text);
    let (_, rest) = printed.split_once("lines cut: get_terminal_output ").expect("a call");
    let rest = serde_json::from_str(&rest[..=rest.find('}').expect("its end")]).expect("JSON");
    let (head, _) = printed.split_once("\n[\u{2026} ").expect("a head");
    let last: u64 = head.lines().last().and_then(|line| line.parse().ok()).expect("a number");
    let rest = server.ok("get_terminal_output", rest).structured;
    let next = format!("{}\n", last + 1);
    assert!(rest["output"].as_str().is_some_and(|rest| rest.starts_with(&next)), "{rest}");

    // A program that is not a shell ends, too.
    let app = json!({"command": "sh", "args": ["-c", "echo one; sleep 0.3; echo two"], "wait": {}});
    let app = server.ok("launch_app", app).structured["session_id"].clone();
    let read = json!({"session_id": app, "until": "end", "wait_ms": PATIENCE_MS});
    let page = server.ok("get_terminal_output", read).structured;
    assert_eq!(
        (&page["output"], &page["running"]),
        (&json!("one\ntwo\n"), &json!(false)),
        "{page}"
    );
}

#[test]
fn a_wait_for_the_end_ends_with_a_question() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let begun = begin(&mut server, "sleep 0.3; read -p 'Sure? ' answer");
    let read = json!({"session_id": begun["session_id"], "until": "end", "wait_ms": PATIENCE_MS});
    let page = server.ok("get_terminal_output", read).structured;
    assert_eq!(page["state"], "needs_input", "{page}");
}

#[test]
fn a_wait_for_the_prompt_says_how_the_command_ended() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let begun = begin(&mut server, "sleep 0.3; echo done; (exit 3)");
    let wait = json!({"session_id": begun["session_id"], "prompt": true,
        "timeout_ms": PATIENCE_MS});
    let waited = server.ok("wait_for", wait.clone());
    assert_eq!(waited.structured["command"]["exit_code"], 3, "{}", waited.text);
    assert!(waited.text.starts_with("done\n[prompt"), "{}", waited.text);
    assert!(waited.text.contains("exit 3"), "{}", waited.text);
    // It is reported once.
    let again = server.ok("wait_for", wait);
    assert_eq!((again.text.as_str(), again.structured.get("command")), ("prompt", None));
}

#[test]
fn the_session_that_is_done_first_ends_a_wait_for_several() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let mut named = |name: &str, command: &str| {
        let arguments = json!({"command": command, "timeout_ms": 0, "name": name});
        server.ok("execute_command", arguments).structured["session_id"].clone()
    };
    let slow = named("slow", "sleep 1000");
    let fast = named("fast", "sleep 0.3; (exit 4)");
    let asks = named("asks", "sleep 0.3; read -p 'Sure? ' answer");
    let mut wait = |ids: &[&Value]| {
        let wait = json!({"session_ids": ids, "prompt": true, "needs_input": true,
            "timeout_ms": PATIENCE_MS});
        server.ok("wait_for", wait)
    };
    let waited = wait(&[&slow, &fast]);
    assert_eq!(waited.structured["session_id"], fast, "{}", waited.text);
    assert_eq!(waited.structured["command"]["exit_code"], 4, "{}", waited.text);
    assert!(waited.text.contains(fast.as_str().expect("an id")), "{}", waited.text);
    let waited = wait(&[&slow, &asks]);
    let found = (&waited.structured["session_id"], &waited.structured["state"]);
    assert_eq!(found, (&asks, &json!("needs_input")), "{}", waited.text);
    let none = server.call("wait_for", json!({"prompt": true})).expect("an answer");
    assert!(none.is_error && none.text.contains("session_ids"), "{}", none.text);
}

#[test]
fn keys_lead_to_the_lines_behind_what_they_showed() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    server.ok("execute_command", json!({"command": "mkfifo go"}));
    let command = "seq 300; read answer; seq 500 800; cat go; echo fresh; (exit 5)";
    let asked = json!({"command": command, "timeout_ms": PATIENCE_MS});
    let asked = server.ok("execute_command", asked).structured;
    assert_eq!(asked["state"], "needs_input", "{asked}");
    let keys = json!({"session_id": asked["session_id"], "keys": "yes<Enter>"});
    let sent = server.ok("send_keys", keys);
    assert!(sent.text.contains("800\n"), "{}", sent.text);
    let call = read_on(&sent.text);
    std::fs::write(environment.path().join("go"), "through\n").expect("the command reads it");
    let page = server.ok("get_terminal_output", call).structured;
    assert_eq!((&page["output"], &page["exit_code"]), (&json!("through\nfresh\n"), &json!(5)));
}
