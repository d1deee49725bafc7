use serde_json::json;
use termbridge_bridge::code::diagnostics::Findings;
use termbridge_bridge::debug::answer::{Exception, Exit, Location, LogEntry, Logs};

use super::*;

fn shown(answer: &Answer) -> String {
    of(answer, Path::new("/w"), &|_| true)
}

fn frame(id: u64, name: &str, path: &str, line: u64) -> Frame {
    let (name, path) = (name.to_owned(), Some(path.to_owned()));
    Frame { id, name, path, line: Some(line), column: None, subtle: false }
}

fn variable(name: &str, value: &str, kind: &str, reference: Option<u64>) -> Variable {
    Variable {
        name: name.into(),
        value: value.into(),
        kind: Some(kind.into()),
        variables_reference: reference,
        ..Variable::default()
    }
}

fn location(path: &str, line: u64, function: &str) -> Location {
    Location { path: path.into(), line, column: None, function: function.into() }
}

fn stopped(stop: Stop) -> Answer {
    Answer::Halt(Halt::Stop(Box::new(Stop { session_id: "s1".into(), ..stop })))
}

fn ended(code: i64, output: Option<&str>) -> Answer {
    let how = format!("exit code {code}");
    let exit = Exit { code: Some(code), signal: None, how, goes_on: false };
    Answer::Halt(Halt::End(Box::new(End {
        session_id: Some("s1".into()),
        program: Some("app.py".into()),
        exit: Some(exit),
        output: output.map(str::to_owned),
        ..End::default()
    })))
}

fn evaluated(result: &str, kind: &str, reference: u64) -> Answer {
    Answer::Evaluated(Evaluated {
        result: result.into(),
        cut: None,
        kind: Some(kind.into()),
        variables_reference: reference,
        named_variables: None,
        indexed_variables: None,
    })
}

#[test]
fn a_stop_reads_as_a_person_would_write_it() {
    let stop = stopped(Stop {
        reason: "breakpoint".into(),
        location: Some(location("/w/app.py", 3, "total")),
        source: Some("  2  a = \"/w/x\"\n> 3  return a".into()),
        locals: vec![variable("a", "1", "int", None), variable("items", "[1, 2]", "list", Some(9))],
        frames: vec![frame(4, "total", "/w/app.py", 3), frame(5, "main", "/lib/x.py", 8)],
        thread_id: Some(1),
        thread: Some("MainThread".into()),
        output: Some("hello\n".into()),
        ..Stop::default()
    });
    let expected = "Stopped (breakpoint) at app.py:3 in total [session s1]\n  2  a = \"/w/x\"\n> 3  return a\n\
        Locals:\n  a = 1 (int)\n  items = [1, 2] (list) [ref 9]\nStack:\n  #4 total app.py:3\n  #5 main /lib/x.py:8\n\
        Output:\nhello";
    assert_eq!(shown(&stop), expected);
}

#[test]
fn a_value_over_several_lines_is_one_line_of_the_locals() {
    let stop = stopped(Stop {
        reason: "step".into(),
        locals: vec![variable("text", "class A {\n  run() {}\n}", "function", None)],
        ..Stop::default()
    });
    let expected =
        "Stopped (step) [session s1]\nLocals:\n  text = class A {\\n  run() {}\\n} (function)";
    assert_eq!(shown(&stop), expected);
}

#[test]
fn escape_sequences_do_not_reach_a_model() {
    let end = ended(0, Some("\x1b[31mred\x1b[0m\n\x1b]0;title\x07 10%\r100%\nnext\n"));
    let expected = "app.py ended: exit code 0 [session s1]\nOutput:\nred\n100%\nnext";
    assert_eq!(shown(&end), expected);
    let entry = LogEntry {
        seq: None,
        time: 5,
        category: "stdout".into(),
        text: "\x1b[1mbold".into(),
        source: None,
    };
    let logs = Answer::Logs(Logs { entries: vec![entry], total: 1, dropped: None });
    assert_eq!(
        shown(&logs),
        r#"{"entries":[{"category":"stdout","text":"bold","time":5}],"total":1}"#
    );
}

#[test]
fn types_are_told_where_the_value_does_not() {
    for (value, told, expected) in [
        ("User { age: 3 }", "User", "User { age: 3 }"),
        ("User", "User", "User"),
        ("User { age: 3 }", "&mut &User", "User { age: 3 }"),
        ("User { age: 3 }", "&User<u8>", "User { age: 3 }"),
        ("Users", "User", "Users (User)"),
        ("<Cart items=[]>", "Cart", "<Cart items=[]>"),
        ("\"a\"", "String", "\"a\""),
        ("'a'", "char", "'a' (char)"),
        ("true", "bool", "true"),
        ("7", "u8", "7 (u8)"),
        ("Some(3)", "Option<u8>", "Some(3) (Option<u8>)"),
    ] {
        assert_eq!(shown(&evaluated(value, told, 0)), expected);
    }
    let list = evaluated("[1]", "list", 4);
    assert_eq!(shown(&list), "[1] (list) [variablesReference 4]");
    assert_eq!(of(&list, Path::new("/w"), &|_| false), "[1] (list)");
    assert_eq!(shown(&evaluated("", "None", 0)), "(no value)");
}

