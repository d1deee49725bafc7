//! People who watch, type and take over.

use std::time::Duration;

use termbridge_session::vt::Size;
use termbridge_session::{Session, SessionError, SessionInfo, Sessions, Wait};
use tokio::sync::watch;

use crate::support::{bash, fires, limited, script, sessions, sh, start};

/// Waits until a session's row in the list is as it should be, told by changes alone.
async fn listed(
    sessions: &Sessions,
    changes: &mut watch::Receiver<u64>,
    session: &Session,
    is_right: impl Fn(&SessionInfo) -> bool,
) -> SessionInfo {
    let seek = async {
        loop {
            changes.borrow_and_update();
            let info = sessions.get(session.id()).expect("there").info().await.expect("known");
            if is_right(&info) {
                return info;
            }
            changes.changed().await.expect("the server is there");
        }
    };
    limited("the list", seek).await
}

#[tokio::test]
async fn a_person_takes_over_and_hands_back() {
    let sessions = sessions();
    let cat = sh(&sessions, "stty size; cat").await;
    fires(&cat, Wait::text("24 80")).await;
    let agents = cat.size().await.expect("known");
    cat.type_in("ann", b"typed\r".to_vec()).await.expect("typed");
    fires(&cat, Wait::text("typed\ntyped")).await;
    // Who types drives, in the size of the panel.
    let panel = Size { cols: 50, rows: 12 };
    cat.fit("ben", panel).await.expect("ignored");
    cat.fit("ann", panel).await.expect("fits");
    let info = cat.info().await.expect("known");
    assert_eq!((info.driver.as_deref(), cat.typed_by_people()), (Some("ann"), 6));
    for refused in [
        cat.restart().await,
        cat.send_keys("x").await.map(drop),
        cat.resize(Size { cols: 90, rows: 30 }).await.map(drop),
    ] {
        assert!(matches!(refused, Err(SessionError::TakenOver(_))), "{refused:?}");
    }
    let mut changes = sessions.changes();
    listed(&sessions, &mut changes, &cat, |info| info.size == panel).await;
    cat.hand_back("ann").await.expect("handed back");
    listed(&sessions, &mut changes, &cat, |info| info.driver.is_none() && info.size == agents)
        .await;
    cat.send_keys("mine<Enter>").await.expect("the agent's again");
    fires(&cat, Wait::text("mine")).await;
}

