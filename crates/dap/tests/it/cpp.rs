//! C++ through lldb-dap, its values shown as the program itself shows them.

use std::time::Duration;

use termbridge_dap::{
    DebugSession, EvaluateContext, Halt, Page, Resume, ScopeFilter, VariableFilter, VariableInfo,
};

use crate::flows;
use crate::subject::{Language, Subject};
use crate::support::LIMIT;

#[tokio::test]
async fn values_are_what_the_program_says() {
    let shown = flows::values_are_what_the_program_says(Language::Cpp).await;
    assert!(shown["million"].starts_with("[7, 7, 7, ") && shown["million"].ends_with(" more]"));
    assert!(shown["long_text"].ends_with(" more bytes"), "{}", shown["long_text"]);
    // A list is not followed to its end, which it may not have.
    let address = shown["loop"].rsplit("0x").next().expect("an address");
    assert_eq!(
        shown["loop"],
        format!("{{value: 1, next: &{{value: 1, next: &{{value: 1, next: 0x{address}")
    );
    for name in ["broken", "broken_vector"] {
        assert!(shown[name].contains("<not readable: "), "{}", shown[name]);
    }
}

/// The program with its many values, stopped where all are there.
async fn stopped_with_values() -> (Subject, DebugSession) {
    let subject = Subject::named(Language::Cpp, "values");
    subject.break_at("values").await;
    let session = subject.start("").await;
    subject.stop_at(&session, "values").await;
    (subject, session)
}

async fn evaluated(session: &DebugSession, expression: &str) -> VariableInfo {
    let value = session.evaluate(expression, None, EvaluateContext::Repl).await;
    value.unwrap_or_else(|error| panic!("{expression}: {error}"))
}

