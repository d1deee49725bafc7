//! Every tool of the catalogue is served without an editor, or says why not.

use serde_json::{Map, Value, json};
use termbridge_bridge::session::Settings;
use termbridge_bridge::{BackendChoice, Caller, DebugCall, DebugSettings};
use tokio_util::sync::CancellationToken;

use crate::sessions::{Hub, LIMIT};

/// What only an editor has: windows, cursors, its own test view.
const EDITOR_ONLY: [&str; 4] =
    ["editor.get-context", "editor.goto-line", "editor.show-testing-ui", "util.restart-vscode"];

/// Something for each argument that must be given.
fn arguments(tool: &termbridge_bridge::catalog::Tool) -> Map<String, Value> {
    let required = tool.metadata().params.iter().filter(|(_, param)| param.required);
    required
        .map(|(name, _)| {
            let value = match name.as_str() {
                "filters" => json!({}),
                name if name.ends_with("Id") || name == "line" => json!(1),
                name if name.ends_with("Reference") => json!(1),
                _ => json!("nothing"),
            };
            (name.clone(), value)
        })
        .collect()
}

#[tokio::test]
async fn every_tool_has_a_native_function_or_says_why_not() {
    let hub = Hub::with(Settings::default());
    let folder = tempfile::tempdir().expect("a folder");
    let mut settings = DebugSettings::new(folder.path().to_owned());
    settings.backend = BackendChoice::Native;
    let debugging = hub.bridge.debuggers(settings, &[]).of(&Caller::default()).expect("room");
    let mut seen = 0;
    for tool in debugging.catalog().enabled() {
        let call = DebugCall {
            caller: Caller::default(),
            script: tool.alias().to_owned(),
            arguments: arguments(tool),
            timeout: LIMIT,
            cancel: CancellationToken::new(),
            progress: std::sync::Arc::new(|_, _| {}),
        };
        let code = debugging.call(tool, call).await.result.err().map(|failure| failure.code);
        let code = code.as_deref().unwrap_or("none");
        assert_ne!(code, "E_SCRIPT_NOT_FOUND", "{} has no native function", tool.alias());
        assert_ne!(code, "E_INTERNAL", "{} fails for a reason of ours", tool.alias());
        let says_why = code == "E_BRIDGE_UNAVAILABLE";
        assert_eq!(says_why, EDITOR_ONLY.contains(&tool.alias()), "{}: {code}", tool.alias());
        seen += 1;
    }
    assert!(seen > 40, "{seen}");
}
