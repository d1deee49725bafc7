//! A shell's private folder goes with it, whatever happens to the server.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::{ALL, home, launch, ready, run};
use crate::support::{end, gone, sessions, until};

/// Where the server that is killed gets a home which is not lost with it.
const HOME_OF_SERVER: &str = "TERMBRIDGE_TEST_HOME";

/// The folder that the shell was started with, as the kernel remembers.
fn folder_of(pid: i32) -> PathBuf {
    let start = ["cmdline", "environ"].map(|file| std::fs::read(format!("/proc/{pid}/{file}")));
    let start = start.map(|bytes| bytes.expect("readable")).concat();
    let start = String::from_utf8_lossy(&start).into_owned();
    let prefix = std::env::temp_dir().join("termbridge-").display().to_string();
    let at = start.find(&prefix).expect("a private folder");
    let end = start[at + prefix.len()..].find(|c: char| !c.is_ascii_alphanumeric());
    PathBuf::from(&start[at..at + prefix.len() + end.expect("an end")])
}

/// Not a test: the server that the next test kills.
#[test]
#[ignore = "run by a_killed_server_leaves_no_folder"]
fn server() {
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    runtime.block_on(async {
        let sessions = sessions();
        let home = PathBuf::from(std::env::var_os(HOME_OF_SERVER).expect("told by the test"));
        for kind in ALL {
            let session = ready(&sessions, launch(kind, &home)).await;
            let pid = session.info().await.expect("info").pid.expect("a pid");
            println!("\nSHELL {pid} {}", folder_of(pid).display());
        }
        std::future::pending::<()>().await;
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_leaves_no_folder() {
    let home = home();
    let mut server = Command::new(std::env::current_exe().expect("own path"))
        .args(["--ignored", "--exact", "command_table::folder::server", "--nocapture"])
        .env(HOME_OF_SERVER, home.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("server");
    let output = BufReader::new(server.stdout.take().expect("stdout"));
    let lines = output.lines().map(|line| line.expect("line"));
    let shells = lines.filter_map(|line| line.strip_prefix("SHELL ").map(str::to_owned));
    let shells: Vec<_> = shells.take(ALL.len()).collect();
    server.kill().expect("kill");
    server.wait().expect("wait");
    assert_eq!(shells.len(), ALL.len());
    for shell in shells {
        let (pid, folder) = shell.split_once(' ').expect("two words");
        gone(pid.parse().expect("a pid")).await;
        let removed = || async { !std::fs::exists(folder).expect("known") };
        until("the folder's removal", removed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_folder_goes_with_a_restart_and_with_the_session() {
    let (sessions, home) = (sessions(), home());
    for kind in ALL {
        let session = ready(&sessions, launch(kind, home.path())).await;
        let first = folder_of(session.info().await.expect("info").pid.expect("a pid"));
        assert!(first.is_dir(), "{kind:?}");
        session.restart().await.expect("restarts");
        let second = folder_of(session.info().await.expect("info").pid.expect("a pid"));
        assert_ne!(first, second, "{kind:?}");
        until("the first folder's removal", || async { !first.exists() }).await;
        run(&session, "exit").await;
        end(&session).await;
        drop(session);
        sessions.shutdown().await;
    }
}
