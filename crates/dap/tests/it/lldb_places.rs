//! What expressions and names stand for in C++ and Rust: a wrong value is worse than none.

use termbridge_dap::{
    Breakpoint, BreakpointPlace, DataAccess, DebugSession, EvaluateContext, Halt, Resume,
};

use crate::subject::{Language, Subject, local};
use crate::support::LIMIT;

/// The program with its references, stopped at a mark.
async fn stopped(language: Language, mark: &str) -> (Subject, DebugSession) {
    let subject = Subject::named(language, "references");
    subject.break_at(mark).await;
    let session = subject.start("").await;
    subject.stop_at(&session, mark).await;
    (subject, session)
}

async fn evaluated(session: &DebugSession, expression: &str) -> String {
    let value = session.evaluate(expression, None, EvaluateContext::Repl).await;
    value.unwrap_or_else(|error| panic!("{expression}: {error}")).value
}

async fn refused(session: &DebugSession, expression: &str) -> String {
    let value = session.evaluate(expression, None, EvaluateContext::Repl).await;
    let error = value.expect_err(expression);
    assert_eq!(error.code(), "E_EVALUATE_FAILED", "{error}");
    error.to_string()
}

#[tokio::test]
async fn fields_of_tuples_by_their_numbers() {
    let (_subject, session) = stopped(Language::Rust, "change").await;
    for (expression, value) in [
        ("counter.pair.0", "1"),
        ("counter.pair.1", "20"),
        ("counter.pair.1 + 1", "21"),
        ("counter.pair.1 == 20", "true"),
        ("counter.shape.0", "3"),
        ("counter.shape.1", "4"),
        ("pairs[1].0", "3"),
        ("counter.list[1]", "2"),
        ("counter.count + 1", "8"),
        ("1.5 + 1", "2.5"),
    ] {
        assert_eq!(evaluated(&session, expression).await, value, "{expression}");
    }
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn conditions_and_log_messages_with_fields_of_tuples() {
    let subject = Subject::named(Language::Rust, "references");
    let debugger = &subject.debugger;
    let conditional = subject.breakpoint("change").condition("point.1 == 20");
    debugger.set_breakpoint(conditional).await.expect("is set");
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "change").await;
    assert_eq!(local(&report, "turn").value, "2");
    session.stop().await.expect("ends");
    let logging = subject.breakpoint("change").log_message("1.0: {point.1}, {counter.pair.1 + 1}");
    debugger.set_breakpoint(logging).await.expect("is set");
    let session = subject.start("").await;
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
    for line in ["1.0: 0, 21", "1.0: 10, 22", "1.0: 20, 23"] {
        assert!(end.output.text.contains(line), "{}", end.output.text);
    }
}

#[tokio::test]
async fn what_is_no_expression_is_not_half_evaluated() {
    let (_subject, session) = stopped(Language::Cpp, "change").await;
    for expression in ["width 5", "width.5"] {
        refused(&session, expression).await;
    }
    assert_eq!(evaluated(&session, "width + 5").await, "9");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_name_that_lldb_cannot_use_in_an_expression() {
    let (_subject, session) = stopped(Language::Rust, "change").await;
    assert_eq!(evaluated(&session, "id").await, "0");
    let error = refused(&session, "id + 1").await;
    assert!(error.contains("LLDB cannot use id in an expression"), "{error}");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn entries_of_maps_are_not_taken_by_position() {
    let (_subject, session) = stopped(Language::Cpp, "change").await;
    assert_eq!(evaluated(&session, "by_hash[1]").await, "\"one\"");
    assert_eq!(evaluated(&session, "by_order[1]").await, "[10]");
    assert_eq!(evaluated(&session, "by_order[3]").await, "[30, 31]");
    session.stop().await.expect("ends");
    let (_subject, session) = stopped(Language::Rust, "change").await;
    assert!(refused(&session, "by_hash[0]").await.contains("it has no key 0"));
    assert_eq!(evaluated(&session, "pairs[1]").await, "(3, 4)");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn references_are_set_through() {
    let (subject, session) = stopped(Language::Cpp, "change").await;
    for (name, value) in [("a", "77"), ("d", "2.5"), ("small", "9"), ("flag", "false")] {
        let set = session.set_variable(name, value, None).await.expect(name);
        assert_eq!(set.value, value, "{name}");
    }
    let error = session.set_variable("fixed", "4", None).await.expect_err("it is const");
    assert!(error.to_string().contains("const"), "{error}");
    let set = session.set_variable("pointer", "0", None).await.expect("is set");
    assert_eq!(set.value, "nullptr", "a pointer is one");
    subject.debugger.clear_breakpoints().await;
    let end = subject.run_out(&session).await;
    assert!(end.output.text.contains("now 77 2 2.5 9 0"), "{end:#?}");

    let (subject, session) = stopped(Language::Rust, "change").await;
    for (name, value) in [("read", "60"), ("written", "50"), ("boxed", "5"), ("flag", "false")] {
        let set = session.set_variable(name, value, None).await.expect(name);
        assert_eq!(set.value, value, "{name}");
    }
    let error = session.set_variable("counter", "5", None).await.expect_err("it is a struct");
    assert!(error.to_string().contains("cannot be set"), "{error}");
    subject.debugger.clear_breakpoints().await;
    let end = subject.run_out(&session).await;
    assert!(end.output.text.contains("60 50 6 false 0 "), "{end:#?}");
}

/// Libraries have variables of the same name.
#[tokio::test]
async fn a_member_is_in_scope() {
    let (_subject, session) = stopped(Language::Cpp, "member").await;
    assert_eq!(evaluated(&session, "one").await, "8");
    assert_eq!(evaluated(&session, "one + number").await, "9");
    session.stop().await.expect("ends");
}

/// Only what was hit is named, also where its value cannot be read by its address; LLDB's own lines are left out.
#[tokio::test]
async fn data_breakpoints_name_what_was_written() {
    let (subject, session) = stopped(Language::Rust, "change").await;
    subject.debugger.clear_breakpoints().await;
    for expression in ["counter.pair.1", "counter.shape", "counter.list"] {
        let place = BreakpointPlace::data(expression, DataAccess::Write);
        subject.debugger.set_breakpoint(Breakpoint::at(place)).await.expect(expression);
    }
    // What takes several writes is there several times.
    let mut seen: Vec<(String, String)> = Vec::new();
    while seen.len() < 4 {
        let report = subject.resume(&session, Resume::Continue).await;
        assert!(!report.output.text.contains("Watchpoint"), "{:?}", report.output);
        let [change] = &report.data_changes[..] else { panic!("{report:#?}") };
        let new = change.new.clone().expect("a value");
        match seen.last_mut().filter(|(expression, _)| *expression == change.expression) {
            Some((_, last)) => *last = new,
            None => seen.push((change.expression.clone(), new)),
        }
    }
    let seen: Vec<_> = seen.iter().map(|(expression, new)| (&**expression, &**new)).collect();
    let expected = [
        ("counter.pair.1", "21"),
        ("counter.shape", "Line { length: 2.5 }"),
        ("counter.list", "[1, 4]"),
        ("counter.pair.1", "22"),
    ];
    assert_eq!(seen, expected);
    session.stop().await.expect("ends");
}
