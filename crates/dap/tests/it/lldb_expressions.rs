//! The small language of expressions over values of Rust and C++, in evaluate and in conditions.

use termbridge_dap::{
    Breakpoint, BreakpointPlace, DataAccess, DebugSession, EvaluateContext, Halt, Page, Resume,
};

use crate::subject::{Language, Subject, stopped};
use crate::support::LIMIT;

const RUST: &str = r#"
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
#[derive(Debug, PartialEq)]
enum Mode { Off, On }
static LIMIT: i32 = 5;
struct Inner { names: Vec<String>, at: (i32, f64) }
struct Counter { total: u64, inner: Inner, mode: Mode }
impl Counter {
    fn add(&mut self, amount: u64) {
        self.total += amount;
        std::hint::black_box(&self); // mark: add
    }
}
fn main() {
    let grid = vec![vec![1, 2, 3], vec![4, 5], vec![6, 7]];
    let map = HashMap::from([("k", 1.5), ("other", 2.0)]);
    let tree = BTreeMap::from([(7_u8, "seven".to_owned())]);
    let (some, none): (Option<i32>, Option<i32>) = (Some(-3), None);
    let name = String::from("Ada \"L\"");
    let shared = Rc::new(Inner { names: vec!["x".into(), "y".into()], at: (3, 0.5) });
    let (owned_list, owned_text): (Rc<[u16]>, Rc<str>) = (Rc::new([4, 5]), Rc::from("rs"));
    let letter = 'é';
    let result: Result<u8, String> = Err("bad".to_owned());
    let (tenth, short, infinite, not, wide) = (0.1_f64, 0.1_f32, f64::INFINITY, f64::NAN, [7_u16; 20_000]);
    let big = 300_i32;
    let inner = Inner { names: Vec::new(), at: (1, 1.0) };
    let mut counter = Counter { total: 0, inner, mode: Mode::On };
    for amount in 0..6 { // mark: stop
        counter.add(amount);
    }
    println!("{grid:?}{map:?}{tree:?}{some:?}{none:?}{name}{letter}{result:?}{big}{}{:?}", shared.at.0, Mode::Off);
    println!("{:?}{}{}", counter.inner.names, counter.inner.at.0, shared.names.len() as f64 + shared.at.1);
    println!("{owned_list:?}{owned_text}");
    println!("{:?}{tenth}{short}{infinite}{not}{}{LIMIT}", counter.mode, wide[0]);
}
"#;

const CPP: &str = r#"
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>
static int limit = 3;
struct Item { std::string name; int count; };
struct Shop {
    std::vector<Item> items;
    int total = 0;
    void sell(int amount) {
        total += amount;
        asm volatile("" ::: "memory"); // mark: sell
    }
};
int main() {
    std::vector<std::vector<int>> grid{{1, 2, 3}, {4, 5}};
    std::map<std::string, int> ages{{"Ada", 36}};
    std::unordered_map<int, double> halves{{1, 0.5}};
    std::optional<int> some = 5, none;
    auto owner = std::make_unique<Item>(Item{"owned", 2});
    const char *plain = "plain";
    std::array<int, 20000> wide{};
    Shop shop{{{"ink", 3}, {"pen", 4}}};
    Shop *pointer = &shop;
    std::tuple<int, std::tuple<int>> nested{1, {2}};
    for (int i = 0; i < 6; i++) { // mark: stop
        shop.sell(i);
    }
    return grid[1][0] + ages.size() + halves.size() + *some + none.has_value() + owner->count + plain[0] + pointer->total + wide[0] + limit;
}
"#;

