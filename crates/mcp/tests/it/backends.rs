//! Two backends side by side: real terminals, and screens that are none of ours.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use tempfile::TempDir;
use termbridge_bridge::policy::{Policy, PolicyConfig};
use termbridge_bridge::session::{SessionId, Sessions, Settings};
use termbridge_bridge::{
    Bridge, BridgeSettings, Caller, DebugSettings, NativeBackend, NewSession, TerminalBackend,
};
use termbridge_mcp::{McpServer, Offer, Toolset};
use tokio_util::sync::CancellationToken;

use crate::typewriter::{Listing, TARGET, Typewriters};

struct World {
    bridge: Bridge,
    server: McpServer,
    sessions: Sessions,
    typewriters: Arc<Typewriters>,
    _folder: TempDir,
}

impl World {
    fn new() -> Self {
        let sessions = Sessions::new(Settings::default());
        let native = Arc::new(NativeBackend::new(sessions.clone()));
        let typewriters = Typewriters::new();
        let backends: Vec<Arc<dyn TerminalBackend>> =
            vec![native, Arc::clone(&typewriters) as Arc<dyn TerminalBackend>];
        let folder = TempDir::new().expect("a temporary folder");
        let home = folder.path().to_owned();
        let policy = Policy::new(&PolicyConfig::default(), &home).expect("a policy");
        let mut settings = BridgeSettings::new("bash", home.clone(), home.clone());
        // No start-up files of whoever runs the tests.
        settings.env.insert("HOME".into(), home.display().to_string());
        let bridge = Bridge::with_backends(backends, settings, policy, None).expect("backends");
        let offer = Offer::new(Toolset::ALL, DebugSettings::new(home));
        let server = McpServer::new(bridge.clone(), offer).expect("all tools are known");
        Self { bridge, server, sessions, typewriters, _folder: folder }
    }

    fn list(&self, listing: Listing) {
        *self.typewriters.listing.lock().unwrap_or_else(PoisonError::into_inner) = listing;
    }

    /// Makes a session of the second backend.
    async fn typewriter(&self) -> Result<String, String> {
        let new = NewSession { target: Some(TARGET.into()), ..NewSession::default() };
        let made = self.bridge.create_labelled(&Caller::default(), new).await;
        made.map(|info| info.id.to_string()).map_err(|error| error.to_string())
    }

    async fn try_call(&self, tool: &str, arguments: Value) -> CallToolResult {
        let arguments = arguments.as_object().cloned().expect("an object");
        let answer = self.server.run_tool(tool, arguments, CancellationToken::new()).await;
        answer.unwrap_or_else(|| panic!("no tool {tool}"))
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.try_call(tool, arguments).await;
        assert_ne!(answer.is_error, Some(true), "{tool}: {answer:?}");
        answer.structured_content.unwrap_or_default()
    }

