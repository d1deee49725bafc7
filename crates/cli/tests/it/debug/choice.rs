//! Which tools there are, and who serves them.

use serde_json::json;
use termbridge_testkit::{FakeHost, Reply, TestEnvironment};

use super::data;
use crate::TERMBRIDGE;

fn names(environment: &TestEnvironment, arguments: &[&str]) -> Vec<String> {
    let mut server = environment.server(TERMBRIDGE, arguments);
    let tools = server.request("tools/list", json!({})).expect("a list");
    let tools = tools["tools"].as_array().expect("tools").iter();
    tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn tools_are_chosen_by_toolset_and_by_name() {
    let environment = TestEnvironment::new();
    let usual = names(&environment, &[]);
    assert_eq!(usual.len(), 16 + 14);
    assert!(usual.contains(&"debug_start".to_owned()) && !usual.contains(&"dap_logs".to_owned()));
    let all = names(&environment, &["--toolsets", "all"]);
    let both = names(&environment, &["--toolsets", "terminal,debug"]);
    assert!(both.len() >= 16 + 35 && all.len() == both.len() + 7, "{} {}", both.len(), all.len());
    let debug = names(&environment, &["--toolsets", "debug"]);
    assert!(debug.len() >= 40 && !debug.contains(&"execute_command".to_owned()));
    let two = names(&environment, &["--tools", "debug_start,execute_command"]);
    assert_eq!(two, ["execute_command", "debug_start"]);
    let added = names(&environment, &["--toolsets", "compat", "--tools", "debug_start"]);
    assert_eq!(added.len(), 8);
    let fewer = names(&environment, &["--exclude-tools", "debug_start"]);
    assert_eq!(fewer.len(), usual.len() - 1);
    let refused = environment.command(TERMBRIDGE).args(["mcp", "--tools", "no_such"]).output();
    let refused = refused.expect("it runs");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("no_such"), "{said}");
}

#[test]
fn the_editor_serves_while_it_lives_and_the_native_backend_else() {
    let environment = TestEnvironment::new();
    let workspace = environment.path().join("project/inner");
    std::fs::create_dir_all(&workspace).expect("a folder");
    let workspace_text = workspace.display().to_string();
    let mut server = environment.debug_server(TERMBRIDGE, &["--workspace", &workspace_text]);
    let status = data(&mut server, "bridge_status", json!({}));
    assert_eq!((&status["backend"], &status["host"]), (&json!("native"), &json!(null)));
    let adapters = status["adapters"].as_array().expect("adapters");
    assert_eq!(adapters.len(), 4);
    assert!(
        adapters
            .iter()
            .all(|adapter| adapter["path"].is_string() || adapter["install"].is_string())
    );

    let outer = environment.path().join("project");
    let host = FakeHost::start(&outer, |_| Reply::Data(json!({"breakpoints": [], "total": 0})));
    let answer = server.ok("breakpoint_list", json!({})).structured;
    assert_eq!(answer["meta"]["backend"], "editor");
    let status = data(&mut server, "bridge_status", json!({}));
    assert_eq!((&status["backend"], &status["host"]["live"]), (&json!("editor"), &json!(true)));
    host.age(std::time::Duration::from_mins(1));
    let answer = server.ok("breakpoint_list", json!({})).structured;
    assert_eq!(answer["meta"]["backend"], "native");
    let status = data(&mut server, "bridge_status", json!({}));
    assert_eq!(status["host"]["live"], false);

    let arguments = ["--workspace", &workspace_text, "--debug-backend", "editor"];
    let mut server = environment.debug_server(TERMBRIDGE, &arguments);
    let (code, text) = server.error("breakpoint_list", json!({}));
    assert_eq!(code, "E_BRIDGE_UNAVAILABLE", "{text}");
    let status = data(&mut server, "bridge_status", json!({}));
    assert_eq!(status["backend"], "none");
}

#[test]
fn what_only_an_editor_can_do_says_so() {
    let environment = TestEnvironment::new();
    environment.write("a.py", "x = 1\n");
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    let (code, text) = server.error("editor_goto_line", json!({"path": "a.py", "line": 1}));
    assert_eq!(code, "E_BRIDGE_UNAVAILABLE");
    assert!(text.contains("VS Code"), "{text}");
}