/// Compares expressions with their values, and those that have none with a part of the reason.
async fn check(language: Language, text: &str, values: &[(&str, &str)], errors: &[(&str, &str)]) {
    let subject = Subject::written(language, "expressions", text);
    subject.break_at("stop").await;
    let session = subject.start("").await;
    subject.stop_at(&session, "stop").await;
    let mut wrong = Vec::new();
    for (expression, expected) in values {
        let value = session.evaluate(expression, None, EvaluateContext::Repl).await;
        let value = value.map(|value| value.value);
        if value.as_deref() != Ok(expected) {
            wrong.push(format!("{expression}: {value:?}, not {expected}"));
        }
    }
    for (expression, reason) in errors {
        let value = session.evaluate(expression, None, EvaluateContext::Repl).await;
        let value = value.map(|value| value.value).map_err(|error| error.to_string());
        if !value.as_ref().is_err_and(|error| error.contains(reason)) {
            wrong.push(format!("{expression}: {value:?}, not an error with {reason:?}"));
        }
    }
    session.stop().await.expect("ends");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn rust_expressions_have_the_values_that_they_have_in_rust() {
    let values = [
        ("grid.len()", "3"),
        ("grid[2][1]", "7"),
        ("grid[1].len() == 2", "true"),
        ("map[\"k\"]", "1.5"),
        ("map[\"k\"] > 1.0", "true"),
        ("map.contains_key(\"no\")", "false"),
        ("tree[7]", "\"seven\""),
        ("tree[7] == \"seven\"", "true"),
        ("some.is_some() && some.unwrap() < 0", "true"),
        ("none.is_some() && none.unwrap() > 3", "false"),
        ("none.is_none()", "true"),
        ("none == None", "true"),
        ("name == \"Ada \\\"L\\\"\"", "true"),
        ("name.len()", "7"),
        ("name != \"Ada\"", "true"),
        ("shared.names[1]", "\"y\""),
        ("shared.at.0", "3"),
        ("shared.at.1 == 0.5", "true"),
        ("owned_list.len()", "2"),
        ("owned_list[1] == 5", "true"),
        ("owned_text == \"rs\" && owned_text.len() == 2", "true"),
        ("letter == 'é'", "true"),
        ("result.is_err()", "true"),
        ("big as u8", "44"),
        ("-1 as u32", "4294967295"),
        ("counter.mode == Mode::On", "true"),
        ("counter.inner.names.is_empty()", "true"),
        ("big + 1", "301"),
        ("LIMIT > 3", "true"),
        ("infinite as u8", "255"),
        ("-infinite as i8", "-128"),
        ("not as i32", "0"),
        ("-3.9 as i32", "-3"),
        ("16777217 as f32", "16777216.0"),
        ("1e39 as f32", "inf"),
        ("tenth as f32", "0.1"),
        ("tenth as f32 == 0.1", "true"),
        ("tenth as f32 as f64", "0.10000000149011612"),
        ("short as f64", "0.10000000149011612"),
        ("short == 0.1", "true"),
        ("wide[15000] == 7 && none.is_none()", "true"),
    ];
    let errors = [
        ("grid[7]", "out of range: there are 3 elements"),
        ("map[\"no\"]", "no key \"no\""),
        ("none.unwrap()", "it is None"),
        ("shared.nothing", "nothing"),
        ("name == 3", "cannot be compared"),
        ("some == some", "fields are not compared"),
    ];
    check(Language::Rust, RUST, &values, &errors).await;
}

#[tokio::test]
async fn cpp_expressions_have_the_values_that_they_have_in_cpp() {
    let values = [
        ("grid.size()", "2"),
        ("grid[0][2]", "3"),
        ("grid[1].size() == 2", "true"),
        ("ages[\"Ada\"]", "36"),
        ("ages.count(\"Bob\")", "0"),
        ("halves[1] < 1", "true"),
        ("*some", "5"),
        ("some.has_value() && *some == 5", "true"),
        ("none.has_value()", "false"),
        ("owner->name == \"owned\"", "true"),
        ("plain == \"plain\"", "true"),
        ("shop.items[1].name", "\"pen\""),
        ("shop.items[1].name == \"pen\"", "true"),
        ("pointer->items.size()", "2"),
        ("(*owner).count", "2"),
        ("wide[15000] == 0 && plain == \"plain\"", "true"),
        ("plain[1]", "'l'"),
        ("limit == 3 && *some == 5", "true"),
        ("nested", "{1, {2}}"),
        ("*&wide[1] + 0", "0"),
        ("wide[1]++", "0"),
        ("wide[1]", "1"),
        ("wide[2] = 7", "7"),
        ("grid[0][2] * 2 + ages[\"Ada\"]", "42"),
        ("halves[1] / 4", "0.125"),
        ("some.value() * owner->count", "10"),
        ("grid.size() - 3 > 0", "true"),
    ];
    let errors = [
        ("grid[9]", "out of range: there are 2 elements"),
        ("ages[\"Bob\"]", "no key \"Bob\""),
        ("*none", "the optional is empty"),
        ("grid[0][0] / none.has_value()", "division by zero"),
        ("sizeof(nested)", "cannot read GCC's description of std::tuple"),
        ("grid[9][0] + 1", "out of range: there are 2 elements"),
    ];
    check(Language::Cpp, CPP, &values, &errors).await;
}

/// A class with a `std::optional` of a class: what GCC writes of it ends LLDB 19 in the middle of any expression that needs it.
const OPTIONAL: &str = r#"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>
enum Level { Low = 1, High = 4 };
struct Shop {
    std::string name; std::optional<std::string> owner; int sold = 1; std::vector<int> prices{1, 2};
    double rate = 0.5; Level level = High; unsigned char small = 200; long far = -3; const char *none = nullptr;
    std::map<std::string, std::vector<int>> scores{{"a", {1, 2}}}; std::vector<bool> flags{true, false, true};
    unsigned bit : 1 = 1; unsigned wide : 32 = 1;
    int sell(int count) {
        int before = sold;
        sold += count; // mark: stop
        return before + sold + level + small + far + rate + scores.size() + flags.size() + (none == nullptr);
    }
};
int read(const Shop &shop, int k) {
    int twice = k * 2;
    return twice + shop.sold; // mark: read
}
int main() {
    Shop shop{"ink", "Ada"};
    auto held = std::make_unique<Shop>(shop);
    int sum = 0;
    for (int i = 0; i < 6; i++) sum += shop.sell(i);
    sum += read(shop, 2);
    return (sum + held->sold) % 100; // mark: end
}
"#;

#[tokio::test]
async fn an_expression_that_would_end_the_debugger_is_calculated_without_the_frame() {
    let values = [
        ("1 + 1", "2"),
        ("before + count", "1"),
        ("sold * 2.5 - rate", "2"),
        ("(double)sold / 2", "0.5"),
        ("-7 / 2", "-3"),
        ("(unsigned)sold - 2 > 0", "true"),
        ("small + 100", "300"),
        ("(unsigned char)(small + 100)", "44"),
        ("far % 2", "-1"),
        ("level | 1", "5"),
        ("sold ? 5 : 6", "5"),
        ("name.size() + 1", "4"),
        ("prices[1] << 4", "32"),
        ("this->sold == 1 && prices.size() == 2", "true"),
        ("none == nullptr", "true"),
        ("owner->size()", "3"),
        ("owner.value() == \"Ada\"", "true"),
        ("name.starts_with(\"in\")", "true"),
        ("scores.at(\"a\").size()", "2"),
        ("flags[2]", "true"),
        ("bit - 2", "-1"),
        ("this->bit - 2 < 0", "true"),
        ("wide - 2", "4294967295"),
        ("flags[1]", "false"),
        ("rate == 0.5f", "true"),
        ("sold += 6", "7"),
        ("sold", "7"),
        ("rate = 1.5", "1.5"),
        ("rate * 2", "3"),
    ];
    let errors = [
        ("sold / (count - count)", "division by zero"),
        ("name.find(\"x\")", "cannot read GCC's description of std::optional"),
        ("sizeof(Shop)", "cannot read GCC's description of std::optional"),
        ("scores.at(\"b\")", "no key \"b\""),
    ];
    check(Language::Cpp, OPTIONAL, &values, &errors).await;
    for (mark, condition, expected) in
        [("stop", "before + count == 4", 1), ("read", "shop.sold * 1 == twice + 12", 1)]
    {
        let found = stops(Language::Cpp, OPTIONAL, mark, condition).await;
        assert_eq!(found, (expected, Vec::new()), "{condition}");
    }
}

#[tokio::test]
async fn messages_hits_and_watched_places_need_no_expression_of_lldb() {
    let subject = Subject::written(Language::Cpp, "expressions", OPTIONAL);
    let message =
        "n={count} sum={count + before} p={prices[1]} o={owner} r={rate * 3} no={name.find(1)}";
    let log = subject.breakpoint("stop").condition("count % 2 == 1").log_message(message);
    subject.debugger.set_breakpoint(log).await.expect("is set");
    let third = subject.breakpoint("read").condition("k + 0 == 2").hit_condition("2");
    subject.debugger.set_breakpoint(third).await.expect("is set");
    subject.break_at("end").await;
    let session = subject.start("").await;
    subject.stop_at(&session, "end").await;
    let records = subject.debugger.events().since(session.id().as_str(), 0);
    let console = records.iter().filter(|record| record.category() == Some("console"));
    let logged: String = console.filter_map(|record| record.output()).collect();
    let lines: Vec<_> = logged.lines().filter(|line| line.starts_with("n=")).collect();
    assert_eq!(lines.len(), 3, "{records:#?}");
    assert!(lines[1].starts_with("n=3 sum=7 p=2 o=\"Ada\" r=1.5 no=<error: "), "{}", lines[1]);
    session.stop().await.expect("ends");

    let subject = Subject::written(Language::Cpp, "expressions", OPTIONAL);
    let third = subject.breakpoint("stop").condition("count + 0 >= 1").hit_condition("3");
    subject.debugger.set_breakpoint(third).await.expect("is set");
    let session = subject.start("").await;
    let report = stopped(session.wait(LIMIT).await.expect("a stop"));
    let count = report.locals.iter().find(|local| local.name == "count").expect("a local");
    assert_eq!(count.value, "3");
    subject.debugger.remove_breakpoint(&subject.breakpoint("stop").place).await;
    let sold = BreakpointPlace::data("sold", DataAccess::Write);
    subject.debugger.set_breakpoint(Breakpoint::at(sold)).await.expect("is watched");
    let report = subject.resume(&session, Resume::Continue).await;
    let [change] = &report.data_changes[..] else { panic!("{report:#?}") };
    assert_eq!((change.old.as_deref(), change.new.as_deref()), (Some("4"), Some("7")));
    session.stop().await.expect("ends");
}

const ONE_LINE: &str = "
fn last(sum: u32) {
    println!(\"{sum}\"); // mark: last
}
fn main() {
    let (start, limit) = (40, 50); let is_low = start < limit; let sum = start + 1; last(sum + is_low as u32);
}
";

#[tokio::test]
async fn variables_whose_line_runs_have_the_value_that_is_shown() {
    let subject = Subject::written(Language::Rust, "expressions", ONE_LINE);
    subject.break_at("last").await;
    let session = subject.start("").await;
    subject.stop_at(&session, "last").await;
    let stack = session.stack(None, Page { start: 1, count: 1 }).await.expect("a stack");
    let frame = Some(stack.frames[0].id);
    for expression in ["is_low && is_low", "sum == 41"] {
        let found = session.evaluate(expression, frame, EvaluateContext::Repl).await;
        assert_eq!(found.expect("a value").value, "true", "{expression}");
    }
    session.stop().await.expect("ends");
}

/// Stops at a mark under a condition; returns how often, and the messages of conditions that fail.
async fn stops(
    language: Language,
    text: &str,
    mark: &str,
    condition: &str,
) -> (usize, Vec<String>) {
    let subject = Subject::written(language, "expressions", text);
    let breakpoint = subject.breakpoint(mark).condition(condition);
    subject.debugger.set_breakpoint(breakpoint).await.expect("is set");
    let session = subject.start("").await;
    let (mut count, mut failures) = (0, Vec::new());
    let mut halt = session.wait(LIMIT).await.expect("a halt");
    while let Halt::Stopped(report) = halt {
        count += 1;
        failures.extend(report.condition_failures);
        halt = next(&session).await;
    }
    (count, failures)
}

async fn next(session: &DebugSession) -> Halt {
    session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt")
}

#[tokio::test]
async fn conditions_are_evaluated_as_expressions_are() {
    for (condition, expected) in [
        ("self.total == 6", 1),
        ("self.total > 5 && self.inner.names.is_empty()", 3),
        ("self.mode == Mode::Off", 0),
        ("self.total > LIMIT as u64 && self.mode == Mode::On", 3),
        ("amount + 1 == 3", 1),
    ] {
        let found = stops(Language::Rust, RUST, "add", condition).await;
        assert_eq!(found, (expected, Vec::new()), "{condition}");
    }
    for (condition, expected) in
        [("this->items[0].name == \"ink\" && total > 5", 3), ("items.size() == 2", 6)]
    {
        let found = stops(Language::Cpp, CPP, "sell", condition).await;
        assert_eq!(found, (expected, Vec::new()), "{condition}");
    }
}

#[tokio::test]
async fn a_condition_without_a_value_stops_and_says_why() {
    let (count, failures) =
        stops(Language::Rust, RUST, "add", "self.inner.names[4] == \"x\"").await;
    assert_eq!(count, 6);
    assert!(
        failures[0].contains("the index 4 is out of range: there are 0 elements"),
        "{failures:?}"
    );
}

/// Sets locals, and compares what is read then, or a part of the reason.
async fn check_sets(language: Language, text: &str, sets: &[(&str, &str, Result<&str, &str>)]) {
    let subject = Subject::written(language, "expressions", text);
    subject.break_at("stop").await;
    let session = subject.start("").await;
    subject.stop_at(&session, "stop").await;
    for (name, value, expected) in sets {
        let set = session.set_variable(name, value, None).await;
        match (set, expected) {
            (Ok(_), Ok(expected)) => {
                let now = session.evaluate(name, None, EvaluateContext::Repl).await;
                assert_eq!(now.expect("a value").value, *expected, "{name} = {value}");
            }
            (Err(error), Err(reason)) => assert!(error.to_string().contains(reason), "{error}"),
            (set, _) => panic!("{name} = {value}: {set:?}"),
        }
    }
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn characters_variants_and_texts_can_be_set() {
    let rust = RUST.replace("let big =", "let mode = Mode::Off; let is = false; let big =");
    let rust = rust.replace("{big}", "{big}{mode:?}{is}");
    let sets = [
        ("letter", "'z'", Ok("'z'")),
        ("mode", "Mode::On", Ok("On")),
        ("mode", "On", Ok("On")),
        ("mode", "Maybe", Err("it is one of Off, On")),
        ("is", "true", Ok("true")),
        ("name", "\"Bo\"", Ok("\"Bo\"")),
        ("name", "\"far too long\"", Err("its buffer holds 7")),
        ("big", "7", Ok("7")),
    ];
    check_sets(Language::Rust, &rust, &sets).await;
    let cpp = CPP.replace("Shop *pointer", "enum class Mode { Off, On = 4 } mode = Mode::Off; char c = 'a'; char text[4] = \"abc\"; std::string name = \"short\"; bool is = false; Shop *pointer");
    let sets = [
        ("c", "'\\n'", Ok("'\\n'")),
        ("mode", "Mode::On", Ok("On")),
        ("mode", "Off", Ok("Off")),
        ("is", "true", Ok("true")),
        ("text", "\"xy\"", Ok("\"xy\"")),
        ("text", "\"wxyz\"", Err("its buffer holds 3")),
        ("name", "\"at most fifteen\"", Ok("\"at most fifteen\"")),
        ("plain", "\"x\"", Err("does not own its text")),
    ];
    check_sets(Language::Cpp, &cpp, &sets).await;
}

const STATICS: &str = r#"
use std::sync::atomic::{AtomicUsize, Ordering};
static mut USED: u32 = 9;
static COUNT: AtomicUsize = AtomicUsize::new(4);
mod one {
    pub static LEVEL: i32 = -3;
    pub mod deep { pub static LEVEL: i32 = 5; }
}
mod two { pub static LEVEL: i32 = 7; }
fn main() {
    for n in 0..3 {
        unsafe { USED += n; }
        COUNT.fetch_add(1, Ordering::SeqCst); // mark: here
    }
    println!("{}{}{}{}", one::LEVEL, one::deep::LEVEL, two::LEVEL, unsafe { USED });
}
"#;

#[tokio::test]
async fn statics_of_rust_are_compared_by_their_paths() {
    let subject = Subject::written(Language::Rust, "written", STATICS);
    let place = subject.breakpoint("here").condition("written::USED == 10 && COUNT == 5");
    subject.debugger.set_breakpoint(place).await.expect("is set");
    let session = subject.start("").await;
    subject.stop_at(&session, "here").await;
    for (expression, value) in [
        ("USED == 10", "true"),
        ("written::USED == 10", "true"),
        ("crate::USED > 9", "true"),
        ("written::COUNT == 5", "true"),
        ("one::LEVEL == -3", "true"),
        ("crate::one::deep::LEVEL == 5", "true"),
        ("deep::LEVEL < two::LEVEL", "true"),
    ] {
        let found = session.evaluate(expression, None, EvaluateContext::Repl).await;
        assert_eq!(found.map(|found| found.value).as_deref(), Ok(value), "{expression}");
    }
    session.stop().await.expect("ends");
}
