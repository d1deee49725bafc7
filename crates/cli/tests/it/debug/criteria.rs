//! The ten acceptance criteria of the debugging tools, each on both backends where it applies: the
//! native one with debugpy, the editor's with a host that speaks the published extension's protocol.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termbridge_testkit::{FakeHost, Job, Reply, Server, TestEnvironment};

use super::{PATIENCE_MS, configured, data};
use crate::TERMBRIDGE;

const APP: &str = "\
import time
def double(n):
    result = n * 2
    return result
print(double(21))
";
const SLEEPS: &str = "import time\nprint('up', flush=True)\ntime.sleep(600)\n";

/// A backend with a workspace.
struct World {
    environment: TestEnvironment,
    host: Option<FakeHost>,
}

impl World {
    fn native() -> Self {
        let environment = configured();
        environment.write("app.py", APP);
        environment.write("sleeps.py", SLEEPS);
        Self { environment, host: None }
    }

    fn editor() -> Self {
        let mut world = Self::native();
        let (started, paused) = (AtomicBool::new(false), AtomicBool::new(false));
        world.host = Some(FakeHost::start(world.environment.path(), move |job| {
            extension(job, &started, &paused)
        }));
        world
    }

    fn server(&self, arguments: &[&str]) -> Server {
        self.environment.debug_server(TERMBRIDGE, arguments)
    }

    /// Who has to be the one that answers.
    fn backend(&self) -> &'static str {
        if self.host.is_some() { "editor" } else { "native" }
    }
}

/// What the extension would do, as far as these tests ask for it.
fn extension(job: &Job, started: &AtomicBool, paused: &AtomicBool) -> Reply {
    let no_session = || Reply::Error("E_NO_SESSION", "No active debug session", json!(null));
    let is_started = started.load(Ordering::SeqCst);
    match job.script() {
        "breakpoint.set" => {
            let (path, line) = (job.param("path"), job.param("line"));
            Reply::Data(json!({"breakpoint": {"path": path, "line": line, "verified": true}}))
        }
        "debug.start" => {
            started.store(true, Ordering::SeqCst);
            let mut answer = json!({"sessionId": "vscode-1", "sessionName": job.param("launch")});
            if *job.param("wait") == json!(true) {
                paused.store(true, Ordering::SeqCst);
                answer["event"] = json!("stopped");
            }
            Reply::Data(answer)
        }
        "debug.status" if is_started => {
            let frame = json!({"id": 7, "name": "main", "line": 4, "source": {"path": "app.py"}});
            let paused = paused.load(Ordering::SeqCst);
            let frames = if paused { vec![frame] } else { Vec::new() };
            Reply::Data(json!({
                "isActive": true, "isPaused": paused, "sessionId": "vscode-1", "stackFrames": frames,
            }))
        }
        "debug.evaluate" if is_started && *job.param("frameId") == json!(7) => {
            Reply::Data(json!({"result": "42", "type": "int", "variablesReference": 0}))
        }
        "debug.wait-for-hit" if is_started => Reply::Custom(Box::new(|job: &Job| {
            job.progress(1, 10, "waiting for a stop");
            job.wait_for_cancel(Duration::from_secs(30));
        })),
        "deploy.preview" => Reply::Data(json!({"url": job.param("branch")})),
        _ => no_session(),
    }
}

