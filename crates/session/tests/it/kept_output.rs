//! The budgets of all commands' output.

use termbridge_session::{CommandReport, Session, Sessions, Settings};

use crate::support::{LIMIT, bash, start, until};

const MEGABYTE: usize = 1024 * 1024;

/// Prints so many bytes in lines of 64.
fn print(bytes: usize) -> String {
    let line = "x".repeat(57);
    format!("for ((i = 1; i <= {}; i++)); do printf '%05d {line}\\n' $i; done", bytes / 64)
}

async fn shell(sessions: &Sessions) -> Session {
    start(sessions, bash()).await
}

async fn run(session: &Session, command: &str) -> CommandReport {
    session.execute(command, LIMIT, 0).await.expect("runs")
}

async fn report(session: &Session, id: u64) -> CommandReport {
    session.command(id, 0, u64::MAX).await.expect("answers").expect("is kept")
}

#[tokio::test]
async fn the_oldest_commands_of_the_largest_session_go_first() {
    let sessions = Sessions::new(Settings { output_disk: 2 * MEGABYTE, ..Settings::default() });
    let (small, large) = (shell(&sessions).await, shell(&sessions).await);
    let kept = run(&small, &print(300 * 1024)).await.id;
    for _ in 0..5 {
        run(&large, &print(700 * 1024)).await;
    }
    until("the oldest goes", async || report(&large, 1).await.dropped_bytes > 0).await;
    let oldest = report(&large, 1).await;
    assert_eq!((oldest.dropped_from, oldest.dropped_bytes), (0, oldest.output_bytes));
    assert_eq!(oldest.output, format!("[… {} bytes of output dropped …]\n", oldest.output_bytes));
    assert_eq!(oldest.output_lines, 1);
    let newest = report(&large, 5).await;
    assert_eq!((newest.dropped_bytes, newest.output.len()), (0, 700 * 1024));
    assert_eq!(report(&small, kept).await.dropped_bytes, 0, "the small session keeps all");
    sessions.shutdown().await;
}

#[tokio::test]
async fn one_command_alone_keeps_its_beginning_and_its_end() {
    let sessions = Sessions::new(Settings { output_disk: MEGABYTE, ..Settings::default() });
    let session = shell(&sessions).await;
    run(&session, &print(4 * MEGABYTE)).await;
    until("it is shortened", async || report(&session, 1).await.dropped_bytes > 0).await;
    let report = report(&session, 1).await;
    assert!(report.output.starts_with("00001 "), "{}", report.output.len());
    assert!(report.dropped_from <= MEGABYTE as u64 && report.dropped_from > 0);
    assert_eq!(report.output_bytes, 4 * MEGABYTE as u64);
    let rest = session.command(1, report.output.len() as u64, u64::MAX).await;
    let rest = rest.expect("answers").expect("is kept");
    let mark = format!("[… {} bytes of output dropped …]\n", report.dropped_bytes);
    assert!(rest.output.trim_start_matches('\n').starts_with(&mark), "the cut is visible");
    assert!(rest.output.ends_with("x\n"));
    assert_eq!(rest.output_start + rest.output.len() as u64, report.output_bytes);
    sessions.shutdown().await;
}

#[tokio::test]
async fn small_outputs_share_the_memory() {
    let sessions = Sessions::new(Settings { output_memory: MEGABYTE, ..Settings::default() });
    let session = shell(&sessions).await;
    for _ in 0..10 {
        run(&session, &print(200 * 1024)).await;
    }
    let kept = async || {
        let mut kept = 0;
        for id in 1..=10 {
            let report = report(&session, id).await;
            kept += report.output_bytes - report.dropped_bytes;
        }
        kept
    };
    until("the sum is within the budget", async || kept().await <= MEGABYTE as u64).await;
    assert!(kept().await > MEGABYTE as u64 / 2, "no more than needed goes");
    assert_eq!(report(&session, 10).await.dropped_bytes, 0);
    sessions.shutdown().await;
}
