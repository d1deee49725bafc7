//! Output: bounded, complete, in order.

use std::time::Duration;

use termbridge_session::{Signal, Wait};

use crate::support::{
    end, exit_code, gone, is_alive, lines, number, sessions, sh, text, until, wait,
};

/// Resident memory of this process.
fn resident() -> usize {
    const PAGE: usize = 4096;
    let statm = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: usize = statm.split(' ').nth(1).expect("resident").parse().expect("a number");
    pages * PAGE
}

#[tokio::test]
async fn two_hundred_megabytes_leave_memory_bounded_and_the_screen_right() {
    const MEGABYTE: usize = 1_000_000;
    // Ten thousand lines of eighty columns at 24 bytes.
    const SCROLLBACK: usize = 20 * MEGABYTE;
    let sessions = sessions();
    let session = sh(
        &sessions,
        "read x; yes 'a line of output, as long as lines of build logs usually are: /usr/include' \
         | head -c 200000000; echo; seq 1 30; echo LAST",
    )
    .await;
    let before = resident();
    session.send_keys("<Enter>").await.expect("sent");
    let mut most = 0;
    loop {
        // Meanwhile it answers.
        most = most.max(resident());
        let waited = wait(&session, Wait::exit().timeout(Duration::from_millis(250))).await;
        if waited.fired.is_some() {
            break;
        }
    }
    most = most.max(resident());
    let grown = most.saturating_sub(before) / MEGABYTE;
    assert!(grown < 64 + SCROLLBACK / MEGABYTE, "grew by {grown} MB");
    let screen = text(&session).await;
    let shown: Vec<&str> = screen.lines().collect();
    let expected: Vec<String> = (9..=30).map(|n: u32| n.to_string()).collect();
    assert_eq!(shown[..22], expected);
    assert_eq!(shown[22], "LAST");
    assert_eq!(lines(&session).await.len(), 10_000 + 23);
}

#[tokio::test]
async fn output_is_complete_and_in_order_at_the_end() {
    let sessions = sessions();
    let session = sh(&sessions, "exec seq 1 100000").await;
    assert_eq!(exit_code(&session).await, 0);
    assert!(text(&session).await.ends_with("99999\n100000"));
    let lines = lines(&session).await;
    assert_eq!(lines.len(), 10_000 + 23);
    let first = 100_000 - lines.len() + 1;
    let expected: Vec<String> = (first..=100_000).map(|n| n.to_string()).collect();
    assert!(lines == expected);
}

#[tokio::test]
async fn last_words_are_never_lost() {
    let sessions = sessions();
    for round in 0..50 {
        let session =
            sh(&sessions, &format!("seq 1 500; printf 'last words {round}'; exit 9")).await;
        assert_eq!(exit_code(&session).await, 9);
        let screen = text(&session).await;
        assert!(screen.ends_with(&format!("500\nlast words {round}")), "{screen}");
    }
}

#[tokio::test]
async fn a_program_ends_though_its_child_keeps_the_terminal() {
    let sessions = sessions();
    let session = sh(&sessions, "trap '' HUP; sleep 600 & echo \"pid=$! \"; exit 4").await;
    assert_eq!(exit_code(&session).await, 4);
    let child = number(&session, "pid").await;
    assert!(is_alive(child));
    // Stopping the session ends what is left of it.
    let stopped = session.stop(Signal::KILL, Duration::ZERO).await.expect("stops");
    assert!(stopped.already);
    assert_eq!(stopped.ended.exit_code(), Some(4));
    gone(child).await;
}

#[tokio::test]
async fn a_program_ends_though_its_child_goes_on_printing() {
    let sessions = sessions();
    let session =
        sh(&sessions, "trap '' HUP; sh -c 'echo pid=$$; while :; do echo noise; done' & exit 4")
            .await;
    let pid = session.info().await.expect("info").pid.expect("a pid");
    assert_eq!(end(&session).await.exit_code(), Some(4));
    until("it is heard", async || text(&session).await.contains("noise")).await;
    let stopped = session.stop(Signal::TERM, Duration::from_millis(50)).await.expect("stops");
    assert!(stopped.already, "{stopped:?}");
    assert_eq!(stopped.ended.exit_code(), Some(4));
    // Nobody is left in its terminal's session.
    let in_session = |entry: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let session = stat.rsplit(')').next()?.split_ascii_whitespace().nth(3)?.to_owned();
        (session == pid.to_string() && !stat.contains(") Z ")).then_some(stat)
    };
    let processes = std::fs::read_dir("/proc").expect("proc").flatten();
    assert_eq!(processes.filter_map(in_session).collect::<Vec<_>>(), Vec::<String>::new());
}
