//! What the tests share: launching, waiting within a limit, processes by event.

use std::future::Future;
use std::time::Duration;

use rustix::process::Pid;
use termbridge_session::{
    Ended, ExitStatus, Fired, Launch, Session, Sessions, Settings, SnapshotRequest, State, Wait,
    Waited,
};

/// Nothing here takes this long unless it hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);
/// Long enough for something wrong to happen.
pub(crate) const A_WHILE: Duration = Duration::from_millis(300);

pub(crate) fn sessions() -> Sessions {
    Sessions::new(Settings::default())
}

pub(crate) fn script(script: &str) -> Launch {
    Launch::new("/bin/sh").args(["-c", script])
}

/// A shell that reads nobody's start-up files: they may take longer than a test.
pub(crate) fn bash() -> Launch {
    Launch::shell("bash").env("HOME", "/nonexistent")
}

pub(crate) fn python(program: &str) -> Launch {
    Launch::new("python3").args(["-c", program])
}

pub(crate) async fn start(sessions: &Sessions, launch: Launch) -> Session {
    limited("launch", sessions.launch(launch)).await.expect("launches")
}

pub(crate) async fn sh(sessions: &Sessions, text: &str) -> Session {
    start(sessions, script(text)).await
}

/// Fails the test instead of hanging it.
pub(crate) async fn limited<T>(what: &str, future: impl Future<Output = T>) -> T {
    let value = tokio::time::timeout(LIMIT, future).await;
    value.unwrap_or_else(|_| panic!("took longer than {LIMIT:?}: {what}"))
}

/// Waits, with [`LIMIT`] where the wait has no limit of its own.
pub(crate) async fn wait(session: &Session, mut wait: Wait) -> Waited {
    wait.timeout.get_or_insert(LIMIT);
    session.wait(wait).await.expect("waits")
}

/// Waits for a condition that must come true.
#[track_caller]
pub(crate) fn fires(session: &Session, condition: Wait) -> impl Future<Output = Fired> {
    let session = session.clone();
    let at = std::panic::Location::caller();
    async move {
        let waited = wait(&session, condition).await;
        let Some(fired) = waited.fired else {
            let screen = session.screen().await.expect("screen").text();
            panic!("{at}: {:?} without it; the screen:\n{screen}", waited.state);
        };
        fired
    }
}

/// Waits for a condition that must not come true for [`A_WHILE`].
pub(crate) async fn stays_away(session: &Session, condition: Wait) -> Waited {
    let waited = wait(session, condition.timeout(A_WHILE)).await;
    assert_eq!(waited.fired, None);
    assert_eq!(waited.state, State::Running);
    waited
}

/// Waits for text.
#[track_caller]
pub(crate) fn see(session: &Session, text: &str) -> impl Future<Output = Fired> {
    fires(session, Wait::text(text))
}

/// Waits for the end.
pub(crate) async fn end(session: &Session) -> Ended {
    let waited = wait(session, Wait::exit()).await;
    match waited.state {
        State::Exited(ended) => ended,
        State::Running => panic!("still running after {LIMIT:?}"),
    }
}

pub(crate) async fn exit_code(session: &Session) -> i32 {
    match end(session).await.status {
        ExitStatus::Code(code) => code,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn text(session: &Session) -> String {
    session.screen().await.expect("screen").text()
}

/// History and screen, line by line.
pub(crate) async fn lines(session: &Session) -> Vec<String> {
    let request = SnapshotRequest { scrollback: Some(usize::MAX), ..SnapshotRequest::default() };
    let snapshot = session.snapshot(request).await.expect("snapshot");
    let scrollback = snapshot.scrollback.expect("asked for");
    scrollback.text.lines().map(str::to_owned).collect()
}

/// How it stands, without using it.
pub(crate) async fn state(session: &Session) -> State {
    session.info().await.expect("info").state
}

/// Looks again and again: for what no event tells.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    limited(what, async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

/// The number that a program prints as `NAME=number `.
pub(crate) async fn number(session: &Session, name: &str) -> i32 {
    let pattern = regex::Regex::new(&format!(r"\b{name}=(\d+)\s")).expect("pattern");
    let Fired::Regex(found) = fires(session, Wait::regex(pattern)).await else {
        panic!("another condition");
    };
    let digits = found.text.trim_end().rsplit('=').next().expect("a number");
    digits.parse().expect("a number")
}

/// Whether a process is there and no zombie.
pub(crate) fn is_alive(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").starts_with(" Z"))
}

/// Waits for a process's end, whoever its parent is.
pub(crate) async fn gone(pid: i32) {
    let pid = Pid::from_raw(pid).expect("a pid");
    let is_gone = tokio::task::spawn_blocking(move || is_gone_in_time(pid)).await;
    assert!(is_gone.expect("no panic"), "process {pid:?} is still there");
}

#[cfg(target_os = "linux")]
fn is_gone_in_time(pid: Pid) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    // What cannot be opened is gone.
    let Ok(handle) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) else {
        return true;
    };
    let limit = Timespec { tv_sec: LIMIT.as_secs() as i64, tv_nsec: 0 };
    poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&limit)) == Ok(1)
}

#[cfg(not(target_os = "linux"))]
fn is_gone_in_time(pid: Pid) -> bool {
    let begun = std::time::Instant::now();
    while rustix::process::test_kill_process(pid).is_ok() {
        if begun.elapsed() > LIMIT {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}
