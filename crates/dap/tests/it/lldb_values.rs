//! What lldb-dap gets wrong or leaves out, where the tables of values do not reach.

use termbridge_dap::{DebugSession, EvaluateContext, Page, Resume, StopReport, VariableFilter};

use crate::flows;
use crate::subject::{Language, Subject, compile, local, rustc, stopped};
use crate::support::LIMIT;

/// A program, stopped at its mark.
async fn stopped_in(language: Language, text: &str) -> (Subject, DebugSession, StopReport) {
    let subject = Subject::written(language, "written", text);
    subject.break_at("stop").await;
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "stop").await;
    (subject, session, report)
}

async fn evaluated(session: &DebugSession, expression: &str) -> Result<String, String> {
    let value = session.evaluate(expression, None, EvaluateContext::Repl).await;
    value.map(|value| value.value).map_err(|error| format!("{}: {error}", error.code()))
}

/// The parts of an expression's value, as text.
async fn parts_of(session: &DebugSession, expression: &str) -> String {
    let value = session.evaluate(expression, None, EvaluateContext::Repl).await.expect(expression);
    let all = Page { start: 0, count: 0 };
    let parts = session.variables(value.reference, VariableFilter::All, all).await.expect("parts");
    let parts = parts.into_iter().map(|part| format!("{}: {}", part.name, part.value));
    parts.collect::<Vec<_>>().join(", ")
}

const LONG_DECLARATIONS: &str = r#"
#include <cstdio>
#include <string>
struct Config { int a, b; double c; };
struct Made { int a, b; Made(int x, int y) : a(x), b(y) {} };
struct Named { std::string name; int value; };
int f(int x) { return x * 2; }
std::string text(int x) { return "s" + std::to_string(x); }
int main() {
    int sum = 0;
    for (int i = 1; i <= 2; i++) {
        Config config = {
            f(i),
            f(i + 1), // mark: config
            f(i + 2) + 0.5};
        int array[2] = {
            f(i), /* ; */
            f(i + 10)}; // mark: array
        int number =
            f(i) +
            f(i + 3); // mark: number
        Made made(
            f(i),
            f(i + 5)); // mark: made
        Named named = {
            text(i),
            f(i + 1)}; // mark: named
        sum += config.a + array[1] + number + made.b + named.value; // mark: set
    }
    std::printf("%d\n", sum);
}
"#;

/// Also where the last round of the loop has left a value.
#[tokio::test]
async fn a_variable_has_no_value_in_the_later_lines_of_its_declaration() {
    let names = ["config", "array", "number", "made", "named"];
    let subject = Subject::written(Language::Cpp, "written", LONG_DECLARATIONS);
    for mark in names.into_iter().chain(["set"]) {
        subject.break_at(mark).await;
    }
    let session = subject.start("").await;
    for round in 1..=2 {
        for name in names {
            let report = subject.stop_at(&session, name).await;
            assert_eq!(local(&report, name).value, "<not set yet>", "{round}");
            assert_eq!(evaluated(&session, name).await.as_deref(), Ok("<not set yet>"), "{name}");
            subject.resume(&session, Resume::Continue).await;
        }
        let report = subject.stop_at(&session, "set").await;
        assert_eq!(local(&report, "number").value, (2 * round + 2 * (round + 3)).to_string());
        let named = format!("{{name: \"s{round}\", value: {}}}", 2 * (round + 1));
        assert_eq!(local(&report, "named").value, named);
        if round == 1 {
            subject.resume(&session, Resume::Continue).await;
        }
    }
    session.stop().await.expect("ends");
}

const DECLARATIONS: &str = r"
#include <stdio.h>
struct pair { int a; int b; };
static int twice(int n) {
    return n * 2; // mark: callee
}
int main(void) {
    puts(); // mark: stop
    int first = twice(1);
    for (int i = 0; i < 2; i++) { // mark: loop
        int inner = i + 10; // mark: inner
        printf(inner);
    }
    struct pair last = {3, 4};
    return last.a + first; // mark: end
}
";

