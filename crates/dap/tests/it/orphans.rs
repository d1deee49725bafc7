//! What is left when the process that debugs is killed, with no chance to clean up: nothing.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use tempfile::TempDir;
use termbridge_dap::{AdapterPaths, CommandLine, Configuration, Debugger, Settings};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::flows::looping;
use crate::subject::{Language, Program, Subject, gone};
use crate::support::limited;

/// The variable that tells a test which language it serves for.
const LANGUAGE: &str = "TERMBRIDGE_TEST_LANGUAGE";

#[tokio::test]
#[ignore = "the process that the other tests kill"]
async fn server() {
    let name = std::env::var(LANGUAGE).expect("is started by another test");
    let language = match name.as_str() {
        "Python" => Language::Python,
        "C" => Language::C,
        "Go" => Language::Go,
        "JavaScript" => Language::JavaScript,
        other => panic!("no language {other}"),
    };
    let subject = Subject::new(language);
    let session = subject.start("loop").await;
    println!("program {} in {}", looping(&session).await, subject.folder.path().display());
    session.over().await;
}

async fn killed(language: Language) {
    let test = std::env::current_exe().expect("a path");
    let mut server = Program::spawn(
        Command::new(test)
            .args(["--ignored", "--exact", "orphans::server", "--nocapture"])
            .env(LANGUAGE, format!("{language:?}")),
    );
    let line = server.line("program ");
    let (number, folder) =
        line.split_once("program ").and_then(|(_, rest)| rest.split_once(" in ")).expect("both");
    let pid = number.parse().expect("a number");
    // Its destructors do not run: the folder is ours to remove.
    server.kill();
    gone(pid).await;
    std::fs::remove_dir_all(folder.trim()).expect("the folder is there");
}

#[tokio::test]
async fn what_left_its_parent_and_its_group_ends_with_the_session() {
    // Job control puts the job into a group of its own, and the shell that started it ends.
    let script = "(set -m; sleep 1000 & echo $!); exec sleep 1000";
    let command = CommandLine::new("/bin/sh").args(["-c", script]);
    let mut tree = command.spawn(Stdio::null()).expect("a shell");
    let (_, stdout, _) = tree.pipes();
    let mut lines = BufReader::new(stdout.expect("a pipe")).lines();
    let line = lines.next_line().await.expect("reads").expect("a line");
    let pid = line.parse().expect("a number");
    tree.end().await.expect("it ended");
    gone(pid).await;
}

#[tokio::test]
async fn python() {
    killed(Language::Python).await;
}

#[tokio::test]
async fn c() {
    killed(Language::C).await;
}

#[tokio::test]
async fn go() {
    killed(Language::Go).await;
}

#[tokio::test]
async fn javascript() {
    killed(Language::JavaScript).await;
}

#[tokio::test]
async fn a_start_that_is_stopped_before_its_adapter_answers_leaves_nothing() {
    let folder = TempDir::new().expect("a folder");
    let (adapter, pipe) = (folder.path().join("dlv"), folder.path().join("pipe"));
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let script = format!("#!/bin/sh\necho $$ > {}\nexec sleep 1000\n", pipe.display());
    std::fs::write(&adapter, script).expect("is written");
    std::fs::set_permissions(&adapter, PermissionsExt::from_mode(0o755)).expect("its mode");
    let program = folder.path().join("main.go");
    std::fs::write(&program, "package main\n").expect("is written");
    let adapters = AdapterPaths { delve: Some(adapter), ..AdapterPaths::default() };
    let debugger = Debugger::new(Settings { adapters, ..Settings::default() });
    let starting = debugger.clone();
    let configuration = Configuration::launch("go", &program, folder.path());
    let start = tokio::spawn(async move { starting.start(configuration).await });
    // Until the adapter runs.
    let pid = tokio::task::spawn_blocking(move || std::fs::read_to_string(pipe)).await;
    let pid = pid.expect("no panic").expect("a line").trim().parse().expect("a number");
    let session = debugger.sessions().pop().expect("it is starting");
    limited("the stop", session.stop()).await.expect("ends");
    assert!(session.is_ended());
    let error = limited("the start", start).await.expect("no panic").expect_err("was stopped");
    assert_eq!(error.code(), "E_ABORTED");
    gone(pid).await;
}
