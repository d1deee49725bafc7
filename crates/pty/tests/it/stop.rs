//! Ending a session, and what is not ended with it.

use std::sync::Arc;
use std::time::Duration;

use termbridge_pty::{ExitStatus, Keeper, Signal};

use crate::support::{gone, is_alive, limited, read_pids, read_to, run, sh};

/// A grace that no test waits for.
const NEVER: Duration = Duration::from_hours(1);
const KILLED: ExitStatus = ExitStatus::Signal { number: 9, core_dumped: false };

#[tokio::test]
async fn an_obedient_program_ends_by_the_signal_without_the_grace() {
    let keeper = Keeper::new();
    let program = run(&keeper, "sleep", &["600"]).await;
    let stop = program.stop(Signal::TERM, NEVER);
    let report = limited("the end, not the grace,", stop).await.expect("stop");
    assert_eq!(report.status, Some(ExitStatus::Signal { number: 15, core_dumped: false }));
    assert_eq!((report.killed, report.remaining), (0, 0));
    assert!(report.detached.is_empty());
    assert_eq!(program.exit_status(), report.status);
}

#[tokio::test]
async fn background_jobs_in_groups_of_their_own_end_too() {
    let keeper = Keeper::new();
    let script = "set -m; sleep 600 & echo A=$!; \
                  sh -c 'trap \"\" TERM HUP; echo B=$$; while :; do sleep 0.05; done' & \
                  trap '' TERM HUP; echo C=$$; while :; do sleep 0.05; done";
    let program = run(&keeper, "bash", &["-c", script]).await;
    let [a, b, c] = read_pids(&program, ["A", "B", "C"]).await;
    let report = program.stop(Signal::TERM, Duration::from_millis(200)).await.expect("stop");
    assert_eq!(report.status, Some(KILLED));
    assert!(report.killed >= 2, "{report:?}");
    assert_eq!(report.remaining, 0);
    for pid in [a, b, c] {
        assert!(!is_alive(pid));
    }
}

#[tokio::test]
async fn a_stopped_process_sees_the_signal() {
    let keeper = Keeper::new();
    let program = sh(&keeper, "trap 'exit 5' TERM; echo ready; kill -STOP $$; sleep 600").await;
    read_to(&program, "ready").await;
    let report = program.stop(Signal::TERM, Duration::from_secs(30)).await.expect("stop");
    // The sleep, if it was already there, had the signal too.
    assert_eq!((report.status, report.killed), (Some(ExitStatus::Code(5)), 0));
}

#[tokio::test]
async fn jobs_that_outlive_the_leader_are_still_the_sessions() {
    let keeper = Keeper::new();
    let program = sh(&keeper, "trap '' HUP; sleep 600 & echo JOB=$!; exit 3").await;
    let [job] = read_pids(&program, ["JOB"]).await;
    assert_eq!(program.exited().await, ExitStatus::Code(3));
    assert!(is_alive(job));
    let survey = program.survey().await.expect("survey");
    assert_eq!(survey.processes.iter().map(|p| p.pid).collect::<Vec<_>>(), [job]);
    let report = program.stop(Signal::TERM, Duration::from_secs(30)).await.expect("stop");
    assert_eq!((report.status, report.killed), (Some(ExitStatus::Code(3)), 0));
    assert!(!is_alive(job));
    // And once more, on nothing.
    let report = program.stop(Signal::TERM, Duration::from_secs(30)).await.expect("stop");
    assert_eq!(report.status, Some(ExitStatus::Code(3)));
}

#[tokio::test]
async fn what_detached_is_reported_left_alone_and_ended_with_the_keeper() {
    let keeper = Keeper::new();
    // One whose parent lives, one double-forked.
    let script = "setsid sleep 601 & setsid sh -c 'sleep 602 & echo DOUBLE=$!'; \
                  until grep -q sleep /proc/$!/comm; do :; done; echo SINGLE=$!; exec sleep 603";
    let program = sh(&keeper, script).await;
    let [double, single] = read_pids(&program, ["DOUBLE", "SINGLE"]).await;
    let mut expected = [double, single];
    expected.sort_unstable();
    // In the middle of its exec an orphan cannot be told.
    limited("both to be seen", async {
        loop {
            let survey = program.survey().await.expect("survey");
            let mut detached: Vec<i32> =
                survey.detached.iter().map(|process| process.pid).collect();
            detached.sort_unstable();
            if detached == expected {
                break;
            }
        }
    })
    .await;

    let report = program.stop(Signal::TERM, Duration::from_secs(30)).await.expect("stop");
    let mut detached: Vec<i32> = report.detached.iter().map(|process| process.pid).collect();
    detached.sort_unstable();
    assert_eq!(detached, expected);
    assert!(report.detached.iter().all(|process| process.name == "sleep"));
    assert_eq!(report.killed, 0);
    drop(program);

    let other = run(&keeper, "cat", &[]).await;
    assert!(is_alive(single) && is_alive(double));
    let survey = other.survey().await.expect("survey");
    // Same label in this test, so the orphans look like this program's.
    assert_eq!(survey.processes.len(), 1);

    let pid = keeper.pid().expect("keeper") as i32;
    limited("shutdown", keeper.shutdown(Duration::from_secs(5))).await;
    assert!(!is_alive(single) && !is_alive(double) && !is_alive(pid));
    assert_eq!(other.exit_status(), Some(ExitStatus::Signal { number: 1, core_dumped: false }));
    assert_eq!(keeper.pid(), None);
}

