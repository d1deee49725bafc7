//! Answers to an agent while a person is asked for a password, or has paused the agent.

use serde_json::json;
use termbridge_bridge::session::SessionId;

use crate::support::{TestServer, text};

const ASKED: &str = "the user is being asked for it in the editor";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_asked_to_wait_while_a_person_is_asked_for_a_password() {
    let world = TestServer::new();
    let command = "read -s -p 'Password: ' word; echo got";
    // Nobody watches: the agent is free to answer.
    let answer = world.call("execute_command", json!({"command": command})).await;
    let id = answer.structured_content.as_ref().expect("data")["session_id"].clone();
    assert!(text(&answer).contains("answer with send_keys"), "{}", text(&answer));
    world.call("send_keys", json!({"session_id": id, "keys": "x<Enter>"})).await;
    world.call("wait_for", json!({"session_id": id, "prompt": true})).await;

    // A window shows the session, and opens its box a moment after the question.
    let session =
        world.sessions.get(&SessionId::from_text(id.as_str().expect("an id"))).expect("there");
    let _watching = session.subscribe().await.expect("watched");
    let mut changes = world.sessions.changes();
    let window = tokio::spawn({
        let session = session.clone();
        async move {
            while session.info().await.expect("known").secret_prompt.is_none() {
                changes.changed().await.expect("the server is there");
            }
            session.sees_password_box("ann", true).await.expect("opened");
            changes
        }
    });
    let answer = world.call("execute_command", json!({"command": command, "session_id": id})).await;
    let said = text(&answer);
    assert!(said.contains(ASKED) && !said.contains("answer with send_keys"), "{said}");
    let note = answer.structured_content.expect("data")["note"].clone();
    assert!(note.as_str().is_some_and(|note| note.contains(ASKED)), "{note}");
    let _changes = window.await.expect("a window");
    let waited = world.call("wait_for", json!({"session_id": id, "needs_input": true})).await;
    assert!(text(&waited).contains(ASKED), "{}", text(&waited));
    let read = world.call("get_terminal_output", json!({"session_id": id})).await;
    assert!(text(&read).contains(ASKED), "{}", text(&read));
    // The person dismisses the box.
    session.sees_password_box("ann", false).await.expect("closed");
    let read = world.call("get_terminal_output", json!({"session_id": id})).await;
    assert!(text(&read).contains("answer with send_keys"), "{}", text(&read));
    world.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_agent_is_refused_with_the_next_step() {
    let world = TestServer::new();
    let answer = world.call("execute_command", json!({"command": "echo one"})).await;
    let id = answer.structured_content.expect("data")["session_id"].clone();
    let session =
        world.sessions.get(&SessionId::from_text(id.as_str().expect("an id"))).expect("there");
    world.bridge.pause(session.info().await.expect("known").owner);
    for (tool, arguments) in [
        ("execute_command", json!({"command": "echo two"})),
        ("execute_command", json!({"command": "echo two", "agent_id": "another name"})),
        ("send_keys", json!({"session_id": id, "keys": "x"})),
        ("launch_app", json!({"command": "cat"})),
        ("stop_app", json!({"session_id": id})),
    ] {
        let refused = world.call(tool, arguments).await;
        let error = refused.structured_content.expect("data")["error"].clone();
        assert_eq!(error["code"], "BUSY", "{tool}: {error}");
        assert!(error.to_string().contains("Resume Agents"), "{error}");
    }
    let read = world.call("get_terminal_output", json!({"session_id": id})).await;
    assert!(text(&read).contains("one"), "{}", text(&read));
    world.bridge.resume(None);
    let answer = world.call("execute_command", json!({"command": "echo two"})).await;
    assert!(text(&answer).contains("two"), "{}", text(&answer));
    world.sessions.shutdown().await;
}
