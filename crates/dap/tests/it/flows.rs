//! What every language has to do, as flows that the languages' files run.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use termbridge_dap::{
    Breakpoint, BreakpointPlace, BreakpointState, Configuration, DataAccess, DebugError,
    DebugSession, DebugSessionId, EndReason, EvaluateContext, Halt, Page, Resume, ScopeFilter,
    SessionState, StopReport, VariableFilter, VariableInfo,
};

use crate::subject::{Language, Program, Subject, gone, local, stopped};
use crate::support::{LIMIT, SHORT};

/// Plain, conditional and log breakpoints, changed while the program is stopped; its end.
pub(crate) async fn breakpoints(language: Language) {
    let subject = Subject::new(language);
    subject.break_at("add").await;
    assert_eq!(subject.debugger.breakpoints()[0].state, BreakpointState::Pending);
    let session = subject.start("sum").await;
    let report = subject.stop_at(&session, "add").await;
    assert_eq!(report.reason, "breakpoint");
    assert_eq!(subject.debugger.breakpoints()[0].state, BreakpointState::Verified);
    let source = subject.source.canonicalize().expect("a path");
    assert_eq!(report.hit, [BreakpointPlace::line(source, subject.line("add"))]);
    let location = report.location.as_ref().expect("a location");
    assert!(location.function.contains("add"), "{location:?}");
    assert!(report.source.iter().any(|line| line.current && line.text.contains("mark: add")));
    assert_eq!(
        (local(&report, "a").value.as_str(), local(&report, "b").value.as_str()),
        ("0", "0")
    );
    assert!(report.frames.len() > 1 && report.frames[1].name.to_lowercase().contains("all"));
    assert!(!report.output.text.contains("total"), "nothing was written yet: {:?}", report.output);

    let conditional = subject.breakpoint("add").condition("b == 3");
    let set = subject.debugger.set_breakpoint(conditional).await.expect("is set");
    assert_eq!(set.state, BreakpointState::Verified);
    let report = subject.resume(&session, Resume::Continue).await;
    assert_eq!(local(&report, "b").value, "3");

    let log = subject.breakpoint("return").log_message("b is {b}");
    subject.debugger.set_breakpoint(log).await.expect("is set");
    let end = subject.run_out(&session).await;
    assert!(end.output.text.contains("b is 3") && end.output.text.contains("b is 4"), "{end:?}");
    assert!(end.output.text.contains("total"), "{end:?}");
    assert_eq!((end.exit_code, &end.reason), (Some(3), &EndReason::Exited), "{end:?}");
    let error = session.resume(Resume::Continue, None).await.expect_err("over");
    assert_eq!(error.code(), "E_PROGRAM_EXITED");
    assert_eq!(session.wait(LIMIT).await, Ok(Halt::Ended(end)), "it stays the end");
}

