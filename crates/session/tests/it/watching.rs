//! Watching a session: a dump, then the stream.

use termbridge_session::vt::{Dump, Options, Terminal};
use termbridge_session::{Launch, Session, Subscription, Update};

use crate::support::{bash, limited, script, see, sessions, start, text};

/// What a watcher sees.
struct Watcher {
    updates: Subscription,
    terminal: Option<Terminal>,
    dumps: usize,
}

impl Watcher {
    async fn of(session: &Session) -> Self {
        let updates = limited("a subscription", session.subscribe()).await.expect("answers");
        Self { updates, terminal: None, dumps: 0 }
    }

    async fn take(&mut self) -> Option<Update> {
        let update = limited("an update", self.updates.next()).await?;
        match &update {
            Update::Dump(dump) => {
                self.dumps += 1;
                self.terminal = Some(restored(dump));
            }
            Update::Output(bytes) => {
                self.terminal.as_mut().expect("a dump comes first").feed(bytes);
            }
            Update::Ended(_) => {}
        }
        Some(update)
    }

    async fn until(&mut self, holds: impl Fn(&Terminal, &Update) -> bool) {
        while let Some(update) = self.take().await {
            if self.terminal.as_ref().is_some_and(|terminal| holds(terminal, &update)) {
                return;
            }
        }
        panic!("the session is gone");
    }

    fn text(&self) -> String {
        let screen = self.terminal.as_ref().expect("a dump came").screen();
        termbridge_session::vt::format::plain(&screen.rows)
    }
}

/// As another terminal would: by what any terminal understands.
fn restored(dump: &Dump) -> Terminal {
    let mut terminal = Terminal::new(dump.size, Options::default());
    terminal.feed(&dump.stream);
    terminal
}

#[tokio::test]
async fn a_watcher_sees_what_the_session_shows() {
    let sessions = sessions();
    let session =
        start(&sessions, script("printf 'before\\n'; read a; printf 'got %s\\n' \"$a\"; exit 3"))
            .await;
    see(&session, "before").await;
    let mut watcher = Watcher::of(&session).await;
    watcher.until(|terminal, _| terminal.screen().rows[0].text().contains("before")).await;
    session.send_keys("it<Enter>").await.expect("sent");
    watcher
        .until(|_, update| matches!(update, Update::Ended(ended) if ended.exit_code() == Some(3)))
        .await;
    assert_eq!(watcher.text(), text(&session).await);
    // One that comes later sees the same.
    let mut late = Watcher::of(&session).await;
    late.until(|_, update| matches!(update, Update::Ended(_))).await;
    assert_eq!(late.text(), text(&session).await);
    sessions.shutdown().await;
}

#[tokio::test]
async fn a_slow_watcher_gets_a_new_dump_and_holds_up_nobody() {
    let sessions = sessions();
    let session = start(&sessions, bash()).await;
    let mut slow = Watcher::of(&session).await;
    slow.take().await.expect("a dump");
    let flood = session.execute("seq 1 300000; echo end of it", crate::support::LIMIT, 0).await;
    assert_eq!(flood.expect("runs").exit_code(), Some(0));
    slow.until(|terminal, _| {
        let screen = terminal.screen();
        screen.rows.iter().any(|row| row.text().starts_with("end of it"))
    })
    .await;
    assert!(slow.dumps > 1, "what it missed came as a dump");
    sessions.shutdown().await;
}

#[tokio::test]
async fn a_new_size_and_a_restart_come_as_dumps() {
    let sessions = sessions();
    let session = start(&sessions, Launch::new("/bin/sh").args(["-c", "echo $$; cat"])).await;
    let mut watcher = Watcher::of(&session).await;
    watcher
        .until(|terminal, _| terminal.screen().rows[0].text().trim().parse::<i32>().is_ok())
        .await;
    session.resize(termbridge_session::vt::Size { cols: 33, rows: 7 }).await.expect("resizes");
    watcher.until(|_, update| matches!(update, Update::Dump(dump) if dump.size.cols == 33)).await;
    session.restart().await.expect("restarts");
    let pid = session.info().await.expect("answers").pid.expect("runs").to_string();
    watcher.until(|terminal, _| terminal.screen().rows[0].text().trim() == pid).await;
    sessions.shutdown().await;
}
