//! The published editor extension: strict about its arguments, with shapes and errors of its own. What it
//! answered in a real editor is in `tests/data/editor`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use termbridge_testkit::{FakeHost, Job, Reply, Server, TestEnvironment};

use super::{configured, data};
use crate::TERMBRIDGE;
use crate::support::repository;

const CART: &str = "'use strict';

function discounted(amount, percent) {
  const off = amount * percent / 100;
  return amount - off; }

// All of it.
function total(items) {
  let sum = 0;
  for (const item of items) {
    sum += item.price;
  }
  const result = discounted(sum, 10);
  return result;
}

module.exports = { discounted, total };
";

/// What a stop looks like to `debug.status`.
fn paused(workspace: &str) -> Value {
    let source =
        json!({"name": "cart.js", "path": format!("vscode-remote://h:1{workspace}/src/cart.js")});
    json!({
        "isActive": true, "isPaused": true,
        "sessionId": "s-1", "sessionType": "pwa-node", "sessionName": "main.js [7]",
        "threads": [{"id": 1, "name": "main.js [7]"}, {"id": 2, "name": "worker"}],
        "currentThread": {"id": 1, "name": "main.js [7]"},
        "stackFrames": [
            {"id": 23, "name": "discounted", "line": 4, "column": 15, "source": source},
            {"id": 24, "name": "total", "line": 13, "column": 18, "source": source},
        ],
        "totalFrames": 2,
        "scopes": [
            {"name": "Local: discounted", "variablesReference": 4, "expensive": false},
            {"name": "Global", "variablesReference": 6, "expensive": true},
        ],
        "hitBreakpoint": {"line": 4, "source": format!("{workspace}/src/cart.js"), "enabled": true},
    })
}

fn locals() -> Value {
    json!({
        "children": [
            {"name": "amount", "value": "20", "type": "number", "variablesReference": 0},
            {"name": "percent", "value": "10", "type": "number", "variablesReference": 0},
            {"name": "[[Prototype]]", "value": "Object", "type": "Object", "variablesReference": 61,
             "presentationHint": {"visibility": "internal"}},
        ],
        "pagination": {"count": 100, "hasMore": false, "shown": 3, "start": 0},
    })
}

/// The published extension for a workspace, and what it was asked.
struct Extension {
    environment: TestEnvironment,
    _host: FakeHost,
    answers: Arc<Mutex<HashMap<String, Value>>>,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Extension {
    fn start() -> Self {
        let environment = configured();
        environment.write("src/cart.js", CART);
        let answers: Arc<Mutex<HashMap<String, Value>>> = Arc::default();
        let asked: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let params = std::fs::read(repository("crates/cli/tests/data/editor/params.json"));
        let params: HashMap<String, Vec<String>> =
            serde_json::from_slice(&params.expect("the parameters are there")).expect("JSON");
        let (given, log) = (Arc::clone(&answers), Arc::clone(&asked));
        let host = FakeHost::start(environment.path(), move |job: &Job| {
            let script = job.script().to_owned();
            log.lock().expect("a log").push((script.clone(), job.command["params"].clone()));
            let Some(taken) = params.get(&script) else {
                return failed("E_INTERNAL", &format!("Script '{script}' not found"));
            };
            let arguments = job.command["params"].as_object().cloned().unwrap_or_default();
            if arguments.keys().any(|name| !taken.contains(name)) {
                return failed("E_INTERNAL", "Invalid parameters provided");
            }
            let given = given.lock().expect("answers");
            let filtered = format!("{script} {}", job.param("filter").as_str().unwrap_or("all"));
            match given.get(&filtered).or_else(|| given.get(&script)) {
                Some(answer) if answer["error"].is_object() => {
                    let error = &answer["error"];
                    let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
                    failed(&text("code"), &text("message"))
                }
                Some(answer) => Reply::Data(answer["data"].clone()),
                None => failed("E_INTERNAL", "No active debug session"),
            }
        });
        let extension = Self { environment, _host: host, answers, asked };
        extension.answers("debug.status", paused(&extension.workspace()));
        extension.answers("debug.get-variable", locals());
        extension
    }

    fn workspace(&self) -> String {
        self.environment.path().display().to_string()
    }

    fn server(&self, arguments: &[&str]) -> Server {
        self.environment.debug_server(TERMBRIDGE, arguments)
    }

    /// What a script answers from now on.
    fn answers(&self, script: &str, data: Value) {
        self.set(script, json!({"data": data}));
    }

    fn set(&self, script: &str, answer: Value) {
        // Recorded paths are those of this workspace.
        let text = answer.to_string().replace("/ws", &self.workspace());
        let answer = serde_json::from_str(&text).expect("JSON");
        self.answers.lock().expect("answers").insert(script.to_owned(), answer);
    }

    /// What was asked since the last time.
    fn asked(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut *self.asked.lock().expect("a log"))
    }
}

