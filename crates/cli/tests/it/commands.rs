//! Commands over MCP: results, handles, output reading, cancellation, tasks, subscriptions. Long, because one tool
//! has all of these.

use serde_json::{Value, json};
use termbridge_mcp::client::Client;
use termbridge_testkit::{Server, TestEnvironment};

use crate::TERMBRIDGE;

/// Long enough for a machine that does much else; no passing test waits for it.
const PATIENCE_MS: u64 = 40_000;

fn bash(environment: &TestEnvironment) -> Server {
    environment.server(TERMBRIDGE, &["--shell", "bash"])
}

/// Says when it begins and when it is interrupted.
const INTERRUPTIBLE: &str =
    "sh -c 'trap \"touch told; exit 1\" INT; touch begun; sleep 1000 & wait'";

/// Runs a command that must end, and returns its output and exit code.
#[track_caller]
fn run(server: &mut Server, arguments: Value) -> (String, i64) {
    let mut arguments = arguments;
    arguments["timeout_ms"] = PATIENCE_MS.into();
    let shown = arguments.to_string();
    let answer = server.ok("execute_command", arguments).structured;
    assert_eq!(answer["state"], "done", "{shown}: {answer}");
    let output = answer["output"].as_str().expect("output").to_owned();
    (output, answer["exit_code"].as_i64().expect("an exit code"))
}

#[test]
fn a_command_answers_with_all_that_the_contract_names() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let command = "cd / && printf 'one\\ntwo' && false";
    let answer = server.ok("execute_command", json!({"command": command}));
    let fields = &answer.structured;
    assert_eq!(fields["output"], "one\ntwo");
    assert_eq!(fields["exit_code"], 1);
    assert_eq!(fields["cwd"], "/");
    assert_eq!(fields["state"], "done");
    assert_eq!(fields["timed_out"], false);
    assert_eq!(fields["truncated"], false);
    assert_eq!(fields["command_id"], 1);
    assert!(fields["duration_ms"].is_u64() && fields["session_id"].is_string(), "{fields}");
    assert!(answer.text.starts_with("one\ntwo\n[exit 1 | "), "{}", answer.text);
    // A non-zero exit is a result.
    assert!(!answer.is_error);
    let killed = server.ok("execute_command", json!({"command": "sh -c 'kill -KILL $$'"}));
    assert_eq!(killed.structured["exit_code"], 137);
    assert_eq!(killed.structured["signal"], "SIGKILL");
    let resource = fields["resource"].as_str().expect("a resource");
    let read = server.request("resources/read", json!({"uri": resource})).expect("readable");
    assert_eq!(read["contents"][0]["text"], "one\ntwo");
}

#[test]
fn a_session_keeps_its_state_and_pagers_stay_closed() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    run(&mut server, json!({"command": "export A='x y'; f() { echo f:$1; }; cd /usr"}));
    let (output, _) = run(&mut server, json!({"command": "echo \"$A\"; f 1; pwd"}));
    assert_eq!(output, "x y\nf:1\n/usr\n");
    run(
        &mut server,
        json!({"command": "cd && git init -q r && cd r && git config user.email a@b && git config user.name n && for i in 1 2 3; do git commit -q --allow-empty -m c$i; done"}),
    );
    let (log, code) = run(&mut server, json!({"command": "git log --format=%s"}));
    assert_eq!((log.as_str(), code), ("c3\nc2\nc1\n", 0));
    let (kept, _) = run(&mut server, json!({"command": "history | grep -c git"}));
    assert_eq!(kept, "0\n", "agents' commands stay out of the shell's history");
}

#[test]
fn long_output_is_cut_in_the_reply_and_whole_in_the_resource() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let arguments =
        json!({"command": "seq 1 200000", "max_bytes": 1000, "timeout_ms": PATIENCE_MS});
    let answer = server.ok("execute_command", arguments);
    let output = answer.structured["output"].as_str().expect("output");
    assert_eq!(answer.structured["truncated"], true);
    assert!(output.starts_with("1\n2\n") && output.ends_with("199999\n200000\n"), "{output}");
    assert!(
        output.contains(" lines cut: get_terminal_output {\"command_id\":1,\"offset\":"),
        "{output}"
    );
    assert!(output.contains("; all: term://") && output.len() < 1200, "{output}");
    let uri = answer.structured["resource"].clone();
    let read = server.request("resources/read", json!({"uri": uri})).expect("readable");
    let whole = read["contents"][0]["text"].as_str().expect("text");
    let expected = (1..=200_000).map(|n| n.to_string() + "\n").collect::<Vec<_>>().concat();
    assert_eq!(whole.len(), expected.len());
    assert!(whole == expected);
    // Every way of reading a part of it.
    let id = answer.structured["command_id"].clone();
    let mut read = |more: Value| {
        let mut arguments = json!({"command_id": id});
        for (name, value) in more.as_object().expect("an object") {
            arguments[name] = value.clone();
        }
        server.ok("get_terminal_output", arguments).structured
    };
    assert_eq!(read(json!({"lines": 2}))["output"], "199999\n200000\n");
    assert_eq!(read(json!({"offset": 99_999, "lines": 2}))["output"], "100000\n100001\n");
    assert_eq!(read(json!({"offset": 150_000, "lines": 1}))["output"], "150001\n");
    assert_eq!(read(json!({"offset": -3, "lines": 2}))["output"], "199998\n199999\n");
    assert_eq!(read(json!({"offset": 0, "lines": 1}))["total_lines"], 200_000);
    let found = read(json!({"grep": "^1234.$", "offset": 0}));
    assert!(found["output"].as_str().is_some_and(|o| o.starts_with("12340:12340\n")), "{found}");
    let last = read(json!({"grep": "9999$", "lines": 2}));
    assert_eq!(last["output"], "189999:189999\n199999:199999\n");
    // Page by page, nothing is lost and nothing comes twice.
    let mut page = read(json!({"offset": 0, "lines": 30_000, "max_bytes": 1_000_000}));
    let mut all = page["output"].as_str().expect("output").to_owned();
    while page["remaining"] != 0 {
        let since = page["cursor"].clone();
        page = read(json!({"since": since, "lines": 30_000, "max_bytes": 100_000}));
        all.push_str(page["output"].as_str().expect("output"));
    }
    assert!(all == expected);
}

