//! JavaScript through js-debug, whose programs are child sessions.

use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use termbridge_dap::{
    Breakpoint, BreakpointPlace, BreakpointState, Configuration, EndReason, Halt,
};

use crate::flows;
use crate::subject::{Language, Program, Subject};
use crate::support::LIMIT;

const LANGUAGE: Language = Language::JavaScript;

#[tokio::test]
async fn breakpoints() {
    flows::breakpoints(LANGUAGE).await;
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
    assert_eq!(end.output.text, "raw\n", "and nothing of the adapter");
    assert_eq!(end.reason, EndReason::Signalled("SIGTERM".to_owned()));
}

#[tokio::test]
async fn an_adapter_that_is_killed_gives_no_exit_code() {
    let subject = Subject::new(LANGUAGE);
    let session = subject.start("loop").await;
    let line = session.wait_for_output("looping", LIMIT).await.expect("it runs");
    let program = line.rsplit(' ').next().expect("its number");
    let stat = std::fs::read_to_string(format!("/proc/{program}/stat")).expect("it runs");
    let (_, fields) = stat.rsplit_once(')').expect("fields behind its name");
    let parent = fields.split_whitespace().nth(1).and_then(|parent| parent.parse().ok());
    let adapter = parent.and_then(Pid::from_raw).expect("its parent");
    kill_process(adapter, Signal::KILL).expect("the adapter runs");
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
    assert_eq!(end.exit_code, None);
    assert_eq!(end.how(), "js-debug was lost: the adapter closed the connection");
}

#[tokio::test]
async fn several_at_once() {
    flows::several(LANGUAGE).await;
}

#[tokio::test]
async fn function_breakpoints_are_not_supported_and_said_to_be_so() {
    let subject = Subject::new(LANGUAGE);
    let place = BreakpointPlace::function("add");
    // Whether it can is not known before something runs.
    subject.debugger.set_breakpoint(Breakpoint::at(place.clone())).await.expect("is kept");
    subject.break_at("call").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "call").await;
    let listed = subject.debugger.breakpoints();
    let function = listed.iter().find(|one| one.breakpoint.place == place).expect("is listed");
    assert_eq!(function.state, BreakpointState::Pending);
    let message = function.message.as_deref();
    assert_eq!(message, Some("js-debug does not support breakpoints by function name"));
    let error = subject.debugger.set_breakpoint(Breakpoint::at(place)).await.expect_err("cannot");
    assert_eq!(error.code(), "E_UNSUPPORTED_CAPABILITY");
    assert!(error.hint().contains("`text`"), "{}", error.hint());
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn exceptions_by_type() {
    flows::exceptions_by_type(LANGUAGE, &["TypeError"], &["TypeError: second"]).await;
    let seen = ["RangeError: first", "Error: third"];
    flows::exceptions_by_type(LANGUAGE, &["RangeError", "AppError"], &seen).await;
}
