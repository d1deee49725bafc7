//! What an error recommends can be done.

use serde_json::json;

use super::{Language, Subject, configured};
use crate::TERMBRIDGE;
use crate::support::repository;

#[test]
fn a_missing_launch_json_is_no_missing_source() {
    let mut subject = Subject::new(Language::Python);
    let (code, text) = subject.server.error("debug_start", json!({"launch": "App"}));
    assert_eq!(code, "E_FILE_NOT_FOUND");
    assert!(text.contains("give `program`"), "{text}");
}

#[test]
fn a_file_that_cannot_be_written_is_no_source() {
    let mut subject = Subject::new(Language::Python);
    let mut start = subject.arguments("sum");
    start["stopOnEntry"] = true.into();
    subject.call("debug_start", start);
    let save = json!({"expression": "1", "outputPath": "no/such/folder/out.ndjson"});
    let (code, text) = subject.server.error("debug_save_variable", save);
    assert_eq!(code, "E_INVALID_PATH");
    assert!(text.contains("existing folder") && !text.contains("source"), "{text}");
}

#[test]
fn a_slow_language_server_is_asked_again() {
    let environment = configured();
    let modules = repository("tests/debuggers/node_modules");
    std::os::unix::fs::symlink(modules, environment.path().join("node_modules")).expect("a link");
    environment.write("tsconfig.json", "{}");
    environment.write("add.ts", "export function add() {}\n");
    environment.write(".config/termbridge/config.toml", "[debug]\ntimeout = \"1ms\"\n");
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    let call = json!({"query": "add"});
    let answer = server.call("search_symbol_search", call).expect("an answer");
    let error = &answer.structured["error"];
    assert_eq!(error["code"], "E_TIMEOUT", "{}", answer.text);
    assert!(answer.text.contains("Call again"), "{}", answer.text);
    assert_eq!(error["next_tools"], json!([]), "no tool for debugging helps");
    let page = server.ok("docs_get", json!({"id": "search_symbol_search"})).text;
    assert!(page.contains("E_TIMEOUT") && !page.contains("timeoutMs"), "{page}");
}

#[test]
fn a_server_does_not_debug_itself_or_what_is_not_there() {
    let environment = configured();
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    // The keeper is there once a terminal is.
    server.ok("launch_app", json!({"command": "cat"}));
    let own = server.pid();
    let threads = std::fs::read_dir(format!("/proc/{own}/task")).expect("its threads");
    let children =
        threads.flatten().map(|thread| std::fs::read_to_string(thread.path().join("children")));
    let children: String = children.map_while(Result::ok).collect();
    let keeper: u32 = children.trim().parse().expect("one child, the keeper");
    for (pid, words) in [
        (own, "this server itself"),
        (keeper, "this server itself"),
        (u32::MAX >> 1, "there is no process"),
    ] {
        let (code, text) = server.error("debug_attach", json!({"pid": pid}));
        assert_eq!(code, "E_INVALID_PARAMS");
        assert!(text.contains(words) && text.contains("pgrep"), "{text}");
    }
}