fn failed(code: &str, message: &str) -> Reply {
    let error =
        json!({"code": code, "message": message, "details": {"stack": "at r (out.js:2:6)"}});
    let envelope = json!({"ok": false, "type": "error", "error": error, "meta": {}});
    Reply::Custom(Box::new(move |job| {
        job.write("error.json", &envelope.to_string());
        job.write("done", "");
    }))
}

fn recorded() -> Vec<Value> {
    let text = std::fs::read_to_string(repository("crates/cli/tests/data/editor/answers.jsonl"));
    let text = text.expect("the answers are there");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The arguments of a recorded call, with paths of whatever workspace.
fn arguments_of(answer: &Value) -> Value {
    let mut arguments = answer["arguments"].clone();
    if let Some(path) = arguments["path"].as_str().and_then(|path| path.strip_prefix("/ws/")) {
        arguments["path"] = json!(path);
    }
    arguments
}

/// The tool of a script.
fn tool(script: &str) -> String {
    script.replace(['.', '-'], "_")
}

fn schemas(server: &mut Server) -> HashMap<String, Value> {
    let tools = server.request("tools/list", json!({})).expect("a list");
    let tools = tools["tools"].as_array().expect("tools").iter();
    let schema = |tool: &Value| tool["outputSchema"]["properties"]["data"]["properties"].clone();
    tools.map(|tool| (tool["name"].as_str().unwrap_or_default().to_owned(), schema(tool))).collect()
}

/// Whether a value has the type that a schema names.
fn has_type(value: &Value, schema: &Value) -> bool {
    match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    }
}

#[test]
fn what_it_answers_has_the_promised_shape() {
    let extension = Extension::start();
    let mut server = extension.server(&["--debug-backend", "editor"]);
    let schemas = schemas(&mut server);
    let mut seen = 0;
    for answer in recorded().into_iter().filter(|answer| answer["data"].is_object()) {
        let script = answer["script"].as_str().expect("a script").to_owned();
        let arguments = arguments_of(&answer);
        extension.set(&script, answer.clone());
        if answer["data"]["event"] == "timeout" {
            extension.answers("debug.status", json!({"isActive": true, "isPaused": false}));
            assert_eq!(server.error(&tool(&script), arguments).0, "E_TIMEOUT");
        } else {
            let said = server.ok(&tool(&script), arguments);
            let data = &said.structured["data"];
            let fields = data.as_object().unwrap_or_else(|| panic!("{script}: {data}"));
            let schema = &schemas[&tool(&script)];
            let known = fields.keys().filter(|name| schema.get(name.as_str()).is_some()).count();
            assert!(known > 0, "{script} has none of {schema}: {data:#}");
            for (name, value) in fields {
                assert!(has_type(value, &schema[name]), "{script}: {name} is {value}: {schema}");
            }
            assert!(!said.text.contains("vscode-remote"), "{script}: {}", said.text);
            assert!(!data.to_string().contains("vscode-remote"), "{script}: {data}");
        }
        seen += 1;
        extension.answers("debug.status", paused(&extension.workspace()));
        extension.answers("debug.get-variable", locals());
    }
    assert!(seen > 35, "{seen}");
}

