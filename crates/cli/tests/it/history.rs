//! The history: found again, by agents and people, whatever happened to the server.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use termbridge_testkit::{Server, TestEnvironment};

use crate::TERMBRIDGE;

const DATABASE: &str = ".local/state/termbridge/history.db";

fn bash(environment: &TestEnvironment) -> Server {
    environment.server(TERMBRIDGE, &["--shell", "bash"])
}

/// The commands that a search finds, best first.
fn found(server: &mut Server, query: Value) -> Vec<String> {
    let answer = server.ok("search_history", query).structured;
    let entries = answer["entries"].as_array().cloned().unwrap_or_default();
    entries.iter().filter_map(|entry| entry["command"].as_str().map(str::to_owned)).collect()
}

fn people(environment: &TestEnvironment, arguments: &[&str]) -> (String, bool) {
    let output = environment.command(TERMBRIDGE).arg("history").args(arguments).output();
    let output = output.expect("it runs");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success())
}

#[test]
fn commands_are_found_again_after_restart_and_kill() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    for command in ["echo pineapple", "printf 'a needle in it\\n'; false", "sleep 0"] {
        server.ok("execute_command", json!({"command": command, "agent_id": "tester"}));
    }
    assert_eq!(found(&mut server, json!({"query": "pineapple"})), ["echo pineapple"]);
    assert_eq!(server.close(), Some(0));
    let mut server = bash(&environment);
    let needle = json!({"query": "needle", "type": "output"});
    assert_eq!(found(&mut server, needle), ["printf 'a needle in it\\n'; false"]);
    let failed = json!({"query": "", "exit_code": 1});
    assert_eq!(found(&mut server, failed), ["printf 'a needle in it\\n'; false"]);
    assert_eq!(found(&mut server, json!({"query": "", "limit": 2})).len(), 2);
    assert!(found(&mut server, json!({"query": "", "until": "2020-01-01"})).is_empty());
    let (code, text) = server.error("search_history", json!({"query": "x", "from": "someday"}));
    assert_eq!(code, "INVALID_INPUT", "{text}");
    // What runs when the server is killed is known, and that it was lost.
    server.ok("execute_command", json!({"command": "echo papaya; sleep 1000", "timeout_ms": 0}));
    found(&mut server, json!({"query": "papaya"}));
    let pid = rustix::process::Pid::from_raw(server.pid().cast_signed()).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("killed");
    drop(server);
    let mut server = bash(&environment);
    let answer = server.ok("search_history", json!({"query": "papaya"})).structured;
    assert_eq!(answer["entries"][0]["state"], "lost", "{answer}");
    let mode = |path: &str| {
        let file = environment.path().join(path);
        std::fs::metadata(file).expect("it is there").permissions().mode() & 0o777
    };
    assert_eq!(mode(DATABASE), 0o600, "nobody else reads it");
}

#[test]
fn a_search_right_behind_a_command_knows_its_end() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    for round in 0..30 {
        let command = json!({"command": format!("printf 'mark%d\\n' {round}; (exit 7)")});
        let query = json!({"query": format!("mark{round}"), "type": "output"});
        let steps = json!({"stop_on_error": false, "steps": [
            {"tool": "execute_command", "arguments": command},
            {"tool": "search_history", "arguments": query}]});
        let answer = server.call("run_steps", steps).expect("answers").structured;
        let entry = &answer["steps"][1]["result"]["entries"][0];
        assert_eq!(entry["exit_code"], 7, "{round}: {answer}");
    }
}

#[test]
fn a_command_cut_off_by_the_end_of_its_shell_is_a_failed_one() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let killed = "echo started; kill -9 $$";
    server.ok("execute_command", json!({"command": killed}));
    server.ok("execute_command", json!({"command": "exit 0"}));
    let begun = json!({"command": "echo ready; sleep 1000", "timeout_ms": 0});
    let begun = server.ok("execute_command", begun).structured;
    let seen = json!({"session_id": begun["session_id"], "text": "ready"});
    server.ok("wait_for", seen);
    assert_eq!(server.close(), Some(0));
    let (failed, _) = people(&environment, &["--failed", "--json"]);
    let rows: Vec<Value> =
        failed.lines().map(|row| serde_json::from_str(row).expect("one object a line")).collect();
    let commands: Vec<&Value> = rows.iter().map(|row| &row["command"]).collect();
    assert_eq!(commands, [&json!("echo ready; sleep 1000"), &json!(killed)], "{failed}");
    for row in &rows {
        assert!(row["signal"].is_string() || row["exit_code"] != 0, "{row}");
        assert_eq!(row["state"], "done", "{row}");
    }
    assert_eq!(rows[1]["signal"], "SIGKILL", "{failed}");
    let mut server = bash(&environment);
    let found = server.ok("search_history", json!({"query": "kill"}));
    let entry = &found.structured["entries"][0];
    assert_eq!(entry["signal"], "SIGKILL", "{entry}");
    assert!(found.text.contains("[ended by SIGKILL]"), "{}", found.text);
    let read = json!({"session_id": entry["session_id"], "command_id": entry["command_id"]});
    let read = server.ok("get_terminal_output", read);
    assert_eq!(read.structured["output"], "started\n");
    assert!(read.text.contains("ended by SIGKILL"), "{}", read.text);
}