/// A breakpoint by the name of a function: set before the program runs, changed while it is stopped, listed
/// with its place, removed.
pub(crate) async fn function_breakpoint(language: Language, function: &str) {
    let subject = Subject::new(language);
    let debugger = &subject.debugger;
    let place = BreakpointPlace::function(function);
    let set = debugger.set_breakpoint(Breakpoint::at(place.clone())).await.expect("is kept");
    assert_eq!(set.state, BreakpointState::Pending, "nothing runs");
    let session = subject.start("sum").await;
    let report = stopped(session.wait(LIMIT).await.expect("a stop"));
    assert_eq!((&*report.reason, &report.hit), ("breakpoint", &vec![place.clone()]));
    let location = report.location.expect("a location");
    assert!(location.function.contains("add"), "{location:?}");
    let [listed] = &debugger.breakpoints()[..] else { panic!("{:?}", debugger.breakpoints()) };
    assert_eq!((&listed.breakpoint.place, &listed.state), (&place, &BreakpointState::Verified));
    if language != Language::Python {
        let (path, line) = listed.location.clone().expect("where it is");
        assert_eq!(Path::new(&path).file_name(), subject.source.file_name());
        assert!((subject.line("add") - 1..=subject.line("add")).contains(&line), "{line}");
    }

    let conditional = Breakpoint::at(place.clone()).condition("b == 3");
    debugger.set_breakpoint(conditional).await.expect("is set");
    let nowhere = BreakpointPlace::function("no_such_function");
    let set = debugger.set_breakpoint(Breakpoint::at(nowhere.clone())).await.expect("is kept");
    assert_eq!(set.state, BreakpointState::Pending, "{set:?}");
    assert!(set.message.is_some_and(|message| message.contains("no_such_function")));
    let report = subject.resume(&session, Resume::Continue).await;
    assert_eq!(report.hit, std::slice::from_ref(&place));
    let frame = Some(report.frames[0].id);
    let b = session.evaluate("b", frame, EvaluateContext::Watch).await.expect("a value");
    assert_eq!(b.value, "3");

    assert!(debugger.remove_breakpoint(&place).await);
    assert!(!debugger.remove_breakpoint(&place).await, "it is gone");
    let end = subject.run_out(&session).await;
    assert_eq!(end.unbound, [nowhere], "{end:?}");
    assert_eq!(debugger.clear_breakpoints().await, 1);
    assert!(debugger.breakpoints().is_empty());
}

/// A data breakpoint stops the program each time that a variable is written, and says what it was and is.
pub(crate) async fn data_breakpoint(language: Language) {
    let subject = Subject::new(language);
    let debugger = &subject.debugger;
    let total = BreakpointPlace::data("total", DataAccess::Write);
    let error = debugger.set_breakpoint(Breakpoint::at(total.clone())).await.expect_err("no frame");
    assert_eq!(error.code(), "E_NO_SESSION");
    subject.break_at("call").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "call").await;
    for (expression, code) in
        [("no_such_name", "E_EVALUATE_FAILED"), ("total + 1", "E_EVALUATE_FAILED")]
    {
        let place = BreakpointPlace::data(expression, DataAccess::Write);
        let error = debugger.set_breakpoint(Breakpoint::at(place)).await.expect_err(expression);
        assert_eq!(error.code(), code, "{error}");
    }
    let set = debugger.set_breakpoint(Breakpoint::at(total.clone())).await.expect("is watched");
    assert_eq!(set.state, BreakpointState::Verified);
    assert!(debugger.remove_breakpoint(&subject.breakpoint("call").place).await);
    let listed: Vec<_> =
        debugger.breakpoints().into_iter().map(|info| info.breakpoint.place).collect();
    assert_eq!(listed, std::slice::from_ref(&total));

    for (old, new) in [("0", "1"), ("1", "3"), ("3", "6")] {
        let report = subject.resume(&session, Resume::Continue).await;
        assert_eq!(report.reason, "data breakpoint");
        let function = report.location.clone().expect("a location").function;
        assert!(function.contains("add_all"), "{function}");
        let again = stopped(session.wait(LIMIT).await.expect("the same stop"));
        for report in [report, again] {
            let [change] = &report.data_changes[..] else { panic!("{report:#?}") };
            let seen = (&*change.expression, change.old.as_deref(), change.new.as_deref());
            assert_eq!(seen, ("total", Some(old), Some(new)));
            assert_eq!(change.returned, None);
        }
    }
    assert!(debugger.remove_breakpoint(&BreakpointPlace::data("total", DataAccess::Read)).await);
    assert!(debugger.breakpoints().is_empty());
    assert_eq!(subject.run_out(&session).await.exit_code, Some(3));
}

/// An adapter without data breakpoints is said to have none.
pub(crate) async fn no_data_breakpoints(language: Language) {
    let subject = Subject::new(language);
    subject.break_at("call").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "call").await;
    let total = Breakpoint::at(BreakpointPlace::data("total", DataAccess::Write));
    let error = subject.debugger.set_breakpoint(total).await.expect_err("it cannot");
    assert_eq!(error.code(), "E_UNSUPPORTED_CAPABILITY");
    assert!(error.to_string().contains("does not support data breakpoints"), "{error}");
    assert!(error.hint().contains("condition"), "{}", error.hint());
    session.stop().await.expect("ends");
}