#[test]
fn a_command_that_takes_longer_comes_back_with_a_handle() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let fifo = environment.path().join("go");
    run(&mut server, json!({"command": "mkfifo go"}));
    let command = "echo before; cat go; echo after; exit_with() { return $1; }; exit_with 7";
    let answer = server.ok("execute_command", json!({"command": command, "timeout_ms": 300}));
    let first = answer.structured;
    assert_eq!(
        (&first["state"], &first["timed_out"]),
        (&json!("running"), &json!(true)),
        "{first}"
    );
    assert_eq!(first["output"], "before\n");
    let (session, id) = (first["session_id"].clone(), first["command_id"].clone());
    // Busy: named, it is refused; unnamed, another session takes the command.
    let (code, text) =
        server.error("execute_command", json!({"command": "echo x", "session_id": session}));
    assert_eq!(code, "BUSY", "{text}");
    let other = server.ok("execute_command", json!({"command": "pwd"})).structured;
    assert_ne!(other["session_id"], session);
    assert_eq!(other["output"].as_str().map(str::trim_end), environment.path().to_str());
    let listed = server.ok("list_sessions", json!({})).structured;
    let row = listed["sessions"].as_array().into_iter().flatten();
    let busy = { row }.find(|row| row["session_id"] == session).expect("listed");
    assert_eq!((&busy["busy"], &busy["current"]), (&json!(true), &json!(false)));
    let reading = json!({"session_id": session, "command_id": id});
    let page = server.ok("get_terminal_output", reading).structured;
    assert_eq!((&page["output"], &page["running"]), (&json!("before\n"), &json!(true)));
    std::fs::write(&fifo, "through\n").expect("the command reads it");
    server
        .ok("wait_for", json!({"session_id": session, "prompt": true, "timeout_ms": PATIENCE_MS}));
    let more = json!({"session_id": session, "command_id": id, "since": page["cursor"]});
    let page = server.ok("get_terminal_output", more).structured;
    assert_eq!(page["output"], "through\nafter\n");
    assert_eq!(page["running"], false);
    let (_, code) = run(&mut server, json!({"command": "(exit 5)", "session_id": session}));
    assert_eq!(code, 5, "the session is free again");
}

#[test]
fn a_command_can_be_left_to_run_and_read_later() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let arguments = json!({"command": "echo started; sleep 1000", "timeout_ms": 0});
    let answer = server.ok("execute_command", arguments).structured;
    assert_eq!((&answer["state"], &answer["timed_out"]), (&json!("running"), &json!(false)));
    let session = answer["session_id"].clone();
    let waited = json!({"session_id": session, "text": "started", "timeout_ms": PATIENCE_MS});
    server.ok("wait_for", waited);
    server.ok(
        "send_keys",
        json!({"session_id": session, "keys": "Ctrl+C", "wait": {"prompt": true}}),
    );
    let page = server.ok("get_terminal_output", json!({"session_id": session})).structured;
    let output = page["output"].as_str().expect("output");
    assert!(output.starts_with("$ echo started; sleep 1000\nstarted\n"), "{output}");
    let (_, code) = run(&mut server, json!({"command": "true", "session_id": session}));
    assert_eq!(code, 0);
}

#[test]
fn a_wait_is_not_satisfied_by_the_command_that_asked_for_it() {
    let environment = TestEnvironment::new();
    for shell in ["bash", "zsh", "fish", "dash"] {
        let mut server = environment.server(TERMBRIDGE, &["--shell", shell]);
        run(&mut server, json!({"command": format!("rm -f go-{shell}; mkfifo go-{shell}")}));
        // The shell shows the line, and the program prints its last word only when it is told to.
        let command = format!("cat go-{shell}; echo FINISHED");
        let begun = server.ok("execute_command", json!({"command": command, "timeout_ms": 0}));
        let session = begun.structured["session_id"].clone();
        let seen = json!({"session_id": session, "text": "FINISHED", "timeout_ms": 700});
        let waited = server.ok("wait_for", seen).structured;
        assert_eq!(waited["timed_out"], true, "{shell}: {waited}");
        let screen = server.ok("view_screen", json!({"session_id": session})).text;
        assert!(screen.contains(&command), "{shell} shows the command:\n{screen}");
        std::fs::write(environment.path().join(format!("go-{shell}")), "").expect("it reads it");
        let seen = json!({"session_id": session, "text": "FINISHED", "timeout_ms": PATIENCE_MS});
        let waited = server.ok("wait_for", seen).structured;
        assert_eq!(waited["fired"], "text", "{shell}: {waited}");
    }
}