#[tokio::test]
async fn shutdown_kills_what_ignores_it_and_a_later_spawn_works() {
    let keeper = Keeper::new();
    let script = "trap '' HUP TERM INT; setsid sh -c 'echo A=$$; while :; do sleep 0.05; done' & \
                  while :; do sleep 0.05; done";
    let program = sh(&keeper, script).await;
    let [stubborn] = read_pids(&program, ["A"]).await;
    limited("shutdown", keeper.shutdown(Duration::from_millis(100))).await;
    assert!(!is_alive(stubborn));
    assert_eq!(program.exit_status(), Some(KILLED));
    let again = sh(&keeper, "exit 4").await;
    assert_eq!(again.exited().await, ExitStatus::Code(4));
}

#[tokio::test]
async fn dropping_a_running_program_ends_it() {
    let keeper = Keeper::new();
    let script = "trap '' HUP; sh -c 'echo JOB=$$; exec sleep 600' & wait";
    let program = sh(&keeper, script).await;
    let [job] = read_pids(&program, ["JOB"]).await;
    let leader = program.pid();
    drop(program);
    gone(job).await;
    gone(leader).await;
}

#[tokio::test]
async fn stops_of_many_go_on_at_once() {
    let keeper = Keeper::new();
    let mut programs = Vec::new();
    for _ in 0..10 {
        let program =
            sh(&keeper, "trap '' TERM HUP; echo ready; while :; do sleep 0.05; done").await;
        read_to(&program, "ready").await;
        programs.push(Arc::new(program));
    }
    let mut stops = tokio::task::JoinSet::new();
    for program in &programs {
        let program = Arc::clone(program);
        stops.spawn(async move { program.stop(Signal::TERM, NEVER).await });
    }
    // Requests are answered meanwhile.
    let other = limited("another program", run(&keeper, "cat", &[])).await;
    limited("a survey", other.survey()).await.expect("survey");
    assert!(stops.try_join_next().is_none(), "none ends within its grace");
    // A stop that joins one under way shortens its grace.
    for program in programs.into_iter().rev() {
        stops.spawn(async move { program.stop(Signal::TERM, Duration::ZERO).await });
    }
    while let Some(report) = limited("the ends", stops.join_next()).await {
        assert_eq!(report.expect("task").expect("stop").status, Some(KILLED));
    }
}

/// The processor time of a keeper that stops so many programs at once, for each of them.
#[cfg(target_os = "linux")]
async fn time_to_stop_each(count: u32) -> Duration {
    let keeper = Keeper::new();
    let mut programs = Vec::new();
    for _ in 0..count {
        programs.push(run(&keeper, "sleep", &["600"]).await);
    }
    let pid = keeper.pid().expect("keeper");
    let used = || {
        let times = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).expect("schedstat");
        let running = times.split_whitespace().next().expect("a time").parse().expect("a number");
        Duration::from_nanos(running)
    };
    let before = used();
    let mut stops = tokio::task::JoinSet::new();
    for program in programs {
        stops.spawn(async move {
            program.stop(Signal::TERM, NEVER).await.expect("stop");
            program
        });
    }
    // None is released before the last is stopped: that is work of its own.
    let stopped = limited("the ends", stops.join_all()).await;
    let used = used().saturating_sub(before);
    drop(stopped);
    used / count
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn one_of_many_is_stopped_with_as_little_work_as_one_of_few() {
    let few = time_to_stop_each(30).await;
    let many = time_to_stop_each(300).await;
    assert!(many < 3 * few, "{many:?} for each of 300, {few:?} for each of 30");
}
