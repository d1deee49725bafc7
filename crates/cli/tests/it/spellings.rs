//! Arguments as models write them: accepted where they have one meaning, though no schema says so.

use serde_json::json;
use termbridge_testkit::TestEnvironment;

use crate::TERMBRIDGE;

#[test]
fn numbers_reasons_keys_and_names_are_accepted_as_models_write_them() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let id = server.launch(json!({
        "command": "sed", "args": "-u s/meow/purr/", "cols": "100", "rows": "30.0", "name": "pet",
        "description": "A cat to talk to",
    }));
    let size = server.ok("get_screen_size", json!({"session_id": "pet"})).structured;
    assert_eq!(size, json!({"rows": 30, "cols": 100}));
    let typed = server.ok(
        "send_keys",
        json!({
            "sessionId": "pet", "keys": ["meow", "Enter"],
            "wait": {"text": "purr", "timeout_ms": "20000"}, "view": "plain",
        }),
    );
    assert!(typed.text.contains("meow\npurr"), "{}", typed.text);
    let ran = server.ok(
        "execute_command",
        json!({"command": "echo $((40 + 2))", "timeout_ms": "20000", "description": "Adds"}),
    );
    assert_eq!(ran.structured["output"], "42\n");
    let newest = server.ok("search_history", json!({"limit": "1"}));
    assert!(newest.text.contains("echo $((40 + 2))"), "{}", newest.text);
    let stopped = server.ok("stop_app", json!({"session_id": "pet", "grace_ms": "2000"}));
    assert_eq!(stopped.structured["success"], true);
    // One that has ended can still be read by its name.
    let read = server.ok("get_terminal_output", json!({"session_id": "pet"})).structured;
    assert_eq!(read["session_id"], json!(id));
}

#[test]
fn a_session_of_a_name_is_found_by_it_where_an_id_is_expected() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let mut made = |name: &str| {
        let made = server.ok("create_session", json!({"name": name})).structured;
        made["session_id"].as_str().expect("an id").to_owned()
    };
    let (first, second) = (made("first"), made("second"));
    server.ok("switch_session", json!({"session_id": "first"}));
    let ran = server.ok("execute_command", json!({"command": "true"})).structured;
    assert_eq!(ran["session_id"], json!(first));
    let both = json!({"command": "echo hi", "session_ids": ["first", second]});
    let both = server.ok("execute_command", both).structured;
    assert_eq!(both["results"][0]["session_id"], json!(first));
    assert_eq!(both["results"][1]["session_id"], json!(second));
    assert_eq!(server.error("view_screen", json!({"session_id": "third"})).0, "SESSION_NOT_FOUND");
    // Of several that have ended, the newest.
    for text in ["one", "two", "three"] {
        server.launch(
            json!({"command": "echo", "args": [text], "name": "third", "wait": {"exit": true}}),
        );
    }
    let newest = server.ok("view_screen", json!({"session_id": "third"}));
    assert!(newest.text.starts_with("three\n"), "{}", newest.text);
    let stopped = server.ok("stop_app", json!({"session_id": "third"})).structured;
    assert_eq!(stopped["already_ended"], true, "{stopped}");
}

#[test]
fn a_command_line_is_a_program_and_its_arguments() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let mut shown = |arguments| server.ok("launch_app", arguments).text;
    assert!(shown(json!({"command": "printf '[%s]' 'a b' c"})).contains("[a b][c]"));
    let split = shown(json!({"command": "printf", "args": "'[%s]' 'a b' c"}));
    assert!(split.contains("[a b][c]"), "{split}");
    // A program whose name has a blank is that program.
    let tool = environment.write("my tool", "#!/bin/sh\necho \"whole $#\"\n");
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("executable");
    assert!(shown(json!({"command": tool})).contains("whole 0"));
}

