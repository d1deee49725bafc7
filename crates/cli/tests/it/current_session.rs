//! The session that a call without one uses.

use serde_json::{Value, json};
use termbridge_testkit::{Server, TestEnvironment};

use crate::TERMBRIDGE;

fn run(server: &mut Server, command: &str) -> Value {
    server.ok("execute_command", json!({"command": command})).structured
}

#[test]
fn what_takes_over_from_a_busy_session_is_the_current_one_and_keeps_its_place() {
    for shell in ["bash", "zsh", "fish", "dash"] {
        let environment = TestEnvironment::new();
        environment.write(".zshrc", "");
        environment.write("old/x", "");
        environment.write("old/build/kept", "");
        environment.write("proj/build/gone", "");
        let old = environment.path().join("old").canonicalize().expect("made");
        let mut server = environment.server(TERMBRIDGE, &["--shell", shell]);
        run(&mut server, "cd old");
        let tail = json!({"command": "tail -f x", "timeout_ms": 300});
        let busy = server.ok("execute_command", tail).structured["session_id"].clone();
        let taken_over = server.ok("execute_command", json!({"command": "cd ../proj"}));
        let session = taken_over.structured["session_id"].clone();
        assert_ne!(session, busy, "{shell}");
        let busy = busy.as_str().expect("an id");
        let note = format!("| {busy} is busy, its exports do not apply here");
        assert!(taken_over.text.contains(&note), "{shell}: {}", taken_over.text);
        assert!(taken_over.text.contains("/proj | other session"), "{shell}: {}", taken_over.text);
        let removed = server.ok("execute_command", json!({"command": "rm -rf build"}));
        assert_eq!(removed.text, "[exit 0]", "{shell}: nothing is new");
        assert_eq!(
            (&removed.structured["session_id"], &removed.structured["command_id"]),
            (&session, &json!(2)),
            "{shell}"
        );
        assert!(old.join("build/kept").exists(), "{shell}");
        assert!(!environment.path().join("proj/build").exists(), "{shell}");
        let read = server.ok("get_terminal_output", json!({})).structured;
        assert_eq!(read["session_id"], session, "{shell}");
        // It stays the current one when the other is free again, until the agent says otherwise.
        server.ok(
            "send_keys",
            json!({"session_id": busy, "keys": "Ctrl+C",
            "wait": {"prompt": true, "timeout_ms": 40_000}}),
        );
        assert_eq!(run(&mut server, "pwd")["session_id"], session, "{shell}");
        server.ok("switch_session", json!({"session_id": busy}));
        let back = run(&mut server, "pwd");
        assert_eq!(back["output"].as_str().map(str::trim_end), old.to_str(), "{shell}");
    }
}

#[test]
fn one_that_is_elsewhere_does_not_take_over() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let wait = |server: &mut Server| {
        let arguments = json!({"command": "sleep 1000", "timeout_ms": 0});
        server.ok("execute_command", arguments).structured["session_id"].clone()
    };
    run(&mut server, "cd /usr");
    let first = wait(&mut server);
    run(&mut server, "cd /etc");
    server.ok(
        "send_keys",
        json!({"session_id": first, "keys": "Ctrl+C",
        "wait": {"prompt": true, "timeout_ms": 40_000}}),
    );
    // The first is idle in /usr, the second was in /etc when it became busy.
    wait(&mut server);
    let third = run(&mut server, "pwd");
    assert_eq!(third["output"], "/etc\n");
    assert_ne!(third["session_id"], first);
}

#[test]
fn calls_at_once_do_not_change_the_current_session() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let first = run(&mut server, "export A=1; mkfifo go")["session_id"].clone();
    let call = |command: &str| json!({"name": "execute_command", "arguments": {"command": command, "timeout_ms": 40_000}});
    let waits = server.begin("tools/call", call("touch began; cat go")).expect("sent");
    crate::support::await_file(&environment.path().join("began"));
    let beside = server.begin("tools/call", call("echo through > go; echo beside")).expect("sent");
    let waits = server.finish(waits).expect("answers");
    let beside = server.finish(beside).expect("answers");
    assert_eq!(waits["structuredContent"]["session_id"], first);
    assert_eq!(beside["structuredContent"]["output"], "beside\n");
    assert_ne!(beside["structuredContent"]["session_id"], first);
    let next = run(&mut server, "echo $A");
    assert_eq!((&next["session_id"], &next["output"]), (&first, &json!("1\n")));
}