#[test]
fn what_is_typed_for_a_command_reaches_it_and_not_the_shell() {
    let environment = TestEnvironment::new();
    for shell in ["bash", "zsh", "fish", "dash"] {
        let mut server = environment.server(TERMBRIDGE, &["--shell", shell]);
        for _ in 0..5 {
            let sleep = json!({"command": "sleep 1000", "timeout_ms": 0});
            let begun = server.ok("execute_command", sleep).structured;
            let session = begun["session_id"].clone();
            let interrupt = json!({"session_id": session, "keys": "Ctrl+C",
                "wait": {"prompt": true, "timeout_ms": PATIENCE_MS}});
            server.ok("send_keys", interrupt);
            let sum = json!({"command": "sh -c 'read line; echo got $line'", "timeout_ms": 0,
                "session_id": session});
            let id = server.ok("execute_command", sum).structured["command_id"].clone();
            let keys = json!({"session_id": session, "keys": "early<Enter>",
                "wait": {"prompt": true, "timeout_ms": PATIENCE_MS}});
            server.ok("send_keys", keys);
            let read = json!({"session_id": session, "command_id": id});
            let output = server.ok("get_terminal_output", read).structured["output"].clone();
            let output = output.as_str().unwrap_or_default().to_owned();
            assert!(output.ends_with("got early\n"), "{shell}: {output:?}");
        }
    }
}

#[test]
fn a_question_is_told_and_can_be_answered() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let table = [
        ("read -p 'Name? ' name; echo \"hello $name\"", "on", "Name? "),
        ("read -s -p 'Password: ' p; echo; echo ${#p}", "off", "Password: "),
    ];
    for (command, echo, prompt) in table {
        let arguments = json!({"command": command, "timeout_ms": PATIENCE_MS});
        let answer = server.ok("execute_command", arguments).structured;
        assert_eq!(answer["state"], "needs_input", "{answer}");
        assert_eq!((&answer["echo"], &answer["output"]), (&json!(echo), &json!(prompt)));
        let session = answer["session_id"].clone();
        server.ok(
            "send_keys",
            json!({"session_id": session, "keys": "agent<Enter>", "wait": {"prompt": true}}),
        );
        let id = answer["command_id"].clone();
        let page =
            server.ok("get_terminal_output", json!({"session_id": session, "command_id": id}));
        let output = page.structured["output"].as_str().expect("output").to_owned();
        let end = if echo == "on" { "hello agent\n" } else { "5\n" };
        assert!(output.ends_with(end), "{output}");
        assert_eq!(output.contains("agent"), echo == "on", "a password is not shown: {output}");
    }
}

#[test]
fn a_person_alone_may_type_a_password_where_the_policy_says_so() {
    let environment = TestEnvironment::new();
    environment.write(".config/termbridge/config.toml", "[policy]\nsecrets_by_person = true\n");
    let mut server = bash(&environment);
    let arguments = json!({"command": "read -s -p 'Password: ' p", "timeout_ms": PATIENCE_MS});
    let session = server.ok("execute_command", arguments).structured["session_id"].clone();
    let (code, text) =
        server.error("send_keys", json!({"session_id": session, "keys": "x<Enter>"}));
    assert_eq!(code, "FORBIDDEN");
    assert!(text.contains("a terminal of their own"), "what a user can do: {text}");
    let keys = json!({"session_id": session, "keys": "Ctrl+C", "wait": {"prompt": true}});
    server.ok("send_keys", keys);
    let typed = json!({"session_id": session, "keys": "read -s p<Enter>secret<Enter>"});
    let (code, text) = server.error("send_keys", typed);
    assert_eq!(code, "FORBIDDEN", "{text}");
    server.ok("send_keys", json!({"session_id": session, "keys": "Ctrl+C"}));
    let arguments = json!({"command": "read -p 'Name: ' p", "timeout_ms": PATIENCE_MS});
    let session = server.ok("execute_command", arguments).structured["session_id"].clone();
    server.ok("send_keys", json!({"session_id": session, "keys": "x<Enter>"}));
}

#[test]
fn command_lines_are_logged_at_debug_alone() {
    for (level, shown) in [("info", false), ("debug", true)] {
        let environment = TestEnvironment::new();
        let log = environment.path().join("log");
        let path = log.display().to_string();
        let mut server = environment
            .server(TERMBRIDGE, &["--shell", "bash", "--log-level", level, "--log-file", &path]);
        server.ok("execute_command", json!({"command": "echo token-in-a-command"}));
        server.error("execute_command", json!({"command": "rm -rf / # token-refused"}));
        server.launch(json!({"command": "true", "args": ["token-in-arguments"]}));
        server.close();
        let log = std::fs::read_to_string(log).expect("a log");
        assert!(log.contains("launched"), "{log}");
        for token in ["token-in-a-command", "token-refused", "token-in-arguments"] {
            assert_eq!(log.contains(token), shown, "{level}, {token}: {log}");
        }
    }
}

#[test]
fn a_full_screen_program_gives_its_screen() {
    let environment = TestEnvironment::new();
    environment.write("notes.txt", "the text of the file\n");
    let mut server = bash(&environment);
    let command = "vim --clean notes.txt";
    let answer =
        server.ok("execute_command", json!({"command": command, "timeout_ms": 0})).structured;
    let session = answer["session_id"].clone();
    let shown = json!({"session_id": session, "text": "the text of", "timeout_ms": PATIENCE_MS});
    server.ok("wait_for", shown);
    let keys = json!({"session_id": session, "keys": ":q<Enter>", "wait": {"prompt": true}});
    server.ok("send_keys", keys);
    let answer =
        server.ok("execute_command", json!({"command": command, "timeout_ms": PATIENCE_MS}));
    let screen = answer.structured["screen"].as_str().unwrap_or_default();
    assert_eq!(answer.structured["state"], "interactive");
    assert!(screen.contains("the text of the file"), "{}", answer.structured);
    assert!(answer.text.contains("the text of the file"), "{}", answer.text);
}

