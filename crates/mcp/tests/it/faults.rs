//! A panic in a tool is that call's error; the connection and other calls go on.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use termbridge_bridge::session::{CommandReport, Scrollback, SessionError, SessionId, SessionInfo};
use termbridge_bridge::{Awaited, NewSession, TerminalBackend, Until};
use termbridge_mcp::McpServer;

use crate::connection::Connection;

/// Panics when its sessions are listed, and has none.
struct Faulty;

#[async_trait]
impl TerminalBackend for Faulty {
    async fn create_session(&self, _: NewSession) -> Result<SessionInfo, SessionError> {
        Err(SessionError::System("no sessions here".into()))
    }

    async fn list_sessions(&self) -> Result<Vec<SessionInfo>, SessionError> {
        tokio::task::yield_now().await;
        panic!("a fault on request")
    }

    async fn session(&self, id: &SessionId) -> Result<SessionInfo, SessionError> {
        Err(SessionError::NotFound(id.clone()))
    }

    async fn start_command(
        &self,
        id: &SessionId,
        _: &str,
        _: Duration,
    ) -> Result<u64, SessionError> {
        Err(SessionError::NotFound(id.clone()))
    }

    async fn wait_command(
        &self,
        _: &SessionId,
        _: u64,
        _: Awaited,
        _: Duration,
    ) -> Result<Until, SessionError> {
        Ok(Until::Over)
    }

    async fn command(
        &self,
        _: &SessionId,
        _: u64,
        _: u64,
        _: u64,
    ) -> Result<Option<CommandReport>, SessionError> {
        Ok(None)
    }

    async fn terminal_text(&self, _: &SessionId, _: usize) -> Result<Scrollback, SessionError> {
        Ok(Scrollback::default())
    }

    async fn interrupt(&self, _: &SessionId, _: u64) -> Result<(), SessionError> {
        Ok(())
    }
}

async fn connect() -> Connection {
    Connection::to(McpServer::with_backend(Arc::new(Faulty))).await
}

/// The code of the error that a tool gives.
async fn code(client: &mut Connection, tool: &str) -> serde_json::Value {
    let answer = client.call(tool, json!({})).await;
    answer["structuredContent"]["error"]["code"].clone()
}

#[tokio::test]
async fn a_panicking_tool_leaves_the_others_alive() {
    let mut client = connect().await;
    for _ in 0..3 {
        assert_eq!(code(&mut client, "list_sessions").await, "INTERNAL_ERROR");
        assert_eq!(code(&mut client, "get_terminal_output").await, "SESSION_NOT_FOUND");
    }
}

#[tokio::test]
async fn a_panicking_request_is_answered() {
    let mut client = connect().await;
    let answer = client.request("resources/read", json!({"uri": "term://sessions"})).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    let answer = client.request("resources/list", json!({})).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert_eq!(code(&mut client, "get_terminal_output").await, "SESSION_NOT_FOUND");
}