#[test]
fn an_incomplete_command_is_not_lost() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let open = "echo first\nif true; then";
    assert_eq!(server.error("execute_command", json!({"command": open})).0, "INVALID_INPUT");
    let found = server.ok("search_history", json!({"query": "first"}));
    assert!(found.text.contains(" [incomplete] "), "{}", found.text);
    let entry = &found.structured["entries"][0];
    assert_eq!(entry["state"], "incomplete", "{entry}");
    let read = json!({"session_id": entry["session_id"], "command_id": entry["command_id"]});
    assert_eq!(server.close(), Some(0));
    let (listed, _) = people(&environment, &[]);
    assert!(listed.contains("incomplete"), "{listed}");
    let mut server = bash(&environment);
    let read = server.ok("get_terminal_output", read);
    assert_eq!(read.structured["output"], "first\n");
    assert!(read.text.contains("not a whole command"), "{}", read.text);
}

#[test]
fn a_command_cut_off_by_the_end_of_its_client_has_a_signal_in_every_shell() {
    for shell in ["bash", "zsh", "dash"] {
        let environment = TestEnvironment::new();
        let mut server = environment.server(TERMBRIDGE, &["--shell", shell]);
        server.ok("execute_command", json!({"command": "sleep 33", "timeout_ms": 300}));
        assert_eq!(server.close(), Some(0));
        let (row, _) = people(&environment, &["--json"]);
        let row: Value = serde_json::from_str(&row).expect("one object");
        assert_eq!(
            (&row["exit_code"], &row["signal"]),
            (&Value::Null, &json!("SIGHUP")),
            "{shell}"
        );
    }
}

#[test]
fn long_output_of_an_earlier_server_keeps_its_line_numbers() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let ran = server.ok("execute_command", json!({"command": "seq 60000"})).structured;
    let command = json!({"session_id": ran["session_id"], "command_id": ran["command_id"]});
    assert_eq!(server.close(), Some(0));
    let mut server = bash(&environment);
    let mut read = |more: Value| {
        let mut arguments = command.clone();
        arguments.as_object_mut().expect("ids").extend(more.as_object().cloned().expect("more"));
        server.ok("get_terminal_output", arguments)
    };
    let page = read(json!({"lines": 2}));
    assert_eq!(page.structured["output"], "59999\n60000\n");
    let numbers = (&page.structured["first_line"], &page.structured["total_lines"]);
    assert_eq!(numbers, (&json!(59_998), &json!(60_000)), "{}", page.text);
    assert!(page.text.contains("bytes of output were dropped"), "{}", page.text);
    assert_eq!(read(json!({"grep": "^59999$"})).structured["output"], "59999:59999\n");
    let lost = read(json!({"grep": "^30000$"}));
    assert_eq!(lost.structured["output"], "");
    assert!(lost.text.contains("bytes of output were dropped"), "{}", lost.text);
    let gap = read(json!({"offset": 30_000, "lines": 1})).structured;
    assert!(gap["output"].as_str().is_some_and(|text| text.contains("lines not kept")), "{gap}");
}

#[test]
fn what_was_found_can_be_read_whole() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    server.ok("execute_command", json!({"command": "seq 1 500; echo mango; false"}));
    let ids = |server: &mut Server| {
        let query = json!({"query": "mango AND \"seq 1\" OR nothing"});
        let answer = server.ok("search_history", query).structured;
        let entry = answer["entries"][0].clone();
        assert!(entry["command_id"].is_u64(), "{answer}");
        json!({"session_id": entry["session_id"], "command_id": entry["command_id"]})
    };
    let numbers: Vec<String> = (1..=500).map(|line| format!("{line}\n")).collect();
    let expected = numbers.concat() + "mango\n";
    let all = |server: &mut Server, mut ids: Value| {
        ids["lines"] = 1000.into();
        server.ok("get_terminal_output", ids).structured
    };
    let alive = ids(&mut server);
    assert_eq!(all(&mut server, alive)["output"], expected);
    assert_eq!(server.close(), Some(0));
    // Another server has the history alone.
    let mut server = bash(&environment);
    let ids = ids(&mut server);
    let answer = all(&mut server, ids.clone());
    assert_eq!(answer["output"], expected);
    assert_eq!((&answer["state"], &answer["exit_code"]), (&json!("done"), &json!(1)), "{answer}");
    let part = |more: Value| {
        let mut arguments = ids.clone();
        arguments.as_object_mut().expect("ids").extend(more.as_object().cloned().expect("more"));
        arguments
    };
    let mut output =
        |more: Value| server.ok("get_terminal_output", part(more)).structured["output"].clone();
    assert_eq!(output(json!({"lines": 2})), "500\nmango\n");
    assert_eq!(output(json!({"offset": 9, "lines": 1})), "10\n");
    assert_eq!(output(json!({"grep": "^mang"})), "501:mango\n");
    let (code, _) = server.error("get_terminal_output", part(json!({"command_id": 99})));
    assert_eq!(code, "SESSION_NOT_FOUND");
}