macro_rules! criteria {
    ($($name:ident),* $(,)?) => {
        mod native {
            $(#[test] fn $name() { super::$name(super::World::native()); })*
        }
        mod editor {
            $(#[test] fn $name() { super::$name(super::World::editor()); })*
        }
    };
}

criteria!(
    criterion_01_agent_tool_discovery,
    criterion_02_basic_tool_execution,
    criterion_03_parameter_validation,
    criterion_04_multi_tool_workflow,
    criterion_05_error_recovery,
    criterion_06_automatic_metadata_sync,
    criterion_07_consistent_tool_naming,
    criterion_08_prerequisites_communication,
    criterion_09_timeout_handling,
    criterion_10_cancellation_support,
);

fn tools(server: &mut Server) -> Vec<Value> {
    let mut list = server.request("tools/list", json!({})).expect("a list");
    let Value::Array(tools) = list["tools"].take() else { panic!("no tools: {list:#}") };
    tools
}

/// The debugging tools are those with a category.
fn debug_tools(server: &mut Server) -> Vec<Value> {
    tools(server).into_iter().filter(|tool| tool["_meta"]["category"].is_string()).collect()
}

fn criterion_01_agent_tool_discovery(world: World) {
    let mut server = world.server(&[]);
    let tools = debug_tools(&mut server);
    assert!(tools.len() >= 40, "{}", tools.len());
    for tool in &tools {
        let words = tool["description"].as_str().unwrap_or_default();
        assert!(tool["name"].is_string() && !words.is_empty(), "{tool:#}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool:#}");
        for (name, property) in tool["inputSchema"]["properties"].as_object().expect("properties") {
            let is_typed = property["type"].is_string() || property["enum"].is_array();
            assert!(is_typed, "{name} of {tool:#}");
        }
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool:#}");
        assert!(tool["outputSchema"].is_object(), "{tool:#}");
        let page = json!({"id": tool["name"]});
        assert!(data(&mut server, "docs_get", page)["text"].is_string());
    }
}

fn criterion_02_basic_tool_execution(world: World) {
    let mut server = world.server(&[]);
    let arguments = json!({"path": "app.py", "line": 3});
    let answer = server.ok("breakpoint_add", arguments).structured;
    assert_eq!(answer["meta"]["backend"], world.backend());
    let breakpoint = &answer["data"]["breakpoint"];
    let path = world.environment.path().join("app.py");
    assert_eq!((&breakpoint["path"], &breakpoint["line"]), (&json!(path), &json!(3)));
    if let Some(host) = &world.host {
        assert_eq!(host.ran().len(), 1, "the job went through the folder");
        let left = std::fs::read_dir(host.execute()).expect("a folder").count();
        assert_eq!(left, 0, "and was cleaned up");
    }
}

fn criterion_03_parameter_validation(world: World) {
    let mut server = world.server(&[]);
    let cases = [
        (json!({"path": "app.py"}), "`line` is missing"),
        (json!({"path": "app.py", "line": "three"}), "`line` is the string \"three\""),
        (json!({"path": "app.py", "line": 0}), "at least 1"),
        (json!({"path": "app.py", "line": 3, "colour": 1}), "unknown argument `colour`"),
        (json!({"path": "app.py", "line": 3, "hitcondition": "5"}), "Did you mean `hitCondition`?"),
    ];
    for (arguments, words) in cases {
        let (code, text) = server.error("breakpoint_set", arguments);
        assert_eq!(code, "E_INVALID_PARAMS");
        assert!(text.contains(words), "{text}");
    }
    let (code, text) = server.error("debug_evaluate", json!({"expression": "1", "context": "x"}));
    assert_eq!(code, "E_INVALID_PARAMS");
    assert!(text.contains("repl, watch, hover"), "{text}");
    if let Some(host) = &world.host {
        assert_eq!(host.ran(), [] as [&str; 0], "the editor was not asked");
    }
}

fn criterion_04_multi_tool_workflow(world: World) {
    let mut server = world.server(&[]);
    server.ok("breakpoint_add", json!({"path": "app.py", "line": 4}));
    let start = match world.host {
        Some(_) => json!({"launch": "App", "wait": true}),
        None => json!({"program": "app.py", "wait": true, "timeoutMs": PATIENCE_MS}),
    };
    let started = data(&mut server, "debug_start", start);
    assert!(started["sessionId"].is_string(), "{started:#}");
    let frame = &started["stop"]["frames"][0]["id"];
    assert!(frame.is_u64(), "{started:#}");
    let arguments = json!({"expression": "result", "frameId": frame});
    assert_eq!(data(&mut server, "debug_evaluate", arguments)["result"], "42");
}

fn criterion_05_error_recovery(world: World) {
    let mut server = world.server(&[]);
    let answer = server.call("debug_evaluate", json!({"expression": "1"})).expect("an answer");
    assert!(answer.is_error);
    assert!(answer.text.starts_with("[E_NO_SESSION]"), "{}", answer.text);
    let envelope = &answer.structured;
    assert_eq!((&envelope["ok"], &envelope["type"]), (&json!(false), &json!("error")));
    let error = &envelope["error"];
    assert_eq!(error["code"], "E_NO_SESSION");
    assert!(error["hint"].as_str().expect("a hint").contains("debug_start"), "{error:#}");
    assert!(error["next_tools"].to_string().contains("debug_start"), "{error:#}");
}

fn criterion_06_automatic_metadata_sync(world: World) {
    let before = tools(&mut world.server(&[]));
    let metadata = "\
alias: deploy.preview
description: Deploys a branch.
params:
  branch: {type: string, required: true, pattern: '^[a-z]+$'}
  copies: {type: integer, default: 2, min: 1, max: 9}
";
    world.environment.write("src/vsc-scripts/deploy/preview.meta.yaml", metadata);
    world.environment.write("src/vsc-scripts/broken.meta.yaml", "alias: [not, a, name]\n");
    if world.host.is_none() {
        assert_eq!(
            tools(&mut world.server(&[])),
            before,
            "not without an editor or the user's word"
        );
    }
    let flags = if world.host.is_some() { &[][..] } else { &["--workspace-tools"] };
    let mut server = world.server(flags);
    let after = tools(&mut server);
    assert_eq!(after.len(), before.len() + 1, "the broken one is left out");
    let tool = after.iter().find(|tool| tool["name"] == "deploy_preview").expect("the new tool");
    let expected = json!({
        "type": "object", "required": ["branch"],
        "properties": {
            "branch": {"type": "string", "pattern": "^[a-z]+$"},
            "copies": {"type": "integer", "default": 2, "maximum": 9},
        },
    });
    assert_eq!(tool["inputSchema"], expected);
    assert_eq!(tool["description"], "[workspace] Deploys a branch.");
    assert_eq!(server.error("deploy_preview", json!({"branch": "A1"})).0, "E_INVALID_PARAMS");
    let arguments = json!({"branch": "main"});
    match world.host {
        Some(_) => assert_eq!(data(&mut server, "deploy_preview", arguments)["url"], "main"),
        None => assert_eq!(server.error("deploy_preview", arguments).0, "E_BRIDGE_UNAVAILABLE"),
    }
}

fn criterion_07_consistent_tool_naming(world: World) {
    for tool in debug_tools(&mut world.server(&[])) {
        let name = tool["name"].as_str().expect("a name");
        let snake = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        assert!(snake && name.contains('_'), "{name}");
        let category = tool["_meta"]["category"].as_str().expect("a category");
        assert!(name.starts_with(&format!("{category}_")), "{name} is in {category}");
    }
}

fn criterion_08_prerequisites_communication(world: World) {
    let mut server = world.server(&[]);
    let (code, text) = server.error("debug_continue", json!({}));
    assert_eq!(code, "E_NO_SESSION");
    assert!(text.contains("debug_start"), "{text}");
    let tools = debug_tools(&mut server);
    let words = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).expect("the tool");
        tool["description"].as_str().expect("words").to_owned()
    };
    assert!(
        words("debug_continue").contains("Use after debug_start"),
        "{}",
        words("debug_continue")
    );
    let page = data(&mut server, "docs_get", json!({"id": "debug_start"}));
    assert!(page["text"].as_str().expect("text").contains("breakpoint_set"), "{page:#}");
}

