//! A debugged program in a terminal of ours: seen, and typed to.

use serde_json::json;

use super::{PATIENCE_MS, configured, data};
use crate::TERMBRIDGE;

const ASKS: &str = "\
name = input('name? ')
greeting = 'hello ' + name
print(greeting)
";

#[test]
fn a_program_that_reads_its_input_is_typed_to() {
    let environment = configured();
    environment.write("asks.py", ASKS);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    data(&mut server, "breakpoint_set", json!({"path": "asks.py", "line": 3}));
    let start = json!({"program": "asks.py", "console": "integratedTerminal"});
    let started = data(&mut server, "debug_start", start);
    let terminal = started["terminal"].as_str().expect("a terminal").to_owned();
    let patient = json!({"session_id": terminal, "text": "name?", "timeout_ms": PATIENCE_MS});
    let asked = server.ok("wait_for", patient).structured;
    assert!(asked["fired"].is_string(), "{asked:#}");
    server.ok("send_keys", json!({"session_id": terminal, "keys": "Ada<Enter>"}));
    let stop = data(&mut server, "debug_wait_for_hit", json!({"timeoutMs": PATIENCE_MS}));
    assert_eq!(stop["location"]["line"], 3, "{stop:#}");
    let greeting = data(&mut server, "debug_evaluate", json!({"expression": "greeting"}));
    assert_eq!(greeting["result"], "'hello Ada'");
    let end = data(&mut server, "debug_continue", json!({"timeoutMs": PATIENCE_MS}));
    assert_eq!(end["exit"]["code"], 0, "{end:#}");
    let screen = server.ok("view_screen", json!({"session_id": terminal}));
    assert!(screen.text.contains("hello Ada"), "{}", screen.text);
    assert_eq!(server.close(), Some(0));
}