#[test]
fn its_errors_have_our_codes_and_hints() {
    let extension = Extension::start();
    extension.environment.write("src/none.js", "1\n");
    let mut server = extension.server(&["--debug-backend", "editor"]);
    for answer in recorded().into_iter().filter(|answer| answer["error"].is_object()) {
        let script = answer["script"].as_str().expect("a script");
        let arguments = arguments_of(&answer);
        extension.set(script, answer.clone());
        // A stack and threads come from the status.
        if ["debug.stack", "debug.list-variables"].contains(&script) {
            extension.answers("debug.status", json!({"isActive": true, "isPaused": false}));
        }
        let (code, text) = server.error(&tool(script), arguments);
        assert_ne!(code, "E_INTERNAL", "{answer:#}\n{text}");
        let message = text.strip_prefix(&format!("[{code}] ")).unwrap_or_else(|| panic!("{text}"));
        assert!(!message.contains("E_"), "one code, once: {text}");
        assert!(!text.contains("out.js"), "{text}");
        extension.answers("debug.status", paused(&extension.workspace()));
    }
}

#[test]
fn it_is_given_only_what_it_takes() {
    let extension = Extension::start();
    extension.answers("debug.continue", json!({"event": "error", "code": "E_NOT_STOPPED", "message": "Timeout waiting", "sessionId": "s-1"}));
    let stopped = json!({"event": "stopped", "file": "/ws/src/cart.js", "line": 4, "functionName": "f", "sessionId": "s-1", "threadId": 1});
    extension.answers("debug.start", stopped.clone());
    extension.answers("debug.restart", json!({"restarted": true, "sessionId": "s-1"}));
    extension.answers(
        "debug.set-variable",
        json!({"value": "5", "type": "number", "variablesReference": 0}),
    );
    let mut server = extension.server(&[]);
    let stack = data(&mut server, "debug_stack", json!({"start": 1, "count": 5}));
    assert_eq!((&stack["frames"][0]["id"], &stack["total"]), (&json!(24), &json!(2)));
    assert_eq!(stack["frames"].as_array().map(Vec::len), Some(1));
    let threads = data(&mut server, "debug_threads", json!({"count": 1}));
    assert_eq!((&threads["total"], &threads["next"]), (&json!(2), &json!(1)));
    let gone = data(&mut server, "debug_continue", json!({"wait": false}));
    assert_eq!((&gone["state"], &gone["sessionId"]), (&json!("running"), &json!("s-1")));
    let again = data(&mut server, "debug_restart", json!({"wait": true, "timeoutMs": 9000}));
    assert_eq!((&again["state"], &again["stop"]["state"]), (&json!("stopped"), &json!("stopped")));
    let set = json!({"sessionId": "s-1", "name": "percent", "value": "5"});
    assert_eq!(data(&mut server, "debug_set_variable", set.clone())["value"], "5");
    let (code, text) = server.error("debug_set_variable", {
        let mut other = set;
        other["sessionId"] = json!("s-2");
        other
    });
    assert_eq!(code, "E_UNSUPPORTED_CAPABILITY", "{text}");
    // Folders and paths as the editor knows them, and defaults that it has no word for.
    let start = json!({"launch": "main", "folder": ".", "wait": true, "stopOnEntry": false});
    extension.asked();
    data(&mut server, "debug_start", start);
    let asked = extension.asked();
    let params = &asked.iter().find(|(script, _)| script == "debug.start").expect("a start").1;
    assert_eq!(params["folder"], json!(extension.workspace()), "{asked:?}");
    let (code, text) = server.error("debug_pause", json!({}));
    assert_eq!(code, "E_SCRIPT_NOT_FOUND", "{text}");
}

#[test]
fn a_stop_in_the_editor_reads_like_one_of_ours() {
    let extension = Extension::start();
    let stopped = json!({"event": "stopped", "file": "vscode-remote://h:1/ws/src/cart.js", "line": 4,
        "functionName": "discounted", "sessionId": "s-1", "threadId": 1});
    extension.answers("debug.step-over", stopped);
    let printed = |text: &str, ts: u64| json!({"category": "stdout", "text": text, "ts": ts});
    let noise = json!({"category": "telemetry", "text": "js-debug/dap/operation", "ts": 6});
    let logs = json!({"logs": [noise, printed("later\n", 5), printed("first\n", 4)], "matched": 3});
    extension.answers("dap.logs", logs.clone());
    let mut server = extension.server(&[]);
    let text = server.ok("debug_step_over", json!({})).text;
    let expected = "Stopped (breakpoint) at src/cart.js:4 in discounted [session s-1]
  1  'use strict';
  2
  3  function discounted(amount, percent) {
> 4    const off = amount * percent / 100;
  5    return amount - off; }
  6
  7  // All of it.
Locals:
  amount = 20 (number)
  percent = 10 (number)
Stack:
  #23 discounted src/cart.js:4
  #24 total src/cart.js:13
Output:
first
later";
    assert_eq!(text, expected);
    let again = server.ok("debug_step_over", json!({})).text;
    assert!(!again.contains("later"), "output is told once: {again}");
}