#[tokio::test]
async fn variables_have_no_value_before_their_declaration() {
    let text = DECLARATIONS
        .replace("puts()", "puts(\"\")")
        .replace("printf(inner)", "printf(\"%d\", inner)");
    let (subject, session, report) = stopped_in(Language::C, &text).await;
    for name in ["first", "last"] {
        let shown = local(&report, name);
        assert_eq!((&*shown.value, shown.reference), ("<not set yet>", 0), "{name}");
        assert_eq!(evaluated(&session, name).await.as_deref(), Ok("<not set yet>"));
    }
    for mark in ["callee", "loop", "inner", "end"] {
        subject.break_at(mark).await;
    }
    subject.resume(&session, Resume::Continue).await;
    let caller = subject.stop_at(&session, "callee").await.frames[1].id;
    let first = session.evaluate("first", Some(caller), EvaluateContext::Repl).await;
    assert_eq!(first.expect("a value").value, "<not set yet>");
    subject.resume(&session, Resume::Continue).await;
    let report = subject.stop_at(&session, "loop").await;
    assert_eq!(local(&report, "first").value, "2");
    // What the loop declares is set where the loop comes back to that line.
    for round in 0..2 {
        subject.resume(&session, Resume::Continue).await;
        let report = subject.stop_at(&session, "inner").await;
        assert_eq!(local(&report, "i").value, round.to_string());
        assert_eq!(local(&report, "inner").value, "<not set yet>");
        let report = subject.resume(&session, Resume::StepOver).await;
        assert_eq!(local(&report, "inner").value, (10 + round).to_string());
        if round == 0 {
            let report = subject.resume(&session, Resume::StepOver).await;
            assert_eq!(local(&report, "i").value, "0", "{report:#?}");
        }
    }
    subject.resume(&session, Resume::Continue).await;
    let report = subject.stop_at(&session, "end").await;
    assert_eq!(local(&report, "last").value, "{a: 3, b: 4}");
    session.stop().await.expect("ends");
}

const DECLARED: &str = r#"
#include <stdio.h>
struct pair { int a; int b; };
static void fill(int *to) { *to = 9; }
int main(void) {
    int number;
    struct pair pair;
    int filled;
    int last;
    puts(""); // mark: stop
    for (int i = 0; i < 2; i++) {
        puts(""); // mark: loop
        number = i + 5;
    }
    pair.b = 4;
    pair.a = 3;
    fill(&filled);
    puts(""); // mark: set
    last = number;
    return last + pair.a + filled; // mark: end
}
"#;

const DECLARED_IN_RUST: &str = r#"
fn main() {
    let text = String::from("abc");
    let number = text.len();
    let constant = 7; // mark: constant
    println!("{number}{text}{constant}"); // mark: end
}
"#;

#[tokio::test]
async fn what_is_only_declared_has_no_value() {
    let (subject, session, _) = stopped_in(Language::C, DECLARED).await;
    let unset = "<not set yet>";
    for mark in ["loop", "set", "end"] {
        subject.break_at(mark).await;
    }
    for (mark, values) in [
        ("stop", [unset, unset, unset, unset]),
        ("loop", ["", unset, unset, unset]),
        ("loop", ["5", unset, unset, unset]),
        ("set", ["6", "{a: 3, b: 4}", "9", unset]),
        ("end", ["6", "{a: 3, b: 4}", "9", "6"]),
    ] {
        let report = subject.stop_at(&session, mark).await;
        for (name, value) in ["number", "pair", "filled", "last"].into_iter().zip(values) {
            // In the first round of a loop that sets it later nothing tells.
            let shown = &local(&report, name).value;
            assert!(value.is_empty() || shown == value, "{mark} {name}: {shown}");
        }
        if mark != "end" {
            session.resume(Resume::Continue, None).await.expect("goes on");
        }
    }
    session.stop().await.expect("ends");

    let subject = Subject::written(Language::Rust, "written", DECLARED_IN_RUST);
    subject.break_at("constant").await;
    subject.break_at("end").await;
    let session = subject.start("").await;
    let mut report = stopped(session.wait(LIMIT).await.expect("a stop"));
    while report.location.as_ref().expect("a location").line != subject.line("end") {
        // Constants are set where the function begins.
        for (name, value) in [("number", "3"), ("text", "\"abc\"")] {
            let shown = &local(&report, name).value;
            assert!([unset, value].contains(&shown.as_str()), "{name}: {shown}");
        }
        report = subject.resume(&session, Resume::Continue).await;
    }
    for (name, value) in [("number", "3"), ("text", "\"abc\""), ("constant", "7")] {
        assert_eq!(local(&report, name).value, value, "{name}");
    }
    session.stop().await.expect("ends");
}

const ARRAYS_AND_BITS: &str = r"
struct bits { unsigned a : 3; unsigned : 5; int b : 4; };
static int three = 3;
int main(void) {
    int n = 0;
    int lengths[three];
    int table[2][three];
    for (int i = 0; i < 3; i++) { lengths[i] = i + 5; table[0][i] = i; table[1][i] = i * 2; }
    struct bits few = {5, -2};
    return few.a + n; // mark: stop
}
";

