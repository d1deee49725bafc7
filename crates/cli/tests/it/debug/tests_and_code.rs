//! One test under the debugger, findings, symbols: over MCP, with the real tools.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use termbridge_mcp::client::Client;
use termbridge_testkit::{PROTOCOL, Server, TestEnvironment};

use super::{PATIENCE_MS, compile, configured, data, local};
use crate::TERMBRIDGE;
use crate::support::built;

const CART: &str = "\
def total(items):
    amount = 0
    for count, price in items:
        amount += count + price
    return amount
";
const TEST_CART: &str = "\
from cart import total


def test_empty():
    raise SystemError('not this one')


def test_total():
    assert total([(2, 5)]) == 10
";

/// A server whose project has an interpreter with pytest.
fn python_project() -> (TestEnvironment, Server) {
    python_project_with(&built("test-venv"))
}

fn python_project_with(venv: &str) -> (TestEnvironment, Server) {
    let environment = configured();
    environment.write("cart.py", CART);
    environment.write("test_cart.py", TEST_CART);
    std::os::unix::fs::symlink(venv, environment.path().join(".venv")).expect("a link");
    let server = environment.debug_server(TERMBRIDGE, &[]);
    (environment, server)
}

#[test]
fn a_failing_test_stops_where_it_fails() {
    let (_environment, mut server) = python_project();
    let arguments = json!({"path": "test_cart.py", "line": 9, "timeoutMs": PATIENCE_MS});
    let stop = data(&mut server, "test_debug_single", arguments);
    assert_eq!((&stop["state"], &stop["reason"]), (&json!("stopped"), &json!("exception")));
    assert_eq!(
        (&stop["test"], &stop["runner"]),
        (&json!("test_cart.py::test_total"), &json!("pytest"))
    );
    assert_eq!(stop["location"]["line"], 9, "{stop:#}");
    assert_eq!(stop["exception"]["type"], "AssertionError", "{stop:#}");
    let locals = stop["locals"].as_array().into_iter().flatten();
    let mut names = locals.filter_map(|local| local["name"].as_str());
    assert!(!names.any(|name| name.starts_with('@')), "pytest's own are left out: {stop:#}");
    let listed = data(&mut server, "debug_list_variables", json!({}));
    let listed = listed["variables"].as_array().into_iter().flatten();
    let mut names = listed.filter_map(|variable| variable["name"].as_str());
    assert!(names.any(|name| name.starts_with("@py_")), "they are there when asked for");
    let end = data(&mut server, "debug_continue", json!({"timeoutMs": PATIENCE_MS}));
    assert_eq!(end["exit"]["code"], 1, "{end:#}");
    assert!(
        end["output"].as_str().expect("output").contains("1 failed"),
        "only that test ran: {end:#}"
    );
}

/// Those that `scripts/setup-tests` found: 3.11, 3.12 and 3.13.
#[test]
fn a_failing_test_stops_where_it_fails_in_every_python() {
    let first = std::path::PathBuf::from(built("test-venv"));
    let folder = first.parent().expect("a folder").read_dir().expect("readable");
    let venvs = folder.flatten().map(|entry| entry.path());
    let is_one = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("test-venv") && path.join("requirements.sha256").exists()
    };
    let venvs: Vec<_> = venvs.filter(is_one).collect();
    assert!(venvs.contains(&first));
    for venv in venvs {
        let venv = venv.display().to_string();
        let (_environment, mut server) = python_project_with(&venv);
        let arguments = json!({"path": "test_cart.py", "line": 9, "timeoutMs": PATIENCE_MS});
        let stop = data(&mut server, "test_debug_single", arguments.clone());
        assert_eq!(stop["exception"]["type"], "AssertionError", "{venv}: {stop:#}");
        assert_eq!(stop["location"]["line"], 9, "{venv}: {stop:#}");
        let end = data(&mut server, "debug_continue", json!({"timeoutMs": PATIENCE_MS}));
        assert_eq!(end["exit"]["code"], 1, "{venv}: {end:#}");
        data(&mut server, "breakpoint_set", json!({"path": "cart.py", "line": 5}));
        let stop = data(&mut server, "test_debug_single", arguments);
        assert_eq!(local(&stop, "amount")["value"], "7", "{venv}: {stop:#}");
        let inside = data(&mut server, "debug_step_over", json!({"timeoutMs": PATIENCE_MS}));
        assert_eq!(inside["location"]["function"], "test_total", "{venv}: {inside:#}");
    }
}