/// A condition that cannot be evaluated is told, with the reason, by the first report and by the list.
pub(crate) async fn failing_condition(language: Language) {
    let subject = Subject::new(language);
    let conditional = subject.breakpoint("add").condition("nosuch.thing > 3");
    subject.debugger.set_breakpoint(conditional).await.expect("is set");
    let session = subject.start("sum").await;
    let halt = session.wait(LIMIT).await.expect("a halt");
    let failures = match &halt {
        Halt::Stopped(report) => &report.condition_failures,
        Halt::Ended(end) => &end.condition_failures,
    };
    let [said] = failures.as_slice() else { panic!("{halt:#?}") };
    assert!(said.contains("`nosuch.thing > 3` cannot be evaluated"), "{said}");
    assert!(said.contains("nosuch") && !said.contains("user expression"), "{said}");
    let listed = subject.debugger.breakpoints();
    let message = listed[0].message.as_deref().unwrap_or_default();
    assert!(message.starts_with("its condition cannot be evaluated: "), "{listed:#?}");
    if let Halt::Stopped(report) = halt {
        assert_eq!(local(&report, "b").value, "0", "at the first hit");
        let next = subject.resume(&session, Resume::Continue).await;
        assert_eq!(next.condition_failures, [""; 0], "once");
        session.stop().await.expect("ends");
    }
}

/// A breakpoint that does not stop before its third hit.
pub(crate) async fn hit_condition(language: Language) {
    let subject = Subject::new(language);
    let third = subject.breakpoint("add").hit_condition("3");
    subject.debugger.set_breakpoint(third).await.expect("is set");
    let session = subject.start("sum").await;
    let report = subject.stop_at(&session, "add").await;
    assert_eq!(local(&report, "b").value, "2", "the third call");
    session.stop().await.expect("ends");
}

/// A stop before the program's first line.
pub(crate) async fn entry(language: Language) {
    let subject = Subject::new(language);
    let configuration = subject.configuration("threads").with("stopOnEntry", true);
    let session = subject.debugger.start(configuration).await.expect("starts");
    // Delve stops before there is a goroutine, so there may be no frames.
    let report = stopped(session.wait(LIMIT).await.expect("a stop"));
    assert_eq!(report.hit, [], "no breakpoint is set");
    let end = subject.run_out(&session).await;
    assert_eq!(end.reason, EndReason::Exited);
}

/// Into, over, out, and the lines where they lead.
pub(crate) async fn steps(language: Language) {
    let subject = Subject::new(language);
    subject.break_at("call").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "call").await;
    subject.debugger.clear_breakpoints().await;

    let report = subject.resume(&session, Resume::StepInto).await;
    assert_eq!(report.reason, "step");
    let location = report.location.clone().expect("a location");
    assert!(location.function.contains("add"), "{location:?}");
    // Some debuggers stop at the function's first line, before its first statement.
    if location.line < subject.line("add") {
        subject.resume(&session, Resume::StepOver).await;
    }
    subject.stop_at(&session, "add").await;
    subject.resume(&session, Resume::StepOver).await;
    subject.stop_at(&session, "return").await;
    let report = subject.resume(&session, Resume::StepOut).await;
    let function = report.location.expect("a location").function.to_lowercase();
    assert!(function.contains("all"), "{function}");

    let end = subject.run_out(&session).await;
    assert_eq!(end.exit_code, Some(3));
}