#[test]
fn guides_are_listed_read_and_resources() {
    let environment = TestEnvironment::new();
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    let guides = data(&mut server, "docs_list", json!({"category": "guide"}));
    let id = guides["docs"][0]["id"].as_str().expect("a guide").to_owned();
    let page = data(&mut server, "docs_get", json!({"id": id}));
    let text = page["text"].as_str().expect("text");
    let uri = format!("docs://{id}");
    let resource = server.request("resources/read", json!({"uri": uri})).expect("a resource");
    assert_eq!(resource["contents"][0]["text"], text);
    let listed = server.request("resources/list", json!({})).expect("a list");
    assert!(listed.to_string().contains(&uri), "{listed:#}");
    assert!(server.ok("docs_get", json!({"id": "debug_start"})).text.contains("debug_start"));
    assert_eq!(server.error("docs_get", json!({"id": "nothing"})).0, "E_INVALID_PARAMS");
    let prompts = server.request("prompts/list", json!({})).expect("a list");
    assert!(prompts.to_string().contains("debug_failing_test"), "{prompts:#}");
}

#[test]
fn an_allow_list_holds_for_what_is_debugged() {
    let environment = super::configured();
    let config = environment.path().join(".config/termbridge/config.toml");
    let before = std::fs::read_to_string(&config).unwrap_or_default();
    environment.write(
        ".config/termbridge/config.toml",
        format!("{before}\n[policy]\nallow = [\"/usr/bin/true\"]\n"),
    );
    let launch = r#"{"configurations": [
        {"name": "Commands", "type": "lldb", "request": "launch", "program": "/usr/bin/true",
         "initCommands": ["script print(1)"]},
        {"name": "Variables", "type": "lldb", "request": "launch", "program": "/usr/bin/true",
         "env": {"LD_PRELOAD": "x.so"}},
        {"name": "Other", "type": "lldb", "request": "launch", "program": "/usr/bin/false"},
        {"name": "Attach", "type": "lldb", "request": "attach", "pid": 1}
    ]}"#;
    environment.write(".vscode/launch.json", launch);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    let pid = std::process::id();
    let (code, text) = server.error("debug_attach", json!({"pid": pid, "type": "c"}));
    assert_eq!(code, "COMMAND_BLOCKED", "{text}");
    for name in ["Commands", "Variables", "Other", "Attach"] {
        let (code, text) = server.error("debug_start", json!({"launch": name}));
        assert_eq!(code, "COMMAND_BLOCKED", "{name}: {text}");
    }
}

#[test]
fn the_policy_holds_for_what_is_debugged() {
    let environment = super::configured();
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    let arguments = json!({"program": "/bin/rm", "type": "c", "args": ["-rf", "/"]});
    let (code, text) = server.error("debug_start", arguments);
    assert_eq!(code, "COMMAND_BLOCKED", "{text}");
    let launch = r#"{"configurations": [
        {"name": "Runtime", "type": "node", "request": "launch", "program": "x.js",
         "runtimeExecutable": "rm", "runtimeArgs": ["-rf", "/"]},
        {"name": "Commands", "type": "lldb", "request": "launch", "program": "/bin/true",
         "preRunCommands": ["platform shell rm -rf /"]},
        {"name": "List", "type": "lldb", "request": "launch", "program": "/bin/true", "env": 5}
    ]}"#;
    environment.write(".vscode/launch.json", launch);
    for name in ["Runtime", "Commands"] {
        let (code, text) = server.error("debug_start", json!({"launch": name}));
        assert_eq!(code, "COMMAND_BLOCKED", "{name}: {text}");
    }
    let (code, text) = server.error("debug_start", json!({"launch": "List", "env": {"A": "1"}}));
    assert_eq!(code, "E_INVALID_PARAMS", "{text}");
    assert_eq!(data(&mut server, "debug_status", json!({}))["sessions"], json!([]));
}
