//! Stopping: signal, grace, KILL; at once, twice, too late.

use std::time::Duration;

use termbridge_session::{EndReason, ExitStatus, Launch, Session, SessionError, Signal, State};

use crate::support::{
    LIMIT, end, exit_code, gone, is_alive, limited, number, python, see, sessions, sh, start, state,
};

async fn stop(session: &Session, signal: Signal, grace: Duration) -> termbridge_session::Stopped {
    limited("stop", session.stop(signal, grace)).await.expect("stops")
}

#[tokio::test]
async fn a_program_that_follows_its_signal_ends_by_it() {
    let sessions = sessions();
    let session = start(&sessions, Launch::new("cat")).await;
    let stopped = stop(&session, Signal::TERM, LIMIT).await;
    assert_eq!(stopped.ended.signal().as_deref(), Some("SIGTERM"));
    assert_eq!(stopped.ended.reason, EndReason::Stopped);
    assert_eq!((stopped.already, stopped.killed), (false, 0));
    assert_eq!(state(&session).await, State::Exited(stopped.ended));

    let session =
        sh(&sessions, "trap 'echo bye; exit 5' INT; echo READY; while :; do sleep 0.01; done")
            .await;
    see(&session, "READY").await;
    let stopped = stop(&session, Signal::INT, LIMIT).await;
    assert_eq!(stopped.ended.exit_code(), Some(5));
    see(&session, "bye").await;
}

#[tokio::test]
async fn a_program_that_ignores_its_signal_is_killed() {
    let sessions = sessions();
    let session = sh(&sessions, "trap '' TERM HUP; echo READY; while :; do sleep 0.01; done").await;
    see(&session, "READY").await;
    let stopped = stop(&session, Signal::TERM, Duration::from_millis(100)).await;
    assert_eq!(stopped.ended.signal().as_deref(), Some("SIGKILL"));
    assert!(stopped.killed >= 1);
}

#[tokio::test]
async fn two_stops_at_once_both_get_the_answer() {
    let sessions = sessions();
    let session = sh(&sessions, "trap '' TERM HUP; echo READY; while :; do sleep 0.01; done").await;
    see(&session, "READY").await;
    let grace = Duration::from_millis(100);
    let (first, second) =
        tokio::join!(stop(&session, Signal::TERM, grace), stop(&session, Signal::TERM, grace));
    assert_eq!(first, second);
    assert_eq!(first.ended.signal().as_deref(), Some("SIGKILL"));
}

#[tokio::test]
async fn a_second_stop_may_be_harder_than_the_first() {
    let sessions = sessions();
    let session = sh(&sessions, "trap '' TERM HUP; echo READY; while :; do sleep 0.01; done").await;
    see(&session, "READY").await;
    let patient = session.clone();
    let patient =
        tokio::spawn(async move { patient.stop(Signal::TERM, Duration::from_mins(5)).await });
    // While it is being stopped nothing is sent to it.
    limited("the first stop", async {
        while !matches!(session.send_keys("x").await, Err(SessionError::Changing(_))) {}
    })
    .await;
    let stopped = stop(&session, Signal::KILL, Duration::ZERO).await;
    assert_eq!(stopped.ended.signal().as_deref(), Some("SIGKILL"));
    let first = limited("the first", patient).await.expect("task").expect("stops");
    assert_eq!(first.ended, stopped.ended);
}

#[tokio::test]
async fn a_stop_goes_on_when_its_caller_is_gone() {
    let sessions = sessions();
    let session = sh(&sessions, "trap '' TERM HUP; echo READY; while :; do sleep 0.01; done").await;
    see(&session, "READY").await;
    let dropped = session.stop(Signal::TERM, Duration::from_millis(50));
    assert!(tokio::time::timeout(Duration::from_millis(1), dropped).await.is_err());
    assert_eq!(end(&session).await.signal().as_deref(), Some("SIGKILL"));
}

#[tokio::test]
async fn a_stop_after_the_end_says_so() {
    let sessions = sessions();
    let session = sh(&sessions, "exit 6").await;
    assert_eq!(exit_code(&session).await, 6);
    let stopped = stop(&session, Signal::TERM, LIMIT).await;
    assert!(stopped.already);
    assert_eq!(stopped.ended.status, ExitStatus::Code(6));
    assert_eq!(stopped.ended.reason, EndReason::Itself);

    let session = start(&sessions, Launch::new("cat")).await;
    assert!(!stop(&session, Signal::TERM, LIMIT).await.already);
    let again = stop(&session, Signal::TERM, LIMIT).await;
    assert!(again.already, "it had ended before the request");
    assert_eq!(again.ended.signal().as_deref(), Some("SIGTERM"));
}

#[tokio::test]
async fn background_jobs_end_with_their_shell() {
    let sessions = sessions();
    let shell = Launch::new("bash").args(["--norc", "--noprofile", "-i"]);
    let session = start(&sessions, shell.env("PS1", "$ ")).await;
    see(&session, "$ ").await;
    session
        .send_keys("sleep 600 & echo one=$!; (trap '' TERM HUP; echo ar''med; sleep 600) & echo two=$!<Enter>")
        .await
        .expect("sent");
    let jobs = [number(&session, "one").await, number(&session, "two").await];
    see(&session, "armed").await;
    let stopped = stop(&session, Signal::TERM, Duration::from_millis(500)).await;
    assert!(stopped.killed >= 1, "{stopped:?}");
    for job in jobs {
        gone(job).await;
    }
}

#[tokio::test]
async fn what_left_the_terminal_is_reported_and_ends_with_the_server() {
    let sessions = sessions();
    // The process that prints its id is the one that stays: a shell would still have to become it.
    let left = "import os, time\nprint(f'pid={os.getpid()} ', flush=True)\ntime.sleep(600)";
    let session = sh(&sessions, &format!("setsid python3 -c \"{left}\" & exec cat")).await;
    let pid = number(&session, "pid").await;
    let stopped = stop(&session, Signal::TERM, LIMIT).await;
    let detached: Vec<i32> = stopped.detached.iter().map(|process| process.pid).collect();
    assert_eq!(detached, [pid]);
    assert_eq!(stopped.detached[0].name, "python3");
    assert!(is_alive(pid));
    limited("shutdown", sessions.shutdown()).await;
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn a_shutdown_ends_every_session() {
    let sessions = sessions();
    let mut all = Vec::new();
    for _ in 0..5 {
        all.push(sh(&sessions, "trap '' TERM HUP; echo READY; while :; do sleep 0.01; done").await);
    }
    for session in &all {
        see(session, "READY").await;
    }
    limited("shutdown", sessions.shutdown()).await;
    for session in &all {
        let ended = end(session).await;
        assert!(matches!(ended.status, ExitStatus::Signal { .. }), "{ended:?}");
    }
}

#[tokio::test]
async fn output_that_the_terminal_is_too_slow_to_take_is_dropped_with_a_notice() {
    // Each three bytes fill a million cells, and the system holds thousands of them.
    let flood = "import os\nwhile True: os.write(1, b'\\x1b#8' * 20000)";
    let sessions = sessions();
    let session = start(&sessions, python(flood).size(1000, 1000)).await;
    see(&session, "EEEE").await;
    stop(&session, Signal::KILL, Duration::ZERO).await;
    see(&session, "bytes of output dropped").await;
}
