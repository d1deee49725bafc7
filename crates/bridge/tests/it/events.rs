//! Questions to the debugger's event store do not hold up the runtime.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::mpsc;

use serde_json::json;
use termbridge_bridge::session::Settings;
use termbridge_bridge::{BackendChoice, Caller, DebugCall, DebugSettings};
use tokio_util::sync::CancellationToken;

use crate::sessions::{Hub, LIMIT};

/// The file of a finished session that can be read only once someone writes it.
#[tokio::test(flavor = "current_thread")]
async fn a_slow_file_leaves_the_runtime_free() {
    let hub = Hub::with(Settings::default());
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("slow.ndjson");
    let made = std::process::Command::new("mkfifo").arg(&file).status();
    assert!(made.expect("mkfifo").success());
    let mut settings = DebugSettings::new(folder.path().to_owned());
    settings.backend = BackendChoice::Native;
    settings.native.state_folder = Some(folder.path().to_owned());
    let debugging = hub.bridge.debuggers(settings, &[]).of(&Caller::default()).expect("room");
    let (free, is_free) = mpsc::channel();
    let writer = std::thread::spawn(move || {
        // Also written when the runtime is held up, so that the test fails instead of hanging.
        let was_free = is_free.recv_timeout(LIMIT / 4).is_ok();
        let mut pipe = OpenOptions::new().write(true).open(file).expect("someone reads");
        let label = json!({"id": "slow", "name": "app", "adapter": "debugpy"});
        let body = json!({"category": "stdout", "output": "from the file\n"});
        let record = json!({"seq": 1, "time": 1, "event": "output", "body": body});
        write!(pipe, "{label}\n{record}\n").expect("is written");
        was_free
    });
    let logs = debugging.catalog().get("dap_logs").expect("is there");
    let arguments = json!({"sessionId": "slow"}).as_object().expect("an object").clone();
    let call = DebugCall {
        caller: Caller::default(),
        script: "dap.logs".to_owned(),
        arguments,
        timeout: LIMIT,
        cancel: CancellationToken::new(),
        progress: std::sync::Arc::new(|_, _| {}),
    };
    let (answer, ()) = tokio::join!(debugging.call(logs, call), async {
        // Polled after the call, on the same thread.
        free.send(()).expect("someone waits");
    });
    let data = answer.result.expect("an answer");
    let data = data.to_json();
    assert_eq!(data["entries"][0]["text"], "from the file", "{data:#}");
    assert!(writer.join().expect("no panic"), "the runtime went on while the file was read");
}