#[test]
fn a_directory_can_be_given() {
    let environment = TestEnvironment::new();
    let folder = environment.path().join("it's a folder");
    std::fs::create_dir(&folder).expect("folders can be made");
    let mut server = bash(&environment);
    let first = server.ok("execute_command", json!({"command": "pwd"})).structured;
    let there = server.ok("execute_command", json!({"command": "pwd", "cwd": folder})).structured;
    assert_eq!(first["session_id"], there["session_id"]);
    assert_eq!(there["output"].as_str().map(str::trim_end), folder.to_str());
    assert_eq!(there["cwd"], first["cwd"], "the shell returns");
    let moved =
        json!({"command": "pwd", "cwd": "it's a folder", "session_id": first["session_id"]});
    let moved = server.ok("execute_command", moved).structured;
    assert_eq!(moved["cwd"].as_str(), folder.to_str(), "a named session changes to it");
    let stays = json!({"command": "pwd", "session_id": first["session_id"]});
    let stays = server.ok("execute_command", stays).structured;
    assert_eq!(stays["output"].as_str().map(str::trim_end), folder.to_str(), "and stays");
    let (code, text) = server.error("execute_command", json!({"command": "true", "cwd": "/nope"}));
    assert_eq!(code, "INVALID_INPUT");
    assert!(text.contains("/nope: it does not exist"), "{text}");
}

#[test]
fn the_shell_of_a_session_can_be_chosen() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let table = [
        ("bash", "echo ${BASH_VERSION:+bash}"),
        ("zsh", "echo ${ZSH_VERSION:+zsh}"),
        ("fish", "test -n \"$FISH_VERSION\"; and echo fish"),
        ("dash", "echo ${BASH_VERSION:-dash}"),
    ];
    for (shell, command) in table {
        let (output, _) = run(&mut server, json!({"command": command, "shell": shell}));
        assert_eq!(output, format!("{shell}\n"));
    }
    let env = json!({"command": "echo $X$PAGER", "env": {"X": "1"}});
    assert_eq!(run(&mut server, env).0, "1cat\n");
    let (code, text) = server.error("create_session", json!({"shell": "no-such-shell"}));
    assert_eq!(code, "INVALID_INPUT", "{text}");
}

#[test]
fn an_exit_ends_the_session_and_says_so() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let ended = server.ok("execute_command", json!({"command": "echo bye; exit 3"})).structured;
    assert_eq!(
        (&ended["exit_code"], &ended["session_ended"]),
        (&json!(3), &json!(true)),
        "{ended}"
    );
    assert_eq!(ended["output"], "bye\n");
    let named = json!({"command": "true", "session_id": ended["session_id"]});
    let (code, _) = server.error("execute_command", named);
    assert_eq!(code, "SESSION_DEAD");
    let (output, _) = run(&mut server, json!({"command": "echo new"}));
    assert_eq!(output, "new\n");
}

#[test]
fn text_that_is_no_whole_command_is_refused() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    for command in ["echo 'open", "for i in 1 2", "cat <<EOF\nx"] {
        let (code, text) = server.error("execute_command", json!({"command": command}));
        assert_eq!(code, "INVALID_INPUT", "{command}: {text}");
    }
    assert_eq!(run(&mut server, json!({"command": "echo fine"})).0, "fine\n");
}

#[test]
fn one_command_runs_in_many_sessions() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let mut ids = Vec::new();
    for number in 1..=3 {
        let created = server.ok("create_session", json!({"name": format!("n{number}")})).structured;
        let id = created["session_id"].clone();
        run(&mut server, json!({"command": format!("N={number}"), "session_id": id}));
        ids.push(id);
    }
    ids.push(json!("nosuchsession"));
    let arguments = json!({"command": "echo $N; (exit $N)", "session_ids": ids});
    let answer = server.ok("execute_command", arguments);
    let results = answer.structured["results"].as_array().expect("results").clone();
    for (index, result) in results.iter().take(3).enumerate() {
        assert_eq!(result["result"]["output"], format!("{}\n", index + 1));
        assert_eq!(result["result"]["exit_code"], index + 1);
    }
    assert_eq!(results[3]["ok"], false);
    assert!(answer.text.contains("[SESSION_NOT_FOUND]"), "{}", answer.text);
}

#[test]
fn steps_use_what_earlier_ones_returned() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let steps = json!({"steps": [
        {"tool": "create_session", "arguments": {"cwd": "/usr"}, "save_as": "made"},
        {"tool": "execute_command", "save_as": "first",
         "arguments": {"session_id": "${made.session_id}", "command": "pwd; X=${Y:-kept}; echo $X"}},
        {"tool": "execute_command",
         "arguments": {"session_id": "${made.session_id}", "command": "echo 'it said ${first.exit_code}'"}},
        {"tool": "get_terminal_output",
         "arguments": {"session_id": "${made.session_id}", "command_id": "${first.command_id}"}},
    ]});
    let answer = server.ok("run_steps", steps).structured;
    let result = |index: usize| answer["steps"][index]["result"]["output"].clone();
    assert_eq!(result(1), "/usr\nkept\n");
    assert_eq!(result(2), "it said 0\n");
    assert_eq!(result(3), "/usr\nkept\n");
    // The first failure ends it, and it is said what ran.
    let here = environment.path();
    let steps = json!({"steps": [
        {"tool": "execute_command", "arguments": {"command": "echo one", "cwd": here}},
        {"tool": "execute_command", "arguments": {"command": "false", "cwd": here}},
        {"tool": "execute_command", "arguments": {"command": "touch never", "cwd": here}},
    ]});
    let answer = server.call("run_steps", steps.clone()).expect("answers");
    assert!(answer.is_error);
    assert_eq!(answer.structured["skipped"], 1);
    assert!(!environment.path().join("never").exists());
    let mut all = steps;
    all["stop_on_error"] = false.into();
    let answer = server.call("run_steps", all).expect("answers");
    assert_eq!(answer.structured["steps"].as_array().map(Vec::len), Some(3));
    assert!(environment.path().join("never").exists());
    // Faults are found before anything runs.
    for (step, word) in [
        (json!({"tool": "no_such_tool"}), "unknown tool"),
        (json!({"tool": "run_steps"}), "run_steps itself"),
        (json!({"tool": "execute_command", "arguments": {"command": "${x.y}"}}), "no step before"),
    ] {
        let first = json!({"tool": "execute_command",
            "arguments": {"command": "touch early", "cwd": here}});
        let (code, text) = server.error("run_steps", json!({"steps": [first, step]}));
        assert_eq!(code, "INVALID_INPUT");
        assert!(text.contains(word), "{text}");
    }
    assert!(!environment.path().join("early").exists());
}