/// Evaluating, changing a variable, structure, paging, stale references.
pub(crate) async fn values(language: Language, structure: &str, inside: &str) {
    let subject = Subject::new(language);
    subject.break_at("call").await;
    let session = subject.start("sum").await;
    let report = subject.stop_at(&session, "call").await;

    let sum = session.evaluate("total + 40", None, EvaluateContext::Watch).await.expect("a value");
    assert!(sum.value.contains("40"), "{sum:?}");
    let error = session.evaluate("no_such_name", None, EvaluateContext::Watch).await;
    assert_eq!(error.expect_err("no such name").code(), "E_EVALUATE_FAILED");

    let value = local(&report, structure);
    assert_ne!(value.reference, 0, "{value:?}");
    let page = Page { start: 0, count: 100 };
    let children =
        session.variables(value.reference, VariableFilter::All, page).await.expect("children");
    assert!(children.iter().any(|child| child.value == inside), "{children:#?}");
    let tree = session.variable_tree(None, ScopeFilter::All, 2, 16_000).await.expect("a tree");
    let nodes = tree.scopes.iter().flat_map(|(_, nodes)| nodes);
    let node = nodes.into_iter().find(|node| node.variable.name == structure).expect("in the tree");
    assert!(node.children.iter().any(|child| child.variable.value == inside), "{node:#?}");
    let small = session.variable_tree(None, ScopeFilter::All, 2, 60).await.expect("a tree");
    assert!(!small.rest.is_empty(), "what does not fit is counted: {small:#?}");

    let changed = session.set_variable("total", "100", None).await.expect("is changed");
    assert_eq!(changed.value, "100");
    let again = session.evaluate("total", None, EvaluateContext::Watch).await.expect("a value");
    assert_eq!(again.value, "100");
    let error = session.set_variable("nothing", "1", None).await.expect_err("no such variable");
    assert_eq!(error.code(), "E_INVALID_PARAMS");

    let frame = report.frames[0].id;
    assert!(!session.scopes(frame).await.expect("scopes").is_empty());
    subject.debugger.clear_breakpoints().await;
    let end = subject.run_out(&session).await;
    assert!(end.output.text.contains("total 110"), "the change counts: {end:?}");
    let over = session.scopes(frame).await.expect_err("over");
    assert_eq!(over.code(), "E_PROGRAM_EXITED");
}

/// Each value that the program `values` writes is shown as the program writes it. Returns what is shown.
pub(crate) async fn values_are_what_the_program_says(
    language: Language,
) -> HashMap<String, String> {
    let subject = Subject::named(language, "values");
    subject.break_at("values").await;
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "values").await;
    let locals = all_locals(&session, &report).await.into_iter();
    let shown: HashMap<_, _> = locals.map(|local| (local.name, local.value)).collect();
    session.stop().await.expect("ends");
    assert_said(&subject, &shown, 50);
    shown
}

/// All locals of the innermost frame.
pub(crate) async fn all_locals(session: &DebugSession, report: &StopReport) -> Vec<VariableInfo> {
    let scopes = session.scopes(report.frames[0].id).await.expect("scopes");
    let all = Page { start: 0, count: 0 };
    let locals = session.variables(scopes[0].reference, VariableFilter::All, all).await;
    locals.expect("locals")
}

