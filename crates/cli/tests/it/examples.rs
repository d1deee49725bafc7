//! The examples run, and the documents show what they print.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;
use termbridge_mcp::client::Client;
use termbridge_testkit::TestEnvironment;

use crate::TERMBRIDGE;
use crate::support::{await_empty, repository};

#[test]
fn the_recipes_show_what_the_vim_example_prints() {
    shows("docs/recipes.md", "edit_in_vim");
}

#[test]
fn the_readme_shows_what_the_run_and_fix_example_prints() {
    shows("README.md", "run_and_fix");
}

#[test]
fn the_docs_show_what_the_find_bug_example_prints() {
    shows("docs/debugging.md", "find_bug");
}

#[test]
fn the_docs_show_what_the_rust_example_prints() {
    shows("docs/debugging.md", "debug_rust");
}

#[test]
fn the_docs_show_what_the_cpp_example_prints() {
    shows("docs/debugging.md", "debug_cpp");
}

#[test]
fn the_docs_show_what_the_server_example_prints() {
    shows("docs/debugging.md", "debug_server");
}

/// A page has the transcript of an example, as it is printed now.
#[track_caller]
fn shows(page: &str, example: &str) {
    let environment = TestEnvironment::new();
    let output = environment
        .command(crate::support::built("test-venv/bin/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PATH", path_with_debugpy())
        // rustc may be a stand-in that looks for its toolchains in the home folder.
        .env("RUSTUP_HOME", rustup_home())
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

fn rustup_home() -> std::ffi::OsString {
    std::env::var_os("RUSTUP_HOME").unwrap_or_else(|| {
        let home = std::env::home_dir().unwrap_or_default();
        home.join(".rustup").into_os_string()
    })
}

/// Times and counters differ from run to run, and the functions of Rust's library from version to version.
fn without_numbers(text: &str) -> String {
    let is_of_library =
        |line: &&str| line.starts_with("  #") && line.contains(".rs:") && line.contains("/src/");
    let own: String = text.split_inclusive('\n').filter(|line| !is_of_library(line)).collect();
    let mut kept = String::new();
    let mut words = own.split_inclusive([' ', '\n']).peekable();
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
    let kept = kept.replace(" s | ", " ms | ").replace(" |  s]", "]");
    // Whether a command took long enough for a time to be told differs too.
    kept.replace(" |  ms | ", " | ")
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
    let temporary = environment.path().join("temporary");
    std::fs::create_dir(&temporary).expect("a folder");
    let mut command = environment.command(TERMBRIDGE);
    command.args(["demo", "--fast"]).env("TMPDIR", &temporary);
    let output = command.output().expect("runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("It sees what you would see."), "{printed}");
    assert!(!printed.contains('\x1b'), "no colour where there is no terminal");
    // Whole screens: the rows behind the text, the file's name, no mode that is on its way out.
    let boxes: Vec<&str> = printed.split('┌').skip(1).collect();
    assert_eq!(boxes.len(), 2, "the end of the program is no screen: {printed}");
    assert!(boxes.iter().all(|shown| shown.matches("│~").count() >= 8), "{printed}");
    assert!(boxes[0].contains("hello.txt") && !printed.contains("INSERT"), "{printed}");
    assert!(!printed.contains("(blank)"), "{printed}");
    assert!(!environment.path().join(".viminfo").exists(), "vim keeps nothing");
    assert_eq!(std::fs::read_dir(&temporary).expect("a folder").count(), 0);
}

#[test]
fn an_interrupted_demo_leaves_nothing() {
    let environment = TestEnvironment::new();
    let temporary = environment.path().join("temporary");
    std::fs::create_dir(&temporary).expect("a folder");
    let mut command = environment.command(TERMBRIDGE);
    command.arg("demo").env("TMPDIR", &temporary);
    let mut demo = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("starts");
    // The first call is on its way.
    let mut printed = BufReader::new(demo.stdout.take().expect("piped")).lines();
    assert!(printed.any(|line| line.is_ok_and(|line| line.contains("launch_app"))));
    let group = Pid::from_raw(demo.id() as i32).expect("a pid");
    kill_process_group(group, Signal::INT).expect("interrupted, as Ctrl+C does it");
    let output = demo.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    // The server ends a moment after the connection.
    await_empty(&temporary);
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
