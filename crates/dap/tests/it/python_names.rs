//! Names that Python reads and assigns in a frame.

use termbridge_dap::{EvaluateContext, Halt};

use crate::subject::{Language, Subject};
use crate::support::LIMIT;

/// A function that has no variable of a name means the module's.
#[tokio::test]
async fn an_assignment_changes_the_variable_that_the_function_reads() {
    let text = "
rate, other = 1, 1

def work():
    own = 1
    inner = lambda: own
    print('read', rate, other, own, inner())  # mark: here

work()
print('behind', rate, other)
";
    let subject = Subject::written(Language::Python, "subject", text);
    subject.break_at("here").await;
    let session = subject.start("").await;
    subject.stop_at(&session, "here").await;
    for assignment in ["rate = 40", "global other; other = 41", "own = 42", "made = 43"] {
        let set = session.evaluate(assignment, None, EvaluateContext::Repl).await;
        set.expect("is set");
    }
    let made = session.evaluate("made", None, EvaluateContext::Repl).await.expect("a value");
    assert_eq!(made.value, "43", "a variable for the debugger alone");
    let end = subject.run_out(&session).await;
    let said: Vec<_> = end.output.text.split_whitespace().collect();
    assert_eq!(said, ["read", "40", "41", "42", "42", "behind", "40", "41"]);
}

/// The program would fail to read it; the module's variable of the same name is another one.
#[tokio::test]
async fn a_variable_without_a_value_is_not_the_modules() {
    let text = "
total, used = 5, 6

def work():
    print('before')  # mark: here
    total = 1
    return total + used  # mark: log

work()
";
    let subject = Subject::written(Language::Python, "subject", text);
    subject.break_at("here").await;
    let log = subject.breakpoint("log").log_message("then {total} {used}");
    subject.debugger.set_breakpoint(log).await.expect("is set");
    let session = subject.start("").await;
    subject.stop_at(&session, "here").await;
    let unset = session.evaluate("total", None, EvaluateContext::Repl).await;
    let error = unset.expect_err("has no value").to_string();
    assert!(error.contains("name 'total' is not defined"), "{error}");
    for (expression, value) in [("used", "6"), ("globals()['total']", "5")] {
        let shown = session.evaluate(expression, None, EvaluateContext::Repl).await;
        assert_eq!(shown.expect("a value").value, value);
    }
    let log = subject.breakpoint("here").log_message("early {total} {used}");
    subject.debugger.set_breakpoint(log).await.expect("is set");
    let end = subject.run_out(&session).await;
    assert!(end.output.text.contains("then 1 6"), "{:?}", end.output);
    let session = subject.start("").await;
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
    let early = "early <NameError: name 'total' is not defined> 6";
    assert!(end.output.text.contains(early), "{:?}", end.output);
}
