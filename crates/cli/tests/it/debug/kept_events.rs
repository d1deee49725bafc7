//! What is kept on disk of debugged programs: nobody else reads it, and without a history there is none.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use termbridge_mcp::client::Client;
use termbridge_testkit::{PROTOCOL, Server, TestEnvironment};

use super::{PATIENCE_MS, configured, data};
use crate::TERMBRIDGE;

const STATE: &str = ".local/state";

/// Debugs a program that prints a secret to its end.
#[track_caller]
fn debug(server: &mut Client) {
    let start = json!({"program": "app.py", "wait": true, "timeoutMs": PATIENCE_MS});
    let answer = server.call("debug_start", start).expect("an answer");
    assert!(!answer.is_error, "{}", answer.text);
    let end = &answer.structured["data"]["stop"];
    assert_eq!(end["exit"]["code"], 0, "{}", answer.text);
}

fn project() -> TestEnvironment {
    let environment = configured();
    environment.write("app.py", "print('hunter2')\n");
    environment
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("is there").permissions().mode() & 0o7777
}

#[test]
fn only_the_owner_reads_what_programs_printed() {
    for umask in ["000", "022", "0777"] {
        let environment = project();
        let mut command = environment.command("/bin/sh");
        command.args(["-c", "umask \"$1\"; exec \"$2\" mcp", "sh", umask, TERMBRIDGE]);
        let mut server = Client::start(&mut command).expect("the server starts");
        server.initialize(PROTOCOL).expect("the server shakes hands");
        debug(&mut server);
        let state = environment.path().join(STATE);
        let folder = state.join("termbridge/debug");
        for folder in [&state, &state.join("termbridge"), &folder] {
            assert_eq!(mode(folder), 0o700, "{umask}: {}", folder.display());
        }
        let files: Vec<_> = folder.read_dir().expect("a folder").flatten().collect();
        let [file] = &files[..] else { panic!("{umask}: {files:?}") };
        assert_eq!(mode(&file.path()), 0o600, "{umask}");
        let text = std::fs::read_to_string(file.path()).expect("the owner reads it");
        assert!(text.contains("hunter2"), "{text}");
        server.close().expect("the server ends");
    }
}

#[test]
fn a_folder_of_an_earlier_version_becomes_private() {
    let environment = project();
    let old = environment.write(".local/state/termbridge/debug/old.ndjson", "");
    let folder = old.parent().expect("a folder");
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).expect("its mode");
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    data(&mut server, "debug_status", json!({}));
    assert_eq!(mode(folder), 0o700);
    assert_eq!(server.close(), Some(0));
}

#[test]
fn without_a_history_nothing_is_written() {
    let flag = project();
    let file = project();
    let config = file.read(".config/termbridge/config.toml");
    let config = format!("{config}[history]\nenabled = false\n");
    file.write(".config/termbridge/config.toml", config);
    for (environment, arguments) in [(flag, &["--no-history"][..]), (file, &[])] {
        let mut server: Server = environment.debug_server(TERMBRIDGE, arguments);
        debug(&mut server);
        let logs = data(&mut server, "dap_logs", json!({})).to_string();
        assert!(logs.contains("hunter2"), "the server still has it: {logs}");
        assert_eq!(server.close(), Some(0));
        let state = environment.path().join(STATE).join("termbridge");
        assert!(!state.exists(), "{:?}", state.read_dir().map(Iterator::collect::<Vec<_>>));
    }
}
