//! Programs that launch.json names: comments, variables, tasks before them, compounds.

use serde_json::json;

use super::{Language, PATIENCE_MS, Subject};

const LAUNCH: &str = r#"{
    // As VS Code writes it.
    "version": "0.2.0",
    "configurations": [
        {
            "name": "Sum", "type": "debugpy", "request": "launch",
            "program": "${workspaceFolder}/subject.py", "args": ["sum"],
            "preLaunchTask": "prepare",
        },
        {"name": "Threads", "type": "debugpy", "request": "launch",
         "program": "${workspaceFolder}/subject.py", "args": ["threads"]},
        {"name": "Asks", "type": "debugpy", "request": "launch", "program": "${input:which}"},
    ],
    "compounds": [{"name": "Both", "configurations": ["Sum", "Threads"]}],
}"#;
const TASKS: &str = r#"{
    "version": "2.0.0",
    "tasks": [
        {"label": "prepare", "type": "shell", "command": "echo prepared > prepared.txt"},
    ],
}"#;

fn subject() -> Subject {
    let subject = Subject::new(Language::Python);
    subject.environment.write(".vscode/launch.json", LAUNCH);
    subject.environment.write(".vscode/tasks.json", TASKS);
    subject
}

#[test]
fn a_configuration_starts_by_its_name_after_its_task() {
    let mut subject = subject();
    subject.break_at("call", json!({}));
    let arguments = json!({"launch": "Sum", "wait": true, "timeoutMs": PATIENCE_MS});
    let started = subject.call("debug_start", arguments);
    assert_eq!(
        (&started["configuration"], &started["adapter"]),
        (&json!("Sum"), &json!("debugpy"))
    );
    subject.is_at(&started["stop"], "call");
    assert_eq!(subject.environment.read("prepared.txt"), "prepared\n");
}

#[test]
fn a_compound_starts_all_and_the_first_stop_is_told() {
    let mut subject = subject();
    subject.break_at("work", json!({}));
    subject.break_at("call", json!({}));
    let arguments = json!({"launch": "Both", "wait": true, "timeoutMs": PATIENCE_MS});
    let started = subject.call("debug_start", arguments);
    assert_eq!(started["sessions"].as_array().map(Vec::len), Some(2), "{started:#}");
    assert_eq!(started["stop"]["reason"], "breakpoint");
    let status = subject.call("debug_status", json!({}));
    assert_eq!(status["sessions"].as_array().map(Vec::len), Some(2), "{status:#}");
}

#[test]
fn a_step_into_a_library_is_where_it_is() {
    let mut subject = subject();
    let launch = r#"{"configurations": [{"name": "Parse", "type": "debugpy", "request": "launch",
        "program": "parse.py", "justMyCode": false}]}"#;
    subject.environment.write(".vscode/launch.json", launch);
    subject.environment.write("parse.py", "import json\n\nprint(json.loads('[1]'))\n");
    subject.call("breakpoint_set", json!({"path": "parse.py", "line": 3}));
    let arguments = json!({"launch": "Parse", "wait": true, "timeoutMs": PATIENCE_MS});
    subject.call("debug_start", arguments);
    for tool in ["debug_step_into", "debug_step_over"] {
        let stop = subject.step(tool);
        assert_eq!(stop["location"]["function"], "loads", "{stop:#}");
        assert_eq!(super::local(&stop, "s")["value"], "'[1]'", "{stop:#}");
    }
    let value = subject.call("debug_evaluate", json!({"expression": "s"}));
    assert_eq!(value["result"], "'[1]'", "{value:#}");
}

#[test]
fn what_cannot_be_started_says_why() {
    let mut subject = subject();
    let (code, text) = subject.server.error("debug_start", json!({"launch": "Nothing"}));
    assert_eq!(code, "E_INVALID_PARAMS");
    assert!(text.contains("Sum, Threads, Asks, Both"), "{text}");
    let (code, text) = subject.server.error("debug_start", json!({"launch": "Asks"}));
    assert_eq!(code, "E_INVALID_PARAMS");
    assert!(text.contains("input"), "{text}");
    let (_, text) = subject.server.error("debug_start", json!({}));
    assert!(text.contains("Sum, Threads"), "{text}");
    let both = json!({"launch": "Sum", "program": "subject.py"});
    assert_eq!(subject.code("debug_start", both), "E_INVALID_PARAMS");
    assert_eq!(subject.code("debug_start", json!({"program": "no.py"})), "E_FILE_NOT_FOUND");
    let filters = json!({"program": "subject.py", "args": ["sum"], "exceptions": ["sometimes"]});
    let (code, text) = subject.server.error("debug_start", filters);
    assert_eq!(code, "E_INVALID_PARAMS", "{text}");
    assert!(text.contains("raised") && text.contains("uncaught"), "{text}");
    let status = subject.call("debug_status", json!({}));
    assert_eq!(status["sessions"], json!([]), "nothing is left");
}

#[test]
fn without_launch_json_a_program_is_asked_for() {
    let environment = super::configured();
    let mut server = environment.server(crate::TERMBRIDGE, &["--toolsets", "debug"]);
    let (code, text) = server.error("debug_start", json!({"launch": "Sum"}));
    assert_eq!(code, "E_FILE_NOT_FOUND");
    assert!(text.contains("give `program`") && !text.contains("source file"), "{text}");
}
