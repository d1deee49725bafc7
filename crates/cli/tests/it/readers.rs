//! Every tool, with success and with error, as each kind of client shows it to its model: nothing that is
//! needed may be missing.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use termbridge_mcp::client::Client;
use termbridge_testkit::TestEnvironment;

use crate::TERMBRIDGE;
use crate::debug::configured;
use crate::support::{built, repository};

/// What a client gives its model of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// Structured content instead of the text, but for errors (Claude Code, VS Code).
    Structured,
    /// All text (claude.ai, Cursor).
    Text,
    /// The first block of text.
    FirstBlock,
}

impl Reader {
    fn shows(self, result: &Value) -> String {
        let is_error = result["isError"] == true;
        let blocks = result["content"].as_array().into_iter().flatten();
        let mut texts = blocks.filter_map(|block| block["text"].as_str());
        match self {
            Self::Structured if !is_error && result["structuredContent"].is_object() => {
                result["structuredContent"].to_string()
            }
            Self::FirstBlock => texts.next().unwrap_or_default().to_owned(),
            _ => texts.collect::<Vec<_>>().join("\n"),
        }
    }
}

/// A fact that a model needs, in any of these words: those of the text, those of the structured content.
type Fact = &'static [&'static str];

/// A call, whether it succeeds, and what has to be shown of it.
struct Case {
    tool: &'static str,
    arguments: Value,
    succeeds: bool,
    facts: &'static [Fact],
}

fn works(tool: &'static str, arguments: Value, facts: &'static [Fact]) -> Case {
    Case { tool, arguments, succeeds: true, facts }
}

fn fails(tool: &'static str, arguments: Value, facts: &'static [Fact]) -> Case {
    Case { tool, arguments, succeeds: false, facts }
}

const NO_SESSION: &[Fact] = &[&["[SESSION_NOT_FOUND]"], &["no session nope"], &["list_sessions"]];
const NOTHING_DEBUGGED: &[Fact] = &[&["[E_NO_SESSION]"], &["debug_start", "debug_status"]];
const NO_EDITOR: &[Fact] = &[&["[E_"], &["editor", "Code"]];