#[test]
fn steps_fail_by_what_their_answers_say() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let id = server.ok("create_session", json!({})).structured["session_id"].clone();
    let table = [
        json!({"tool": "execute_command", "arguments": {"command": "false", "session_ids": [id]}}),
        json!({"tool": "execute_command", "arguments": {"command": "sleep 100", "timeout_ms": 50}}),
        json!({"tool": "wait_for",
            "arguments": {"session_id": id, "text": "no such text", "timeout_ms": 50}}),
    ];
    for step in table {
        let after = json!({"tool": "list_sessions"});
        let answer = server.call("run_steps", json!({"steps": [step, after]})).expect("answers");
        assert!(answer.is_error && answer.structured["skipped"] == 1, "{step}: {}", answer.text);
    }
    let literal = json!({"tool": "execute_command",
        "arguments": {"command": "echo '$${project.version}'", "name": "other"}});
    let answer = server.ok("run_steps", json!({"steps": [literal]})).structured;
    assert_eq!(answer["steps"][0]["result"]["output"], "${project.version}\n");
}

#[test]
fn marks_that_a_program_prints_change_nothing() {
    let environment = TestEnvironment::new();
    for shell in ["bash", "zsh", "fish", "dash"] {
        let mut server = environment.server(TERMBRIDGE, &["--shell", shell]);
        let mark = "printf '\\033]633;D;0\\007\\033]133;D;0\\007\\033]633;B\\007\\033]133;B\\007'";
        // fish reads with its line editor.
        let state = if shell == "fish" { "interactive" } else { "needs_input" };
        let asks = json!({"command": format!("{mark}; read x; sh -c 'exit 9'"),
            "timeout_ms": PATIENCE_MS});
        let answer = server.ok("execute_command", asks).structured;
        assert_eq!(answer["state"], state, "{shell}: {answer}");
        let (session, id) = (answer["session_id"].clone(), answer["command_id"].clone());
        let busy = json!({"command": "echo NEXT", "session_id": session});
        assert_eq!(server.error("execute_command", busy).0, "BUSY", "{shell}");
        let wait = json!({"prompt": true, "timeout_ms": PATIENCE_MS});
        server.ok("send_keys", json!({"session_id": session, "keys": "x<Enter>", "wait": wait}));
        let uri = format!("term://{}/command/{id}", session.as_str().expect("an id"));
        server.request("resources/read", json!({"uri": uri})).expect("readable");
        let (output, code) =
            run(&mut server, json!({"command": "echo NEXT", "session_id": session}));
        assert_eq!((output.as_str(), code), ("NEXT\n", 0), "{shell}");
    }
}

#[test]
fn what_is_redrawn_is_read_again_and_nothing_is_lost() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    run(&mut server, json!({"command": "mkfifo go"}));
    let table = [
        (
            "printf 'a: 1%%\\nb: 1%%\\n'; cat go; printf '\\033[2Aa: 100%%\\nb: 100%%\\n'; echo done",
            "a: 100%\nb: 100%\ndone\n",
        ),
        ("seq 1 50; cat go; printf '\\033[H\\033[2J'; echo done", "done\n"),
        ("printf 'no end'; cat go; echo ' of line'", " of line\n"),
        ("seq 1 3; cat go; seq 4 5", "4\n5\n"),
    ];
    for (command, then) in table {
        let begun = server.ok("execute_command", json!({"command": command, "timeout_ms": 400}));
        let begun = begun.structured;
        assert_eq!(begun["state"], "running", "{begun}");
        let read = json!({"command_id": begun["command_id"], "session_id": begun["session_id"]});
        let first = server.ok("get_terminal_output", read.clone()).structured;
        std::fs::write(environment.path().join("go"), "").expect("the command reads it");
        let prompt = json!({"session_id": begun["session_id"], "prompt": true,
            "timeout_ms": PATIENCE_MS});
        server.ok("wait_for", prompt);
        let mut next = read;
        next["since"] = first["cursor"].clone();
        let page = server.ok("get_terminal_output", next.clone()).structured;
        assert_eq!(page["output"], then, "{command}: {first}");
        assert_eq!(page["remaining"], 0, "{command}");
        next["since"] = page["cursor"].clone();
        let last = server.ok("get_terminal_output", next).structured;
        assert_eq!((&last["output"], &last["remaining"]), (&json!(""), &json!(0)), "{command}");
    }
}

