//! Whose session is whose: every tool, resource and subscription, as the session's owner, as another agent, as another
//! client of the same principal, and as another principal.

use std::collections::BTreeSet;

use rmcp::model::{CallToolResult, JsonObject, Tool};
use serde_json::{Value, json};
use tempfile::TempDir;
use termbridge_bridge::session::Sessions;
use termbridge_bridge::{BackendChoice, Client, DebugSettings, Scope};
use termbridge_mcp::{McpServer, Offer, Toolset};
use tokio_util::sync::CancellationToken;

use crate::connection::Connection;
use crate::fake_adapter;
use crate::support::bridge_at;

/// A server with a history and without an editor.
struct World {
    server: McpServer,
    sessions: Sessions,
    home: TempDir,
}

impl World {
    fn new() -> Self {
        let home = TempDir::new().expect("a temporary folder");
        let (bridge, sessions) = bridge_at(home.path());
        let mut debug = DebugSettings::new(home.path().to_owned());
        debug.backend = BackendChoice::Native;
        debug.native.state_folder = Some(home.path().join("debug"));
        let server = McpServer::new(bridge, Offer::new(Toolset::ALL, debug));
        Self { server: server.expect("all tools are known"), sessions, home }
    }

    fn client(&self, principal: &str, name: &str) -> McpServer {
        self.server.for_client(Client {
            principal: principal.to_owned(),
            name: Some(name.to_owned()),
            workspace: Some(self.home.path().to_owned()),
            ..Client::default()
        })
    }

    async fn end(self) {
        self.server.end_debugging().await;
        self.sessions.shutdown().await;
    }
}