fn terminal_cases() -> Vec<Case> {
    let nope = || json!({"session_id": "nope"});
    vec![
        works("create_session", json!({"name": "main"}), &[&["SHELL"], &["current"]]),
        fails(
            "create_session",
            json!({"cwd": "/nowhere"}),
            &[&["[INVALID_INPUT]"], &["/nowhere"], &["`cwd`"]],
        ),
        works(
            "execute_command",
            json!({"command": "echo one; (exit 3)"}),
            &[&["one"], &["exit 3", "\"exit_code\":3"]],
        ),
        works("execute_command", json!({"command": "cd /usr"}), &[&["/usr"]]),
        works(
            "execute_command",
            json!({"command": "read -p 'Name? ' name", "name": "asks"}),
            &[&["Name? "], &["needs_input"], &["ASKS"]],
        ),
        works(
            "execute_command",
            json!({"command": "read -s secret", "name": "secret"}),
            &[&["needs_input"], &["echo off", "\"echo\":\"off\""]],
        ),
        works(
            "execute_command",
            json!({"command": "sleep 1000", "timeout_ms": 10, "name": "slow"}),
            &[&["timed out", "\"timed_out\":true"], &["running"], &["SLOW"]],
        ),
        works(
            "execute_command",
            json!({"command": "python3 -q", "name": "repl"}),
            &[&["interactive"], &[">>>"]],
        ),
        works(
            "execute_command",
            json!({"command": "seq 9000; echo 'error: in the middle'; seq 9000; false", "name": "long"}),
            &[
                &["9000"],
                &["cut"],
                &["error: in the middle"],
                &["command/1"],
                &["exit 1", "\"exit_code\":1"],
            ],
        ),
        works(
            "get_terminal_output",
            json!({"session_id": "SHELL"}),
            &[&["one"], &["$ cd /usr"], &["cursor"], &["exit 0", "\"exit_code\":0"], &["/usr"]],
        ),
        fails(
            "execute_command",
            json!({"command": "echo 'open"}),
            &[&["[INVALID_INPUT]"], &["not a whole command"]],
        ),
        fails(
            "execute_command",
            json!({"command": "rm -rf /"}),
            &[&["[COMMAND_BLOCKED]"], &["ask the user"]],
        ),
        works("get_terminal_output", json!({"session_id": "SLOW"}), &[&["running"], &["SLOW"]]),
        fails("get_terminal_output", nope(), NO_SESSION),
        works("list_sessions", json!({}), &[&["SHELL"], &["main"], &["busy"], &["current"]]),
        fails(
            "list_sessions",
            json!({"everything": true}),
            &[&["[INVALID_INPUT]"], &["`everything`"], &["agent_id"]],
        ),
        works("switch_session", json!({"session_id": "SHELL"}), &[&["SHELL"], &["current"]]),
        fails("switch_session", nope(), NO_SESSION),
        works(
            "search_history",
            json!({"query": "one"}),
            &[
                &["echo one"],
                &["exit 3", "\"exit_code\":3"],
                &["SHELL"],
                &["#1", "\"command_id\":1"],
            ],
        ),
        fails(
            "search_history",
            json!({"query": "x", "from": "someday"}),
            &[&["[INVALID_INPUT]"], &["`from`"], &["someday"], &["RFC 3339", "2h"]],
        ),
        works(
            "launch_app",
            json!({"command": "bash", "args": ["--norc"], "env": {"PS1": "ready> "}}),
            &[&["ready>"], &["APP"]],
        ),
        fails(
            "launch_app",
            json!({"command": "no-such-program"}),
            &[&["[INVALID_INPUT]"], &["not found"], &["no-such-program"]],
        ),
        works(
            "send_keys",
            json!({"session_id": "APP", "keys": "echo $((6*7))<Enter>"}),
            &[&["42"]],
        ),
        works(
            "send_keys",
            json!({"session_id": "APP", "keys": "echo la''ter<Enter>", "wait": {"text": "later"}}),
            &[&["later"], &["text \"later\" at", "\"match\":"]],
        ),
        fails(
            "send_keys",
            json!({"session_id": "APP", "keys": "ls Enter"}),
            &[&["[INVALID_INPUT]"], &["ls<Enter>"], &["`text`"]],
        ),
        works(
            "view_screen",
            json!({"session_id": "APP"}),
            &[&["42"], &["80x24", "\"cols\":80"], &["cursor"], &["seq"]],
        ),
        fails("view_screen", nope(), NO_SESSION),
        works(
            "wait_for",
            json!({"session_id": "APP", "text": "42", "view": "plain"}),
            &[&["42"], &["text", "\"fired\":\"text\""], &["ready>"]],
        ),
        works(
            "wait_for",
            json!({"session_id": "APP", "text": "never", "timeout_ms": 10}),
            &[&["timed out", "\"timed_out\":true"]],
        ),
        fails("wait_for", json!({"session_id": "APP"}), &[&["[INVALID_INPUT]"], &["idle_ms"]]),
        works("get_cursor_position", json!({"session_id": "APP"}), &[&["row"], &["col"]]),
        fails("get_cursor_position", nope(), NO_SESSION),
        works("get_screen_size", json!({"session_id": "APP"}), &[&["24"], &["80"]]),
        fails("get_screen_size", nope(), NO_SESSION),
        works(
            "resize_terminal",
            json!({"session_id": "APP", "cols": 100, "rows": 30}),
            &[&["100"], &["30"]],
        ),
        fails(
            "resize_terminal",
            json!({"session_id": "APP", "cols": 1, "rows": 30}),
            &[&["[INVALID_INPUT]"], &["from 2 to 1000"]],
        ),
        works("restart_app", json!({"session_id": "APP"}), &[&["APP"]]),
        fails("restart_app", nope(), NO_SESSION),
        works("stop_app", json!({"session_id": "APP"}), &[&["SIG", "exit"]]),
        works("view_screen", json!({"session_id": "APP"}), &[&["exited"]]),
        fails(
            "send_keys",
            json!({"session_id": "APP", "keys": "x"}),
            &[&["[SESSION_DEAD]"], &["restart_app"]],
        ),
        fails("stop_app", nope(), NO_SESSION),
        works(
            "run_steps",
            json!({"steps": [
                {"tool": "execute_command", "arguments": {"command": "echo two"}, "save_as": "first"},
                {"tool": "execute_command", "arguments": {"command": "echo ${first.output}three"}},
            ]}),
            &[&["two"], &["twothree"], &["exit 0", "\"exit_code\":0"]],
        ),
        fails(
            "run_steps",
            json!({"steps": [
                {"tool": "execute_command", "arguments": {"command": "echo four; (exit 5)"}},
                {"tool": "list_sessions"},
            ]}),
            &[&["four"], &["exit 5", "\"exit_code\":5"], &["1 step did not run", "\"skipped\":1"]],
        ),
        fails(
            "run_steps",
            json!({"steps": [{"tool": "nothing"}]}),
            &[&["[INVALID_INPUT]"], &["nothing"]],
        ),
    ]
}

