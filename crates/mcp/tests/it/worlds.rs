//! A client brings its world: its workspace and its variables, whatever the server's own are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use termbridge_bridge::session::Sessions;
use termbridge_bridge::{BackendChoice, Client, DebugSettings};
use termbridge_mcp::{McpServer, Offer, Toolset};
use termbridge_testkit::HungPath;
use tokio_util::sync::CancellationToken;

use crate::connection::Connection;
use crate::support::bridge_at;

struct World {
    server: McpServer,
    sessions: Sessions,
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let home = folder.path().canonicalize().expect("a path").join("server");
        std::fs::create_dir(&home).expect("made");
        let (bridge, sessions) = bridge_at(&home);
        let mut debug = DebugSettings::new(home);
        debug.backend = BackendChoice::Native;
        let server = McpServer::new(bridge, Offer::new(Toolset::ALL, debug));
        Self { server: server.expect("all tools are known"), sessions, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("a path").join(name)
    }

    /// A client that works in a folder of its own, with variables of its own.
    fn client(&self, name: &str) -> McpServer {
        let workspace = self.path(name);
        std::fs::create_dir_all(&workspace).expect("made");
        let variables = [
            ("PATH", std::env::var_os("PATH").expect("a PATH")),
            ("HOME", workspace.clone().into()),
            ("WHOSE", name.into()),
            // Of the terminal that the client runs in: programs must not believe them.
            ("TMUX", "/tmp/of-the-client".into()),
        ];
        let environment = variables.map(|(name, value)| (name.into(), value)).into();
        self.server.for_client(Client {
            workspace: Some(workspace),
            environment: Some(Arc::new(environment)),
            name: Some("editor".into()),
            ..Client::default()
        })
    }
}

async fn call(server: &McpServer, tool: &str, arguments: Value) -> Value {
    let arguments = arguments.as_object().cloned().expect("an object");
    let answer = server.run_tool(tool, arguments, CancellationToken::new()).await;
    let answer = answer.unwrap_or_else(|| panic!("no tool {tool}"));
    assert_ne!(answer.is_error, Some(true), "{tool}: {answer:?}");
    answer.structured_content.expect("structured content")
}

async fn output(server: &McpServer, command: &str) -> String {
    let ran = call(server, "execute_command", json!({"command": command})).await;
    ran["output"].as_str().expect("output").trim_end().to_owned()
}

