//! Bit-fields of C and C++: read and set alone, and those that LLDB 19 leaves out, since GCC writes the size of structs that all have
//! one where LLDB does not find it.

use termbridge_dap::{DebugSession, EvaluateContext, Page, Resume, VariableFilter};

use crate::flows;
use crate::subject::{Language, Subject};

const PROGRAM: &str = r"
#include <stdbool.h>
#include <stdint.h>
enum color { RED, GREEN, BLUE };
struct flags { unsigned a : 3; int b : 5; bool c : 1; enum color d : 3; uint8_t e : 7; };
struct parts { unsigned a : 3; unsigned : 4; int : 0; };
typedef struct { unsigned first : 3; signed char second : 4; int plain; } Named;
typedef struct { short plain; long third : 40; } Other;
static struct flags many[2] = { { 1, -1, true, GREEN, 2 }, { 7, 15, false, BLUE, 127 } };
int main(void) {
    struct flags flags = { 5, -16, true, BLUE, 100 }, *to = &flags;
    struct parts parts = { 6 };
    Named named = { 5, -3, 1 };
    Other other = { -7, -549755813888 };
    return many[1].a + to->a + parts.a + named.first + other.plain; // mark: stop
}
";

async fn shown(session: &DebugSession, expression: &str) -> String {
    let value = session.evaluate(expression, None, EvaluateContext::Repl).await;
    value.map_or_else(|error| error.to_string(), |value| value.value)
}

#[tokio::test]
async fn bit_fields_that_lldb_leaves_out_are_shown() {
    let subject = Subject::written(Language::C, "written", PROGRAM);
    subject.break_at("stop").await;
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "stop").await;
    let locals = flows::all_locals(&session, &report).await;
    let listed: Vec<_> =
        locals.iter().map(|local| format!("{} = {}", local.name, local.value)).collect();
    let flags = "{a: 5, b: -16, c: true, d: BLUE, e: 100}";
    assert_eq!(
        listed[..5],
        [
            format!("flags = {flags}"),
            format!("to = &{flags}"),
            "parts = {a: 6}".to_owned(),
            "named = {first: 5, second: -3, plain: 1}".to_owned(),
            "other = {plain: -7, third: -549755813888}".to_owned(),
        ]
    );
    for (expression, expected) in [
        ("flags.b", "-16"),
        ("to->d", "BLUE"),
        ("to->e == 100 && flags.c", "true"),
        (
            "many",
            "[{a: 1, b: -1, c: true, d: GREEN, e: 2}, {a: 7, b: 15, c: false, d: BLUE, e: 127}]",
        ),
        ("many[1].e", "127"),
        ("named.second", "-3"),
    ] {
        assert_eq!(shown(&session, expression).await, expected, "{expression}");
    }
    let value = session.evaluate("flags", None, EvaluateContext::Repl).await.expect("a value");
    let all = Page { start: 0, count: 0 };
    let parts = session.variables(value.reference, VariableFilter::All, all).await.expect("parts");
    let parts: Vec<_> = parts.iter().map(|part| format!("{}: {}", part.name, part.value)).collect();
    assert_eq!(parts.join(", "), "a: 5, b: -16, c: true, d: BLUE, e: 100");
    // LLDB would pretend to set it.
    let error = session.set_variable("a", "2", Some(value.reference)).await.expect_err("refused");
    assert!(error.to_string().contains("evaluate `PATH.a = VALUE`"), "{error}");
    assert_eq!(shown(&session, "flags.a = 2").await, "2");
    assert_eq!(shown(&session, "flags.a + flags.e").await, "102");
    assert_eq!(shown(&session, "flags").await, "{a: 2, b: -16, c: true, d: BLUE, e: 100}");
    session.stop().await.expect("ends");
}

const AROUND: &str = r"
#include <vector>
enum Kind : int { LOW = -2, HIGH = 3 };
struct Base { int count : 5; unsigned kept : 4; };
struct Item : Base {
    int pad;
    int a : 5;
    long b : 20;
    signed char c : 3;
    unsigned d : 4;
    Kind kind : 4;
    struct { int inner : 6; int other : 7; };
    int method() {
        return a + pad; // mark: method
    }
};
int main() {
    Item one;
    one.count = -3; one.kept = 9; one.pad = 1; one.a = -1; one.b = -2; one.c = -3; one.d = 15; one.kind = LOW; one.inner = -30; one.other = 55;
    std::vector<Item> many{one, one};
    Item *to = &one;
    return to->method() + many[1].a; // mark: stop
}
";

#[tokio::test]
async fn a_bit_field_is_read_and_set_without_the_bits_around_it() {
    let subject = Subject::written(Language::Cpp, "written", AROUND);
    for mark in ["stop", "method"] {
        subject.break_at(mark).await;
    }
    let session = subject.start("").await;
    subject.stop_at(&session, "stop").await;
    for owner in ["one", "many[1]", "(*to)", "to[0]"] {
        for (name, expected) in [
            ("a", "-1"),
            ("b", "-2"),
            ("c", "-3"),
            ("d", "15"),
            ("kind", "LOW"),
            ("count", "-3"),
            ("inner", "-30"),
            ("other", "55"),
        ] {
            let expression = format!("{owner}.{name}");
            assert_eq!(shown(&session, &expression).await, expected, "{expression}");
        }
    }
    assert_eq!(shown(&session, "many[1].a + many[0].d").await, "14");
    assert_eq!(shown(&session, "many[1].a = 3").await, "3");
    assert_eq!(shown(&session, "to[0].count = 7").await, "7");
    for (expression, expected) in [("many[0].b = 77", "77"), ("many[0].c = -1", "-1")] {
        assert_eq!(shown(&session, expression).await, expected, "{expression}");
    }
    let value = session.evaluate("one", None, EvaluateContext::Repl).await.expect("a value");
    for (name, new) in [("b", "99"), ("kind", "HIGH"), ("d", "3")] {
        session.set_variable(name, new, Some(value.reference)).await.expect(name);
    }
    let rest = "{inner: -30, other: 55}";
    let base = "{count: -3, kept: 9}";
    for (expression, expected) in [
        (
            "many[1]",
            format!("{{<Base>: {base}, pad: 1, a: 3, b: -2, c: -3, d: 15, kind: LOW, {rest}}}"),
        ),
        (
            "many[0]",
            format!("{{<Base>: {base}, pad: 1, a: -1, b: 77, c: -1, d: 15, kind: LOW, {rest}}}"),
        ),
        (
            "one",
            format!(
                "{{<Base>: {{count: 7, kept: 9}}, pad: 1, a: -1, b: 99, c: -3, d: 3, kind: HIGH, {rest}}}"
            ),
        ),
    ] {
        assert_eq!(shown(&session, expression).await, expected, "{expression}");
    }
    session.resume(Resume::Continue, None).await.expect("continues");
    subject.stop_at(&session, "method").await;
    for (expression, expected) in [
        ("a", "-1"),
        ("b == 99", "true"),
        ("this->c", "-3"),
        ("a = 4", "4"),
        ("b", "99"),
        ("inner", "-30"),
    ] {
        assert_eq!(shown(&session, expression).await, expected, "{expression}");
    }
    session.stop().await.expect("ends");
}
