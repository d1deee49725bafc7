//! What an agent sees of a screen: formats, parts, cuts, and the resources behind a cut.

use serde_json::{Value, json};
use termbridge_mcp::client::ClientError;
use termbridge_testkit::{Server, TestEnvironment};

use crate::TERMBRIDGE;

/// A session that shows what `script` prints and stays.
fn showing(server: &mut Server, script: &str) -> String {
    let script = format!("stty -echo; {script}; printf READY; exec cat");
    server.launch(json!({
        "command": "sh", "args": ["-c", script], "cols": 40, "rows": 10,
        "wait": {"text": "READY"},
    }))
}

fn view(server: &mut Server, id: &str, more: Value) -> Value {
    let mut arguments = json!({"session_id": id});
    for (name, value) in more.as_object().into_iter().flatten() {
        arguments[name] = value.clone();
    }
    server.ok("view_screen", arguments).structured
}

#[test]
fn every_format_shows_the_same_screen_its_own_way() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let script = "printf '\\033]2;my title\\007\\033[1;31mred\\033[m plain\\r\\n\\033[7mchosen\\033[m\\r\\n'";
    let id = showing(&mut server, script);
    let table = [
        ("plain", "red plain\nchosen\nREADY"),
        ("raw", "\u{1b}[0;1;31mred"),
        ("ansi", "⟦bold red⟧red⟦/⟧ plain\n⟦inverse⟧chosen⟦/⟧"),
        ("scrollback", "red plain\nchosen\nREADY"),
        ("html", "<span style=\"font-weight:bold;"),
        ("svg", "<svg xmlns="),
        ("cells", "\"attrs\":[\"bold\"]"),
    ];
    for (format, part) in table {
        let seen = view(&mut server, &id, json!({"format": format}));
        let content = seen["content"].as_str().expect("content");
        assert!(content.contains(part), "{format}: {content}");
        assert_eq!(seen["title"], "my title");
        assert_eq!(seen["highlights"][0]["text"], "chosen", "{format}");
        assert_eq!((&seen["rows"], &seen["cols"]), (&json!(10), &json!(40)));
    }
    let cells = view(&mut server, &id, json!({"format": "cells"}));
    assert_eq!(cells["cells"][0]["runs"][0]["fg"], "red");
    let part =
        view(&mut server, &id, json!({"region": {"row": 0, "col": 4, "rows": 2, "cols": 5}}));
    assert_eq!(part["content"], "plain\nen");
    let place = server.ok("get_cursor_position", json!({"session_id": id})).structured;
    assert_eq!(
        (&place["row"], &place["col"], &place["visible"]),
        (&json!(2), &json!(5), &json!(true))
    );
    let size = server.ok("get_screen_size", json!({"session_id": id})).structured;
    assert_eq!((&size["rows"], &size["cols"]), (&json!(10), &json!(40)));
}

#[test]
fn only_what_changed_is_shown_on_request() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let id = showing(&mut server, "printf 'one\\r\\ntwo\\r\\n'");
    let before = view(&mut server, &id, json!({}));
    let same = view(&mut server, &id, json!({"after": before["seq"]}));
    assert_eq!((&same["changed_rows"], &same["seq"]), (&json!([]), &before["seq"]));
    let answer = server.ok(
        "send_keys",
        json!({"session_id": id, "keys": "new<Enter>", "wait": {"text": "new"}, "view": "diff"}),
    );
    assert_eq!(answer.structured["wait"]["fired"], "text", "{}", answer.text);
    assert_eq!(answer.structured["view"]["changed_rows"], json!([2]), "{}", answer.text);
    assert!(answer.text.contains("2| READYnew"), "{}", answer.text);
}

