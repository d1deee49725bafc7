//! The examples run, and the README shows what they print.

use std::process::Command;

use serde_json::json;
use termbridge_mcp::client::Client;
use termbridge_testkit::TestEnvironment;

use crate::TERMBRIDGE;
use crate::support::repository;

#[test]
fn the_readme_shows_what_the_vim_example_prints() {
    readme_shows("edit_in_vim");
}

#[test]
fn the_readme_shows_what_the_run_and_fix_example_prints() {
    readme_shows("run_and_fix");
}

#[test]
fn the_docs_show_what_the_find_bug_example_prints() {
    shows("docs/debugging.md", "find_bug");
}

/// The README has the transcript of an example, as it is printed now.
#[track_caller]
fn readme_shows(example: &str) {
    shows("README.md", example);
}

/// The same of any page.
#[track_caller]
fn shows(page: &str, example: &str) {
    let environment = TestEnvironment::new();
    let output = environment
        .command(crate::support::built("test-venv/bin/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PATH", path_with_debugpy())
        .arg(repository(&format!("examples/{example}.py")))
        .arg(TERMBRIDGE)
        .output()
        .expect("python runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(repository(page)).expect("there is such a page");
    let shown = text
        .split_once(&format!("<!-- transcript: {example} -->\n```text\n"))
        .and_then(|(_, rest)| rest.split_once("```\n"))
        .map(|(transcript, _)| transcript)
        .expect("the page has a transcript");
    assert_eq!(without_numbers(shown), without_numbers(&printed));
}

/// The search path with a Python that has pytest and debugpy.
fn path_with_debugpy() -> std::ffi::OsString {
    let first = std::path::PathBuf::from(crate::support::built("test-venv/bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(first).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).expect("a search path")
}

/// Times and counters differ from run to run.
fn without_numbers(text: &str) -> String {
    let mut kept = String::new();
    let mut words = text.split_inclusive([' ', '\n']).peekable();
    while let Some(word) = words.next() {
        kept.push_str(word);
        let next_is_time =
            words.peek().is_some_and(|next| next.contains(|c: char| c.is_ascii_digit()));
        let after = matches!(word.trim(), "after" | "seq" | "in" | "|" | "cursor");
        if next_is_time && after {
            let number = words.next().unwrap_or_default();
            kept.extend(number.chars().filter(|c| !c.is_ascii_digit() && *c != '.' && *c != ':'));
        }
    }
    // A time of seconds or of milliseconds.
    kept.replace(" s | ", " ms | ")
}

#[test]
fn the_library_example_runs() {
    let example = crate::support::built("examples/drive_vim");
    let status = Command::new(example).status().expect("the example runs");
    assert!(status.success());
}

#[test]
fn the_demo_runs_and_leaves_nothing() {
    let environment = TestEnvironment::new();
    let output = environment.command(TERMBRIDGE).args(["demo", "--fast"]).output().expect("runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("It sees what you would see."), "{printed}");
    assert!(!printed.contains('\x1b'), "no colour where there is no terminal");
}

#[test]
fn a_backend_of_ones_own_serves_the_same_tools() {
    let environment = TestEnvironment::new();
    let example = crate::support::built("examples/custom_backend");
    let mut client = Client::start(&mut environment.command(example)).expect("starts");
    client.initialize("2025-11-25").expect("shakes hands");
    let list = client.request("tools/list", json!({})).expect("lists");
    let tools = list["tools"].as_array().cloned().unwrap_or_default();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.contains(&"execute_command") && !names.contains(&"send_keys"), "{names:?}");
    let mut run = |command: &str, agent: &str| {
        let arguments = json!({"command": command, "agent_id": agent});
        client.call("execute_command", arguments).expect("answers").structured
    };
    assert_eq!(run("add milk", "a")["exit_code"], 0);
    assert_eq!(run("add bread", "a")["exit_code"], 0);
    assert_eq!(run("list", "a")["output"], "milk\nbread\n");
    assert_eq!(run("list", "b")["output"], "", "another agent has a notebook of its own");
    assert_eq!(run("fail", "a")["exit_code"], 1);
    assert_eq!(
        run("rm -rf /", "a")["error"]["code"],
        "COMMAND_BLOCKED",
        "the policy holds here too"
    );
    let read = client.call("get_terminal_output", json!({"agent_id": "a", "lines": 3}));
    assert_eq!(read.expect("answers").structured["output"], "bread\n$ fail\nit failed\n");
}