#[test]
fn what_it_cannot_start_is_started_natively_with_the_editors_breakpoints() {
    let extension = Extension::start();
    extension.environment.write("app.py", "def add(a, b):\n    return a + b\n\nprint(add(2, 3))\n");
    let path = format!("{}/app.py", extension.workspace());
    let set = json!([{"path": path, "line": 2, "enabled": true, "verified": true}]);
    extension.answers("breakpoint.list", json!({"breakpoints": set}));
    let mut server = extension.server(&[]);
    let start = json!({"program": "app.py", "wait": true, "timeoutMs": super::PATIENCE_MS});
    let said = server.ok("debug_start", start.clone());
    assert_eq!(said.structured["meta"]["backend"], "native");
    assert!(
        said.text.starts_with("The editor's extension does not take `program`"),
        "{}",
        said.text
    );
    assert!(said.text.contains("app.py:2 in add"), "{}", said.text);
    assert_eq!(data(&mut server, "debug_evaluate", json!({"expression": "a * b"}))["result"], "6");
    server.ok("debug_stop", json!({}));
    // A breakpoint that is gone in the editor is gone.
    extension.answers("breakpoint.list", json!({"breakpoints": []}));
    let said = server.ok("debug_start", start.clone());
    assert!(said.text.contains("exit code 0"), "{}", said.text);
    let mut server = extension.server(&["--debug-backend", "editor"]);
    let (code, text) = server.error("debug_start", start);
    assert_eq!(code, "E_UNSUPPORTED_CAPABILITY", "{text}");
}

#[test]
fn a_breakpoint_is_not_called_verified_because_it_says_so() {
    let extension = Extension::start();
    extension.answers(
        "breakpoint.set",
        json!({"breakpoint": {"path": "/ws/src/cart.js", "line": 4, "enabled": true, "verified": true}}),
    );
    let mut server = extension.server(&[]);
    let said = server.ok("breakpoint_set", json!({"path": "./src/cart.js", "line": 4}));
    assert_eq!(said.structured["data"]["breakpoint"]["state"], "set");
    assert_eq!(said.text, "Breakpoint at src/cart.js:4 is set");
    let (code, _) = server.error("breakpoint_set", json!({"path": "src/cart.js", "line": 9999}));
    assert_eq!(code, "E_INVALID_LINE");
    let (code, _) = server.error("breakpoint_set", json!({"path": "src/no.js", "line": 1}));
    assert_eq!(code, "E_FILE_NOT_FOUND");
}