#[test]
fn pages_of_a_session_lose_no_line() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let fresh = server.ok("create_session", json!({})).structured["session_id"].clone();
    let start = server.ok("get_terminal_output", json!({"session_id": fresh})).structured;
    for command in ["echo first", "echo a\necho b", "printf noeol", "echo c"] {
        run(&mut server, json!({"command": command, "session_id": fresh}));
    }
    let whole = "$ echo first\nfirst\n$ echo a\necho b\na\nb\n$ printf noeol\nnoeol\n$ echo c\nc\n";
    for lines in 1..8 {
        let mut all = String::new();
        let mut page = json!({"cursor": start["cursor"], "remaining": 1});
        while page["remaining"] != 0 {
            let next = json!({"session_id": fresh, "since": page["cursor"], "lines": lines});
            page = server.ok("get_terminal_output", next).structured;
            all.push_str(page["output"].as_str().expect("output"));
        }
        assert_eq!(all, whole, "{lines} at a time");
    }
}

#[test]
fn numbers_go_on_and_history_stays_when_a_shell_is_restarted() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let first = server.ok("execute_command", json!({"command": "echo beforerestart"})).structured;
    let session = first["session_id"].clone();
    server.ok("restart_app", json!({"session_id": session}));
    let next = json!({"command": "echo afterrestart", "session_id": session});
    let second = server.ok("execute_command", next).structured;
    assert_eq!((&first["command_id"], &second["command_id"]), (&json!(1), &json!(2)));
    for word in ["beforerestart", "afterrestart"] {
        let found = server.ok("search_history", json!({"query": word})).structured;
        assert_eq!(found["entries"].as_array().map(Vec::len), Some(1), "{word}");
    }
}

#[test]
fn a_shell_has_to_be_one() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    for shell in ["python3", "rm", "/bin/cat", "no-such-shell"] {
        for (tool, arguments) in
            [("create_session", json!({})), ("execute_command", json!({"command": "true"}))]
        {
            let mut arguments = arguments;
            arguments["shell"] = shell.into();
            assert_eq!(server.error(tool, arguments).0, "INVALID_INPUT", "{tool} {shell}");
        }
    }
    let hidden = json!({"command": "true", "env": {"PROMPT_COMMAND": "rm -rf /"}});
    assert_eq!(server.error("execute_command", hidden).0, "COMMAND_BLOCKED");
    run(&mut server, json!({"command": "true", "shell": ""}));
}

#[test]
fn a_cancelled_call_interrupts_the_command() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let call = json!({"name": "execute_command", "arguments": {
        "command": INTERRUPTIBLE, "timeout_ms": 1_000_000}});
    let id = server.begin("tools/call", call).expect("sent");
    crate::support::await_file(&environment.path().join("begun"));
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": id}});
    server.send(&cancel).expect("sent");
    crate::support::await_file(&environment.path().join("told"));
    let sessions = server.ok("list_sessions", json!({})).structured;
    let session = sessions["sessions"][0]["session_id"].clone();
    let prompt = json!({"session_id": session, "prompt": true, "timeout_ms": PATIENCE_MS});
    server.ok("wait_for", prompt);
    let (output, _) = run(&mut server, json!({"command": "echo free", "session_id": session}));
    assert_eq!(output, "free\n");
    // A cancelled request gets no reply.
    let ping = server.begin("ping", json!({})).expect("sent");
    let answered = server.receive(|message| message["id"] == id || message["id"] == ping);
    assert_eq!(answered.expect("answers")["id"], ping);
}

#[test]
fn progress_tells_the_last_line() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    run(&mut server, json!({"command": "mkfifo go"}));
    let call = json!({"name": "execute_command", "_meta": {"progressToken": "p"},
        "arguments": {"command": "echo working on it; cat go", "timeout_ms": PATIENCE_MS}});
    let id = server.begin("tools/call", call).expect("sent");
    let progress = server
        .receive(|message| message["method"] == "notifications/progress")
        .expect("progress is reported");
    assert_eq!(progress["params"]["progressToken"], "p");
    let message = progress["params"]["message"].as_str().expect("a message");
    assert!(message.ends_with("14 bytes: working on it"), "{message}");
    std::fs::write(environment.path().join("go"), "").expect("the command reads it");
    let result = server.finish(id).expect("answers");
    assert_eq!(result["structuredContent"]["exit_code"], 0);
}

#[test]
fn a_client_that_speaks_tasks_gets_a_task_for_a_long_command() {
    let environment = TestEnvironment::new();
    let command = &mut environment.command(TERMBRIDGE);
    let mut client = Client::start(command.args(["mcp", "--shell", "bash"])).expect("starts");
    let hello = json!({"protocolVersion": "2025-11-25",
        "capabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
        "clientInfo": {"name": "test", "version": "1"}});
    client.request("initialize", hello).expect("answers");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).expect("sent");
    let call = |command: &str| json!({"name": "execute_command", "arguments": {"command": command, "timeout_ms": 90_000}});
    let quick = client.request("tools/call", call("mkfifo go; echo quick")).expect("answers");
    assert_eq!(quick["structuredContent"]["output"], "quick\n", "a quick one is answered at once");
    let long = client.request("tools/call", call("cat go; (exit 4)")).expect("answers");
    assert_eq!(long["resultType"], "task", "{long}");
    let id = long["taskId"].clone();
    let get =
        |client: &mut Client| client.request("tasks/get", json!({"taskId": id})).expect("known");
    assert_eq!(get(&mut client)["status"], "working");
    std::fs::write(environment.path().join("go"), "told\n").expect("the command reads it");
    let done = loop {
        let task = get(&mut client);
        if task["status"] != "working" {
            break task;
        }
    };
    assert_eq!(done["status"], "completed");
    assert_eq!(done["result"]["structuredContent"]["output"], "told\n");
    assert_eq!(done["result"]["structuredContent"]["exit_code"], 4);
    // Cancelled, it interrupts.
    let long = client.request("tools/call", call(INTERRUPTIBLE)).expect("ok");
    client.request("tasks/cancel", json!({"taskId": long["taskId"]})).expect("cancelled");
    crate::support::await_file(&environment.path().join("told"));
}

