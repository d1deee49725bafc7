//! Races, late and broken messages, time-outs: with an adapter that does them on purpose.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use termbridge_dap::{
    BoxFuture, Breakpoint, BreakpointPlace, BreakpointState, DebugError, Debugger, EndReason,
    EvaluateContext, Halt, Hooks, Page, Resume, SessionState, Settings, StopReport,
    TerminalLauncher, TerminalProcess, TerminalRequest, VariableFilter,
};
use tokio::sync::Notify;

use crate::fake::Fake;
use crate::support::{LIMIT, SHORT, debugger, limited};

fn stopped(halt: Halt) -> StopReport {
    match halt {
        Halt::Stopped(report) => *report,
        Halt::Ended(end) => panic!("ended: {}", end.how()),
    }
}

fn impatient(change: impl FnOnce(&mut Settings)) -> Debugger {
    let mut settings = Settings::default();
    change(&mut settings);
    Debugger::new(settings)
}

#[tokio::test]
async fn a_launch_that_answers_before_it_is_initialized_starts_too() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let start = fake.start(&debugger);
    let mut link = fake.accept().await;
    link.answer("initialize", json!({"supportsConfigurationDoneRequest": true})).await;
    link.answer("attach", Value::Null).await;
    link.event("initialized", Value::Null).await;
    link.answer("setExceptionBreakpoints", Value::Null).await;
    link.answer("configurationDone", Value::Null).await;
    let session = limited("start", start).await.expect("no panic").expect("starts");
    assert_eq!(session.info().state, SessionState::Running);
}

#[tokio::test]
async fn an_adapter_may_be_initialized_before_it_is_told_what_to_debug() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let start = fake.start(&debugger);
    let mut link = fake.accept().await;
    let initialize = link.expect("initialize").await;
    link.event("initialized", Value::Null).await;
    // No configurationDone where it is not announced.
    link.respond(&initialize, json!({})).await;
    let attach = link.expect("attach").await;
    link.answer("setExceptionBreakpoints", Value::Null).await;
    link.respond(&attach, Value::Null).await;
    limited("start", start).await.expect("no panic").expect("starts");
}

#[tokio::test]
async fn a_refused_launch_says_why_and_leaves_nothing() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let start = fake.start(&debugger);
    let mut link = fake.accept().await;
    link.answer("initialize", json!({})).await;
    let attach = link.expect("attach").await;
    link.event("output", json!({"category": "stderr", "output": "no such module: x\n"})).await;
    link.fail(&attach, "it would not").await;
    link.answer("disconnect", Value::Null).await;
    drop(link);
    let error = limited("start", start).await.expect("no panic").expect_err("fails");
    assert_eq!(error.code(), "E_LAUNCH_FAILED");
    assert_eq!(error.to_string(), "it would not\nno such module: x");
    assert!(debugger.sessions().is_empty());
    assert_eq!(debugger.session(None).err(), Some(DebugError::NoSession(None)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_adapter_says_before_it_refuses_is_heard() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let start = fake.start(&debugger);
    let mut link = fake.accept().await;
    link.answer("initialize", json!({})).await;
    let attach = link.expect("attach").await;
    // It takes longer to look through than the answer takes to arrive.
    let lines = "line\n".repeat(400_000);
    link.event("output", json!({"category": "stderr", "output": lines})).await;
    link.event("output", json!({"category": "stderr", "output": "undefined: x\n"})).await;
    link.fail(&attach, "see the console").await;
    link.answer("disconnect", Value::Null).await;
    drop(link);
    let error = limited("start", start).await.expect("no panic").expect_err("fails");
    assert!(error.to_string().ends_with("\nundefined: x"), "{error}");
}

#[tokio::test]
async fn an_adapter_that_never_gets_ready_is_a_timeout() {
    let debugger = impatient(|settings| {
        settings.launch_timeout = SHORT;
        settings.end_timeout = SHORT;
    });
    let fake = Fake::new().await;
    let start = fake.start(&debugger);
    let mut link = fake.accept().await;
    link.expect("initialize").await;
    let error = limited("start", start).await.expect("no panic").expect_err("fails");
    assert_eq!(error.code(), "E_TIMEOUT");
    assert!(debugger.sessions().is_empty());
}

#[tokio::test]
async fn broken_frames_end_the_session_with_the_reason() {
    for (bytes, reason) in [
        (&b"Content-Length: x\r\n\r\n"[..], "not a message header"),
        (b"no header at all\r\n\r\n", "not a message header"),
        (b"Content-Length: 3\r\n\r\n{]}", "the adapter does not speak DAP"),
        (b"Content-Length: 99999999999\r\n\r\n", "99999999999 bytes"),
    ] {
        let (debugger, fake) = (debugger(), Fake::new().await);
        let (session, mut link) = fake.running(&debugger).await;
        link.raw(bytes).await;
        let halt = session.wait(LIMIT).await.expect("an end");
        let Halt::Ended(end) = halt else { panic!("{halt:?}") };
        assert!(matches!(end.reason, EndReason::AdapterLost(_)), "{end:?}");
        assert!(end.how().contains(reason), "{}", end.how());
    }
}

#[tokio::test]
async fn a_message_cut_by_the_end_of_the_connection_is_told() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut link) = fake.running(&debugger).await;
    link.raw(b"Content-Length: 100\r\n\r\n{\"type\":").await;
    drop(link);
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
    assert_eq!(end.how(), "delve was lost: the adapter ended in the middle of a message");
    let error = session.resume(Resume::Continue, None).await.expect_err("over");
    assert_eq!(error.code(), "E_PROGRAM_EXITED");
}