#[test]
fn people_see_the_beginning_of_a_long_command() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let long = format!("true mango {} END", "x".repeat(5000));
    server.ok("execute_command", json!({"command": long}));
    server.close();
    let (list, _) = people(&environment, &["mango"]);
    assert!(list.contains("$ true mango xx") && list.contains("x…\n"), "{list}");
    assert!(list.len() < 1000, "{list}");
    let (json, _) = people(&environment, &["mango", "--json"]);
    let row: Value = serde_json::from_str(json.trim()).expect("one object a line");
    assert_eq!(row["command"], long);
    let (shown, _) = people(&environment, &["show", row["id"].as_str().expect("an id")]);
    assert!(shown.contains("x END\n"), "{shown}");
}

#[test]
fn people_search_and_count() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    for command in ["echo mango", "echo mango", "ls /no-such-folder"] {
        server.ok("execute_command", json!({"command": command, "agent_id": "tester"}));
    }
    let session =
        server.ok("list_sessions", json!({})).structured["sessions"][0]["session_id"].clone();
    server.close();
    let (list, ok) = people(&environment, &["mango"]);
    assert!(ok && list.matches("$ echo mango").count() == 2 && list.contains("exit 0"), "{list}");
    assert!(!list.contains('\x1b'), "no colour where there is no terminal");
    let (failed, _) = people(&environment, &["--failed", "--json"]);
    let row: Value = serde_json::from_str(failed.trim()).expect("one object a line");
    assert_eq!((&row["command"], &row["exit_code"]), (&json!("ls /no-such-folder"), &json!(2)));
    let id = format!("{}-3", session.as_str().expect("an id"));
    let (shown, _) = people(&environment, &["show", &id]);
    assert!(shown.contains("No such file or directory"), "{shown}");
    let (stats, _) = people(&environment, &["stats", "--json"]);
    let stats: Value = serde_json::from_str(&stats).expect("JSON");
    assert_eq!((&stats["runs"], &stats["failed"]), (&json!(3), &json!(1)));
    assert_eq!(
        stats["most_run"][0],
        json!({"command": "echo mango", "runs": 2, "failed": 0,
        "mean_ms": stats["most_run"][0]["mean_ms"], "max_ms": stats["most_run"][0]["max_ms"]})
    );
    assert_eq!(stats["most_failing"][0]["command"], "ls /no-such-folder");
    assert_eq!(stats["agents"][0]["label"], "tester");
    let (text, _) = people(&environment, &["stats"]);
    assert!(text.starts_with("3 commands, 1 failed\n\nMost run\n"), "{text}");
    let (_, ok) = people(&environment, &["--since", "someday"]);
    assert!(!ok);
}

#[test]
fn without_history_nothing_is_written() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash", "--no-history"]);
    server.ok("execute_command", json!({"command": "echo x"}));
    let (code, _) = server.error("search_history", json!({"query": "x"}));
    assert_eq!(code, "NOT_SUPPORTED");
    server.close();
    assert!(!environment.path().join(DATABASE).exists());
    let (_, ok) = people(&environment, &[]);
    assert!(!ok, "and people are told");
}

#[test]
fn a_damaged_history_is_set_aside_and_the_server_runs() {
    let environment = TestEnvironment::new();
    environment
        .write(DATABASE, "this is no database, and long enough to look like one".repeat(100));
    let mut server = bash(&environment);
    let answer = server.ok("execute_command", json!({"command": "echo guava"})).structured;
    assert_eq!(answer["output"], "guava\n");
    assert_eq!(found(&mut server, json!({"query": "guava"})), ["echo guava"]);
    let folder = environment.path().join(".local/state/termbridge");
    let names: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.iter().any(|name| name.starts_with("history.db.")), "set aside: {names:?}");
}

#[test]
fn a_command_that_matches_is_shown_once() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    server.ok("execute_command", json!({"command": "echo pine apple; echo printed: papaya"}));
    let long = format!("true {} mango", "x".repeat(400));
    server.ok("execute_command", json!({"command": long}));
    let mut found = |query: &str| server.ok("search_history", json!({"query": query})).text;
    let command = found("apple");
    assert!(command.ends_with("  $ echo pine apple; echo printed: papaya"), "{command}");
    assert!(found("printed papaya").contains("papaya"));
    assert!(found("mango").ends_with(" **mango**"), "what the list cuts off is shown");
}