#[test]
fn a_wait_shows_the_screen_on_which_it_ended() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    // Both are in one write: a look after the wait would see the second only.
    let script = r"stty -echo; read x; printf 'FIRST%60s\033[2JSECOND' '' | tr ' ' '\n'; exec cat";
    let app = json!({"command": "sh", "args": ["-c", script], "wait": {"needs_input": true}});
    let id = server.launch(app);
    let keys = json!({
        "session_id": id, "keys": "Enter", "wait": {"text": "FIRST"}, "view": "plain",
    });
    let answer = server.ok("send_keys", keys);
    let content = answer.structured["view"]["content"].as_str().expect("a view");
    assert!(content.contains("FIRST") && !content.contains("SECOND"), "{content}");
    let answer =
        server.ok("wait_for", json!({"session_id": id, "text": "SECOND", "view": "plain"}));
    let content = answer.structured["view"]["content"].as_str().expect("a view");
    assert!(content.contains("SECOND") && !content.contains("FIRST"), "{content}");
}

#[test]
fn acting_shows_what_came_of_it_unless_told_otherwise() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let app = json!({"command": "sh", "args": ["-c", "echo painted; exec cat"]});
    let launched = server.ok("launch_app", app.clone());
    assert_eq!(launched.structured["view"]["content"], "painted", "{}", launched.text);
    assert!(launched.structured.get("wait").is_none(), "{}", launched.text);
    let id = launched.structured["session_id"].as_str().expect("an id").to_owned();
    let mut send = |more: Value| {
        let mut arguments = json!({"session_id": id, "text": "x"});
        arguments
            .as_object_mut()
            .expect("an object")
            .extend(more.as_object().cloned().expect("too"));
        let answer = server.ok("send_keys", arguments);
        (answer.structured["view"].clone(), answer.text)
    };
    let (view, text) = send(json!({}));
    assert_eq!((&view["changed_rows"], &view["content"]), (&json!([1]), &json!("1| x")), "{text}");
    assert!(send(json!({"view": "plain"})).0["content"].as_str().is_some_and(|c| c.contains("xx")));
    for off in [json!({"view": "none"}), json!({"wait": {}})] {
        let (view, text) = send(off);
        assert!(view.is_null() && text.starts_with("sent 1 bytes"), "{text}");
    }
    let (view, text) = send(json!({"wait": {"text": "xxxxx"}}));
    assert_eq!(view["content"], "1| xxxxx", "{text}");
    for off in [json!({"view": "none"}), json!({"wait": {}})] {
        let mut arguments = app.clone();
        arguments
            .as_object_mut()
            .expect("an object")
            .extend(off.as_object().cloned().expect("too"));
        let launched = server.ok("launch_app", arguments);
        assert!(launched.structured.get("view").is_none(), "{}", launched.text);
    }
}

#[test]
fn blank_rows_of_a_diff_are_one_line() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let script = r"stty -echo; seq 1 23; read x; printf '\033[H\033[Jtop'; read x; \
        printf '\033[?1049h'; seq 1 23; read x; printf '\033[H\033[J'";
    let app = json!({"command": "sh", "args": ["-c", script], "wait": {"needs_input": true}});
    let id = server.launch(app);
    let keys = json!({"session_id": id, "keys": "Enter", "wait": {"text": "top"}});
    let view = server.ok("send_keys", keys).structured["view"].clone();
    assert_eq!(view["content"], "top", "the rows below are blank: {view}");
    let keys = json!({"session_id": id, "keys": "Enter", "wait": {"text": "23"}, "view": "none"});
    server.ok("send_keys", keys);
    let keys = json!({"session_id": id, "keys": "Enter", "wait": {"exit": true}});
    let view = server.ok("send_keys", keys).structured["view"].clone();
    assert_eq!(view["content"], "", "what an ended program wiped says nothing: {view}");
    assert_eq!(view["state"], "exited: exit code 0");
}