#[tokio::test]
async fn an_adapter_that_dies_of_an_expression_is_not_a_session_that_was_stopped() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut link) = fake.running(&debugger).await;
    link.stop("entry").await;
    let (first, ()) = tokio::join!(session.wait(LIMIT), link.answer_report());
    let frame = stopped(first.expect("a stop")).frames[0].id;
    let evaluated = session.evaluate("o.value()", Some(frame), EvaluateContext::Watch);
    let crash = async {
        link.expect("evaluate").await;
        drop(link);
    };
    let (answer, ()) = tokio::join!(evaluated, crash);
    let error = answer.expect_err("no answer");
    assert_eq!(error.code(), "E_PROGRAM_EXITED");
    let said = error.to_string();
    assert!(said.ends_with("delve was lost: the adapter closed the connection"), "{said}");
}

#[tokio::test]
async fn messages_that_mean_nothing_are_skipped() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut link) = fake.running(&debugger).await;
    link.send(json!({"type": "response", "request_seq": 9999, "success": true})).await;
    link.send(json!({"type": "mystery"})).await;
    link.send(json!({"event": "stopped"})).await;
    link.event("unheardOf", json!({"x": [1, 2]})).await;
    link.send(json!({"type": "request", "command": "dance"})).await;
    let refusal = link.receive().await;
    assert_eq!((&refusal["type"], &refusal["success"]), (&json!("response"), &json!(false)));
    assert_eq!(session.info().state, SessionState::Running);
}

#[tokio::test]
async fn a_stop_that_already_happened_is_reported() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut link) = fake.running(&debugger).await;
    link.event("output", json!({"category": "stdout", "output": "before\n"})).await;
    link.stop("pause").await;
    for expected in ["before\n", ""] {
        // The second wait finds the same stop, and no output twice.
        let (halt, ()) = tokio::join!(session.wait(LIMIT), link.answer_report());
        let report = stopped(halt.expect("a stop"));
        assert_eq!(report.reason, "pause");
        assert_eq!(report.thread.name, "main thread");
        assert_eq!(report.output.text, expected);
        assert_eq!(report.locals.len(), 1);
    }
}

#[tokio::test]
async fn a_stop_before_the_answer_of_continue_is_not_lost() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut link) = fake.running(&debugger).await;
    link.stop("entry").await;
    let (first, ()) = tokio::join!(session.wait(LIMIT), link.answer_report());
    assert_eq!(stopped(first.expect("a stop")).reason, "entry");
    let script = async {
        let request = link.expect("continue").await;
        link.stop("breakpoint").await;
        link.respond(&request, json!({"allThreadsContinued": true})).await;
        link.answer_report().await;
    };
    let resumed = session.resume_and_wait(Resume::Continue, None, LIMIT);
    let (halt, ()) = tokio::join!(resumed, script);
    assert_eq!(stopped(halt.expect("a stop")).reason, "breakpoint");
    assert!(matches!(session.info().state, SessionState::Stopped { .. }));
}

