//! The table: every tool that takes a session, as its owner, as another agent or client of the same principal, and as
//! another principal; over whatever connections it is given.

use std::pin::Pin;

use serde_json::{Value, json};

/// A client that calls a tool and gets the result as JSON.
pub(crate) type Caller =
    Box<dyn FnMut(&'static str, Value) -> Pin<Box<dyn Future<Output = Value> + Send>> + Send>;

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

/// The code of an error.
fn code(answer: &Value) -> Option<&str> {
    let code = answer["structuredContent"]["error"]["code"].as_str();
    code.filter(|_| answer["isError"] == true)
}

/// `mine` makes a session; `window` is another client of the same principal, `stranger` another principal.
pub(crate) async fn sessions_are_their_owner_s(
    mut mine: Caller,
    window: Option<Caller>,
    stranger: Caller,
) {
    let made = mine("create_session", json!({"name": "mine"})).await;
    let id = made["structuredContent"]["session_id"].as_str().map(str::to_owned);
    let id = id.unwrap_or_else(|| panic!("no session: {made}"));
    let others = window.map(|window| (window, "FORBIDDEN"));
    for (mut other, refused) in others.into_iter().chain([(stranger, "SESSION_NOT_FOUND")]) {
        for (tool, arguments) in calls(&id) {
            let answer = other(tool, arguments).await;
            assert_eq!(code(&answer), Some(refused), "{tool}: {answer}");
        }
        let listed = other("list_sessions", json!({"all": true})).await;
        assert_eq!(listed["structuredContent"]["sessions"], json!([]), "{listed}");
        // A name, and the session that is used without one, are each client's own.
        let answer = other("get_terminal_output", json!({})).await;
        assert_eq!(code(&answer), Some("SESSION_NOT_FOUND"), "{answer}");
    }
    let listed = mine("list_sessions", json!({})).await;
    assert_eq!(listed["structuredContent"]["sessions"][0]["session_id"], id, "{listed}");
    // The last ones end it.
    for (tool, arguments) in calls(&id) {
        let answer = mine(tool, arguments).await;
        let is_refused = matches!(code(&answer), Some("FORBIDDEN" | "SESSION_NOT_FOUND"));
        assert!(!is_refused, "{tool}: {answer}");
    }
}