#[test]
fn a_subscriber_hears_of_output_and_of_the_end() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    run(&mut server, json!({"command": "mkfifo go"}));
    let arguments = json!({"command": "cat go; cat go", "timeout_ms": 0});
    let answer = server.ok("execute_command", arguments).structured;
    let uri = answer["resource"].clone();
    server.request("resources/subscribe", json!({"uri": uri})).expect("subscribed");
    let updated = |message: &Value| {
        message["method"] == "notifications/resources/updated" && message["params"]["uri"] == uri
    };
    for text in ["one\n", "two\n"] {
        std::fs::write(environment.path().join("go"), text).expect("the command reads it");
        let mut seen = String::new();
        while !seen.ends_with(text) {
            server.receive(updated).expect("told");
            let read = server.request("resources/read", json!({"uri": uri})).expect("readable");
            seen = read["contents"][0]["text"].as_str().expect("text").to_owned();
        }
    }
    server.request("resources/unsubscribe", json!({"uri": uri})).expect("unsubscribed");
    for bad in ["term://sessions", "term://none/output", "file:///etc/passwd", "nonsense"] {
        assert!(server.request("resources/subscribe", json!({"uri": bad})).is_err(), "{bad}");
    }
}

#[test]
fn prompts_are_offered() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let list = server.request("prompts/list", json!({})).expect("lists");
    let names: Vec<&str> = list["prompts"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|p| p["name"].as_str())
        .collect();
    assert_eq!(names, ["run_and_fix", "drive_tui", "debug_failing_test"]);
    let asked = json!({"name": "run_and_fix", "arguments": {"command": "make test"}});
    let prompt = server.request("prompts/get", asked).expect("given");
    let text = prompt["messages"][0]["content"]["text"].as_str().expect("text");
    assert!(text.starts_with("Run `make test` with execute_command."), "{text}");
    assert!(server.request("prompts/get", json!({"name": "run_and_fix"})).is_err());
    assert!(server.request("prompts/get", json!({"name": "none"})).is_err());
}

#[test]
fn a_time_out_of_nothing_starts_the_command_and_returns() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    for timeout in [0, 1] {
        let command = format!("touch began-{timeout}; cat");
        let arguments = json!({"command": command, "timeout_ms": timeout, "name": command});
        let answer = server.ok("execute_command", arguments).structured;
        assert_eq!(answer["state"], "running", "{answer}");
        let session = answer["session_id"].clone();
        server.ok(
            "wait_for",
            json!({"session_id": session, "needs_input": true,
            "timeout_ms": PATIENCE_MS}),
        );
        assert!(environment.path().join(format!("began-{timeout}")).exists());
    }
}

#[test]
fn the_text_says_what_the_caller_cannot_know() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let mut text = |arguments: Value| server.ok("execute_command", arguments).text;
    let home = environment.path().display();
    assert_eq!(text(json!({"command": "echo hi"})), format!("hi\n[exit 0 | {home}]"));
    assert_eq!(text(json!({"command": "false"})), "[exit 1]");
    assert_eq!(text(json!({"command": "cd /usr"})), "[exit 0 | /usr]");
    assert_eq!(text(json!({"command": "pwd"})), "/usr\n[exit 0]");
    let running = text(json!({"command": "echo begun; sleep 1000", "timeout_ms": 0}));
    let (_, id) =
        running.split_once("read on: get_terminal_output {\"session_id\":\"").expect("a call");
    let (id, since) = id.split_once("\",\"since\":\"").expect("a cursor");
    assert!(since.starts_with("5:") && running.ends_with("}]"), "{running}");
    let id = id.to_owned();
    // Another session is named, and where it is, and how it is read.
    let other =
        text(json!({"command": "seq 100; sleep 1000", "timeout_ms": 500, "max_bytes": 256}));
    assert!(other.contains("| /usr | other session "), "{other}");
    assert!(other.ends_with(&format!("| {id} is busy, its exports do not apply here]")), "{other}");
    let (_, call) = other.split_once("cut: get_terminal_output ").expect("a call");
    let call = &call[..=call.find('}').expect("an end")];
    let (_, read_on) = other.split_once("read on: get_terminal_output ").expect("a call");
    let read_on = &read_on[..=read_on.find('}').expect("an end")];
    let read = |server: &mut Server, call: &str| {
        let call = serde_json::from_str(call).expect("JSON");
        server.ok("get_terminal_output", call).structured["output"].clone()
    };
    let rest = read(&mut server, call);
    assert!(rest.as_str().is_some_and(|rest| rest.contains("\n60\n61\n")), "{call}: {rest}");
    // What was read is not read again.
    let mut read_on: Value = serde_json::from_str(read_on).expect("JSON");
    read_on["wait_ms"] = 0.into();
    assert_eq!(read(&mut server, &read_on.to_string()), "");
}

#[test]
fn a_directory_cannot_write_footers() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let name = "$'d\\e[31m\\n[exit 0 | ok'";
    let arguments = json!({"command": format!("mkdir {name} && cd {name} && false")});
    let text = server.ok("execute_command", arguments).text;
    assert!(text.starts_with("[exit 1 | ") && text.lines().count() == 1, "{text}");
    let listed = server.ok("list_sessions", json!({})).text;
    assert!(!listed.contains('\u{1b}') && listed.lines().count() == 1, "{listed}");
}

