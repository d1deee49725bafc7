//! The budget that all sessions share.

use std::time::Duration;

use termbridge_session::{Launch, Sessions, Settings};

use crate::support::{exit_code, lines, sh, until};

/// Bytes of a line, with its number.
const LINE: usize = 78;
const BUDGET: usize = 2 * 1024 * 1024;
/// Bytes by which a session's use may grow before it is reported.
const UNREPORTED: usize = 512 * 1024;

fn sessions(budget: usize) -> Sessions {
    Sessions::new(Settings { scrollback_memory: budget, ..Settings::default() })
}

/// A script that prints so many lines.
fn prints(lines: usize) -> String {
    format!(r#"awk 'BEGIN {{ for (n = 1; n <= {lines}; n++) printf "%06d %070d\n", n, 0 }}'"#)
}

fn line(number: usize) -> String {
    format!("{number:06} {:070}", 0)
}

#[tokio::test]
async fn the_largest_loses_its_oldest_lines() {
    // A quarter of it is more than a session of 500 lines takes.
    let budget = BUDGET / 4;
    let sessions = sessions(budget);
    let mut small = Vec::new();
    for _ in 0..3 {
        let session = sh(&sessions, &prints(500)).await;
        exit_code(&session).await;
        small.push(session);
    }
    let large = sh(&sessions, &prints(9000)).await;
    exit_code(&large).await;
    let total = async || {
        let mut total = lines(&large).await.len();
        for session in &small {
            total += lines(session).await.len();
        }
        total * LINE
    };
    until("the sum is within the budget", async || total().await <= budget * 3 / 4).await;
    for session in &small {
        let kept = lines(session).await;
        let ends = (kept.first(), kept.last());
        assert_eq!(kept.len(), 500, "the small ones keep all: {ends:?}");
    }
    let kept = lines(&large).await;
    assert!((1000..9000).contains(&kept.len()), "{}: no more than needed goes", kept.len());
    let first = 9000 - kept.len() + 1;
    let expected: Vec<String> = (first..=9000).map(line).collect();
    assert!(kept == expected, "the newest stay");
}

#[tokio::test]
async fn several_that_fill_up_at_once_share_the_budget() {
    let sessions = sessions(BUDGET);
    let mut all = Vec::new();
    for _ in 0..6 {
        all.push(sh(&sessions, &(prints(20_000) + "; read x")).await);
    }
    for session in &all {
        crate::support::see(session, "020000 000").await;
    }
    // What the sessions have not reported yet is bounded too.
    let slack = all.len() * UNREPORTED;
    let sum = async || {
        let mut total = 0;
        for session in &all {
            total += lines(session).await.len() * LINE;
        }
        total
    };
    until("the sum is within the budget", async || sum().await <= BUDGET + slack).await;
    for session in &all {
        session.send_keys("<Enter>").await.expect("sent");
        exit_code(session).await;
    }
    until("the sum is within the budget", async || sum().await <= BUDGET).await;
    for session in &all {
        let kept = lines(session).await;
        assert!(kept.len() > 100, "{}", kept.len());
        assert!(kept.contains(&line(20_000)));
    }
    // What a session held is given back when it runs anew.
    all[0].restart().await.expect("restarts");
    crate::support::see(&all[0], "020000 000").await;
    until("the sum is within the budget", async || sum().await <= BUDGET + slack).await;
}

/// Resident memory of this process, which hosts the sessions.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("readable");
    let pages: usize = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("pages");
    pages * 4096
}

#[tokio::test]
async fn wide_terminals_and_links_stay_within_the_budget_and_go_back_to_the_system() {
    let budget = 32 * 1024 * 1024;
    let settings = Settings { scrollback_memory: budget, ..Settings::default() };
    let sessions = Sessions::new(settings);
    let before = resident();
    let script = r#"BEGIN { link = sprintf("%03000d", 0)
        for (n = 0; n < 1200; n++) printf "\033]8;;http://%d/%s\033\\link\033]8;;\033\\ e\314\201\n", n, link }"#;
    let mut all = Vec::new();
    for _ in 0..4 {
        let launch = Launch::new("awk").arg(script).size(1000, 50);
        all.push(sessions.launch(launch).await.expect("starts"));
    }
    for session in &all {
        exit_code(session).await;
    }
    let used = || resident().saturating_sub(before);
    until("the sum is within the budget", async || used() <= budget + budget / 2).await;
    drop(all);
    sessions.shutdown().await;
    drop(sessions);
    let given_back = tokio::time::timeout(Duration::from_secs(20), async {
        while used() > budget / 4 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    assert!(given_back.await.is_ok(), "{} bytes are still in use", used());
}
