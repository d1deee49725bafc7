//! Large outputs, whole and exact.

use termbridge_session::{CommandState, Session};

use super::{ALL, home, launch, ready, run};
use crate::support::sessions;

async fn whole(session: &Session, id: u64, len: u64) -> String {
    let report = session.command(id, 0, len).await.expect("there").expect("known");
    report.output
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_megabytes_come_through_byte_by_byte() {
    // Lines of every length, so that cuts fall everywhere.
    let script = "i=0\nwhile [ $i -lt 40 ]; do cat block; i=$((i+1)); done";
    let lines: Vec<_> = (0..1600).map(|n| format!("{n} {}\n", "é=".repeat(n % 50))).collect();
    let block = lines.concat();
    for kind in ALL {
        let (sessions, home) = (sessions(), home());
        std::fs::write(home.path().join("block"), &block).expect("written");
        std::fs::write(home.path().join("script"), script).expect("written");
        let session = ready(&sessions, launch(kind, home.path())).await;
        let report = run(&session, "sh script").await;
        assert_eq!(report.state, CommandState::Done { exit_code: 0 }, "{kind:?}");
        let expected = block.repeat(40);
        assert!(expected.len() > 5_000_000, "{}", expected.len());
        assert_eq!(report.output_bytes, expected.len() as u64, "{kind:?}");
        assert!(whole(&session, report.id, u64::MAX).await == expected, "{kind:?}: not the same");
        assert_eq!(report.dropped_bytes, 0, "{kind:?}");
        assert_eq!(run(&session, "echo next").await.output, "next\n", "{kind:?}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_without_end_comes_through() {
    for kind in ALL {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path())).await;
        let report = run(&session, "head -c 300000 /dev/zero | tr '\\0' y").await;
        assert_eq!(report.output_bytes, 300_000, "{kind:?}");
        assert_eq!(whole(&session, report.id, u64::MAX).await, "y".repeat(300_000), "{kind:?}");
        sessions.shutdown().await;
    }
}
