//! C++: locals without a value that lie outside of their frame, or behind a `catch` block.

use tempfile::TempDir;
use termbridge_dap::{Halt, Resume};

use crate::subject::{Language, Subject, compile, local};
use crate::support::LIMIT;

const UNSET: &str = "<not set yet>";

const RETURNED: &str = r#"
#include <cstdio>
#include <string>
#include <vector>
std::vector<int> build(int n) {
    std::vector<int> out; // mark: list
    for (int i = 0; i < n; i++) out.push_back(i);
    return out; // mark: built
}
struct Maker {
    std::string text(int n) const {
        std::string made = "t" + std::to_string(n); // mark: text
        made += "!";
        return made; // mark: made
    }
};
struct Big { long a[4]; };
Big big(long n) {
    Big result = {}; // mark: big
    for (int i = 0; i < 4; i++) result.a[i] = n + i;
    return result; // mark: filled
}
int main() {
    int total = 0;
    for (int round = 1; round < 4; round++) {
        total += build(round).size() + Maker().text(round).size() + big(round).a[1];
    }
    std::printf("%d\n", total);
}
"#;

/// The caller reuses the place, so the value of the round before is still there.
#[tokio::test]
async fn a_variable_that_is_returned_has_no_value_before_its_declaration() {
    let subject = Subject::written(Language::Cpp, "written", RETURNED);
    for mark in ["list", "built", "text", "made", "big", "filled"] {
        subject.break_at(mark).await;
    }
    let session = subject.start("").await;
    for round in 1..4 {
        let list = ["[0]", "[0, 1]", "[0, 1, 2]"][round - 1].to_owned();
        let numbers: Vec<_> = (round..round + 4).map(|n| n.to_string()).collect();
        let filled = format!("{{a: [{}]}}", numbers.join(", "));
        for (mark, name, value) in [
            ("list", "out", UNSET.to_owned()),
            ("built", "out", list),
            ("text", "made", UNSET.to_owned()),
            ("made", "made", format!("\"t{round}!\"")),
            ("big", "result", UNSET.to_owned()),
            ("filled", "result", filled),
        ] {
            let report = subject.stop_at(&session, mark).await;
            assert_eq!(local(&report, name).value, value, "{mark} {round}");
            session.resume(Resume::Continue, None).await.expect("continues");
        }
    }
    assert!(matches!(session.wait(LIMIT).await, Ok(Halt::Ended(_))));
}

const CAUGHT: &str = r#"
#include <cstdio>
#include <stdexcept>
#include <string>
int risky(int n) {
    int before = n + 1;
    try {
        if (n > 0) throw std::runtime_error("bad");
        before += 2;
    } catch (const std::exception &error) {
        before += 3; // mark: catch
    }
    int after = before * 2;
    thread_local int own = 7;
    std::string behind = "x" + std::to_string(after);
    return after + behind.size(); // mark: behind
}
int main() { std::printf("%d\n", risky(-1) + risky(1) + risky(2)); }
"#;

#[tokio::test]
async fn what_is_declared_behind_a_catch_block_has_no_value_in_it() {
    let subject = Subject::written(Language::Cpp, "written", CAUGHT);
    subject.break_at("catch").await;
    subject.break_at("behind").await;
    let session = subject.start("").await;
    for (mark, before, after, behind) in [
        ("behind", "2", "4", "\"x4\""),
        ("catch", "2", UNSET, UNSET),
        ("behind", "5", "10", "\"x10\""),
        ("catch", "3", UNSET, UNSET),
        ("behind", "6", "12", "\"x12\""),
    ] {
        let report = subject.stop_at(&session, mark).await;
        // One of the thread has its value before the first call.
        for (name, value) in
            [("before", before), ("after", after), ("behind", behind), ("own", "7")]
        {
            assert_eq!(local(&report, name).value, value, "{mark} {name}");
        }
        session.resume(Resume::Continue, None).await.expect("continues");
    }
    assert!(matches!(session.wait(LIMIT).await, Ok(Halt::Ended(_))));
}

const COROUTINE: &str = r#"
#include <coroutine>
#include <cstdio>
#include <string>
struct Numbers {
    struct promise_type {
        int value = 0;
        Numbers get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int next) { value = next; return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};
Numbers count(int limit) {
    int first = limit * 2; // mark: first
    std::string text = "n" + std::to_string(first); // mark: text
    for (int i = 0; i < limit; i++) {
        int shown = first + i; // mark: shown
        co_yield shown; // mark: yield
    }
    int last = first + 100; // mark: last
    co_yield last + (int)text.size(); // mark: end
}
int main() {
    long total = 0;
    for (int n = 1; n < 3; n++) {
        Numbers numbers = count(n);
        for (numbers.handle.resume(); !numbers.handle.done(); numbers.handle.resume())
            total += numbers.handle.promise().value;
        numbers.handle.destroy();
    }
    std::printf("%ld\n", total);
}
"#;

#[tokio::test]
async fn a_coroutines_variables_have_no_value_before_their_declaration() {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("count.cpp"), COROUTINE).expect("is written");
    let program =
        compile(folder.path(), "g++", &["-g", "-std=c++20", "count.cpp", "-o", "subject"]);
    let subject = Subject::built(Language::Cpp, folder.path().join("count.cpp"), program);
    let marks = ["first", "text", "shown", "yield", "last", "end"];
    for mark in marks {
        subject.break_at(mark).await;
    }
    let session = subject.start("").await;
    let mut halt = session.wait(LIMIT).await.expect("a stop");
    let mut stops = 0;
    while let Halt::Stopped(report) = halt {
        let line = report.location.as_ref().expect("a location").line;
        let limit = if stops < 6 { 1 } else { 2 };
        let first = limit * 2;
        let shown = |name: &str| {
            report.locals.iter().find(|one| one.name == name).map(|one| one.value.clone())
        };
        let i: i32 = shown("i").and_then(|i| i.parse().ok()).unwrap_or(0);
        for (name, value) in [
            ("first", first.to_string()),
            ("text", format!("\"n{first}\"")),
            ("shown", (first + i).to_string()),
            ("last", (first + 100).to_string()),
        ] {
            let expected = if line <= subject.line(name) { UNSET } else { &*value };
            // A variable of the loop is not there behind it.
            if let Some(shown) = shown(name) {
                assert_eq!(shown, expected, "{name} in line {line}");
            } else {
                assert_eq!(name, "shown");
            }
        }
        stops += 1;
        halt = session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt");
    }
    assert_eq!(stops, 6 + 8);
}
