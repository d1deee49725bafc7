//! Long work waits for its turn; requests do not.

use std::time::Duration;

use termbridge_vt::Size;

use crate::launch::Launch;
use crate::registry::Sessions;
use crate::session::Session;
use crate::settings::Settings;
use crate::wait::Wait;

const LIMIT: Duration = Duration::from_secs(30);

/// More than the terminal's buffers and the batches of a few requests hold, and no time at all to print.
const FLOOD: &str = "head -c 30000000 /dev/zero | tr '\\0' x; echo; echo DONE; exec cat";

fn size(cols: u16) -> Size {
    Size { cols, rows: 24 }
}

async fn until_received(session: &Session) {
    while session.commands().capacity() < session.commands().max_capacity() {
        tokio::task::yield_now().await;
    }
    session.info().await.expect("info");
}

#[tokio::test]
async fn of_the_sizes_asked_for_before_the_turn_the_last_counts() {
    let sessions = Sessions::new(Settings::default());
    let session = sessions.launch(Launch::new("cat")).await.expect("launches");
    let before = session.screen().await.expect("screen").size;
    let turn = sessions.turns().next().await;
    let mut asked = Vec::new();
    for cols in [2, 1000, 100] {
        let resizing = session.clone();
        asked.push(tokio::spawn(async move { resizing.resize(size(cols)).await }));
        tokio::task::yield_now().await;
        until_received(&session).await;
    }
    assert_eq!(session.screen().await.expect("screen").size, before);
    assert!(asked.iter().all(|asked| !asked.is_finished()), "a resize took no turn");
    drop(turn);
    for asked in asked {
        let resized = tokio::time::timeout(LIMIT, asked).await.expect("in time").expect("no panic");
        assert_eq!(resized.expect("resized"), size(100));
    }
    sessions.shutdown().await;
}

#[tokio::test]
async fn a_flood_waits_for_its_turn_and_its_session_answers() {
    let sessions = Sessions::new(Settings::default());
    let launch = Launch::new("/bin/sh").args(["-c", FLOOD]);
    let turn = sessions.turns().next().await;
    let session = sessions.launch(launch).await.expect("launches");
    let done = Wait::text("DONE").timeout(Duration::from_millis(500));
    assert!(session.wait(done).await.expect("waits").fired.is_none(), "the flood took no turn");
    session.screen().await.expect("it answers");
    drop(turn);
    let done = session.wait(Wait::text("DONE").timeout(LIMIT)).await.expect("waits");
    assert!(done.fired.is_some(), "the flood goes on with its turn");
    sessions.shutdown().await;
}
