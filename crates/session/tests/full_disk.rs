//! A disk that takes nothing costs output, not the session. In a process of its own: where temporary
//! files go is set for all of it.

#![cfg(unix)]

use std::time::Duration;

use termbridge_session::{CommandState, Launch, Sessions, Settings};

#[tokio::test]
async fn a_full_disk_costs_old_output_alone() {
    let sessions = Sessions::new(Settings::default());
    // Nobody's start-up files: they may take longer than this.
    let bash = Launch::shell("bash").env("HOME", "/nonexistent");
    let session = sessions.launch(bash).await.expect("launches");
    let limit = Duration::from_mins(1);
    session.execute("true", limit, 0).await.expect("runs");
    let _ = tempfile::env::override_temp_dir("/nowhere/at/all".as_ref());
    let flood = "yes 'a line of text that is not short' | head -n 300000; echo the end";
    let report = session.execute(flood, limit, 0).await.expect("runs");
    assert_eq!(report.state, CommandState::Done { exit_code: 0 });
    assert_eq!(report.output_bytes, 300_000 * 33 + 8);
    assert!(report.dropped_bytes > 0 && report.output_bytes - report.dropped_bytes < 1 << 20);
    let rest = session.command(report.id, 0, u64::MAX).await.expect("answers").expect("is kept");
    let mark = format!("[… {} bytes of output dropped …]\n", report.dropped_bytes);
    assert!(rest.output.starts_with(&mark) && rest.output.ends_with("\nthe end\n"));
    let next = session.execute("echo works", limit, 100).await.expect("runs");
    assert_eq!(next.output, "works\n");
    sessions.shutdown().await;
}
