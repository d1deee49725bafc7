//! The examples run, and the README shows what they print.

use std::process::Command;

use termbridge_testkit::TestEnvironment;

use crate::TERMBRIDGE;
use crate::support::{program, repository};

#[test]
fn the_readme_shows_what_the_vim_example_prints() {
    let environment = TestEnvironment::new();
    let output = environment
        .command(program("python3"))
        .arg(repository("examples/edit_in_vim.py"))
        .arg(TERMBRIDGE)
        .output()
        .expect("python runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let readme = std::fs::read_to_string(repository("README.md")).expect("there is a README");
    let shown = readme
        .split_once("<!-- transcript -->\n```text\n")
        .and_then(|(_, rest)| rest.split_once("```\n"))
        .map(|(transcript, _)| transcript)
        .expect("the README has a transcript");
    assert_eq!(without_numbers(shown), without_numbers(&printed));
}

/// Times and counters differ from run to run.
fn without_numbers(text: &str) -> String {
    let mut kept = String::new();
    let mut words = text.split_inclusive(' ').peekable();
    while let Some(word) = words.next() {
        kept.push_str(word);
        if matches!(word.trim(), "after" | "seq") || word.ends_with("seq ") {
            let number = words.next().unwrap_or_default();
            kept.push_str(number.trim_start_matches(|c: char| c.is_ascii_digit()));
        }
    }
    kept
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