#[tokio::test]
async fn the_stop_before_a_continue_does_not_satisfy_it() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut link) = fake.running(&debugger).await;
    link.stop("entry").await;
    let (first, ()) = tokio::join!(session.wait(LIMIT), link.answer_report());
    first.expect("a stop");
    let resumed = session.resume_and_wait(Resume::StepOver, None, SHORT);
    let (halt, _) = tokio::join!(resumed, link.answer("next", Value::Null));
    let error = halt.expect_err("still running");
    assert_eq!(error.code(), "E_TIMEOUT");
    assert!(error.to_string().ends_with("is still running"), "{error}");
    let error = session.resume(Resume::StepOver, None).await.expect_err("running");
    assert_eq!(error.code(), "E_NOT_STOPPED");
    let error = session.stack(None, Page { start: 0, count: 5 }).await.expect_err("running");
    assert_eq!(error.code(), "E_NOT_PAUSED");
}

#[tokio::test]
async fn a_value_whose_parts_do_not_come_is_shown_without_them() {
    // Other requests may take as long as the test.
    let debugger = impatient(|settings| settings.request_timeout = 2 * LIMIT);
    let fake = Fake::new().await;
    let (session, mut link) = fake.running(&debugger).await;
    link.stop("entry").await;
    let (first, ()) = tokio::join!(session.wait(LIMIT), link.answer_report());
    let frame = stopped(first.expect("a stop")).frames[0].id;
    let script = async {
        let list = json!({"result": "[]int len: 2, cap: 2, [...]", "type": "[]int",
            "variablesReference": 7, "indexedVariables": 2});
        link.answer("evaluate", list).await;
        link.expect("variables").await;
    };
    let evaluated = session.evaluate("list", Some(frame), EvaluateContext::Repl);
    let (value, ()) = limited("a value", Box::pin(async { tokio::join!(evaluated, script) })).await;
    assert_eq!(value.expect("a value").value, "[…]");
}

#[tokio::test]
async fn a_refused_step_leaves_the_program_stopped() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut link) = fake.running(&debugger).await;
    link.stop("entry").await;
    let (first, ()) = tokio::join!(session.wait(LIMIT), link.answer_report());
    first.expect("a stop");
    let script = async {
        let request = link.expect("stepIn").await;
        link.fail(&request, "not now").await;
    };
    let (resumed, ()) = tokio::join!(session.resume(Resume::StepInto, None), script);
    assert!(resumed.expect_err("refused").to_string().contains("not now"));
    assert!(matches!(session.info().state, SessionState::Stopped { .. }));
}

#[tokio::test]
async fn a_stop_that_the_program_goes_on_from_at_once_is_not_reported() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut link) = fake.running(&debugger).await;
    link.stop("entry").await;
    let script = async {
        let request = link.expect("stackTrace").await;
        link.event("continued", json!({"threadId": 1, "allThreadsContinued": true})).await;
        link.fail(&request, "it runs").await;
        link.answer("threads", json!({"threads": []})).await;
        link.stop("breakpoint").await;
        link.answer_report().await;
    };
    let (halt, ()) = tokio::join!(session.wait(LIMIT), script);
    let report = stopped(halt.expect("a stop"));
    assert_eq!((report.reason.as_str(), report.frames.len()), ("breakpoint", 1));
}