/// Prints what a program sees of its world.
const LOOK: &str = r#"printf '%s|%s|%s|%s' "$PWD" "$WHOSE" "$CARGO_MANIFEST_DIR" "$TMUX""#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shells_and_programs_start_in_the_client_s_world() {
    let world = World::new();
    let (one, two) = (world.client("one"), world.client("two"));
    for (client, name) in [(&one, "one"), (&two, "two")] {
        let place = world.path(name).display().to_string();
        // Of this test's own variables nothing is left, and nothing of the client's terminal.
        assert_eq!(output(client, LOOK).await, format!("{place}|{name}||"));
        let made = call(client, "create_session", json!({"name": "made"})).await;
        assert_eq!(made["cwd"], json!(place));
        assert_eq!(output(client, LOOK).await, format!("{place}|{name}||"));
        std::fs::create_dir(world.path(name).join("below")).expect("made");
        for (cwd, wanted) in
            [(None, place.clone()), (Some("below"), format!("{place}/below")), (Some("~"), place)]
        {
            let launched = json!({"command": "sh", "args": ["-c", format!("{LOOK}; exec cat")],
                "cwd": cwd, "cols": 500, "wait": {"text": format!("|{name}|")}});
            let seen = call(client, "launch_app", launched).await;
            let text = seen["view"]["content"].to_string();
            assert!(text.contains(&format!("{wanted}|{name}||")), "{text}");
            call(client, "stop_app", json!({"session_id": seen["session_id"]})).await;
        }
    }
    // Restarted, it is where it was.
    let script = format!("{LOOK}; exec cat");
    let launched = json!({"command": "sh", "args": ["-c", script], "wait": {"text": "|one|"}});
    let id = call(&one, "launch_app", launched).await["session_id"].clone();
    call(&one, "restart_app", json!({"session_id": id})).await;
    call(&one, "wait_for", json!({"session_id": id, "text": "|one|", "timeout_ms": 20_000})).await;
    // Who brings nothing has the server's.
    let seen = output(&world.server, LOOK).await;
    assert!(seen.starts_with(&world.path("server").display().to_string()), "{seen}");
    assert!(seen.contains(env!("CARGO_MANIFEST_DIR")), "{seen}");
    world.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_windows_do_not_share_a_shell() {
    let world = World::new();
    let (one, two) = (world.client("one"), world.client("two"));
    let session = async |client: &McpServer, more: Value| {
        let mut arguments = json!({"command": "true"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call(client, "execute_command", arguments).await["session_id"].clone()
    };
    let first = session(&one, json!({})).await;
    assert_ne!(session(&two, json!({})).await, first);
    assert_eq!(session(&one, json!({})).await, first);
    // The same window that has come back.
    assert_eq!(session(&world.client("one"), json!({})).await, first);
    // One agent in two windows is one agent.
    let agent = session(&one, json!({"agent_id": "a"})).await;
    assert_eq!(session(&two, json!({"agent_id": "a"})).await, agent);
    assert_ne!(agent, first);
    world.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_knows_the_client_s_project() {
    let world = World::new();
    let one = world.client("one");
    output(&one, "mkdir inner && cd inner").await;
    output(&one, "echo in the project").await;
    output(&one, "cd /").await;
    output(&one, "echo outside").await;
    let found = call(&one, "search_history", json!({"query": "echo"})).await;
    let project = |command: &str| {
        let rows = found["entries"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["command"] == command).expect("a row");
        row["project"].clone()
    };
    assert_eq!(project("echo in the project"), json!(world.path("one")));
    assert_eq!(project("echo outside"), Value::Null);
    world.sessions.shutdown().await;
}

/// An executable that says which world it was started in.
fn tool(folder: &Path, name: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(folder).expect("made");
    let path = folder.join(name);
    std::fs::write(&path, "#!/bin/sh\necho \"$PWD $WHOSE\"\n").expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("set");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn debugging_is_in_the_client_s_workspace() {
    let world = World::new();
    let (one, two) = (world.client("one"), world.client("two"));
    for (client, name) in [(&one, "one"), (&two, "two")] {
        let folder = world.path(name);
        std::fs::write(folder.join("app.py"), "a = 1\nb = 2\n").expect("written");
        std::fs::create_dir(folder.join(".vscode")).expect("made");
        let launch = format!(r#"{{"configurations": [{{"name": "{name}", "type": "python"}}]}}"#);
        std::fs::write(folder.join(".vscode/launch.json"), launch).expect("written");
        let status = call(client, "bridge_status", json!({})).await;
        assert_eq!(status["data"]["workspace"], json!(folder));
        // A relative path, and its own breakpoints.
        let set = call(client, "breakpoint_set", json!({"path": "app.py", "line": 2})).await;
        assert!(set.to_string().contains(&folder.join("app.py").display().to_string()), "{set}");
        let listed = call(client, "breakpoint_list", json!({})).await;
        assert_eq!(listed["data"]["total"], 1, "{listed}");
        // The launch.json of its workspace.
        let arguments = json!({}).as_object().cloned().expect("an object");
        let refused = client.run_tool("debug_start", arguments, CancellationToken::new()).await;
        let refused = refused.expect("is there").structured_content.expect("an error");
        assert!(refused["error"]["hint"].to_string().contains(name), "{refused}");
    }
    // Who brings nothing has the server's, and it has none of theirs.
    let listed = call(&world.server, "breakpoint_list", json!({})).await;
    assert_eq!(listed["data"]["total"], 0);
    // A client that comes back finds its own.
    let listed = call(&world.client("one"), "breakpoint_list", json!({})).await;
    assert_eq!(listed["data"]["total"], 1);
    world.server.end_debugging().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_installed_is_found_by_the_client_s_path() {
    let world = World::new();
    let bin = world.path("bin");
    tool(&bin, "dlv");
    let workspace = world.path("one");
    std::fs::create_dir_all(&workspace).expect("made");
    let environment =
        [("PATH".into(), bin.clone().into()), ("HOME".into(), workspace.clone().into())];
    let client = world.server.for_client(Client {
        workspace: Some(workspace),
        environment: Some(Arc::new(environment.into())),
        ..Client::default()
    });
    let status = call(&client, "bridge_status", json!({})).await;
    assert!(status.to_string().contains(&bin.join("dlv").display().to_string()), "{status}");
}

#[tokio::test]
async fn a_workspace_that_hangs_costs_its_own_tools_alone() {
    let world = World::new();
    let client = world.client("hung");
    let _hung = HungPath::new(&world.path("hung")).await;
    let mut client = Connection::to(client).await;
    let tools = client.request("tools/list", json!({})).await["result"]["tools"].clone();
    let has = |name: &str| tools.as_array().expect("a list").iter().any(|it| it["name"] == name);
    assert!(has("execute_command") && has("breakpoint_list"), "{tools}");
    let answer = client.call("execute_command", json!({"command": "echo works"})).await.to_string();
    assert!(answer.contains("works"), "{answer}");
    let answer = client.call("breakpoint_list", json!({})).await.to_string();
    assert!(answer.contains("did not answer within 10 s"), "{answer}");
    world.sessions.shutdown().await;
}

#[tokio::test]
async fn nothing_is_debugged_tested_or_compiled_in_a_directory_that_hangs() {
    let world = World::new();
    let mut client = Connection::to(world.client("one")).await;
    std::fs::write(world.path("one/program.py"), "x = 1\n").expect("written");
    std::fs::create_dir(world.path("one/hung")).expect("made");
    let _hung = HungPath::new(&world.path("one/hung")).await;
    for (tool, arguments) in [
        ("debug_start", json!({"program": "program.py", "cwd": "hung"})),
        ("test_debug_single", json!({"path": "hung/test_x.py", "line": 1})),
        ("diagnostic_collect", json!({"path": "hung"})),
    ] {
        let answer = client.call(tool, arguments).await.to_string();
        assert!(answer.contains("did not answer within 10 s"), "{tool}: {answer}");
    }
    world.sessions.shutdown().await;
}