#[test]
fn libraries_are_named_without_where_they_are_installed() {
    for (path, expected) in [
        ("/rustc/59807616e1fa2540/library/core/src/panicking.rs", "core/src/panicking.rs"),
        (
            "/home/u/.rustup/toolchains/x/lib/rustlib/src/rust/library/std/src/rt.rs",
            "std/src/rt.rs",
        ),
        (
            "/home/u/.cargo/registry/src/index.crates.io-1949/serde-1.0.0/src/de.rs",
            "serde-1.0.0/src/de.rs",
        ),
        ("/usr/include/stdio.h", "/usr/include/stdio.h"),
        ("/w/library/core/src/x.rs", "library/core/src/x.rs"),
    ] {
        let frames = vec![frame(4, "f", path, 3)];
        let stack = Stack { thread_id: Some(1), frames, total: None, next: None };
        assert_eq!(shown(&Answer::Stack(stack)), format!("Thread 1:\n  #4 f {expected}:3"));
    }
    let stop = stopped(Stop {
        reason: "exception".into(),
        location: Some(location("/w/a_test.go", 9, "app.TestX")),
        raised_in: Some(frame(1, "runtime.gopanic", "/usr/lib/go/panic.go", 8)),
        waiting_threads: Some(2),
        ..Stop::default()
    });
    let expected = "Stopped (exception) at a_test.go:9 in app.TestX [session s1]\n\
        Other threads that stopped too: 2 (debug_continue reports them one by one)\n\
        Raised in runtime.gopanic (/usr/lib/go/panic.go:8)";
    assert_eq!(shown(&stop), expected);
}

#[test]
fn places_of_breakpoints() {
    let function = Place { function: Some("add".into()), ..Place::default() };
    let bound = Place { function: Some("add".into()), ..Place::line("/w/a.c", 3) };
    let data = Place { variable: Some("x".into()), access: Some("read"), ..Place::default() };
    for (place, state, message, expected) in [
        (function, "pending", Some("why"), "Breakpoint on function add is pending: why"),
        (bound, "verified", None, "Breakpoint on function add at a.c:3 is verified"),
        (data, "verified", None, "Breakpoint on read of x is verified"),
    ] {
        let message = message.map(str::to_owned);
        let breakpoint = Box::new(Breakpoint { place, state, message, ..Breakpoint::default() });
        assert_eq!(shown(&Answer::Breakpoint { breakpoint }), expected);
    }
}

#[test]
fn an_end_tells_how() {
    assert_eq!(shown(&ended(3, None)), "app.py ended: exit code 3 [session s1]");
    let mut left = ended(3, None);
    let Answer::Halt(Halt::End(end)) = &mut left else { panic!("an end") };
    end.exit.as_mut().expect("an exit").goes_on = true;
    assert_eq!(shown(&left), "app.py is no longer debugged; it keeps running [session s1]");
}

#[test]
fn a_status_is_a_line_a_session() {
    let none = Status { active: false, paused: false, sessions: Vec::new() };
    assert_eq!(shown(&Answer::Status(none)), "Nothing is being debugged.");
    let stopped = SessionView {
        session_id: "s1".into(),
        state: "stopped",
        program: Some("/w/app.py".into()),
        reason: Some("breakpoint".into()),
        location: Some(frame(4, "total", "/w/app.py", 3)),
        ..SessionView::default()
    };
    let running = SessionView {
        session_id: "s2".into(),
        state: "running",
        configuration: Some("Web".into()),
        ..SessionView::default()
    };
    let status = Status { active: true, paused: true, sessions: vec![stopped, running] };
    let expected =
        "app.py is stopped (breakpoint) at app.py:3 in total [session s1]\nWeb runs [session s2]";
    assert_eq!(shown(&Answer::Status(status)), expected);
}

#[test]
fn what_nobody_checked_is_not_called_clean() {
    let none = Findings { diagnostics: Vec::new(), total: 0, cut: false, tools: Vec::new() };
    assert!(shown(&Answer::Diagnostics(none)).starts_with("Nothing was checked"));
}

#[test]
fn what_has_no_form_of_its_own_is_json() {
    let data = json!({"threads": [{"id": 1}], "path": "/w/a"});
    assert_eq!(shown(&Answer::Other(data)), r#"{"path":"a","threads":[{"id":1}]}"#);
}

#[test]
fn what_was_cut_of_the_variables_can_be_read_on() {
    let mut list = variable("list", "[1, …]", "list", Some(7));
    list.scope = Some("Locals".into());
    list.children = vec![variable("[0]", "1", "int", None)];
    list.children_left_out = Some(41);
    let rest = ScopeRest { scope: "Locals".into(), variables_reference: 3, start: 1, count: 46 };
    let variables =
        Variables { variables: vec![list], truncated: true, left_out: Some(46), rest: vec![rest] };
    let answer = Answer::Variables(variables);
    let all = "Locals:\n  list = [1, …] (list) [ref 7]\n    [0] = 1 (int)\n    … 41 more: start 1\n\
               … 46 more of Locals: debug_get_variable variablesReference 3, start 1";
    assert_eq!(shown(&answer), all);
    let core = of(&answer, Path::new("/w"), &|tool| tool != REFERENCES);
    assert!(core.ends_with("\n… 46 more; debug_evaluate shows one by its name"), "{core}");
}

#[test]
fn an_exception_without_a_message_is_its_type() {
    let exception = Exception { kind: "app::Error".into(), message: None, stack: None };
    let stop = Stop { reason: "exception".into(), exception: Some(exception), ..Stop::default() };
    let text = shown(&stopped(stop));
    assert!(text.lines().any(|line| line == "app::Error"), "{text}");
}
