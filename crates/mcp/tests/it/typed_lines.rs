//! Lines that are typed into a shell: when they reach it, and what is their echo.

use serde_json::{Value, json};

use crate::support::{TestServer, text};

const SHELLS: [&str; 6] = ["bash", "zsh", "fish", "dash", "ksh", "mksh"];

async fn call(server: &TestServer, tool: &str, arguments: Value) -> Value {
    let answer = server.call(tool, arguments).await;
    assert_ne!(answer.is_error, Some(true), "{}", text(&answer));
    answer.structured_content.expect("structured content")
}

async fn shell(server: &TestServer, shell: &str) -> Value {
    call(server, "create_session", json!({"shell": shell})).await["session_id"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_echo_of_a_line_that_is_typed_before_its_prompt_is_not_its_output() {
    let server = TestServer::new();
    server.write(".zshrc", "");
    // ksh rarely shows a line twice: behind its prompt and below it.
    for kind in SHELLS.into_iter().filter(|kind| *kind != "ksh") {
        for round in 0..4 {
            let session = shell(&server, kind).await;
            if round % 2 == 1 {
                call(&server, "execute_command", json!({"session_id": session, "command": "true"}))
                    .await;
            }
            let keys = json!({"session_id": session, "text": "sleep 0.1; echo DONE\n",
                "wait": {"text": "DONE", "timeout_ms": 20_000}});
            let answer = call(&server, "send_keys", keys).await;
            assert_eq!(answer["wait"]["match"]["col"], 0, "{kind}, {round}: {answer}");
        }
    }
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_is_typed_behind_an_interrupt_is_not_the_command() {
    let server = TestServer::new();
    server.write(".zshrc", "");
    let typed = [json!({"keys": "<C-c>(exit 3)<Enter>"}), json!({"text": "\u{3}(exit 3)\n"})];
    for (kind, typed) in SHELLS.iter().flat_map(|kind| typed.iter().map(move |typed| (kind, typed)))
    {
        let session = shell(&server, kind).await;
        let command = json!({"session_id": session, "timeout_ms": 40_000,
            "command": "sh -c 'echo began; exec sleep 100'; sh -c 'exit 9'"});
        let command = call(&server, "execute_command", command);
        let type_behind = async {
            let began = json!({"session_id": session, "text": "began", "timeout_ms": 40_000});
            call(&server, "wait_for", began).await;
            let mut keys = typed.clone();
            keys["session_id"] = session.clone();
            keys["wait"] = json!({});
            call(&server, "send_keys", keys).await;
        };
        let (command, ()) = tokio::join!(command, type_behind);
        assert_ne!(command["exit_code"], 3, "{kind}, {typed}: {command}");
        let output = command["output"].as_str().expect("text");
        assert!(!output.contains("exit 3"), "{kind}, {typed}: {output}");
    }
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_reads_the_lines_behind_the_one_that_starts_it() {
    let server = TestServer::new();
    server.write(".zshrc", "");
    // ksh reads ahead, so that its programs do not see the lines behind.
    for kind in SHELLS.into_iter().filter(|kind| *kind != "ksh") {
        let session = shell(&server, kind).await;
        let keys = json!({"session_id": session, "text": "sh -c 'read v; echo got-$v'\nfoo\n",
            "wait": {"text": "got-foo", "timeout_ms": 20_000}});
        let answer = call(&server, "send_keys", keys).await;
        assert_eq!(answer["wait"]["fired"], "text", "{kind}: {answer}");
    }
    server.sessions.shutdown().await;
}

/// Types into a session and waits until a text is printed, not only echoed.
async fn type_and_see(server: &TestServer, session: &Value, text: &str, printed: &str) {
    let keys = json!({"session_id": session, "text": text,
        "wait": {"text": printed, "timeout_ms": 10_000}});
    let answer = call(server, "send_keys", keys).await;
    assert_eq!(answer["wait"]["fired"], "text", "{text:?}: {answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_behind_an_interrupt_is_whole() {
    let server = TestServer::new();
    server.write(".zshrc", "");
    for kind in SHELLS {
        let session = shell(&server, kind).await;
        call(&server, "execute_command", json!({"session_id": session, "command": "true"})).await;
        for round in 0..3 {
            for before in ["", "abc"] {
                let (line, printed) =
                    (format!("echo 'B'{round}{before}"), format!("B{round}{before}"));
                type_and_see(&server, &session, &format!("{before}\u{3}{line}\n"), &printed).await;
            }
        }
    }
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_behind_the_interrupt_of_a_typed_program_is_whole() {
    let server = TestServer::new();
    server.write(".zshrc", "");
    for kind in SHELLS {
        let session = shell(&server, kind).await;
        for round in 0..6 {
            let began = format!("G{round}");
            let start = format!("sh -c 'echo 'G'{round}; exec sed -u s/^/got-/'\n");
            type_and_see(&server, &session, &start, &began).await;
            type_and_see(&server, &session, &format!("in{round}\n"), &format!("got-in{round}"))
                .await;
            let line = format!("more\n\u{3}echo 'F'{round}\n");
            type_and_see(&server, &session, &line, &format!("F{round}")).await;
        }
    }
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_behind_an_interrupt_is_whole_in_a_launched_program() {
    let server = TestServer::new();
    let python = "print('P' + '{}')\n";
    let programs = [
        (vec!["python3", "-q"], python),
        (vec!["bash", "--norc"], "echo 'P'{}\n"),
        (vec!["zsh", "-f"], "echo 'P'{}\n"),
    ];
    for (program, line) in programs {
        let launch = json!({"command": program[0], "args": program[1..], "cols": 120, "rows": 40});
        let session = call(&server, "launch_app", launch).await["session_id"].clone();
        for round in 0..3 {
            for before in ["", "abc"] {
                let name = format!("{round}{before}");
                let typed = format!("{before}\u{3}{}", line.replace("{}", &name));
                type_and_see(&server, &session, &typed, &format!("P{name}")).await;
            }
        }
    }
    server.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_before_an_interrupt_are_read() {
    let server = TestServer::new();
    for round in 0..3 {
        let session = shell(&server, "bash").await;
        let command =
            json!({"session_id": session, "command": "cat > read.txt", "timeout_ms": 40_000});
        let started = call(&server, "execute_command", command).await;
        assert_eq!(started["state"], "needs_input", "{round}: {started}");
        let keys = json!({"session_id": session, "text": "one\n\u{3}", "wait": {"prompt": true}});
        call(&server, "send_keys", keys).await;
        let command = json!({"session_id": session, "command": "cat read.txt"});
        let answer = call(&server, "execute_command", command).await;
        assert_eq!(answer["output"], "one\n", "{round}: {answer}");
    }
    server.sessions.shutdown().await;
}