#[test]
fn a_breakpoint_in_the_code_of_a_test_is_hit() {
    let (_environment, mut server) = python_project();
    data(&mut server, "breakpoint_set", json!({"path": "cart.py", "line": 5}));
    let arguments = json!({"path": "test_cart.py", "line": 8, "timeoutMs": PATIENCE_MS});
    let stop = data(&mut server, "test_debug_single", arguments);
    assert_eq!(stop["reason"], "breakpoint", "{stop:#}");
    assert_eq!(local(&stop, "amount")["value"], "7");
    let (code, text) =
        server.error("test_debug_single", json!({"path": "test_cart.py", "line": 1}));
    assert_eq!(code, "E_NO_TEST_AT_CURSOR");
    assert!(text.contains("test_total"), "the tests are named: {text}");
}

/// A test by its name, a breakpoint by its text, a module, the caller's locals.
#[test]
fn names_and_texts_instead_of_lines() {
    let (environment, mut server) = python_project();
    let (_, text) = server.error("breakpoint_set", json!({"path": "cart.py", "text": "amount"}));
    assert!(text.contains("in several lines: 2, 4, 5"), "{text}");
    let near = json!({"path": "cart.py", "text": "amount", "line": 6});
    assert_eq!(data(&mut server, "breakpoint_set", near)["breakpoint"]["line"], 5);
    data(&mut server, "breakpoint_clear_project", json!({}));
    let set = json!({"path": "cart.py", "text": "return amount"});
    assert_eq!(data(&mut server, "breakpoint_set", set)["breakpoint"]["line"], 5);
    let test = json!({"path": "test_cart.py", "name": "test_total", "timeoutMs": PATIENCE_MS});
    let stop = data(&mut server, "test_debug_single", test);
    assert_eq!(stop["location"]["line"], 5, "{stop:#}");
    data(&mut server, "debug_stop", json!({}));
    environment.write("pack/__init__.py", "");
    environment.write("pack/__main__.py", "from cart import total\n\ndef run(count):\n    return total([(count, 5)])\n\nprint(run(2))\n");
    let module = json!({"module": "pack", "runtimeArgs": ["-X", "utf8"], "wait": true, "timeoutMs": PATIENCE_MS});
    let stop = data(&mut server, "debug_start", module)["stop"].clone();
    assert_eq!(local(&stop, "amount")["value"], "7", "{stop:#}");
    let caller = stop["frames"][1]["id"].clone();
    let locals =
        data(&mut server, "debug_list_variables", json!({"frameId": caller, "scope": "local"}));
    assert_eq!(locals["variables"][0]["name"], "count", "{locals:#}");
    let utf8 = json!({"expression": "__import__('sys').flags.utf8_mode"});
    assert_eq!(data(&mut server, "debug_evaluate", utf8)["result"], "1");
    let none = server.error("test_debug_single", json!({"path": "test_cart.py"}));
    assert_eq!(none.0, "E_INVALID_PARAMS");
}

/// A build that takes longer than the call goes on, and is waited for by the next.
#[test]
fn a_long_build_is_waited_for_by_the_next_call() {
    let environment = configured();
    environment.write("Cargo.toml", "[package]\nname = \"slow\"\nedition = \"2021\"\n");
    let build = "fn main() {\n    while !std::path::Path::new(\"go\").exists() {\n        \
        std::thread::sleep(std::time::Duration::from_millis(20));\n    }\n}\n";
    environment.write("build.rs", build);
    environment.write("src/lib.rs", "#[test]\nfn fails() {\n    assert_eq!(1 + 1, 3);\n}\n");
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    let test = json!({"path": "src/lib.rs", "line": 3, "timeoutMs": 3000});
    let begun = server.ok("test_debug_single", test.clone());
    assert!(begun.text.starts_with("Still starting the test at "), "{}", begun.text);
    assert_eq!(begun.structured["data"]["state"], "starting");
    assert!(begun.text.contains("Last line: "), "{}", begun.text);
    assert_eq!(server.error("test_debug_single", test.clone()).0, "E_BUSY");
    // It can be ended, and begun again.
    data(&mut server, "debug_stop", json!({}));
    server.ok("test_debug_single", test);
    environment.write("go", "");
    let stop = data(&mut server, "debug_wait_for_hit", json!({"timeoutMs": PATIENCE_MS}));
    assert_eq!(
        (&stop["test"], &stop["location"]["line"]),
        (&json!("fails"), &json!(3)),
        "{stop:#}"
    );
    assert_eq!(stop["exception"]["type"], "panic", "{stop:#}");
}