#[tokio::test]
async fn arrays_of_run_time_and_bit_fields_have_just_their_parts() {
    let (_subject, session, report) = stopped_in(Language::C, ARRAYS_AND_BITS).await;
    let lengths = local(&report, "lengths");
    assert_eq!((&*lengths.value, lengths.kind.as_deref()), ("[5, 6, 7]", Some("int[3]")));
    assert_eq!(local(&report, "table").value, "[[0, 1, 2], [0, 2, 4]]");
    assert_eq!(parts_of(&session, "lengths").await, "[0]: 5, [1]: 6, [2]: 7");
    assert_eq!(parts_of(&session, "few").await, "a: 5, b: -2");
    for expression in ["lengths[2]", "table[1][1]", "few.a", "few.b", "few"] {
        let value = evaluated(&session, expression).await;
        let expected = match expression {
            "lengths[2]" => "7",
            "table[1][1]" => "2",
            "few.a" => "5",
            "few.b" => "-2",
            _ => "{a: 5, b: -2}",
        };
        assert_eq!(value.as_deref(), Ok(expected), "{expression}");
    }
    session.stop().await.expect("ends");
}

const POINTERS_TO_ARRAYS: &str = r#"
#include <complex.h>
#include <float.h>
#include <math.h>
#include <wchar.h>
static double sum(int n, int m, double a[n][m], int *k) {
    int (*row)[n] = (void *)k;
    return a[1][0] + (*row)[1]; // mark: sum
}
int main(void) {
    long double tenth = 0.1L, third = 1.0L / 3, large = 1e4000L, none = NAN, below = -LDBL_MIN, none_left = -0.0L;
    long double complex wide = 1.25L - 0.5L * I;
    double complex plain = 0.1 + 2 * I;
    const wchar_t *text = L"wide";
    double a[2][3] = {{1, 2, 3}, {4, 5, 6}};
    int k[2] = {7, 8};
    return sum(2, 3, a, k); // mark: stop
}
"#;

#[tokio::test]
async fn long_numbers_and_pointers_to_arrays_of_run_time() {
    let (subject, session, report) = stopped_in(Language::C, POINTERS_TO_ARRAYS).await;
    let locals = flows::all_locals(&session, &report).await;
    for (name, value) in [
        ("tenth", "0.1"),
        ("third", "0.33333333333333333334"),
        ("large", "1e4000"),
        ("none", "NaN"),
        ("below", "-3.3621031431120935063e-4932"),
        ("none_left", "-0"),
        ("wide", "1.25 - 0.5i"),
        ("plain", "0.1 + 2i"),
        ("text", "\"wide\""),
    ] {
        let shown = locals.iter().find(|local| local.name == name).expect(name);
        assert_eq!(shown.value, value, "{name}");
    }
    subject.break_at("sum").await;
    let report = subject.resume(&session, Resume::Continue).await;
    for (name, value, kind) in
        [("a", "&[1, 2, 3]", "double (*)[3]"), ("row", "&[7, 8]", "int (*)[2]")]
    {
        let shown = local(&report, name);
        assert_eq!((&*shown.value, shown.kind.as_deref()), (value, Some(kind)), "{name}");
    }
    assert_eq!(parts_of(&session, "a").await, "[0]: 1, [1]: 2, [2]: 3");
    for (expression, value) in
        [("a[1][0]", "4"), ("a[1]", "[4, 5, 6]"), ("(*row)[1]", "8"), ("n + 1", "3")]
    {
        assert_eq!(evaluated(&session, expression).await.as_deref(), Ok(value), "{expression}");
    }
    // LLDB would take another row.
    let error = evaluated(&session, "a[1][0] + 1").await.expect_err("no value");
    assert!(error.contains("the length of a is found at run time"), "{error}");
    session.stop().await.expect("ends");
}

const DELETERS: &str = r#"
#include <complex>
#include <memory>
#include <stdexcept>
#include <string>
#include <valarray>
struct Mine : std::runtime_error {
    int code;
    explicit Mine(int code) : std::runtime_error("mine"), code(code) {}
};
static void drop(int *) {}
int main() {
    std::unique_ptr<int, void (*)(int *)> none(nullptr, drop), some(new int(7), drop);
    std::unique_ptr<int[], void (*)(int *)> row(nullptr, drop);
    Mine mine(5);
    std::logic_error logic(std::string("a \"q\""));
    std::complex<double> plain(0.1, -2);
    std::complex<long double> wide(1.25L, 0.5L);
    std::valarray<int> values{1, 2};
    std::initializer_list<std::string> list{"a", "b"};
    return values[0]; // mark: stop
}
"#;

