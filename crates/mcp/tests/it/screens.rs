//! Programs with a screen: what keys send, and what is shown after.

use serde_json::{Value, json};

use crate::support::{TestServer, text};

async fn python(server: &TestServer, code: &str) -> Value {
    let launch = json!({"command": "python3", "args": ["-c", code], "wait": {"text": "ready"}});
    let launched = server.call("launch_app", launch).await;
    assert_ne!(launched.is_error, Some(true), "{}", text(&launched));
    launched.structured_content.expect("structured content")["session_id"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newline_in_text_is_the_enter_key() {
    let server = TestServer::new();
    let raw = "import sys, os, tty; tty.setraw(0); print('ready', flush=True); got = b''\n\
               while len(got) < 6: got += os.read(0, 100)\n\
               print(got)";
    // Where the terminal edits lines it makes a line feed of it, so that programs read what they always did.
    let cooked = "import os; print('ready', flush=True); got = b''\n\
                  while len(got) < 6: got += os.read(0, 100)\n\
                  print(got)";
    for (code, expected) in [(raw, r"b'a\rb\rc\r'"), (cooked, r"b'a\nb\nc\n'")] {
        for delay in [0, 1] {
            let id = python(&server, code).await;
            let keys = json!({"session_id": id, "text": "a\nb\r\nc\n", "delay_ms": delay,
                "wait": {"text": "b'"}, "view": "plain"});
            let shown = text(&server.call("send_keys", keys).await);
            assert!(shown.contains(expected), "{shown}");
        }
    }
    server.sessions.shutdown().await;
}
