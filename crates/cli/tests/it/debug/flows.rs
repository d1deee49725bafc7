//! What an agent does with a program, the same in every language.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Language, PATIENCE_MS, Program, Subject, local};
use crate::support::{await_end_of, built, is_running};

macro_rules! flows {
    ($($module:ident: $language:ident),*) => {$(
        mod $module {
            use super::super::Language;

            #[test]
            fn breakpoints_steps_and_values() {
                super::breakpoints_steps_and_values(Language::$language);
            }

            #[test]
            fn a_log_message_and_a_count() {
                super::a_log_message_and_a_count(Language::$language);
            }

            #[test]
            fn crash_threads_and_restart() {
                super::crash_threads_and_restart(Language::$language);
            }

            #[test]
            fn pause_and_end() {
                super::pause_and_end(Language::$language);
            }

            #[test]
            fn attach_and_leave() {
                super::attach_and_leave(Language::$language);
            }
        }
    )*};
}

flows!(python: Python, c: C, rust: Rust, go: Go, javascript: JavaScript);

fn breakpoints_steps_and_values(language: Language) {
    let mut subject = Subject::new(language);
    let pending = subject.break_at("add", json!({}));
    assert_eq!((&pending["state"], &pending["verified"]), (&json!("pending"), &json!(false)));
    let stop = subject.start("sum");
    subject.is_at(&stop, "add");
    assert_eq!(stop["reason"], "breakpoint");
    assert!(stop["location"]["function"].as_str().expect("a name").contains("add"), "{stop:#}");
    let current =
        stop["source"].as_str().expect("source").lines().find(|line| line.starts_with('>'));
    assert!(current.expect("a current line").contains("mark: add"), "{stop:#}");
    assert_eq!(
        (&local(&stop, "a")["value"], &local(&stop, "b")["value"]),
        (&json!("0"), &json!("0"))
    );
    let listed = subject.call("breakpoint_list", json!({}));
    assert_eq!(
        (&listed["total"], &listed["breakpoints"][0]["state"]),
        (&json!(1), &json!("verified"))
    );

    let set = subject.break_at("add", json!({"condition": "b == 3"}));
    assert_eq!((&set["state"], &set["condition"]), (&json!("verified"), &json!("b == 3")));
    let stop = subject.go_on();
    assert_eq!(local(&stop, "b")["value"], "3");
    let frame = stop["frames"][0]["id"].clone();

    let sum = subject.call("debug_evaluate", json!({"expression": "a + b", "context": "watch"}));
    assert!(sum["result"].as_str().expect("a result").contains('6'), "{sum}");
    let wrong = json!({"expression": "no_such_name", "context": "watch"});
    assert_eq!(subject.code("debug_evaluate", wrong), "E_EVALUATE_FAILED");
    let scopes = subject.call("debug_scopes", json!({"frameId": frame}));
    assert!(!scopes["scopes"].as_array().expect("scopes").is_empty());

    let stop = subject.step("debug_step_over");
    subject.is_at(&stop, "return");
    assert_eq!(subject.code("debug_scopes", json!({"frameId": frame})), "E_STALE_REFERENCE");
    let stop = subject.step("debug_step_out");
    let function = stop["location"]["function"].as_str().expect("a name").to_lowercase();
    assert!(function.contains("all"), "{function}");
    assert_eq!(subject.call("breakpoint_clear_project", json!({}))["cleared"], 1);

    // Some debuggers stop before the assignment of what was returned.
    subject.break_at("call", json!({}));
    let stop = subject.go_on();
    subject.is_at(&stop, "call");
    let set = subject.call("debug_set_variable", json!({"name": "total", "value": "100"}));
    assert_eq!(set["value"], "100");
    let tree = subject.server.ok("debug_list_variables", json!({"maxDepth": 2}));
    assert!(tree.text.contains("total = 100"), "{}", tree.text);
    let values = local(&stop, if language == Language::C { "point" } else { "values" });
    let inside = json!({"variablesReference": values["variablesReference"], "count": 2});
    let page = subject.call("debug_get_variable", inside);
    assert!(page["variables"].to_string().contains("10"), "{page:#}");

    let stop = subject.step("debug_step_into");
    assert!(stop["location"]["function"].as_str().expect("a name").contains("add"), "{stop:#}");
    let stack = subject.call("debug_stack", json!({"start": 1, "count": 1}));
    let caller = stack["frames"][0]["name"].as_str().expect("a name").to_lowercase();
    assert!(caller.contains("all"), "{stack:#}");
    let file = subject.language.file();
    let cleared = subject.call("breakpoint_clear_file", json!({"path": file}));
    assert_eq!(cleared["cleared"], 1);
    let end = subject.go_on();
    assert_eq!((&end["state"], &end["exit"]["code"]), (&json!("exited"), &json!(3)), "{end:#}");
    let output = end["output"].as_str().expect("output");
    assert!(output.contains("total 104") && !output.contains("bug report"), "{end:#}");
    assert_eq!(subject.code("debug_continue", json!({})), "E_PROGRAM_EXITED");
    assert_eq!(subject.server.close(), Some(0));
}

