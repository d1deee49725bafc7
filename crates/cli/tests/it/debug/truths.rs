//! What programs do that debuggers do not expect: texts that are no Unicode, values that hang, ends from
//! outside.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use termbridge_testkit::Server;

use super::{PATIENCE_MS, Program, compile, configured, data};
use crate::TERMBRIDGE;
use crate::support::built;

#[track_caller]
fn start(server: &mut Server, program: &str) -> Value {
    let arguments = json!({"program": program, "wait": true, "timeoutMs": PATIENCE_MS});
    data(server, "debug_start", arguments)["stop"].take()
}

#[test]
fn texts_that_are_no_unicode_end_no_session() {
    let environment = configured();
    let python = "import sys\n\n\nclass Half:\n    def __repr__(self):\n        return 'half \\ud800'\n\n\n\
        half = Half()\nsys.stdout.buffer.write(b'caf\\xe9\\n')\nsys.stdout.flush()\nprint('the end')\n";
    environment.write("half.py", python);
    let script = "const half = '\\u{1f600}abc'.slice(0, 1);\nconsole.log('the end');\n";
    environment.write("half.js", script);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    for program in ["half.py", "half.js"] {
        server.ok("breakpoint_set", json!({"path": program, "text": "the end"}));
        let stop = start(&mut server, program);
        assert_eq!(stop["state"], "stopped", "{stop:#}");
        let half = super::local(&stop, "half");
        assert!(half["value"].as_str().is_some_and(|value| value.contains('\u{fffd}')), "{half}");
        let end = data(&mut server, "debug_continue", json!({"timeoutMs": PATIENCE_MS}));
        assert_eq!(end["exit"]["code"], 0, "{end:#}");
        assert!(end["output"].as_str().is_some_and(|text| text.contains("the end")), "{end:#}");
    }
}

#[test]
fn a_value_whose_own_code_hangs_costs_the_values_and_not_the_stop() {
    let environment = configured();
    let python = "import time\n\n\nclass Slow:\n    def __repr__(self):\n        time.sleep(600)\n\n\n\
        def work():\n    slow = Slow()\n    return slow  # here\n\n\nwork()\n";
    environment.write("slow.py", python);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    server.ok("breakpoint_set", json!({"path": "slow.py", "text": "# here"}));
    let arguments = json!({"program": "slow.py", "wait": true, "timeoutMs": PATIENCE_MS});
    let started = server.ok("debug_start", arguments);
    assert!(started.text.contains("slow.py:11 in work"), "{}", started.text);
    assert!(started.text.contains("Locals: not read in time"), "{}", started.text);
    let status = server.ok("debug_status", json!({}));
    assert!(status.text.contains("is stopped (breakpoint)"), "{}", status.text);
    server.ok("debug_stop", json!({}));
}

#[test]
fn a_breakpoint_of_another_language_is_not_verified() {
    let environment = configured();
    environment.write("main.py", "print('one')\nprint('two')\n");
    environment.write("main.rs", "fn main() {\n    println!(\"x\");\n}\n");
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    server.ok("breakpoint_set", json!({"path": "main.py", "line": 1}));
    start(&mut server, "main.py");
    let set = server.ok("breakpoint_set", json!({"path": "main.rs", "line": 2}));
    let why = "no program of its language is being debugged";
    assert!(set.text.contains("is pending") && set.text.contains(why), "{}", set.text);
    let listed = server.ok("breakpoint_list", json!({})).text;
    assert!(listed.contains("main.py:1 is verified") && listed.contains(why), "{listed}");
}

#[test]
fn output_that_is_not_kept_is_counted() {
    let environment = configured();
    let python = "for _ in range(12_000):\n    print('x' * 999)\nprint('the end')\n";
    environment.write("much.py", python);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    let end = start(&mut server, "much.py");
    assert_eq!(end["exit"]["code"], 0, "{end:#}");
    let shown = end["output"].as_str().expect("output");
    assert!(shown.ends_with("the end\n"), "{end:#}");
    let left_out = end["outputLeftOut"].as_u64().expect("a count");
    assert_eq!(left_out + shown.len() as u64, 12_000_000 + 8);
}