fn compat_cases() -> Vec<Case> {
    vec![
        works("create", json!({"name": "old"}), &[&["OLD"]]),
        fails("create", json!({}), &[&["[INVALID_INPUT]"], &["`name`"]]),
        works("run", json!({"command": "echo four"}), &[&["four"], &["exit: 0", "\"exitCode\":0"]]),
        fails(
            "run",
            json!({"command": "echo five; (exit 4)"}),
            &[&["five"], &["exit: 4", "\"exitCode\":4"]],
        ),
        works("exec", json!({"sessionId": "OLD", "command": "echo six"}), &[&["six"], &["OLD"]]),
        fails(
            "exec",
            json!({"sessionId": "nope", "command": "x"}),
            &[&["[SESSION_NOT_FOUND]"], &["list"]],
        ),
        works("read", json!({"sessionId": "OLD"}), &[&["six"], &["remaining"]]),
        fails("read", json!({"sessionId": "nope"}), &[&["[SESSION_NOT_FOUND]"], &["list"]]),
        works(
            "input",
            json!({"sessionId": "OLD", "input": "true"}),
            &[&["OLD", "success", "sent"]],
        ),
        fails(
            "input",
            json!({"sessionId": "nope", "input": "x"}),
            &[&["[SESSION_NOT_FOUND]"], &["list"]],
        ),
        works("list", json!({}), &[&["OLD"], &["old"]]),
        fails("list", json!({"x": 1}), &[&["[INVALID_INPUT]"], &["agentId"]]),
        works("close", json!({"sessionId": "OLD"}), &[&["OLD", "success"]]),
        fails("close", json!({"sessionId": "nope"}), &[&["[SESSION_NOT_FOUND]"], &["list"]]),
    ]
}

const APP: &str = "\
def double(n):
    result = n * 2
    return result


class Cart:
    def total(self):
        return double(21)


def test_total():
    assert Cart().total() == 41
if __name__ == '__main__':
    print('begins')
    items = [1, 2, 3]
    value = Cart().total()
    print(value, items)
";