fn a_log_message_and_a_count(language: Language) {
    let mut subject = Subject::new(language);
    subject.break_at("return", json!({"logMessage": "b is {b}"}));
    subject.break_at("add", json!({"hitCondition": "3"}));
    let stop = subject.start("sum");
    subject.is_at(&stop, "add");
    assert_eq!(local(&stop, "b")["value"], "2", "the third call");
    let line = subject.line("add");
    let file = subject.language.file();
    let removed = subject.call("breakpoint_remove", json!({"path": file, "line": line}));
    assert_eq!(removed["removed"], true);
    let end = subject.go_on();
    assert_eq!(end["exit"]["code"], 3, "{end:#}");
    let logs = subject.call("dap_logs", json!({"count": 200}));
    let texts = logs["entries"].to_string();
    assert!(texts.contains("b is 0") && texts.contains("b is 4"), "{logs:#}");
    // What the program prints meanwhile may stand before it on the same line.
    let found = subject.call("dap_search", json!({"pattern": "b is \\d$"}));
    assert_eq!(found["total"], 5, "{found:#}\n{logs:#}");
}

fn crash_threads_and_restart(language: Language) {
    let mut subject = Subject::new(language);
    let stop = subject.start("crash");
    subject.is_at(&stop, "crash");
    assert_eq!(stop["reason"], "exception", "{stop:#}");
    if language == Language::Rust {
        let said = stop["exception"]["message"].as_str().expect("what the panic said");
        assert!(said.contains("index out of bounds"), "{said}");
    }
    let exceptions = subject.call("dap_exceptions", json!({}));
    assert_eq!(exceptions["total"], 1, "{exceptions:#}");
    let ended = subject.call("debug_stop", json!({}));
    assert_eq!(ended["stopped"], true);

    subject.break_at("work", json!({}));
    let stop = subject.start("threads");
    subject.is_at(&stop, "work");
    assert_eq!(local(&stop, "answer")["value"], "42");
    let threads = subject.call("debug_threads", json!({}));
    let list = threads["threads"].as_array().expect("threads");
    let mine = list.iter().find(|thread| thread["id"] == stop["threadId"]).expect("in the list");
    assert_eq!(mine["state"], "stopped");
    let least = if language == Language::JavaScript { 1 } else { 2 };
    assert!(list.len() >= least, "{threads:#}");

    let again = subject.call("debug_restart", json!({}));
    assert_eq!(again["sessionId"], stop["sessionId"]);
    let stop = subject.call("debug_wait_for_hit", json!({"timeoutMs": PATIENCE_MS}));
    subject.is_at(&stop, "work");
    let end = subject.go_on();
    assert_eq!(end["state"], "exited", "{end:#}");
    let tracked = subject.call("debug_tracker", json!({}));
    assert!(tracked["total"].as_u64().expect("a number") >= 2, "{tracked:#}");
}

