//! C through lldb-dap.

use serde_json::json;
use termbridge_dap::{Breakpoint, BreakpointState, EndReason, EvaluateContext};

use crate::flows;
use crate::subject::{Language, Subject};

const LANGUAGE: Language = Language::C;

#[tokio::test]
async fn breakpoints() {
    flows::breakpoints(LANGUAGE).await;
}

#[tokio::test]
async fn failing_condition() {
    flows::failing_condition(LANGUAGE).await;
}

#[tokio::test]
async fn hit_condition() {
    flows::hit_condition(LANGUAGE).await;
}

#[tokio::test]
async fn entry() {
    flows::entry(LANGUAGE).await;
}

#[tokio::test]
async fn steps() {
    flows::steps(LANGUAGE).await;
}

#[tokio::test]
async fn values() {
    flows::values(LANGUAGE, "point", "20").await;
}

#[tokio::test]
async fn crash() {
    let report = flows::crash(LANGUAGE).await;
    assert_eq!(report.reason, "exception");
    let said = report.description.expect("a description");
    assert!(said.contains("SIGSEGV"), "{said}");
}

#[tokio::test]
async fn threads() {
    flows::threads(LANGUAGE).await;
}

#[tokio::test]
async fn restart() {
    flows::restart(LANGUAGE).await;
}

#[tokio::test]
async fn pause_and_stop() {
    flows::pause_and_stop(LANGUAGE).await;
}

#[tokio::test]
async fn drop_ends_all() {
    flows::drop_ends_all(LANGUAGE).await;
}

#[tokio::test]
async fn attach_to_a_process_and_leave_it() {
    flows::attach_to_program(LANGUAGE).await;
}

#[tokio::test]
async fn a_signal_that_ends_the_program_is_told() {
    let subject = Subject::new(LANGUAGE);
    let session = subject.start("crash").await;
    subject.stop_at(&session, "crash").await;
    let end = subject.run_out(&session).await;
    assert_eq!(end.reason, EndReason::Signalled("SIGSEGV".to_owned()));
}

#[tokio::test]
async fn environment_and_folder_reach_the_program() {
    let subject = Subject::new(LANGUAGE);
    subject.break_at("start").await;
    let configuration = subject.configuration("sum").with("env", json!({"PLANTED": "yes"}));
    let session = subject.debugger.start(configuration).await.expect("starts");
    subject.stop_at(&session, "start").await;
    let expression = "(const char *)getenv(\"PLANTED\")";
    let value = session.evaluate(expression, None, EvaluateContext::Watch).await.expect("a value");
    assert!(value.value.contains("yes"), "{value:?}");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_breakpoint_on_a_line_without_code_is_moved() {
    let subject = Subject::new(LANGUAGE);
    subject.break_at("start").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "start").await;
    // The line after a function's end is empty.
    let line = subject.line("return") + 2;
    let set = subject.debugger.set_breakpoint(Breakpoint::new(&subject.source, line)).await;
    let state = set.expect("is set").state;
    assert!(matches!(state, BreakpointState::Moved { line: moved } if moved > line), "{state:?}");
    session.stop().await.expect("ends");
}

/// What looks like a command of LLDB's is an expression.
#[tokio::test]
async fn expressions_are_no_commands() {
    let subject = Subject::new(LANGUAGE);
    subject.break_at("add").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "add").await;
    for expression in ["n", "s", "c", "q", "shell id", "process kill"] {
        let context = EvaluateContext::Repl;
        let error = session.evaluate(expression, None, context).await.expect_err("no such name");
        assert_eq!(error.code(), "E_EVALUATE_FAILED", "{expression}");
    }
    let sum = session.evaluate("a + 41", None, EvaluateContext::Repl).await.expect("a value");
    assert_eq!(sum.value, "41", "it has not gone on: {sum:?}");
    // An address is not taken for what lies there.
    let sum = session.evaluate("&b + 0", None, EvaluateContext::Repl).await.expect("a value");
    assert!(sum.value.starts_with("0x") && sum.value.contains("an address"), "{sum:?}");
    session.stop().await.expect("ends");
}
