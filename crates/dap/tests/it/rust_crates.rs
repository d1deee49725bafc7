//! Containers of widespread crates, as their users see them.

use std::path::Path;
use std::process::Command;

use termbridge_dap::EvaluateContext;

use crate::subject::{Language, Subject, rustc};
use crate::values::{Table, log_message, logged};

/// Variables in one log message: it holds so many values.
const LOGGED_AT_ONCE: usize = 12;

/// The program, built once for all runs of the tests.
fn built() -> Subject {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/debuggers/rust-crates");
    let rustc = rustc();
    let target =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-crates").join(rustc.replace('/', "_"));
    let mut build = Command::new(env!("CARGO"));
    build.env("RUSTC", rustc);
    build.args(["build", "--locked", "--offline", "--target-dir"]).arg(&target);
    // What this test was built with is not for it.
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET"] {
        build.env_remove(name);
    }
    let output = build.current_dir(&folder).output().expect("cargo runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "after scripts/setup-tests: {said}");
    let source = folder.join("src/main.rs").canonicalize().expect("a path");
    Subject::built(Language::Rust, source, target.join("debug/rust-crates"))
}

#[tokio::test]
async fn containers_of_crates_are_shown_as_the_program_says() {
    let subject = tokio::task::spawn_blocking(built).await.expect("no panic");
    let output = Command::new(subject.program()).output().expect("runs");
    let said = String::from_utf8(output.stdout).expect("text");
    let said = said.lines().filter_map(|line| line.split_once('\t'));
    let said: Vec<_> = said.map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    assert!(said.len() > 25, "{said:?}");
    // Each message needs a line of its own.
    for (index, some) in said.chunks(LOGGED_AT_ONCE).enumerate() {
        let message = log_message(some.iter().map(|(name, _)| name.as_str()));
        let log = subject.breakpoint(&format!("log{index}")).log_message(&message);
        subject.debugger.set_breakpoint(log).await.expect("is set");
    }
    subject.break_at("end").await;
    let session = subject.start("").await;
    let mut table = Table::default();
    let marks = ["end".to_owned()];
    table.compare_stops(&subject, &session, &marks, &said, |_, shown, said| shown == said).await;
    for (name, said) in &said {
        table.compare("log", name, said, logged(&subject, &session, name).as_deref());
    }
    for (expression, expected) in [
        ("small[1] == 2 && small_spilled[1] == \"b\"", "true"),
        ("small_cleared.is_empty() && small.len() == 3", "true"),
        ("index[\"z\"]", "[1]"),
        ("index_set.contains(\"a\")", "true"),
        ("brown[\"k\"]", "5"),
        ("bytes.len()", "8"),
        ("array[1]", "2"),
        ("json[\"d\"]", "String(\"s\")"),
    ] {
        let value = session.evaluate(expression, None, EvaluateContext::Repl).await;
        let value = value.map(|value| value.value);
        table.compare("expression", expression, expected, value.as_deref().ok());
    }
    session.stop().await.expect("ends");
    table.finish(100);
}