#[test]
fn a_cut_is_shown_and_the_rest_can_be_fetched() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let id = showing(&mut server, "seq 1 2000");
    let lines = view(&mut server, &id, json!({"format": "scrollback", "lines": 3}));
    assert_eq!(lines["content"], "1999\n2000\nREADY");
    assert_eq!(lines["total_lines"], 2001);
    let cut = view(&mut server, &id, json!({"format": "scrollback", "max_bytes": 1000}));
    let content = cut["content"].as_str().expect("content");
    assert!(content.starts_with("1\n2\n") && content.ends_with("2000\nREADY"), "{content}");
    assert!(cut["truncated_bytes"].as_u64().is_some_and(|bytes| bytes > 5000), "{cut}");
    let uri = cut["resource"].as_str().expect("a resource").to_owned();
    assert!(content.contains(&uri), "the cut names it: {content}");
    let whole = server.request("resources/read", json!({"uri": uri})).expect("readable");
    let whole = whole["contents"][0]["text"].as_str().expect("text").to_owned();
    let expected: Vec<String> = (1..=2000).map(|line| line.to_string()).collect();
    assert_eq!(whole, expected.join("\n") + "\nREADY");
    let listed = server.request("resources/list", json!({})).expect("lists");
    assert!(listed.to_string().contains(&format!("term://{id}/screen")), "{listed}");
    for uri in ["term://nobody/screen", "term://x", "file:///etc/passwd"] {
        let read = server.request("resources/read", json!({"uri": uri}));
        assert!(matches!(read, Err(ClientError::Rpc { code: -32002, .. })), "{uri}: {read:?}");
    }
}

#[test]
fn lists_tell_agents_apart_and_know_what_runs() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let mine = server.launch(json!({"command": "cat", "agent_id": "a", "name": "mine"}));
    server.launch(json!({"command": "cat", "agent_id": "b"}));
    let ended = server.launch(
        json!({"command": "sh", "args": ["-c", "exit 4"], "agent_id": "a", "wait": {"exit": true}}),
    );
    let list = server.ok("list_sessions", json!({"agent_id": "a"})).structured;
    let rows = list["sessions"].as_array().expect("rows");
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["session_id"], &rows[0]["name"]), (&json!(mine), &json!("mine")));
    assert_eq!((&rows[0]["state"], &rows[0]["foreground"]), (&json!("running"), &json!("cat")));
    let list = server.ok("list_sessions", json!({"agent_id": "a", "all": true})).structured;
    let rows = list["sessions"].as_array().expect("rows");
    assert_eq!((rows.len(), &rows[1]["exit_code"]), (2, &json!(4)));
    let (code, text) = server.error("send_keys", json!({"session_id": ended, "keys": "x"}));
    assert_eq!(code, "SESSION_DEAD");
    assert!(text.contains("exit code 4") && text.contains("restart_app"), "{text}");
}

#[test]
fn a_document_is_whole_or_refused() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    // Each cell has a colour of its own, so every format of them is long.
    let script = r"stty -echo; i=0; while [ $i -lt 2000 ]; do
        printf '\033[38;5;%dmx' $((i % 255)); i=$((i + 1)); done; printf READY; exec cat";
    let id = server.launch(json!({
        "command": "sh", "args": ["-c", script], "cols": 100, "rows": 24,
        "wait": {"text": "READY"}, "view": "none",
    }));
    for format in ["svg", "html", "cells", "raw"] {
        let asked = json!({"session_id": id, "format": format, "max_bytes": 2000});
        let (code, text) = server.error("view_screen", asked);
        assert_eq!(code, "INVALID_INPUT", "{text}");
        let size = text.split_once("max_bytes ").and_then(|(_, rest)| rest.split(' ').next());
        let size: usize = size.and_then(|size| size.parse().ok()).expect("the size is named");
        let whole = view(&mut server, &id, json!({"format": format, "max_bytes": size}));
        assert_eq!(whole["content"].as_str().map(str::len), Some(size), "{format}");
        assert!(whole["truncated_bytes"].is_null(), "{format}");
    }
    // What was done is done: its answer has plain text and says why.
    let keys =
        json!({"session_id": id, "keys": "x<Enter>", "wait": {"text": "READYx"}, "view": "svg"});
    let seen = server.ok("send_keys", keys);
    let shown = &seen.structured["view"];
    assert!(shown["content"].as_str().is_some_and(|text| text.starts_with("xxxx")), "{shown}");
    assert!(shown["note"].as_str().is_some_and(|note| note.contains("svg")), "{shown}");
}