#[test]
fn what_it_leaves_out_is_found_out() {
    let extension = Extension::start();
    let mut server = extension.server(&["--debug-backend", "editor"]);
    // js-debug answers a filter with nothing.
    let part = |name: &str| json!({"name": name, "value": "v", "variablesReference": 0});
    let parts: Vec<Value> = ["0", "1", "2", "3", "length"].into_iter().map(part).collect();
    let all = json!({"children": parts, "pagination": {"hasMore": false, "start": 0}});
    extension.answers("debug.get-variable", all);
    extension.answers("debug.get-variable indexed", json!({"children": [], "pagination": {}}));
    let asked = json!({"variablesReference": 62, "start": 1, "count": 2, "filter": "indexed"});
    let page = data(&mut server, "debug_get_variable", asked);
    let names = |page: &Value| -> Vec<String> {
        let parts = page["variables"].as_array().into_iter().flatten();
        parts.map(|part| part["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!((names(&page), &page["next"]), (vec!["1".into(), "2".into()], &json!(3)), "{page}");
    extension.answers("debug.get-variable named", json!({"children": [], "pagination": {}}));
    let asked = json!({"variablesReference": 62, "filter": "named"});
    assert_eq!(names(&data(&mut server, "debug_get_variable", asked)), ["length"]);
    // There may be more behind what it sends in one answer.
    let first = json!({"children": [part("length")], "pagination": {"hasMore": true, "next": 5000, "start": 0}});
    extension.answers("debug.get-variable", first);
    let asked = json!({"variablesReference": 62, "start": 6000, "filter": "indexed"});
    let (code, text) = server.error("debug_get_variable", asked);
    assert_eq!(code, "E_LARGE_DATA");
    assert!(text.contains("there may be more") && text.contains("start 5000"), "{text}");

    // Times count from the start of the session, in order, also where only the time of day is there.
    let event = |kind: &str, fields: Value| {
        let mut event = json!({"eventType": kind, "summary": kind, "data": {}});
        event.as_object_mut().expect("fields").extend(fields.as_object().expect("fields").clone());
        event
    };
    let timeline = json!({"eventCount": 3, "timeline": [
        event("exit", json!({"timestamp": 1_794_757_365_503_u64})),
        event("output", json!({"relativeTime": 182, "timestamp": 1_794_757_352_550_u64})),
        event("stopped", json!({"relativeTime": 99.5, "timestamp": 1_794_757_352_467_u64})),
    ]});
    extension.answers("dap.timeline", timeline);
    let said = data(&mut server, "dap_timeline", json!({}));
    let events = said["events"].as_array().expect("events").iter();
    let times: Vec<(&Value, &Value)> = events.map(|it| (&it["time"], &it["type"])).collect();
    let wanted = [(99, "stopped"), (182, "output"), (13_135, "exit")];
    let wanted = wanted.map(|(time, kind)| (json!(time), json!(kind)));
    assert_eq!(times, wanted.iter().map(|(time, kind)| (time, kind)).collect::<Vec<_>>());

    // Its tracker lists no session; its summary knows the latest.
    extension.asked();
    assert_eq!(data(&mut server, "debug_tracker", json!({}))["total"], 0);
    let session =
        json!({"id": "s-9", "name": "main.js [7]", "type": "pwa-node", "status": "terminated"});
    let counts = json!({"totalOutputs": 8, "stoppedEvents": 4, "exceptions": 0});
    extension.answers("dap.summary", json!({"session": session, "counts": counts}));
    let runs = data(&mut server, "debug_tracker", json!({}));
    assert_eq!((&runs["total"], &runs["sessions"][0]["sessionId"]), (&json!(1), &json!("s-9")));
    assert_eq!(runs["sessions"][0]["live"], false);
    let scripts: Vec<String> = extension.asked().into_iter().map(|(script, _)| script).collect();
    assert!(
        !scripts.contains(&"debug.tracker".to_owned()),
        "it would record once more: {scripts:?}"
    );
}

#[test]
fn its_own_words_are_told_to_who_asks_for_them() {
    let extension = Extension::start();
    extension.answers("debug.evaluate", json!({"result": "40", "type": "number", "extra": [1]}));
    let mut server = extension.server(&[]);
    let answer = server.ok("debug_evaluate", json!({"expression": "amount"})).structured;
    assert_eq!(answer["raw"], Value::Null);
    let mut server = extension.server(&["--debug-raw"]);
    let answer = server.ok("debug_evaluate", json!({"expression": "amount"})).structured;
    assert_eq!(answer["data"]["result"], "40");
    // Whether there is a session is asked first.
    let raw = answer["raw"].as_array().and_then(|raw| raw.last()).expect("its words");
    assert_eq!(raw["script"], "debug.evaluate", "{answer:#}");
    assert_eq!(raw["data"]["extra"], json!([1]));
}

#[test]
fn an_editor_that_reloads_does_not_time_out() {
    let environment = TestEnvironment::new();
    let _host = FakeHost::start(environment.path(), |_| Reply::Crash);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    let answer = server.ok("util_restart_vscode", json!({})).structured;
    assert_eq!(answer["data"]["reloading"], true, "{answer:#}");
}
