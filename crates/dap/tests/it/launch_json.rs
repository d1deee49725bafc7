//! launch.json to a stopped program: tasks first, compounds, failures.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use termbridge_dap::launch_json::{LaunchFile, Task, Workspace};
use termbridge_dap::{
    BoxFuture, Configuration, DebugError, DebugSession, Debugger, EndReason, Environment, Hooks,
    LastLine, Settings, TaskRunner,
};

use crate::subject::{Language, Subject, adapters};
use crate::support::{LIMIT, debugger};

/// Writes the files and starts a configuration of theirs.
async fn launch(
    subject: &Subject,
    debugger: &Debugger,
    (launch, tasks): (Value, Value),
    name: &str,
) -> Result<Vec<DebugSession>, DebugError> {
    let vscode = subject.folder.path().join(".vscode");
    std::fs::create_dir_all(&vscode).expect("a folder");
    let commented = format!("// of the test\n{launch}");
    std::fs::write(vscode.join("launch.json"), commented).expect("a file");
    std::fs::write(vscode.join("tasks.json"), tasks.to_string()).expect("a file");
    let environment = Environment::of_process();
    let workspace = Workspace {
        folder: subject.folder.path(),
        file: Some(&subject.source),
        line: None,
        environment: &environment,
        inputs: &serde_json::Map::new(),
    };
    let plan = LaunchFile::read(subject.folder.path())?.plan(name, &workspace)?;
    debugger.launch(plan, LIMIT, &LastLine::default()).await
}

fn configuration(name: &str, mode: &str) -> Value {
    json!({"name": name, "type": "debugpy", "request": "launch", "program": "${file}",
           "args": [mode], "preLaunchTask": "prepare"})
}

fn task(command: &str) -> Value {
    json!({"tasks": [{"label": "prepare", "type": "shell", "command": command,
                      "options": {"shell": {"executable": "/bin/sh"}}}]})
}

#[tokio::test]
async fn the_task_is_done_before_the_program_starts() {
    let subject = Subject::new(Language::Python);
    subject.break_at("print").await;
    let files =
        (json!({"configurations": [configuration("sum", "sum")]}), task("echo made > made.txt"));
    let sessions = launch(&subject, &subject.debugger, files, "sum").await.expect("starts");
    let made = std::fs::read_to_string(subject.folder.path().join("made.txt"));
    assert_eq!(made.expect("the task ran"), "made\n");
    subject.stop_at(&sessions[0], "print").await;
    assert_eq!(sessions[0].info().name, "sum");
    sessions[0].stop().await.expect("ends");
}

#[tokio::test]
async fn a_task_that_fails_says_what_it_wrote() {
    let subject = Subject::new(Language::Python);
    let files = (
        json!({"configurations": [configuration("sum", "sum")]}),
        task("echo no such header; exit 3"),
    );
    let error = launch(&subject, &subject.debugger, files, "sum").await.expect_err("fails");
    assert_eq!(error.code(), "E_LAUNCH_FAILED");
    let text = error.to_string();
    assert!(text.contains("\"prepare\"") && text.contains("exit status: 3"), "{text}");
    assert!(text.contains("no such header"), "{text}");
    assert!(subject.debugger.sessions().is_empty());
}

#[tokio::test]
async fn a_compound_ends_together_when_it_says_so() {
    let subject = Subject::new(Language::Python);
    let part = |name: &str| {
        json!({"name": name, "type": "python", "request": "launch", "program": "subject.py",
               "args": ["loop"]})
    };
    let compound = json!({"name": "both", "configurations": ["one", "two"], "stopAll": true});
    let files =
        (json!({"configurations": [part("one"), part("two")], "compounds": [compound]}), json!({}));
    let sessions = launch(&subject, &subject.debugger, files, "both").await.expect("starts");
    assert_eq!(sessions.len(), 2);
    for session in &sessions {
        session.wait_for_output("looping", LIMIT).await.expect("it runs");
    }
    // A restart is no end.
    sessions[0].restart(LIMIT).await.expect("restarts");
    sessions[0].wait_for_output("looping", LIMIT).await.expect("it runs again");
    assert!(sessions.iter().all(|session| !session.is_ended()), "both go on");
    sessions[0].stop().await.expect("ends");
    assert!(subject.debugger.sessions().iter().all(DebugSession::is_ended));
}

