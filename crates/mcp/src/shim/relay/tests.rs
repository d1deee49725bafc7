//! What is passed on, held back and answered.

use super::*;

fn line(value: Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

fn request(id: impl Into<Value>, method: &str) -> Vec<u8> {
    line(json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": {}}))
}

fn reply(id: impl Into<Value>) -> Vec<u8> {
    line(json!({"jsonrpc": "2.0", "id": id.into(), "result": {}}))
}

fn texts(lines: Vec<Vec<u8>>) -> Vec<String> {
    lines.into_iter().map(|line| String::from_utf8(line).expect("text")).collect()
}

#[test]
fn messages_pass_as_they_came() {
    let mut relay = Relay::default();
    relay.connected();
    for id in [json!(1), json!("1"), json!(-7), json!("ä")] {
        let sent = request(id.clone(), "tools/call");
        assert_eq!(relay.client_line(sent.clone()), Some(Passed::ToServer(sent)));
    }
    // An id keeps its type: the reply to "1" is not the one to 1.
    let answer = reply("1");
    assert_eq!(relay.server_line(answer.clone()), Some(Passed::ToClient(answer.clone())));
    assert_eq!(relay.open(), 3);
    assert_eq!(relay.server_line(answer), None, "one reply each");
    assert_eq!(
        relay.client_line(b"nonsense".to_vec()),
        Some(Passed::ToServer(b"nonsense".to_vec()))
    );
    // However it is written.
    relay.client_line(br#"{"jsonrpc":"2.0","id":"\u00e4\/","method":"ping"}"#.to_vec());
    assert!(relay.server_line(reply("ä/")).is_some());
    relay.disconnected();
    let refused = relay.client_line(b"nonsense".to_vec());
    assert!(matches!(refused, Some(Passed::ToClient(_))), "{refused:?}");
}

#[test]
fn a_client_that_does_not_wait_for_the_handshake_gets_all_of_it_passed_on() {
    let mut relay = Relay::default();
    let initialize = line(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"clientInfo": {"name": "hasty"}}}));
    let ready = line(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let call = request(1, "tools/call");
    for sent in [&initialize, &ready, &call] {
        assert_eq!(relay.client_line(sent.clone()), None);
    }
    assert_eq!(relay.client(), "hasty");
    assert_eq!(relay.connected(), [initialize, ready, call]);
}

#[test]
fn a_client_without_a_handshake_has_a_name_too() {
    let mut relay = Relay::default();
    let meta = json!({CLIENT_INFO: {"name": "stateless", "version": "1"}});
    relay.client_line(line(
        json!({"jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": {"_meta": meta}}),
    ));
    assert_eq!(relay.client(), "stateless");
}

#[test]
fn a_new_server_gets_the_handshake_and_what_is_open() {
    let mut relay = Relay::default();
    let initialize = request(0, "initialize");
    assert_eq!(relay.client_line(initialize.clone()), None, "no server yet");
    assert_eq!(relay.connected(), [initialize]);
    relay.server_line(reply(0));
    let ready = line(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    relay.client_line(ready.clone());
    relay.client_line(request(1, "tools/call"));
    relay.client_line(request(2, "tools/list"));
    relay.disconnected();
    relay.client_line(request(3, "tools/call"));
    let sent = texts(relay.connected());
    assert_eq!(sent.len(), 5);
    assert!(sent[0].contains("\"termbridge-shim-1\"") && sent[0].contains("initialize"));
    assert_eq!(sent[1].as_bytes(), ready);
    assert!(sent[2].contains(AGAIN), "it may have run: {}", sent[2]);
    assert!(!sent[3].contains(AGAIN) && sent[3].contains("tools/list"));
    assert!(!sent[4].contains(AGAIN), "it was never sent: {}", sent[4]);
    // The client has seen the handshake's reply.
    assert_eq!(relay.server_line(reply("termbridge-shim-1")), None);
    assert!(relay.server_line(reply(1)).is_some());
}

#[test]
fn subscriptions_follow_to_the_new_server() {
    let mut relay = Relay::default();
    relay.connected();
    let subscribe = |id: u64, method: &str, uri: &str| {
        line(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"uri": uri}}))
    };
    for (id, uri) in [(1, "a"), (2, "b"), (3, "c")] {
        relay.client_line(subscribe(id, "resources/subscribe", uri));
    }
    relay.server_line(reply(1));
    relay.server_line(line(
        json!({"jsonrpc": "2.0", "id": 2, "error": {"code": 1, "message": "no"}}),
    ));
    relay.server_line(reply(3));
    relay.client_line(subscribe(4, "resources/unsubscribe", "a"));
    relay.server_line(reply(4));
    relay.disconnected();
    let sent = texts(relay.connected());
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(sent[0].contains("\"c\"") && sent[0].contains("resources/subscribe"));
}

#[test]
fn a_request_that_is_cancelled_meanwhile_is_cancelled_at_the_next_server() {
    let mut relay = Relay::default();
    relay.connected();
    relay.client_line(request("x", "tools/call"));
    relay.disconnected();
    relay.client_line(request("y", "tools/call"));
    let cancel = |id: &str| {
        line(
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}),
        )
    };
    assert_eq!(relay.client_line(cancel("y")), None);
    assert!(relay.open() == 1, "no server has got it");
    // What the old server began is ended by the next.
    assert_eq!(relay.client_line(cancel("x")), None);
    let sent = texts(relay.connected());
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(sent[0].contains(AGAIN) && sent[1].as_bytes() == cancel("x"), "{sent:?}");
    assert_eq!((relay.open(), relay.server_line(reply("x"))), (0, None));
}

#[test]
fn questions_of_a_server_that_is_gone_get_no_answer() {
    let mut relay = Relay::default();
    relay.connected();
    let question = request(9, "elicitation/create");
    assert_eq!(relay.server_line(question.clone()), Some(Passed::ToClient(question.clone())));
    let answer = reply(9);
    assert_eq!(relay.client_line(answer.clone()), Some(Passed::ToServer(answer.clone())));
    relay.server_line(question);
    relay.disconnected();
    relay.connected();
    assert_eq!(relay.client_line(answer), None);
}

#[test]
fn who_waits_in_vain_is_told_whether_it_ran() {
    let mut relay = Relay::default();
    relay.connected();
    relay.client_line(request(1, "tools/call"));
    relay.disconnected();
    relay.client_line(request(2, "tools/call"));
    let replies = texts(relay.give_up("no server"));
    assert!(replies[0].contains("may have run") && replies[0].contains("\"id\":1"));
    assert!(replies[1].contains("did not run") && replies[1].contains("\"id\":2"));
    assert_eq!(relay.open(), 0);
}

#[test]
fn what_is_open_is_bounded() {
    let mut relay = Relay::default();
    for id in 0..MAX_OPEN {
        assert_eq!(relay.client_line(request(id, "ping")), None);
    }
    let refused = relay.client_line(request("more", "ping"));
    assert!(matches!(refused, Some(Passed::ToClient(_))), "{refused:?}");
}
