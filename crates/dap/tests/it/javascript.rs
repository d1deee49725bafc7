//! JavaScript through js-debug, whose programs are child sessions.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use termbridge_dap::{
    Breakpoint, BreakpointPlace, BreakpointState, Configuration, DebugSession, EndReason,
    EvaluateContext, Halt, Resume, ScopeFilter, ScopeKind, StopReport,
};

use crate::flows;
use crate::subject::{Language, Program, Subject, local};
use crate::support::LIMIT;

const LANGUAGE: Language = Language::JavaScript;

#[tokio::test]
async fn breakpoints() {
    flows::breakpoints(LANGUAGE).await;
}

#[tokio::test]
async fn no_data_breakpoints() {
    flows::no_data_breakpoints(LANGUAGE).await;
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
    assert_eq!(report.reason, "exception");
    let exception = report.exception.expect("an exception");
    assert!(exception.id.contains("TypeError: planted"), "{exception:?}");
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
async fn attach_to_a_server_and_leave_it() {
    let subject = Subject::new(LANGUAGE);
    let mut program = Program::spawn(
        Command::new("node")
            .arg("--inspect=127.0.0.1:0")
            .arg(subject.program())
            .arg("loop")
            .stderr(Stdio::piped()),
    );
    let line = program.error_line("listening on ws://");
    let port = line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next());
    let port = port.and_then(|port| port.parse().ok()).expect("a port");
    program.line("looping ");
    subject.break_at("loop").await;
    let configuration =
        Configuration::attach_to_server("node", "127.0.0.1", port, subject.folder.path());
    let session = subject.debugger.start(configuration).await.expect("attaches");
    subject.stop_at(&session, "loop").await;
    let described = "new (class Row { toString() { globalThis.called = true; return 'row'; } })()";
    for (expression, expected) in [(described, "Row {}"), ("globalThis.called", "undefined")] {
        let value = session.evaluate(expression, None, EvaluateContext::Repl).await;
        assert_eq!(value.expect("a value").value, expected, "{expression}");
    }
    subject.debugger.clear_breakpoints().await;
    let end = session.stop().await.expect("leaves");
    assert_eq!(end.reason, EndReason::Detached);
    assert!(program.is_running(), "it goes on");
}

#[tokio::test]
async fn what_the_program_writes_itself_is_captured() {
    let subject = Subject::new(LANGUAGE);
    std::fs::write(&subject.source, "process.stdout.write('raw\\n'); process.kill(process.pid);")
        .unwrap();
    let session = subject.start("sum").await;
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
    assert_eq!(end.output.text, "raw\n", "and nothing of the adapter");
    assert_eq!(end.reason, EndReason::Signalled("SIGTERM".to_owned()));
}

#[tokio::test]
async fn an_adapter_that_is_killed_gives_no_exit_code() {
    let subject = Subject::new(LANGUAGE);
    let session = subject.start("loop").await;
    let line = session.wait_for_output("looping", LIMIT).await.expect("it runs");
    let program = line.rsplit(' ').next().expect("its number");
    let stat = std::fs::read_to_string(format!("/proc/{program}/stat")).expect("it runs");
    let (_, fields) = stat.rsplit_once(')').expect("fields behind its name");
    let parent = fields.split_whitespace().nth(1).and_then(|parent| parent.parse().ok());
    let adapter = parent.and_then(Pid::from_raw).expect("its parent");
    kill_process(adapter, Signal::KILL).expect("the adapter runs");
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
    assert_eq!(end.exit_code, None);
    assert_eq!(end.how(), "js-debug was lost: the adapter closed the connection");
}