#[tokio::test]
async fn a_person_who_is_gone_keeps_nobody_from_typing() {
    let sessions = sessions();
    let cat = sh(&sessions, "cat").await;
    cat.take_over("ann").await.expect("taken over");
    cat.leave("ben").await.expect("nothing of his");
    cat.leave("ann").await.expect("left");
    assert!(matches!(cat.send_keys("x").await, Err(SessionError::TakenOver(_))), "not at once");
    let given_way = async {
        while cat.send_keys("y").await.is_err() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    limited("it gives way", given_way).await;
    assert_eq!(cat.info().await.expect("known").driver, None);
}

#[tokio::test]
async fn a_person_whose_window_is_reloaded_keeps_the_session() {
    let sessions = sessions();
    let cat = sh(&sessions, "cat").await;
    cat.take_over("ann").await.expect("taken over");
    // She reads for a while, and reloads the window.
    tokio::time::pause();
    tokio::time::advance(Duration::from_mins(1)).await;
    tokio::time::resume();
    cat.leave("ann").await.expect("left");
    let refused = cat.send_keys("x").await;
    assert!(matches!(refused, Err(SessionError::TakenOver(_))), "{refused:?}");
    cat.return_to("ann again").await.expect("back");
    assert_eq!(cat.info().await.expect("known").driver.as_deref(), Some("ann again"));
}

#[tokio::test]
async fn a_session_fits_a_panel_while_its_agent_drives() {
    let sessions = sessions();
    let mut changes = sessions.changes();
    let cat = sh(&sessions, "cat").await;
    let agents = cat.size().await.expect("known");
    let (panel, smaller) = (Size { cols: 70, rows: 14 }, Size { cols: 70, rows: 10 });
    cat.fit_to_panel("ann", panel).await.expect("fits");
    let info = listed(&sessions, &mut changes, &cat, |info| info.size == panel).await;
    assert_eq!((info.fitted_by.as_deref(), info.driver), (Some("ann"), None));
    cat.send_keys("mine<Enter>").await.expect("the agent still types");
    cat.fit("ann", smaller).await.expect("follows the panel");
    listed(&sessions, &mut changes, &cat, |info| info.size == smaller).await;
    cat.restore_size("ben").await.expect("nothing of his");
    cat.restore_size("ann").await.expect("restored");
    let restored = |info: &SessionInfo| info.size == agents && info.fitted_by.is_none();
    listed(&sessions, &mut changes, &cat, restored).await;

    // A person who drives sets the size, and handing back restores the agents' own.
    cat.fit_to_panel("ann", panel).await.expect("fits");
    cat.take_over("ann").await.expect("taken over");
    let refused = cat.fit_to_panel("ben", smaller).await;
    assert!(matches!(refused, Err(SessionError::TakenOver(_))), "{refused:?}");
    cat.hand_back("ann").await.expect("handed back");
    listed(&sessions, &mut changes, &cat, restored).await;

    // An agent's own size stays.
    cat.fit_to_panel("ann", panel).await.expect("fits");
    let chosen = cat.resize(Size { cols: 90, rows: 30 }).await.expect("resized");
    cat.restore_size("ann").await.expect("nothing left to restore");
    let info = cat.info().await.expect("known");
    assert_eq!((info.size, info.fitted_by), (chosen, None));
}

#[tokio::test]
async fn commands_wait_for_the_person_to_hand_back() {
    let sessions = sessions();
    let shell = start(&sessions, bash()).await;
    shell.execute("true", Duration::from_secs(10), 100).await.expect("runs");
    shell.take_over("ann").await.expect("taken over");
    let refused = shell.submit("echo no").await;
    assert!(matches!(refused, Err(SessionError::TakenOver(_))), "{refused:?}");
    shell.type_in("ann", b"echo from-$((1+1))ann\r".to_vec()).await.expect("typed");
    // Its output, which its echo is not, and the prompt after it.
    fires(&shell, Wait::text("from-2ann")).await;
    fires(&shell, Wait { free: true, ..Wait::default() }).await;
    shell.hand_back("ann").await.expect("handed back");
    let report = shell.execute("echo again", Duration::from_secs(10), 100).await.expect("runs");
    assert_eq!(report.output, "again\n");
}

#[tokio::test]
async fn a_password_is_announced_and_typed_by_a_person_alone() {
    let settings = termbridge_session::Settings { refuse_hidden_lines: true, ..Default::default() };
    let sessions = Sessions::new(settings);
    let mut changes = sessions.changes();
    let asks = "printf 'Password for ann: '; stty -echo; read word; stty echo; echo; echo got ${#word}; cat";
    let session = start(&sessions, script(asks)).await;
    let info = listed(&sessions, &mut changes, &session, |info| info.secret_prompt.is_some()).await;
    assert_eq!(info.secret_prompt.as_deref(), Some("Password for ann:"));
    session.sees_password_box("ann", true).await.expect("asked");
    listed(&sessions, &mut changes, &session, |info| info.asks_person).await;
    for (person, is_asked) in [("ben", true), ("ann", false)] {
        session.leave(person).await.expect("left");
        assert_eq!(session.info().await.expect("known").asks_person, is_asked, "{person}");
    }
    session.sees_password_box("ann", true).await.expect("asked again");
    let refused = session.send_keys("guess<Enter>").await;
    assert!(matches!(refused, Err(SessionError::HiddenLine)), "{refused:?}");
    assert!(session.type_secret("ann", "two\rlines".to_owned()).await.is_err());
    session.type_secret("ann", "s3cret".to_owned()).await.expect("typed");
    fires(&session, Wait::text("got 6")).await;
    let info = listed(&sessions, &mut changes, &session, |info| info.secret_prompt.is_none()).await;
    assert_eq!((info.driver, session.typed_by_people()), (None, 0), "it is no take-over");
    assert!(!info.asks_person, "it was answered");
    let refused = session.type_secret("ann", "s3cret".to_owned()).await;
    assert!(matches!(refused, Err(SessionError::Invalid(_))), "{refused:?}");
}

#[tokio::test]
async fn what_a_list_shows_is_told_and_nothing_else() {
    let sessions = sessions();
    let mut changes = sessions.changes();
    let shell = start(&sessions, bash()).await;
    listed(&sessions, &mut changes, &shell, SessionInfo::is_idle_shell).await;
    let command = shell.submit("printf '\\033]2;busy\\007'; read line").await.expect("given");
    listed(&sessions, &mut changes, &shell, |info| {
        info.shell.is_some_and(|shell| shell.running == Some(command)) && info.title == "busy"
    })
    .await;
    shell.stop(termbridge_session::Signal::KILL, Duration::ZERO).await.expect("stopped");
    listed(&sessions, &mut changes, &shell, |info| {
        !matches!(info.state, termbridge_session::State::Running)
    })
    .await;
}
