//! The idle time-out: who is ended and who never.

use std::time::Duration;

use termbridge_session::{EndReason, Launch, Session, Sessions, Settings, State, Wait};

use crate::support::{limited, see, sh, start, state, until};

fn sessions(session_timeout: Duration) -> Sessions {
    Sessions::new(Settings { session_timeout, ..Settings::default() })
}

async fn idle(session: &Session) -> bool {
    match state(session).await {
        State::Running => false,
        State::Exited(ended) => {
            assert_eq!(ended.reason, EndReason::Idle);
            true
        }
    }
}

#[tokio::test]
async fn only_a_program_that_waits_for_someone_is_idle() {
    let timed = sessions(Duration::from_millis(250));
    let untimed = sessions(Duration::ZERO);
    let never = start(&untimed, Launch::new("cat")).await;
    let runs = start(&timed, Launch::new("sleep").arg("600")).await;
    let child = sh(&timed, "sleep 600; exec cat").await;
    let prints = sh(&timed, "while :; do echo x; sleep 0.05; done").await;
    let awaited = start(&timed, Launch::new("cat")).await;
    let waiting = awaited.clone();
    let waiting = tokio::spawn(async move {
        waiting.wait(Wait::text("never").timeout(Duration::from_hours(1))).await
    });
    let shell = Launch::new("bash").args(["--norc", "--noprofile", "-i"]);
    // Each outlasts the time-out by as much as these take.
    for launch in [Launch::new("cat"), shell, Launch::new("cat")] {
        let session = start(&timed, launch).await;
        until("it is ended", async || idle(&session).await).await;
        let screen = limited("screen", session.screen()).await;
        assert!(screen.is_ok(), "its last screen can be read");
    }
    for session in [&never, &runs, &child, &prints, &awaited] {
        assert_eq!(state(session).await, State::Running, "{:?}", session.info().await);
    }
    // A wait that was given up does not keep it alive.
    waiting.abort();
    until("it is ended", async || idle(&awaited).await).await;
    assert_eq!(state(&never).await, State::Running);
}

#[tokio::test]
async fn a_session_in_use_is_not_idle() {
    let sessions = sessions(Duration::from_secs(1));
    let used = start(&sessions, Launch::new("cat")).await;
    let idles = start(&sessions, Launch::new("cat")).await;
    until("it is ended", async || {
        used.screen().await.expect("screen");
        idle(&idles).await
    })
    .await;
    used.send_keys("still here<Enter>").await.expect("sent");
    see(&used, "still here").await;
}
