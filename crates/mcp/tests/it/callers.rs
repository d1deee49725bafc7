//! Whose session is whose: every tool that takes one, as its owner, as another client of the same principal, and as
//! another principal.

use std::sync::Arc;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use termbridge_bridge::policy::{Policy, PolicyConfig};
use termbridge_bridge::session::{Sessions, Settings};
use termbridge_bridge::{Bridge, BridgeSettings, Client, DebugSettings, NativeBackend};
use termbridge_mcp::{McpServer, Offer, Toolset};
use tokio_util::sync::CancellationToken;

/// Every tool that takes the id of a session, with what else it needs.
fn calls(session: &str) -> Vec<(&'static str, Value)> {
    let all = [
        ("view_screen", json!({})),
        ("send_keys", json!({"keys": "x"})),
        ("wait_for", json!({"idle_ms": 1, "timeout_ms": 1})),
        ("resize_terminal", json!({"cols": 90, "rows": 30})),
        ("get_terminal_output", json!({})),
        ("switch_session", json!({})),
        ("execute_command", json!({"command": "true"})),
        ("restart_app", json!({})),
        ("stop_app", json!({})),
    ];
    let with_id = |(tool, mut arguments): (&'static str, Value)| {
        arguments["session_id"] = session.into();
        (tool, arguments)
    };
    all.into_iter().map(with_id).collect()
}

async fn call(server: &McpServer, tool: &str, arguments: &Value) -> CallToolResult {
    let arguments = arguments.as_object().cloned().expect("an object");
    let answer = server.run_tool(tool, arguments, CancellationToken::new()).await;
    answer.unwrap_or_else(|| panic!("no tool {tool}"))
}

/// The code of an error.
fn code(answer: &CallToolResult) -> Option<String> {
    let code = answer.structured_content.as_ref()?["error"]["code"].as_str()?;
    answer.is_error.unwrap_or_default().then(|| code.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_their_owner_s() {
    let sessions = Sessions::new(Settings::default());
    let backend = Arc::new(NativeBackend::new(sessions.clone()));
    let home = std::env::temp_dir();
    let policy = Policy::new(&PolicyConfig::default(), &home).expect("a policy");
    let mut settings = BridgeSettings::new("bash", home.clone(), home.clone());
    // Nobody's start-up files.
    settings.env.insert("HOME".into(), home.display().to_string());
    let offer = Offer::new(Toolset::ALL, DebugSettings::new(home));
    let server = McpServer::new(Bridge::new(backend, settings, policy, None), offer);
    let server = server.expect("all tools are known");
    let client = |principal: &str, label: &str| {
        let (principal, label) = (principal.to_owned(), label.to_owned());
        server.for_client(Client { principal, label, is_admin: false })
    };
    let (mine, window, stranger) = (client("me", "one"), client("me", "two"), client("you", "one"));
    let made = call(&mine, "create_session", &json!({"name": "mine"})).await;
    let id = made.structured_content.expect("a row")["session_id"].as_str().map(str::to_owned);
    let id = id.expect("an id");
    for (other, refused) in [(&window, "FORBIDDEN"), (&stranger, "SESSION_NOT_FOUND")] {
        for (tool, arguments) in calls(&id) {
            let answer = call(other, tool, &arguments).await;
            assert_eq!(code(&answer).as_deref(), Some(refused), "{tool}: {answer:?}");
        }
        let listed = call(other, "list_sessions", &json!({"all": true})).await;
        assert_eq!(listed.structured_content.expect("a list")["sessions"], json!([]));
        // A name, and the session that is used without one, are each client's own.
        let answer = call(other, "get_terminal_output", &json!({})).await;
        assert_eq!(code(&answer).as_deref(), Some("SESSION_NOT_FOUND"), "{answer:?}");
    }
    let listed = call(&mine, "list_sessions", &json!({})).await;
    assert_eq!(listed.structured_content.expect("a list")["sessions"][0]["session_id"], id);
    // An agent of the same client uses it by its id; the last ones end it.
    for (tool, arguments) in calls(&id) {
        let answer = call(&mine, tool, &arguments).await;
        let code = code(&answer);
        let is_refused = matches!(code.as_deref(), Some("FORBIDDEN" | "SESSION_NOT_FOUND"));
        assert!(!is_refused, "{tool}: {answer:?}");
    }
    sessions.shutdown().await;
}
