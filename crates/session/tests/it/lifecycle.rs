//! From launch to oblivion: exits, restarts, limits, what is kept.

use std::time::Duration;

use termbridge_session::vt::Size;
use termbridge_session::{
    EndReason, ExitStatus, Launch, SessionError, Sessions, Settings, Signal, SpawnError, State,
    Wait,
};

use crate::support::{
    LIMIT, end, exit_code, fires, gone, is_alive, limited, number, script, see, sessions, sh,
    start, state, text, until,
};

#[tokio::test]
async fn exit_codes_and_signals_are_told() {
    let sessions = sessions();
    for code in [0, 1, 7, 255] {
        let session = sh(&sessions, &format!("exit {code}")).await;
        let ended = end(&session).await;
        assert_eq!(ended.status, ExitStatus::Code(code));
        assert_eq!(ended.reason, EndReason::Itself);
        assert_eq!(ended.to_string(), format!("exit code {code}"));
    }
    for name in ["TERM", "KILL", "HUP", "SEGV", "ABRT", "USR1"] {
        let session = sh(&sessions, &format!("ulimit -c 0; kill -{name} $$; sleep 600")).await;
        let ended = end(&session).await;
        assert_eq!(ended.signal().as_deref(), Some(&*format!("SIG{name}")));
        assert_eq!(ended.to_string(), format!("signal SIG{name}"));
    }
}

#[tokio::test]
async fn a_program_that_cannot_start_is_no_session() {
    let sessions = sessions();
    match sessions.launch(Launch::new("no-such-program")).await {
        Err(SessionError::Spawn(SpawnError::NotFound { program, .. })) => {
            assert_eq!(program, "no-such-program");
        }
        other => panic!("{other:?}"),
    }
    assert!(sessions.all().is_empty());
}