/// In an order in which each finds what it needs.
fn debug_cases() -> Vec<Case> {
    let patient = || json!({"timeoutMs": 40_000});
    vec![
        fails("debug_continue", patient(), NOTHING_DEBUGGED),
        fails("debug_pause", json!({}), NOTHING_DEBUGGED),
        fails("debug_restart", json!({}), NOTHING_DEBUGGED),
        fails("debug_stop", json!({}), NOTHING_DEBUGGED),
        fails("debug_step_over", patient(), NOTHING_DEBUGGED),
        fails("debug_step_into", patient(), NOTHING_DEBUGGED),
        fails("debug_step_out", patient(), NOTHING_DEBUGGED),
        fails("debug_wait_for_hit", json!({"timeoutMs": 10}), NOTHING_DEBUGGED),
        fails("debug_set_next_line", json!({"line": 2}), NOTHING_DEBUGGED),
        fails("debug_stack", json!({}), NOTHING_DEBUGGED),
        fails("debug_threads", json!({}), NOTHING_DEBUGGED),
        fails("debug_scopes", json!({"frameId": 1}), NOTHING_DEBUGGED),
        fails("debug_evaluate", json!({"expression": "1"}), NOTHING_DEBUGGED),
        fails("debug_list_variables", json!({}), NOTHING_DEBUGGED),
        fails("debug_get_variable", json!({"variablesReference": 1}), NOTHING_DEBUGGED),
        fails("debug_set_variable", json!({"name": "a", "value": "1"}), NOTHING_DEBUGGED),
        fails(
            "debug_save_variable",
            json!({"expression": "a", "outputPath": "a.json"}),
            NOTHING_DEBUGGED,
        ),
        works("bridge_status", json!({}), &[&["native", "adapters"]]),
        works("debug_status", json!({}), &[&["Nothing is being debugged", "sessions"]]),
        works("debug_tracker", json!({}), &[&["{", "trac", "no "]]),
        works("breakpoint_set", json!({"path": "app.py", "line": 3}), &[&["app.py"], &["3"]]),
        fails(
            "breakpoint_set",
            json!({"path": "app.py", "line": 0}),
            &[&["[E_INVALID_PARAMS]"], &["`line`"]],
        ),
        works("breakpoint_list", json!({}), &[&["app.py"], &["3"]]),
        works(
            "debug_start",
            json!({"program": "app.py", "wait": true, "timeoutMs": 40_000}),
            &[
                &["breakpoint"],
                &["app.py"],
                &["result = 42", "\"value\":\"42\""],
                &["return result"],
                &["double"],
            ],
        ),
        fails("debug_start", json!({"program": "none.py"}), &[&["[E_"], &["none.py"]]),
        works("debug_stack", json!({}), &[&["total"], &["double"]]),
        works("debug_threads", json!({}), &[&["MainThread"]]),
        works("debug_scopes", json!({"frameId": "FRAME"}), &[&["Locals"]]),
        works("debug_evaluate", json!({"expression": "result + 1"}), &[&["43"], &["int"]]),
        fails("debug_evaluate", json!({"expression": "nowhere"}), &[&["[E_"], &["NameError"]]),
        works(
            "debug_evaluate",
            json!({"expression": "[n] * 3"}),
            &[&["[21, 21, 21]"], &["REFERENCE"]],
        ),
        works("debug_get_variable", json!({"variablesReference": "REFERENCE"}), &[&["21"], &["2"]]),
        works("debug_list_variables", json!({}), &[&["result"], &["42"]]),
        works("debug_set_variable", json!({"name": "result", "value": "50"}), &[&["50"]]),
        works(
            "debug_save_variable",
            json!({"expression": "result", "outputPath": "saved.json"}),
            &[&["saved.json"]],
        ),
        works("debug_step_over", patient(), &[&["step"], &["app.py"]]),
        works("debug_step_into", patient(), &[&["app.py"]]),
        works("debug_step_out", patient(), &[&["app.py"]]),
        works("debug_restart", json!({}), &[&["app.py", "started", "sessionId"]]),
        works("debug_wait_for_hit", patient(), &[&["breakpoint"], &["result"]]),
        fails(
            "debug_set_next_line",
            json!({"line": 14}),
            &[&["[E_INVALID_PARAMS]"], &["next line"]],
        ),
        works("debug_set_next_line", json!({"line": 3}), &[&["goto"], &["app.py"], &["result"]]),
        works("debug_continue", patient(), &[&["exit code 0"], &["42 [1, 2, 3]"]]),
        fails("debug_attach", json!({}), &[&["[E_"], &["pid"]]),
        works("dap_logs", json!({}), &[&["begins"]]),
        works("dap_search", json!({"pattern": "begins"}), &[&["begins"]]),
        fails("dap_search", json!({"pattern": "("}), &[&["[E_"], &["pattern"]]),
        works("dap_exceptions", json!({}), &[&["xception", "[]", "0"]]),
        works("dap_filter", json!({"filters": {}}), &[&["event", "type"]]),
        fails("dap_filter", json!({}), &[&["[E_INVALID_PARAMS]"], &["`filters`"]]),
        works("dap_stats", json!({}), &[&["stdout"]]),
        works("dap_summary", json!({}), &[&["app.py", "sessionId"]]),
        works("dap_timeline", json!({}), &[&["stopped", "breakpoint"]]),
        fails("dap_compare", json!({"sessionA": "a", "sessionB": "b"}), &[&["[E_"], &["a"]]),
        works("debug_start", json!({"program": "sleeps.py"}), &[&["session", "Session"]]),
        works("debug_pause", json!({}), &[&["pause"], &["sleep"]]),
        works("debug_stop", json!({}), &[&["stopped", "ended", "terminated", "sessions"]]),
        works("breakpoint_remove", json!({"path": "app.py", "line": 3}), &[&["emoved"]]),
        fails("breakpoint_remove", json!({"line": 3}), &[&["[E_INVALID_PARAMS]"], &["`path`"]]),
        works("breakpoint_clear_file", json!({"path": "app.py"}), &[&["0"]]),
        fails("breakpoint_clear_file", json!({}), &[&["[E_INVALID_PARAMS]"], &["`path`"]]),
        works("breakpoint_clear_project", json!({}), &[&["0"]]),
        works(
            "test_debug_single",
            json!({"path": "app.py", "line": 12, "timeoutMs": 40_000}),
            &[&["assert"], &["app.py"]],
        ),
        fails("test_debug_single", json!({"path": "app.py", "line": 1}), &[&["[E_"], &["test"]]),
        works("docs_list", json!({}), &[&["guide_first_steps"]]),
        works("docs_get", json!({"id": "guide_first_steps"}), &[&["breakpoint_set"]]),
        fails(
            "docs_get",
            json!({"id": "nothing"}),
            &[&["[E_"], &["nothing"], &["docs_list", "guide_first_steps"]],
        ),
        works("search_symbol_search", json!({"query": "twice"}), &[&["twice"], &["use.ts"]]),
        fails("search_symbol_search", json!({"limit": 0}), &[&["[E_"], &["limit", "query"]]),
        works(
            "symbol_navigate",
            json!({"path": "add.ts", "symbol": "add"}),
            &[&["use.ts"], &["4"]],
        ),
        fails(
            "symbol_navigate",
            json!({"path": "add.ts", "symbol": "none"}),
            &[&["[E_"], &["none"]],
        ),
        works("symbol_calls", json!({"path": "add.ts", "symbol": "add"}), &[&["twice"]]),
        fails("symbol_calls", json!({"path": "add.ts", "symbol": "none"}), &[&["[E_"], &["none"]]),
        works(
            "code_replace_method",
            json!({
                "path": "add.ts", "symbol": "add",
                "replacement": "export function add(a: number, b: number): number {\n  return b + a;\n}",
            }),
            &[&["add.ts"], &["return b + a"]],
        ),
        fails(
            "code_replace_method",
            json!({"path": "add.ts", "symbol": "none", "replacement": "x"}),
            &[&["[E_"], &["none"]],
        ),
        works(
            "symbol_rename",
            json!({"path": "add.ts", "symbol": "add", "newName": "plus"}),
            &[&["add.ts"], &["use.ts"]],
        ),
        fails(
            "symbol_rename",
            json!({"path": "add.ts", "symbol": "none", "newName": "x"}),
            &[&["[E_"], &["none"]],
        ),
        works(
            "diagnostic_collect",
            json!({"path": "app.py"}),
            &[&["diagnostics", "none", "problems"]],
        ),
        fails("diagnostic_collect", json!({"path": 3}), &[&["[E_INVALID_PARAMS]"], &["`path`"]]),
        fails("editor_get_context", json!({}), NO_EDITOR),
        fails("editor_goto_line", json!({"path": "app.py", "line": 1}), NO_EDITOR),
        fails("editor_show_testing_ui", json!({}), NO_EDITOR),
        fails("util_restart_vscode", json!({}), NO_EDITOR),
    ]
}