#[test]
fn a_test_of_rust_and_one_of_go() {
    let environment = configured();
    environment.write("Cargo.toml", "[package]\nname = \"sums\"\nedition = \"2021\"\n");
    let lib = "pub fn add(a: i32, b: i32) -> i32 {\n    let sum = a - b;\n    println!(\"{sum}\");\n    sum\n}\n\n#[test]\nfn other() {\n    panic!(\"not this one\");\n}\n\n#[test]\nfn adds() {\n    assert_eq!(add(2, 3), 5);\n}\n";
    environment.write("src/lib.rs", lib);
    environment.write("sums/go.mod", "module sums\n\ngo 1.19\n");
    environment.write(
        "sums/sums.go",
        "package sums\n\nfunc Add(a, b int) int {\n\tsum := a - b\n\treturn sum\n}\n",
    );
    let tests = "package sums\n\nimport \"testing\"\n\nfunc TestOther(t *testing.T) {\n\tt.Fatal(\"not this one\")\n}\n\nfunc TestAdds(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n";
    environment.write("sums/sums_test.go", tests);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    for (source, line, test, test_line, name) in [
        ("src/lib.rs", 3, "src/lib.rs", 14, "adds"),
        ("sums/sums.go", 5, "sums/sums_test.go", 10, "TestAdds"),
    ] {
        data(&mut server, "breakpoint_set", json!({"path": source, "line": line}));
        let arguments = json!({"path": test, "line": test_line, "timeoutMs": PATIENCE_MS});
        let stop = data(&mut server, "test_debug_single", arguments);
        assert_eq!(
            (&stop["test"], &stop["location"]["line"]),
            (&json!(name), &json!(line)),
            "{stop:#}"
        );
        assert_eq!(local(&stop, "sum")["value"], "-1");
        data(&mut server, "breakpoint_clear_project", json!({}));
        let end = data(&mut server, "debug_continue", json!({"timeoutMs": PATIENCE_MS}));
        let failure = if name == "adds" { "panic" } else { "test failure" };
        assert_eq!(end["exception"]["type"], failure, "{end:#}");
        data(&mut server, "debug_stop", json!({}));
    }
}

#[test]
fn findings_and_symbols_of_a_python_project() {
    let (environment, mut server) = python_project();
    environment.write("broken.py", "import os\n\nprint(undefined_name)\n");
    let found = data(&mut server, "diagnostic_collect", json!({"path": "broken.py"}));
    let all = found["diagnostics"].to_string();
    assert!(all.contains("undefined_name"), "{found:#}");
    assert!(found["tools"].to_string().contains("ruff"), "{found:#}");
    let missing = server.error("diagnostic_collect", json!({"path": "nowhere.py"})).0;
    assert_eq!(missing, "E_FILE_NOT_FOUND");
    let (code, text) = server.error("symbol_navigate", json!({"symbol": "total"}));
    assert_eq!(code, "E_INVALID_PARAMS", "{text}");
}

#[test]
fn symbols_by_the_language_server_of_the_project() {
    let environment = configured();
    let modules = crate::support::repository("tests/debuggers/node_modules");
    std::os::unix::fs::symlink(modules, environment.path().join("node_modules")).expect("a link");
    environment.write(
        "tsconfig.json",
        "{\"compilerOptions\": {\"strict\": true}, \"include\": [\"*.ts\"]}",
    );
    environment.write(
        "add.ts",
        "export function add(a: number, b: number): number {\n  return a + b;\n}\n",
    );
    environment.write("use.ts", "import { add } from './add';\n\nexport function twice(n: number) {\n  return add(n, n);\n}\n");
    environment.write("scripts/any.ts", "declare const any: any;\nany.add(1, 2);\nexport {};\n");
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    let which = json!({"path": "add.ts", "symbol": "add", "timeoutMs": 40_000});
    let (code, _) = server.error("symbol_navigate", which);
    assert_eq!(code, "E_INVALID_PARAMS", "it takes no timeoutMs");
    let which = json!({"path": "add.ts", "symbol": "add"});
    let answer = server.ok("symbol_navigate", which.clone());
    let found = &answer.structured["data"];
    assert!(found["locations"].to_string().contains("use.ts"), "{found:#}");
    let missed = json!([{"path": "scripts/any.ts", "lines": [2]}]);
    assert_eq!(found["maybeMissed"], missed);
    assert!(answer.text.ends_with("maybeMissed: check them by hand."), "{}", answer.text);
    let calls = data(&mut server, "symbol_calls", which.clone());
    assert_eq!(calls["calls"][0]["name"], "twice", "{calls:#}");
    let mut renaming = which.clone();
    renaming["newName"] = json!("plus");
    let renamed = data(&mut server, "symbol_rename", renaming);
    assert_eq!((&renamed["total"], &renamed["maybeMissed"]), (&json!(2), &missed), "{renamed:#}");
    assert!(environment.read("use.ts").contains("return plus(n, n);"));
    let search = data(&mut server, "search_symbol_search", json!({"query": "plus"}));
    let id = search["symbols"][0]["nodeId"].clone();
    let replacement = "export function plus(a: number, b: number): number {\n  return b + a;\n}";
    let arguments = json!({"nodeId": id, "replacement": replacement});
    let replaced = data(&mut server, "code_replace_method", arguments);
    assert!(
        replaced["diff"].as_str().expect("a diff").contains("+  return b + a;"),
        "{replaced:#}"
    );
    assert!(environment.read("add.ts").contains("b + a"));
    let (code, text) = server.error("symbol_calls", which);
    assert_eq!(code, "E_SYMBOL_NOT_FOUND", "{text}");
    assert_eq!(server.close(), Some(0));
}

