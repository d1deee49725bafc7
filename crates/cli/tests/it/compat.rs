//! The toolset `compat`: names, parameters and reply texts of the seven tools.

use serde_json::{Value, json};
use termbridge_mcp::client::Client;
use termbridge_testkit::{PROTOCOL, TestEnvironment};

use crate::TERMBRIDGE;
use crate::shim::{Runtime, Shim};

#[test]
fn the_seven_tools_are_offered_on_request() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--toolsets", "compat"]);
    let tools = server.request("tools/list", json!({})).expect("lists");
    let names: Vec<&str> = tools["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|t| t["name"].as_str())
        .collect();
    assert_eq!(names, ["run", "create", "exec", "read", "input", "list", "close"]);
    let both = environment.server(TERMBRIDGE, &["--toolsets", "terminal,compat"]);
    drop(both);
}

#[test]
fn they_answer_as_specified() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--toolsets", "compat", "--shell", "bash"]);
    let first = server.ok("run", json!({"command": "echo hi", "timeoutMs": "30000"}));
    let id = first.structured["sessionId"].as_str().expect("an id").to_owned();
    assert!(first.text.starts_with("$ echo hi\nhi\n\n[exit: 0 | "), "{}", first.text);
    assert!(first.text.ends_with(&format!("ms | {id}]")), "{}", first.text);
    // An idle session of the same kind is used again; another directory or agent gets another.
    let again = server.ok("run", json!({"command": "true"}));
    assert_eq!(again.structured["sessionId"], id);
    let elsewhere = server.ok("run", json!({"command": "pwd", "cwd": "/usr"}));
    assert_ne!(elsewhere.structured["sessionId"], id);
    let other = server.ok("run", json!({"command": "true", "agentId": "b"}));
    assert_ne!(other.structured["sessionId"], id);
    // A non-zero exit is an error here.
    let failed =
        server.call("run", json!({"command": "echo no; exit_ 2>/dev/null"})).expect("answers");
    assert!(failed.is_error && failed.text.contains("[exit: 127 | "), "{}", failed.text);
    // A time-out leaves it running, says so, and the session is busy.
    let late = server.ok(
        "run",
        json!({"command": "cat", "timeoutMs": 1000, "agentId": "c",
        "waitForCompletion": "true"}),
    );
    let busy = late.structured["sessionId"].clone();
    assert_eq!(late.structured["running"], true);
    let next = server.ok("run", json!({"command": "true", "agentId": "c"}));
    assert_ne!(next.structured["sessionId"], busy);
    let sleeping =
        server.ok("run", json!({"command": "sleep 1000", "timeoutMs": 1000, "agentId": "d"}));
    assert!(sleeping.text.contains("still running"), "{}", sleeping.text);
    let created = server.ok("create", json!({"name": "mine", "cwd": "/"}));
    // A name is a label here: sessions are addressed by their ids.
    let twin = server.ok("create", json!({"name": "mine"}));
    assert_ne!(twin.structured["sessionId"], created.structured["sessionId"]);
    let mine = created.structured["sessionId"].clone();
    let ran = server.ok("exec", json!({"sessionId": mine, "command": "seq 5"}));
    assert!(ran.text.starts_with("$ seq 5\n1\n2\n3\n4\n5\n\n[exit: 0 | "), "{}", ran.text);
    let page = server.ok("read", json!({"sessionId": mine, "lines": 4}));
    let end = format!("\n\n[lines: 1-4/6 | remaining: 2 | {}]", mine.as_str().expect("an id"));
    assert_eq!(page.text, format!("$ seq 5\n1\n2\n3{end}"));
    let page = server.ok("read", json!({"sessionId": mine}));
    assert!(page.text.starts_with("4\n5\n\n[lines: 5-6/6 | remaining: 0 | "), "{}", page.text);
    let tail = server.ok("read", json!({"sessionId": mine, "offset": -1}));
    assert!(tail.text.starts_with("5\n\n[lines: 6-6/6"), "{}", tail.text);
    let at = server.ok("read", json!({"sessionId": mine, "offset": 2, "lines": 1}));
    assert!(at.text.starts_with("2\n\n[lines: 3-3/6 | remaining: 3"), "{}", at.text);
    let reading = json!({"sessionId": mine, "command": "read x; echo \"got $x\"",
        "waitForCompletion": false});
    server.ok("exec", reading);
    server.ok("input", json!({"sessionId": mine, "input": "abc"}));
    let mut text = String::new();
    while !text.contains("got abc") {
        text = server.ok("read", json!({"sessionId": mine, "offset": -2})).text;
    }
    let list = server.ok("list", json!({"agentId": "b"})).structured;
    assert_eq!(list["sessions"].as_array().map(Vec::len), Some(1));
    server.ok("close", json!({"sessionId": mine}));
    let (code, _) = server.error("exec", json!({"sessionId": mine, "command": "true"}));
    assert_eq!(code, "SESSION_DEAD");
    for (tool, arguments) in [
        ("run", json!({})),
        ("run", json!({"command": "true", "timeoutMs": 999})),
        ("read", json!({"sessionId": mine, "lines": 5001})),
        ("create", json!({})),
    ] {
        assert_eq!(server.error(tool, arguments.clone()).0, "INVALID_INPUT", "{tool} {arguments}");
    }
}

