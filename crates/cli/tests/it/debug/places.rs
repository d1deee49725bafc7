//! Breakpoints that are not at a line: on functions, on data; and exceptions by type.

use serde_json::json;

use super::{Language, PATIENCE_MS, Subject};

#[test]
fn a_function() {
    let mut subject = Subject::new(Language::Python);
    let set = subject.server.ok("breakpoint_set", json!({"function": "add", "condition": "b > 1"}));
    assert!(
        set.text.starts_with("Breakpoint on function add is pending, if b > 1: "),
        "{}",
        set.text
    );
    let stop = subject.start("sum");
    assert_eq!((&stop["state"], &stop["reason"]), (&json!("stopped"), &json!("breakpoint")));
    assert_eq!(stop["hitBreakpoints"], json!([{"function": "add"}]));
    let listed = subject.call("breakpoint_list", json!({}));
    let first = &listed["breakpoints"][0];
    assert_eq!((&first["function"], &first["state"]), (&json!("add"), &json!("verified")));
    let removed = subject.call("breakpoint_remove", json!({"function": "add"}));
    assert_eq!(removed["removed"], true);
    assert_eq!(subject.go_on()["state"], "exited");
}

#[test]
fn data() {
    let mut subject = Subject::new(Language::C);
    assert_eq!(subject.code("breakpoint_set", json!({"variable": "total"})), "E_NO_SESSION");
    subject.break_at("call", json!({}));
    let stop = subject.start("sum");
    let session = stop["sessionId"].clone();
    let set = json!({"variable": "total", "sessionId": session});
    let set = subject.server.ok("breakpoint_set", set);
    assert_eq!(set.text, "Breakpoint on write of total is verified");
    subject.call("breakpoint_clear_file", json!({"path": "subject.c"}));
    let stop = subject.server.ok("debug_continue", json!({"timeoutMs": PATIENCE_MS}));
    assert!(stop.text.starts_with("Stopped (data breakpoint) at subject.c:"), "{}", stop.text);
    assert!(stop.text.contains("\ntotal: 0 → 1\n"), "{}", stop.text);
    let changes = &stop.structured["data"]["dataChanges"];
    assert_eq!(changes, &json!([{"variable": "total", "old": "0", "new": "1"}]));
    assert_eq!(subject.call("breakpoint_remove", json!({"variable": "total"}))["removed"], true);
    assert_eq!(subject.go_on()["state"], "exited");
}

#[test]
fn what_is_no_place_is_refused() {
    let mut subject = Subject::new(Language::JavaScript);
    for arguments in [
        json!({}),
        json!({"path": "subject.js"}),
        json!({"path": "subject.js", "line": 3, "function": "add"}),
        json!({"function": "add", "variable": "total"}),
        json!({"function": " "}),
        json!({"function": "add", "logMessage": "{b}"}),
    ] {
        let (code, _) = subject.server.error("breakpoint_set", arguments.clone());
        assert_eq!(code, "E_INVALID_PARAMS", "{arguments}");
    }
    assert_eq!(subject.code("breakpoint_remove", json!({"line": 3})), "E_INVALID_PARAMS");
    subject.break_at("call", json!({}));
    subject.start("sum");
    for arguments in [json!({"function": "add"}), json!({"variable": "total"})] {
        assert_eq!(subject.code("breakpoint_set", arguments), "E_UNSUPPORTED_CAPABILITY");
    }
}

#[test]
fn an_exception_by_its_type() {
    let mut subject = Subject::new(Language::Python);
    let mut arguments = subject.arguments("crash");
    arguments["exceptions"] = json!(["ValueError"]);
    let stop = subject.call("debug_start", arguments)["stop"].take();
    subject.is_at(&stop, "crash");
    assert_eq!(stop["exception"]["type"], "ValueError");
    let mut go = Subject::new(Language::Go);
    let mut arguments = go.arguments("sum");
    arguments["exceptions"] = json!(["ValueError"]);
    assert_eq!(go.code("debug_start", arguments), "E_UNSUPPORTED_CAPABILITY");
}
