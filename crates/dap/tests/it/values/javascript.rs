//! Values of JavaScript.

use std::collections::HashMap;
use std::process::Command;

use termbridge_dap::{
    DebugSession, EvaluateContext, LeftOut, Page, Resume, StopReport, VariableFilter, VariableInfo,
};

use super::{Random, Table};
use crate::subject::{Language, Subject};

/// What is shown for a variable whose declaration was not run yet.
const UNSET: &str = "<not initialised>";
const VARIABLES: usize = 48;
/// Values of one log message.
const LOGGED_AT_ONCE: usize = 12;

const PLAIN: [&str; 73] = [
    "0",
    "-0",
    "1",
    "-1",
    "0.1",
    "1e21",
    "1e-7",
    "5e-324",
    "1.7976931348623157e308",
    "NaN",
    "Infinity",
    "-Infinity",
    "2 ** 53",
    "123456789.125",
    "0n",
    "-1n",
    "2n ** 64n",
    "true",
    "false",
    "null",
    "undefined",
    "''",
    "'1'",
    "'a'",
    "\"it's\"",
    "'say \"x\"'",
    "\"'\\\"\"",
    "\"'\\\"`\"",
    "\"'\\\"${\"",
    "'a\\nb'",
    "'a\\tb\\r'",
    "'C:\\\\dir'",
    "'\\\\n'",
    "'é'",
    "'😀'",
    "'\\u0000'",
    "'\\x1b[1m'",
    "'\\x7f'",
    "'\\b\\f\\v'",
    "'undefined'",
    "'null'",
    "'…'",
    "'{a: 1}'",
    "'=>'",
    "'a, b'",
    "'a: b'",
    "'\\u2028'",
    "'x'.repeat(60)",
    "'\\\\x1b'",
    "Symbol('q')",
    "Symbol()",
    "/a\\/b\"'/g",
    "new Date(0)",
    "() => 1",
    "new TypeError('boom')",
    "new Error('two\\nlines')",
    "'ƒ'",
    "'(2) [1, 2]'",
    "'write-only'",
    "'Error: x\\n    at y'",
    "function named(a) { return a; }",
    "function* () {}",
    "async () => {}",
    "Symbol.iterator",
    "new Date(NaN)",
    "new Failure('bad', 5)",
    "new Failure('')",
    "Object.assign(new Error('p'), { code: 'E' })",
    "new Error('outer', { cause: new TypeError('inner') })",
    "new Number(-0)",
    "new Boolean(false)",
    "Object(1n)",
    "Object(Symbol('z'))",
];
const KEYS: [&str; 12] =
    ["a", "b", "aa", "'a-b'", "1", "''", "key", "value", "size", "length", "é", "$x"];