#[test]
fn a_run_shares_a_session_with_runs_of_the_same_kind_or_name_alone() {
    let environment = TestEnvironment::new();
    environment.write(".zshrc", "");
    let mut server = environment.server(TERMBRIDGE, &["--toolsets", "compat", "--shell", "bash"]);
    let mut run = |mut arguments: Value| {
        arguments["command"] = "echo \"A=$A\"".into();
        let ran = server.ok("run", arguments).structured;
        (ran["output"].clone(), ran["sessionId"].clone())
    };
    let (output, secret) = run(json!({"env": {"A": "secret"}}));
    assert_eq!(output, "A=secret\n");
    let (output, plain) = run(json!({}));
    assert_eq!(output, "A=\n");
    assert_eq!(run(json!({"cwd": "/usr"})).0, "A=\n", "a new session");
    assert_eq!(run(json!({"env": {"A": "secret"}})), ("A=secret\n".into(), secret));
    assert_eq!(run(json!({})), ("A=\n".into(), plain.clone()));
    let (output, named) = run(json!({"name": "named1"}));
    assert_eq!(output, "A=\n");
    assert_ne!(named, plain);
    assert_eq!(run(json!({"name": "named1"})).1, named);
    assert_eq!(run(json!({})).1, plain);
    let listed = server.ok("list", json!({})).structured;
    let rows = listed["sessions"].as_array().expect("sessions");
    let row = rows.iter().find(|row| row["sessionId"] == named).expect("the session");
    assert_eq!(row["name"], "named1", "{listed}");
    let (by_zsh, by_bash) = ("echo $ZSH_VERSION", "echo $BASH");
    server.ok("run", json!({"command": by_zsh, "shell": "zsh", "agentId": "z"}));
    let shell = server.ok("run", json!({"command": by_bash, "agentId": "z"})).structured;
    assert_ne!(shell["output"], "\n", "{shell}");
}

#[test]
fn a_client_of_the_shared_server_has_them_for_itself() {
    let runtime = Runtime::new();
    let names = |shim: &mut Shim| -> Vec<String> {
        let listed = shim.request("list", "tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect()
    };
    let words = ["mcp", "--connect", "--toolsets", "compat"];
    let mut compat = Shim::ready(&mut runtime.command(&words));
    let mut usual = Shim::ready(&mut runtime.command(&["mcp", "--connect"]));
    assert_eq!(names(&mut compat), ["run", "create", "exec", "read", "input", "list", "close"]);
    let ran = compat.call(1, "run", json!({"command": "echo $((6 * 7))"}));
    assert_eq!((&ran["output"], &ran["exitCode"]), (&json!("42\n"), &json!(0)), "{ran}");
    let others = names(&mut usual);
    assert!(others.iter().any(|name| name == "execute_command"), "{others:?}");
    assert!(!others.iter().any(|name| name == "run"), "{others:?}");
    let wrong = runtime.command(&["mcp", "--connect", "--toolsets", "nosuch"]).output();
    let said = String::from_utf8_lossy(&wrong.expect("runs").stderr).into_owned();
    assert!(said.contains("no toolset"), "{said}");
}

#[test]
fn the_definitions_are_printed_for_other_apis() {
    let environment = TestEnvironment::new();
    let printed = |format: &str| {
        let mut command = environment.command(TERMBRIDGE);
        let output = command.args(["tools", "--format", format]).output().expect("it runs");
        assert!(output.status.success());
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")
    };
    let mut server = environment.server(TERMBRIDGE, &[]);
    let served = server.request("tools/list", json!({})).expect("lists");
    let tools = served["tools"].as_array().expect("tools");
    assert_eq!(printed("mcp")["tools"], served["tools"], "as a client gets them");
    let openai = printed("openai");
    let gemini = printed("gemini");
    let declared = &gemini[0]["functionDeclarations"];
    for (index, tool) in tools.iter().enumerate() {
        assert_eq!(openai[index]["type"], "function");
        assert_eq!(openai[index]["function"]["name"], tool["name"]);
        assert_eq!(openai[index]["function"]["parameters"], tool["inputSchema"]);
        assert_eq!(declared[index]["name"], tool["name"]);
        assert_eq!(declared[index]["parameters"]["required"], tool["inputSchema"]["required"]);
    }
    // Gemini refuses what it does not know.
    let text = gemini.to_string();
    for keyword in ["additionalProperties", "\"default\"", "$schema", "oneOf", "\"const\""] {
        assert!(!text.contains(keyword), "{keyword}");
    }
}

#[test]
fn hints_name_tools_that_are_offered() {
    let environment = TestEnvironment::new();
    let mut server = environment.server(TERMBRIDGE, &["--toolsets", "compat"]);
    let answer = server.call("exec", json!({"sessionId": "none", "command": "ls"}));
    let answer = answer.expect("answers");
    assert_eq!(
        answer.structured["error"]["next_tools"],
        json!(["list", "create"]),
        "{}",
        answer.text
    );
    assert!(
        answer.text.contains("Use list for the ids in use, or create for a new one."),
        "{}",
        answer.text
    );
    assert!(!answer.text.contains("launch_app"), "{}", answer.text);
    let mut command = environment.command(TERMBRIDGE);
    let folders: Vec<String> = (0..100).map(|number| format!("/folder/{number}")).collect();
    command.arg("mcp").env("PATH", folders.join(":"));
    let mut server = Client::start(&mut command).expect("starts");
    server.initialize(PROTOCOL).expect("shakes hands");
    let answer = server.call("launch_app", json!({"command": "nothing"})).expect("answers");
    assert!(answer.text.contains("the 100 folders of PATH"), "{}", answer.text);
}