#[test]
fn functions_in_one_line_have_their_arguments() {
    let environment = configured();
    let source = "#include <string>\nstatic int add(int a, int b) { return a + b; }\n\
        static int letters(const std::string& text) { return (int)text.size(); }\n\
        struct Q { int v; int plus(int k) const { return v + k; } };\n\
        int main() {\n    std::string word = \"hello\";\n    int sum = add(3, 4);\n    sum = add(sum, 5) - 5;\n    Q q{7};\n    \
        int more = q.plus(letters(word));\n    return sum + more;\n}\n";
    environment.write("short.cpp", source);
    compile(&environment, "g++", &["-g", "-O0", "short.cpp", "-o", "short"]);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    server.ok("breakpoint_set", json!({"path": "short.cpp", "line": 2}));
    server.ok("breakpoint_set", json!({"function": "letters"}));
    let value = |stop: &Value, name: &str| super::local(stop, name)["value"].clone();
    let stop = start(&mut server, "short");
    assert_eq!((value(&stop, "a"), value(&stop, "b")), (json!("3"), json!("4")), "{stop:#}");
    assert_eq!((&stop["reason"], &stop["location"]["line"]), (&json!("breakpoint"), &json!(2)));
    let wait = json!({"timeoutMs": PATIENCE_MS});
    let stop = data(&mut server, "debug_continue", wait.clone());
    assert_eq!((value(&stop, "a"), value(&stop, "b")), (json!("7"), json!("5")), "{stop:#}");
    let stop = data(&mut server, "debug_continue", wait.clone());
    assert_eq!(value(&stop, "text"), "\"hello\"", "{stop:#}");
    data(&mut server, "debug_step_out", wait.clone());
    let stop = data(&mut server, "debug_step_into", wait.clone());
    assert_eq!((&stop["reason"], value(&stop, "k")), (&json!("step"), json!("5")), "{stop:#}");
    assert_eq!(value(&stop, "this"), "&{v: 7}", "{stop:#}");
    let end = data(&mut server, "debug_continue", wait);
    assert_eq!(end["exit"]["code"], 19, "{end:#}");
}

#[test]
fn a_step_that_a_breakpoint_interrupts_is_over() {
    let environment = configured();
    let source = "int inner(int n) {\n    return n + 1;\n}\nint main(void) {\n    \
        int total = inner(1);\n    total += 1;\n    return total;\n}\n";
    environment.write("steps.c", source);
    compile(&environment, "gcc", &["-g", "steps.c", "-o", "steps"]);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    server.ok("breakpoint_set", json!({"path": "steps.c", "line": 5}));
    server.ok("breakpoint_set", json!({"path": "steps.c", "line": 2}));
    start(&mut server, "steps");
    let wait = json!({"timeoutMs": PATIENCE_MS});
    let stop = data(&mut server, "debug_step_over", wait.clone());
    let place = (&stop["reason"], &stop["location"]["line"]);
    assert_eq!(place, (&json!("breakpoint"), &json!(2)), "{stop:#}");
    let end = data(&mut server, "debug_continue", wait);
    assert_eq!(end["exit"]["code"], 3, "{end:#}");
}

#[test]
fn a_condition_beside_hits_is_not_half_kept() {
    let environment = configured();
    environment.write("rows.py", "for i in range(5):\n    print(i)\n");
    environment.write("rows.js", "for (let i = 0; i < 5; i++)\n  console.log(i);\n");
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    for (program, ignored) in [("rows.py", "the condition"), ("rows.js", "the hit condition")] {
        let place = json!({"path": program, "line": 2, "condition": "i > 1", "hitCondition": "2"});
        server.ok("breakpoint_set", place);
        let arguments = json!({"program": program, "wait": true, "timeoutMs": PATIENCE_MS});
        let end = server.ok("debug_start", arguments);
        assert_eq!(end.structured["data"]["stop"]["state"], "exited", "{}", end.text);
        let said = format!("ignores {ignored} of a breakpoint that has both");
        assert!(end.text.contains("is not set: ") && end.text.contains(&said), "{}", end.text);
    }
    environment.write("rows.c", "int main(void) {\n    int sum = 0;\n    for (int i = 0; i < 5; i++)\n        sum += i;\n    return sum;\n}\n");
    compile(&environment, "gcc", &["-g", "rows.c", "-o", "rows"]);
    let place = json!({"path": "rows.c", "line": 4, "condition": "i > 1", "hitCondition": "2"});
    server.ok("breakpoint_set", place);
    let stop = start(&mut server, "rows");
    assert_eq!(super::local(&stop, "i")["value"], "3", "{stop:#}");
}

