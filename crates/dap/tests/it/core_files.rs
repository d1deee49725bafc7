//! Core files of real programs.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use termbridge_dap::{
    Configuration, CoreFile, DebugSession, EndReason, EvaluateContext, Halt, Resume, StopReport,
};

use crate::subject::{Language, Subject, compile, stopped};
use crate::support::LIMIT;

/// Runs a program until a signal ends it; returns its core file, if the system writes them into the folder.
fn core_of(program: &Path, arguments: &[&str]) -> Option<PathBuf> {
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    if pattern.trim() != "core" {
        eprintln!("the system does not write core files into the working directory: {pattern}");
        return None;
    }
    let folder = program.parent().expect("a folder");
    let run = format!("ulimit -c unlimited; exec {} {}", program.display(), arguments.join(" "));
    let mut command = Command::new("sh");
    command.args(["-c", &run]).env("GOTRACEBACK", "crash").current_dir(folder);
    let status = command.output().expect("runs").status;
    assert!(status.core_dumped(), "{status}");
    let entries = folder.read_dir().expect("a folder").flatten().map(|entry| entry.path());
    let name = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("core"))
    };
    Some({ entries }.find(name).expect("a core file"))
}

async fn open(subject: &Subject, core: &Path, program: &Path) -> (DebugSession, StopReport) {
    let kind = subject.language.kind();
    let configuration = Configuration::core(kind, core, program, subject.folder.path());
    let session = subject.debugger.start(configuration).await.expect("starts");
    let report = stopped(session.wait(LIMIT).await.expect("a halt"));
    (session, report)
}

#[tokio::test]
async fn a_core_of_c_is_a_stop_with_the_signal_that_cannot_run_on() {
    let subject = Subject::new(Language::C);
    let Some(core) = core_of(subject.program(), &["crash"]) else { return };
    let named = CoreFile::read(&core).expect("a core").program.expect("it names its program");
    assert_eq!(named.canonicalize().ok(), subject.program().canonicalize().ok());
    // Breakpoints of the workspace change nothing.
    subject.break_at("add").await;
    let (session, report) = open(&subject, &core, &named).await;
    assert_eq!(report.reason, "exception");
    let exception = report.exception.expect("a signal");
    assert_eq!(exception.id, "signal");
    assert!(exception.message.is_some_and(|said| said.starts_with("signal SIGSEGV")));
    assert_eq!(report.location.expect("a place").line, subject.line("crash"));
    assert_eq!(session.info().pid, None, "the process is gone");
    let value = session.evaluate("1 + 1", None, EvaluateContext::Watch).await.expect("a value");
    assert_eq!(value.value, "2");
    for how in [Resume::Continue, Resume::StepOver, Resume::StepOut] {
        let error = session.resume(how, None).await.expect_err("it is over");
        assert_eq!(error.code(), "E_UNSUPPORTED_CAPABILITY");
        assert!(error.hint().contains("debug_evaluate"), "{}", error.hint());
    }
    assert!(session.is_stopped());
    // What is stopped already is no reason to complain.
    assert!(matches!(session.pause(LIMIT).await, Ok(Halt::Stopped(_))));
    let end = session.stop().await.expect("ends");
    assert_eq!((end.reason, end.unbound), (EndReason::Stopped, vec![]));
}

#[tokio::test]
async fn a_core_of_go_is_a_stop_in_the_function_that_failed() {
    let subject = Subject::new(Language::Go);
    let folder = subject.folder.path();
    let program = compile(folder, "go", &["build", "-gcflags=all=-N -l", "-o", "subject", "."]);
    let Some(core) = core_of(&program, &["crash"]) else { return };
    let (session, report) = open(&subject, &core, &program).await;
    assert_eq!(report.reason, "exception");
    let message = report.exception.expect("a signal").message;
    assert_eq!(message.as_deref(), Some("signal SIGABRT"));
    assert_eq!(report.location.expect("a place").line, subject.line("crash"));
    let error = session.resume(Resume::Continue, None).await.expect_err("it is over");
    assert_eq!(error.code(), "E_UNSUPPORTED_CAPABILITY");
}

/// What the program's file has, a core file leaves out: the texts.
const RUST: &str = r#"
#[derive(Debug)]
enum Event { Opened { by: &'static str, at: Vec<Option<u8>> }, Closed }
fn fail(events: &[Event]) -> ! {
    let count = events.len();
    if count > 1 { std::process::abort() } // mark: crash
    panic!("{events:?}")
}
fn main() {
    fail(&[Event::Opened { by: "Ada", at: vec![Some(1), None] }, Event::Closed])
}
"#;
const CPP: &str = r#"
#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
struct Cart {
    std::map<std::string, int> items{{"ink", 2}};
    std::optional<std::string> owner = "Ada";
    const char *currency = "EUR";
    void add(int price) {
        if (price < 0) throw std::invalid_argument("negative"); // mark: crash
        items["pen"] = price;
    }
};
int main() { Cart cart; cart.add(-5); }
"#;

#[tokio::test]
async fn cores_of_rust_and_cpp_have_their_values() {
    for (language, text, expected) in [
        (
            Language::Rust,
            RUST,
            &[
                ("events", "[Opened { by: \"Ada\", at: [Some(1), None] }, Closed]"),
                ("events[0].by == \"Ada\"", "true"),
                ("count + 1", "3"),
            ][..],
        ),
        (
            Language::Cpp,
            CPP,
            &[
                ("*this", "{items: {\"ink\": 2}, owner: \"Ada\", currency: \"EUR\"}"),
                ("items[\"ink\"]", "2"),
                ("price * 2", "-10"),
            ],
        ),
    ] {
        let subject = Subject::written(language, "crashes", text);
        let Some(core) = core_of(subject.program(), &[]) else { return };
        let named = CoreFile::read(&core).expect("a core").program.expect("it names its program");
        let (session, report) = open(&subject, &core, &named).await;
        let message = report.exception.expect("a signal").message;
        assert_eq!(message.as_deref(), Some("signal SIGABRT"));
        assert_eq!(report.location.expect("a place").line, subject.line("crash"));
        for (expression, expected) in expected {
            let value = session.evaluate(expression, None, EvaluateContext::Watch).await;
            assert_eq!(value.map(|value| value.value).as_deref(), Ok(*expected), "{expression}");
        }
        session.stop().await.expect("ends");
    }
}

#[tokio::test]
async fn what_is_no_core_file_is_refused() {
    let subject = Subject::new(Language::C);
    let program = subject.program();
    let error = CoreFile::read(program).expect_err("a program");
    assert_eq!(error.code(), "E_INVALID_PATH");
    let error = CoreFile::read(&subject.source).expect_err("a text");
    assert!(error.to_string().contains("no core file"), "{error}");
    let missing = subject.folder.path().join("core");
    for kind in ["c", "python"] {
        let configuration = Configuration::core(kind, &missing, program, subject.folder.path());
        let error = subject.debugger.start(configuration).await.expect_err("no core");
        assert_eq!(error.code(), "E_FILE_NOT_FOUND");
    }
    let configuration = Configuration::core("python", program, program, subject.folder.path());
    let error = subject.debugger.start(configuration).await.expect_err("python has none");
    assert_eq!(error.code(), "E_UNSUPPORTED_CAPABILITY");
}
