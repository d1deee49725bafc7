//! Attaching to processes by their number: the debugger is chosen by what they run, and a failure says why.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use termbridge_dap::{
    Configuration, DebugError, Debugger, EndReason, Environment, Settings, TargetProcess,
};

use crate::subject::{Language, Program, Subject, adapters, gone};

/// Lets its parent trace it, so that nobody else can.
const TRACED: &str = "import ctypes, time\n\
                      ctypes.CDLL(None).ptrace(0, 0, 0, 0)\n\
                      print('traced', flush=True)\n\
                      while True: time.sleep(60)";

fn python(script: &str) -> Program {
    let python = adapters().python.expect("a Python");
    let mut program = Program::spawn(Command::new(python).args(["-c", script]));
    program.line("traced");
    program
}

/// Attaches by number alone, stops in the program and leaves it.
async fn attach_and_leave(subject: &Subject, program: &mut Program, kind: &str) {
    let target = TargetProcess::find(program.pid()).expect("it runs");
    assert_eq!(target.kind(), Some(kind));
    let folder = subject.folder.path();
    let configuration = Configuration::attach_to_process(kind, program.pid(), folder);
    subject.break_at("loop").await;
    let session = subject.debugger.start(configuration).await.expect("attaches");
    subject.stop_at(&session, "loop").await;
    subject.debugger.clear_breakpoints().await;
    let end = session.stop().await.expect("leaves");
    assert_eq!(end.reason, EndReason::Detached);
    assert!(program.is_running(), "it goes on");
}

async fn refused(debugger: &Debugger, kind: &str, pid: u32) -> (String, String) {
    let configuration = Configuration::attach_to_process(kind, pid, "/");
    let error = debugger.start(configuration).await.expect_err("it cannot");
    assert_eq!(error.code(), "E_LAUNCH_FAILED", "{error}");
    assert!(debugger.sessions().is_empty(), "nothing is left");
    (error.to_string(), error.hint())
}

#[tokio::test]
async fn node_opens_its_inspector_and_is_attached_to_twice() {
    let subject = Subject::new(Language::JavaScript);
    let mut command = Command::new("node");
    command.arg("--inspect-port=127.0.0.1:0").arg(subject.program()).arg("loop");
    let mut program = Program::spawn(command.stderr(Stdio::null()));
    program.line("looping ");
    attach_and_leave(&subject, &mut program, "node").await;
    // Its inspector is open now.
    attach_and_leave(&subject, &mut program, "node").await;
}

#[tokio::test]
async fn node_that_would_end_by_the_signal_is_not_sent_it() {
    let subject = Subject::new(Language::JavaScript);
    // A listener that is removed leaves the signal to the system.
    let script = "process.on('SIGUSR1', () => {}); process.removeAllListeners('SIGUSR1'); \
                  console.log('ready'); setInterval(() => {}, 1000)";
    let mut program = Program::spawn(Command::new("node").args(["-e", script]));
    program.line("ready");
    let (message, hint) = refused(&subject.debugger, "node", program.pid()).await;
    assert!(message.contains("does not open an inspector"), "{message}");
    assert!(hint.contains("--inspect"), "{hint}");
    assert!(program.is_running(), "it lives");
}

#[tokio::test]
async fn another_program_is_not_signalled_as_node_is() {
    let subject = Subject::new(Language::JavaScript);
    let mut program = python(TRACED);
    let (message, _) = refused(&subject.debugger, "node", program.pid()).await;
    assert!(message.contains("not node"), "{message}");
    assert!(program.is_running(), "it lives");
}

#[tokio::test]
async fn go_is_known_by_its_binary() {
    let subject = Subject::new(Language::Go);
    let folder = subject.folder.path();
    let built = folder.join("built");
    let build = ["build", "-gcflags=all=-N -l", "-o"];
    let status = Command::new("go").args(build).arg(&built).current_dir(folder).status();
    assert!(status.expect("go").success());
    assert_eq!(Configuration::guess_kind(&built), Some("go"), "to be launched, too");
    let mut program = Program::spawn(Command::new(built).arg("loop"));
    program.line("looping ");
    attach_and_leave(&subject, &mut program, "go").await;
}

#[tokio::test]
async fn a_program_of_c_is_left_to_lldb() {
    let subject = Subject::new(Language::C);
    let mut program = Program::spawn(Command::new(subject.program()).arg("loop"));
    program.line("looping ");
    attach_and_leave(&subject, &mut program, "lldb").await;
}

