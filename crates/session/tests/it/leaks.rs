//! Many sessions come and go; nothing stays.

use std::sync::Arc;
use std::time::Duration;

use termbridge_pty::Keeper;
use termbridge_session::{Launch, Sessions, Settings, Signal, Wait};
use tokio::runtime::Handle;

use crate::support::{LIMIT, exit_code, limited, script, see, start, until, wait};

fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).expect("fd").count()
}

fn children(pid: u32) -> usize {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    children.expect("children").split_ascii_whitespace().count()
}

#[tokio::test]
async fn two_hundred_launches_and_stops_leave_nothing() {
    let keeper = Keeper::new();
    let settings = Settings { keep_finished: Duration::ZERO, ..Settings::default() };
    let sessions = Sessions::with_host(settings, Arc::new(keeper.clone()));
    let anchor = start(&sessions, Launch::new("cat")).await;
    anchor.send_keys("ready<Enter>").await.expect("sent");
    see(&anchor, "ready").await;
    let pid = keeper.pid().expect("keeper");
    let count = || {
        let tasks = Handle::current().metrics().num_alive_tasks();
        [children(pid), descriptors(pid), descriptors(std::process::id()), tasks]
    };
    let before = count();
    assert_eq!(before[0], 1, "only the anchor");
    for round in 0..200 {
        let launch = match round % 4 {
            0 => Launch::new("true"),
            1 => Launch::new("cat"),
            2 => script("sleep 600 & exec cat"),
            _ => script("trap '' TERM HUP; while :; do sleep 0.02; done"),
        };
        let session = start(&sessions, launch).await;
        // Raw keys, a wait that is given up, one that asks the kernel.
        session.send_keys("<Down>x<Enter>").await.ok();
        let waits = Wait { needs_input: true, ..Wait::text("never") };
        wait(&session, waits.timeout(Duration::from_millis(1))).await;
        if round % 8 == 1 {
            session.restart().await.expect("restarts");
        }
        if round % 4 == 0 {
            exit_code(&session).await;
        } else {
            let stop = session.stop(Signal::TERM, Duration::from_millis(20));
            limited("stop", stop).await.expect("stops");
        }
    }
    until("the finished ones are forgotten", async || sessions.all().len() == 1).await;
    // The keeper hears of the last ones in its own time; the first count may have found it at work.
    let settled = async || count().iter().zip(&before).all(|(now, then)| now <= then);
    let all_as_before = tokio::time::timeout(LIMIT / 2, until("all is as before", settled)).await;
    assert!(all_as_before.is_ok(), "{before:?} before, {:?} after", count());
    assert_eq!(anchor.id(), sessions.all()[0].id());
}

#[tokio::test]
async fn a_dropped_server_ends_its_sessions() {
    let keeper = Keeper::new();
    let sessions = Sessions::with_host(Settings::default(), Arc::new(keeper.clone()));
    let tasks = Handle::current().metrics().num_alive_tasks();
    let mut pids = Vec::new();
    for _ in 0..5 {
        pids.push(
            start(&sessions, Launch::new("cat"))
                .await
                .info()
                .await
                .expect("info")
                .pid
                .expect("a pid"),
        );
    }
    drop(sessions);
    for pid in pids {
        crate::support::gone(pid).await;
    }
    drop(keeper);
    until("the tasks end", async || Handle::current().metrics().num_alive_tasks() <= tasks).await;
}

/// Bytes that this process alone has in memory.
fn private_memory() -> u64 {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").expect("smaps");
    let lines = rollup.lines().filter_map(|line| line.strip_prefix("Private_"));
    let kilobytes =
        lines.filter_map(|line| line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.sum::<u64>() * 1024
}

/// Terminals that have scrolled by some rows, and what a session of them may cost.
const SCROLLED: u64 = 40;
const MAX_OF_SESSION: u64 = 1 << 20;

async fn scrolled(sessions: &Sessions, then: &str) -> Vec<termbridge_session::Session> {
    let mut all = Vec::new();
    for _ in 0..SCROLLED {
        all.push(start(sessions, script(&format!("seq 1 80; {then}"))).await);
    }
    for session in &all {
        see(session, "80").await;
    }
    all
}

async fn memory_goes_back(before: u64) {
    let goes_back = until("the memory goes back", async || {
        private_memory() < before + SCROLLED * MAX_OF_SESSION
    });
    let goes_back = tokio::time::timeout(LIMIT / 2, goes_back).await;
    assert!(goes_back.is_ok(), "{before} before, {} after", private_memory());
}

#[tokio::test]
async fn sessions_that_have_ended_cost_little_memory() {
    let sessions = crate::support::sessions();
    let before = private_memory();
    let all = scrolled(&sessions, "exit").await;
    for session in &all {
        exit_code(session).await;
    }
    memory_goes_back(before).await;
    // What can be read is as it was.
    let lines = crate::support::lines(&all[0]).await;
    let numbers = lines.iter().map_while(|line| line.parse::<u32>().ok());
    assert!(numbers.eq(1..=80), "{lines:?}");
}

#[tokio::test]
async fn sessions_that_are_quiet_cost_little_memory() {
    let sessions = crate::support::sessions();
    let before = private_memory();
    let all = scrolled(&sessions, "exec cat").await;
    // Long enough for a session to count as quiet.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(11)).await;
    tokio::time::resume();
    memory_goes_back(before).await;
    all[0].send_keys("more<Enter>").await.expect("sent");
    see(&all[0], "more").await;
    assert_eq!(crate::support::lines(&all[0]).await[0], "1");
}