fn pause_and_end(language: Language) {
    let mut subject = Subject::new(language);
    let mut arguments = subject.arguments("loop");
    arguments["wait"] = json!(false);
    let started = subject.call("debug_start", arguments);
    assert!(started["sessionId"].is_string(), "{started:#}");
    let late = subject.server.call("debug_wait_for_hit", json!({"timeoutMs": 50}));
    let late = late.expect("an answer");
    let error = &late.structured["error"];
    assert_eq!(error["code"], "E_TIMEOUT");
    assert!(late.text.contains("subject"), "the program is named: {}", late.text);
    assert_eq!(error["details"]["sessionId"], started["sessionId"], "{error:#}");
    let frameless = json!({"expression": "1"});
    let code = subject.code("debug_evaluate", frameless);
    assert_eq!(code, "E_NOT_PAUSED");

    let pid = looping(&mut subject);
    let stop = subject.call("debug_pause", json!({}));
    assert_eq!(stop["state"], "stopped", "{stop:#}");
    let status = subject.call("debug_status", json!({}));
    assert_eq!((&status["active"], &status["paused"]), (&json!(true), &json!(true)));
    let running = subject.call("debug_continue", json!({"wait": false}));
    assert_eq!(running["state"], "running");
    assert!(is_running(pid));
    // The server ends, and with it the program that nobody stopped.
    assert_eq!(subject.server.close(), Some(0));
    await_end_of(pid);
}

/// The number of the process that a looping program is.
#[track_caller]
fn looping(subject: &mut Subject) -> i64 {
    loop {
        let found = subject.call("dap_search", json!({"pattern": "looping \\d+"}));
        if let Some(line) = found["matches"][0]["text"].as_str() {
            let number = line.split("looping ").nth(1).expect("a number");
            return number.trim().parse().expect("a number");
        }
        std::thread::yield_now();
    }
}

fn attach_and_leave(language: Language) {
    let mut subject = Subject::new(language);
    let path = subject.environment.path().join(language.program());
    let serve = "import debugpy, runpy, sys\n\
                 print('port', debugpy.listen(('127.0.0.1', 0))[1], flush=True)\n\
                 debugpy.wait_for_client()\n\
                 sys.argv = sys.argv[1:]\n\
                 runpy.run_path(sys.argv[0], run_name='__main__')";
    let mut command = match language {
        Language::Python => {
            let mut command = Command::new(built("test-venv/bin/python"));
            command.args(["-Xfrozen_modules=off", "-c", serve]).arg(path);
            command
        }
        Language::JavaScript => {
            let mut command = Command::new("node");
            // Where it opens its inspector once it is asked to.
            command.arg("--inspect-port=127.0.0.1:0").arg(path).stderr(Stdio::null());
            command
        }
        Language::Go => {
            super::compile(
                &subject.environment,
                "go",
                &["build", "-gcflags=all=-N -l", "-o", "subject", "."],
            );
            Command::new(subject.environment.path().join("subject"))
        }
        Language::C | Language::Rust => Command::new(path),
    };
    let (program, output) = Program::spawn(command.arg("loop"));
    let pid = program.child.id();
    let mut output = BufReader::new(output);
    let attached = match language {
        Language::Python => {
            let port = line_with(&mut output, "port ");
            let port: u16 =
                port.trim().rsplit(' ').next().and_then(|port| port.parse().ok()).expect("a port");
            subject.call("debug_attach", json!({"port": port, "type": "python"}))
        }
        Language::JavaScript => {
            line_with(&mut output, "looping ");
            subject.break_at("loop", json!({}));
            subject.call("debug_attach", json!({"pid": pid}))
        }
        Language::Go | Language::C | Language::Rust => {
            line_with(&mut output, "looping ");
            subject.call("debug_attach", json!({"pid": pid}))
        }
    };
    assert_eq!(attached["request"], "attach", "{attached:#}");
    subject.break_at("loop", json!({}));
    let stop = subject.call("debug_wait_for_hit", json!({"timeoutMs": PATIENCE_MS}));
    subject.is_at(&stop, "loop");
    let turns = subject.call("debug_evaluate", json!({"expression": "turns", "context": "watch"}));
    assert!(turns["result"].as_str().is_some_and(|turns| turns.parse::<u64>().is_ok()), "{turns}");
    subject.call("breakpoint_clear_project", json!({}));
    let end = subject.call("debug_stop", json!({}));
    assert!(end["exit"]["how"].as_str().expect("how").contains("keeps running"), "{end:#}");
    assert_eq!(subject.server.close(), Some(0));
    assert!(is_running(i64::from(pid)), "it goes on");
}

