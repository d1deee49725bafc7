//! C++: containers with lists of what they begin with, whose code GCC gives to the line of a closing brace in part.

use termbridge_dap::{Halt, Page, Resume, VariableFilter};

use crate::subject::{Language, Subject};
use crate::support::LIMIT;

const CONTAINERS: &str = r#"
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>
int f(int x) {
    return x * 2; // mark: number
}
std::string text(int x) {
    return "s" + std::to_string(x); // mark: text
}
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
    if (n > 0) {
        std::set<std::string> set{text(n), "q"};
        total += set.size();
    } else {
        std::vector<std::string> other = {"x", "y"};
        total += other.size();
    }
    Named named = {text(n), {n, f(n)}};
    std::array<std::string, 2> array = {text(n), "r"};
    std::pair<std::string, std::vector<int>> both = {text(n), {1, 2}};
    auto made = std::vector<std::string>{text(n), "w"};
    auto chosen = n > 0 ? std::vector<std::string>{text(n), "y"} : std::vector<std::string>{"z"};
    std::vector<int> plain = {f(1), 2};
    std::string word = text(n) + "w";
    auto within = [&](int k) { std::vector<std::string> own = {text(k), "l"}; return own.size(); };
    total += f(small.size() + table.size() + nested.size()) + within(n);
    total += named.values.size() + array.size() + both.second.size() + word.size();
    return total + plain.size() + made.size() + chosen.size(); // mark: end
}
int main() { std::printf("%d\n", work(1)); }
"#;

/// Variables with numbers and functions alone.
const OTHERS: [&str; 4] = ["n", "i", "total", "within"];

/// Variables whose parts are set one after the other.
const IN_PARTS: [&str; 2] = ["named", "array"];

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
        "set" => "{\"q\", \"s1\"}".to_owned(),
        "array" => "[\"s1\", \"r\"]".to_owned(),
        "both" => "{\"s1\", [1, 2]}".to_owned(),
        "made" => "[\"s1\", \"w\"]".to_owned(),
        "chosen" => "[\"s1\", \"y\"]".to_owned(),
        "word" => "\"s1w\"".to_owned(),
        other => panic!("{other}"),
    }
}

/// Steps through all of it, and stops in what it calls.
#[tokio::test]
async fn a_container_has_its_content_or_none() {
    let subject = Subject::written(Language::Cpp, "written", CONTAINERS);
    for mark in ["start", "text", "number"] {
        subject.break_at(mark).await;
    }
    let session = subject.start("").await;
    let mut report = subject.stop_at(&session, "start").await;
    let end = subject.line("end");
    let (mut wrong, mut shown) = (Vec::new(), 0);
    loop {
        let frame = report.frames.iter().find(|frame| frame.name == "work(int)");
        let frame = frame.expect("a frame").clone();
        let scopes = session.scopes(frame.id).await.expect("scopes");
        let all = Page { start: 0, count: 0 };
        let listed = session.variables(scopes[0].reference, VariableFilter::All, all).await;
        let listed = listed.expect("locals");
        let round = listed.iter().find(|local| local.name == "i");
        let round = round.and_then(|i| i.value.parse().ok()).unwrap_or(0);
        for local in listed.iter().filter(|local| !OTHERS.contains(&&*local.name)) {
            let marked = local.value.strip_suffix(" <perhaps not set yet>");
            let is_value = marked.unwrap_or(&local.value) == value(&local.name, round);
            shown += usize::from(is_value);
            let is_begun = marked.is_some() && IN_PARTS.contains(&&*local.name);
            if local.value != "<not set yet>" && !is_value && !is_begun {
                wrong.push(format!("{}: {} = {}", frame.line, local.name, local.value));
            }
        }
        if frame.line == end {
            break;
        }
        let is_inside = report.frames[0].id != frame.id;
        let how = if is_inside { Resume::StepOut } else { Resume::StepOver };
        let next = session.resume_and_wait(how, None, LIMIT).await.expect("a halt");
        let Halt::Stopped(next) = next else { panic!("ended") };
        report = *next;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(shown > 200, "{shown} values were seen");
    session.stop().await.expect("ends");
}