#[tokio::test]
async fn references_from_before_a_resume_are_stale() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut link) = fake.running(&debugger).await;
    link.stop("entry").await;
    let (first, ()) = tokio::join!(session.wait(LIMIT), link.answer_report());
    let frame = stopped(first.expect("a stop")).frames[0].id;
    let (scopes, _) = tokio::join!(
        session.scopes(frame),
        link.answer("scopes", json!({"scopes": [{"name": "Locals", "variablesReference": 5}]}))
    );
    let container = scopes.expect("scopes")[0].reference;
    assert_eq!(
        debugger.session_of(frame).map(|found| found.id().clone()),
        Some(session.id().clone())
    );
    // The same number for something of the other kind is no reference either.
    assert_eq!(session.scopes(container).await, Err(DebugError::InvalidReference(container)));
    let (resumed, _) =
        tokio::join!(session.resume(Resume::Continue, None), link.answer("continue", json!({})));
    resumed.expect("goes on");
    assert_eq!(session.scopes(frame).await, Err(DebugError::StaleReference(frame)));
    let page = Page { start: 0, count: 1 };
    let variables = session.variables(container, VariableFilter::All, page).await;
    assert_eq!(variables, Err(DebugError::StaleReference(container)));
    let nonsense = session.variables(123_456, VariableFilter::All, page).await;
    assert_eq!(nonsense, Err(DebugError::InvalidReference(123_456)));
    let none = session.variables(0, VariableFilter::All, page).await;
    assert_eq!(none.expect_err("no children").code(), "E_NOT_EXPANDABLE");
    // The next stop gives new numbers, though the adapter's are the same.
    link.stop("breakpoint").await;
    let (second, ()) = tokio::join!(session.wait(LIMIT), link.answer_report());
    assert_ne!(stopped(second.expect("a stop")).frames[0].id, frame);
    assert_eq!(session.scopes(frame).await, Err(DebugError::StaleReference(frame)));
}

#[tokio::test]
async fn an_answer_that_comes_after_the_program_went_on_is_no_answer() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut link) = fake.running(&debugger).await;
    link.stop("entry").await;
    let (first, ()) = tokio::join!(session.wait(LIMIT), link.answer_report());
    let frame = stopped(first.expect("a stop")).frames[0].id;
    let script = async {
        let request = link.expect("evaluate").await;
        link.event("continued", json!({"threadId": 1, "allThreadsContinued": true})).await;
        link.event("output", json!({"output": "gone on\n"})).await;
        link.respond(&request, json!({"result": "1"})).await;
        link
    };
    let evaluated = session.evaluate("x", Some(frame), EvaluateContext::Watch);
    let (answer, _link) = tokio::join!(evaluated, script);
    // Either the event or the answer is taken in first; a value with a reference is never given.
    if let Ok(value) = answer {
        assert_eq!(value.reference, 0);
    }
    let state = async {
        while session.info().state != SessionState::Running {
            tokio::task::yield_now().await;
        }
    };
    limited("the continue to be taken in", state).await;
    let error = session.evaluate("x", Some(frame), EvaluateContext::Watch).await;
    assert_eq!(error, Err(DebugError::StaleReference(frame)));
}

#[tokio::test]
async fn a_late_answer_is_dropped_and_the_session_goes_on() {
    let debugger = impatient(|settings| settings.evaluate_timeout = Duration::from_millis(500));
    let fake = Fake::new().await;
    let (session, mut link) = fake.running(&debugger).await;
    link.stop("entry").await;
    let (first, ()) = tokio::join!(session.wait(LIMIT), link.answer_report());
    let frame = stopped(first.expect("a stop")).frames[0].id;
    let (late, request) = tokio::join!(
        session.evaluate("x", Some(frame), EvaluateContext::Repl),
        link.expect("evaluate")
    );
    let error = late.expect_err("no answer");
    assert_eq!(error.code(), "E_TIMEOUT");
    assert!(error.to_string().starts_with("no value within 500 ms"), "{error}");
    link.respond(&request, json!({"result": "late"})).await;
    let (next, _) = tokio::join!(
        session.evaluate("y", Some(frame), EvaluateContext::Repl),
        link.answer("evaluate", json!({"result": "2", "type": "int"}))
    );
    assert_eq!(next.expect("an answer").value, "2");
}

#[tokio::test]
async fn a_stop_and_the_end_at_once_is_the_end() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut link) = fake.running(&debugger).await;
    link.stop("step").await;
    link.event("exited", json!({"exitCode": 7})).await;
    link.event("terminated", Value::Null).await;
    // Reports may have begun before the end was read.
    let script = async {
        loop {
            let request = link.receive().await;
            if request["command"] == "disconnect" {
                link.respond(&request, Value::Null).await;
                return;
            }
            link.fail(&request, "the program is gone").await;
        }
    };
    script.await;
    drop(link);
    let end = async {
        loop {
            if let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") {
                return end;
            }
        }
    };
    let end = limited("the end", end).await;
    assert_eq!((end.exit_code, end.reason.clone()), (Some(7), EndReason::Exited));
    assert_eq!(session.wait(LIMIT).await, Ok(Halt::Ended(end)), "it stays the end");
}

