//! Calls that are given up.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use termbridge_editor::{BridgeError, Request, Settings};
use termbridge_testkit::{HostOptions, Reply};

use crate::support::{Fixture, LIMIT, limited, patient, settings, until};

/// A host whose script runs until it is cancelled, and what it heard.
async fn endless(settings: Settings) -> (Fixture, Receiver<bool>) {
    let (told, hears) = channel();
    let told = Mutex::new(told);
    let fixture = Fixture::new(settings, move |job| {
        #[cfg(unix)]
        let private = |job: &termbridge_testkit::Job| {
            use std::os::unix::fs::PermissionsExt;
            let cancel = std::fs::metadata(job.folder.join("cancel"));
            cancel.is_ok_and(|meta| meta.permissions().mode() & 0o777 == 0o600 && meta.len() == 0)
        };
        #[cfg(not(unix))]
        let private = |_: &termbridge_testkit::Job| true;
        let cancelled = job.wait_for_cancel(LIMIT) && private(job);
        told.lock().expect("told").send(cancelled).expect("heard");
        Reply::Error("E_CANCELLED", "Operation cancelled by user", Value::Null)
    })
    .await;
    (fixture, hears)
}

#[tokio::test]
async fn a_cancelled_call_answers_and_leaves_nothing() {
    let (fixture, hears) = endless(patient()).await;
    let request = Request::new("debug.wait-for-hit", json!({}), LIMIT);
    let cancel = request.cancel.clone();
    let call = fixture.host.run(request, |_| {});
    let cancelling = async {
        until("the job was begun", || !fixture.fake.ran().is_empty()).await;
        cancel.cancel();
    };
    let (answer, ()) = limited(async { tokio::join!(call, cancelling) }).await;
    assert!(matches!(answer, Err(BridgeError::Cancelled)), "{answer:?}");
    fixture.empty().await;
    assert!(hears.recv().unwrap(), "the script was told by an empty file of mode 0600");
}

#[tokio::test]
async fn a_dropped_call_tells_the_host_and_leaves_nothing() {
    let (fixture, hears) = endless(patient()).await;
    let call = fixture.host.call("debug.wait-for-hit", json!({}), LIMIT, |_| {});
    tokio::select! {
        _ = call => panic!("nobody answers"),
        () = until("the job was begun", || !fixture.fake.ran().is_empty()) => {}
    }
    fixture.empty().await;
    assert!(hears.recv().unwrap());
}

#[tokio::test]
async fn a_call_that_nobody_took_never_runs_after_it_was_dropped() {
    let options = HostOptions { claims: false, ..HostOptions::default() };
    let fixture = Fixture::with_options(patient(), options, |_| Reply::Nothing).await;
    let execute = fixture.fake.execute();
    let job = || std::fs::read_dir(&execute).unwrap().flatten().map(|entry| entry.path()).next();
    let waiting = || job().is_some_and(|job| job.join("command.json").exists());
    let call = fixture.host.call("x", json!({}), LIMIT, |_| {});
    tokio::select! {
        _ = call => panic!("nobody answers"),
        () = until("the job is there", waiting) => {}
    }
    // Dropped, perhaps while its command was being written: then that thread takes it back.
    let open = || {
        job().is_some_and(|job| {
            job.join("command.json").exists() && !job.join("claimed.json").exists()
        })
    };
    until("a host finds it claimed, or gone", || !open()).await;
    fixture.empty().await;
}

#[tokio::test]
async fn a_host_that_does_not_heed_holds_the_folder_for_a_while_only() {
    let fixture = Fixture::new(settings(), |_| Reply::Crash).await;
    let call = fixture.host.call("x", json!({}), LIMIT, |_| {});
    tokio::select! {
        _ = call => panic!("nobody answers"),
        () = until("the job was begun", || !fixture.fake.ran().is_empty()) => {}
    }
    fixture.empty().await;
}

#[tokio::test]
async fn cancelled_before_it_began() {
    let fixture = Fixture::new(patient(), |_| Reply::Data(Value::Null)).await;
    let request = Request::new("x", json!({}), LIMIT);
    request.cancel.cancel();
    let answer = limited(fixture.host.run(request, |_| {})).await;
    assert_eq!(answer.expect_err("cancelled").code(), "E_CANCELLED");
    assert!(fixture.fake.ran().is_empty());
}

#[test]
fn a_runtime_that_ends_still_tells_the_host() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (fixture, hears) = runtime.block_on(endless(patient()));
    let host = fixture.host.clone();
    runtime.spawn(async move { host.call("x", json!({}), LIMIT, |_| {}).await });
    runtime.block_on(until("the job was begun", || !fixture.fake.ran().is_empty()));
    drop(runtime);
    assert!(hears.recv_timeout(LIMIT).unwrap());
}

#[tokio::test]
async fn the_place_is_held_until_the_host_has_ended() {
    let one = Settings { capacity: 1, capacity_wait: Duration::from_millis(50), ..patient() };
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let fixture = Fixture::new(one, move |job| {
        if job.script() == "stubborn" {
            job.wait_for_cancel(LIMIT);
            released.lock().expect("released").recv_timeout(LIMIT).expect("released");
        }
        Reply::Data(Value::Null)
    })
    .await;
    let call = fixture.host.call("stubborn", json!({}), LIMIT, |_| {});
    tokio::select! {
        _ = call => panic!("nobody answers"),
        () = until("the job was begun", || !fixture.fake.ran().is_empty()) => {}
    }
    assert_eq!(fixture.code("x").await, "E_CAPACITY");
    release.send(()).expect("it waits");
    fixture.empty().await;
    assert!(fixture.call("x", json!({})).await.is_ok());
}
