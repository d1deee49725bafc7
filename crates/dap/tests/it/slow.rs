//! Expressions that do not end.

use std::time::Duration;

use termbridge_dap::{
    Configuration, DebugError, DebugSession, Debugger, EvaluateContext, Settings,
};

use crate::fake::Fake;
use crate::subject::{Language, Subject, adapters, stopped};
use crate::support::{LIMIT, SHORT};

/// A program that stands at a breakpoint, with little time for each expression.
async fn stopped_session(subject: &Subject) -> DebugSession {
    let evaluate_timeout = Duration::from_secs(2);
    let settings = Settings { adapters: adapters(), evaluate_timeout, ..Settings::default() };
    let debugger = Debugger::new(settings);
    debugger.set_breakpoint(subject.breakpoint("add")).await.expect("is set");
    let (kind, folder) = (subject.language.kind(), subject.folder.path());
    let configuration = Configuration::launch(kind, subject.program(), folder).args(["sum"]);
    let session = debugger.start(configuration).await.expect("starts");
    stopped(session.wait(LIMIT).await.expect("a halt"));
    session
}

async fn evaluate(session: &DebugSession, expression: &str) -> Result<String, DebugError> {
    let value = session.evaluate(expression, None, EvaluateContext::Repl).await;
    value.map(|value| value.value)
}

#[tokio::test]
async fn python_is_interrupted_and_the_next_expression_works() {
    let subject = Subject::new(Language::Python);
    let session = stopped_session(&subject).await;
    for slow in ["__import__('time').sleep(600)", "sum(1 for n in iter(int, 1))"] {
        let error = evaluate(&session, slow).await.expect_err("is interrupted");
        assert_eq!(error.code(), "E_EVALUATE_FAILED", "{slow}");
        assert!(error.to_string().contains("interrupted"), "{error}");
        assert_eq!(evaluate(&session, "1 + 1").await.as_deref(), Ok("2"));
    }
}

/// On a busy machine it comes late.
#[tokio::test]
async fn an_interruption_is_reported_after_the_limit() {
    let settings = Settings { evaluate_timeout: SHORT, ..Settings::default() };
    let (debugger, fake) = (Debugger::new(settings), Fake::of("python").await);
    let (session, mut link) = fake.running(&debugger).await;
    link.stop("entry").await;
    let (first, ()) = tokio::join!(session.wait(LIMIT), link.answer_report());
    let frame = stopped(first.expect("a halt")).frames[0].id;
    let script = async {
        let request = link.expect("evaluate").await;
        tokio::time::sleep(4 * SHORT).await;
        link.fail(&request, "Traceback (most recent call last):\nKeyboardInterrupt").await;
    };
    let evaluated = session.evaluate("slow()", Some(frame), EvaluateContext::Repl);
    let (answer, ()) = tokio::join!(evaluated, script);
    let error = answer.expect_err("is interrupted");
    assert_eq!(error.code(), "E_EVALUATE_FAILED");
    assert!(error.to_string().contains("was interrupted"), "{error}");
}

#[tokio::test]
async fn what_cannot_be_interrupted_says_what_to_do() {
    let subject = Subject::new(Language::JavaScript);
    let session = stopped_session(&subject).await;
    for expression in ["(() => { while (true) {} })()", "1 + 1"] {
        let error = evaluate(&session, expression).await.expect_err("it does not end");
        assert_eq!(error.code(), "E_TIMEOUT");
        assert!(error.to_string().contains("may still be busy with this expression"), "{error}");
        assert!(error.hint().contains("debug_restart or debug_stop ends"), "{}", error.hint());
    }
    session.stop().await.expect("it can be ended");
}