#[tokio::test]
async fn what_comes_with_the_goodbye_still_counts() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut link) = fake.running(&debugger).await;
    link.event("terminated", Value::Null).await;
    let request = link.expect("disconnect").await;
    for output in ["last words\n", "Process 12 has exited with status 3\n"] {
        link.event("output", json!({"category": "console", "output": output})).await;
    }
    link.respond(&request, Value::Null).await;
    drop(link);
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
    assert_eq!(end.exit_code, Some(3));
    assert_eq!(end.output.text, "last words\n");
}

#[tokio::test]
async fn breakpoints_follow_what_the_adapter_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("main.go");
    std::fs::write(&path, "package main\n\nfunc main() {\n}\n").expect("a file");
    let debugger = impatient(|settings| settings.breakpoint_timeout = LIMIT);
    let before = debugger.set_breakpoint(Breakpoint::new(&path, 3)).await.expect("is kept");
    assert_eq!(before.state, BreakpointState::Pending);
    let fake = Fake::new().await;
    let (_session, mut link) = fake.running(&debugger).await;
    assert_eq!(debugger.breakpoints()[0].state, BreakpointState::Verified);

    let set = debugger.set_breakpoint(Breakpoint::new(&path, 2));
    let script = async {
        let request = link.expect("setBreakpoints").await;
        let lines: Vec<_> = request["arguments"]["breakpoints"]
            .as_array()
            .expect("list")
            .iter()
            .map(|one| one["line"].as_u64())
            .collect();
        assert_eq!(lines, [Some(2), Some(3)], "the whole file is sent");
        let waiting = json!({"id": 10, "verified": false, "message": "not loaded"});
        link.respond(&request, json!({"breakpoints": [waiting, {"id": 11, "verified": true}]}))
            .await;
        let moved = json!({"id": 10, "verified": true, "line": 3});
        link.event("breakpoint", json!({"reason": "changed", "breakpoint": moved})).await;
    };
    let (set, ()) = tokio::join!(set, script);
    assert_eq!(set.expect("is set").state, BreakpointState::Moved { line: 3 });

    let place = BreakpointPlace::line(&path, 2);
    let (removed, request) = tokio::join!(
        debugger.remove_breakpoint(&place),
        link.answer("setBreakpoints", json!({"breakpoints": [{"id": 11, "verified": true}]}))
    );
    assert!(removed);
    assert_eq!(request["arguments"]["breakpoints"].as_array().map(Vec::len), Some(1));
    let (cleared, request) = tokio::join!(
        debugger.clear_breakpoints(),
        link.answer("setBreakpoints", json!({"breakpoints": []}))
    );
    assert_eq!(cleared, 1);
    assert_eq!(request["arguments"]["breakpoints"], json!([]));
    assert!(debugger.breakpoints().is_empty());
}

#[tokio::test]
async fn what_an_adapter_cannot_do_is_not_sent_to_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("main.go");
    std::fs::write(&path, "one\ntwo\nthree\n").expect("a file");
    let (debugger, fake) = (debugger(), Fake::new().await);
    let log = Breakpoint::new(&path, 1).log_message("{x}");
    debugger.set_breakpoint(log).await.expect("is kept");
    let conditional = Breakpoint::new(&path, 2).condition("x > 1");
    debugger.set_breakpoint(conditional).await.expect("is kept");
    let all =
        json!({"supportsConfigurationDoneRequest": true, "supportsConditionalBreakpoints": true});
    let (_session, _link) = fake.running_with(&debugger, all).await;
    let states = debugger.breakpoints();
    assert_eq!(states[0].state, BreakpointState::Pending);
    assert_eq!(states[0].message.as_deref(), Some("delve does not support log messages"));
    assert_eq!(states[1].state, BreakpointState::Verified);
}