    async fn text(&self, tool: &str, arguments: Value) -> String {
        let answer = self.try_call(tool, arguments).await;
        let text = answer.content.first().and_then(|content| content.as_text());
        text.expect("a text").text.clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_screen_tool_works_on_a_backend_that_is_not_ours() {
    let world = World::new();
    let id = world.typewriter().await.expect("made");
    let with_id = |mut arguments: Value| {
        arguments["session_id"] = id.as_str().into();
        arguments
    };
    let typed = world.call("send_keys", with_id(json!({"text": "Dear Ada"}))).await;
    assert!(typed["view"]["content"].to_string().contains("Dear Ada"), "{typed}");
    let seen = world.text("view_screen", with_id(json!({}))).await;
    assert!(seen.contains("Dear Ada"), "{seen}");
    let waited = world.call("wait_for", with_id(json!({"text": "Dear", "timeout_ms": 5000}))).await;
    assert_eq!(waited["timed_out"], false, "{waited}");
    let sized = world.call("resize_terminal", with_id(json!({"cols": 90, "rows": 30}))).await;
    assert_eq!((&sized["cols"], &sized["rows"]), (&json!(90), &json!(30)));
    let size = world.call("get_screen_size", with_id(json!({}))).await;
    assert_eq!((&size["cols"], &size["rows"]), (&json!(90), &json!(30)));
    let cursor = world.call("get_cursor_position", with_id(json!({}))).await;
    assert_eq!(cursor["col"], 8, "{cursor}");
    let output = world.text("get_terminal_output", with_id(json!({}))).await;
    assert!(output.contains("Dear Ada"), "{output}");
    let steps = json!({"steps": [{"tool": "send_keys", "arguments": {"session_id": id, "text": ", hello"}}]});
    let stepped = world.text("run_steps", steps).await;
    assert!(stepped.contains("hello"), "{stepped}");
    world.call("restart_app", with_id(json!({}))).await;
    let seen = world.text("view_screen", with_id(json!({}))).await;
    assert!(!seen.contains("Dear Ada"), "{seen}");
    let stopped = world.call("stop_app", with_id(json!({}))).await;
    assert_eq!(stopped["already_ended"], false);
    // It takes no commands, and says so.
    let refused = world.try_call("execute_command", with_id(json!({"command": "true"}))).await;
    assert_eq!(refused.is_error, Some(true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_reach_the_backend_that_has_the_session() {
    let world = World::new();
    let typewriter = world.typewriter().await.expect("made");
    let shell = world.call("create_session", json!({})).await;
    let shell = shell["session_id"].as_str().expect("an id").to_owned();
    let listed = world.call("list_sessions", json!({})).await;
    let rows = listed["sessions"].as_array().expect("rows");
    let targets: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| (row["session_id"].as_str().unwrap(), row["target"].as_str().unwrap()))
        .collect();
    assert_eq!(targets, [(shell.as_str(), "local"), (typewriter.as_str(), TARGET)]);
    // A command without a session goes to the shell, which is the current one.
    let ran = world.call("execute_command", json!({"command": "echo $((6 * 7))"})).await;
    assert_eq!((&ran["session_id"], &ran["output"]), (&json!(shell), &json!("42\n")), "{ran}");
    for (id, text) in [(&shell, "42"), (&typewriter, "paper")] {
        if *id == typewriter {
            world.call("send_keys", json!({"session_id": id, "text": text})).await;
        }
        let seen = world.text("view_screen", json!({"session_id": id})).await;
        assert!(seen.contains(text), "{seen}");
    }
    let missing = world.try_call("view_screen", json!({"session_id": "nobody"})).await;
    assert_eq!(missing.structured_content.unwrap()["error"]["code"], "SESSION_NOT_FOUND");
    world.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backend_that_does_not_list_its_sessions_stops_no_other() {
    let world = World::new();
    let typewriter = world.typewriter().await.expect("made");
    let shell = world.call("create_session", json!({})).await;
    for (listing, why) in [(Listing::Fails, "out of paper"), (Listing::Hangs, "no answer within")] {
        world.list(listing);
        let list = world.call("list_sessions", json!({}));
        let listed = tokio::time::timeout(Duration::from_secs(20), list).await.expect("no hang");
        let rows = listed["sessions"].as_array().expect("rows");
        assert_eq!(rows.len(), 1, "{listed}");
        assert_eq!(rows[0]["session_id"], shell["session_id"]);
        let note = listed["notes"][0].as_str().expect("a note");
        assert!(note.contains(TARGET) && note.contains(why), "{note}");
        let text = world.text("list_sessions", json!({})).await;
        assert!(text.contains(why), "{text}");
        // Its sessions are still there for who knows their ids.
        world.call("view_screen", json!({"session_id": typewriter})).await;
    }
    world.list(Listing::Works);
    let listed = world.call("list_sessions", json!({})).await;
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(2));
    assert!(listed.get("notes").is_none(), "{listed}");
    world.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_is_one_session_s() {
    let world = World::new();
    let shell = world.call("create_session", json!({})).await;
    let shell = shell["session_id"].as_str().expect("an id").to_owned();
    *world.typewriters.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(shell.clone());
    let refused = world.typewriter().await.expect_err("the id is taken");
    assert!(refused.contains(&shell) && refused.contains(TARGET), "{refused}");
    // The id still leads to the shell, and is listed once.
    assert!(world.typewriters.has(&SessionId::from_text(&shell)));
    let listed = world.call("list_sessions", json!({})).await;
    let rows = listed["sessions"].as_array().expect("rows");
    assert_eq!((rows.len(), &rows[0]["target"]), (1, &json!("local")), "{listed}");
    let ran = world.call("execute_command", json!({"command": "true", "session_id": shell})).await;
    assert_eq!(ran["exit_code"], 0);
    world.sessions.shutdown().await;
}
