//! Many programs come and go; nothing stays.

use std::time::Duration;

use termbridge_pty::{ControlError, ExitStatus, Keeper, Signal, SignalScope};

use crate::support::{limited, read_pids, run, sh};

fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).expect("fd").count()
}

fn children(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("children")
}

/// Releases are not answered; requests are handled in order, so an answer means they are done.
async fn settle(keeper: &Keeper) {
    let program = run(keeper, "cat", &[]).await;
    program.stop(Signal::KILL, Duration::ZERO).await.expect("stop");
    drop(program);
    // Twice: the release of the first is before the spawn of the second.
    let program = run(keeper, "cat", &[]).await;
    program.stop(Signal::KILL, Duration::ZERO).await.expect("stop");
}

#[tokio::test]
async fn two_hundred_spawns_and_stops_leave_nothing() {
    let keeper = Keeper::new();
    let anchor = run(&keeper, "cat", &[]).await;
    settle(&keeper).await;
    let own = std::process::id();
    let pid = keeper.pid().expect("keeper");
    let anchored = format!("{} ", anchor.pid());

    // Only nextest gives a test a process of its own.
    let is_alone = std::env::var_os("NEXTEST").is_some();
    let count = || (if is_alone { descriptors(own) } else { 0 }, descriptors(pid));
    // The last program of a settling may still be on its way out when it is counted.
    settle(&keeper).await;
    let before = settled(&keeper, &anchored, pid, count).await;
    for round in 0..200 {
        let program = match round % 4 {
            0 => run(&keeper, "true", &[]).await,
            1 => run(&keeper, "cat", &[]).await,
            2 => sh(&keeper, "sleep 600 & cat").await,
            _ => sh(&keeper, "(setsid true); trap '' TERM; while :; do sleep 0.02; done").await,
        };
        if round % 8 < 6 {
            program.stop(Signal::TERM, Duration::from_millis(20)).await.expect("stop");
        }
    }
    let after = settled(&keeper, &anchored, pid, count).await;
    assert_eq!(before, after);
    drop(anchor);
    limited("shutdown", keeper.shutdown(Duration::from_secs(1))).await;
}

/// The counts once the keeper has no child but the anchor.
async fn settled<T>(keeper: &Keeper, anchored: &str, pid: u32, count: impl Fn() -> T) -> T {
    settle(keeper).await;
    // Whether a child is gone has no event to wait for: the keeper reaps when it gets to run.
    limited("all children to go", async {
        while children(pid) != anchored {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    count()
}

#[tokio::test]
async fn a_dropped_spawn_leaves_nothing() {
    let keeper = Keeper::new();
    let anchor = run(&keeper, "cat", &[]).await;
    let pid = keeper.pid().expect("keeper");
    for _ in 0..20 {
        tokio::select! {
            biased;
            // Seldom, when the keeper is faster than one turn of the runtime.
            program = run(&keeper, "sleep", &["600"]) => drop(program),
            () = tokio::task::yield_now() => {}
        }
    }
    let anchored = format!("{} ", anchor.pid());
    settled(&keeper, &anchored, pid, || ()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_programs_at_once() {
    let keeper = Keeper::new();
    let mut tasks = tokio::task::JoinSet::new();
    for index in 0..100 {
        let keeper = keeper.clone();
        tasks.spawn(async move {
            let program = sh(&keeper, &format!("read x; exit {index}")).await;
            program.write(b"\n").await.expect("write");
            assert_eq!(program.exited().await, termbridge_pty::ExitStatus::Code(index));
        });
    }
    limited("all", async {
        while let Some(done) = tasks.join_next().await {
            done.expect("task");
        }
    })
    .await;
}

/// Waits until a process is not even a zombie.
async fn reaped(pid: i32) {
    limited("the zombie to go", async {
        // Whether a zombie is gone has no event to wait for.
        while std::path::Path::new(&format!("/proc/{pid}")).exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_stays_a_zombie_while_its_session_has_processes_and_no_longer() {
    let keeper = Keeper::new();
    let parent = sh(&keeper, "trap '' HUP; sleep 600 & echo A=$!; setsid sleep 601 & exit 4").await;
    let [job] = read_pids(&parent, ["A"]).await;
    assert_eq!(parent.exited().await, ExitStatus::Code(4));
    let alone = sh(&keeper, "exit 3").await;
    assert_eq!(alone.exited().await, ExitStatus::Code(3));
    // One look decides about both.
    reaped(alone.pid()).await;
    assert!(std::path::Path::new(&format!("/proc/{}", parent.pid())).exists(), "it has a job");
    let survey = parent.survey().await.expect("surveyed");
    assert!(survey.processes.iter().any(|process| process.pid == job), "{survey:?}");

    // What is known of the one that is gone is still known.
    assert_eq!(alone.exit_status(), Some(ExitStatus::Code(3)));
    assert_eq!((alone.working_directory(), alone.name()), (None, None));
    for scope in [SignalScope::Leader, SignalScope::Foreground, SignalScope::Session] {
        let error = alone.signal(Signal::TERM, scope).await.expect_err("nobody");
        assert!(matches!(error, ControlError::NoProcess), "{error}");
    }
    let report = limited("a stop", alone.stop(Signal::TERM, Duration::ZERO)).await.expect("report");
    assert_eq!((report.status, report.remaining), (Some(ExitStatus::Code(3)), 0));

    let report =
        limited("a stop", parent.stop(Signal::KILL, Duration::ZERO)).await.expect("report");
    assert_eq!(report.status, Some(ExitStatus::Code(4)));
    reaped(parent.pid()).await;
    // What has left the session is known by its mark, not by the session's number.
    let survey = parent.survey().await.expect("surveyed");
    assert_eq!((survey.processes.len(), survey.detached.len()), (0, 1), "{survey:?}");
    limited("shutdown", keeper.shutdown(Duration::ZERO)).await;
}