/// Checks that each value that a program writes, so many at least, is shown as the program writes it.
pub(crate) fn assert_said(subject: &Subject, shown: &HashMap<String, String>, at_least: usize) {
    let said = Command::new(subject.program()).output().expect("runs").stdout;
    let said = String::from_utf8(said).expect("text");
    let said: Vec<_> = said.lines().filter_map(|line| line.split_once('=')).collect();
    assert!(said.len() >= at_least, "{said:?}");
    let is_other =
        |(name, value): &&(&str, &str)| shown.get(*name).is_none_or(|shown| shown != value);
    let wrong: Vec<_> = said
        .iter()
        .filter(is_other)
        .map(|(name, value)| format!("{name}: {:?}, not {value}", shown.get(*name)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Of the exceptions that the program `raises` raises and catches, those of a type stop it, and others do not.
pub(crate) async fn exceptions_by_type(language: Language, types: &[&str], seen: &[&str]) {
    let subject = Subject::named(language, "raises");
    let configuration = subject.configuration("").exceptions(types.iter().copied());
    let session = subject.debugger.start(configuration).await.expect("starts");
    let mut halt = session.wait(LIMIT).await.expect("a halt");
    let mut stops = Vec::new();
    while let Halt::Stopped(report) = halt {
        assert_eq!(report.reason, "exception", "{report:#?}");
        assert_eq!(report.location.as_ref().expect("a location").line, subject.line("raise"));
        stops.push(report.exception.expect("an exception").id);
        halt = session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt");
    }
    assert_eq!(stops, seen);
    let Halt::Ended(end) = halt else { unreachable!() };
    assert_eq!((end.exit_code, end.output.text.as_str()), (Some(0), ""));
}

/// An adapter that cannot stop by type says so before the program runs.
pub(crate) async fn no_exceptions_by_type(language: Language) {
    let subject = Subject::new(language);
    let configuration = subject.configuration("sum").exceptions(["ValueError"]);
    let error = subject.debugger.start(configuration).await.expect_err("it cannot");
    assert_eq!(error.code(), "E_UNSUPPORTED_CAPABILITY");
    assert!(error.to_string().contains("by the type of an exception (ValueError)"), "{error}");
    assert!(subject.debugger.sessions().is_empty(), "nothing is left");
}

/// A crash stops the program where it happens.
pub(crate) async fn crash(language: Language) -> termbridge_dap::StopReport {
    let subject = Subject::new(language);
    let session = subject.start("crash").await;
    let report = subject.stop_at(&session, "crash").await;
    assert!(report.source.iter().any(|line| line.current && line.text.contains("mark: crash")));
    let state = session.info().state;
    assert!(matches!(state, SessionState::Stopped { .. }), "{state:?}");
    session.stop().await.expect("ends");
    report
}

/// A stop in one of several threads, and the stack of another.
pub(crate) async fn threads(language: Language) {
    let subject = Subject::new(language);
    subject.break_at("work").await;
    let session = subject.start("threads").await;
    let report = subject.stop_at(&session, "work").await;
    assert_eq!(local(&report, "answer").value, "42");
    let threads = session.threads().await.expect("threads");
    assert!(threads.len() > 1, "{threads:?}");
    let mine = threads.iter().find(|thread| thread.id == report.thread.id).expect("in the list");
    assert!(mine.stopped);
    let page = Page { start: 0, count: 1 };
    let stack = session.stack(Some(mine.id), page).await.expect("a stack");
    assert_eq!(stack.frames.len(), 1, "one was asked for");
    assert_eq!(stack.frames[0].line, subject.line("work"));
    let rest = session.stack(Some(mine.id), Page { start: 1, count: 50 }).await.expect("a stack");
    assert!(rest.frames.iter().all(|frame| frame.name != stack.frames[0].name), "{rest:?}");
    let other = threads.iter().find(|thread| thread.id != report.thread.id && thread.stopped);
    if let Some(other) = other {
        let stack = session.stack(Some(other.id), Page { start: 0, count: 50 }).await;
        assert!(!stack.expect("a stack").frames.is_empty());
    }
    let end = subject.run_out(&session).await;
    assert_eq!(end.reason, EndReason::Exited);
}

/// Restarting a stopped and an ended program: breakpoints stay, references do not.
pub(crate) async fn restart(language: Language) {
    let subject = Subject::new(language);
    subject.break_at("call").await;
    let session = subject.start("sum").await;
    let first = subject.stop_at(&session, "call").await;
    let frame = first.frames[0].id;
    session.restart(LIMIT).await.expect("restarts");
    let second = subject.stop_at(&session, "call").await;
    assert_eq!(session.info().run, 2);
    assert_ne!(second.frames[0].id, frame);
    assert_eq!(session.scopes(frame).await, Err(DebugError::StaleReference(frame)));
    assert_eq!(local(&second, "total").value, "0", "from the beginning");
    subject.debugger.clear_breakpoints().await;
    assert_eq!(subject.run_out(&session).await.exit_code, Some(3));
    subject.break_at("print").await;
    session.restart(LIMIT).await.expect("restarts");
    subject.stop_at(&session, "print").await;
    assert_eq!(session.info().run, 3);
    session.stop().await.expect("ends");
}

/// A program that does not stop by itself: the wait's end, a pause, no orphan.
pub(crate) async fn pause_and_stop(language: Language) {
    let subject = Subject::new(language);
    let session = subject.start("loop").await;
    let error = session.wait(SHORT).await.expect_err("it runs");
    assert_eq!(error.code(), "E_TIMEOUT");
    assert!(error.to_string().contains("subject"), "it is named: {error}");
    let pid = looping(&session).await;
    let report = stopped(session.pause(LIMIT).await.expect("a stop"));
    assert!(report.location.is_some(), "{report:#?}");
    let end = session.stop().await.expect("ends");
    assert_eq!(end.reason, EndReason::Stopped);
    gone(pid).await;
}

/// Dropping everything ends the program too.
pub(crate) async fn drop_ends_all(language: Language) {
    let subject = Subject::new(language);
    let session = subject.start("loop").await;
    let pid = looping(&session).await;
    drop((subject, session));
    gone(pid).await;
}

/// Waits for the looping program to say its process's number.
pub(crate) async fn looping(session: &termbridge_dap::DebugSession) -> u32 {
    let line = session.wait_for_output("looping ", LIMIT).await.expect("it says so");
    let number = line.split("looping ").nth(1).and_then(|number| number.trim().parse().ok());
    number.unwrap_or_else(|| panic!("no number in {line:?}"))
}

/// A compiled program that runs already: attached to, looked into, left running.
pub(crate) async fn attach_to_program(language: Language) {
    let subject = Subject::new(language);
    let mut program = Program::spawn(Command::new(subject.program()).arg("loop"));
    program.line("looping ");
    let folder = subject.folder.path();
    let configuration = Configuration::attach_to_process(language.kind(), program.pid(), folder);
    let session = subject.debugger.start(configuration).await.expect("attaches");
    subject.break_at("loop").await;
    subject.stop_at(&session, "loop").await;
    let turns = session.evaluate("turns", None, EvaluateContext::Watch).await.expect("a value");
    assert!(turns.value.parse::<u64>().is_ok(), "{turns:?}");
    subject.debugger.clear_breakpoints().await;
    let end = session.stop().await.expect("leaves");
    assert_eq!(end.reason, EndReason::Detached);
    assert!(program.is_running(), "it goes on");
}

/// Two programs at once under one debugger; then all are ended together.
pub(crate) async fn several(language: Language) {
    let subject = Subject::new(language);
    subject.break_at("call").await;
    let (looping_one, summing) = (subject.start("loop").await, subject.start("sum").await);
    let pid = looping(&looping_one).await;
    let report = subject.stop_at(&summing, "call").await;
    assert_eq!(looping_one.wait(SHORT).await.expect_err("it runs").code(), "E_TIMEOUT");
    let found = subject.debugger.session_of(report.frames[0].id).expect("gave it out");
    assert_eq!(found.id(), summing.id());
    let chosen = subject.debugger.session(None).expect("one is stopped");
    assert_eq!(chosen.id(), summing.id(), "the one that is stopped is meant");
    let missing = DebugSessionId::from_text("nobody");
    let error = subject.debugger.session(Some(&missing)).expect_err("there is none");
    assert_eq!(
        (error.code(), error.hint().as_str()),
        ("E_NO_SESSION", "start one with debug_start")
    );
    subject.debugger.shutdown().await;
    assert!(looping_one.is_ended() && summing.is_ended());
    gone(pid).await;
}

/// Where the adapter cannot set the next line, it is refused, and nothing changes.
pub(crate) async fn no_next_line(language: Language) {
    let subject = Subject::new(language);
    subject.break_at("add").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "add").await;
    let error = session.set_next_line(None, subject.line("add"), LIMIT).await.expect_err("cannot");
    assert_eq!(error.code(), "E_UNSUPPORTED_CAPABILITY");
    assert!(error.hint().contains("debug_evaluate"), "{}", error.hint());
    assert!(session.is_stopped());
}
