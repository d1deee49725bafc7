//! What the servers of these tests are made of.

use std::path::Path;
use std::sync::Arc;

use rmcp::model::CallToolResult;
use serde_json::Value;
use tempfile::TempDir;
use termbridge_bridge::policy::{Policy, PolicyConfig};
use termbridge_bridge::session::{Sessions, Settings};
use termbridge_bridge::store::Limits;
use termbridge_bridge::{Bridge, BridgeSettings, DebugSettings, HistoryPlace, NativeBackend};
use termbridge_mcp::{McpServer, Offer, Toolset};
use tokio_util::sync::CancellationToken;

/// A server with all tools and a home of its own.
pub(crate) struct TestServer {
    pub(crate) server: McpServer,
    pub(crate) bridge: Bridge,
    pub(crate) sessions: Sessions,
    home: TempDir,
}

impl TestServer {
    pub(crate) fn new() -> Self {
        Self::with_policy(&PolicyConfig::default())
    }

    pub(crate) fn with_policy(policy: &PolicyConfig) -> Self {
        let home = TempDir::new().expect("a temporary folder");
        let (bridge, sessions) = bridge_with_policy(home.path(), policy);
        let offer = Offer::new(Toolset::ALL, DebugSettings::new(home.path().to_owned()));
        let server = McpServer::new(bridge.clone(), offer).expect("all tools are known");
        Self { server, bridge, sessions, home }
    }

    /// Writes a file of the workspace.
    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.home.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, content).expect("written");
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        let arguments = arguments.as_object().cloned().expect("an object");
        let answer = self.server.run_tool(tool, arguments, CancellationToken::new()).await;
        answer.unwrap_or_else(|| panic!("no tool {tool}"))
    }
}

/// The text of an answer.
pub(crate) fn text(answer: &CallToolResult) -> String {
    serde_json::to_value(&answer.content).expect("JSON")[0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// A bridge with a history, whose bash sessions have this home and start there.
pub(crate) fn bridge_at(home: &Path) -> (Bridge, Sessions) {
    bridge_with_policy(home, &PolicyConfig::default())
}

fn bridge_with_policy(home: &Path, policy: &PolicyConfig) -> (Bridge, Sessions) {
    let refuse_hidden_lines = policy.secrets_by_person;
    let sessions = Sessions::new(Settings { refuse_hidden_lines, ..Settings::default() });
    let backend = Arc::new(NativeBackend::new(sessions.clone()));
    let policy = Policy::new(policy, home).expect("a policy");
    let mut settings = BridgeSettings::new("bash", home.to_owned(), home.to_owned());
    // No start-up files of the user who runs the tests.
    settings.env.insert("HOME".into(), home.display().to_string());
    let history = HistoryPlace { path: home.join("history.db"), limits: Limits::default() };
    (Bridge::new(backend, settings, policy, Some(history)), sessions)
}