#[test]
fn steps_show_what_is_so_also_after_a_change() {
    let environment = configured();
    let source = "int main(void) {\n    int total = 1;\n    total += 1;\n    total += 2;\n    total += 3;\n    \
        total += 4;\n    total += 5;\n    return total;\n}\n";
    environment.write("sum.c", source);
    compile(&environment, "gcc", &["-g", "sum.c", "-o", "sum"]);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    server.ok("breakpoint_set", json!({"path": "sum.c", "line": 3}));
    start(&mut server, "sum");
    let wait = json!({"timeoutMs": PATIENCE_MS});
    let total = |stop: &Value| super::local(stop, "total")["value"].clone();
    for expected in ["2", "4"] {
        let stop = data(&mut server, "debug_step_over", wait.clone());
        assert_eq!(total(&stop), expected, "{stop:#}");
    }
    // What was asked of the adapter before the change is not shown after it.
    server.ok("debug_evaluate", json!({"expression": "total = 40"}));
    let listed = server.ok("debug_list_variables", json!({"scope": "local"})).text;
    assert!(listed.contains("total = 40"), "{listed}");
    for expected in ["43", "47"] {
        let stop = data(&mut server, "debug_step_over", wait.clone());
        assert_eq!(total(&stop), expected, "{stop:#}");
    }
    let end = data(&mut server, "debug_continue", wait);
    assert_eq!(end["exit"]["code"], 52, "{end:#}");
}

#[test]
fn a_kill_and_a_pause_are_called_so() {
    let environment = configured();
    let source = "#include <unistd.h>\nint main(void) {\n    for (;;)\n        usleep(1000);\n}\n";
    environment.write("loop.c", source);
    environment.write("other.py", "print(1)\n");
    compile(&environment, "gcc", &["-g", "loop.c", "-o", "loop"]);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    server.ok("breakpoint_set", json!({"path": "other.py", "line": 1}));
    // It is in its loop then, and not still being loaded.
    let place = json!({"path": "loop.c", "line": 4});
    server.ok("breakpoint_set", place.clone());
    start(&mut server, "loop");
    server.ok("breakpoint_remove", place);
    server.ok("debug_continue", json!({"wait": false}));
    let stop = data(&mut server, "debug_pause", json!({}));
    assert_eq!((&stop["reason"], &stop["exception"]), (&json!("pause"), &Value::Null), "{stop:#}");
    server.ok("debug_continue", json!({"wait": false}));
    let status = data(&mut server, "debug_status", json!({}));
    let pid = status["sessions"][0]["pid"].as_i64().expect("a pid");
    let pid = Pid::from_raw(i32::try_from(pid).expect("a pid")).expect("a pid");
    kill_process(pid, Signal::KILL).expect("it runs");
    let end = server.ok("debug_wait_for_hit", json!({"timeoutMs": PATIENCE_MS}));
    assert!(end.text.contains("SIGKILL"), "{}", end.text);
    // It is of another language, and no business of this program.
    assert!(!end.text.contains("never bound"), "{}", end.text);
}

