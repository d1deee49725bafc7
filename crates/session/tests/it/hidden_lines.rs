//! Where hidden lines are for a person alone.

use termbridge_session::{Input, SessionError, Sessions, Settings, Signal, Wait};

use crate::support::{LIMIT, bash, end, script, see, start, text, until};

fn sessions() -> Sessions {
    Sessions::new(Settings { refuse_hidden_lines: true, ..Settings::default() })
}

#[tokio::test]
async fn a_hidden_line_is_not_typed_ahead() {
    let sessions = sessions();
    // It takes its time to come to the hidden line, which does not discard what is there.
    let program = "read a; echo \"first $a.\"; sleep 0.3; stty -echo; read b; echo \"got $b.\"";
    let session = start(&sessions, script(program)).await;
    let sent = session.send_keys("one<Enter>secret<Enter>").await;
    assert!(matches!(sent, Err(SessionError::HiddenLine)), "{sent:?}");
    see(&session, "first one.").await;
    let sent = session.send(vec![Input::Text("secret\n".into())]).await;
    assert!(matches!(sent, Err(SessionError::HiddenLine)), "{sent:?}");
    session.send_keys("Ctrl+C").await.expect("an interrupt is no secret");
    assert_eq!(end(&session).await.signal().as_deref(), Some(Signal::INT.to_string().as_str()));
    assert!(!text(&session).await.contains("got"));
    sessions.shutdown().await;
}

#[tokio::test]
async fn lines_that_are_shown_are_typed_one_after_the_other() {
    let sessions = sessions();
    let program = "while read line; do echo \"<$line>\"; sleep 0.05; done";
    let session = start(&sessions, script(program)).await;
    session.send_keys("one<Enter>two<Enter>three<Enter>").await.expect("typed");
    see(&session, "<three>").await;
    let screen = text(&session).await;
    assert!(screen.contains("<one>") && screen.contains("<two>"), "{screen}");
    let input = vec![Input::Text("four\n".into())];
    let (_, waiting) =
        session.send_then_wait(input, Wait::text("<four>").timeout(LIMIT)).await.expect("typed");
    assert!(waiting.await.expect("waits").fired.is_some());
    sessions.shutdown().await;
}

#[tokio::test]
async fn a_shell_that_asks_for_a_password_does_not_get_one() {
    let sessions = sessions();
    let session = start(&sessions, bash()).await;
    session.execute("true", LIMIT, 0).await.expect("runs");
    let sent = session.send_keys("read -s x<Enter>secret<Enter>").await;
    assert!(matches!(sent, Err(SessionError::HiddenLine)), "{sent:?}");
    session.send_keys("Ctrl+C").await.expect("sent");
    // Refused as long as the prompt has not come back.
    let line = "echo \"$x\"is em''pty<Enter>";
    until("the terminal shows lines", async || session.send_keys(line).await.is_ok()).await;
    see(&session, "is empty").await;
    // The same for a command that is given, not typed.
    session.submit("sleep 0.3; read -s x; echo got $x").await.expect("begins");
    let sent = session.send_keys("secret<Enter>").await;
    assert!(matches!(sent, Err(SessionError::HiddenLine)), "{sent:?}");
    assert!(!text(&session).await.contains("got secret"));
    sessions.shutdown().await;
}