fn line_with(lines: &mut impl BufRead, text: &str) -> String {
    let mut line = String::new();
    while !line.contains(text) {
        line.clear();
        assert!(lines.read_line(&mut line).expect("a line") > 0, "no line with {text:?}");
    }
    line
}

#[test]
fn two_runs_are_compared() {
    let mut subject = Subject::new(Language::Python);
    let mut runs = Vec::new();
    for value in ["0", "50"] {
        subject.break_at("print", json!({}));
        let stop = subject.start("sum");
        subject.is_at(&stop, "print");
        subject.call("debug_set_variable", json!({"name": "total", "value": value}));
        runs.push(stop["sessionId"].clone());
        subject.go_on();
    }
    let arguments = json!({"sessionA": runs[0], "sessionB": runs[1], "compareBy": "outputs"});
    let compared = subject.call("dap_compare", arguments);
    assert_eq!(compared["differences"], 1, "{compared:#}");
    let shown = compared.to_string();
    assert!(shown.contains("total 0 3") && shown.contains("total 50 3"), "{compared:#}");
    let same = json!({"sessionA": runs[0], "sessionB": runs[0]});
    assert_eq!(subject.code("dap_compare", same), "E_INVALID_PARAMS");
}

#[test]
fn a_run_is_compared_with_the_one_before_its_restart() {
    let mut subject = Subject::new(Language::Python);
    subject.break_at("print", json!({}));
    let stop = subject.start("sum");
    subject.call("debug_set_variable", json!({"name": "total", "value": "50"}));
    subject.go_on();
    let again = json!({"wait": true, "timeoutMs": PATIENCE_MS});
    let restarted = subject.server.ok("debug_restart", again);
    let (session, before) =
        (stop["sessionId"].clone(), &restarted.structured["data"]["previousRun"]);
    let said = format!("Its run before is {}.", before.as_str().expect("a name"));
    assert!(restarted.text.contains(&said), "{}", restarted.text);
    subject.go_on();
    let both = json!({"sessionA": before, "sessionB": session, "compareBy": "outputs"});
    let shown = subject.call("dap_compare", both).to_string();
    assert!(shown.contains("total 50 3") && shown.contains("total 10 3"), "{shown}");
    let unknown = json!({"sessionA": before, "sessionB": "nobody"});
    let (code, text) = subject.server.error("dap_compare", unknown);
    assert_eq!(code, "E_NO_SESSION");
    for name in [before, &session] {
        assert!(text.contains(name.as_str().expect("a name")), "{text}");
    }
}

#[test]
fn the_event_store_answers_every_question() {
    let mut subject = Subject::new(Language::Python);
    let stop = subject.start("crash");
    subject.is_at(&stop, "crash");
    assert_eq!(stop["exception"]["type"], "ValueError", "{stop:#}");
    let exceptions = subject.call("dap_exceptions", json!({}));
    assert_eq!(
        (&exceptions["total"], &exceptions["exceptions"][0]["type"]),
        (&json!(1), &json!("ValueError"))
    );
    let filters = json!({"events": ["stopped"], "reasons": ["exception"]});
    let filtered = subject.call("dap_filter", json!({"filters": filters}));
    assert_eq!(filtered["total"], 1, "{filtered:#}");
    let unknown = json!({"filters": {"colour": "red"}});
    assert_eq!(subject.code("dap_filter", unknown), "E_INVALID_PARAMS");
    let stats = subject.call("dap_stats", json!({"groupBy": "event"}));
    assert!(stats["chart"].as_str().expect("a chart").contains("stopped"), "{stats:#}");
    let timeline = subject.call("dap_timeline", json!({"granularity": "milestones"}));
    assert!(timeline["events"].to_string().contains("stopped"), "{timeline:#}");
    let summary = subject.call("dap_summary", json!({"compact": true}));
    assert_eq!(
        (&summary["status"], &summary["next"]),
        (&json!("active"), &json!(["dap_exceptions"]))
    );
    subject.go_on();
    // What is over can still be asked for, by its name, also after the server was started anew.
    let session = stop["sessionId"].clone();
    let mut next = subject.environment.debug_server(crate::TERMBRIDGE, &[]);
    let summary = super::data(&mut next, "dap_summary", json!({"sessionId": session}));
    assert_eq!(summary["status"], "ended", "{summary:#}");
}