#[test]
fn values_that_mean_a_text_are_accepted_and_null_is_named() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let env = json!({"PORT": 3000, "X": true});
    let ran = json!({"command": "echo $PORT $X", "env": env});
    let ran = server.ok("execute_command", ran).structured;
    assert_eq!(ran["output"], "3000 true\n");
    let as_text = json!({"command": "echo $PORT $X", "env": "{\"PORT\": 3000, \"X\": \"6\"}"});
    assert_eq!(server.ok("execute_command", as_text).structured["output"], "3000 6\n");
    let number = format!("#{}", ran["command_id"]);
    let read = server.ok("get_terminal_output", json!({"command_id": number})).structured;
    assert_eq!(read["output"], ran["output"]);
    let cat = server.launch(json!({"command": "sh", "args": ["-c", "echo $0; cat", 5]}));
    let screen = server.ok("view_screen", json!({"session_id": cat}));
    assert!(screen.text.starts_with("5\n"), "{}", screen.text);
    let stopped = server.ok("stop_app", json!({"session_id": cat, "signal": 9})).structured;
    assert_eq!(stopped["signal"], "SIGKILL", "{stopped}");
    let steps = r#"[{"tool": "execute_command", "args": {"command": "echo a step"}}]"#;
    let stepped = server.ok("run_steps", json!({"steps": steps}));
    assert!(stepped.text.contains("a step"), "{}", stepped.text);
    let step = json!({"tool": "execute_command", "command": "true"});
    for (tool, arguments, part) in [
        ("execute_command", json!({"command": "true", "env": {"N": null}}), "`env.N` is null"),
        ("launch_app", json!({"command": "true", "args": [null]}), "`args[0]` is null"),
        ("create_session", json!({"session_name": "n"}), "Did you mean `name`?"),
        ("search_history", json!({"q": "x"}), "Did you mean `query`?"),
        ("send_keys", json!({"session_id": cat, "enter": true}), "Did you mean `keys`?"),
        ("run_steps", json!({"steps": [step]}), "Did you mean `steps[0].arguments`?"),
        ("send_keys", json!({"keys": "x"}), "list_sessions has the ids"),
        ("view_screen", json!({}), "list_sessions has the ids"),
    ] {
        let (code, text) = server.error(tool, arguments);
        assert_eq!(code, "INVALID_INPUT", "{tool}: {text}");
        assert!(text.contains(part), "{tool}: {text}");
    }
}

#[test]
fn debug_tools_take_the_names_of_the_terminal_tools_too() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let arguments = json!({"session_id": "none", "timeout_ms": "1000", "description": "Go on"});
    assert_eq!(server.error("debug_continue", arguments).0, "E_NO_SESSION");
    let mistyped = server.error("debug_continue", json!({"timeout": 1000}));
    assert_eq!(mistyped.0, "E_INVALID_PARAMS");
    assert!(mistyped.1.contains("Did you mean `timeoutMs`?"), "{}", mistyped.1);
}

#[test]
fn a_restart_shows_the_first_screen() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let count = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; echo \"start $n\"; cat";
    let home = environment.path();
    let id = server.launch(json!({"command": "sh", "args": ["-c", count], "cwd": home}));
    let again = server.ok("restart_app", json!({"session_id": id}));
    assert!(again.text.starts_with("start 1\n["), "{}", again.text);
    assert!(again.text.contains(&format!("restarted {id}")), "{}", again.text);
    assert_eq!(again.structured["view"]["cursor"]["row"], 1);
}

#[test]
fn an_idle_shell_is_called_idle() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    server.ok("execute_command", json!({"command": "true"}));
    let listed = server.ok("list_sessions", json!({}));
    assert!(listed.text.contains("— idle"), "{}", listed.text);
    assert_eq!(listed.structured["sessions"][0]["idle"], true);
    server.ok("execute_command", json!({"command": "cat", "timeout_ms": 0}));
    let listed = server.ok("list_sessions", json!({}));
    assert!(listed.text.contains("— busy"), "{}", listed.text);
    assert!(listed.structured["sessions"][0].get("idle").is_none());
}

#[test]
fn a_model_reads_blank_lines_and_equal_rows_once_and_nothing_is_lost() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &[]);
    let printed = "a\n\n\n\n\n\nb\n";
    let ran = server.ok("execute_command", json!({"command": "printf 'a\\n\\n\\n\\n\\n\\nb\\n'"}));
    assert!(ran.text.starts_with("a\n[5 blank lines]\nb\n["), "{}", ran.text);
    assert_eq!(ran.structured["output"], printed);
    let read =
        server.ok("get_terminal_output", json!({"command_id": ran.structured["command_id"]}));
    assert!(read.text.starts_with(printed), "{}", read.text);

    let rows = r"read x; printf '\033[4;1Hsame\033[5;1Hsame\033[6;1Hsame\033[10;1Hother\033[12;1H'; read x";
    let id = server.launch(json!({"command": "sh", "args": ["-c", rows]}));
    let wait = json!({"text": "other"});
    let diff = server.ok("send_keys", json!({"session_id": id, "keys": "Enter", "wait": wait}));
    assert!(diff.text.starts_with("3-5| same\n9| other\n["), "{}", diff.text);
    let since = json!({"session_id": id, "after": 0, "region": {"row": 2, "col": 0, "rows": 9, "cols": 80}});
    let seen = server.ok("view_screen", since);
    assert!(seen.text.contains("same\nsame\nsame"), "few rows are shown: {}", seen.text);
}
