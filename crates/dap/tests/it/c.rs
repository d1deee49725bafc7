//! C through lldb-dap.

use serde_json::json;
use termbridge_dap::{
    Breakpoint, BreakpointPlace, BreakpointState, DataAccess, EndReason, EvaluateContext, Halt,
    Resume,
};

use crate::flows;
use crate::subject::{Language, Subject, compile, stopped};
use crate::support::LIMIT;

const LANGUAGE: Language = Language::C;

#[tokio::test]
async fn breakpoints() {
    flows::breakpoints(LANGUAGE).await;
}

#[tokio::test]
async fn function_breakpoint() {
    flows::function_breakpoint(LANGUAGE, "add").await;
}

#[tokio::test]
async fn data_breakpoint() {
    flows::data_breakpoint(LANGUAGE).await;
}

#[tokio::test]
async fn failing_condition() {
    flows::failing_condition(LANGUAGE).await;
}

#[tokio::test]
async fn hit_condition() {
    flows::hit_condition(LANGUAGE).await;
}

/// Without a session, too: the only adapter for the file decides.
#[tokio::test]
async fn a_hit_condition_that_lldb_does_not_know_is_refused() {
    let subject = Subject::new(LANGUAGE);
    let fifth = subject.breakpoint("add").hit_condition("%5");
    let error = subject.debugger.set_breakpoint(fifth).await.expect_err("is refused");
    assert_eq!(error.code(), "E_INVALID_PARAMS");
    assert_eq!(error.to_string(), "lldb-dap knows only NUMBER and >= NUMBER, not %5");
    assert_eq!(subject.debugger.breakpoints(), []);
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

/// A static variable of a library is not taken for one of the program's that is not there.
#[tokio::test]
async fn a_name_of_another_library_is_not_in_scope() {
    let subject = Subject::new(LANGUAGE);
    let folder = subject.folder.path();
    // What is constant has no address.
    let library = "static int hidden = 7; static const double constant = 1.5; int shared = 8;\n\
        int *used(void) { return &hidden; } double more(double n) { return n * constant; }";
    std::fs::write(folder.join("library.c"), library).expect("is written");
    compile(folder, "gcc", &["-g", "-O2", "-shared", "-fPIC", "library.c", "-o", "library.so"]);
    subject.break_at("add").await;
    let environment = json!({"LD_PRELOAD": folder.join("library.so")});
    let configuration = subject.configuration("sum").with("env", environment);
    let session = subject.debugger.start(configuration).await.expect("starts");
    subject.stop_at(&session, "add").await;
    for expression in ["hidden", "hidden + 1", "*&hidden"] {
        let value = session.evaluate(expression, None, EvaluateContext::Repl).await;
        let error = value.expect_err(expression);
        assert_eq!(error.code(), "E_EVALUATE_FAILED", "{expression}");
        let message = "hidden is not in scope here: it is a static variable of library.so";
        assert!(error.to_string().contains(message), "{error}");
    }
    let constant = session.evaluate("constant", None, EvaluateContext::Repl).await;
    let error = constant.expect_err("it is the library's");
    assert!(error.to_string().contains("constant is not in scope here"), "{error}");
    let shared = session.evaluate("shared", None, EvaluateContext::Repl).await.expect("a value");
    assert_eq!(shared.value, "8", "it is everyone's");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn several_data_breakpoints() {
    let subject = Subject::new(LANGUAGE);
    let debugger = &subject.debugger;
    subject.break_at("call").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "call").await;
    debugger.clear_breakpoints().await;
    let watch = async |expression: &str| {
        let place = BreakpointPlace::data(expression, DataAccess::Write);
        debugger.set_breakpoint(Breakpoint::at(place)).await
    };
    for expression in ["total", "i", "point.x", "point.y"] {
        watch(expression).await.expect(expression);
    }
    // One more than the processor has.
    let error = watch("*(&total - 8)").await.expect_err("four are enough");
    assert_eq!(error.code(), "E_INVALID_PARAMS");
    assert!(error.to_string().contains("cannot be watched (4 bytes at "), "{error}");
    let mut seen = Vec::new();
    for _ in 0..3 {
        let report = subject.resume(&session, Resume::Continue).await;
        let [change] = &report.data_changes[..] else { panic!("{report:#?}") };
        let change = change.clone();
        seen.push((change.expression, change.old.unwrap(), change.new.unwrap()));
    }
    let seen: Vec<_> = seen.iter().map(|(a, b, c)| (&**a, &**b, &**c)).collect();
    assert_eq!(seen, [("i", "0", "1"), ("total", "0", "1"), ("i", "1", "2")]);
    assert_eq!(debugger.breakpoints().len(), 4);
    session.stop().await.expect("ends");
    assert!(debugger.breakpoints().is_empty(), "they went with the session");
}

#[tokio::test]
async fn a_local_that_is_gone_is_said_to_be_gone() {
    let subject = Subject::new(LANGUAGE);
    subject.break_at("return").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "return").await;
    subject.debugger.clear_breakpoints().await;
    let place = BreakpointPlace::data("total", DataAccess::Write);
    subject.debugger.set_breakpoint(Breakpoint::at(place)).await.expect("is watched");
    let mut returned = Vec::new();
    while let Halt::Stopped(report) =
        session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt")
    {
        assert_eq!(report.reason, "data breakpoint");
        let function = &report.frames[0].name;
        let change = &report.data_changes[0];
        assert_eq!(change.returned.is_none(), function == "add", "{report:#?}");
        returned.extend(change.returned.clone());
    }
    assert!(returned.iter().all(|function| function == "add"), "{returned:?}");
    assert!(!returned.is_empty(), "others use its place");
}

#[tokio::test]
async fn the_next_line_cannot_be_set() {
    flows::no_next_line(LANGUAGE).await;
}

#[tokio::test]
async fn a_stop_without_debug_information_says_so() {
    let text = "int main(void) {\n    *(volatile int *)0 = 1;\n}\n";
    let subject = Subject::written(LANGUAGE, "subject", text);
    let program = compile(subject.folder.path(), "gcc", &["subject.c", "-o", "subject"]);
    assert_eq!(program, subject.program());
    let session = subject.start("").await;
    let report = stopped(session.wait(LIMIT).await.expect("a halt"));
    assert_eq!(report.location, None);
    let said = report.condition_failures.join("\n");
    assert!(said.contains("no debug information: build it with it"), "{said}");
}
