//! The server or the keeper dies; nobody is left behind.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal as Raw;
use termbridge_pty::{
    ControlError, ExitStatus, Keeper, Signal, SignalScope, SpawnError, SpawnSpec,
};

use crate::support::{gone, is_alive, limited, read_pids, run, sh, sh_spec, wait_gone};

/// Plain jobs, jobs that ignore signals, and detached ones.
const SCRIPT: &str = "trap '' HUP TERM INT; sleep 600 & echo A=$!; \
                      setsid sh -c 'sleep 601 & echo B=$!'; \
                      setsid sh -c 'echo C=$$; while :; do sleep 0.05; done' & \
                      echo D=$$; while :; do sleep 0.05; done";

/// Not a test: the server that the next test kills. It prints the pids it is responsible for.
#[test]
#[ignore = "run by server_death_leaves_nothing"]
fn server() {
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    runtime.block_on(async {
        let keeper = Keeper::new();
        let folder = tempfile::tempdir().expect("a folder").keep();
        std::fs::create_dir(folder.join("sub")).expect("a folder");
        std::fs::write(folder.join("sub/file"), "x").expect("written");
        // What a link leads to is not the program's.
        std::os::unix::fs::symlink("/", folder.join("link")).expect("a link");
        let spec = SpawnSpec { private_folder: Some(folder.clone()), ..sh_spec(SCRIPT) };
        let program = keeper.spawn(spec).await.expect("spawns");
        let pids = read_pids(&program, ["A", "B", "C", "D"]).await;
        let keeper_pid = keeper.pid().expect("keeper");
        println!("\nFOLDER {}", folder.display());
        println!("PIDS {keeper_pid} {} {} {} {}", pids[0], pids[1], pids[2], pids[3]);
        std::future::pending::<()>().await;
    });
}

#[test]
fn server_death_leaves_nothing() {
    let mut server = Command::new(std::env::current_exe().expect("own path"))
        .args(["--ignored", "--exact", "death::server", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("server");
    let output = BufReader::new(server.stdout.take().expect("stdout"));
    let mut lines = output.lines().map(|line| line.expect("line"));
    let folder = lines.find_map(|line| line.strip_prefix("FOLDER ").map(PathBuf::from));
    let folder = folder.expect("the program's folder");
    assert!(folder.is_dir());
    let line = lines.find(|line| line.starts_with("PIDS")).expect("the server's pids");
    let pids: Vec<i32> = line.split(' ').skip(1).map(|pid| pid.parse().expect("pid")).collect();
    assert_eq!(pids.len(), 5);
    assert!(pids.iter().all(|&pid| is_alive(pid)));
    server.kill().expect("kill");
    server.wait().expect("wait");
    // Neither the keeper nor a program holds the server's output.
    assert_eq!(lines.next(), None);
    for pid in pids {
        wait_gone(pid);
    }
    // The keeper, which is gone now, has removed it.
    assert!(!folder.exists());
}

#[tokio::test]
async fn a_private_folder_goes_with_its_program() {
    let keeper = Keeper::new();
    let folder = tempfile::tempdir().expect("a folder").keep();
    let spec = SpawnSpec { private_folder: Some(folder.clone()), ..sh_spec("exit 0") };
    let program = keeper.spawn(spec).await.expect("spawns");
    program.exited().await;
    assert!(folder.is_dir(), "as long as somebody holds the program");
    drop(program);
    keeper.shutdown(Duration::ZERO).await;
    assert!(!folder.exists());
    // Nor does it stay when there never was a program.
    std::fs::create_dir(&folder).expect("a folder");
    let spec = SpawnSpec { private_folder: Some(folder.clone()), ..SpawnSpec::new("/no/such") };
    keeper.spawn(spec).await.expect_err("no such program");
    keeper.shutdown(Duration::ZERO).await;
    assert!(!folder.exists());
}

#[tokio::test]
async fn a_keeper_that_does_not_answer_is_not_said_to_be_gone() {
    let keeper = Keeper::new();
    let program = run(&keeper, "cat", &[]).await;
    let pid = rustix::process::Pid::from_raw(keeper.pid().expect("keeper") as i32).expect("pid");
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).expect("stop");
    // The limits run out at once.
    tokio::time::pause();
    let error = keeper.spawn(SpawnSpec::new("true")).await.expect_err("no answer");
    assert!(matches!(error, SpawnError::KeeperSilent { .. }), "{error}");
    let error = program.signal(Signal::TERM, SignalScope::Leader).await.expect_err("no answer");
    assert!(matches!(error, ControlError::KeeperSilent { .. }), "{error}");
    tokio::time::resume();
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).expect("continue");
    let again = limited("a program", sh(&keeper, "exit 4")).await;
    assert_eq!(again.exited().await, ExitStatus::Code(4));
    limited("shutdown", keeper.shutdown(Duration::ZERO)).await;
}

#[tokio::test]
async fn keeper_death_loses_programs_and_a_new_keeper_comes() {
    let keeper = Keeper::new();
    let program = sh(&keeper, "trap '' HUP; sleep 600 & echo A=$!; echo B=$$; wait").await;
    let ended = sh(&keeper, "exit 9").await;
    assert_eq!(ended.exited().await, ExitStatus::Code(9));
    let pids = read_pids(&program, ["A", "B"]).await;
    let first = keeper.pid().expect("keeper");
    let pid = rustix::process::Pid::from_raw(first as i32).expect("pid");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("kill");

    assert_eq!(limited("the loss", program.exited()).await, ExitStatus::Lost);
    assert_eq!(ended.exit_status(), Some(ExitStatus::Code(9)));
    for pid in pids {
        gone(pid).await;
    }
    let error = program.signal(Signal::TERM, SignalScope::Leader).await.expect_err("gone");
    assert!(matches!(error, ControlError::KeeperGone), "{error}");

    let again = sh(&keeper, "exit 4").await;
    assert_eq!(again.exited().await, ExitStatus::Code(4));
    assert_ne!(keeper.pid(), Some(first));
}

#[tokio::test]
async fn signals_of_a_terminal_do_not_end_the_keeper() {
    let keeper = Keeper::new();
    let program = sh(&keeper, "read x; exit 6").await;
    let pid = rustix::process::Pid::from_raw(keeper.pid().expect("keeper") as i32).expect("pid");
    // Its own session, so no Ctrl+C of the server's terminal reaches it; and it ignores these.
    assert_eq!(rustix::process::getsid(Some(pid)), Ok(pid));
    for signal in [Raw::HUP, Raw::INT, Raw::TERM, Raw::PIPE] {
        rustix::process::kill_process(pid, signal).expect("kill");
    }
    program.try_write(b"\n").expect("write");
    assert_eq!(program.exited().await, ExitStatus::Code(6));
}

#[tokio::test]
async fn letting_go_of_every_handle_ends_the_keeper() {
    let keeper = Keeper::new();
    let program = sh(&keeper, "setsid sleep 600 & echo A=$!; cat").await;
    let [detached] = read_pids(&program, ["A"]).await;
    let pid = keeper.pid().expect("keeper") as i32;
    drop(keeper);
    program.survey().await.expect("a program keeps the keeper");
    drop(program);
    gone(detached).await;
    gone(pid).await;
}