#[tokio::test]
async fn owners_with_deleters_exceptions_and_other_lists() {
    let (_subject, session, report) = stopped_in(Language::Cpp, DELETERS).await;
    let locals = flows::all_locals(&session, &report).await;
    for (name, value) in [
        ("none", "nullptr"),
        ("some", "&7"),
        ("row", "nullptr"),
        ("mine", "{<std::runtime_error>: \"mine\", code: 5}"),
        ("logic", "\"a \\\"q\\\"\""),
        ("plain", "0.1 - 2i"),
        ("wide", "1.25 + 0.5i"),
        ("values", "[1, 2]"),
        ("list", "[\"a\", \"b\"]"),
    ] {
        let shown = locals.iter().find(|local| local.name == name).expect(name);
        assert_eq!(shown.value, value, "{name}");
    }
    assert_eq!(parts_of(&session, "list").await, "[0]: \"a\", [1]: \"b\"");
    assert_eq!(
        evaluated(&session, "values[1] == 2 && list.size() == 2").await.as_deref(),
        Ok("true")
    );
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn an_array_whose_length_is_found_in_another_way_has_none() {
    let text = "
__attribute__((optimize(\"O1\"), noinline)) static int sum(int n) {
    int lengths[n];
    for (int i = 0; i < n; i++) { lengths[i] = i; }
    asm volatile(\"\" :: \"r\"(lengths) : \"memory\");
    return lengths[n - 1]; // mark: stop
}
int main(void) { return sum(4); }
";
    let (_subject, session, report) = stopped_in(Language::C, text).await;
    let lengths = local(&report, "lengths");
    assert_eq!(lengths.value, "<not readable: its length is not known>");
    assert_eq!(lengths.kind.as_deref(), Some("int[]"));
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_division_by_zero_is_an_error() {
    let (_subject, session, _) = stopped_in(Language::C, ARRAYS_AND_BITS).await;
    for expression in ["10/0", "10 % n", "7 / (n * 2)", "1 + few.a/lengths[n-n]/n"] {
        let error = evaluated(&session, expression).await.expect_err(expression);
        assert_eq!(error.split_once(':').expect("a code").0, "E_EVALUATE_FAILED");
        assert!(error.contains("division by zero"), "{error}");
    }
    for (expression, value) in [
        ("10/4", "2"),
        ("1.0/n", "inf"),
        ("(1 / (n * 0.5)) > 5", "true"),
        ("lengths[1] / 2", "3"),
        ("n != 0 && 10 / n > 5", "false"),
        ("n ? 10 / n : 7", "7"),
        ("10 / ++n", "10"),
        ("n", "1"),
    ] {
        assert_eq!(evaluated(&session, expression).await.as_deref(), Ok(value), "{expression}");
    }
    session.stop().await.expect("ends");
}

const PATTERNS: &str = r#"
async fn add(a: i32, b: i32) -> i32 { a + b } // mark: async
fn check(o: Option<u16>) -> u16 {
    if let Some(v) = o { // mark: stop
        return v; // mark: some
    }
    0
}
fn main() {
    use std::future::Future;
    println!("{}{}", check(None), check(Some(9)));
    let text = String::from("a text that is moved away from here");
    let moved = text;
    drop(moved);
    let mut future = std::pin::pin!(add(3, 4)); // mark: moved
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_ready());
}
"#;

#[tokio::test]
async fn patterns_and_async_functions_of_rust_have_no_value_too_early() {
    let (subject, session, report) = stopped_in(Language::Rust, PATTERNS).await;
    let shown = report.locals.iter().find(|one| one.name == "v");
    assert!(shown.is_none_or(|v| v.value == "<not set yet>"), "{shown:?}");
    subject.debugger.clear_breakpoints().await;
    subject.break_at("some").await;
    let report = subject.resume(&session, Resume::Continue).await;
    assert_eq!(local(&report, "v").value, "9");
    subject.break_at("moved").await;
    let report = subject.resume(&session, Resume::Continue).await;
    for name in ["text", "moved"] {
        let value = &local(&report, name).value;
        let expected = ["\"a text that is moved away from here\"", "<not readable: "];
        assert!(expected.iter().any(|start| value.starts_with(start)), "{name}: {value}");
    }
    subject.debugger.clear_breakpoints().await;
    subject.break_at("async").await;
    let mut report = subject.resume(&session, Resume::Continue).await;
    if !report.frames[0].name.contains("async_fn") {
        report = subject.resume(&session, Resume::Continue).await;
    }
    let locals = flows::all_locals(&session, &report).await;
    for (name, value) in [("a", "3"), ("b", "4")] {
        let shown = locals.iter().find(|one| one.name == name).map(|one| one.value.as_str());
        assert_eq!(shown, Some(value), "{name}: {report:#?}");
    }
    session.stop().await.expect("ends");
}

const TYPES: &str = r#"
fn twice(number: i32) -> i32 { number * 2 }
fn all<T: Clone, I: Iterator<Item = T>>(some: I, first: &T) -> Vec<T> {
    let copy = first.clone();
    let mut found: Vec<T> = some.collect();
    found.push(copy); // mark: all
    found
}
fn main() {
    let text: &str = "x";
    let (to_text, to_to_text) = (&text, &&text);
    let mut number = 4usize;
    let texts: Vec<&&str> = vec![&text];
    let boxed: Box<Box<u8>> = Box::new(Box::new(5));
    let raw: *const i16 = &6;
    let function: fn(i32) -> i32 = twice;
    let (signed, unit, empty) = (-7isize, (), [[0u8; 0]; 2]);
    let slices: [[&[&str]; 0]; 2] = [[], []];
    let changed = &mut number;
    *changed += 1; // mark: stop
    println!("{to_text}{to_to_text}{texts:?}{boxed}{raw:?}{function:?}{signed}{unit:?}{empty:?}{slices:?}");
    println!("{:?}{:?}", all([1u8].iter(), &&2), all([String::new()].into_iter(), &String::new()));
}
"#;

#[tokio::test]
async fn types_of_rust_are_named_as_in_its_source() {
    let (subject, session, report) = stopped_in(Language::Rust, TYPES).await;
    let locals = flows::all_locals(&session, &report).await;
    for (name, kind) in [
        ("text", "&str"),
        ("to_text", "&&str"),
        ("to_to_text", "&&&str"),
        ("number", "usize"),
        ("texts", "Vec<&&str>"),
        ("boxed", "Box<Box<u8>>"),
        ("raw", "*const i16"),
        ("function", "fn(i32) -> i32"),
        ("signed", "isize"),
        ("unit", "()"),
        ("empty", "[[u8; 0]; 2]"),
        ("slices", "[[&[&str]; 0]; 2]"),
        ("changed", "&mut usize"),
    ] {
        let shown = locals.iter().find(|local| local.name == name).expect(name);
        assert_eq!(shown.kind.as_deref(), Some(kind), "{name}");
        let value = session.evaluate(name, None, EvaluateContext::Repl).await.expect(name);
        assert_eq!((value.kind, &value.value), (shown.kind.clone(), &shown.value), "{name}");
    }
    let changed = session.set_variable("changed", "9", None).await.expect("is set");
    assert_eq!((changed.value.as_str(), changed.kind.as_deref()), ("9", Some("&mut usize")));
    assert_eq!(evaluated(&session, "number").await.as_deref(), Ok("9"));
    let changed = session.set_variable("boxed", "8", None).await.expect("is set");
    assert_eq!(changed.value, "8");
    subject.break_at("all").await;
    // The same function for other types.
    for (first, found) in [("&&u8", "Vec<&u8>"), ("&String", "Vec<String>")] {
        let report = subject.resume(&session, Resume::Continue).await;
        assert_eq!(local(&report, "first").kind.as_deref(), Some(first));
        assert_eq!(local(&report, "found").kind.as_deref(), Some(found));
    }
    session.stop().await.expect("ends");
}

const STEPS: &str = r#"
use std::collections::HashMap;
fn shout(text: &str) -> String {
    text.to_uppercase() // mark: shout
}
fn main() {
    let map = HashMap::from([(1, "one".to_owned())]);
    let list = vec![shout(&map[&1]), map.get(&1).cloned().unwrap_or_default()]; // mark: stop
    println!("{}", list[0].len()); // mark: after
}
"#;

#[tokio::test]
async fn a_step_into_rust_does_not_enter_its_libraries() {
    let (subject, session, _) = stopped_in(Language::Rust, STEPS).await;
    for mark in ["shout", "stop", "after"] {
        let report = subject.resume(&session, Resume::StepInto).await;
        let mut line = report.location.expect("a location").line;
        // The rest of the function that was entered.
        while line == subject.line("shout") + 1 {
            let report = subject.resume(&session, Resume::StepInto).await;
            line = report.location.expect("a location").line;
        }
        assert_eq!(line, subject.line(mark), "{mark}");
    }
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_step_into_rust_enters_its_libraries_where_that_is_wanted() {
    let subject = Subject::written(Language::Rust, "written", STEPS);
    subject.break_at("stop").await;
    let configuration = subject.configuration("").with("justMyCode", false);
    let session = subject.debugger.start(configuration).await.expect("starts");
    subject.stop_at(&session, "stop").await;
    let report = subject.resume(&session, Resume::StepInto).await;
    let name = &report.frames[0].name;
    assert!(name.contains("index"), "{report:#?}");
    session.stop().await.expect("ends");
}

/// The notes at the stop of a program that is compiled with other options.
async fn said_of_build(language: Language, text: &str, options: &[&str]) -> Vec<String> {
    let subject = Subject::written(language, "written", text);
    let file = subject.source.file_name().expect("a name").to_str().expect("text");
    let compiler = if language == Language::Rust { rustc() } else { "gcc".to_owned() };
    compile(subject.folder.path(), &compiler, &[options, &["-g", file, "-o", "subject"]].concat());
    subject.break_at("stop").await;
    let session = subject.start("").await;
    let report = stopped(session.wait(LIMIT).await.expect("a stop"));
    session.stop().await.expect("ends");
    report.condition_failures
}

#[tokio::test]
async fn optimised_code_is_said_to_be_that() {
    let said = said_of_build(Language::C, ARRAYS_AND_BITS, &["-O2"]).await;
    assert!(said[0].contains("written.c was compiled with optimisation"), "{said:?}");
    assert_eq!(said_of_build(Language::C, ARRAYS_AND_BITS, &["-O0"]).await, [""; 0]);
}

const INLINED: &str = r#"
#[inline(always)]
fn scaled(number: u64) -> u64 {
    let factor = 3;
    number * factor
}
fn main() {
    const START: u64 = 7;
    let start = START;
    let mut all: Vec<u64> = (0..3).map(|index| scaled(index) + start).collect();
    all.push(std::env::args().count() as u64);
    println!("{all:?}"); // mark: stop
}
"#;

#[tokio::test]
async fn optimised_rust_is_said_to_be_that() {
    for level in ["1", "2", "3", "s"] {
        let option = format!("-Copt-level={level}");
        let said = said_of_build(Language::Rust, INLINED, &[&option]).await;
        assert!(said[0].contains("written.rs was compiled with optimisation"), "{level}: {said:?}");
    }
    for options in [["-Copt-level=0"], ["-Cdebug-assertions=off"]] {
        assert_eq!(said_of_build(Language::Rust, INLINED, &options).await, [""; 0]);
    }
}

#[tokio::test]
async fn spans_show_their_elements_and_unions_their_fields() {
    let text = "#include <span>\n#include <vector>\nint main() {\n std::vector<int> all{4, 5, 6};\n\
        std::span<int> some(all.data() + 1, 2);\n std::span<int, 2> two(all.data(), 2);\n\
        return some[0] + two[0]; // mark: stop\n}\n";
    let subject = Subject::written(Language::Cpp, "written", "int main() {}");
    std::fs::write(&subject.source, text).expect("is written");
    let build = ["-g", "-O0", "-std=c++20", "written.cpp", "-o", "subject"];
    compile(subject.folder.path(), "g++", &build);
    subject.break_at("stop").await;
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "stop").await;
    assert_eq!(local(&report, "some").value, "[5, 6]");
    assert_eq!(local(&report, "two").value, "[4, 5]");
    assert_eq!(parts_of(&session, "some").await, "[0]: 5, [1]: 6");
    assert_eq!(evaluated(&session, "some[1] == 6 && two.size() == 2").await.as_deref(), Ok("true"));
    session.stop().await.expect("ends");

    let text = "#[repr(C)]\nunion Either { whole: u32, bytes: [u8; 4] }\nfn main() {\n\
        let either = Either { whole: 0x0102_0304 };\n\
        println!(\"{}\", unsafe { either.bytes[0] }); // mark: stop\n}\n";
    let (_subject, session, report) = stopped_in(Language::Rust, text).await;
    assert_eq!(local(&report, "either").value, "Either { whole: 16909060, bytes: [4, 3, 2, 1] }");
    session.stop().await.expect("ends");
}