#[tokio::test]
async fn what_is_inside_is_what_the_line_says() {
    let (_subject, session) = stopped_with_values().await;
    let inside = async |expression: &str, start: u64| {
        let value = evaluated(&session, expression).await;
        assert_ne!(value.reference, 0, "{expression}: {value:?}");
        let page = Page { start, count: 100 };
        let parts = session.variables(value.reference, VariableFilter::All, page).await;
        let parts = parts.expect(expression).into_iter();
        parts.map(|part| format!("{}: {}", part.name, part.value)).collect::<Vec<_>>().join(", ")
    };
    for (expression, parts) in [
        ("v", "[0]: 1, [1]: 2, [2]: 3"),
        ("bits", "[0]: true, [1]: false, [2]: true"),
        ("arr", "[0]: 4, [1]: 5, [2]: 6"),
        ("m", "[\"k\"]: 1, [\"l\"]: 2"),
        ("li", "[0]: 1, [1]: 2"),
        ("fl", "[0]: 1, [1]: 2"),
        ("st", "[0]: 1, [1]: 2, [2]: 3"),
        ("um", "[1]: \"one\""),
        ("text", "Value: \"t\""),
        ("vs", "Value: \"v\""),
        ("up", "object: {x: 1, y: 2}"),
        ("sp", "object: {name: \"shared\", age: 1, tags: [], at: {x: 0, y: 0}}"),
        ("in_words", "l: 17179869187, a: [3, 4], few: [3, 0, 4], table: [[3], [4]]"),
        ("to_either", "i: 1094861636, c: \"DCBA\""),
        ("broken_map", "[1]: 2, [3]: 4"),
    ] {
        assert_eq!(inside(expression, 0).await, parts, "{expression}");
    }
    assert_eq!(inside("million", 999_999).await, "[999999]: 7");
    assert!(inside("dq", 9).await.ends_with("[9]: 139"));
    let locals = session.variable_tree(None, ScopeFilter::All, 0, 64_000).await.expect("locals");
    let names: Vec<_> = { locals.scopes.iter() }
        .flat_map(|(_, nodes)| nodes.iter().map(|node| node.variable.name.as_str()))
        .collect();
    assert!(names.contains(&"::own_global"), "{names:?}");
    let is_foreign = |name: &&str| name.starts_with("std::") || name.starts_with("__");
    assert!(!names.iter().any(is_foreign), "{names:?}");
    let million = locals.scopes[0].1.iter().find(|node| node.variable.name == "million");
    assert_eq!(million.expect("is there").variable.indexed, Some(1_000_000));
    // Nothing is inside but what the library is made of.
    for expression in ["s", "view", "wide_string", "nup", "nsp", "nothing", "none", "atomic_bool"] {
        let value = evaluated(&session, expression).await;
        assert_eq!(value.reference, 0, "{expression}: {value:?}");
    }
    assert_eq!(evaluated(&session, "broken_vector").await.reference, 0);
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn locals_that_are_cut_can_be_read_on() {
    let (_subject, session) = stopped_with_values().await;
    let tree = session.variable_tree(None, ScopeFilter::All, 1, 2_000).await.expect("locals");
    let rest = &tree.rest[0];
    let shown = &tree.scopes[0].1;
    assert_eq!(rest.start, shown.len(), "the first are shown: {rest:?}");
    let page = Page { start: rest.start as u64, count: 1000 };
    let others = session.variables(rest.reference, VariableFilter::All, page).await;
    let others = others.expect("the others");
    assert_eq!(others.len(), rest.count);
    assert!(shown.iter().all(|node| others.iter().all(|other| other.name != node.variable.name)));
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_call_of_a_member_function_is_a_call() {
    let (_subject, session) = stopped_with_values().await;
    for (expression, value) in [
        ("vs.index()", "1"),
        ("va.index()", "0"),
        ("v.size()", "3"),
        ("v[1]", "2"),
        ("up->y", "2"),
        ("sp->name", "\"shared\""),
        ("*up", "{x: 1, y: 2}"),
        // The compiler made no function for that.
        ("(*up).x", "1"),
        ("s.size()", "11"),
        ("packet.u.text", "\"hey\""),
        ("either.c[1]", "'C'"),
        ("views.g", "1075838976"),
    ] {
        assert_eq!(evaluated(&session, expression).await.value, value, "{expression}");
    }
    let v = evaluated(&session, "v").await;
    session.set_variable("[1]", "9", Some(v.reference)).await.expect("is set");
    assert_eq!(evaluated(&session, "v").await.value, "[1, 9, 3]");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn exceptions_by_type() {
    let one = ["std::runtime_error"];
    flows::exceptions_by_type(Language::Cpp, &one, &one).await;
    let two = ["std::logic_error", "app::Error"];
    flows::exceptions_by_type(Language::Cpp, &two, &two).await;
}

const EMPTY_BASES: &str = r#"
#include <stdexcept>
struct A {};
struct A2 {};
struct B : A {};
struct C : B { int x = 5; };
struct D : A { int y = 6; };
struct G : B, D { int z = 7; };
struct Several : B, A2 { int t = 2; };
struct Virtual : virtual B { int v = 4; };
struct Middle : virtual B {};
struct Deep : Middle { int d = 8; };
template <class T> struct Self {};
template <class T, int N> struct Sized : Self<T> {};
template <class T> struct Matrix : Sized<Matrix<T>, 2> { T data[2] = {1, 2}; };
struct Bits : B { unsigned a : 3; unsigned : 5; unsigned b : 4; };
struct Error : std::runtime_error { using runtime_error::runtime_error; };
struct Coded : Error { int code = 3; Coded() : Error("oops") {} };
struct Holder { B b; C c; };
int main() {
    C c; G g; Several several; Virtual virt; Middle middle; Deep deep; Matrix<int> matrix;
    Bits bits; Coded coded; Holder holder; B none;
    bits.a = 5; bits.b = 9;
    C list[2];
    return c.x; // mark: here
}
"#;

/// LLDB has no parts for base classes without fields, whose own base classes have none either.
#[tokio::test]
async fn base_classes_without_fields_are_left_out() {
    let subject = Subject::written(Language::Cpp, "written", EMPTY_BASES);
    subject.break_at("here").await;
    let session = subject.start("").await;
    subject.stop_at(&session, "here").await;
    for (expression, value) in [
        ("c", "{x: 5}"),
        ("g", "{<D>: {y: 6}, z: 7}"),
        ("several", "{t: 2}"),
        ("virt", "{v: 4}"),
        ("middle", "{}"),
        ("deep", "{d: 8}"),
        ("matrix", "{data: [1, 2]}"),
        ("bits", "{a: 5, b: 9}"),
        ("coded", "{<Error>: {<std::runtime_error>: \"oops\"}, code: 3}"),
        ("holder", "{b: {}, c: {x: 5}}"),
        ("none", "{}"),
        ("list", "[{x: 5}, {x: 5}]"),
    ] {
        assert_eq!(evaluated(&session, expression).await.value, value, "{expression}");
    }
    let bits = evaluated(&session, "bits").await;
    let page = Page { start: 0, count: 100 };
    let parts = session.variables(bits.reference, VariableFilter::All, page).await;
    let names: Vec<_> = parts.expect("its parts").into_iter().map(|part| part.name).collect();
    assert_eq!(names, ["a", "b"]);
    session.stop().await.expect("ends");
}

const LAST_LINE: &str = r#"
#include <iostream>
#include <string>
static std::string name = "x";
int main() {
    std::cout << name;
} // mark: end"#;

/// GCC gives what it makes for the program's start the file's last line.
#[tokio::test]
async fn the_last_line_stops_only_where_it_is() {
    let subject = Subject::written(Language::Cpp, "last", LAST_LINE);
    subject.break_at("end").await;
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "end").await;
    assert_eq!(report.frames[0].name, "main");
    let halt = session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt");
    assert!(matches!(halt, Halt::Ended(_)), "{halt:?}");
}

const NESTED: &str = r#"
#include <map>
#include <string>
#include <vector>
int main() {
    std::map<std::string, std::vector<int>> table = {{"k", {1, 2}}, {"l", {3}}, {"m", {}}};
    std::vector<std::vector<std::string>> nested = {{"a", "b"}, {"c"}};
    for (int i = 0; i < 5; i++)
        table["m"].push_back(i); // mark: here
}
"#;

/// Lets what serves LLDB (the parent of the program) work only now and then, until it is gone.
fn stall(session: &DebugSession) -> std::thread::JoinHandle<()> {
    use rustix::process::{Pid, Signal, kill_process};
    let program = session.info().pid.expect("a process");
    let (server, _) = termbridge_pty::process(program).expect("it is there");
    let server = Pid::from_raw(server.parent).expect("a number");
    std::thread::spawn(move || {
        for (signal, length) in [(Signal::STOP, 250), (Signal::CONT, 20)].into_iter().cycle() {
            if kill_process(server, signal).is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(length));
        }
    })
}

/// A value waits for memory longer than it may take to read.
#[tokio::test]
async fn values_are_whole_on_a_machine_that_stalls() {
    let subject = Subject::written(Language::Cpp, "written", NESTED);
    subject.break_at("here").await;
    let session = subject.start("").await;
    subject.stop_at(&session, "here").await;
    let stalls = stall(&session);
    let mut pushed = Vec::new();
    for number in 0..4 {
        session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt");
        pushed.push(number.to_string());
        let table = format!("{{\"k\": [1, 2], \"l\": [3], \"m\": [{}]}}", pushed.join(", "));
        assert_eq!(evaluated(&session, "table").await.value, table);
        assert_eq!(evaluated(&session, "nested").await.value, "[[\"a\", \"b\"], [\"c\"]]");
    }
    session.stop().await.expect("ends");
    stalls.join().expect("no panic");
}
