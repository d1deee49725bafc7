//! Python: what a stop leaves behind when the program runs on, with each version.

use termbridge_dap::{Breakpoint, Configuration, Halt, Resume};

use crate::python_threads::debuggers;
use crate::subject::{Language, Subject, local, stopped};
use crate::support::LIMIT;

/// `CPython` 3.12 keeps them in the module's frame, hidden from the module.
#[tokio::test]
async fn comprehensions_of_a_module_keep_their_variables() {
    let text = "\
def double(x):
    return x * 2

b = 'own'
pairs = [
    (a, b, double(a))  # mark: element
    for a in 'xy' for b in 'pq'
    if a  # mark: log
]
print(pairs, b)
";
    for (python, debugger) in debuggers() {
        let subject = Subject::written(Language::Python, "written", text);
        debugger.set_breakpoint(subject.breakpoint("element")).await.expect("is set");
        let log = subject.breakpoint("log").condition("a").log_message("at {a}");
        debugger.set_breakpoint(log).await.expect("is set");
        let program = Configuration::launch("python", &subject.source, subject.folder.path());
        let session = debugger.start(program).await.expect("starts");
        let mut halt = session.wait(LIMIT).await.expect("a halt");
        // Python comes to the line again behind an element.
        let mut seen = Vec::new();
        let end = loop {
            let report = match halt {
                Halt::Stopped(report) => report,
                Halt::Ended(end) => break end,
            };
            let pair = ["a", "b"].map(|name| local(&report, name).value.clone());
            if seen.last() != Some(&pair) {
                seen.push(pair);
                for way in [Resume::StepInto, Resume::StepOut] {
                    stopped(session.resume_and_wait(way, None, LIMIT).await.expect("a halt"));
                }
            }
            halt = session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt");
        };
        assert_eq!(seen, [["'x'", "'p'"], ["'x'", "'q'"], ["'y'", "'p'"], ["'y'", "'q'"]]);
        let all = "[('x', 'p', 'xx'), ('x', 'q', 'xx'), ('y', 'p', 'yy'), ('y', 'q', 'yy')] own";
        let text = &end.output.text;
        assert!(text.contains(all) && !text.contains("Warning"), "{} {text}", python.display());
    }
}

/// It stops where the caller continues, though the generator never returns.
#[tokio::test]
async fn a_step_out_leaves_a_generator_and_a_module() {
    let module = "first = 1\nsecond = 2\n";
    let text = "\
import imported
def numbers():
    for number in range(3):
        yield number  # mark: here

def one():
    found = next(numbers())
    return found  # mark: next

def total():
    result = 0
    for number in numbers():
        result += number  # mark: loop
    return result

print(one(), total())
";
    for (python, debugger) in debuggers() {
        let subject = Subject::written(Language::Python, "written", text);
        let imported = subject.folder.path().join("imported.py");
        std::fs::write(&imported, module).expect("a module");
        debugger.set_breakpoint(subject.breakpoint("here")).await.expect("is set");
        let first = Breakpoint::new(&imported, 1);
        debugger.set_breakpoint(first).await.expect("is set");
        let program = Configuration::launch("python", &subject.source, subject.folder.path());
        let session = debugger.start(program).await.expect("starts");
        let mut lines = Vec::new();
        let mut report = stopped(session.wait(LIMIT).await.expect("a stop"));
        for way in
            [Resume::StepOut, Resume::Continue, Resume::StepOut, Resume::Continue, Resume::StepOut]
        {
            report = stopped(session.resume_and_wait(way, None, LIMIT).await.expect("a halt"));
            lines.push(report.location.as_ref().expect("a location").line);
        }
        let [here, next, inside] = ["here", "next", "loop"].map(|mark| subject.line(mark));
        assert_eq!(lines, [2, here, next, here, inside], "{}", python.display());
        assert_eq!(local(&report, "number").value, "0");
        session.stop().await.expect("ends");
    }
}
