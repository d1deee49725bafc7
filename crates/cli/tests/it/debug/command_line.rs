//! `termbridge debug` and `termbridge doctor`.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Output, Stdio};

use serde_json::Value;
use termbridge_testkit::TestEnvironment;

use super::configured;
use crate::TERMBRIDGE;

fn run(environment: &TestEnvironment, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut command = environment.command(TERMBRIDGE);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    let Output { status, stdout, stderr } = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (status.code().expect("a code"), text(stdout), text(stderr))
}

#[test]
fn a_program_is_debugged_by_lines_of_commands() {
    let environment = configured();
    environment.write("app.py", "def double(n):\n    return n * 2\n\nprint(double(21))\n");
    let lines = "# comments and empty lines are nothing\n\n\
                 breakpoint set --path app.py --line 2 --condition 'n == 21'\n\
                 start --program app.py --wait --timeout-ms 40000\n\
                 evaluate --expression 'n * 2'\n\
                 continue --timeout-ms 40000\n";
    let (code, shown, complaints) = run(&environment, &["debug"], lines);
    assert_eq!((code, complaints.as_str()), (0, ""), "{shown}");
    assert!(shown.contains("> 2      return n * 2") && shown.contains("\n42 (int)\n"), "{shown}");
    assert!(shown.contains("app.py ended: exit code 0"), "{shown}");
}

#[test]
fn a_command_that_fails_or_makes_no_sense_says_so() {
    let environment = configured();
    let (code, shown, complaints) = run(&environment, &["debug", "continue"], "");
    assert_eq!((code, shown.as_str()), (1, ""));
    assert!(
        complaints.contains("[E_NO_SESSION]") && complaints.contains("Start one with `start`"),
        "{complaints}"
    );
    let (code, _, complaints) =
        run(&environment, &["debug", "breakpoint", "remove", "--path", "a.py"], "");
    assert_eq!(code, 1);
    assert!(complaints.contains("[E_INVALID_PARAMS]"), "{complaints}");
    assert!(complaints.contains("line"), "{complaints}");
    let (code, _, complaints) = run(&environment, &["debug", "evaluate"], "");
    assert_eq!(code, 2);
    assert!(complaints.contains("--expression"), "{complaints}");
    let (code, _, complaints) = run(&environment, &["debug"], "evaluate --expression 'open\n");
    assert_eq!(code, 2);
    assert!(complaints.contains("quote"), "{complaints}");
    let (code, shown, _) =
        run(&environment, &["debug", "--json", "docs", "list", "--tags", "workflow"], "");
    let answer: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!((code, &answer["ok"]), (0, &Value::Bool(true)), "{answer:#}");
    let (code, shown, _) = run(&environment, &["debug", "step-over", "--help"], "");
    assert_eq!(code, 0);
    assert!(
        shown.contains("termbridge debug step-over") && shown.contains("--session-id"),
        "{shown}"
    );
}

#[test]
fn the_doctor_names_what_is_missing_and_how_to_mend_it() {
    let environment = configured();
    let (code, shown, complaints) = run(&environment, &["doctor"], "");
    assert_eq!((code, complaints.as_str()), (0, ""), "{shown}");
    assert!(shown.contains("✓ terminals") && shown.contains("✓ debugpy"), "{shown}");
    let debugpy = shown.lines().find(|line| line.contains("debugpy")).expect("its line");
    assert!(debugpy.ends_with(" starts"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "no colour into a pipe: {shown:?}");
    let bare = TestEnvironment::new();
    let mut command = bare.command(TERMBRIDGE);
    let folder = bare.path().join("bin");
    std::fs::create_dir(&folder).expect("a folder");
    std::os::unix::fs::symlink(crate::support::program("sh"), folder.join("sh")).expect("a link");
    let dlv = bare.write("bin/dlv", "#!/bin/sh\necho 'it is broken' >&2\nexit 3\n");
    std::fs::set_permissions(dlv, PermissionsExt::from_mode(0o755)).expect("a mode");
    let output = command.env("PATH", &folder).args(["doctor", "--json"]).output().expect("it runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let checks = report["checks"].as_array().expect("checks");
    let debugging = || checks.iter().filter(|check| check["group"] == "debugging");
    for adapter in debugging().map(|check| &check["data"]).filter(|data| data["name"].is_string()) {
        // Debuggers with a number in their name are looked for there too.
        assert!(adapter["path"].is_string() || adapter["install"].is_string(), "{adapter:#}");
    }
    let go = debugging().find(|check| check["data"]["name"] == "delve").expect("delve");
    assert_eq!((output.status.code(), &go["status"]), (Some(1), &Value::from("failed")), "{go:#}");
    assert!(go["fix"].as_str().expect("a command").contains("install"), "{go:#}");
    assert!(go["detail"].as_str().expect("why not").contains("it is broken"), "{go:#}");
}
