//! Static variables that the linker removed: LLDB reads the program's header in their place.

use tempfile::TempDir;
use termbridge_dap::{DebugSession, EvaluateContext, Halt, Resume, ScopeFilter};

use crate::subject::{Language, Subject, compile};
use crate::support::LIMIT;

const REMOVED: &str = "<not readable: the linker removed it>";

const C: &str = r#"
#include <stdio.h>
struct point { int a, b; };
static int num = 5;
int arr[3] = {1, 2, 3};
struct point place = {1, 2};
const char *text = "hi";
double ratio = 2.5;
static int used = 9;
int unused(void) { return num + arr[0] + place.b + text[0] + (int)ratio; }
int inner(int num) {
    return num + 1; // mark: shadowed
}
int main(void) {
    printf("%d\n", used + inner(3)); // mark: here
    return 0; // mark: log
}
"#;

const RUST: &str = r#"
static NUM: i32 = 5;
static TEXT: &str = "stat";
static ARR: [u8; 3] = [1, 2, 3];
static FLAG: bool = true;
static SIZE: usize = 4;
static VEC: std::sync::Mutex<Vec<i32>> = std::sync::Mutex::new(Vec::new());
static USED: i32 = 9;
fn unused() -> usize {
    VEC.lock().unwrap().len() + ARR[0] as usize + TEXT.len() + usize::from(FLAG) + SIZE + NUM as usize
}
fn main() {
    let turn = USED; // mark: log
    println!("{turn}"); // mark: here
}
"#;

/// A program in C whose functions and variables are removed where nothing uses them.
fn linked(arguments: &[&str]) -> (Subject, TempDir) {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("gc.c"), C).expect("is written");
    let flags = ["-g", "-O0", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"];
    let all = [&flags[..], arguments, &["gc.c", "-o", "subject"]].concat();
    let program = compile(folder.path(), "gcc", &all);
    (Subject::built(Language::C, folder.path().join("gc.c"), program), folder)
}

/// The static variables with their values, by names without paths and hashes.
async fn globals(session: &DebugSession) -> Vec<(String, String, u64)> {
    let tree = session.variable_tree(None, ScopeFilter::All, 0, 64_000).await.expect("a tree");
    let nodes = tree.scopes.into_iter().skip(1).flat_map(|(_, nodes)| nodes);
    let named = nodes.map(|node| {
        let name = node.variable.name.trim_start_matches("::").to_owned();
        let own = name.split("::").find(|part| !part.contains(char::is_lowercase));
        let name = own.map(str::to_owned).unwrap_or(name);
        (name, node.variable.value, node.variable.reference)
    });
    named.collect()
}

async fn check(session: &DebugSession, removed: &[&str], used: (&str, &str), read: &[&str]) {
    let globals = globals(session).await;
    let global = |name: &str| {
        let found = globals.iter().find(|(other, ..)| other == name);
        found.unwrap_or_else(|| panic!("no {name} in {globals:?}"))
    };
    assert_eq!(global(used.0).1, used.1);
    for name in removed {
        let (_, value, reference) = global(name);
        assert_eq!((value.as_str(), *reference), (REMOVED, 0), "{name}");
    }
    for expression in removed.iter().chain(read) {
        match session.evaluate(expression, None, EvaluateContext::Repl).await {
            Ok(value) => assert_eq!(value.value, REMOVED, "{expression}"),
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("the linker removed it"), "{expression}: {text}");
            }
        }
    }
    let sum = session.evaluate(&format!("{} + 1", used.0), None, EvaluateContext::Repl).await;
    assert_eq!(sum.expect("a sum").value, "10");
}

#[tokio::test]
async fn of_c_have_no_values() {
    for arguments in [&[][..], &["-no-pie"]] {
        let (subject, _folder) = linked(arguments);
        subject.break_at("here").await;
        subject.break_at("shadowed").await;
        let session = subject.start("").await;
        subject.stop_at(&session, "here").await;
        let removed = if arguments.is_empty() {
            &["num", "arr", "place", "text", "ratio"][..]
        } else {
            // Of the others LLDB itself reports that there is no memory.
            &["arr", "place"]
        };
        let read = ["num == 5", "num + 1", "arr[1]", "place.b", "text[0]", "&num", "used + num"];
        check(&session, removed, ("used", "9"), &read).await;
        let assigned = session.evaluate("num = 6", None, EvaluateContext::Repl).await;
        assert!(assigned.is_err(), "{assigned:?}");
        let size = session.evaluate("sizeof(num)", None, EvaluateContext::Repl).await;
        assert_eq!(size.expect("a size").value, "4");
        subject.resume(&session, Resume::Continue).await;
        let shadowing = session.evaluate("num + 1", None, EvaluateContext::Repl).await;
        assert_eq!(shadowing.expect("a parameter").value, "4");
        session.stop().await.expect("ends");
    }
}

#[tokio::test]
async fn of_rust_have_no_values() {
    let subject = Subject::written(Language::Rust, "gc", RUST);
    subject.break_at("here").await;
    let session = subject.start("").await;
    subject.stop_at(&session, "here").await;
    let removed = ["NUM", "TEXT", "ARR", "FLAG", "SIZE", "VEC"];
    let qualified = ["gc::NUM", "gc::NUM + 1", "gc::NUM == 5"];
    let plain = ["NUM == 5", "NUM + 1", "ARR[0]", "turn == NUM", "TEXT.len()"];
    let read = [&qualified[..], &plain].concat();
    check(&session, &removed, ("USED", "9"), &read).await;
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn log_messages_have_no_values_of_them() {
    let messages = |name: &str| [format!("{{{name}}} {{1 + 2}}|"), format!("{{{name} + 1}}|")];
    let (c, _folder) = linked(&[]);
    for (subject, name) in [(c, "num"), (Subject::written(Language::Rust, "gc", RUST), "NUM")] {
        for (message, rest) in messages(name).iter().zip(["> 3|", ", since no code uses it>|"]) {
            let logging = subject.breakpoint("log").log_message(message);
            subject.debugger.set_breakpoint(logging).await.expect("is set");
            let session = subject.start("").await;
            let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else {
                panic!("a stop")
            };
            let text = &end.output.text;
            assert!(text.contains(&format!("the linker removed it{rest}")), "{message}: {text}");
        }
    }
}