#[test]
fn a_named_session_is_used_by_calls_that_name_it_alone() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let named = json!({"command": "export DB=1", "name": "db"});
    let db = server.ok("execute_command", named).structured["session_id"].clone();
    let read = server.ok("get_terminal_output", json!({})).structured;
    assert_eq!(read["session_id"], db, "it was used last");
    let own = run(&mut server, "echo \"<$DB>\"");
    assert_eq!(own["output"], "<>\n", "the first one with a name is not the current one");
    // Neither is it taken while the current one is busy.
    let arguments = json!({"command": "sleep 1000", "timeout_ms": 0});
    let busy = server.ok("execute_command", arguments.clone()).structured["session_id"].clone();
    assert_eq!(busy, own["session_id"]);
    let other = server.ok("execute_command", arguments).structured["session_id"].clone();
    assert!(other != db && other != busy);
    let named = json!({"command": "echo $DB", "name": "db"});
    let again = server.ok("execute_command", named).structured;
    assert_eq!((&again["session_id"], &again["output"]), (&db, &json!("1\n")));
}

#[test]
fn output_without_a_session_is_that_of_the_one_used_last() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let shell = run(&mut server, "echo from the shell")["session_id"].clone();
    let mut last = |tool: &str, arguments: Value| {
        server.ok(tool, arguments);
        server.ok("get_terminal_output", json!({})).structured
    };
    let launch = json!({"command": "sh", "args": ["-c", "echo ready; cat"]});
    let launched = last("launch_app", launch);
    let app = launched["session_id"].clone();
    assert_ne!(app, shell);
    assert!(launched["output"].as_str().is_some_and(|text| text.contains("ready")), "{launched}");
    assert_eq!(last("execute_command", json!({"command": "true"}))["session_id"], shell);
    let keys = json!({"session_id": app, "keys": "typed<Enter>", "wait": {"text": "typed"}});
    let typed = last("send_keys", keys);
    assert_eq!(typed["session_id"], app);
    assert!(typed["output"].as_str().is_some_and(|text| text.contains("typed")), "{typed}");
    // The current session is another matter.
    assert_eq!(run(&mut server, "true")["session_id"], shell);
}

#[test]
fn a_shell_of_another_kind_is_where_the_agent_left_it() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let first = run(&mut server, "true")["session_id"].clone();
    let mut fish = |command: &str| {
        let arguments = json!({"command": command, "shell": "fish"});
        server.ok("execute_command", arguments).structured
    };
    fish("cd /usr");
    assert_eq!(fish("pwd")["output"], "/usr\n");
    assert_eq!(run(&mut server, "true")["session_id"], first);
}

#[test]
fn what_replaces_an_ended_shell_is_where_that_was_and_says_so() {
    let environment = TestEnvironment::new();
    environment.write("proj/z/file", "");
    let proj = environment.path().join("proj").canonicalize().expect("made");
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let ended = run(&mut server, "cd proj/z")["session_id"].clone();
    let ended = ended.as_str().expect("an id");
    server.ok("execute_command", json!({"command": "exit 1"}));
    std::fs::remove_dir_all(proj.join("z")).expect("removed");
    let replaced = server.ok("execute_command", json!({"command": "pwd"}));
    assert_eq!(replaced.structured["output"].as_str().map(str::trim_end), proj.to_str());
    let (gone, proj) = (proj.join("z"), proj.display());
    let note = format!(
        "| {ended} has ended, its exports do not apply here | {} is gone, the new session started in {proj}",
        gone.display()
    );
    assert!(replaced.text.contains(&note), "{}", replaced.text);
}

#[test]
fn a_named_session_that_ended_comes_back_with_its_shell() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let named = |command: &str| json!({"command": command, "name": "n"});
    server.ok("execute_command", json!({"command": "true"}));
    server.ok("create_session", json!({"shell": "dash", "name": "n"}));
    server.ok("execute_command", named("exit 4"));
    let answer = server.ok("execute_command", named("echo $0")).structured;
    assert_eq!(answer["output"], "dash\n");
}

#[test]
fn what_takes_over_from_a_shell_that_takes_no_commands_is_where_that_was() {
    let environment = TestEnvironment::new();
    environment.write("proj/x", "");
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    run(&mut server, "cd proj; set +o emacs");
    let refused = server.call("execute_command", json!({"command": "ls"})).expect("answers");
    assert!(refused.text.starts_with("[BUSY]"), "{}", refused.text);
    let next = server.ok("execute_command", json!({"command": "ls"}));
    assert_eq!(next.structured["output"], "x\n", "{}", next.text);
    assert!(next.text.contains("is busy, its exports do not apply here"), "{}", next.text);
}

#[test]
fn zsh_does_not_ask_about_a_name_that_resembles_another() {
    let environment = TestEnvironment::new();
    environment.write(".zshrc", "setopt correct correct_all\n");
    let mut server = environment.server(TERMBRIDGE, &["--shell", "zsh"]);
    let unknown = run(&mut server, "gti --version");
    assert_eq!((&unknown["state"], &unknown["exit_code"]), (&json!("done"), &json!(127)));
}