/// Starts something that does not stop by itself.
fn start_sleeping(world: &World, server: &mut Server) {
    let start = match world.host {
        Some(_) => json!({"launch": "Sleeps"}),
        None => json!({"program": "sleeps.py", "timeoutMs": PATIENCE_MS}),
    };
    data(server, "debug_start", start);
}

fn criterion_09_timeout_handling(world: World) {
    let mut server = world.server(&[]);
    start_sleeping(&world, &mut server);
    let (code, text) = server.error("debug_wait_for_hit", json!({"timeoutMs": 80}));
    assert_eq!(code, "E_TIMEOUT", "{text}");
    assert!(text.contains("80 ms"), "{text}");
    drop(server);
    // For all tools at once, where the call does not say.
    let mut server = world.server(&["--timeout", "90ms"]);
    if world.host.is_none() {
        let start = json!({"program": "sleeps.py", "timeoutMs": PATIENCE_MS});
        data(&mut server, "debug_start", start);
    }
    let (code, text) = server.error("debug_wait_for_hit", json!({}));
    assert_eq!(code, "E_TIMEOUT");
    assert!(text.contains("90 ms"), "{text}");
}

fn criterion_10_cancellation_support(world: World) {
    let mut server = world.server(&[]);
    start_sleeping(&world, &mut server);
    let arguments = json!({"timeoutMs": 50_000});
    let params = json!({
        "name": "debug_wait_for_hit", "arguments": arguments, "_meta": {"progressToken": "p"},
    });
    let id = server.begin("tools/call", params).expect("is sent");
    let is_progress = |message: &Value| message["method"] == "notifications/progress";
    let progress = server.receive(is_progress).expect("progress");
    if world.host.is_some() {
        let params = &progress["params"];
        assert_eq!(
            (&params["message"], &params["progress"]),
            (&json!("waiting for a stop"), &json!(10.0))
        );
    }
    let cancelled = json!({"requestId": id, "reason": "enough"});
    let notice =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled});
    server.send(&notice).expect("is sent");
    match &world.host {
        Some(host) => {
            // The extension was told, has ended, and nothing is left of the job.
            let deadline = Instant::now() + Duration::from_millis(PATIENCE_MS);
            while std::fs::read_dir(host.execute()).expect("a folder").count() > 0 {
                assert!(Instant::now() < deadline, "the job's folder is still there");
                std::thread::yield_now();
            }
        }
        None => {
            let status = data(&mut server, "debug_status", json!({}));
            assert_eq!(status["sessions"][0]["state"], "running", "only the wait is over");
        }
    }
    // A cancelled request gets no answer, and the server serves on.
    server.ok("docs_list", json!({"category": "guide"}));
    assert_eq!(server.close(), Some(0));
}
