//! Python through debugpy.

use std::process::Command;

use termbridge_dap::{
    Configuration, Debugger, EndReason, EvaluateContext, Halt, Page, Resume, Save, Settings,
    VariableFilter,
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
        .evaluate("nested = [list(range(300))]", None, EvaluateContext::Repl)
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