#[tokio::test]
async fn places_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.py");
    std::fs::write(&path, "one\ntwo").expect("a file");
    let debugger = debugger();
    let code =
        async |breakpoint| debugger.set_breakpoint(breakpoint).await.map_err(|error| error.code());
    assert!(code(Breakpoint::new(&path, 2)).await.is_ok());
    assert_eq!(code(Breakpoint::new(&path, 3)).await, Err("E_INVALID_LINE"));
    assert_eq!(code(Breakpoint::new(&path, 0)).await, Err("E_INVALID_LINE"));
    assert_eq!(code(Breakpoint::new(folder.path(), 1)).await, Err("E_INVALID_PATH"));
    assert_eq!(code(Breakpoint::new("a.py", 1)).await, Err("E_INVALID_PATH"));
    assert_eq!(code(Breakpoint::new(folder.path().join("b.py"), 1)).await, Err("E_FILE_NOT_FOUND"));
}

#[tokio::test]
async fn a_child_session_is_reached_through_its_parent() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut parent) = fake.running(&debugger).await;
    let child = json!({"request": "launch", "configuration": {"name": "child", "key": 5}});
    parent.send(json!({"type": "request", "command": "startDebugging", "arguments": child})).await;
    let answer = parent.receive().await;
    assert_eq!((&answer["type"], &answer["success"]), (&json!("response"), &json!(true)));
    let mut link = fake.accept().await;
    link.shake_hands(json!({"supportsConfigurationDoneRequest": true})).await;
    link.stop("breakpoint").await;
    let (halt, ()) = tokio::join!(session.wait(LIMIT), link.answer_report());
    assert_eq!(stopped(halt.expect("a stop")).reason, "breakpoint");
    assert_eq!(session.info().children.len(), 1);
    // The child's end is not the session's.
    link.event("terminated", Value::Null).await;
    let gone = async {
        while !session.info().children.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    limited("the child to go", gone).await;
    assert_eq!(session.info().state, SessionState::Running);
    assert_eq!(session.wait(SHORT).await.expect_err("runs").code(), "E_TIMEOUT");
}

#[tokio::test]
async fn a_flood_of_events_while_nobody_waits_does_not_stop_answers() {
    let debugger = impatient(|settings| settings.events.records = 1000);
    let fake = Fake::new().await;
    let (session, mut link) = fake.running(&debugger).await;
    link.stop("entry").await;
    let (first, ()) = tokio::join!(session.wait(LIMIT), link.answer_report());
    let frame = stopped(first.expect("a stop")).frames[0].id;
    for number in 0..5000 {
        link.event("output", json!({"category": "stdout", "output": format!("{number}\n")})).await;
    }
    let (answer, _) = tokio::join!(
        session.evaluate("x", Some(frame), EvaluateContext::Watch),
        link.answer("evaluate", json!({"result": "42"}))
    );
    assert_eq!(answer.expect("an answer").value, "42");
    let tracked = debugger.events().tracker();
    assert_eq!(tracked.sessions[0].records, 1000);
    assert!(tracked.sessions[0].dropped >= 4000, "{}", tracked.sessions[0].dropped);
}

#[tokio::test]
async fn only_so_many_sessions_are_open_at_once() {
    let debugger = impatient(|settings| settings.max_sessions = 1);
    let fake = Fake::new().await;
    let (session, mut link) = fake.running(&debugger).await;
    let refused = debugger.start(fake.configuration()).await;
    assert_eq!(refused.err(), Some(DebugError::Capacity { limit: 1 }));
    let goodbye = async {
        let request = link.answer("disconnect", Value::Null).await;
        drop(link);
        request
    };
    let (end, request) = tokio::join!(session.stop(), goodbye);
    assert_eq!(request["arguments"]["terminateDebuggee"], false, "it was attached to");
    assert_eq!(end.expect("ends").reason, EndReason::Detached);
    let (_next, _link) = fake.running(&debugger).await;
}

#[tokio::test]
async fn stopping_works_when_the_adapter_does_not_answer() {
    let debugger = impatient(|settings| settings.end_timeout = SHORT);
    let fake = Fake::new().await;
    let (session, mut link) = fake.running(&debugger).await;
    let waiting = tokio::spawn({
        let session = session.clone();
        async move { session.wait(LIMIT).await }
    });
    let end = limited("the stop", session.stop()).await.expect("ends");
    assert_eq!(end.reason, EndReason::Detached);
    link.expect("disconnect").await;
    let waited = limited("the wait", waiting).await.expect("no panic").expect("an end");
    assert_eq!(waited, Halt::Ended(end.clone()));
    assert_eq!(session.stop().await, Ok(end), "stopping twice is no error");
}