#[test]
fn a_large_value_is_saved_to_a_file() {
    let mut subject = Subject::new(Language::Python);
    subject.break_at("print", json!({}));
    subject.start("sum");
    let save = json!({"expression": "list(range(3000))", "outputPath": "out.ndjson"});
    let saved = subject.call("debug_save_variable", save);
    assert_eq!(saved["truncated"], false, "{saved:#}");
    let lines = subject.environment.read("out.ndjson");
    assert!(lines.lines().count() >= 3000 && lines.contains("\"2999\""), "{saved:#}");
    let text: Value = serde_json::from_str(lines.lines().next().expect("a line")).expect("JSON");
    assert_eq!(text["value"], "0");
}

#[test]
fn long_containers_are_paged_and_saved_whole() {
    let environment = super::configured();
    let script = "const list = Array.from({length: 3000}, (_, i) => ({n: i}));\n\
                  const wide = Object.fromEntries(list.map((one, i) => ['key' + i, i]).slice(0, 150));\n\
                  console.log(list.length, Object.keys(wide).length);\n";
    environment.write("long.js", script);
    let program = "items = list(range(3000))\ntext = 'x' * 5000\nprint(len(items))\n";
    environment.write("long.py", program);
    let mut server = environment.debug_server(crate::TERMBRIDGE, &[]);
    for (file, name) in [("long.js", "list"), ("long.py", "items")] {
        super::data(&mut server, "breakpoint_set", json!({"path": file, "line": 3}));
        let start = json!({"program": file, "wait": true, "timeoutMs": PATIENCE_MS});
        let started = super::data(&mut server, "debug_start", start);
        assert_eq!(started["stop"]["location"]["line"], 3, "{started:#}");
        let value = super::data(
            &mut server,
            "debug_evaluate",
            json!({"expression": name, "context": "watch"}),
        );
        let mut page = json!({
            "variablesReference": value["variablesReference"], "filter": "indexed",
            "start": 1200, "count": 3,
        });
        let found = super::data(&mut server, "debug_get_variable", page.clone());
        let names: Vec<u64> = found["variables"]
            .as_array()
            .expect("variables")
            .iter()
            .map(|one| one["name"].as_str().expect("a name").parse().expect("an index"))
            .collect();
        assert_eq!(names, [1200, 1201, 1202], "{file}: {found:#}");
        assert_eq!(found["next"], 1203);
        page["start"] = json!(2999);
        let last = super::data(&mut server, "debug_get_variable", page);
        assert_eq!(last["variables"].as_array().map(Vec::len), Some(1), "{file}: {last:#}");
        assert_eq!(last["next"], Value::Null, "{last:#}");
        let save = json!({"expression": name, "outputPath": "saved.ndjson"});
        let saved = super::data(&mut server, "debug_save_variable", save);
        assert_eq!(saved["truncated"], false);
        let lines = environment.read("saved.ndjson");
        assert!(lines.lines().filter(|line| !line.contains("len()")).count() == 3000, "{saved:#}");
        if file == "long.js" {
            let listed =
                super::data(&mut server, "debug_list_variables", json!({"scope": "local"}));
            assert_eq!(listed["truncated"], true, "150 are more than are shown");
        } else {
            let save = json!({"expression": "text", "outputPath": "saved.ndjson"});
            super::data(&mut server, "debug_save_variable", save);
            assert!(environment.read("saved.ndjson").contains(&"x".repeat(5000)), "all of it");
        }
        super::data(&mut server, "debug_stop", json!({}));
    }
    let left = std::fs::read_dir(environment.path()).expect("a folder").flatten();
    let partial =
        left.filter(|file| file.file_name().to_string_lossy().contains("partial")).count();
    assert_eq!(partial, 0);
}

