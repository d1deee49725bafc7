//! The published scenarios, byte for byte, with a client that knows nothing else.

use serde_json::json;
use termbridge_editor::{PeerError, Reply, ServerSettings};

use super::support::{PlainClient, Server, plain_service};
use crate::support::limited;

#[tokio::test]
async fn a_terminal_is_created_and_runs_a_command() {
    let (service, mut seen) = plain_service();
    let server = Server::start(&service, ServerSettings::default()).await;
    let mut client = PlainClient::connect(server.port).await;
    client.greet().await;
    let peer = seen.joined().await;
    assert!(!peer.is_window());

    let editor = async {
        let (text, id) = client.next_with_id().await;
        let expected =
            r#"{"type":"create_terminal","id":"ID","data":{"terminalName":"Build Terminal"}}"#;
        assert_eq!(text, expected.replace("ID", &id));
        // As the publication prints it, blanks and all.
        let reply = "{\n  \"type\": \"terminal_created\",\n  \"id\": \"ID\",\n  \"data\": {\n    \"terminalId\": \"ID\",\n    \"terminalName\": \"Build Terminal\"\n  }\n}";
        client.send(&reply.replace("ID", &id)).await;
        let terminal = id;

        let (text, id) = client.next_with_id().await;
        let expected = r#"{"type":"execute","id":"ID","data":{"command":"npm run build","terminalId":"TERMINAL"}}"#;
        assert_eq!(text, expected.replace("ID", &id).replace("TERMINAL", &terminal));
        let reply = "{\n  \"type\": \"success\",\n  \"id\": \"ID\",\n  \"data\": {\n    \"output\": \"Command executed: npm run build\"\n  }\n}";
        client.send(&reply.replace("ID", &id)).await;
        assert_ne!(id, terminal, "ids are unique");
    };
    let server_side = async {
        let created =
            peer.request("create_terminal", json!({"terminalName": "Build Terminal"})).await;
        let Ok(Reply::TerminalCreated { terminal_id, terminal_name, pid: None }) = created else {
            panic!("{created:?}")
        };
        assert_eq!(terminal_name, "Build Terminal");
        let data = json!({"command": "npm run build", "terminalId": terminal_id});
        let ran = peer.request("execute", data).await;
        assert_eq!(ran, Ok(Reply::Success(json!({"output": "Command executed: npm run build"}))));
    };
    limited(async { tokio::join!(editor, server_side) }).await;
}

#[tokio::test]
async fn closing_an_unknown_terminal_is_an_error() {
    let (service, mut seen) = plain_service();
    let server = Server::start(&service, ServerSettings::default()).await;
    let mut client = PlainClient::connect(server.port).await;
    client.greet().await;
    let peer = seen.joined().await;

    let editor = async {
        let (text, id) = client.next_with_id().await;
        let expected =
            r#"{"type":"close_terminal","id":"ID","data":{"terminalId":"non-existing-id"}}"#;
        assert_eq!(text, expected.replace("ID", &id));
        let reply = "{\n  \"type\": \"error\",\n  \"id\": \"ID\",\n  \"data\": {\n    \"error\": \"Terminal non-existing-id not found\"\n  }\n}";
        client.send(&reply.replace("ID", &id)).await;
    };
    let closing = peer.request("close_terminal", json!({"terminalId": "non-existing-id"}));
    let ((), closed) = limited(async { tokio::join!(editor, closing) }).await;
    let message = "Terminal non-existing-id not found".to_owned();
    assert_eq!(closed, Err(PeerError::Refused { message, code: None }));
}