#[test]
fn a_test_of_javascript() {
    let environment = configured();
    environment
        .write("sums.js", "exports.add = (a, b) => {\n  const sum = a - b;\n  return sum;\n};\n");
    let tests = "const test = require('node:test');\n\
                 const assert = require('node:assert');\n\
                 const { add } = require('./sums');\n\n\
                 test('other', () => {\n  throw new Error('not this one');\n});\n\n\
                 test('adds', () => {\n  assert.strictEqual(add(2, 3), 5);\n});\n";
    environment.write("sums.test.js", tests);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    data(&mut server, "breakpoint_set", json!({"path": "sums.js", "line": 3}));
    let arguments = json!({"path": "sums.test.js", "line": 10, "timeoutMs": PATIENCE_MS});
    let stop = data(&mut server, "test_debug_single", arguments);
    assert_eq!((&stop["test"], &stop["runner"]), (&json!("adds"), &json!("node:test")), "{stop:#}");
    assert_eq!(local(&stop, "sum")["value"], "-1");
    data(&mut server, "breakpoint_clear_project", json!({}));
    let mut output = String::new();
    loop {
        let halt = data(&mut server, "debug_continue", json!({"timeoutMs": PATIENCE_MS}));
        output.push_str(halt["output"].as_str().unwrap_or_default());
        if halt["state"] == "exited" {
            assert_eq!(halt["exit"]["code"], 1, "{halt:#}");
            break;
        }
    }
    assert!(!output.contains("not this one"), "{output}");
}

#[test]
fn a_tool_that_reads_code_is_not_sent_to_the_debugger() {
    let environment = TestEnvironment::new();
    environment.write("app.py", "def total(): pass\n");
    // A language server that never answers.
    let server = environment.write("bin/pyright-langserver", "#!/bin/sh\nexec sleep 1000\n");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(server, executable).expect("a script can be run");
    let mut command = environment.command(TERMBRIDGE);
    let path = format!("{}/bin:/usr/bin:/bin", environment.path().display());
    command.args(["mcp", "--toolsets", "debug", "--timeout", "10ms"]).env("PATH", path);
    let mut server = Client::start(&mut command).expect("starts");
    server.initialize(PROTOCOL).expect("shakes hands");
    let which = json!({"path": "app.py", "symbol": "total"});
    let answer = server.call("symbol_navigate", which).expect("answers");
    let error = &answer.structured["error"];
    assert_eq!(
        (&error["code"], &error["next_tools"]),
        (&json!("E_TIMEOUT"), &json!([])),
        "{error}"
    );
    assert!(!answer.text.contains("timeoutMs") && !answer.text.contains("debug_"), "{error}");
}

const GTEST: &str = r"
#include <gtest/gtest.h>
TEST(Calc, Adds) {
    int sum = 1 + 1;
    EXPECT_EQ(sum, 3);
    ASSERT_TRUE(sum > 2);
}
";
const CATCH2: &str = r#"
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
TEST_CASE("adds") {
    int sum = 1 + 1;
    CHECK(sum == 3);
    REQUIRE(sum > 2);
}
"#;

#[test]
fn each_failing_cpp_assertion_is_reported_as_a_test_failure() {
    for (name, source, libraries) in [
        ("calc_test.cpp", GTEST, &["-lgtest", "-lgtest_main", "-pthread"][..]),
        ("catch_test.cpp", CATCH2, &[]),
    ] {
        let environment = configured();
        environment.write(name, source);
        environment.write("build/empty", "");
        let options = [&["-g", name, "-o", "build/tests"], libraries].concat();
        compile(&environment, "g++", &options);
        let mut server = environment.debug_server(TERMBRIDGE, &[]);
        let line = source.lines().position(|line| line.contains("int sum")).expect("a line") + 1;
        let test = json!({"path": name, "line": line, "timeoutMs": PATIENCE_MS});
        let mut stop = data(&mut server, "test_debug_single", test);
        for line in [line + 1, line + 2] {
            assert_eq!(stop["location"]["line"], line, "{stop:#}");
            let exception = (&stop["exception"]["type"], &stop["exception"]["message"]);
            let message = "an assertion failed; debug_continue runs to the next";
            assert_eq!(exception, (&json!("test failure"), &json!(message)), "{stop:#}");
            stop = data(&mut server, "debug_continue", json!({}));
        }
        assert_eq!(stop["state"], "exited", "{stop:#}");
    }
}
