//! JavaScript through js-debug, whose programs are child sessions.

use std::process::{Command, Stdio};

use termbridge_dap::{Configuration, EndReason, Halt};

use crate::flows;
use crate::subject::{Language, Program, Subject};
use crate::support::LIMIT;

const LANGUAGE: Language = Language::JavaScript;

#[tokio::test]
async fn breakpoints() {
    flows::breakpoints(LANGUAGE).await;
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
    assert!(exception.id.contains("TypeError: planted"), "{exception:?}");
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
async fn attach_to_a_server_and_leave_it() {
    let subject = Subject::new(LANGUAGE);
    let mut program = Program::spawn(
        Command::new("node")
            .arg("--inspect=127.0.0.1:0")
            .arg(subject.program())
            .arg("loop")
            .stderr(Stdio::piped()),
    );
    let line = program.error_line("listening on ws://");
    let port = line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next());
    let port = port.and_then(|port| port.parse().ok()).expect("a port");
    program.line("looping ");
    subject.break_at("loop").await;
    let configuration =
        Configuration::attach_to_server("node", "127.0.0.1", port, subject.folder.path());
    let session = subject.debugger.start(configuration).await.expect("attaches");
    subject.stop_at(&session, "loop").await;
    subject.debugger.clear_breakpoints().await;
    let end = session.stop().await.expect("leaves");
    assert_eq!(end.reason, EndReason::Detached);
    assert!(program.is_running(), "it goes on");
}

#[tokio::test]
async fn what_the_program_writes_itself_is_captured() {
    let subject = Subject::new(LANGUAGE);
    std::fs::write(&subject.source, "process.stdout.write('raw\\n'); process.kill(process.pid);")
        .unwrap();
    let session = subject.start("sum").await;
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
    assert!(end.output.text.contains("raw\n"), "{end:?}");
    assert_eq!(end.reason, EndReason::Signalled("SIGTERM".to_owned()));
}

#[tokio::test]
async fn several_at_once() {
    flows::several(LANGUAGE).await;
}
