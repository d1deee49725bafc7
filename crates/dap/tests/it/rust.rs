//! Rust through lldb-dap, its values shown as the program itself shows them.

use std::collections::HashMap;

use termbridge_dap::{EvaluateContext, Halt, Page, Resume, ScopeFilter, VariableFilter};

use crate::flows;
use crate::subject::{Language, Subject, local};
use crate::support::LIMIT;

const LANGUAGE: Language = Language::Rust;

#[tokio::test]
async fn breakpoints() {
    flows::breakpoints(LANGUAGE).await;
}

#[tokio::test]
async fn function_breakpoint() {
    flows::function_breakpoint(LANGUAGE, "subject::add").await;
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
    flows::values(LANGUAGE, "values", "20").await;
}

#[tokio::test]
async fn crash() {
    let report = flows::crash(LANGUAGE).await;
    let location = report.location.expect("a location");
    assert_eq!(location.function, "subject::crash", "without the hash of its symbol");
    assert_eq!(report.frames[0].name, "subject::crash", "without what the runtime does to panic");
    let exception = report.exception.expect("a panic is one");
    assert_eq!(exception.id, "panic");
    assert!(exception.message.is_some_and(|said| said.contains("index out of bounds")));
    assert!(report.output.text.contains("index out of bounds"), "{:?}", report.output);
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
async fn values_look_like_rust() {
    let subject = Subject::new(LANGUAGE);
    subject.break_at("print").await;
    let session = subject.start("sum").await;
    let report = subject.stop_at(&session, "print").await;
    let value = |name: &str| local(&report, name).value.clone();
    assert_eq!(value("name"), "\"Ada\"");
    assert_eq!(value("values"), "[10, 20, 30]");
    assert_eq!(value("ages"), "{\"Ada\": 36}");
    assert_eq!(value("maybe"), "Some(7)");
    assert_eq!(local(&report, "values").kind.as_deref(), Some("Vec<i32>"));
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn panics_stop_only_when_asked_for() {
    let subject = Subject::new(LANGUAGE);
    let none = subject.configuration("crash").exceptions([] as [&str; 0]);
    let session = subject.debugger.start(none).await.expect("starts");
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
    assert_eq!(end.exit_code, Some(101));
    assert!(end.output.text.contains("index out of bounds"), "{end:?}");
}

#[tokio::test]
async fn attach_to_a_process_and_leave_it() {
    flows::attach_to_program(LANGUAGE).await;
}

/// What the program says of its values by `{:?}` is what the debugger says.
#[tokio::test]
async fn values_are_what_the_program_says() {
    let shown = flows::values_are_what_the_program_says(LANGUAGE).await;
    for name in ["broken_vec", "broken_enum", "broken_str"] {
        assert!(shown[name].contains("<not readable: "), "{name}: {}", shown[name]);
    }
    assert!(shown["many"].starts_with("[0, 1, 2, ") && shown["many"].ends_with(" more]"));
    assert!(shown["long"].starts_with("\"long ü long") && shown["long"].ends_with(" more bytes"));
}

/// Values that are laid out in less usual ways, function by function.
#[tokio::test]
async fn unusual_values_are_what_the_program_says() {
    let subject = Subject::named(LANGUAGE, "more_values");
    let marks = [
        "uninhabited",
        "slices",
        "owners",
        "trees",
        "iterators",
        "cells",
        "small",
        "tails",
        "broken",
    ];
    for mark in marks {
        subject.break_at(mark).await;
    }
    let session = subject.start("").await;
    let mut report = subject.stop_at(&session, marks[0]).await;
    let (mut shown, mut kinds) = (HashMap::new(), HashMap::new());
    for mark in marks {
        assert_eq!(report.location.as_ref().expect("a location").line, subject.line(mark));
        for local in flows::all_locals(&session, &report).await {
            let name = format!("{mark}.{}", local.name);
            kinds.insert(name.clone(), local.kind.unwrap_or_default());
            shown.insert(name, local.value);
        }
        if mark != "broken" {
            report = subject.resume(&session, Resume::Continue).await;
        }
    }
    session.stop().await.expect("ends");
    flows::assert_said(&subject, &shown, 150);
    for name in [
        "flag",
        "flags",
        "bad_flag",
        "letter",
        "bad_letter",
        "iter",
        "into_iter",
        "tree",
        "list",
        "texts",
        "huge",
    ] {
        let value = &shown[&format!("broken.{name}")];
        assert!(value.contains("<not readable: "), "{name}: {value}");
        let count = |sign: char| value.matches(sign).count();
        assert_eq!((count('['), count('{')), (count(']'), count('}')), "{name}: {value}");
    }
    for (name, kind) in [
        ("small.signed", "i8"),
        ("small.signeds", "Vec<i8>"),
        ("small.saturating", "Saturating<i8>"),
        ("small.option_i8", "Option<i8>"),
        ("small.inclusive", "RangeInclusive<char>"),
        ("small.tuple", "(i8, u8, usize, isize, char)"),
        ("small.phantom", "PhantomData<u8>"),
        ("small.arc_str", "Arc<str>"),
        ("small.rc_slice", "Rc<[u16]>"),
        ("slices.strings", "Arc<[String]>"),
        ("owners.rcs_dyn", "Vec<Rc<dyn Shape>>"),
        ("owners.option_str", "Option<Arc<str>>"),
        ("broken.flags", "&[bool; 2]"),
        ("tails.headers", "&[Header]"),
        ("tails.no_bytes", "[u8; 0]"),
    ] {
        assert_eq!(kinds[name], kind, "{name}");
    }
    // The program adds the kind, which only the standard library's code knows.
    for (name, code, message) in [
        ("os_error", 2, "No such file or directory"),
        ("negative_error", -5, "Unknown error -5"),
        ("large_error", i32::MAX, "Unknown error 2147483647"),
    ] {
        let expected = format!("Os {{ code: {code}, message: {message:?}, .. }}");
        assert_eq!(shown[&format!("slices.{name}")], expected);
    }
    // Its type is not described; what lies where is not guessed.
    assert_eq!(shown["broken.mutex_ref"], "<dyn core::fmt::Debug: u16>");
    // Newer compilers name it in its table.
    let any = &shown["broken.any"];
    assert!(any == "<dyn core::any::Any>" || any == "5", "{any}");
}

#[tokio::test]
async fn no_exceptions_by_type() {
    flows::no_exceptions_by_type(LANGUAGE).await;
}

#[tokio::test]
async fn what_the_compiler_adds_is_left_out() {
    let subject = Subject::named(LANGUAGE, "closures");
    subject.break_at("print").await;
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "print").await;
    let add = local(&report, "add");
    assert_eq!((add.kind.as_deref(), add.value.contains("closure_env")), (Some("closure"), false));
    let tree = session.variable_tree(None, ScopeFilter::All, 1, 16_000).await.expect("a tree");
    let nodes = tree.scopes.iter().flat_map(|(_, nodes)| nodes);
    let names: Vec<_> = nodes.map(|node| &*node.variable.name).collect();
    assert!(names.iter().any(|name| name.contains("COUNT")), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("vtable")), "{names:?}");
    session.stop().await.expect("ends");
}