#[test]
fn typescript_stops_in_its_source_while_it_is_loaded() {
    let environment = super::configured();
    environment.write(
        "src/app.ts",
        "function double(n: number): number {\n  return n * 2;\n}\n\nconsole.log(double(21));\n",
    );
    let tsc = crate::support::repository("tests/debuggers/node_modules/typescript/bin/tsc");
    let arguments = [&tsc, "--sourceMap", "--outDir", "dist", "src/app.ts"];
    super::compile(&environment, "node", &arguments);
    let mut server = environment.debug_server(crate::TERMBRIDGE, &[]);
    super::data(&mut server, "breakpoint_set", json!({"path": "src/app.ts", "line": 2}));
    let start = json!({"program": "dist/app.js", "wait": true, "timeoutMs": PATIENCE_MS});
    let stop = super::data(&mut server, "debug_start", start)["stop"].take();
    assert_eq!(stop["location"]["line"], 2, "{stop:#}");
    let path = stop["location"]["path"].as_str().expect("a path");
    assert!(path.ends_with("src/app.ts"), "{path}");
    assert_eq!(local(&stop, "n")["value"], "21");
}

#[test]
fn every_child_of_a_pool_is_reported_and_writes_once() {
    let environment = super::configured();
    let program = "import multiprocessing as mp\n\
                   def work(n):\n    \
                       return n * 2\n\n\
                   if __name__ == '__main__':\n    \
                       import subprocess, sys\n    \
                       subprocess.run([sys.executable, '-c', \"print('from a child')\"])\n    \
                       with mp.Pool(2) as pool:\n        \
                           print(pool.map(work, range(6), chunksize=1))\n";
    environment.write("pool.py", program);
    let mut server = environment.debug_server(crate::TERMBRIDGE, &[]);
    super::data(&mut server, "breakpoint_set", json!({"path": "pool.py", "line": 3}));
    let start = json!({"program": "pool.py", "wait": true, "timeoutMs": PATIENCE_MS});
    let mut halt = super::data(&mut server, "debug_start", start)["stop"].take();
    let (mut seen, mut output) = (Vec::new(), String::new());
    while halt["state"] == "stopped" {
        seen.push(local(&halt, "n")["value"].as_str().expect("a value").to_owned());
        output.push_str(halt["output"].as_str().unwrap_or_default());
        halt = super::data(&mut server, "debug_continue", json!({"timeoutMs": PATIENCE_MS}));
    }
    output.push_str(halt["output"].as_str().unwrap_or_default());
    seen.sort();
    assert_eq!(seen, ["0", "1", "2", "3", "4", "5"], "{output}");
    assert_eq!(output.matches("from a child").count(), 1, "{output}");
    assert!(output.contains("[0, 2, 4, 6, 8, 10]") && !output.contains("warning"), "{output}");
}

#[test]
fn a_value_that_cannot_be_made_is_an_error() {
    let mut subject = Subject::new(Language::Python);
    subject.break_at("call", json!({}));
    subject.start("sum");
    for value in ["'open", "no_such_name"] {
        let code = subject.code("debug_set_variable", json!({"name": "total", "value": value}));
        assert_eq!(code, "E_EVALUATE_FAILED", "{value}");
    }
    let set = subject.call("debug_set_variable", json!({"name": "total", "value": "0"}));
    assert_eq!(set["value"], "0", "the same value again is no error");
}

#[test]
fn a_breakpoint_that_was_never_bound_is_named_at_the_end() {
    let mut subject = Subject::new(Language::JavaScript);
    subject.environment.write("other.js", "console.log(1);\n");
    subject.call("breakpoint_set", json!({"path": "other.js", "line": 1}));
    subject.break_at("call", json!({}));
    let stop = subject.start("sum");
    subject.is_at(&stop, "call");
    let file = subject.language.file();
    subject.call("breakpoint_clear_file", json!({"path": file}));
    let end = subject.go_on();
    let unbound = end["unboundBreakpoints"].as_array().expect("one was not");
    assert_eq!(unbound.len(), 1, "{end:#}");
    assert!(unbound[0]["path"].as_str().is_some_and(|path| path.ends_with("other.js")));
}