/// What it logs is what it would log without one.
#[tokio::test]
async fn a_log_message_with_a_condition() {
    let subject = Subject::new(LANGUAGE);
    let log =
        subject.breakpoint("add").log_message("50% of {a} {b} {{a, b}} {'}'} {} {[a]} {this}");
    let run = async |log: Breakpoint| {
        subject.debugger.set_breakpoint(log).await.expect("is set");
        let session = subject.start("sum").await;
        let halt = session.wait(LIMIT).await.expect("an end");
        let Halt::Ended(end) = halt else { panic!("{halt:#?}") };
        end
    };
    let all = run(log.clone()).await.output.text;
    let (first, rest) = all.split_once("50% of 3 3 ").expect("it is logged");
    assert_eq!(first.matches("50% of").count(), 3, "{all}");
    let failing = subject.breakpoint("return").condition("nosuch > 2").log_message("never");
    subject.debugger.set_breakpoint(failing).await.expect("is set");
    let end = run(log.condition("b > 2 || nosuch()")).await;
    assert_eq!(end.output.text, format!("50% of 3 3 {rest}"));
    // Of the calls before, the second part is read.
    let [first, second] = end.condition_failures.as_slice() else { panic!("{end:#?}") };
    assert!(first.contains("`b > 2 || nosuch()` cannot be evaluated"), "{first}");
    assert!(second.contains("`nosuch > 2` cannot be evaluated"), "{second}");
    assert_eq!(end.unbound, [], "they were evaluated");
    let plain = subject.breakpoint("add").condition("b > 2").log_message("50% done");
    let logged = run(plain).await.output.text;
    assert!(logged.contains("50% done\n"), "{logged}");
    let failing = subject.breakpoint("add").condition("b > 3").log_message("{nosuch}");
    let logged = run(failing).await.output.text;
    assert!(logged.contains("ReferenceError: nosuch is not defined"), "{logged}");
}

#[tokio::test]
async fn a_log_message_with_a_hit_condition_is_refused() {
    let subject = Subject::new(LANGUAGE);
    let log = subject.breakpoint("add").hit_condition("2").log_message("second");
    subject.debugger.set_breakpoint(log).await.expect("is set");
    let session = subject.start("sum").await;
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
    assert!(!end.output.text.contains("second"), "{:?}", end.output);
    let [said] = end.condition_failures.as_slice() else { panic!("{end:#?}") };
    assert!(said.contains("ignores the hit condition"), "{said}");
}

#[tokio::test]
async fn a_note_about_a_source_map_is_no_output_of_the_program() {
    let text =
        "console.error('own');\nlet a = 1; // mark: here\n//# sourceMappingURL=subject.js.map\n";
    for map in [None, Some("{}"), Some("no JSON")] {
        let subject = Subject::written(LANGUAGE, "subject", text);
        if let Some(map) = map {
            let path = subject.folder.path().join("subject.js.map");
            std::fs::write(path, map).expect("is written");
        }
        subject.break_at("here").await;
        let session = subject.start("").await;
        let report = subject.stop_at(&session, "here").await;
        // What the program wrote may come after the stop.
        let halt = session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("an end");
        let Halt::Ended(end) = halt else { panic!("a stop") };
        assert_eq!(report.output.text + &end.output.text, "own\n", "{map:?}");
    }
}

/// The program ends before the adapter says that it bound them.
#[tokio::test]
async fn a_breakpoint_that_logged_was_bound() {
    let subject = Subject::new(LANGUAGE);
    std::fs::write(&subject.source, "let a = 1;\na += 1;\na += 2;\n").expect("a source");
    let log = Breakpoint::new(&subject.source, 2).log_message("a is {a}");
    subject.debugger.set_breakpoint(log).await.expect("is set");
    let session = subject.start("").await;
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
    assert_eq!(end.output.text, "a is 1\n");
    assert_eq!(end.unbound, [], "it logged");
}

#[tokio::test]
async fn several_at_once() {
    flows::several(LANGUAGE).await;
}

#[tokio::test]
async fn function_breakpoints_are_not_supported_and_said_to_be_so() {
    let subject = Subject::new(LANGUAGE);
    let place = BreakpointPlace::function("add");
    // Whether it can is not known before something runs.
    subject.debugger.set_breakpoint(Breakpoint::at(place.clone())).await.expect("is kept");
    subject.break_at("call").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "call").await;
    let listed = subject.debugger.breakpoints();
    let function = listed.iter().find(|one| one.breakpoint.place == place).expect("is listed");
    assert_eq!(function.state, BreakpointState::Pending);
    let message = function.message.as_deref();
    assert_eq!(message, Some("js-debug does not support breakpoints by function name"));
    let error = subject.debugger.set_breakpoint(Breakpoint::at(place)).await.expect_err("cannot");
    assert_eq!(error.code(), "E_UNSUPPORTED_CAPABILITY");
    assert!(error.hint().contains("`text`"), "{}", error.hint());
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn exceptions_by_type() {
    flows::exceptions_by_type(LANGUAGE, &["TypeError"], &["TypeError: second"]).await;
    let seen = ["RangeError: first", "Error: third"];
    flows::exceptions_by_type(LANGUAGE, &["RangeError", "AppError"], &seen).await;
}