#[tokio::test]
async fn a_start_that_is_stopped_says_so() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let start = fake.start(&debugger);
    let mut link = fake.accept().await;
    link.answer("initialize", json!({})).await;
    link.expect("attach").await;
    let session = debugger.session(None).expect("it is listed");
    let goodbye = async {
        link.answer("disconnect", Value::Null).await;
        drop(link);
    };
    let (end, ()) = tokio::join!(session.stop(), goodbye);
    assert_eq!(end.expect("ends").reason, EndReason::Detached);
    let error = limited("the start", start).await.expect("no panic").expect_err("was stopped");
    assert_eq!(error.code(), "E_ABORTED");
    assert_eq!(error.to_string(), "the session was stopped: by request, before it had started");
}

#[tokio::test]
async fn a_start_that_nobody_waits_for_is_given_up() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let start = fake.start(&debugger);
    let mut link = fake.accept().await;
    link.answer("initialize", json!({})).await;
    link.expect("attach").await;
    start.abort();
    link.answer("disconnect", Value::Null).await;
    assert!(limited("the abort", start).await.expect_err("is gone").is_cancelled());
    assert!(debugger.sessions().is_empty());
}

#[tokio::test]
async fn many_sessions_do_not_mix() {
    let debugger = debugger();
    let mut sessions = Vec::new();
    for number in 0..10 {
        let fake = Fake::new().await;
        let (session, mut link) = fake.running(&debugger).await;
        link.event("output", json!({"category": "stdout", "output": format!("{number}\n")})).await;
        sessions.push((session, link));
    }
    for (number, (session, _)) in sessions.iter().enumerate() {
        let line = session.wait_for_output("", LIMIT).await.expect("its line");
        assert_eq!(line, number.to_string());
    }
    let (third, link) = &mut sessions[3];
    link.stop("pause").await;
    let (halt, ()) = tokio::join!(third.wait(LIMIT), link.answer_report());
    let frame = stopped(halt.expect("a stop")).frames[0].id;
    let found = debugger.session_of(frame).expect("the one that gave it");
    assert_eq!(found.id(), third.id());
    let stopped = debugger
        .list()
        .into_iter()
        .filter(|info| matches!(info.state, SessionState::Stopped { .. }));
    assert_eq!(stopped.count(), 1);
}

#[tokio::test]
async fn two_that_change_a_session_at_once_get_in_turn_or_busy() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut link) = fake.running(&debugger).await;
    let other = session.clone();
    let restarting = tokio::spawn(async move { other.restart(LIMIT).await });
    let goodbye = link.expect("disconnect").await;
    let busy = session.restart(LIMIT).await.expect_err("another does");
    assert_eq!(busy.code(), "E_BUSY");
    link.respond(&goodbye, Value::Null).await;
    drop(link);
    let mut link = fake.accept().await;
    link.shake_hands(json!({"supportsConfigurationDoneRequest": true})).await;
    limited("the restart", restarting).await.expect("no panic").expect("restarts");
    assert_eq!(session.info().run, 2);
}

#[tokio::test]
async fn one_bad_field_does_not_blank_a_stop() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut link) = fake.running(&debugger).await;
    let body = json!({"reason": "breakpoint", "threadId": "1", "allThreadsStopped": 1, "text": {}});
    link.event("stopped", body).await;
    let script = async {
        loop {
            let request = link.receive().await;
            let command = request["command"].as_str().unwrap_or_default().to_owned();
            let body = match command.as_str() {
                "stackTrace" => json!({"stackFrames": [
                    {"id": 1000, "name": "main", "line": "3", "column": null,
                     "source": {"path": "/nowhere/main.go", "sourceReference": "none"}},
                    {"id": 1001, "name": "start", "line": 9.0, "source": {}},
                ], "totalFrames": "?"}),
                "scopes" => json!({"scopes": [
                    {"name": "Locals", "variablesReference": 1001, "expensive": "no"}]}),
                "variables" => json!({"variables": [
                    {"name": "x", "value": "1", "type": 3}, 7, {"name": 5, "value": "2"}]}),
                _ => json!({"threads": [{"id": 1, "name": null}, {"id": "2", "name": "w"}]}),
            };
            link.respond(&request, body).await;
            if command == "variables" {
                return;
            }
        }
    };
    let (halt, ()) = tokio::join!(session.wait(LIMIT), script);
    let report = stopped(halt.expect("a stop"));
    assert_eq!(report.reason, "breakpoint");
    let frames: Vec<_> = report.frames.iter().map(|frame| (&*frame.name, frame.line)).collect();
    assert_eq!(frames, [("main", 3), ("start", 9)]);
    let locals: Vec<_> = report.locals.iter().map(|local| (&*local.name, &*local.value)).collect();
    assert_eq!(locals, [("x", "1"), ("5", "2")]);
    // An envelope with a bad field is a message all the same.
    link.send(json!({"type": "event", "event": "continued", "request_seq": "x", "body": {}})).await;
    let running = async {
        while session.info().state != SessionState::Running {
            tokio::task::yield_now().await;
        }
    };
    limited("the continue to be taken in", running).await;
}

