//! Rust through lldb-dap, its values shown as the program itself shows them.

use termbridge_dap::Halt;

use crate::flows;
use crate::subject::{Language, Subject, local};
use crate::support::LIMIT;

const LANGUAGE: Language = Language::Rust;

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
