//! Ten at once, a breaker, and ten thousand calls that leave nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use termbridge_editor::{BridgeError, Settings};
use termbridge_testkit::{HostOptions, Reply};

use crate::support::{Fixture, LIMIT, limited, patient, settings, until};

#[tokio::test]
async fn more_than_ten_wait_for_their_turn() {
    // Ten run together, or none goes on.
    let ten = std::sync::Barrier::new(10);
    let fixture = Fixture::new(patient(), move |_| {
        ten.wait();
        Reply::Data(Value::Null)
    })
    .await;
    let mut calls = Vec::new();
    for _ in 0..60 {
        let host = fixture.host.clone();
        calls.push(tokio::spawn(async move { host.call("x", json!({}), LIMIT, |_| {}).await }));
    }
    for call in calls {
        limited(call).await.unwrap().expect("answers");
    }
    assert_eq!(fixture.fake.most_running(), 10);
    assert_eq!(fixture.fake.ran().len(), 60, "none was refused and run again");
}

#[tokio::test]
async fn the_wait_for_a_place_is_bounded() {
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let held = Mutex::new(held);
    let one = Settings { capacity: 1, queue: 1, ..settings() };
    let fixture = Fixture::new(one, move |_| {
        held.lock().unwrap().recv().ok();
        Reply::Data(Value::Null)
    })
    .await;
    let host = fixture.host.clone();
    let first = tokio::spawn(async move { host.call("x", json!({}), LIMIT, |_| {}).await });
    until("the first runs", || !fixture.fake.ran().is_empty()).await;
    let second = fixture.host.call("x", json!({}), LIMIT, |_| {});
    let third = async {
        // The queue has room for one.
        fixture.host.call("x", json!({}), LIMIT, |_| {}).await
    };
    let (second, third) = limited(async { tokio::join!(second, third) }).await;
    for answer in [second, third] {
        assert_eq!(answer.expect_err("no place").code(), "E_CAPACITY");
    }
    hold.send(()).unwrap();
    limited(first).await.unwrap().expect("answers");
}

#[tokio::test]
async fn a_host_that_is_full_is_asked_again() {
    // Other clients hold the host's places; one becomes free.
    let busy = Arc::new(AtomicBool::new(true));
    let full = Arc::clone(&busy);
    let fixture = Fixture::new(patient(), move |_| {
        if full.swap(false, Ordering::SeqCst) {
            return Reply::Error("E_CAPACITY", "Capacity limit reached", Value::Null);
        }
        Reply::Data(json!(1))
    })
    .await;
    assert_eq!(fixture.call("x", json!({})).await.expect("answers").data, 1);
    assert_eq!(fixture.fake.ran().len(), 2);
}

#[tokio::test]
async fn a_host_that_stays_full_is_told() {
    let options = HostOptions { capacity: 0, ..HostOptions::default() };
    let fixture = Fixture::with_options(settings(), options, |_| Reply::Nothing).await;
    let error = fixture.call("x", json!({})).await.expect_err("full");
    assert!(matches!(error, BridgeError::Capacity(10)), "{error:?}");
    fixture.empty().await;
}

#[tokio::test]
async fn the_breaker_says_when_to_come_back() {
    let options = HostOptions { breaker: 3, ..HostOptions::default() };
    let fixture = Fixture::with_options(patient(), options, |_| {
        Reply::Error("E_FILE_NOT_FOUND", "no such file", Value::Null)
    })
    .await;
    for _ in 0..3 {
        assert_eq!(fixture.code("x").await, "E_FILE_NOT_FOUND");
    }
    let error = fixture.call("x", json!({})).await.expect_err("open");
    assert_eq!(error.code(), "E_CIRCUIT_OPEN");
    assert_eq!(error.hint().as_deref(), Some("Try again in 42 s."));
    let BridgeError::CircuitOpen { retry_after, .. } = error else { panic!("{error:?}") };
    assert_eq!(retry_after, Some(Duration::from_secs(42)));
    fixture.empty().await;
}

#[cfg(target_os = "linux")]
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("fd").count()
}

/// Watches of all inotify descriptors of this process that are not the fake host's own.
#[cfg(target_os = "linux")]
fn watches() -> usize {
    let infos = std::fs::read_dir("/proc/self/fdinfo").expect("fdinfo").flatten();
    infos
        .filter_map(|info| std::fs::read_to_string(info.path()).ok())
        .map(|info| info.lines().filter(|line| line.starts_with("inotify ")).count())
        .sum()
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_calls_leave_nothing() {
    const CALLS: usize = 10_000;
    let fixture = Fixture::new(patient(), |job| {
        job.progress(0, 50, "half");
        match job.param("n").as_u64() {
            Some(n) if n % 3 == 0 => Reply::Error("E_BUSY", "busy", Value::Null),
            Some(n) if n % 50 == 1 => {
                job.wait_for_cancel(LIMIT);
                Reply::Error("E_CANCELLED", "stopped", Value::Null)
            }
            _ => Reply::Data(job.param("n").clone()),
        }
    })
    .await;
    fixture.call("x", json!({"n": 2})).await.expect("answers");
    fixture.empty().await;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = [descriptors(), tasks()];
    let next = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let clients: Vec<_> = (0..10)
        .map(|_| {
            let (host, next) = (fixture.host.clone(), Arc::clone(&next));
            tokio::spawn(async move {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= CALLS {
                        return;
                    }
                    call_one(&host, n).await;
                }
            })
        })
        .collect();
    for client in clients {
        tokio::time::timeout(LIMIT * 5, client).await.expect("in bounded time").unwrap();
    }
    fixture.empty().await;
    let execute = fixture.fake.execute();
    assert_eq!(crate::support::entries(&execute), 0);
    until("no more descriptors or tasks", || descriptors() <= before[0] && tasks() <= before[1])
        .await;
    // The fake host watches the folder of jobs; ours are all gone, and so are its own.
    until("no more watches", || watches() <= 1).await;
}

#[cfg(target_os = "linux")]
async fn call_one(host: &termbridge_editor::Host, n: usize) {
    let mut heard = 0;
    let params = json!({"n": n});
    let call = host.call("x", params, LIMIT, |_| heard += 1);
    if !n.is_multiple_of(3) && n % 50 == 1 {
        // Given up at some point on its way.
        let patience = Duration::from_millis(n as u64 % 4);
        assert!(tokio::time::timeout(patience, call).await.is_err());
        return;
    }
    match limited(call).await {
        Ok(answer) => assert_eq!(answer.data, n),
        Err(error) => assert_eq!((error.code(), n % 3), ("E_BUSY", 0)),
    }
    assert_eq!(heard, 1);
}
