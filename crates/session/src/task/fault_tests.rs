//! A panic in a session's task ends that session and nothing else.

use std::time::Duration;

use super::Command;
use crate::error::SessionError;
use crate::launch::Launch;
use crate::registry::Sessions;
use crate::settings::Settings;
use crate::wait::Wait;

const LIMIT: Duration = Duration::from_secs(30);

fn cat() -> Launch {
    Launch::new("cat")
}

#[tokio::test]
async fn a_panic_ends_its_own_session_alone() {
    // As many as may run, so that a place that is not given back shows.
    let sessions = Sessions::new(Settings { max_sessions: 2, ..Settings::default() });
    let healthy = sessions.launch(cat()).await.expect("launches");
    let faulty = sessions.launch(cat()).await.expect("launches");
    let pid = faulty.info().await.expect("info").pid.expect("runs");
    let waiting = tokio::spawn({
        let faulty = faulty.clone();
        async move { faulty.wait(Wait::exit().timeout(LIMIT)).await }
    });
    // The wait is under way when an answer to a later request has come.
    while faulty.commands().capacity() < faulty.commands().max_capacity() {
        tokio::task::yield_now().await;
    }
    faulty.info().await.expect("info");
    faulty.commands().send(Command::Panic).await.expect("sent");
    let waited = waiting.await.expect("the caller does not panic");
    assert!(matches!(waited, Err(SessionError::Gone)), "{waited:?}");
    faulty.commands().closed().await;
    // The program is ended by the keeper, which takes its time.
    let gone = async {
        while std::path::Path::new(&format!("/proc/{pid}")).exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LIMIT, gone).await.expect("the program is ended");
    let removed = async {
        while sessions.get(faulty.id()).is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, removed).await.expect("the session is not listed");
    let asked = faulty.screen().await;
    assert!(matches!(asked, Err(SessionError::NotFound(_))), "{asked:?}");

    healthy.send_keys("still here<Enter>").await.expect("sent");
    let seen = healthy.wait(Wait::text("still here").timeout(LIMIT)).await.expect("waits");
    assert!(seen.fired.is_some());
    sessions.launch(cat()).await.expect("the place is free again");
    sessions.shutdown().await;
}

#[tokio::test]
async fn a_panic_beside_the_loop_is_an_answer() {
    let sessions = Sessions::new(Settings::default());
    let session = sessions.launch(cat()).await.expect("launches");
    session.commands().send(Command::PanicBeside).await.expect("sent");
    // The loop does not wait for the survey that panicked: it makes another.
    let wait = Wait { needs_input: true, ..Wait::default() }.timeout(LIMIT);
    assert!(session.wait(wait).await.expect("waits").fired.is_some());
    sessions.shutdown().await;
}