#[test]
fn what_takes_the_place_of_the_current_session_becomes_it() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    run(&mut server, json!({"command": "true"}));
    run(&mut server, json!({"command": "true", "cwd": "/etc"}));
    server.ok("execute_command", json!({"command": "exit 4"}));
    run(&mut server, json!({"command": "cd /usr"}));
    let (output, _) = run(&mut server, json!({"command": "pwd"}));
    assert_eq!(output, "/usr\n");
}

#[test]
fn sessions_that_all_fail_are_an_error() {
    let environment = TestEnvironment::new();
    let mut server = bash(&environment);
    let all = json!({"command": "true", "session_ids": ["a", "b"]});
    assert!(server.call("execute_command", all).expect("an answer").is_error);
}

#[test]
fn a_full_reply_of_steps_still_says_how_each_ended() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let long = json!({"tool": "execute_command", "arguments": {"command": "seq 1 20000"}});
    let last = "echo paid; seq 1 2000; echo 'error: card declined'; (exit 3)";
    let last = json!({"tool": "execute_command", "arguments": {"command": last}});
    let steps = json!({"steps": [long, long, long, last]});
    let answer = server.call("run_steps", steps).expect("answers");
    assert!(answer.text.contains("== 4 execute_command failed"), "{}", answer.text);
    let (_, end) = answer.text.split_once("== 4 ").expect("the step");
    assert!(end.contains("error: card declined") && end.contains("[exit 3"), "{end}");
    assert!(end.contains("the reply is full; get_terminal_output {"), "{end}");
    assert!(!answer.text.contains("run this step by itself"));
    assert_eq!(answer.structured["steps"][3]["result"]["exit_code"], 3);
    // A program that asks is no failure: the next step answers it.
    let asks = json!({"tool": "execute_command", "save_as": "asked",
        "arguments": {"command": "read x; echo got $x"}});
    let answers = json!({"tool": "send_keys", "arguments": {"session_id": "${asked.session_id}",
        "keys": "yes<Enter>", "wait": {"text": "got yes"}}});
    let answer = server.ok("run_steps", json!({"steps": [asks, answers]}));
    assert!(answer.text.contains("got yes"), "{}", answer.text);
    // What can be used is said.
    let made =
        json!({"tool": "execute_command", "save_as": "made", "arguments": {"command": "echo a"}});
    let uses = |what: &str| json!({"tool": "execute_command", "arguments": {"command": what}});
    let steps = json!({"steps": [made, uses("echo ${made.stdout}")]});
    let answer = server.call("run_steps", steps).expect("answers");
    assert!(
        answer.text.contains("made has: ") && answer.text.contains("output"),
        "{}",
        answer.text
    );
    let (_, text) = server.error("run_steps", json!({"steps": [made, uses("echo ${made}")]}));
    assert!(text.contains("without a field"), "{text}");
}

#[test]
fn a_search_says_what_it_leaves_out() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    server.ok("execute_command", json!({"command": "seq 1 2000"}));
    let text =
        server.ok("get_terminal_output", json!({"command_id": 1, "grep": "9$", "lines": 3})).text;
    assert!(text.contains("1999") && text.contains("197 earlier matches"), "{text}");
    let long = "head -c 20000 /dev/zero | tr '\\0' x; echo NEEDLE; echo short NEEDLE";
    server.ok("execute_command", json!({"command": long}));
    let text = server.ok("get_terminal_output", json!({"command_id": 2, "grep": "NEEDLE"})).text;
    assert_eq!(text.matches("NEEDLE").count(), 2, "{text}");
    assert!(!text.contains("earlier matches"), "{text}");
}

#[test]
fn an_empty_argument_is_one_that_is_not_given() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let arguments =
        json!({"command": "echo hi", "name": "", "agent_id": "", "cwd": "", "session_id": ""});
    let first = server.ok("execute_command", arguments).structured;
    let again = server.ok("execute_command", json!({"command": "echo hi"})).structured;
    assert_eq!(first["session_id"], again["session_id"]);
    let id = &first["session_id"];
    let wait = json!({"session_id": id, "text": "", "regex": "never", "timeout_ms": 50});
    assert_eq!(server.ok("wait_for", wait).structured["timed_out"], true);
    let (_, text) = server.error("wait_for", json!({"session_id": id, "text": ""}));
    assert!(text.contains("no condition"), "{text}");
}

#[test]
fn a_session_that_was_switched_to_is_used_whosever_it_is() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let own = json!({"command": "export V=1", "agent_id": "A"});
    let id = server.ok("execute_command", own).structured["session_id"].clone();
    server.ok("execute_command", json!({"command": "true"}));
    server.ok("switch_session", json!({"session_id": id}));
    let answer = server.ok("execute_command", json!({"command": "echo V=$V"}));
    assert_eq!(answer.structured["output"], "V=1\n", "{}", answer.text);
    // The call that reads on has all that it needs.
    let runs = json!({"command": "echo 1; sleep 1; echo 2", "agent_id": "B", "timeout_ms": 100});
    let text = server.ok("execute_command", runs).text;
    let (_, call) = text.split_once("read on: get_terminal_output ").expect("a call");
    let call = call.split_once('}').expect("its end").0.to_owned() + "}";
    let call: serde_json::Value = serde_json::from_str(&call).expect("arguments");
    assert!(server.ok("get_terminal_output", call).text.contains('2'));
}