#[tokio::test]
async fn a_finished_session_is_read_and_not_written() {
    let sessions = sessions();
    let session = sh(&sessions, "echo the end; exit 2").await;
    assert_eq!(exit_code(&session).await, 2);
    assert_eq!(text(&session).await, "the end");
    let same = sessions.get(session.id()).expect("kept");
    assert!(matches!(state(&same).await, State::Exited(_)));
    let size = Size { cols: 90, rows: 30 };
    for refused in [session.send_keys("x").await.map(drop), session.resize(size).await.map(drop)] {
        match refused {
            Err(SessionError::Dead { how, .. }) => assert_eq!(how, "exit code 2"),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_restart_keeps_everything_but_the_screen() {
    let folder = tempfile::tempdir().expect("folder");
    let sessions = sessions();
    let launch =
        script("echo \"pid=$$ in $PWD with $FLAG\"; stty size; read x; echo got $x; exec cat")
            .cwd(folder.path())
            .env("FLAG", "a flag")
            .name("mine");
    let session = start(&sessions, launch).await;
    let first = number(&session, "pid").await;
    session.resize(Size { cols: 100, rows: 30 }).await.expect("resized");
    session.send_keys("one<Enter>").await.expect("sent");
    see(&session, "got one").await;
    let seq = session.screen().await.expect("screen").seq;

    limited("restart", session.restart()).await.expect("restarts");
    gone(first).await;
    see(&session, "30 100").await;
    assert!(!text(&session).await.contains("one"), "a clean screen");
    let second = number(&session, "pid").await;
    assert_ne!(first, second);
    let place = format!("in {} with a flag", folder.path().display());
    see(&session, &place).await;
    let info = session.info().await.expect("info");
    assert_eq!((info.pid, info.name.as_deref()), (Some(second), Some("mine")));
    assert_eq!(sessions.all().len(), 1);
    // The counter goes on: what the new program shows is newer than what the old one did.
    fires(&session, Wait::text("with a flag").after(seq)).await;

    // Also after the end.
    session.send_keys("two<Enter>").await.expect("sent");
    see(&session, "got two").await;
    session.send_keys("<Ctrl+D>").await.expect("sent");
    assert_eq!(exit_code(&session).await, 0);
    limited("restart", session.restart()).await.expect("restarts");
    assert_eq!(state(&session).await, State::Running);
    session.send_keys("three<Enter>").await.expect("sent");
    see(&session, "got three").await;
    assert!(!text(&session).await.contains("two"));
}

#[tokio::test]
async fn a_wait_for_change_goes_on_over_a_restart() {
    let sessions = sessions();
    let session = sh(&sessions, "seq 1 200; read x; exit 1").await;
    see(&session, "200").await;
    let waiting = session.clone();
    let seq = session.screen().await.expect("screen").seq;
    let waiting =
        tokio::spawn(async move { waiting.wait(Wait::change().after(seq).timeout(LIMIT)).await });
    tokio::task::yield_now().await;
    limited("restart", session.restart()).await.expect("restarts");
    let waited = limited("the wait", waiting).await.expect("task").expect("waits");
    assert!(waited.fired.is_some() && waited.seq > seq, "{waited:?}");
}

#[tokio::test]
async fn of_restarts_at_once_one_happens() {
    let sessions = sessions();
    let session = sh(&sessions, "echo \"pid=$$ \"; exec cat").await;
    let first = number(&session, "pid").await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let session = session.clone();
        tasks.spawn(async move { session.restart().await });
    }
    let mut done = 0;
    while let Some(result) = limited("restarts", tasks.join_next()).await {
        match result.expect("task") {
            Ok(()) => done += 1,
            Err(SessionError::Changing(_)) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(done >= 1);
    gone(first).await;
    let pid = number(&session, "pid").await;
    assert!(is_alive(pid) && pid != first);
    session.send_keys("works<Enter>").await.expect("sent");
    see(&session, "works").await;
}

/// Processor time of this process, in ticks.
fn ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("stat");
    let fields = stat.rsplit(')').next().expect("fields").split_ascii_whitespace();
    fields.skip(11).take(2).map(|field| field.parse::<u64>().expect("a number")).sum()
}

#[tokio::test]
async fn a_slow_restart_costs_no_processor_time() {
    // The program ends at once, what it left in the background only by KILL after the grace.
    let sessions = sessions();
    let session =
        sh(&sessions, "(trap '' TERM HUP; while :; do sleep 1; done) & echo READY; exec cat").await;
    see(&session, "READY").await;
    let before = ticks();
    limited("restart", session.restart()).await.expect("restarts");
    let used = ticks() - before;
    // Two seconds of grace are 200 ticks.
    assert!(used < 50, "{used} ticks");
    see(&session, "READY").await;
}

#[tokio::test]
async fn a_restart_that_fails_leaves_a_finished_session() {
    let folder = tempfile::tempdir().expect("folder");
    let program = folder.path().join("program");
    std::fs::write(&program, "#!/bin/sh\necho READY\nexec cat\n").expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("executable");
    let sessions = Sessions::new(Settings { max_sessions: 1, ..Settings::default() });
    let session = start(&sessions, Launch::new(&program)).await;
    see(&session, "READY").await;
    let pid = session.info().await.expect("info").pid.expect("a pid");
    std::fs::remove_file(&program).expect("removed");
    let failed = limited("restart", session.restart()).await;
    assert!(matches!(failed, Err(SessionError::Spawn(SpawnError::NotFound { .. }))), "{failed:?}");
    gone(pid).await;
    assert_eq!(end(&session).await.reason, EndReason::Stopped);
    assert_eq!(text(&session).await, "READY", "still readable");
    // Its place is free, and it can be tried again.
    let other = start(&sessions, Launch::new("cat")).await;
    let full = session.restart().await;
    assert!(matches!(full, Err(SessionError::TooManySessions { limit: 1 })), "{full:?}");
    limited("stop", other.stop(Signal::KILL, Duration::ZERO)).await.expect("stops");
    std::fs::write(&program, "#!/bin/sh\necho BACK\nexec cat\n").expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("executable");
    limited("restart", session.restart()).await.expect("restarts");
    see(&session, "BACK").await;
}

#[tokio::test]
async fn no_more_sessions_run_than_allowed() {
    let sessions = Sessions::new(Settings { max_sessions: 2, ..Settings::default() });
    let first = start(&sessions, Launch::new("cat")).await;
    // A launch that fails takes no place.
    sessions.launch(Launch::new("no-such-program")).await.expect_err("not found");
    let second = start(&sessions, Launch::new("cat")).await;
    match sessions.launch(Launch::new("cat")).await {
        Err(SessionError::TooManySessions { limit }) => assert_eq!(limit, 2),
        other => panic!("{other:?}"),
    }
    // Both kinds of end free the place.
    limited("stop", first.stop(Signal::KILL, Duration::ZERO)).await.expect("stops");
    let third = start(&sessions, Launch::new("cat")).await;
    third.send_keys("<Ctrl+D>").await.expect("sent");
    assert_eq!(exit_code(&third).await, 0);
    start(&sessions, Launch::new("cat")).await;
    assert_eq!(state(&second).await, State::Running);
}

#[tokio::test]
async fn a_finished_session_is_kept_for_a_while() {
    let keep_finished = Duration::from_secs(1);
    let sessions = Sessions::new(Settings { keep_finished, ..Settings::default() });
    let running = start(&sessions, Launch::new("cat")).await;
    let session = sh(&sessions, "echo last; exit 8").await;
    let id = session.id().clone();
    assert_eq!(exit_code(&session).await, 8);
    assert_eq!(text(&session).await, "last");
    let listed: Vec<_> = sessions.list().await.into_iter().map(|info| info.id).collect();
    assert_eq!(listed, [running.id().clone(), id.clone()]);
    until("it is forgotten", async || sessions.get(&id).is_err()).await;
    assert!(matches!(sessions.get(&id), Err(SessionError::NotFound(_))));
    let asked = session.screen().await;
    assert!(matches!(asked, Err(SessionError::NotFound(_))), "{asked:?}");
    assert_eq!(sessions.list().await.len(), 1);
    assert_eq!(state(&running).await, State::Running);
}

#[tokio::test]
async fn as_many_finished_sessions_are_kept_as_may_run() {
    let sessions = Sessions::new(Settings { max_sessions: 3, ..Settings::default() });
    let long = start(&sessions, Launch::new("cat")).await;
    let mut short = Vec::new();
    for _ in 0..5 {
        let session = start(&sessions, Launch::new("true")).await;
        exit_code(&session).await;
        short.push(session.id().clone());
    }
    let kept = |id| sessions.get(id).is_ok();
    assert_eq!(short.iter().map(kept).collect::<Vec<_>>(), [false, false, true, true, true]);
    // The one that ended first makes room, not the one that was launched first.
    limited("stop", long.stop(Signal::KILL, Duration::ZERO)).await.expect("stops");
    assert!(kept(long.id()));
    assert_eq!(short.iter().map(kept).collect::<Vec<_>>(), [false, false, false, true, true]);
    // One that runs again is not among them.
    limited("restart", long.restart()).await.expect("restarts");
    exit_code(&start(&sessions, Launch::new("true")).await).await;
    assert!(kept(&short[3]) && kept(long.id()));
}
