//! What is shown of JavaScript's variables: which, in which order, and under which names.

use termbridge_dap::{
    Breakpoint, Configuration, EvaluateContext, Halt, Page, Resume, ScopeFilter, StopReport,
    VariableFilter, VariableNode,
};

use crate::flows;
use crate::javascript::stopped_in;
use crate::subject::{Language, Subject, local};
use crate::support::LIMIT;

const LANGUAGE: Language = Language::JavaScript;

fn names(report: &StopReport) -> Vec<&str> {
    report.locals.iter().map(|local| local.name.as_str()).collect()
}

#[tokio::test]
async fn objects_show_the_fields_that_fit_in_the_programs_order() {
    let text = "
class Row { constructor() { Object.assign(this, { zeta: 1, yak: 2, x: 3, w: 4, v: 5, u: 6, b: 7, a: 8 }); } }
function work() {
  const mixed = { q: 1, p: 'x', o: null, n: true, m: 2, list: [1], late: { z: 1, a: 2 }, early: 0 };
  const row = new Row();
  const rows = [row];
  const byName = new Map([['k', row]]);
  const long = Object.fromEntries(Array.from({ length: 9 }, (_, i) => ['field' + (9 - i), 'text of it']));
  return [mixed, rows, byName, long]; // mark: here
}
work();
";
    let (_subject, session, report) = stopped_in(text, &["here"]).await;
    let row = "{zeta: 1, yak: 2, x: 3, w: 4, v: 5, u: 6, b: 7, a: 8}";
    let expected = [
        (
            "mixed",
            "{q: 1, p: 'x', o: null, n: true, m: 2, list: [1], late: {z: 1, a: 2}, early: 0}"
                .to_owned(),
        ),
        ("row", format!("Row {row}")),
        ("rows", format!("[Row {row}]")),
        ("byName", format!("Map(1) {{'k' => Row {row}}}")),
    ];
    let listed = flows::all_locals(&session, &report).await;
    for (name, value) in &expected {
        let listed = listed.iter().find(|local| local.name == *name);
        assert_eq!(listed.map(|local| &local.value), Some(value), "list");
        let evaluated = session.evaluate(name, None, EvaluateContext::Repl).await;
        assert_eq!(&evaluated.expect("a value").value, value, "evaluate");
    }
    assert_eq!(local(&report, "row").value, expected[1].1, "a stop has room for it");
    let long = &local(&report, "long").value;
    assert!(long.starts_with("{field9: 'text of it', field8: "), "{long}");
    assert!(long.len() < 150, "{long}");
    assert_eq!(
        names(&report)[..4],
        ["mixed", "row", "rows", "byName"],
        "in the order of the program"
    );
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn getters_are_getters_wherever_they_are_shown() {
    let text = "
class Shop {
  constructor() { this.open = true; this.item = { total: 1 }; }
  get total() { throw new Error('called'); }
  get #own() { throw new Error('called'); }
}
function work() {
  const module = Object.defineProperty({}, Symbol.toStringTag, { value: 'Module' });
  Object.defineProperty(module, 'load', { enumerable: true, get() { throw new Error('called'); } });
  const shop = new Shop();
  return [module, shop]; // mark: here
}
work();
";
    let (_subject, session, report) = stopped_in(text, &["here"]).await;
    assert_eq!(local(&report, "module").value, "Module {load: [Getter]}");
    assert_eq!(local(&report, "shop").value, "Shop {open: true, item: {total: 1}}");
    let shop = session.evaluate("shop", None, EvaluateContext::Repl).await.expect("a value");
    assert_eq!(shop.value, "Shop {open: true, item: {total: 1}}");
    let all = Page { start: 0, count: 0 };
    for (name, getter) in [("module", "load"), ("shop", "total")] {
        let reference = local(&report, name).reference;
        let parts = session.variables(reference, VariableFilter::All, all).await.expect("parts");
        let part = parts.iter().find(|part| part.name == getter).expect("is listed");
        assert_eq!(part.value, "[Getter]");
    }
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn what_node_and_compilers_add_to_a_module_is_left_out() {
    let text = "
const __defProp = Object.defineProperty, __hasOwnProp = Object.prototype.hasOwnProperty;
const __importDefault = (module) => module;
const __name = (target, value) => __defProp(target, 'name', { value, configurable: true });
const own = 1;
function work() {
  return [own, __name, __hasOwnProp, __importDefault, require, module]; // mark: inner
}
__name(work, 'work');
work(); // mark: here
";
    let (subject, session, report) = stopped_in(text, &["here", "inner"]).await;
    assert_eq!(names(&report), ["own", "work", "this"]);
    session.resume(Resume::Continue, None).await.expect("resumed");
    let report = subject.stop_at(&session, "inner").await;
    let tree = session.variable_tree(None, ScopeFilter::All, 1, 16_000).await.expect("a tree");
    let scopes = tree.scopes.iter().filter(|(name, _)| name != "Global");
    let shown: Vec<_> =
        scopes.flat_map(|(_, nodes)| nodes).map(|node| node.variable.name.as_str()).collect();
    assert!(shown.contains(&"own"), "{shown:?}");
    assert!(
        !shown.iter().any(|name| name.starts_with("__") || ["require", "module"].contains(name)),
        "{shown:?}"
    );
    assert!(names(&report).iter().all(|name| !name.starts_with("__")));
    session.stop().await.expect("ends");
}

/// As babel compiles an import: its map gives the module's variable the name of what is taken from it.
#[tokio::test]
async fn a_module_is_not_shown_by_the_name_of_what_it_exports() {
    let generated = "\
const _lib = { addDays: (n) => n + 1 };
function work(n) {
  const result = (0, _lib.addDays)(n);
  return result; // mark: here
}
work(1);
//# sourceMappingURL=subject.js.map
";
    let original = "\
import { addDays } from './lib';
function work(n) {
  const result = addDays(n);
  return result; // mark: here
}
work(1);
";
    let map = r#"{"version":3,"sources":["subject.mjs"],"names":["addDays"],"mappings":"AAAA;AACA;AACA,qBAAqBA,YAAY;AACjC;AACA;AACA"}"#;
    let mut subject = Subject::written(LANGUAGE, "subject", generated);
    let program = subject.program().to_owned();
    std::fs::write(subject.folder.path().join("subject.js.map"), map).expect("is written");
    subject.source.set_extension("mjs");
    std::fs::write(&subject.source, original).expect("is written");
    subject.break_at("here").await;
    let configuration = Configuration::launch("node", &program, subject.folder.path());
    let session = subject.debugger.start(configuration).await.expect("starts");
    let report = subject.stop_at(&session, "here").await;
    assert_eq!(local(&report, "result").value, "2");
    assert_eq!(local(&report, "_lib").value, "{addDays: (n) => n + 1}");
    let error =
        session.evaluate("addDays", None, EvaluateContext::Repl).await.expect_err("no such");
    assert!(error.to_string().contains("addDays is not defined"), "{error}");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn the_top_level_of_an_es_module_has_locals() {
    let text = "\
const list = [1, 2];
let sum = 0;
for (const n of list) {
  sum += n; // mark: loop
}
export const double = (n) => {
  return n * 2; // mark: function
};
double(sum);
";
    let mut subject = Subject::written(LANGUAGE, "subject", text);
    let program = subject.source.with_extension("mjs");
    std::fs::rename(&subject.source, &program).expect("is renamed");
    subject.source.clone_from(&program);
    subject.break_at("loop").await;
    subject.break_at("function").await;
    let configuration = Configuration::launch("node", &program, subject.folder.path());
    let session = subject.debugger.start(configuration).await.expect("starts");
    let report = subject.stop_at(&session, "loop").await;
    for (name, value) in [("n", "1"), ("sum", "0"), ("list", "[1, 2]")] {
        assert_eq!(local(&report, name).value, value);
    }
    assert_eq!(local(&report, "double").value, "<not initialised>");
    subject.debugger.remove_breakpoint(&subject.breakpoint("loop").place).await;
    let report = subject.resume(&session, Resume::Continue).await;
    let names: Vec<_> = report.locals.iter().map(|local| local.name.as_str()).collect();
    assert_eq!(names, ["n", "this"], "its functions have their own");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_variable_without_a_value_cannot_be_set() {
    let text = "
function work() {
  let sum = 1; // mark: here
  return sum;
}
work();
";
    let (_subject, session, _) = stopped_in(text, &["here"]).await;
    let error = session.set_variable("sum", "5", None).await.expect_err("it would be lost");
    assert_eq!(error.code(), "E_EVALUATE_FAILED");
    assert!(error.to_string().contains("sum is not initialised"), "{error}");
    session.stop().await.expect("ends");
}

/// A function that runs for long is optimised, and what is changed in its frame is lost.
#[tokio::test]
async fn a_change_that_is_lost_is_an_error() {
    let text = "
function hot() {
  let count = 0;
  for (;;) {
    count++;
    if (count === 2e8) debugger; // mark: here
    if (count < 0 || count > 3e8) break;
  }
  return count;
}
hot();
";
    let subject = Subject::written(LANGUAGE, "subject", text);
    let session = subject.start("").await;
    subject.stop_at(&session, "here").await;
    let set = session.set_variable("count", "-5", None).await;
    let evaluated = session.evaluate("count = -5", None, EvaluateContext::Repl).await;
    for error in [set.expect_err("is lost"), evaluated.expect_err("is lost")] {
        assert!(error.to_string().contains("count is still 200000000: "), "{error}");
    }
    subject.resume(&session, Resume::StepOver).await;
    let set = session.set_variable("count", "-5", None).await.expect("is set");
    assert_eq!(set.value, "-5");
    let read = session.evaluate("count", None, EvaluateContext::Repl).await.expect("a value");
    assert_eq!(read.value, "-5");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_list_shows_what_was_changed_last() {
    let text = "
function outer() {
  let calls = 1, count = 'outer';
  function bump() { calls++; return count; }
  function work() {
    let count = 1, name = 'a', list = [1];
    return [count, name, list, bump]; // mark: here
    let later = 1;
  }
  return work();
}
outer();
";
    let (_subject, session, report) = stopped_in(text, &["here"]).await;
    let shown = async || {
        let tree = session.variable_tree(Some(report.frames[0].id), ScopeFilter::All, 0, 16_000);
        let tree = tree.await.expect("a tree");
        let scopes = tree.scopes.into_iter().take(2).flat_map(|(_, nodes)| nodes);
        let value = |node: VariableNode| (node.variable.name, node.variable.value);
        let wanted = ["count", "name", "list", "later", "calls"];
        let all = scopes.map(value).filter(|(name, _)| wanted.contains(&name.as_str()));
        all.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
    };
    let expected = |own: &str, calls: u8| {
        format!("{own}, later = <not initialised>, calls = {calls}, count = 'outer'")
    };
    assert_eq!(shown().await, expected("count = 1, name = 'a', list = [1]", 1));
    session.set_variable("count", "2", None).await.expect("is set");
    assert_eq!(shown().await, expected("count = 2, name = 'a', list = [1]", 1));
    for change in ["bump(), list = [2]", "[count, name] = [3, 'b']"] {
        session.evaluate(change, None, EvaluateContext::Repl).await.expect("is done");
    }
    assert_eq!(shown().await, expected("count = 3, name = 'b', list = [2]", 2));
    session.set_variable("name", "'c'", None).await.expect("is set");
    assert_eq!(shown().await, expected("count = 3, name = 'c', list = [2]", 2));
    session.stop().await.expect("ends");
}

/// By default js-debug calls functions of the program to describe the result of an evaluation.
#[tokio::test]
async fn an_evaluation_runs_no_code_of_its_result() {
    let text = "
let calls = 0;
class Text { constructor() { this.v = 1; } toString() { calls++; return 'text'; } }
class Described { constructor() { this.v = 2; } [Symbol.for('debug.description')]() { calls++; return 'it'; } }
class Inspected { constructor() { this.v = 3; } [Symbol.for('nodejs.util.inspect.custom')]() { calls++; return 'it'; } }
class Primitive { constructor() { this.v = 4; } toString() { return 'it'; } [Symbol.toPrimitive]() { calls++; return 'it'; } }
class HttpError extends Error { constructor(m) { super(m); this.code = 404; } toString() { return 'HttpError'; } }
function work() {
  const trap = (o, key) => { calls++; return key === 'toString' ? () => 'it' : o[key]; };
  const list = new Proxy([1, 2, 3], { get: trap, ownKeys: (o) => { calls++; return Reflect.ownKeys(o); } });
  const text = new Text(), described = new Described(), inspected = new Inspected(), primitive = new Primitive();
  const failure = new HttpError('not found'), own = new Error('first');
  own.toString = () => 'it';
  const all = { text, described, inspected };
  return [list, text, described, inspected, primitive, failure, own, all]; // mark: here
}
work();
";
    let (_subject, session, report) = stopped_in(text, &["here"]).await;
    let expected = [
        ("list", "Proxy(Array) {0: 1, 1: 2, 2: 3}"),
        ("text", "Text {v: 1}"),
        ("described", "Described {v: 2}"),
        ("inspected", "Inspected {v: 3}"),
        ("primitive", "Primitive {v: 4}"),
        ("failure", "Error: not found"),
        ("own", "Error: first"),
    ];
    for (name, value) in expected {
        assert_eq!(local(&report, name).value, value, "the stop");
        let evaluated = session.evaluate(name, None, EvaluateContext::Repl).await;
        assert_eq!(evaluated.expect("a value").value, value, "evaluate");
    }
    let all = "{text: Text {v: 1}, described: Described {v: 2}, inspected: Inspected {v: 3}}";
    let evaluated = session.evaluate("({...all})", None, EvaluateContext::Repl).await;
    assert_eq!(evaluated.expect("a value").value, all);
    let tree = session.variable_tree(None, ScopeFilter::All, 2, 16_000).await.expect("a tree");
    let mut nodes = tree.scopes.iter().flat_map(|(_, nodes)| nodes);
    let listed = nodes.find(|node| node.variable.name == "list").expect("is listed");
    assert_eq!(listed.variable.value, expected[0].1);
    let calls = session.evaluate("calls", None, EvaluateContext::Repl).await.expect("a value");
    assert_eq!(calls.value, "0");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_description_that_the_configuration_has_is_used() {
    let text = "\
globalThis.described = 0;
const row = { v: 1 };
console.log(row); // mark: here
";
    let subject = Subject::written(LANGUAGE, "subject", text);
    subject.break_at("here").await;
    let own = "function (value) { globalThis.described++; return value; }";
    let configuration = subject.configuration("").with("customDescriptionGenerator", own);
    let session = subject.debugger.start(configuration).await.expect("starts");
    subject.stop_at(&session, "here").await;
    let evaluated = async |expression| {
        let evaluated = session.evaluate(expression, None, EvaluateContext::Repl).await;
        evaluated.expect("a value").value
    };
    assert_eq!(evaluated("row").await, "{v: 1}");
    assert_ne!(evaluated("described").await, "0");
    session.stop().await.expect("ends");
}

/// Its descriptions are made by code that throws, which is no exception of the program's.
#[tokio::test]
async fn an_evaluation_does_not_stop_at_its_own_exceptions() {
    let text = "\
const row = { v: 1, nested: { list: [{ a: 1 }] } };
console.log(row); // mark: here
setTimeout(() => process.exit(3), 300);
";
    let subject = Subject::written(LANGUAGE, "subject", text);
    subject.break_at("here").await;
    let logs = Breakpoint::new(&subject.source, 3).log_message("row is {row}");
    subject.debugger.set_breakpoint(logs).await.expect("is set");
    let configuration = subject.configuration("").exceptions(["all"]);
    let session = subject.debugger.start(configuration).await.expect("starts");
    subject.stop_at(&session, "here").await;
    let value = session.evaluate("row", None, EvaluateContext::Repl).await.expect("a value");
    assert_eq!(value.value, "{v: 1, nested: {list: [{a: 1}]}}");
    let halt = session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt");
    let Halt::Ended(end) = halt else { panic!("{halt:#?}") };
    assert_eq!(end.exit_code, Some(3), "{end:#?}");
    assert!(end.output.text.contains("row is"), "{end:#?}");
}

/// js-debug gives no previews of what private fields hold.
#[tokio::test]
async fn private_fields_show_collections_as_all_do() {
    let text = "
class Kept extends Array {}
class Store {
  #list = [1, ['x']]; #none = []; #byName = new Map([['1', [1]]]); #names = new Set(['a']);
  #bytes = new Uint8Array(2); #kept = Kept.of('b'); #nothing = new Map(); #object = { a: 1 };
}
function work() {
  const store = new Store();
  return store; // mark: here
}
work();
";
    let (_subject, session, _) = stopped_in(text, &["here"]).await;
    let store = session.evaluate("store", None, EvaluateContext::Repl).await.expect("a value");
    assert_eq!(
        store.value,
        "Store {#list: [1, ['x']], #none: [], #byName: Map(1) {'1' => [1]}, #names: Set(1) {'a'}, \
         #bytes: Uint8Array(2) [0, 0], #kept: Kept(1) ['b'], #nothing: Map(0) {}, #object: {a: 1}}"
    );
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn an_index_below_0_is_a_field() {
    let text = "
function work() {
  const list = Object.assign([], { '-1': 1 });
  const lists = [list, [2]];
  return lists; // mark: here
}
work();
";
    let (_subject, session, _) = stopped_in(text, &["here"]).await;
    let lists = session.evaluate("lists", None, EvaluateContext::Repl).await.expect("a value");
    assert_eq!(lists.value, "[['-1': 1], [2]]");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn the_message_of_an_error_is_whole() {
    let text = "
function work() {
  const plain = new Error('{stack: 1}');
  const list = [new TypeError('a {message: 2} b')];
  return [plain, list]; // mark: here
}
work();
";
    let (_subject, session, report) = stopped_in(text, &["here"]).await;
    assert_eq!(local(&report, "plain").value, "Error: {stack: 1}");
    assert_eq!(local(&report, "list").value, "[TypeError: a {message: 2} b]");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn an_entry_without_room_for_its_value_has_a_key() {
    let text = "
function work() {
  const names = new Map([['k'.repeat(20), 'v'.repeat(60)], [1, 2]]);
  const inner = { g: 1, names: new Map([[1, Promise.resolve()], ['1', 'w'.repeat(60)]]) };
  return [names, inner]; // mark: here
}
work();
";
    let (_subject, session, report) = stopped_in(text, &["here"]).await;
    for name in ["names", "inner"] {
        let value = &local(&report, name).value;
        let inside = value.split_once(") {").expect("entries").1.trim_end_matches('}');
        let is_entry = |part: &str| part.contains(" => ") || part.starts_with("… ") || part == "…";
        assert!(inside.split(", ").all(is_entry), "{value}");
    }
    session.stop().await.expect("ends");
}

/// What esbuild writes for private fields and decorators.
#[tokio::test]
async fn helpers_of_esbuild_are_left_out() {
    let text = "
var __typeError = (message) => { throw TypeError(message); };
var __privateAdd = (object, member, value) => member.set(object, value);
var __decorateClass = (decorators, target) => target;
var _count;
function work(own) {
  _count = new WeakMap();
  __privateAdd(own, _count, __decorateClass([], 1) || __typeError);
  return own; // mark: here
}
work({});
";
    let (_subject, session, report) = stopped_in(text, &["here"]).await;
    let names = names(&report);
    assert!(names.contains(&"own"), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("__")), "{names:?}");
    session.stop().await.expect("ends");
}
