//! Python through debugpy.

use std::process::Command;

use termbridge_dap::{
    Configuration, Debugger, EndReason, EvaluateContext, Halt, Page, Resume, Save, ScopeFilter,
    Settings, VariableFilter,
};

use crate::flows;
use crate::subject::{Language, Program, Subject, adapters, local, stopped};
use crate::support::LIMIT;

const LANGUAGE: Language = Language::Python;

#[tokio::test]
async fn breakpoints() {
    flows::breakpoints(LANGUAGE).await;
}

#[tokio::test]
async fn function_breakpoint() {
    flows::function_breakpoint(LANGUAGE, "add").await;
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
    assert_eq!(exception.id, "ValueError");
    assert_eq!(exception.message.as_deref(), Some("planted"));
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
async fn an_exit_with_a_code_counts_as_uncaught() {
    let subject = Subject::new(LANGUAGE);
    let session = subject.debugger.start(subject.configuration("sum")).await.expect("starts");
    let report = stopped(session.wait(LIMIT).await.expect("a stop"));
    assert_eq!(report.exception.expect("an exception").id, "SystemExit");
    assert_eq!(subject.run_out(&session).await.exit_code, Some(3));
}

#[tokio::test]
async fn raised_exceptions_stop_only_when_asked_for() {
    let subject = Subject::new(LANGUAGE);
    subject.break_at("start").await;
    let unknown = subject.configuration("sum").exceptions(["unheard-of"]);
    let error = subject.debugger.start(unknown).await.expect_err("unknown");
    assert_eq!(error.code(), "E_INVALID_PARAMS");
    let raised = subject.configuration("sum").exceptions(["raised"]);
    let session = subject.debugger.start(raised).await.expect("starts");
    subject.stop_at(&session, "start").await;
    let offered = session.exception_filters();
    assert!(offered.iter().any(|(name, _, default)| name == "uncaught" && *default), "{offered:?}");
    let report = subject.resume(&session, Resume::Continue).await;
    assert_eq!(report.exception.expect("an exception").id, "SystemExit");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn protected_variables_are_among_the_others() {
    let subject = Subject::new(LANGUAGE);
    let source = "def work():\n    _own = 1\n    return _own  # mark: own\n\n\nwork()\n";
    std::fs::write(&subject.source, source).expect("a source");
    subject.break_at("own").await;
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "own").await;
    let names: Vec<_> = report.locals.iter().map(|local| local.name.as_str()).collect();
    assert_eq!(names, ["_own"]);
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_child_process_is_debugged_too() {
    let subject = Subject::new(LANGUAGE);
    subject.break_at("add").await;
    let session = subject.start("child").await;
    let report = subject.stop_at(&session, "add").await;
    assert_eq!(local(&report, "b").value, "0");
    assert_eq!(session.info().children.len(), 1);
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn attach_to_a_server_and_leave_it() {
    let subject = Subject::new(LANGUAGE);
    let python = adapters().python.expect("Python");
    let serve = "import debugpy, runpy, sys\n\
                 print('port', debugpy.listen(('127.0.0.1', 0))[1], flush=True)\n\
                 debugpy.wait_for_client()\n\
                 sys.argv = sys.argv[1:]\n\
                 runpy.run_path(sys.argv[0], run_name='__main__')";
    let mut program = Program::spawn(
        Command::new(python)
            .args(["-Xfrozen_modules=off", "-c", serve])
            .arg(subject.program())
            .arg("loop"),
    );
    let port = program.line("port ").trim().rsplit(' ').next().and_then(|port| port.parse().ok());
    let folder = subject.folder.path();
    let configuration =
        Configuration::attach_to_server("python", "127.0.0.1", port.expect("a port"), folder);
    let session = subject.debugger.start(configuration).await.expect("attaches");
    program.line("looping ");
    subject.break_at("loop").await;
    subject.stop_at(&session, "loop").await;
    let end = session.stop().await.expect("leaves");
    assert_eq!(end.reason, EndReason::Detached);
    assert!(program.is_running(), "it goes on");
}

#[tokio::test]
async fn a_program_that_does_not_start_says_why() {
    let subject = Subject::new(LANGUAGE);
    let error = subject.debugger.start(subject.configuration("sum").with("program", "no.py")).await;
    assert_eq!(error.expect_err("fails").code(), "E_FILE_NOT_FOUND");
    let python = subject.configuration("sum").with("python", "/no/such/python");
    let error = subject.debugger.start(python).await.expect_err("fails");
    assert_eq!(error.code(), "E_LAUNCH_FAILED");
    assert!(error.to_string().contains("/no/such/python"), "{error}");
    assert!(subject.debugger.sessions().is_empty());
}

#[tokio::test]
async fn a_large_value_is_read_by_pages_and_saved() {
    let subject = Subject::new(LANGUAGE);
    subject.break_at("print").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "print").await;
    let path = subject.folder.path().join("saved.ndjson");
    let save = |expression: &str, max_items| Save {
        expression: expression.to_owned(),
        frame: None,
        context: EvaluateContext::Watch,
        path: path.clone(),
        page_size: 2,
        max_items,
    };
    let saved = session.save_variable(&save("[5, 6, 7, 8]", 3)).await.expect("is saved");
    assert_eq!((saved.items, saved.cut), (3, true));
    let text = std::fs::read_to_string(&path).expect("the file");
    assert_eq!(saved.bytes, text.len() as u64);
    assert_eq!(text.lines().count(), 3);
    let one = session.save_variable(&save("'x' * 2000", 0)).await.expect("is saved");
    assert_eq!((one.items, one.cut), (1, false));
    let whole = std::fs::read_to_string(&path).expect("the file");
    assert!(whole.contains(&"x".repeat(2000)), "a long text is written whole");
    assert!(one.value.value.ends_with("bytes more)"), "{}", one.value.value);
    // Bytes, and what is deep inside.
    let bytes = session.save_variable(&save("b'ab' * 50", 0)).await.expect("is saved");
    assert_eq!((bytes.items, bytes.cut), (1, false));
    let whole = std::fs::read_to_string(&path).expect("the file");
    assert!(whole.contains(&"ab".repeat(50)), "{whole}");
    session
        .evaluate("nested = [list(range(300_000))]", None, EvaluateContext::Repl)
        .await
        .expect("set");
    let nested = session.save_variable(&save("nested", 0)).await.expect("is saved");
    let part = std::fs::read_to_string(&path).expect("the file");
    assert!(nested.cut && part.contains(", ...]"), "what is left out within is said: {part}");
    session.evaluate("texts = ['z' * 900]", None, EvaluateContext::Repl).await.expect("set");
    let texts = session.save_variable(&save("texts", 0)).await.expect("is saved");
    let whole = std::fs::read_to_string(&path).expect("the file");
    assert!(!texts.cut && whole.contains(&"z".repeat(900)), "{whole}");
    // How much of a very long text there is the adapter does not say.
    let long = session.evaluate("'y' * 5_000_000", None, EvaluateContext::Watch).await;
    let long = long.expect("a value").value;
    assert!(long.contains("(more than ") && long.ends_with(" bytes more)"), "{long}");
    let nowhere = Save { path: "/no/such/folder/x".into(), ..save("1", 0) };
    let error = session.save_variable(&nowhere).await.expect_err("no folder");
    assert_eq!(error.code(), "E_INVALID_PATH");
    let plain = session.evaluate("1", None, EvaluateContext::Watch).await.expect("a value");
    let page = Page { start: 0, count: 1 };
    let error = session.variables(plain.reference, VariableFilter::All, page).await;
    assert_eq!(error.expect_err("nothing inside").code(), "E_NOT_EXPANDABLE");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn an_expression_can_be_changed_where_the_adapter_can() {
    let subject = Subject::new(LANGUAGE);
    subject.break_at("print").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "print").await;
    session.set_expression("values[0]", "77", None).await.expect("is changed");
    let value = session.evaluate("values[0]", None, EvaluateContext::Watch).await.expect("a value");
    assert_eq!(value.value, "77");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_module_is_debugged() {
    let subject = Subject::new(LANGUAGE);
    subject.break_at("work").await;
    let folder = subject.folder.path();
    let configuration = Configuration::module("python", "subject", folder).args(["threads"]);
    let session = subject.debugger.start(configuration).await.expect("starts");
    subject.stop_at(&session, "work").await;
    assert_eq!(session.info().program, "subject");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn several_at_once() {
    flows::several(LANGUAGE).await;
}

/// debugpy tells a signal by an exit code that a program may choose, too.
#[tokio::test]
async fn a_signal_is_named_beside_the_exit_code() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let program = folder.path().join("killed.py");
    std::fs::write(&program, "import os\nos.kill(os.getpid(), 9)\n").expect("written");
    let settings = Settings { adapters: adapters(), ..Settings::default() };
    let debugger = Debugger::new(settings);
    let configuration = Configuration::launch("python", &program, folder.path());
    let session = debugger.start(configuration).await.expect("starts");
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
    assert_eq!(end.how(), "exit code 247, which also stands for SIGKILL here");
}

#[tokio::test]
async fn exceptions_by_type() {
    flows::exceptions_by_type(LANGUAGE, &["ValueError"], &["ValueError"]).await;
    let seen = ["KeyError", "SubError"];
    flows::exceptions_by_type(LANGUAGE, &["LookupError", "AppError", "uncaught"], &seen).await;
    flows::exceptions_by_type(LANGUAGE, &["__main__.SubError"], &["SubError"]).await;
    flows::exceptions_by_type(LANGUAGE, &["NoSuchError"], &[]).await;
}

#[tokio::test]
async fn a_filter_that_is_none_is_refused() {
    let subject = Subject::new(LANGUAGE);
    let configuration = subject.configuration("sum").exceptions(["rised"]);
    let error = subject.debugger.start(configuration).await.expect_err("a typing error");
    assert_eq!(error.code(), "E_INVALID_PARAMS");
    assert!(error.to_string().contains("raised, uncaught"), "{error}");
}

/// Stops in a program of its own at the mark `here`.
async fn stop_in(
    source: &str,
) -> (Subject, termbridge_dap::DebugSession, termbridge_dap::StopReport) {
    let subject = Subject::new(LANGUAGE);
    std::fs::write(&subject.source, source).expect("a source");
    subject.break_at("here").await;
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "here").await;
    (subject, session, report)
}

#[tokio::test]
async fn containers_are_shown_as_the_program_prints_them() {
    let source = "import collections\n\
                  class Own(set):\n    pass\n\n\
                  def work():\n\
                  \x20   empty = set()\n\
                  \x20   bounded = collections.deque([1], maxlen=3)\n\
                  \x20   own = Own([1])\n\
                  \x20   nested = {'users': [{'name': 'a', 'tags': [('x', [1])]}]}\n\
                  \x20   itself = [1]\n\
                  \x20   itself.append(itself)\n\
                  \x20   many = [{'id': i} for i in range(1000)]\n\
                  \x20   return empty  # mark: here\n\n\
                  work()\n";
    let (_subject, session, report) = stop_in(source).await;
    for (name, value) in [
        ("empty", "set()"),
        ("bounded", "deque([1], maxlen=3)"),
        ("own", "Own({1})"),
        ("nested", "{'users': [{'name': 'a', 'tags': [('x', [1])]}]}"),
        ("itself", "[1, [...]]"),
    ] {
        assert_eq!(local(&report, name).value, value);
        let evaluated = session.evaluate(name, None, EvaluateContext::Repl).await;
        assert_eq!(evaluated.expect("a value").value, value);
    }
    let many = &local(&report, "many").value;
    assert!(many.starts_with("[{'id': 0}, {'id': 1}, ") && many.ends_with(", ...]"), "{many}");
    assert!(many.len() < 300, "{many}");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn nothing_is_a_result_and_a_statement_has_none() {
    let (_subject, session, _) = stop_in("x = None\nprint(x)  # mark: here\n").await;
    let evaluate = async |text: &str| {
        let value = session.evaluate(text, None, EvaluateContext::Repl).await.expect("a value");
        (value.value, value.kind.unwrap_or_default(), value.reference)
    };
    assert_eq!(evaluate("x").await, ("None".to_owned(), "NoneType".to_owned(), 0));
    assert_eq!(evaluate("y = 1").await, (String::new(), String::new(), 0));
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn slots_are_fields_and_a_frame_is_a_value() {
    let source = "import sys\n\
                  class Base:\n    __slots__ = ('x', 'unset')\n\
                  class Both(Base):\n\
                  \x20   def __init__(self):\n        self.x, self.y = 1, [2]\n\
                  def work():\n\
                  \x20   base, both, frame = Base(), Both(), sys._getframe()\n\
                  \x20   base.x = 'a'\n\
                  \x20   return frame  # mark: here\n\
                  work()\n";
    let (_subject, session, report) = stop_in(source).await;
    assert_eq!(local(&report, "base").value, "<Base x='a'>");
    assert_eq!(local(&report, "both").value, "<Both x=1, y=[2]>");
    // A second look finds the same variables.
    let names = ["base", "both", "frame"];
    for _ in 0..2 {
        let listed = flows::all_locals(&session, &report).await;
        let found: Vec<_> = listed.iter().map(|local| local.name.as_str()).collect();
        assert_eq!(found, names);
    }
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn functions_and_classes_are_values_where_a_variable_holds_them() {
    let source = "def plain():\n    return 1\n\n\
                  class Maker:\n\
                  \x20   class Inner:\n        pass\n\n\
                  \x20   def __init__(self):\n        self.callback = plain\n\n\
                  \x20   @classmethod\n\
                  \x20   def make(cls):\n\
                  \x20       made, table = cls(), [plain, int]\n\
                  \x20       return made  # mark: here\n\n\
                  alias = plain\n\
                  Maker.make()\n";
    let (_subject, session, report) = stop_in(source).await;
    let names = |report: &termbridge_dap::StopReport| -> Vec<String> {
        report.locals.iter().map(|local| local.name.clone()).collect()
    };
    assert_eq!(names(&report), ["cls", "made", "table"]);
    assert_eq!(local(&report, "cls").value, "<class '__main__.Maker'>");
    assert_eq!(local(&report, "made").value, "<Maker callback=...>");
    let made = session.evaluate("made", None, EvaluateContext::Repl).await.expect("a value");
    assert!(made.value.starts_with("<Maker callback=<function plain at 0x"), "{}", made.value);
    let all = Page { start: 0, count: 0 };
    for (name, inside) in [("made", vec!["callback"]), ("table", vec!["0", "1", "len()"])] {
        let reference = local(&report, name).reference;
        let children = session.variables(reference, VariableFilter::All, all).await.expect("some");
        let found: Vec<_> = children.iter().map(|child| child.name.as_str()).collect();
        assert_eq!(found, inside, "{name}");
    }
    // In a module a definition is no variable; what was given another name is.
    let subject_report =
        stopped(session.resume_and_wait(Resume::StepOut, None, LIMIT).await.expect("a stop"));
    let found = names(&subject_report);
    assert!(
        found.contains(&"alias".to_owned()) && !found.contains(&"plain".to_owned()),
        "{found:?}"
    );
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn an_exception_stops_once_where_it_is_raised() {
    let source = "import json\n\n\
                  def inner():\n    raise ValueError('own')  # mark: own\n\n\
                  def outer():\n    inner()\n\n\
                  def attempt(function):\n\
                  \x20   try:\n        function()\n\
                  \x20   except ValueError:\n        pass\n\n\
                  def library():\n    json.loads('{')  # mark: library\n\n\
                  attempt(outer)\n\
                  attempt(library)\n\
                  outer()\n";
    for filters in [["ValueError"], ["raised"], ["uncaught"]] {
        let subject = Subject::new(LANGUAGE);
        std::fs::write(&subject.source, source).expect("a source");
        let configuration = subject.configuration("").exceptions(filters);
        let session = subject.debugger.start(configuration).await.expect("starts");
        let (own, library) = (subject.line("own"), subject.line("library"));
        let expected = if filters == ["uncaught"] { vec![own] } else { vec![own, library, own] };
        let (mut lines, mut halt) = (Vec::new(), session.wait(LIMIT).await.expect("a halt"));
        while let Halt::Stopped(report) = halt {
            lines.push(report.location.expect("a location").line);
            halt = session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt");
        }
        assert_eq!(lines, expected, "{filters:?}");
    }
}

#[tokio::test]
async fn a_traceback_has_no_frames_of_the_debugger() {
    let subject = Subject::new(LANGUAGE);
    std::fs::write(&subject.source, "def fail():\n    raise KeyError('x')\n\nfail()\n")
        .expect("a source");
    let none: [&str; 0] = [];
    let configuration = subject.configuration("").exceptions(none);
    let session = subject.debugger.start(configuration).await.expect("starts");
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
    let text = end.output.text;
    let begin =
        format!("Traceback (most recent call last):\n  File \"{}\"", subject.source.display());
    assert!(text.starts_with(&begin) && text.ends_with("KeyError: 'x'\n"), "{text}");
}

#[tokio::test]
async fn a_step_out_shows_what_was_returned() {
    let source = "def double(x):\n    return x * 2  # mark: here\n\n\
                  def work():\n\
                  \x20   first = double(1)\n\
                  \x20   return first + 1\n\n\
                  print(work())\n";
    let (subject, session, _) = stop_in(source).await;
    let report = subject.resume(&session, Resume::StepOut).await;
    assert_eq!(local(&report, "(return) double").value, "2");
    let report = subject.resume(&session, Resume::StepOver).await;
    let names: Vec<_> = report.locals.iter().map(|local| local.name.as_str()).collect();
    assert_eq!(names, ["first"], "it is of the step before");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn the_next_line_can_be_set_within_the_function() {
    let text = "\
def f(n):
    total = n  # mark: first
    total += 1
    print('total', total)  # mark: print
    return total


f(1)  # mark: call
";
    let subject = Subject::written(LANGUAGE, "subject", text);
    subject.break_at("print").await;
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "print").await;
    assert_eq!(local(&report, "total").value, "2");
    session.evaluate("n = 40", None, EvaluateContext::Repl).await.expect("is set");
    let halt = session.set_next_line(None, subject.line("first"), LIMIT).await.expect("a halt");
    let report = stopped(halt);
    let location = report.location.clone().expect("a place");
    assert_eq!((location.line, report.reason.as_str()), (subject.line("first"), "goto"));
    // What was run before is not undone.
    assert_eq!(local(&report, "total").value, "2");
    let report = subject.resume(&session, Resume::Continue).await;
    assert_eq!(local(&report, "total").value, "41");
    let error = session.set_next_line(None, subject.line("call"), LIMIT).await;
    let error = error.expect_err("another function");
    assert_eq!(error.code(), "E_INVALID_PARAMS");
    assert!(error.to_string().contains("cannot be the next line: "), "{error}");
    assert!(session.is_stopped(), "nothing has changed");
    let end = subject.run_out(&session).await;
    assert_eq!(end.output.text.matches("total 41").count(), 1, "{}", end.output.text);
}

#[tokio::test]
async fn conditions_and_log_messages_read_names_in_comprehensions() {
    let subject = Subject::new(LANGUAGE);
    let source = "def work(rows, limit):\n\
                  \x20   for row in rows:\n\
                  \x20       total = sum(row)  # mark: log\n\
                  \x20       print(total)  # mark: condition\n\n\
                  work([[1, 2], [5, 6]], 4)\n";
    std::fs::write(&subject.source, source).expect("a source");
    let message = "100% {[x for x in row if x > limit]} {row[0]:.1f} {row[0]!r:>3} {nope} {limit}";
    let log = subject.breakpoint("log").log_message(message);
    subject.debugger.set_breakpoint(log).await.expect("is set");
    let condition = subject.breakpoint("condition").condition("any(x > limit for x in row)");
    subject.debugger.set_breakpoint(condition).await.expect("is set");
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "condition").await;
    assert_eq!(report.condition_failures, [""; 0]);
    assert_eq!(local(&report, "row").value, "[5, 6]");
    let unknown = "<NameError: name 'nope' is not defined> 4";
    let printed = &report.output.text;
    for expected in
        ["100% [] 1.0   1 ", "100% [5, 6] 5.0   5 "].map(|line| format!("{line}{unknown}"))
    {
        assert!(printed.contains(&expected), "{printed}");
    }
    session.stop().await.expect("ends");
}

/// They have other names outside of their class.
#[tokio::test]
async fn conditions_and_log_messages_read_private_names() {
    let subject = Subject::new(LANGUAGE);
    let source = "class Base:\n\
                  \x20   __rate = 2\n\n\
                  \x20   def rise(self):\n\
                  \x20       self.__rate += 1\n\
                  \x20       return self.__rate  # mark: condition\n\n\
                  class Other(Base):\n    __rate = 9\n\n\
                  other = Other()\n\
                  for turn in range(3):\n    other.rise()  # mark: outside\n";
    std::fs::write(&subject.source, source).expect("a source");
    let outside = subject.breakpoint("outside").condition("other.__rate == 9");
    let condition = subject.breakpoint("condition").condition("self.__rate == 4 and '__rate'");
    for breakpoint in [outside, condition] {
        subject.debugger.set_breakpoint(breakpoint).await.expect("is set");
    }
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "outside").await;
    let [said] = report.condition_failures.as_slice() else { panic!("{report:#?}") };
    assert!(said.contains("`other.__rate == 9` cannot be evaluated"), "{said}");
    assert!(subject.debugger.remove_breakpoint(&subject.breakpoint("outside").place).await);
    session.resume(Resume::Continue, None).await.expect("continues");
    let report = subject.stop_at(&session, "condition").await;
    assert_eq!(report.condition_failures, [""; 0]);
    assert_eq!(local(&report, "self").value, "<Other _Base__rate=4>");
    let failing = subject.breakpoint("condition").condition("self.__nosuch");
    subject.debugger.set_breakpoint(failing).await.expect("is set");
    let report = subject.resume(&session, Resume::Continue).await;
    let [said] = report.condition_failures.as_slice() else { panic!("{report:#?}") };
    assert!(said.contains("`self.__nosuch` cannot be evaluated"), "{said}");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_log_message_reads_private_names() {
    let subject = Subject::new(LANGUAGE);
    let source = "import functools\n\n\
                  def noted(function):\n    @functools.wraps(function)\n\
                  \x20   def call(*given):\n        return function(*given)\n    return call\n\n\
                  class Base:\n\
                  \x20   __rate = 2\n\n\
                  \x20   @classmethod\n\
                  \x20   @noted\n\
                  \x20   def rise(cls):\n\
                  \x20       return cls.__rate  # mark: log\n\n\
                  Base.rise()\n";
    std::fs::write(&subject.source, source).expect("a source");
    let log =
        subject.breakpoint("log").log_message("rate {cls.__rate} {cls.__rate:.1f} {'__rate'}");
    subject.debugger.set_breakpoint(log).await.expect("is set");
    let session = subject.start("").await;
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
    assert!(end.output.text.contains("rate 2 2.0 __rate"), "{:?}", end.output);
}

/// A class is known by every module that has it.
#[tokio::test]
async fn an_exception_is_known_by_the_name_that_imports_it() {
    let subject = Subject::new(LANGUAGE);
    let source = "import json\n\n\
                  try:\n    json.loads('{')  # mark: raised\nexcept ValueError:\n    pass\n";
    std::fs::write(&subject.source, source).expect("a source");
    let configuration = subject.configuration("").exceptions(["json.JSONDecodeError"]);
    let session = subject.debugger.start(configuration).await.expect("starts");
    subject.stop_at(&session, "raised").await;
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn methods_are_no_fields_whatever_their_names() {
    let source = "class Cart:\n\
                  \x20   def __init__(self):\n        self._own, self._call = 1, len\n\n\
                  \x20   def _total(self):\n        return self._own  # mark: here\n\n\
                  Cart()._total()\n";
    let (_subject, session, report) = stop_in(source).await;
    let all = Page { start: 0, count: 0 };
    let reference = local(&report, "self").reference;
    let fields = session.variables(reference, VariableFilter::All, all).await.expect("fields");
    let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["_call", "_own"]);
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn what_is_inside_a_value_is_read_without_calling_properties() {
    let text = "\
from functools import cached_property
class Thing:
    calls = []
    def __init__(self):
        self.a = 1
    @property
    def plain(self):
        Thing.calls.append('plain')
        raise ValueError('called')
    @cached_property
    def kept(self):
        Thing.calls.append('kept')
        return [1]
    @cached_property
    def known(self):
        return [2]
thing = Thing()
thing.known
print(Thing.calls, vars(thing))  # mark: here
";
    let subject = Subject::written(LANGUAGE, "written", text);
    subject.break_at("here").await;
    let session = subject.start("").await;
    subject.stop_at(&session, "here").await;
    let tree = session.variable_tree(None, ScopeFilter::All, 2, 16 * 1024).await.expect("a tree");
    let all = tree.scopes.iter().flat_map(|(_, nodes)| nodes);
    let thing = all.into_iter().find(|node| node.variable.name == "thing").expect("is there");
    let value = |name: &str| {
        let found = thing.children.iter().find(|node| node.variable.name == name);
        found.map(|node| node.variable.value.clone())
    };
    for (name, shown) in
        [("a", "1"), ("plain", "<property>"), ("kept", "<property>"), ("known", "[2]")]
    {
        assert_eq!(value(name).as_deref(), Some(shown), "{name}");
    }
    let halt = session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt");
    let Halt::Ended(end) = halt else { panic!("{halt:?}") };
    assert_eq!(end.output.text.trim(), "[] {'a': 1, 'known': [2]}");
}