#[tokio::test]
async fn a_compound_goes_on_when_one_of_it_ends_by_itself() {
    let subject = Subject::new(Language::Python);
    let part = |name: &str| {
        json!({"name": name, "type": "python", "request": "launch", "program": "subject.py",
               "args": [name]})
    };
    let compound = json!({"name": "both", "configurations": ["loop", "threads"], "stopAll": true});
    let parts = [part("loop"), part("threads")];
    let files = (json!({"configurations": parts, "compounds": [compound]}), json!({}));
    let sessions = launch(&subject, &subject.debugger, files, "both").await.expect("starts");
    crate::support::limited("one to end", sessions[1].over()).await;
    sessions[0].wait_for_output("looping", LIMIT).await.expect("it runs");
    // That one is over already; to stop it does nothing.
    sessions[1].stop().await.expect("is over");
    sessions[0].pause(LIMIT).await.expect("nobody stopped it");
    let ended = sessions[0].stop().await.expect("is over");
    assert_eq!(ended.reason, EndReason::Stopped);
}

#[tokio::test]
async fn when_one_of_a_compound_fails_none_is_left() {
    let subject = Subject::new(Language::Python);
    let good = json!({"name": "one", "type": "python", "request": "launch",
                      "program": "subject.py", "args": ["loop"]});
    let bad = json!({"name": "two", "type": "python", "request": "launch", "program": "no.py"});
    let compound = json!({"name": "both", "configurations": ["one", "two"]});
    let files = (json!({"configurations": [good, bad], "compounds": [compound]}), json!({}));
    let error = launch(&subject, &subject.debugger, files, "both").await.expect_err("fails");
    assert_eq!(error.code(), "E_FILE_NOT_FOUND");
    for session in subject.debugger.sessions() {
        crate::support::limited("the other to end", session.over()).await;
    }
}

/// Remembers tasks and refuses them.
#[derive(Default)]
struct Refusing(Mutex<Vec<Task>>);

impl TaskRunner for Refusing {
    fn run(&self, task: Task, _: LastLine) -> BoxFuture<'_, Result<(), String>> {
        self.0.lock().expect("no panic").push(task);
        Box::pin(async { Err("not here".to_owned()) })
    }
}

#[tokio::test]
async fn the_caller_may_run_tasks_itself() {
    let subject = Subject::new(Language::Python);
    let runner = Arc::new(Refusing::default());
    let tasks: Arc<dyn TaskRunner> = Arc::clone(&runner) as _;
    let settings = Settings { adapters: adapters(), ..Settings::default() };
    let debugger = Debugger::with_hooks(settings, Hooks { terminal: None, tasks: Some(tasks) });
    let files = (json!({"configurations": [configuration("sum", "sum")]}), task("make all"));
    let error = launch(&subject, &debugger, files, "sum").await.expect_err("fails");
    assert_eq!(error.to_string(), "the task \"prepare\" failed: not here");
    let tasks = runner.0.lock().expect("no panic");
    assert_eq!(tasks[0].command.shown(), "/bin/sh -c make all");
}

#[tokio::test]
async fn two_runs_can_be_compared() {
    let subject = Subject::new(Language::Python);
    subject.break_at("print").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "print").await;
    session.set_variable("total", "99", None).await.expect("is changed");
    let end = subject.run_out(&session).await;
    assert_eq!(end.reason, EndReason::Exited);
    session.restart(LIMIT).await.expect("restarts");
    subject.stop_at(&session, "print").await;
    subject.run_out(&session).await;
    let (first, second) = (format!("{}-1", session.id()), session.id().to_string());
    let by = termbridge_dap::events::CompareBy::Outputs;
    let compared = subject.debugger.events().compare(&first, &second, by).expect("both are there");
    let rows: Vec<_> =
        compared.rows.iter().map(|row| (row.a.as_deref(), row.b.as_deref())).collect();
    assert_eq!(rows, [(Some("total 99 3"), Some("total 10 3"))]);
}

#[tokio::test]
async fn a_language_without_an_adapter_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, language) in
        [("Main.java", "Java"), ("App.cs", "C#"), ("app.rb", "Ruby"), ("index.php", "PHP")]
    {
        let program = folder.path().join(file);
        std::fs::write(&program, "").expect("a file");
        let kind = Configuration::guess_kind(&program).expect("its language is known");
        let configuration = Configuration::launch(kind, &program, folder.path());
        let error = debugger().start(configuration).await.expect_err("it cannot");
        assert_eq!(error.code(), "E_UNSUPPORTED_CAPABILITY");
        assert_eq!(error.to_string(), format!("{language} is not supported natively"));
        assert!(error.hint().contains("open the folder in an editor"), "{}", error.hint());
    }
}