/// Every tool that takes the id of a session, with what else it needs; the last ones end it.
const WITH_SESSION: [(&str, &str, &str); 17] = [
    ("view_screen", "session_id", "{}"),
    ("send_keys", "session_id", r#"{"keys": "x", "wait": {}, "view": "none"}"#),
    ("wait_for", "session_id", r#"{"idle_ms": 1, "timeout_ms": 1}"#),
    ("get_cursor_position", "session_id", "{}"),
    ("get_screen_size", "session_id", "{}"),
    ("resize_terminal", "session_id", r#"{"cols": 90, "rows": 30}"#),
    ("get_terminal_output", "session_id", "{}"),
    ("switch_session", "session_id", "{}"),
    ("execute_command", "session_id", r#"{"command": "true"}"#),
    ("exec", "sessionId", r#"{"command": "true"}"#),
    ("read", "sessionId", "{}"),
    ("input", "sessionId", r#"{"input": "x"}"#),
    ("get_terminal_output", "session_id", r#"{"command_id": 1}"#),
    ("search_history", "session_id", r#"{"query": ""}"#),
    ("restart_app", "session_id", "{}"),
    ("close", "sessionId", "{}"),
    ("stop_app", "session_id", "{}"),
];

/// The others of the terminal: they make sessions, or name those that the caller may use.
const WITHOUT_SESSION: [&str; 6] =
    ["create_session", "create", "launch_app", "list", "list_sessions", "run"];

/// It calls the others.
const RUN_STEPS: &str = "run_steps";

/// Debugging tools that act on the workspace's files or the editor, whosever session is open.
const OF_WORKSPACE: [&str; 16] = [
    "bridge_status",
    "code_replace_method",
    "debug_start",
    "debug_attach",
    "diagnostic_collect",
    "docs_get",
    "docs_list",
    "editor_get_context",
    "editor_goto_line",
    "editor_show_testing_ui",
    "search_symbol_search",
    "symbol_calls",
    "symbol_navigate",
    "symbol_rename",
    "test_debug_single",
    "util_restart_vscode",
];

/// Those that show what a principal has of its own: checked by what they show.
const OF_PRINCIPAL: [&str; 6] = [
    "breakpoint_set",
    "breakpoint_list",
    "breakpoint_remove",
    "breakpoint_clear_file",
    "breakpoint_clear_project",
    "debug_status",
];

async fn call(server: &McpServer, tool: &str, arguments: &Value) -> CallToolResult {
    let arguments = arguments.as_object().cloned().expect("an object");
    let answer = server.run_tool(tool, arguments, CancellationToken::new()).await;
    answer.unwrap_or_else(|| panic!("no tool {tool}"))
}

async fn data(server: &McpServer, tool: &str, arguments: Value) -> Value {
    let answer = call(server, tool, &arguments).await;
    assert_ne!(answer.is_error, Some(true), "{tool}: {answer:?}");
    answer.structured_content.expect("structured content")
}

/// The code of an error.
fn code(answer: &CallToolResult) -> Option<String> {
    let code = answer.structured_content.as_ref()?["error"]["code"].as_str()?;
    answer.is_error.unwrap_or_default().then(|| code.to_owned())
}

fn properties(tool: &Tool) -> JsonObject {
    tool.input_schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Debugging tools that are about a session or what was read from one.
fn debug_calls(server: &McpServer) -> Vec<(String, Value)> {
    let tools = server.definitions().into_iter();
    let tools = tools.filter(|tool| {
        let name = &*tool.name;
        let of_session = properties(tool).contains_key("sessionId");
        let is_debugger = name.starts_with("debug_") || name.starts_with("dap_");
        (of_session || is_debugger)
            && !WITH_SESSION.iter().any(|(known, ..)| *known == name)
            && !OF_WORKSPACE.contains(&name)
            && !OF_PRINCIPAL.contains(&name)
    });
    tools.map(|tool| (tool.name.to_string(), arguments_of(&tool))).collect()
}

/// The least that a tool takes.
fn arguments_of(tool: &Tool) -> Value {
    let properties = properties(tool);
    let required = tool.input_schema.get("required").and_then(Value::as_array).cloned();
    let mut arguments = JsonObject::new();
    for name in required.unwrap_or_default() {
        let name = name.as_str().expect("a name");
        let property = &properties[name];
        let value = match (property["enum"].get(0), property["type"].as_str()) {
            (Some(first), _) => first.clone(),
            (None, Some("integer" | "number")) => json!(1),
            (None, Some("boolean")) => json!(true),
            (None, Some("array")) => json!([]),
            (None, Some("object")) => json!({}),
            // No two the same.
            _ => json!(name),
        };
        arguments.insert(name.to_owned(), value);
    }
    if properties.contains_key("timeoutMs") {
        arguments.insert("timeoutMs".to_owned(), json!(1000));
    }
    Value::Object(arguments)
}

#[tokio::test]
async fn every_tool_has_its_row() {
    let world = World::new();
    let debugging = debug_calls(&world.server).into_iter().map(|(tool, _)| tool);
    let listed = WITH_SESSION.iter().map(|(tool, ..)| *tool);
    let listed = listed.chain(WITHOUT_SESSION).chain(OF_WORKSPACE).chain(OF_PRINCIPAL);
    let listed: BTreeSet<String> =
        listed.chain([RUN_STEPS]).map(str::to_owned).chain(debugging).collect();
    let offered = world.server.definitions().into_iter().map(|tool| tool.name.to_string());
    assert_eq!(offered.collect::<BTreeSet<_>>(), listed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_their_owner_s() {
    let world = World::new();
    let (mine, window) = (world.client("me", "one"), world.client("me", "two"));
    let stranger = world.client("you", "one");
    let made = data(&mine, "create_session", json!({"name": "mine", "agent_id": "x"})).await;
    let id = made["session_id"].as_str().expect("an id").to_owned();
    let ran = json!({"command": "echo planted", "session_id": id});
    assert_eq!(data(&mine, "execute_command", ran).await["exit_code"], 0);
    let definitions = world.server.definitions();
    let takes_agent = |tool: &str| {
        let tool = definitions.iter().find(|known| known.name == tool).expect("is there");
        properties(tool).contains_key("agent_id")
    };
    for (other, agent, refused) in [
        (&mine, Some("y"), "FORBIDDEN"),
        (&window, None, "FORBIDDEN"),
        (&window, Some("y"), "FORBIDDEN"),
        (&stranger, None, "SESSION_NOT_FOUND"),
        (&stranger, Some("x"), "SESSION_NOT_FOUND"),
    ] {
        for (tool, name, more) in WITH_SESSION {
            let mut arguments: Value = serde_json::from_str(more).expect("JSON");
            arguments[name] = id.as_str().into();
            match agent {
                Some(agent) if takes_agent(tool) => arguments["agent_id"] = agent.into(),
                Some(_) => continue,
                None => {}
            }
            let answer = call(other, tool, &arguments).await;
            if tool == "search_history" {
                // Another agent of the principal may know what was run; another principal may not.
                let entries = &answer.structured_content.expect("a page")["entries"];
                let found = entries.as_array().map(Vec::len);
                assert_eq!(found, Some(usize::from(refused == "FORBIDDEN")), "{entries}");
                continue;
            }
            assert_eq!(code(&answer).as_deref(), Some(refused), "{tool}: {answer:?}");
            let told = answer.content[0].as_text().expect("a text").text.contains("your agent_id");
            assert_eq!(told, refused == "FORBIDDEN" && agent.is_some(), "{tool}: {answer:?}");
            let step = json!({"steps": [{"tool": tool, "arguments": arguments}]});
            let stepped = call(other, RUN_STEPS, &step).await;
            let step = &stepped.structured_content.expect("steps")["steps"][0];
            assert_eq!(
                (&step["ok"], &step["result"]["error"]["code"]),
                (&json!(false), &json!(refused))
            );
        }
        let listed = data(other, "list_sessions", json!({"all": true, "agent_id": agent})).await;
        assert_eq!(listed["sessions"], json!([]));
        assert_eq!(data(other, "list", json!({})).await["sessions"].to_string().contains(&id), {
            // Without an agent, the client that made it.
            std::ptr::eq(other, &raw const mine)
        });
    }
    // A name, and the session that is used without one, are each client's own.
    for other in [&window, &stranger] {
        let answer = call(other, "get_terminal_output", &json!({})).await;
        assert_eq!(code(&answer).as_deref(), Some("SESSION_NOT_FOUND"), "{answer:?}");
        let named = data(other, "run", json!({"command": "true", "name": "mine"})).await;
        assert_ne!(named["sessionId"], json!(id));
    }
    let listed = data(&mine, "list_sessions", json!({})).await;
    assert_eq!(listed["sessions"][0]["session_id"], id);
    // Its own client uses it by its id.
    for (tool, name, more) in WITH_SESSION {
        let mut arguments: Value = serde_json::from_str(more).expect("JSON");
        arguments[name] = id.as_str().into();
        let answer = call(&mine, tool, &arguments).await;
        let code = code(&answer);
        let is_refused = matches!(code.as_deref(), Some("FORBIDDEN" | "SESSION_NOT_FOUND"));
        assert!(!is_refused, "{tool}: {answer:?}");
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resources_and_subscriptions_are_their_session_s() {
    let world = World::new();
    let mine = world.client("me", "one");
    let made = data(&mine, "create_session", json!({})).await;
    let id = made["session_id"].as_str().expect("an id").to_owned();
    data(&mine, "execute_command", json!({"command": "echo planted"})).await;
    let uris = ["screen", "output", "command/1"].map(|part| format!("term://{id}/{part}"));
    let (mut own, mut window) =
        (Connection::to(mine).await, Connection::to(world.client("me", "two")).await);
    let mut stranger = Connection::to(world.client("you", "one")).await;
    for (other, missing) in [(&mut window, false), (&mut stranger, true)] {
        let listed = other.request("resources/list", json!({})).await;
        assert!(!listed.to_string().contains(&id), "{listed}");
        let sessions = other.request("resources/read", json!({"uri": "term://sessions"})).await;
        assert!(!sessions.to_string().contains(&id), "{sessions}");
        for uri in &uris {
            for method in ["resources/read", "resources/subscribe"] {
                let answer = other.request(method, json!({"uri": uri})).await;
                let message = answer["error"]["message"].as_str().unwrap_or_default().to_owned();
                let words = if missing { "no session" } else { "another agent" };
                assert!(message.contains(words), "{method} {uri}: {answer}");
            }
        }
    }
    let listed = own.request("resources/list", json!({})).await;
    for uri in &uris {
        assert!(listed.to_string().contains(uri), "{listed}");
        let read = own.request("resources/read", json!({"uri": uri})).await;
        assert!(read["result"]["contents"][0]["text"].to_string().contains("planted"), "{read}");
        let subscribed = own.request("resources/subscribe", json!({"uri": uri})).await;
        assert!(subscribed["error"].is_null(), "{subscribed}");
    }
    let more = json!({"command": "echo more", "session_id": id});
    let more = own.request("tools/call", json!({"name": "execute_command", "arguments": more}));
    more.await;
    let changed = own.notice("notifications/resources/updated").await;
    assert!(uris.iter().any(|uri| changed["uri"] == **uri), "{changed}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn debug_sessions_are_their_principal_s() {
    let world = World::new();
    let (mine, window) = (world.client("me", "one"), world.client("me", "two"));
    let stranger = world.client("you", "one");
    let port = fake_adapter::listen().await;
    let started = data(&mine, "debug_attach", json!({"type": "go", "port": port})).await;
    let id = started["data"]["sessionId"].as_str().expect("an id").to_owned();
    let file = world.home.path().join("main.go");
    std::fs::write(&file, "package main\n\nfunc main() {\n}\n").expect("written");
    let place = json!({"path": file, "line": 3});
    data(&mine, "breakpoint_set", place.clone()).await;
    // The stranger sees nothing of it, and what it does about breakpoints is about its own.
    for named in [true, false] {
        for (tool, mut arguments) in debug_calls(&world.server) {
            let takes =
                |known: &Tool| known.name == *tool && properties(known).contains_key("sessionId");
            let takes_id = world.server.definitions().iter().any(takes);
            if named && !takes_id {
                continue;
            }
            if named {
                arguments["sessionId"] = id.as_str().into();
            }
            let answer = call(&stranger, &tool, &arguments).await;
            match code(&answer) {
                Some(code) => assert!(
                    ["E_NO_SESSION", "E_INVALID_REFERENCE", "E_STALE_REFERENCE"].contains(&&*code),
                    "{tool}: {answer:?}"
                ),
                None => {
                    let answer = format!("{answer:?}");
                    let shows = |text: &str| answer.contains(text);
                    assert!(!shows(&id) && !shows(fake_adapter::PRINTED), "{tool}: {answer}");
                }
            }
        }
    }
    assert_eq!(data(&stranger, "debug_status", json!({})).await["data"]["sessions"], json!([]));
    assert_eq!(data(&stranger, "breakpoint_list", json!({})).await["data"]["total"], 0);
    let removed = data(&stranger, "breakpoint_remove", place.clone()).await;
    assert_eq!(removed["data"]["removed"], false, "{removed}");
    let clears =
        [("breakpoint_clear_file", json!({"path": file})), ("breakpoint_clear_project", json!({}))];
    for (tool, arguments) in clears {
        let cleared = data(&stranger, tool, arguments).await;
        assert_eq!(cleared["data"]["cleared"], 0, "{cleared}");
    }
    // Another window of the principal, in the same workspace, shares it.
    for own in [&mine, &window] {
        let status = data(own, "debug_status", json!({})).await;
        assert_eq!(status["data"]["sessions"][0]["sessionId"], id, "{status}");
        assert_eq!(data(own, "breakpoint_list", json!({})).await["data"]["total"], 1);
        let threads = data(own, "debug_threads", json!({"sessionId": id})).await;
        assert!(threads.to_string().contains("main"), "{threads}");
    }
    data(&window, "debug_stop", json!({"sessionId": id})).await;
    // What is kept of a session that is over is the principal's, too.
    let logs = data(&mine, "dap_logs", json!({"sessionId": id})).await;
    assert!(logs.to_string().contains(fake_adapter::PRINTED), "{logs}");
    let answer = call(&stranger, "dap_logs", &json!({"sessionId": id})).await;
    let answer = answer.structured_content.expect("an answer");
    assert!(!answer.to_string().contains(fake_adapter::PRINTED), "{answer}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn history_is_its_principal_s() {
    let world = World::new();
    let (mine, stranger) = (world.client("me", "one"), world.client("you", "one"));
    let ran = data(&mine, "execute_command", json!({"command": "echo planted"})).await;
    let session = ran["session_id"].clone();
    let over = json!({"session_id": session, "command_id": ran["command_id"]});
    data(&mine, "stop_app", json!({"session_id": session})).await;
    for query in ["", "planted"] {
        let found = data(&mine, "search_history", json!({"query": query})).await;
        assert_eq!(found["entries"][0]["session_id"], session, "{found}");
        // The server's own user is another principal, too.
        for other in [&stranger, &world.server] {
            let found = data(other, "search_history", json!({"query": query})).await;
            assert_eq!(found["entries"], json!([]));
        }
    }
    let own = data(&world.server, "execute_command", json!({"command": "echo own"})).await;
    let found = data(&world.server, "search_history", json!({"query": "own"})).await;
    assert_eq!(found["entries"][0]["session_id"], own["session_id"], "{found}");
    let answer = call(&stranger, "get_terminal_output", &over).await;
    assert_eq!(code(&answer).as_deref(), Some("SESSION_NOT_FOUND"), "{answer:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_does_what_its_scopes_allow() {
    let world = World::new();
    let with = |scopes: &[Scope]| {
        let scopes = scopes.iter().copied().collect();
        world.server.for_client(Client { scopes, ..Client::default() })
    };
    let reader = with(&[Scope::Read]);
    data(&reader, "list_sessions", json!({})).await;
    for tool in world.server.definitions() {
        let is_read = tool.annotations.as_ref().and_then(|hints| hints.read_only_hint);
        if is_read == Some(true) {
            continue;
        }
        let answer = call(&reader, &tool.name, &arguments_of(&tool)).await;
        assert_eq!(code(&answer).as_deref(), Some("FORBIDDEN"), "{}: {answer:?}", tool.name);
    }
    let steps = json!({"steps": [{"tool": "execute_command", "arguments": {"command": "true"}}]});
    assert_eq!(code(&call(&reader, RUN_STEPS, &steps).await).as_deref(), Some("FORBIDDEN"));
    let mut listed = Connection::to(reader).await;
    let tools = listed.request("tools/list", json!({})).await.to_string();
    assert!(tools.contains("view_screen") && !tools.contains("\"execute_command\""), "{tools}");
    let mut writer = Connection::to(with(&[Scope::Write])).await;
    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": "term://sessions"})),
        ("resources/subscribe", json!({"uri": "term://x/screen"})),
    ] {
        let answer = writer.request(method, params).await;
        assert!(answer["error"]["message"].to_string().contains("`read`"), "{method}: {answer}");
    }
    world.end().await;
}
