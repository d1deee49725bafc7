//! Programs that run in a terminal of the caller's, or in pipes when there is none.

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use termbridge_dap::{
    BoxFuture, EndReason, Halt, Resume, TerminalLauncher, TerminalProcess, TerminalRequest,
};
use tokio::process::Command;

use crate::subject::{Language, Subject};
use crate::support::LIMIT;

/// Runs what it is given and remembers it.
#[derive(Default)]
struct Terminal {
    requests: Mutex<Vec<TerminalRequest>>,
}

impl TerminalLauncher for Terminal {
    fn launch(&self, request: TerminalRequest) -> BoxFuture<'_, Result<TerminalProcess, String>> {
        Box::pin(async move {
            let mut command = Command::new(&request.command.program);
            command.args(&request.command.args).stdout(Stdio::null()).process_group(0);
            command.kill_on_drop(true);
            command.current_dir(request.command.cwd.clone().expect("a folder"));
            for (name, value) in &request.command.env {
                match value {
                    Some(value) => command.env(name, value),
                    None => command.env_remove(name),
                };
            }
            let mut child = command.spawn().map_err(|error| error.to_string())?;
            let pid = child.id().expect("it runs");
            // Adapters look whether the process is there: it must not stay a zombie.
            tokio::spawn(async move { child.wait().await });
            self.requests.lock().expect("no panic").push(request);
            Ok(TerminalProcess { pid })
        })
    }
}

/// The program runs in the terminal and is debugged there.
async fn in_terminal(language: Language) {
    let terminal = Arc::new(Terminal::default());
    let launcher: Arc<dyn TerminalLauncher> = Arc::clone(&terminal) as _;
    let subject = Subject::with_terminal(language, launcher);
    subject.break_at("add").await;
    let configuration = subject.configuration("sum").with("console", "integratedTerminal");
    let session = subject.debugger.start(configuration).await.expect("starts");
    subject.stop_at(&session, "add").await;
    {
        let requests = terminal.requests.lock().expect("no panic");
        assert_eq!(requests.len(), 1);
        assert_eq!(requests[0].session, session.id().to_string());
    }
    subject.debugger.clear_breakpoints().await;
    session.resume(Resume::Continue, None).await.expect("goes on");
    let end = loop {
        // Python stops at an exit with a code.
        match session.wait(LIMIT).await.expect("a halt") {
            Halt::Ended(end) => break end,
            Halt::Stopped(_) => {
                // The wait may find the program before it went on.
                let _ = session.resume(Resume::Continue, None).await;
            }
        }
    };
    assert_eq!(end.reason, EndReason::Exited, "{end:?}");
    assert!(!end.output.text.contains("total"), "the terminal has the output: {end:?}");
}

#[tokio::test]
async fn python() {
    in_terminal(Language::Python).await;
}

#[tokio::test]
async fn c() {
    in_terminal(Language::C).await;
}

#[tokio::test]
async fn javascript() {
    in_terminal(Language::JavaScript).await;
}

#[tokio::test]
async fn without_a_terminal_it_is_a_child_with_pipes() {
    let subject = Subject::new(Language::Python);
    subject.break_at("print").await;
    let configuration = subject.configuration("sum").with("console", "integratedTerminal");
    let session = subject.debugger.start(configuration).await.expect("starts");
    subject.stop_at(&session, "print").await;
    subject.resume(&session, Resume::Continue).await;
    let line = session.wait_for_output("total", LIMIT).await.expect("its output");
    assert_eq!(line, "total 10 3");
    session.stop().await.expect("ends");
}