/// Tools that cannot succeed here.
const ONLY_FAIL: [&str; 6] = [
    // Without an editor.
    "editor_get_context",
    "editor_goto_line",
    "editor_show_testing_ui",
    "util_restart_vscode",
    // Needs a process and two runs: their own tests have them.
    "debug_attach",
    "dap_compare",
];

/// A client of a server.
struct Connection {
    client: Client,
    reader: Reader,
    /// What stands for ids in the cases, and the ids.
    ids: Vec<(&'static str, String)>,
}

impl Connection {
    fn new(environment: &TestEnvironment, name: &str, structured: &str, reader: Reader) -> Self {
        let mut command = environment.command(TERMBRIDGE);
        command.args(["mcp", "--toolsets", "all", "--structured", structured]);
        let mut client = Client::start(&mut command).expect("starts");
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": name, "version": "1"},
        });
        client.request("initialize", hello).expect("shakes hands");
        client
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .expect("sent");
        Self { client, reader, ids: Vec::new() }
    }

    fn filled(&self, text: &str) -> String {
        let fill = |text: String, (name, id): &(&str, String)| text.replace(name, id);
        self.ids.iter().fold(text.to_owned(), fill)
    }

    /// Runs the cases; which tools succeeded, and which failed as they should.
    fn run(&mut self, cases: Vec<Case>, wrong: &mut Vec<String>) -> BTreeSet<(String, bool)> {
        let mut seen = BTreeSet::new();
        for case in cases {
            let mut arguments: Value =
                serde_json::from_str(&self.filled(&case.arguments.to_string())).expect("JSON");
            for name in ["frameId", "variablesReference"] {
                let number = arguments[name].as_str().and_then(|text| text.parse::<u64>().ok());
                if let Some(number) = number {
                    arguments[name] = number.into();
                }
            }
            let what = format!("{:?} {} {arguments}", self.reader, case.tool);
            let call = json!({"name": case.tool, "arguments": arguments});
            let result = match self.client.request("tools/call", call) {
                Ok(result) => result,
                Err(error) => {
                    wrong.push(format!("{what}: {error}"));
                    continue;
                }
            };
            let shown = self.reader.shows(&result);
            let succeeded = result["isError"] != true;
            if succeeded != case.succeeds {
                wrong.push(format!("{what}: succeeded is {succeeded}: {shown}"));
            }
            let texts = result["content"].as_array().map_or(0, Vec::len);
            if texts != 1 || result["content"][0]["text"].as_str().is_none() {
                wrong.push(format!("{what}: not one block of text"));
            }
            self.learn(&case, &shown);
            for fact in case.facts {
                if !fact.iter().any(|words| shown.contains(&self.filled(words))) {
                    wrong.push(format!("{what}: nothing of {fact:?} in: {shown}"));
                }
            }
            if shown.contains('\u{1b}') {
                wrong.push(format!("{what}: escape sequences in: {shown}"));
            }
            seen.insert((case.tool.to_owned(), succeeded));
        }
        seen
    }

    /// Takes ids from what a model was shown, as the model has to.
    fn learn(&mut self, case: &Case, shown: &str) {
        let name = match (case.tool, case.arguments["name"].as_str()) {
            ("create_session", Some(_)) => "SHELL",
            ("execute_command", Some("asks")) => "ASKS",
            ("execute_command", Some("slow")) => "SLOW",
            ("launch_app", _) if case.succeeds => "APP",
            ("create", Some(_)) => "OLD",
            ("debug_stack", _) if case.succeeds => "FRAME",
            ("debug_evaluate", _) if case.arguments["expression"] == "[n] * 3" => "REFERENCE",
            _ => return,
        };
        let pattern = match name {
            "FRAME" => r#"(?:#|"id":)(\d+)"#,
            "REFERENCE" => r#"variablesReference"?[ :](\d+)"#,
            _ => r"\b([0-9a-z]{12})\b",
        };
        let pattern = regex::Regex::new(pattern).expect("a pattern");
        let last = pattern.captures_iter(shown).last();
        if let Some(id) = last.and_then(|found| found.get(1)) {
            self.ids.push((name, id.as_str().to_owned()));
        }
    }
}