/// An enum is read as the variant that it is now, whatever it was at the stop before, and so are its fields.
#[tokio::test]
async fn variants_change_between_stops() {
    let subject = Subject::named(LANGUAGE, "changes");
    subject.break_at("change").await;
    let session = subject.start("").await;
    let mut report = subject.stop_at(&session, "change").await;
    let mut shown = HashMap::new();
    for turn in 0..4 {
        let locals = flows::all_locals(&session, &report).await;
        for local in &locals {
            shown.insert(format!("turn{turn}.{}", local.name), local.value.clone());
        }
        let number = locals.iter().find(|local| local.name == "number").expect("is there");
        let all = Page { start: 0, count: 0 };
        let inside = session.variables(number.reference, VariableFilter::All, all).await;
        let inside: Vec<_> = inside.unwrap_or_default().into_iter().map(|one| one.value).collect();
        let expected = number.value.strip_prefix("Some(").map(|rest| rest.trim_end_matches(')'));
        assert_eq!(inside, expected.into_iter().collect::<Vec<_>>(), "{number:?}");
        let again =
            session.evaluate("number", None, EvaluateContext::Watch).await.expect("a value");
        assert_eq!(again.value, number.value);
        if turn < 3 {
            report = subject.resume(&session, Resume::Continue).await;
        }
    }
    session.stop().await.expect("ends");
    flows::assert_said(&subject, &shown, 16);
}

/// An async function has its arguments twice, and what the compiler hands to it.
#[tokio::test]
async fn a_future_that_is_over_has_no_variables() {
    let subject = Subject::named(LANGUAGE, "futures");
    for mark in ["begin", "over"] {
        subject.break_at(mark).await;
    }
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "begin").await;
    assert_eq!(local(&report, "future").value, "Unresumed { list: [1, 2, 3] }");
    subject.resume(&session, Resume::Continue).await;
    let report = subject.stop_at(&session, "over").await;
    assert_eq!(local(&report, "future").value, "Returned");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn async_functions_have_their_locals_once() {
    let subject = Subject::named(LANGUAGE, "futures");
    subject.break_at("outer").await;
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "outer").await;
    let locals = flows::all_locals(&session, &report).await;
    let mut names: Vec<_> = locals.iter().map(|local| &*local.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["iter", "list", "n", "sum"], "{locals:#?}");
    assert_eq!(local(&report, "list").value, "[1, 2, 3, 4]");
    session.stop().await.expect("ends");
}
