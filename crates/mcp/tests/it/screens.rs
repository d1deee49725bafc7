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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resize_is_answered_when_the_program_has_redrawn() {
    let server = TestServer::new();
    let code = "import os, signal, sys, time, tty\n\
                def redraw(*_):\n    time.sleep(0.1); size = os.get_terminal_size(0)\n    \
                sys.stdout.write(f'\\x1b[H\\x1b[2J{size.columns} columns'); sys.stdout.flush()\n\
                signal.signal(signal.SIGWINCH, redraw); tty.setraw(0)\n\
                sys.stdout.write('\\x1b[?1049h\\x1b[Hready'); sys.stdout.flush()\n\
                while True: os.read(0, 100)";
    let id = python(&server, code).await;
    for cols in [100, 60] {
        let size = json!({"session_id": id, "cols": cols, "rows": 20});
        let resized = server.call("resize_terminal", size).await;
        assert_ne!(resized.is_error, Some(true), "{}", text(&resized));
        let shown = text(&server.call("view_screen", json!({"session_id": id})).await);
        assert!(shown.contains(&format!("{cols} columns")), "{shown}");
    }
    server.sessions.shutdown().await;
}
