//! The published extension after a program of js-debug has ended: the editor still lists the session that was started,
//! whose debugger is gone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termbridge_testkit::{FakeHost, HostOptions, Job, Reply, Server, TestEnvironment};

use super::{configured, data};
use crate::TERMBRIDGE;

const NO_DEBUGGER: &str = "No debugger available, can not send 'evaluate'";

/// What the editor lists, innermost last: the parent that was started, and the child that runs the program.
type Listed = Arc<Mutex<Vec<&'static str>>>;

struct Editor {
    environment: TestEnvironment,
    host: FakeHost,
    listed: Listed,
    stopped: Arc<Mutex<Vec<String>>>,
}

fn session_of(listed: &[&str]) -> Value {
    match listed.last() {
        None => json!({"isActive": false, "isPaused": false, "message": "No active debug session"}),
        Some(&"parent") => json!({
            "isActive": true, "isPaused": false, "sessionId": "parent", "sessionType": "pwa-node",
            "sessionName": "main",
        }),
        Some(id) => json!({
            "isActive": true, "isPaused": true, "sessionId": id, "sessionType": "pwa-node",
            "sessionName": "main.js [7]", "threads": [{"id": 1, "name": "main.js [7]"}],
            "currentThread": {"id": 1}, "totalFrames": 1,
            "stackFrames": [{"id": 3, "name": "f", "line": 1, "source": {"path": "/ws/main.js"}}],
            "scopes": [{"name": "Local", "variablesReference": 4, "expensive": false}],
        }),
    }
}

impl Editor {
    fn start() -> Self {
        let environment = configured();
        let listed: Listed = Arc::default();
        let stopped: Arc<Mutex<Vec<String>>> = Arc::default();
        let (lists, stops) = (Arc::clone(&listed), Arc::clone(&stopped));
        // Two failures open its breaker.
        let options = HostOptions { breaker: 2, ..HostOptions::default() };
        let together = AtomicUsize::new(0);
        let host = FakeHost::with_options(environment.path(), options, move |job: &Job| {
            // What a stop is explained by may be asked for in any order.
            if matches!(job.script(), "debug.get-variable" | "dap.logs") {
                together.fetch_add(1, Ordering::SeqCst);
                let began = Instant::now();
                while together.load(Ordering::SeqCst) < 2 && began.elapsed() < PATIENCE {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            let mut listed = lists.lock().expect("sessions");
            let active = listed.last().copied();
            let is_gone = active == Some("parent");
            match job.script() {
                "debug.start" => {
                    listed.extend(["parent", "child"]);
                    Reply::Data(
                        json!({"event": "stopped", "sessionId": "parent", "sessionName": "main"}),
                    )
                }
                "debug.status" => Reply::Data(session_of(&listed)),
                "debug.continue" if is_gone => Reply::Custom(Box::new(|job: &Job| {
                    job.wait_for_cancel(PATIENCE);
                })),
                "debug.continue" if active.is_some() => {
                    listed.pop();
                    Reply::Data(json!({"event": "terminated", "sessionId": "child"}))
                }
                "debug.stop" if active.is_some() => {
                    let id = job.param("sessionId").as_str().or(active).unwrap_or_default();
                    listed.retain(|known| *known != id);
                    stops.lock().expect("stops").push(id.to_owned());
                    Reply::Data(json!({"status": "terminated", "stoppedSessions": [id]}))
                }
                "debug.get-variable" => Reply::Data(json!({"children": [], "pagination": {}})),
                "dap.logs" => Reply::Data(json!({"logs": [], "matched": 0})),
                "debug.evaluate" if active == Some("child") => Reply::Data(json!({"result": "1"})),
                _ if is_gone => Reply::Error("E_INTERNAL", NO_DEBUGGER, Value::Null),
                _ => Reply::Error("E_INTERNAL", "No active debug session", Value::Null),
            }
        });
        Self { environment, host, listed, stopped }
    }

    fn server(&self) -> Server {
        self.environment.debug_server(TERMBRIDGE, &["--debug-backend", "editor"])
    }

    fn stopped(&self) -> Vec<String> {
        std::mem::take(&mut *self.stopped.lock().expect("stops"))
    }
}

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn a_session_whose_debugger_is_gone_is_none() {
    let editor = Editor::start();
    let mut server = editor.server();
    let start = json!({"launch": "main", "wait": true});
    data(&mut server, "debug_start", start.clone());
    assert!(editor.host.most_running() >= 2, "locals and output are asked for at once");
    assert_eq!(data(&mut server, "debug_evaluate", json!({"expression": "1"}))["result"], "1");
    assert_eq!(data(&mut server, "debug_continue", json!({}))["state"], "exited");
    assert_eq!(data(&mut server, "debug_status", json!({}))["active"], false);
    // None of these opens the breaker of the extension, or waits for what cannot come.
    for _ in 0..3 {
        for (tool, arguments) in [
            ("debug_evaluate", json!({"expression": "1"})),
            ("debug_continue", json!({})),
            ("debug_step_over", json!({})),
            ("debug_list_variables", json!({})),
            ("debug_wait_for_hit", json!({})),
            ("debug_stack", json!({})),
        ] {
            let (code, text) = server.error(tool, arguments);
            assert_eq!(code, "E_NO_SESSION", "{tool}: {text}");
            assert!(!text.contains("debug_attach"), "the extension has none: {text}");
        }
    }
    // What the editor still lists is ended.
    assert_eq!(data(&mut server, "debug_stop", json!({}))["stopped"], true);
    assert_eq!(editor.stopped(), ["parent"]);
    let (code, text) = server.error("debug_stop", json!({}));
    assert_eq!(code, "E_NO_SESSION", "{text}");
    data(&mut server, "debug_start", start);
}

#[test]
fn a_stop_ends_the_parent_too_and_nobody_elses_session() {
    let editor = Editor::start();
    editor.listed.lock().expect("sessions").push("other");
    let mut server = editor.server();
    data(&mut server, "debug_start", json!({"launch": "main", "wait": true}));
    assert_eq!(data(&mut server, "debug_stop", json!({}))["sessionId"], "child");
    assert_eq!(editor.stopped(), ["child", "parent"]);
    assert_eq!(*editor.listed.lock().expect("sessions"), ["other"]);
}
