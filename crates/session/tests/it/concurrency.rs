//! Many sessions at once, and many calls on one.

use std::collections::BTreeSet;

use termbridge_session::vt::Size;
use termbridge_session::{Launch, State, Wait};
use tokio::task::JoinSet;

use crate::support::{LIMIT, end, limited, script, see, sessions, start, state, text};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_sessions_each_get_their_own_output() {
    let sessions = sessions();
    let mut tasks = JoinSet::new();
    for index in 0..50 {
        let sessions = sessions.clone();
        tasks.spawn(async move {
            let launch =
                script("while read x; do echo \"<$x:$TAG>\"; done").env("TAG", index.to_string());
            let session = start(&sessions, launch).await;
            for round in 0..10 {
                session.send_keys(&format!("r{round}<Enter>")).await.expect("sent");
                see(&session, &format!("<r{round}:{index}>")).await;
            }
            let screen = text(&session).await;
            let answers: Vec<&str> = screen.lines().filter(|line| line.starts_with('<')).collect();
            let expected: Vec<String> =
                (0..10).map(|round| format!("<r{round}:{index}>")).collect();
            assert_eq!(answers, expected);
            session.send_keys("<Ctrl+D>").await.expect("sent");
            assert_eq!(end(&session).await.exit_code(), Some(0));
            session.id().clone()
        });
    }
    let mut ids = BTreeSet::new();
    while let Some(id) = limited("the sessions", tasks.join_next()).await {
        ids.insert(id.expect("a session"));
    }
    assert_eq!(ids.len(), 50);
    assert_eq!(sessions.list().await.len(), 50);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_on_one_session_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().expect("folder");
    let sessions = sessions();
    let launch = script("stty -echo; echo READY; exec cat > file").cwd(folder.path());
    let session = start(&sessions, launch).await;
    see(&session, "READY").await;
    let mut tasks = JoinSet::new();
    for index in 0..100_u16 {
        let session = session.clone();
        tasks.spawn(async move {
            let line = format!("line {index} of many{}", "x".repeat(usize::from(index)));
            session.send_keys(&format!("{line}<Enter>")).await.expect("sent");
            assert!(session.screen().await.expect("screen").contains("READY"));
            let size = Size { cols: 80 + index % 3, rows: 24 };
            session.resize(size).await.expect("resized");
            let waited = session.wait(Wait::text("READY").timeout(LIMIT)).await.expect("waits");
            assert!(waited.fired.is_some());
            assert_eq!(state(&session).await, State::Running);
            line
        });
    }
    let mut sent = BTreeSet::new();
    while let Some(line) = limited("the calls", tasks.join_next()).await {
        sent.insert(line.expect("a call"));
    }
    session.send_keys("<Ctrl+D>").await.expect("sent");
    end(&session).await;
    let file = std::fs::read_to_string(folder.path().join("file")).expect("file");
    let arrived: BTreeSet<String> = file.lines().map(str::to_owned).collect();
    assert_eq!(arrived, sent, "each line whole, none lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn launches_at_once_all_succeed() {
    let sessions = sessions();
    let mut tasks = JoinSet::new();
    for _ in 0..60 {
        let sessions = sessions.clone();
        tasks.spawn(async move {
            let session = start(&sessions, Launch::new("true")).await;
            assert_eq!(end(&session).await.exit_code(), Some(0));
        });
    }
    while let Some(done) = limited("the launches", tasks.join_next()).await {
        done.expect("a launch");
    }
}