fn check(name: &str, structured: &str, reader: Reader) {
    let environment = configured();
    environment.write("app.py", APP);
    environment.write("sleeps.py", "import time\nwhile True:\n    time.sleep(0.1)\n");
    environment.write(
        "add.ts",
        "export function add(a: number, b: number): number {\n  return a + b;\n}\n",
    );
    environment.write(
        "use.ts",
        "import { add } from './add';\n\nexport function twice(n: number) {\n  return add(n, n);\n}\n",
    );
    environment.write("tsconfig.json", "{\"include\": [\"*.ts\"]}");
    let link = |from: String, to: &str| symlink(from, environment.path().join(to)).expect("a link");
    // An interpreter with pytest, and TypeScript's language server.
    link(built("test-venv"), ".venv");
    link(repository("tests/debuggers/node_modules"), "node_modules");
    let mut connection = Connection::new(&environment, name, structured, reader);
    let listed = connection.client.request("tools/list", json!({})).expect("lists");
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for cases in [terminal_cases(), compat_cases(), debug_cases()] {
        seen.extend(connection.run(cases, &mut wrong));
    }
    for tool in listed["tools"].as_array().expect("tools") {
        let name = tool["name"].as_str().expect("a name");
        if !seen.contains(&(name.to_owned(), true)) && !ONLY_FAIL.contains(&name) {
            wrong.push(format!("{name} did not succeed"));
        }
        let call = json!({"name": name, "arguments": {"no_such_argument": 1}});
        let result = connection.client.request("tools/call", call).expect("answers");
        let shown = reader.shows(&result);
        if result["isError"] != true || !shown.contains("no_such_argument") {
            wrong.push(format!("{name} with an unknown argument: {shown}"));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_client_that_prefers_structured_content_and_is_known_gets_the_text() {
    check("claude-code", "auto", Reader::Structured);
}

#[test]
fn a_client_that_shows_structured_content_alone_shows_all() {
    check("another-client", "always", Reader::Structured);
}

#[test]
fn a_client_that_shows_the_text_shows_all() {
    check("claude-ai", "auto", Reader::Text);
}

#[test]
fn a_client_that_shows_the_first_block_shows_all() {
    check("first-block", "never", Reader::FirstBlock);
}