fn terminal_request() -> Value {
    json!({"type": "request", "command": "runInTerminal",
        "arguments": {"cwd": "/", "args": ["true"], "padding": "x".repeat(20_000)}})
}

#[tokio::test]
async fn a_session_has_so_many_terminals() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let (session, mut link) = fake.running(&debugger).await;
    for number in 0..40 {
        link.send(terminal_request()).await;
        let answer = link.receive().await;
        assert_eq!(answer["success"], number < 16, "{number}: {answer}");
        if number >= 16 {
            assert_eq!(answer["message"], "a debug session has at most 16 terminals");
        }
    }
    assert_eq!(session.info().state, SessionState::Running);
}

/// Holds every launch until it is let go, and knows how many there are at once.
#[derive(Default)]
struct SlowTerminal {
    at_once: AtomicUsize,
    let_go: Notify,
}

impl TerminalLauncher for SlowTerminal {
    fn launch(&self, _: TerminalRequest) -> BoxFuture<'_, Result<TerminalProcess, String>> {
        Box::pin(async {
            self.at_once.fetch_add(1, Ordering::SeqCst);
            self.let_go.notified().await;
            Ok(TerminalProcess { pid: 1 })
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_adapter_whose_requests_wait_is_not_read() {
    let terminal = Arc::new(SlowTerminal::default());
    let launcher: Arc<dyn TerminalLauncher> = Arc::clone(&terminal) as _;
    let hooks = Hooks { terminal: Some(launcher), tasks: None };
    let debugger = Debugger::with_hooks(Settings::default(), hooks);
    let fake = Fake::new().await;
    let (session, mut link) = fake.running(&debugger).await;
    let flood = async {
        for _ in 0..3000 {
            link.send(terminal_request()).await;
        }
    };
    // 60 MB: far more than the queues and the kernel hold.
    tokio::time::timeout(Duration::from_secs(3), flood).await.expect_err("it is not read");
    assert_eq!(terminal.at_once.load(Ordering::SeqCst), 1, "one after the other");
    drop(link);
    limited("stop", session.stop()).await.expect("ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_adapter_that_floods_us_with_requests_loses_its_session() {
    for command in ["runInTerminal", "startDebugging", "dance"] {
        let (debugger, fake) = (debugger(), Fake::new().await);
        let (session, mut link) = fake.running(&debugger).await;
        let message = json!({"type": "request", "seq": 1, "command": command,
            "arguments": {"cwd": "/", "args": ["true"], "configuration": {}}});
        let bytes = termbridge_dap::framing::encode(&message.to_string());
        let flood = tokio::spawn(async move { while link.try_raw(&bytes).await.is_ok() {} });
        let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
        let how = end.how();
        assert!(how.contains("it kept sending requests after 256 were refused"), "{how}");
        limited("the flood", flood).await.expect("no panic");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_requests_fails_the_start() {
    let (debugger, fake) = (debugger(), Fake::new().await);
    let start = fake.start(&debugger);
    let mut link = fake.accept().await;
    let bytes = termbridge_dap::framing::encode(&terminal_request().to_string());
    let flood = tokio::spawn(async move { while link.try_raw(&bytes).await.is_ok() {} });
    let error = limited("start", start).await.expect("no panic").expect_err("fails");
    assert!(error.to_string().contains("after 256 were refused"), "{error}");
    limited("the flood", flood).await.expect("no panic");
}
