//! Files of the debugger's event store.

use serde_json::json;
use termbridge_bridge::session::Settings;
use termbridge_bridge::{BackendChoice, Caller, DebugCall, DebugSettings};
use tokio_util::sync::CancellationToken;

use crate::sessions::{Hub, LIMIT};

#[tokio::test]
async fn a_pipe_in_place_of_a_file_is_not_waited_for() {
    let hub = Hub::with(Settings::default());
    let folder = tempfile::tempdir().expect("a folder");
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.ndjson")).status();
    assert!(made.expect("mkfifo").success());
    let mut settings = DebugSettings::new(folder.path().to_owned());
    settings.backend = BackendChoice::Native;
    settings.native.state_folder = Some(folder.path().to_owned());
    let debugging = hub.bridge.debuggers(settings, &[]).of(&Caller::default()).expect("room");
    let logs = debugging.catalog().get("dap_logs").expect("is there");
    let arguments = json!({"sessionId": "pipe"}).as_object().expect("an object").clone();
    let call = DebugCall {
        caller: Caller::default(),
        script: "dap.logs".to_owned(),
        arguments,
        timeout: LIMIT,
        cancel: CancellationToken::new(),
        progress: std::sync::Arc::new(|_, _| {}),
    };
    let answer = tokio::time::timeout(LIMIT, debugging.call(logs, call)).await;
    let failure = answer.expect("it answers").result.expect_err("there is no such session");
    assert_eq!(failure.code, "E_NO_SESSION");
}