#[test]
fn breakpoints_of_python_count_in_libraries() {
    let environment = configured();
    environment.write("parse.py", "import json\n\nprint(json.loads('[1]'))\n");
    let mut python = Command::new(built("test-venv/bin/python"));
    let asked = python.args(["-c", "import json.decoder; print(json.decoder.__file__)"]).output();
    let library = String::from_utf8(asked.expect("Python").stdout).expect("a path");
    let place = json!({"path": library.trim(), "text": "obj, end = self.raw_decode("});
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    server.ok("breakpoint_set", json!({"path": "parse.py", "line": 3}));
    let stop = start(&mut server, "parse.py");
    assert_eq!(stop["location"]["line"], 3, "{stop:#}");
    let set = server.ok("breakpoint_set", place.clone());
    assert!(set.text.contains("debug_restart starts it so that"), "{}", set.text);
    server.ok("breakpoint_remove", json!({"path": "parse.py", "line": 3}));
    let arguments = json!({"wait": true, "timeoutMs": PATIENCE_MS});
    let stop = server.ok("debug_restart", arguments);
    assert!(stop.text.contains(" in decode "), "{}", stop.text);
    server.ok("debug_stop", json!({}));
    let stop = start(&mut server, "parse.py");
    assert_eq!(stop["location"]["function"], "decode", "{stop:#}");
}

#[test]
fn a_method_of_python_by_its_qualified_name() {
    let environment = configured();
    let source = "class Store:\n    def take(self):\n        return 1\n\n\nprint(Store().take())\n";
    environment.write("store.py", source);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    server.ok("breakpoint_set", json!({"function": "Store.take"}));
    let stop = start(&mut server, "store.py");
    assert_eq!(stop["location"]["function"], "take", "{stop:#}");
}

#[test]
fn an_attach_to_node_has_its_breakpoints_when_it_returns() {
    let environment = configured();
    let source = "const http = require('http');\n\nfunction handle(request, response) {\n  const size = request.url.length;\n  \
        response.end(String(size));\n}\n\nconst server = http.createServer(handle);\n\
        server.listen(0, '127.0.0.1', () => console.log(server.address().port));\n";
    environment.write("shop.js", source);
    let mut command = Command::new("node");
    let (program, output) = Program::spawn(command.arg(environment.path().join("shop.js")));
    let mut port = String::new();
    BufReader::new(output).read_line(&mut port).expect("a port");
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    server.ok("breakpoint_set", json!({"path": "shop.js", "text": "const size"}));
    server.ok("debug_attach", json!({"pid": program.child.id()}));
    let listed = data(&mut server, "breakpoint_list", json!({}));
    assert_eq!(listed["breakpoints"][0]["state"], "verified", "{listed:#}");
    let address = format!("127.0.0.1:{}", port.trim());
    let mut asked = TcpStream::connect(address).expect("it listens");
    write!(asked, "GET /abc HTTP/1.0\r\n\r\n").expect("a request");
    let stop = data(&mut server, "debug_wait_for_hit", json!({"timeoutMs": PATIENCE_MS}));
    assert_eq!(stop["location"]["line"], 4, "{stop:#}");
    server.ok("debug_stop", json!({}));
    let mut answer = String::new();
    asked.read_to_string(&mut answer).expect("an answer");
    assert!(answer.ends_with("\r\n\r\n4"), "{answer:?}");
}

const SMALL_C: &str = "int main(void) {\n    int n = 1;\n    n += 1; // here\n    return n;\n}\n";

#[test]
fn a_source_that_is_newer_than_its_program_is_reported_once() {
    let environment = configured();
    environment.write("small.c", SMALL_C);
    compile(&environment, "gcc", &["-g", "small.c", "-o", "small"]);
    let source = std::fs::File::options().write(true).open(environment.path().join("small.c"));
    let built = environment.path().join("small").metadata().and_then(|file| file.modified());
    let later = built.expect("a time") + std::time::Duration::from_secs(2);
    source.expect("is there").set_modified(later).expect("is set");
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    server.ok("breakpoint_set", json!({"path": "small.c", "text": "// here"}));
    let arguments = json!({"program": "small", "wait": true, "timeoutMs": PATIENCE_MS});
    let stop = server.ok("debug_start", arguments.clone());
    let said = "small.c was changed after the program was built";
    assert!(stop.text.contains(said), "{}", stop.text);
    let stop = server.ok("debug_step_over", json!({"timeoutMs": PATIENCE_MS}));
    assert!(!stop.text.contains(said), "{}", stop.text);
    server.ok("debug_stop", json!({}));
    compile(&environment, "touch", &["-d", "+1 hour", "small"]);
    let stop = server.ok("debug_start", arguments);
    assert!(!stop.text.contains(said), "{}", stop.text);
}