#[test]
fn a_first_screen_is_all_new() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let app = json!({"command": "sh", "args": ["-c", "echo painted; exec cat"], "view": "diff"});
    let launched = server.ok("launch_app", app);
    assert_eq!(launched.structured["view"]["content"], "painted", "{}", launched.text);
    let app = json!({"command": "pwd", "cwd": "~", "wait": {"exit": true}});
    let launched = server.ok("launch_app", app);
    let home = environment.path().display().to_string();
    assert_eq!(launched.structured["view"]["content"], home.as_str(), "{}", launched.text);
}

#[test]
fn a_diff_shows_all_that_was_not_shown_before() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    // It prints by itself, between two keys, and a result comes again.
    let script = "echo READY; while read line; do echo \"$line\"; cat go; echo later; done";
    let fifo = environment.path().join("go");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("runs");
    assert!(made.success());
    let app =
        json!({"command": "sh", "args": ["-c", script], "rows": 6, "wait": {"text": "READY"}});
    let id = server.launch(app);
    for round in 0..4 {
        let keys = json!({"session_id": id, "keys": "same<Enter>", "wait": {"idle_ms": 300}});
        let text = server.ok("send_keys", keys).text;
        assert_eq!(text.matches("same").count(), 2, "{round}: echo and answer: {text}");
        assert_eq!(text.contains("later"), round > 0, "{round}: what came since: {text}");
        std::fs::write(&fifo, "").expect("written");
        server.ok("wait_for", json!({"session_id": id, "needs_input": true}));
    }
    // A screen that comes back says so, and what it has is not shown again.
    let less = json!({"command": "sh", "args": ["-c", "echo MAIN; printf '\\033[?1049h'; echo FULL; read x; \
        printf '\\033[?1049l'; read x"], "wait": {"text": "FULL"}});
    let id = server.launch(less);
    let back = json!({"session_id": id, "keys": "Enter", "wait": {"gone": "FULL"}});
    let text = server.ok("send_keys", back).text;
    assert!(text.contains("back on the main screen"), "{text}");
}

#[test]
fn what_the_main_screen_got_unseen_is_shown_when_it_is_back() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let script = "echo READY; read x; echo RESULT failed 3; printf '\\033[?1049h'; echo FULL; read x; \
        printf '\\033[?1049l'; read x";
    let id =
        server.launch(json!({"command": "sh", "args": ["-c", script], "wait": {"text": "READY"}}));
    let keys = json!({"session_id": id, "keys": "Enter", "wait": {"text": "FULL"}});
    let text = server.ok("send_keys", keys).text;
    assert!(text.contains("FULL") && !text.contains("RESULT"), "{text}");
    let keys = json!({"session_id": id, "keys": "Enter", "wait": {"gone": "FULL"}});
    let text = server.ok("send_keys", keys).text;
    assert!(text.contains("RESULT failed 3") && !text.contains("READY"), "{text}");
}

#[test]
fn what_went_by_is_said() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let script = "echo READY; read x; seq 100; read x";
    let app =
        json!({"command": "sh", "args": ["-c", script], "rows": 6, "wait": {"text": "READY"}});
    let id = server.launch(app);
    let keys = json!({"session_id": id, "keys": "Enter", "wait": {"text": "100"}});
    let text = server.ok("send_keys", keys).text;
    assert!(text.contains("scrolled 97; what went by is in format scrollback"), "{text}");
    // A part of what is there does not count as having shown the rest.
    let script = "echo one; echo two; read x; echo three; read x";
    let app = json!({"command": "sh", "args": ["-c", script], "wait": {}});
    let id = server.launch(app);
    server.ok("wait_for", json!({"session_id": id, "text": "two"}));
    server.ok("view_screen", json!({"session_id": id, "format": "scrollback", "lines": 1}));
    let keys = json!({"session_id": id, "keys": "Enter", "wait": {"text": "three"}});
    let text = server.ok("send_keys", keys).text;
    assert!(text.contains("one") && text.contains("two") && text.contains("three"), "{text}");
}