/// js-debug calls them `all`.
#[tokio::test]
async fn exceptions_where_they_are_raised() {
    let seen = ["RangeError: first", "TypeError: second", "Error: third"];
    for name in ["raised", "all"] {
        flows::exceptions_by_type(LANGUAGE, &[name], &seen).await;
    }
    flows::exceptions_by_type(LANGUAGE, &["raised", "TypeError"], &seen[1..2]).await;
}

/// A program of one file, stopped at the first of its marks, which all have breakpoints.
pub(crate) async fn stopped_in(text: &str, marks: &[&str]) -> (Subject, DebugSession, StopReport) {
    let subject = Subject::new(LANGUAGE);
    std::fs::write(&subject.source, text).expect("is written");
    for mark in marks {
        subject.break_at(mark).await;
    }
    let session = subject.start("").await;
    let report = subject.stop_at(&session, marks[0]).await;
    (subject, session, report)
}

#[tokio::test]
async fn values_are_shown_with_what_is_nested_in_them() {
    let text = r#"
class Cart {
  constructor() { this.byKey = new Map([['1', 1], [1, '1']]); this.items = [{ id: 1, v: 'a' }, { id: 2, v: "it's" }]; }
  toString() { return 'a cart'; }
  total() {
    const seen = new Set(['1', 1, new Proxy({ a: 2 }, {})]);
    const deep = { a: { b: { c: [{ d: 'x\ny' }] } } };
    class Own extends Map {}
    const own = new Own([['1', [1]]]);
    const other = [new Proxy(own, {}), new WeakSet([own]), own.keys(), (function () { return this; })()];
    const many = Array.from({ length: 1000 }, (_, i) => i);
    const cache = Object.fromEntries(many.slice(0, 10).map((i) => [`k${i}`, i]));
    return [seen, deep, own, other, many, cache]; // mark: here
  }
}
new Cart().total();
"#;
    let (_subject, session, report) = stopped_in(text, &["here"]).await;
    let cart = r#"Cart {byKey: Map(2) {'1' => 1, 1 => '1'}, items: [{id: 1, v: 'a'}, {id: 2, v: "it's"}]}"#;
    let expected = [
        ("this", cart),
        ("seen", "Set(3) {'1', 1, Proxy(Object) {a: 2}}"),
        ("deep", r"{a: {b: {c: [{d: 'x\ny'}]}}}"),
        (
            "many",
            "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, … 980 more]",
        ),
    ];
    let cut = "Cart {byKey: Map(2) {'1' => 1, 1 => '1'}, items: […]}";
    assert_eq!(local(&report, "this").value, cut, "a stop has less room");
    let listed = flows::all_locals(&session, &report).await;
    for (name, value) in expected {
        let listed = listed.iter().find(|local| local.name == name);
        assert_eq!(listed.map(|local| local.value.as_str()), Some(value));
        let evaluated = session.evaluate(name, None, EvaluateContext::Repl).await.expect("a value");
        assert_eq!(evaluated.value, value);
    }
    let first = "{k0: 0, k1: 1, k2: 2, k3: 3, k4: 4, k5: 5, k6: 6, k7: 7, k8: 8, … 1 more}";
    assert_eq!(local(&report, "cache").value, first, "as far as there is room");
    let cache = session.evaluate("cache", None, EvaluateContext::Repl).await.expect("a value");
    let whole = (0..10).map(|i| format!("k{i}: {i}")).collect::<Vec<_>>().join(", ");
    assert_eq!(cache.value, format!("{{{whole}}}"));
    let tree = session.variable_tree(None, ScopeFilter::All, 1, 16_000).await.expect("a tree");
    let (_, nodes) = tree.scopes.first().expect("a scope");
    let this = nodes.iter().find(|node| node.variable.name == "this").expect("is listed");
    assert_eq!(this.variable.value, "Cart {…}", "its children are below it");
    let child = this.children.iter().find(|child| child.variable.name == "byKey");
    assert_eq!(child.expect("a child").variable.value, "Map(2) {'1' => 1, 1 => '1'}");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_condition_fails_where_it_reads_a_variable_without_a_value() {
    let text = "
function work(list) {
  list.push(1); // mark: unset
  list.push(2); // mark: fine
  let late = 1;
  return late; // mark: set
}
work([]);
";
    let subject = Subject::written(Language::JavaScript, "conditions", text);
    let conditions = [
        ("unset", "late === undefined"),
        ("fine", "list.length == 1 && [3].some(late => late == 3) || late"),
        ("set", "late == 1"),
    ];
    for (mark, condition) in conditions {
        let breakpoint = subject.breakpoint(mark).condition(condition);
        subject.debugger.set_breakpoint(breakpoint).await.expect("is set");
    }
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "fine").await;
    let said = report.condition_failures.join("\n");
    assert!(said.contains("Cannot access 'late' before initialization"), "{said}");
    session.resume(Resume::Continue, None).await.expect("continues");
    subject.stop_at(&session, "set").await;
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn variables_before_their_declaration_have_no_value() {
    let text = "
function turns() {
  for (let i = 0; i < 2; i++) {
    let twice = i * 2; // mark: turn
    const kept = () => twice;
    kept();
  }
}
function early() {
  return typeof top; // mark: early
}
try { (() => { early(); return late; })(); } catch {}
const outer = () => {
  const inner = () => {
    return 1; // mark: inner
  };
  inner();
  let late;
  return () => late;
};
outer();
let late = undefined; // mark: late
turns();
";
    let (subject, session, report) = stopped_in(text, &["early", "inner", "late", "turn"]).await;
    assert_eq!(local(&report, "late").value, "<not initialised>", "of the file around it");
    subject.resume(&session, Resume::Continue).await;
    let report = subject.resume(&session, Resume::Continue).await;
    assert_eq!(local(&report, "late").value, "<not initialised>", "the line is not run yet");
    let error = session.evaluate("late", None, EvaluateContext::Repl).await.expect_err("none");
    assert!(error.to_string().contains("Cannot access 'late' before initialization"), "{error}");
    let names: Vec<_> = report.locals.iter().map(|local| &*local.name).collect();
    assert!(!names.contains(&"require") && !names.contains(&"__dirname"), "{names:?}");
    let report = subject.resume(&session, Resume::Continue).await;
    assert_eq!(local(&report, "twice").value, "<not initialised>");
    let report = subject.resume(&session, Resume::Continue).await;
    assert_eq!(local(&report, "i").value, "1");
    assert_eq!(local(&report, "kept").value, "<not initialised>", "not that of the turn before");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_source_that_changed_since_the_start_tells_nothing_of_values() {
    let text = "const first = 1;
first.toString();
first.toString(); // mark: here
const second = [first].map(second => second + 1); // mark: next
second.pop(); // mark: last
";
    let (subject, session, _) = stopped_in(text, &["here", "next", "last"]).await;
    let value = async |expression| {
        let value = session.evaluate(expression, None, EvaluateContext::Repl).await;
        value.map(|value| value.value).map_err(|error| error.to_string())
    };
    assert_eq!(value("[first].map(second => second * 3)").await.as_deref(), Ok("[3]"));
    assert!(value("second").await.is_err(), "it is not run yet");
    // Where the program stands, the file has lines now that are before the declarations.
    std::fs::write(&subject.source, format!("\n\n\n\n\n{text}")).expect("is written");
    assert_eq!(value("first").await.as_deref(), Ok("1"));
    let report = subject.resume(&session, Resume::Continue).await;
    assert_eq!(local(&report, "first").value, "1");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn requests_are_answered_at_once() {
    let subject = Subject::new(LANGUAGE);
    subject.break_at("call").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "call").await;
    let mut fastest = Duration::MAX;
    for _ in 0..20 {
        let asked = Instant::now();
        session.evaluate("total + 1", None, EvaluateContext::Watch).await.expect("a value");
        fastest = fastest.min(asked.elapsed());
    }
    // The kernel would hold each answer back for 40 ms.
    assert!(fastest < Duration::from_millis(35), "{fastest:?}");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn libraries_are_stepped_over_unless_they_are_wanted() {
    let subject = Subject::new(LANGUAGE);
    let library = subject.folder.path().join("node_modules/library");
    std::fs::create_dir_all(&library).expect("a folder");
    let text = "exports.call = (f) => {\n  const result = f(1);\n  return result + 1;\n};\n";
    std::fs::write(library.join("index.js"), text).expect("a library");
    let text = "const { call } = require('library');
function twice(n) {
  return n * 2; // mark: twice
}
const first = call(twice); // mark: first
const second = first; // mark: second
";
    std::fs::write(&subject.source, text).expect("is written");
    subject.break_at("first").await;
    let place = |report: &StopReport| report.location.clone().expect("a location");
    for own in [true, false] {
        let configuration = subject.configuration("").with("justMyCode", own);
        let session = subject.debugger.start(configuration).await.expect("starts");
        subject.stop_at(&session, "first").await;
        let into = place(&subject.resume(&session, Resume::StepInto).await);
        if own {
            assert_eq!(into.line, subject.line("twice"), "{into:?}");
            let out = place(&subject.resume(&session, Resume::StepOut).await);
            assert_eq!(out.line, subject.line("second"), "{out:?}");
        } else {
            assert!(into.path.ends_with("library/index.js"), "{into:?}");
        }
        session.stop().await.expect("ends");
    }
}

#[tokio::test]
async fn the_next_line_cannot_be_set() {
    flows::no_next_line(LANGUAGE).await;
}

/// A server that waits for requests, and its port.
async fn idle_server() -> (Subject, DebugSession, u16) {
    let text = "\
const server = require('http').createServer((request, response) => {
  const answer = 'ok'; // mark: answer
  response.end(answer);
});
server.listen(0, '127.0.0.1', () => console.log('port', server.address().port));
";
    let subject = Subject::written(LANGUAGE, "subject", text);
    let session = subject.start("").await;
    let line = session.wait_for_output("port ", LIMIT).await.expect("it listens");
    let port = line.rsplit(' ').next().and_then(|port| port.parse().ok()).expect("a port");
    (subject, session, port)
}

#[tokio::test]
async fn a_pause_of_an_idle_server_says_so() {
    let (_subject, session, _) = idle_server().await;
    let error = session.pause(LIMIT).await.expect_err("nothing runs");
    assert_eq!(error.code(), "E_TIMEOUT");
    assert!(error.to_string().contains("is idle"), "{error}");
    assert!(error.hint().contains("set a breakpoint"), "{}", error.hint());
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_breakpoint_stops_a_server_that_was_idle() {
    let (subject, session, port) = idle_server().await;
    subject.break_at("answer").await;
    let mut client = std::net::TcpStream::connect(("127.0.0.1", port)).expect("connects");
    std::io::Write::write_all(&mut client, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").expect("is sent");
    subject.stop_at(&session, "answer").await;
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_tree_of_a_module_has_its_data_and_no_lists_of_functions() {
    let text = "\
const fs = require('fs');
const config = { name: 'demo', limits: { a: 1, b: [1, 2, 3] } };
const server = require('http').createServer(() => {});
console.log(config, fs); // mark: print
";
    let subject = Subject::written(LANGUAGE, "subject", text);
    subject.break_at("print").await;
    let session = subject.start("").await;
    subject.stop_at(&session, "print").await;
    let tree = session.variable_tree(None, ScopeFilter::All, 3, 16 * 1024).await.expect("a tree");
    let all: Vec<_> = tree.scopes.iter().flat_map(|(_, nodes)| nodes).collect();
    let node = |name: &str| {
        let found = all.iter().find(|node| node.variable.name == name);
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    assert!(node("fs").children.is_empty(), "its functions are in no one's way");
    let limits = node("config").children.iter().find(|node| node.variable.name == "limits");
    assert_eq!(limits.expect("its part").children.len(), 2);
    assert!(!node("server").children.is_empty());
    let bytes = format!("{tree:?}").len();
    let whole =
        session.variable_tree(None, ScopeFilter::Only(ScopeKind::Local), 3, 16 * 1024).await;
    let whole = format!("{:?}", whole.expect("a tree")).len();
    assert!(bytes < whole, "{bytes} bytes, and by scope {whole}");
}

/// Packages that the tests have.
const PACKAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/debuggers/node_modules");

/// Variables of loops hide those that the function declares further down.
#[tokio::test]
async fn a_variable_of_a_loop_is_not_the_one_of_its_function() {
    let text = "\
function f() {
  let sum = 0;
  for (const a of [1, 2]) {
    sum += a; // mark: add
  }
  try {
    throw 3;
  } catch (b) {
    sum += b; // mark: caught
  }
  const a = 10, b = 20;
  return sum + a + b;
}
console.log(f());
";
    let subject = Subject::written(LANGUAGE, "subject", text);
    let log = subject.breakpoint("add").log_message("a={a} sum={sum}");
    subject.debugger.set_breakpoint(log).await.expect("is set");
    subject.break_at("caught").await;
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "caught").await;
    assert_eq!(report.output.text, "a=1 sum=0\na=2 sum=1\n");
    assert_eq!(
        session.evaluate("b + 1", None, EvaluateContext::Repl).await.expect("a value").value,
        "4"
    );
    session.stop().await.expect("ends");
    subject.debugger.clear_breakpoints().await;
    let second = subject.breakpoint("add").condition("a === 2");
    subject.debugger.set_breakpoint(second).await.expect("is set");
    let session = subject.start("").await;
    subject.stop_at(&session, "add").await;
    assert_eq!(
        session.evaluate("a * 10", None, EvaluateContext::Repl).await.expect("a value").value,
        "20"
    );
    session.stop().await.expect("ends");
}

/// A source map knows other places of the brackets around a loop's variables.
#[tokio::test]
async fn the_variables_of_a_loop_that_tsx_runs_have_no_value_in_its_head() {
    let text = "\
function total(orders: { lines: number[] }[]): number {
  let sum = 0;
  for (const order of orders) { // mark: outer
    for (const line of order.lines) { // mark: inner
      sum += line;
    }
  }
  for (let i = 0, n = 2; i < n; i++) { // mark: counted
    sum += i;
  }
  return sum;
}
console.log(total([{ lines: [1, 2] }, { lines: [3] }]));
";
    let mut subject = Subject::new(LANGUAGE);
    subject.source.set_extension("ts");
    std::fs::write(&subject.source, text).expect("is written");
    subject.break_at("outer").await;
    subject.break_at("inner").await;
    let loader = format!("--import=file://{PACKAGES}/tsx/dist/loader.mjs");
    let configuration = Configuration::launch("node", &subject.source, subject.folder.path())
        .with("runtimeArgs", serde_json::json!([loader]));
    let session = subject.debugger.start(configuration).await.expect("starts");
    let report = subject.stop_at(&session, "outer").await;
    assert_eq!(local(&report, "order").value, "<not initialised>");
    let report = subject.resume(&session, Resume::Continue).await;
    assert_eq!(local(&report, "line").value, "<not initialised>");
    assert_eq!(local(&report, "order").value, "{lines: [1, 2]}");
    subject.debugger.clear_breakpoints().await;
    subject.break_at("counted").await;
    let report = subject.resume(&session, Resume::Continue).await;
    for name in ["i", "n"] {
        assert_eq!(local(&report, name).value, "<not initialised>", "{name}");
    }
    session.stop().await.expect("ends");
}

/// tsx writes a file in one line, whose positions are those of the source.
#[tokio::test]
async fn typescript_is_debugged_as_tsx_runs_it() {
    let text = "import deepmerge from 'PACKAGES/deepmerge';
interface Item { id: number; name: string }
enum Level { Low = 1, High }
abstract class Base<T extends Item> {
  constructor(private readonly items: T[], public level: Level = Level.High) {}
  total(factor: number): number {
    const doubled = this.items.map((item) => item.id * factor);
    return doubled.reduce((a, b) => a + b, 0); // mark: total
  }
}
class Store extends Base<Item> {
  #secret = 'x';
}
function work(items: Item[]): number {
  const merged = deepmerge({ a: 1 }, { b: [2] } as object); // mark: merged
  const store = new Store(items);
  const total: number = store.total(3); // mark: call
  for (const [index, { name }] of items.entries()) {
    console.log(index, name, merged); // mark: loop
  }
  return total;
}
work([{ id: 1, name: 'a' }, { id: 2, name: 'b' }]);
"
    .replace("PACKAGES", PACKAGES);
    let mut subject = Subject::new(LANGUAGE);
    subject.source.set_extension("ts");
    std::fs::write(&subject.source, text).expect("is written");
    for mark in ["merged", "call", "loop"] {
        subject.break_at(mark).await;
    }
    let loader = format!("--import=file://{PACKAGES}/tsx/dist/loader.mjs");
    let configuration = Configuration::launch("node", &subject.source, subject.folder.path())
        .with("runtimeArgs", serde_json::json!([loader]));
    let session = subject.debugger.start(configuration).await.expect("starts");
    let report = subject.stop_at(&session, "merged").await;
    let items = "[{id: 1, name: 'a'}, {id: 2, name: 'b'}]";
    assert_eq!(local(&report, "items").value, items);
    for name in ["merged", "store", "total"] {
        assert_eq!(local(&report, name).value, "<not initialised>", "{name}");
    }
    let place = |report: &StopReport| {
        let location = report.location.as_ref().expect("a location");
        assert_eq!(Path::new(&location.path), subject.source, "{location:?}");
        location.line
    };
    // What it calls is in a package.
    let report = subject.resume(&session, Resume::StepInto).await;
    assert_eq!(place(&report), subject.line("merged") + 1);
    assert_eq!(local(&report, "merged").value, "{a: 1, b: [2]}");
    let report = subject.resume(&session, Resume::Continue).await;
    assert_eq!(place(&report), subject.line("call"));
    let store = format!("Store {{#secret: 'x', items: {items}, … 1 more}}");
    assert_eq!(local(&report, "store").value, store);
    let report = subject.resume(&session, Resume::StepInto).await;
    assert_eq!(place(&report), subject.line("total") - 1);
    assert_eq!(local(&report, "factor").value, "3");
    assert_eq!(local(&report, "doubled").value, "<not initialised>");
    let report = subject.resume(&session, Resume::StepOver).await;
    assert_eq!(place(&report), subject.line("total"));
    assert_eq!(local(&report, "doubled").value, "[3, 6]");
    let report = subject.resume(&session, Resume::StepOut).await;
    assert_eq!(place(&report), subject.line("call") + 1, "the call is all of its line");
    let report = subject.resume(&session, Resume::Continue).await;
    assert_eq!(place(&report), subject.line("loop"));
    assert_eq!(local(&report, "total").value, "9");
    assert_eq!(local(&report, "name").value, "'a'");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_breakpoint_whose_condition_fails_was_bound() {
    let text = "\
const o = { a: 1 };
o.a += 1;
console.log(o.a); // mark: here
";
    let subject = Subject::written(LANGUAGE, "subject", text);
    let conditional = subject.breakpoint("here").condition("o.zz.q");
    subject.debugger.set_breakpoint(conditional).await.expect("is set");
    let session = subject.start("").await;
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("a halt") else { panic!("it stops") };
    let [said] = end.condition_failures.as_slice() else { panic!("{end:#?}") };
    assert!(said.contains("`o.zz.q` cannot be evaluated"), "{said}");
    assert_eq!(end.unbound, []);
}

/// Node garbles such text on its way to a worker.
#[tokio::test]
async fn a_worker_takes_text_of_any_language() {
    let text = "
const { Worker, isMainThread } = require('node:worker_threads');
if (isMainThread) {
  new Worker(__filename);
} else {
  const größe = 'é';
  (() => {
    console.log(größe); // mark: log
    console.log('end'); // mark: end
  })();
}
";
    let subject = Subject::written(LANGUAGE, "größer", text);
    let log = subject.breakpoint("log").log_message("Größe {größe} 😀 {größe === 'é'}");
    let end = subject.breakpoint("end").condition("größe === 'é'");
    for breakpoint in [log, end] {
        subject.debugger.set_breakpoint(breakpoint).await.expect("is set");
    }
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "end").await;
    assert!(report.output.text.contains("Größe 'é' 😀 true"), "{:?}", report.output);
    let value = session.evaluate("größe + 'ü😀'", None, EvaluateContext::Repl).await;
    assert_eq!(value.expect("a value").value, "'éü😀'");
    session.stop().await.expect("ends");
}