/// Whether gdb can call a function of a process, which not every version can on every machine.
fn gdb_can_call(pid: u32) -> bool {
    let mut gdb = Command::new("gdb");
    let call = ["--nx", "--batch", "-ex", "call (int)getpid()", "-p", &pid.to_string()];
    let output = gdb.args(call).output().expect("gdb");
    String::from_utf8_lossy(&output.stdout).contains(&format!("= {pid}"))
}

#[tokio::test]
async fn python_is_attached_to_through_gdb_which_says_when_it_cannot() {
    let subject = Subject::new(Language::Python);
    let python = adapters().python.expect("a Python");
    let mut program = Program::spawn(Command::new(python).arg(subject.program()).arg("loop"));
    program.line("looping ");
    if gdb_can_call(program.pid()) {
        return attach_and_leave(&subject, &mut program, "python").await;
    }
    let (message, hint) = refused(&subject.debugger, "python", program.pid()).await;
    assert!(message.contains("Couldn't write extended state status"), "{message}");
    assert!(message.len() < 300 && hint.contains("newer"), "{message} {hint}");
    assert!(program.is_running(), "it goes on");
}

#[tokio::test]
async fn what_is_traced_already_says_so_with_every_debugger() {
    let subject = Subject::new(Language::Python);
    for (kind, words) in [
        ("python", "ptrace: Operation not permitted."),
        ("lldb", "lost connection"),
        ("go", "operation not permitted"),
    ] {
        let mut program = python(TRACED);
        let (message, hint) = refused(&subject.debugger, kind, program.pid()).await;
        assert!(message.contains(words), "{kind}: {message}");
        assert!(message.len() < 400 && !message.contains("Traceback"), "{kind}: {message}");
        let tracer = format!("process {} (", std::process::id());
        assert!(hint.contains(&tracer) && hint.contains("debugs it already"), "{kind}: {hint}");
        assert!(program.is_running(), "{kind}");
    }
}

#[tokio::test]
async fn without_gdb_python_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let environment = Environment::of_process().with("PATH", folder.path());
    let settings = Settings { adapters: adapters(), environment, ..Settings::default() };
    let program = python("print('traced', flush=True)\nimport time\ntime.sleep(600)");
    let (message, hint) = refused(&Debugger::new(settings), "python", program.pid()).await;
    assert!(message.contains("gdb: not found"), "{message}");
    assert!(hint.contains("install gdb"), "{hint}");
}

#[tokio::test]
async fn a_process_that_ended_by_the_attach_is_called_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let gdb = folder.path().join("gdb");
    // As gdb does where it leaves a process with broken registers.
    let script = "#!/bin/sh\nuntil [ \"$1\" = --pid ]; do shift; done\nkill -9 \"$2\"\n\
                  echo \"Couldn't write registers\" >&2\nexit 1\n";
    std::fs::write(&gdb, script).expect("a script");
    std::fs::set_permissions(&gdb, Permissions::from_mode(0o755)).expect("is executable");
    let environment = Environment::of_process().with("PATH", folder.path());
    let settings = Settings { adapters: adapters(), environment, ..Settings::default() };
    let program = python("print('traced', flush=True)\nimport time\ntime.sleep(600)");
    let (message, hint) = refused(&Debugger::new(settings), "python", program.pid()).await;
    assert!(message.contains("Couldn't write registers"), "{message}");
    assert!(message.ends_with(&format!("Process {} has ended meanwhile.", program.pid())));
    assert!(hint.starts_with("start it again"), "{hint}");
}

#[tokio::test]
async fn no_process_and_our_own_are_refused_at_once() {
    let debugger = crate::support::debugger();
    let mut program = Program::spawn(Command::new("sleep").arg("600"));
    let over = program.pid();
    program.kill();
    gone(over).await;
    for (pid, words) in [
        (over, "there is no process"),
        (u32::MAX, "there is no process"),
        (std::process::id(), "itself"),
    ] {
        for kind in ["python", "node", "go", "lldb"] {
            let configuration = Configuration::attach_to_process(kind, pid, "/");
            let error = debugger.start(configuration).await.expect_err("refused");
            assert!(matches!(error, DebugError::InvalidParams(_)), "{error:?}");
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