#[test]
fn a_program_without_debug_information_is_reported() {
    let environment = configured();
    environment.write("small.c", SMALL_C);
    compile(&environment, "gcc", &["small.c", "-o", "small"]);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    server.ok("breakpoint_set", json!({"path": "small.c", "text": "// here"}));
    let arguments = json!({"program": "small", "wait": true, "timeoutMs": PATIENCE_MS});
    let end = server.ok("debug_start", arguments);
    assert!(end.text.contains("small has no debug information: build it"), "{}", end.text);
    assert!(end.text.contains("was never bound to code"), "{}", end.text);
}

#[test]
fn a_wait_that_times_out_brings_what_the_program_wrote() {
    let environment = configured();
    let python = "import time\nprint('it began', flush=True)\ntime.sleep(600)\n";
    environment.write("slow.py", python);
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    data(&mut server, "debug_start", json!({"program": "slow.py"}));
    // Until it has written.
    loop {
        let late = server.call("debug_wait_for_hit", json!({"timeoutMs": 200})).expect("an answer");
        assert!(late.text.starts_with("[E_TIMEOUT]"), "{}", late.text);
        if late.text.ends_with("Output:\nit began") {
            assert_eq!(late.structured["error"]["details"]["output"], "it began\n");
            break;
        }
    }
    let end = server.ok("debug_stop", json!({}));
    assert!(!end.text.contains("it began"), "it was reported: {}", end.text);
}

#[test]
fn a_core_file_is_a_stop_that_cannot_run_on() {
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    if pattern.trim() != "core" {
        eprintln!("the system does not write core files into the working directory: {pattern}");
        return;
    }
    let environment = configured();
    let source = "int main(void) {\n    int *nowhere = 0;\n    *nowhere = 1;\n    return 0;\n}\n";
    environment.write("crash.c", source);
    compile(&environment, "gcc", &["-g", "crash.c", "-o", "crash"]);
    let mut run = Command::new("sh");
    run.args(["-c", "ulimit -c unlimited; exec ./crash"]).current_dir(environment.path());
    assert!(!run.status().expect("runs").success());
    let core = environment.path().read_dir().expect("a folder").flatten();
    let core = { core }.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let core = { core }.find(|name| name.starts_with("core")).expect("a core file");
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    let opened = server.ok("debug_start", json!({"core": core}));
    assert!(opened.text.starts_with("Stopped (exception) at crash.c:3 in main"), "{}", opened.text);
    assert!(opened.text.contains("signal: signal SIGSEGV"), "{}", opened.text);
    let (code, text) = server.error("debug_continue", json!({}));
    assert_eq!(code, "E_UNSUPPORTED_CAPABILITY");
    assert!(text.contains("running on from a core file"), "{text}");
    server.ok("debug_stop", json!({}));
    let core_path = format!("${{workspaceFolder}}/{core}");
    let program = "${workspaceFolder}/crash";
    let configurations = json!({"configurations": [
        {"name": "lldb-dap", "type": "lldb-dap", "request": "attach", "program": program, "coreFile": core_path},
        {"name": "cppdbg", "type": "cppdbg", "request": "launch", "program": program, "coreDumpPath": core_path},
    ]});
    environment.write(".vscode/launch.json", configurations.to_string());
    for name in ["lldb-dap", "cppdbg"] {
        let opened = server.ok("debug_start", json!({"launch": name, "wait": true}));
        assert!(opened.text.contains("(exception) at crash.c:3 in main"), "{}", opened.text);
        let (code, _) = server.error("debug_continue", json!({}));
        assert_eq!(code, "E_UNSUPPORTED_CAPABILITY", "{name}");
        server.ok("debug_stop", json!({}));
    }
    let (code, text) = server.error("debug_start", json!({"core": "crash.c"}));
    assert_eq!(code, "E_INVALID_PATH", "{text}");
    std::fs::remove_file(environment.path().join("crash")).expect("it was there");
    let (code, text) = server.error("debug_start", json!({"core": core}));
    assert_eq!(code, "E_FILE_NOT_FOUND");
    assert!(text.contains("`program`: the file that crashed"), "{text}");
}
