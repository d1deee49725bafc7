//! C++: containers with lists of what they begin with, whose code GCC gives to the line of a closing brace in part.

use termbridge_dap::{Halt, Resume};

use crate::flows;
use crate::subject::{Language, Subject};
use crate::support::LIMIT;

const CONTAINERS: &str = r#"
#include <cstdio>
#include <map>
#include <string>
#include <vector>
int f(int x) { return x * 2; }
std::string text(int x) { return "s" + std::to_string(x); }
struct Named { std::string name; std::vector<int> values; };
int work(int n) {
    int total = n; // mark: start
    std::vector<std::string> small = {"a", "b"};
    std::map<std::string, int> table = {{"k", f(n)}, {text(n), 2}};
    std::vector<std::vector<int>> nested = {{1, 2}, {3}};
    for (int i = 1; i <= 2; i++) {
        std::vector<std::string> inner = {text(i), "c", text(i)};
        std::map<int, std::vector<int>> lists = {{i, {1, i}}, {2 * i + 1, {i}}};
        total += inner.size() + lists.size();
    }
    Named named = {text(n), {n, f(n)}};
    std::vector<int> plain = {f(1), 2};
    total += f(small.size() + table.size() + nested.size());
    return total + named.values.size() + plain.size(); // mark: end
}
int main() { std::printf("%d\n", work(1)); }
"#;

/// What a variable may be shown as in a round of the loop: a value is either what it begins with or not there at all.
fn value(name: &str, round: i32) -> String {
    let more = 2 * round + 1;
    match name {
        "small" => "[\"a\", \"b\"]".to_owned(),
        "table" => "{\"k\": 2, \"s1\": 2}".to_owned(),
        "nested" => "[[1, 2], [3]]".to_owned(),
        "inner" => format!("[\"s{round}\", \"c\", \"s{round}\"]"),
        "lists" => format!("{{{round}: [1, {round}], {more}: [{round}]}}"),
        "named" => "{name: \"s1\", values: [1, 2]}".to_owned(),
        "plain" => "[2, 2]".to_owned(),
        other => panic!("{other}"),
    }
}

/// Steps through all of it, also into what it calls.
#[tokio::test]
async fn a_container_has_its_content_or_none() {
    let subject = Subject::written(Language::Cpp, "written", CONTAINERS);
    subject.break_at("start").await;
    let session = subject.start("").await;
    let mut report = subject.stop_at(&session, "start").await;
    let end = subject.line("end");
    let mut wrong = Vec::new();
    let mut shown = 0;
    loop {
        let listed = flows::all_locals(&session, &report).await;
        let of = |name: &str| listed.iter().find(|local| local.name == name);
        let round = of("i").and_then(|i| i.value.parse().ok()).unwrap_or(0);
        let line = report.location.as_ref().expect("a location").line;
        for local in listed.iter().filter(|local| !["n", "i", "total"].contains(&&*local.name)) {
            let is_unset = local.value.ends_with("not set yet>");
            let is_value = local.value == value(&local.name, round);
            shown += usize::from(is_value);
            if !is_unset && !is_value {
                wrong.push(format!("{line}: {} = {}", local.name, local.value));
            }
            if local.value.ends_with("<perhaps not set yet>") {
                eprintln!("{line}: {} = {}", local.name, local.value);
            }
        }
        if line == end {
            break;
        }
        let next = session.resume_and_wait(Resume::StepOver, None, LIMIT).await.expect("a halt");
        let Halt::Stopped(next) = next else { panic!("ended") };
        report = *next;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(shown > 50, "{shown} values were seen");
    session.stop().await.expect("ends");
}