/// What prints the values: an independent account of how they are shown.
const BEFORE: &str = r"'use strict';
const { inspect, types } = require('node:util');
class Point { #hidden; constructor(x, y) { this.x = x; this.y = y; } get sum() { return 1; } toString() { return 'Point(3)'; } }
class Failure extends Error { constructor(m, code) { super(m); this.name = 'Failure'; this.code = code; } }
class OwnMap extends Map { extra = 1; }
class OwnArray extends Array {}
function shown(v) {
  if (typeof v === 'string') return inspect(v);
  if (typeof v === 'bigint') return `${v}n`;
  if (typeof v === 'symbol') return v.toString();
  if (Object.is(v, -0)) return '-0';
  if (typeof v === 'function') return String(v).replace(/^(async )?function(\*?)/, '$1ƒ$2');
  if (typeof v !== 'object' || v === null) return String(v);
  if (types.isBoxedPrimitive(v)) return `${v.constructor.name} (${shown(v.valueOf())})`;
  if (types.isProxy(v)) return `Proxy(Object) {a: ${shown(v.a)}}`;
  if (v instanceof Error) return String(v).replaceAll('\n', '\\n');
  if (v instanceof Date || v instanceof RegExp) return String(v);
  const list = v instanceof Point ? ['#hidden: undefined'] : [];
  if (v instanceof Map) {
    for (const [key, value] of v) list.push(`${shown(key)} => ${shown(value)}`);
    if (v instanceof OwnMap) list.push(`extra: ${v.extra}`);
    return `${v.constructor.name}(${v.size}) {${list.join(', ')}}`;
  }
  if (v instanceof Set) return `Set(${v.size}) {${[...v].map(shown).join(', ')}}`;
  if (types.isTypedArray(v)) return `${v.constructor.name}(${v.length}) [${[...v].map(shown).join(', ')}]`;
  if (Array.isArray(v)) {
    let empty = 0;
    for (let i = 0; i <= v.length; i++) {
      const has = i in v;
      if (!has && i < v.length) { empty++; continue; }
      if (empty > 0) list.push(`<${empty} empty>`);
      empty = 0;
      if (has) list.push(shown(v[i]));
    }
    if ('extra' in v) list.push(`extra: ${shown(v.extra)}`);
    return `${v instanceof OwnArray ? `OwnArray(${v.length}) ` : ''}[${list.join(', ')}]`;
  }
  for (const key of Reflect.ownKeys(v)) {
    const property = Object.getOwnPropertyDescriptor(v, key);
    const plain = typeof key === 'symbol' ? `[${String(key)}]` : /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? key : inspect(key);
    list.push(`${plain}: ${property.get ? '[Getter]' : property.set ? '[Setter]' : shown(property.value)}`);
  }
  return `${v instanceof Point ? 'Point ' : ''}{${list.join(', ')}}`;
}
function print(name, value) {
  console.log(`${name}\t${shown(value)}`);
  console.log(`log ${name}\t${inspect(value).replaceAll('\n', '\\n')}`);
}
function nothing() {}
function values() {
";

/// A value of a few levels, as the program writes it.
fn value(random: &mut Random, levels: usize) -> String {
    if levels == 0 || random.below(4) == 0 {
        return random.pick(&PLAIN).to_owned();
    }
    let count = random.below(4);
    let some = |random: &mut Random| -> Vec<String> {
        (0..count).map(|_| value(random, levels - 1)).collect()
    };
    match random.below(9) {
        0 => format!("[{}]", some(random).join(", ")),
        1 => format!("[{}, , 1, , ]", random.pick(&PLAIN)),
        2 => format!("new Set([{}])", some(random).join(", ")),
        3 => {
            let entries = some(random).into_iter().map(|key| {
                let value = value(random, levels - 1);
                format!("[{key}, {value}]")
            });
            format!("new Map([{}])", entries.collect::<Vec<_>>().join(", "))
        }
        4 => format!("new Point({}, {})", value(random, levels - 1), random.pick(&PLAIN)),
        5 => random
            .pick(&[
                "new Uint8Array([1, 255])",
                "Buffer.from('hi')",
                "new Float64Array([-0, NaN, 1.5])",
                "new BigInt64Array(1)",
            ])
            .to_owned(),
        6 => random
            .pick(&[
                "{ get g() { throw new Error('called'); } }",
                "{ [Symbol('k')]: 1 }",
                "Object.create(null)",
                "{ toString: 1 }",
                "Object.assign(Object.create(null), { a: 1, b: { c: 2 } })",
                "Object.assign([1, 'x'], { extra: 'x' })",
                "OwnArray.from([1, 2])",
                "new OwnMap([[1, 'a']])",
                "new OwnMap()",
                "new Proxy({ a: 'x' }, {})",
                "Object.create({ inherited: 1 })",
                "Object.freeze({ a: [1] })",
                "{ constructor: 5 }",
                "{ f: function () {}, g: () => 1 }",
                "new Failure('nested', 1)",
            ])
            .to_owned(),
        _ => {
            let mut keys: Vec<_> = (0..count).map(|_| random.pick(&KEYS)).collect();
            keys.sort_unstable();
            keys.dedup();
            let fields =
                keys.into_iter().map(|key| format!("{key}: {}", value(random, levels - 1)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

/// All locals, in pages: what one answer looks into is bounded.
async fn listed(session: &DebugSession, report: &StopReport) -> Vec<VariableInfo> {
    let scopes = session.scopes(report.frames[0].id).await.expect("scopes");
    let mut all = Vec::new();
    loop {
        let page = Page { start: all.len() as u64, count: 12 };
        let found = session.variables_page(scopes[0].reference, VariableFilter::All, page).await;
        let found = found.expect("locals");
        all.extend(found.variables);
        if found.left_out == LeftOut::Some(0) {
            return all;
        }
    }
}

#[tokio::test]
async fn values_are_what_the_program_prints() {
    check(false).await;
}

/// The same program, compiled: what is read is the source.
#[tokio::test]
async fn values_of_typescript_are_what_the_program_prints() {
    check(true).await;
}

/// Compiles the program of a subject, which is then debugged by its source.
fn compile(subject: &mut Subject, source: &str) {
    subject.source.set_extension("ts");
    std::fs::write(&subject.source, source).expect("is written");
    let tsc = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/debuggers/node_modules/typescript/bin/tsc"
    );
    let mut command = Command::new("node");
    command.arg(tsc).args([
        "--noCheck",
        "--sourceMap",
        "--target",
        "es2022",
        "--module",
        "commonjs",
    ]);
    let output = command.arg(&subject.source).output().expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// A log message that has the value of each variable between two marks.
fn logged_names(mark: &str, names: &[String]) -> String {
    let logged = names.iter().map(|name| format!("<{mark}{name}>{{{name}}}</{name}>"));
    logged.collect::<Vec<_>>().concat()
}

async fn check(is_typescript: bool) {
    let mut random = Random::seeded();
    let (mut source, mut marks, mut prints) = (BEFORE.to_owned(), Vec::new(), String::new());
    source.push_str("  nothing(); // mark: early\n");
    let (mut names, first) = (Vec::new(), random.below(PLAIN.len()));
    for index in 0..VARIABLES {
        let keyword = random.pick(&["const", "let", "var"]);
        let name = format!("{}{index}", &keyword[..1]);
        // Plain values and what is made of them, in turn.
        let value = match index % 2 {
            0 => PLAIN[(first + index / 2) % PLAIN.len()].to_owned(),
            _ => value(&mut random, 3),
        };
        source.push_str(&format!("  {keyword} {name} = {value};"));
        if index % (VARIABLES / 4) == 0 {
            source.push_str(&format!(" // mark: {name}"));
            marks.push(name.clone());
        }
        source.push('\n');
        prints.push_str(&format!("  print('{name}', {name});\n"));
        names.push(name);
    }
    for index in 0..VARIABLES.div_ceil(LOGGED_AT_ONCE) {
        source.push_str(&format!("  nothing(); // mark: log{index}\n"));
    }
    marks.push("end".to_owned());
    source.push_str(&format!("  nothing(); // mark: end\n{prints}}}\nvalues();\n"));

    let mut subject = Subject::new(Language::JavaScript);
    if is_typescript {
        compile(&mut subject, &source);
    } else {
        std::fs::write(&subject.source, &source).expect("is written");
    }
    let output = Command::new("node").arg(subject.program()).output().expect("runs");
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{source}\n{}", String::from_utf8_lossy(&output.stderr));
    let said: HashMap<_, _> = said.lines().filter_map(|line| line.split_once('\t')).collect();
    for mark in &marks {
        subject.break_at(mark).await;
    }
    for (index, names) in names.chunks(LOGGED_AT_ONCE).enumerate() {
        let message = logged_names("", names);
        let log = subject.breakpoint(&format!("log{index}")).log_message(&message);
        subject.debugger.set_breakpoint(log).await.expect("is set");
    }
    let early = logged_names("early ", &names);
    let early = subject.breakpoint("early").log_message(&early);
    subject.debugger.set_breakpoint(early).await.expect("is set");
    let session = subject.start("").await;
    let mut table = Table::default();
    let mut report = subject.stop_at(&session, &marks[0]).await;
    for mark in &marks {
        assert_eq!(report.location.as_ref().expect("a location").line, subject.line(mark));
        let listed = listed(&session, &report).await;
        let set = names.iter().position(|name| name == mark).unwrap_or(names.len());
        for (index, name) in names.iter().enumerate() {
            let in_list = listed.iter().find(|local| local.name == *name);
            let in_report = report.locals.iter().find(|local| local.name == *name);
            let evaluated = session.evaluate(name, None, EvaluateContext::Watch).await;
            let expected = match index < set {
                true => said[name.as_str()],
                false if name.starts_with('v') => "undefined",
                false => UNSET,
            };
            // What is too long for a line is cut, and marked so.
            if expected.len() > 250 {
                continue;
            }
            table.compare(&format!("{mark} list"), name, expected, in_list.map(|one| &*one.value));
            // A report has room for some, and looks into some of those.
            let is_cut = |shown: &str| shown.replace("'…'", "").contains('…');
            if let Some(shown) = in_report.filter(|shown| !is_cut(&shown.value)) {
                table.compare(&format!("{mark} report"), name, expected, Some(&shown.value));
            }
            let evaluated = match &evaluated {
                Ok(value) => value.value.as_str(),
                Err(error) if error.to_string().contains("before initialization") => UNSET,
                Err(error) => panic!("{name}: {error}"),
            };
            table.compare(&format!("{mark} evaluate"), name, expected, Some(evaluated));
        }
        if mark != "end" {
            report = subject.resume(&session, Resume::Continue).await;
        }
    }
    let end = subject.debugger.events().since(session.id().as_str(), 0);
    let logged: String = end.iter().filter_map(|record| record.output()).collect();
    let in_log = |mark: &str, name: &str| {
        let (_, behind) = logged.split_once(&format!("<{mark}{name}>"))?;
        Some(behind.split_once(&format!("</{name}>"))?.0.replace('\n', "\\n"))
    };
    for name in &names {
        let expected = said[&*format!("log {name}")];
        table.compare("log", name, expected, in_log("", name).as_deref());
        let early = if name.starts_with('v') { "undefined" } else { UNSET };
        table.compare("early log", name, early, in_log("early ", name).as_deref());
    }
    session.stop().await.expect("ends");
    table.finish(500);
}
