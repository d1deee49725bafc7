//! Hosts that answer late, in part, wrongly or not at all.

use std::fs;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use termbridge_editor::{EditorBridge, Settings};
use termbridge_testkit::{FakeHost, HostOptions, Job, Reply};

#[cfg(target_os = "linux")]
use crate::reads::Reads;
use crate::support::{Fixture, LIMIT, limited, patient, settings, until};

const GOOD: &str = r#"{"ok":true,"type":"success","data":42,"meta":{}}"#;

fn custom(write: impl FnOnce(&Job) + Send + 'static) -> Reply {
    Reply::Custom(Box::new(write))
}

#[tokio::test]
async fn done_without_an_answer() {
    let fixture = Fixture::new(settings(), |_| Reply::Nothing).await;
    assert_eq!(fixture.code("x").await, "E_NO_RESPONSE");
    fixture.empty().await;
}

#[tokio::test]
async fn an_answer_that_comes_after_done_is_read() {
    let fixture = Fixture::new(patient(), |_| {
        custom(|job| {
            job.write("done", "");
            job.write("response.json", GOOD);
        })
    })
    .await;
    // Whether the client looks between the two is chance; of many, some do.
    for _ in 0..50 {
        assert_eq!(fixture.call("x", Value::Null).await.expect("answers").data, 42);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_torn_answer_is_read_when_it_is_whole() {
    let fixture = Fixture::new(patient(), |_| {
        custom(|job| {
            job.write("response.json", &GOOD[..20]);
            let reads = Reads::of(&job.folder.join("response.json"));
            job.write("done", "");
            reads.wait_for_one();
            job.write("response.json", GOOD);
        })
    })
    .await;
    assert_eq!(fixture.call("x", Value::Null).await.expect("answers").data, 42);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn late_data_is_waited_for() {
    let fixture = Fixture::new(patient(), |_| {
        custom(|job| {
            job.write("response.json", r#"{"ok":true,"type":"success","dataRef":"data.json"}"#);
            job.write("data.json", "[1,");
            let reads = Reads::of(&job.folder.join("data.json"));
            job.write("done", "");
            reads.wait_for_one();
            job.write("data.json", "[1,2]");
        })
    })
    .await;
    assert_eq!(fixture.call("x", Value::Null).await.expect("answers").data, json!([1, 2]));
}

#[tokio::test]
async fn answers_that_never_get_whole() {
    let brief = Settings { settle: Duration::from_millis(40), ..settings() };
    for text in ["", "{", "null", "[]", "\u{0}\u{0}", "{\"ok\":\"maybe\"}"] {
        for name in ["response.json", "error.json"] {
            let fixture = Fixture::new(brief.clone(), move |_| {
                custom(move |job| {
                    job.write(name, text);
                    job.write("done", "");
                })
            })
            .await;
            assert_eq!(fixture.code("x").await, "E_NO_RESPONSE", "{name}: {text:?}");
            fixture.empty().await;
        }
    }
}

#[tokio::test]
async fn the_error_wins_over_the_response() {
    let fixture = Fixture::new(patient(), |_| {
        custom(|job| {
            job.write("response.json", GOOD);
            let error = r#"{"ok":false,"error":{"code":"E_BUSY","message":"busy"}}"#;
            job.write("error.json", error);
            job.write("done", "");
        })
    })
    .await;
    assert_eq!(fixture.code("x").await, "E_BUSY");
}

#[tokio::test]
async fn nobody_picks_it_up() {
    let options = HostOptions { claims: false, ..HostOptions::default() };
    let fixture = Fixture::with_options(settings(), options, |_| Reply::Nothing).await;
    let error = fixture.call("x", Value::Null).await.expect_err("fails");
    assert_eq!(error.code(), "E_PICKUP_TIMEOUT");
    assert!(error.retryable() && error.hint().is_some());
    fixture.empty().await;
}

#[tokio::test]
async fn a_short_timeout_bounds_the_pickup() {
    let options = HostOptions { claims: false, ..HostOptions::default() };
    let fixture = Fixture::with_options(patient(), options, |_| Reply::Nothing).await;
    let call = fixture.host.call("x", Value::Null, Duration::from_millis(50), |_| {});
    assert_eq!(limited(call).await.expect_err("fails").code(), "E_PICKUP_TIMEOUT");
}

#[tokio::test]
async fn a_script_that_is_too_slow_is_told_to_stop() {
    let (told, hears) = std::sync::mpsc::channel();
    let told = Mutex::new(told);
    let fixture = Fixture::new(patient(), move |job| {
        told.lock().unwrap().send(job.wait_for_cancel(LIMIT)).unwrap();
        Reply::Error("E_CANCELLED", "stopped", Value::Null)
    })
    .await;
    let call =
        fixture.host.call("debug.wait-for-hit", json!({}), Duration::from_millis(100), |_| {});
    let error = limited(call).await.expect_err("fails");
    assert_eq!(error.code(), "E_TIMEOUT");
    assert!(error.to_string().contains("debug.wait-for-hit"), "{error}");
    fixture.empty().await;
    assert!(hears.recv().unwrap(), "the script was cancelled");
}

#[tokio::test]
async fn an_answer_whose_end_was_never_told_counts_at_the_deadline() {
    let fixture = Fixture::new(patient(), |_| custom(|job| job.write("response.json", GOOD))).await;
    let call = fixture.host.call("x", json!({}), Duration::from_millis(200), |_| {});
    assert_eq!(limited(call).await.expect("answers").data, 42);
    fixture.empty().await;
}

#[tokio::test]
async fn a_host_that_crashes_in_the_middle_is_noticed() {
    let fixture = Fixture::new(settings(), |_| Reply::Crash).await;
    let call = fixture.host.call("x", json!({}), LIMIT, |_| {});
    let crash = async {
        until("the job was begun", || !fixture.fake.ran().is_empty()).await;
        fixture.fake.age(Duration::from_secs(31));
    };
    let (answer, ()) = limited(async { tokio::join!(call, crash) }).await;
    assert_eq!(answer.expect_err("fails").code(), "E_BRIDGE_UNAVAILABLE");
    fixture.empty().await;
}

#[tokio::test]
async fn a_host_that_was_started_anew_has_lost_the_call() {
    let fixture = Fixture::new(settings(), |_| Reply::Crash).await;
    let call = fixture.host.call("x", json!({}), LIMIT, |_| {});
    let restart = async {
        until("the job was begun", || !fixture.fake.ran().is_empty()).await;
        let options = HostOptions { bridge_id: "extHost-new".into(), ..HostOptions::default() };
        FakeHost::with_options(fixture.folder.path(), options, |_| Reply::Nothing)
    };
    let (answer, _new) = limited(async { tokio::join!(call, restart) }).await;
    let error = answer.expect_err("fails");
    assert_eq!(error.code(), "E_BRIDGE_UNAVAILABLE");
    assert!(error.to_string().contains("restarted"), "{error}");
}

#[tokio::test]
async fn a_computer_that_wakes_up_keeps_its_calls() {
    // The host's last sign of life is old, but the next one comes.
    let (go, going) = std::sync::mpsc::channel::<()>();
    let going = Mutex::new(going);
    let patient = Settings { confirm_stale: LIMIT, ..settings() };
    let fixture = Fixture::new(patient, move |_| {
        going.lock().unwrap().recv_timeout(LIMIT).unwrap();
        Reply::Data(json!(1))
    })
    .await;
    let call = fixture.host.call("x", json!({}), LIMIT, |_| {});
    let sleep = async {
        until("the job was begun", || !fixture.fake.ran().is_empty()).await;
        fixture.fake.age(Duration::from_hours(1));
        // No event tells of a look at a file's age: as long as several looks take.
        tokio::time::sleep(settings().poll_last * 6).await;
        go.send(()).unwrap();
    };
    let (answer, ()) = limited(async { tokio::join!(call, sleep) }).await;
    assert!(answer.is_ok());
}

#[tokio::test]
async fn a_folder_that_someone_removes_ends_the_call() {
    let fixture = Fixture::new(settings(), |_| {
        custom(|job| fs::remove_dir_all(&job.folder).expect("removed"))
    })
    .await;
    assert_eq!(fixture.code("x").await, "E_NO_RESPONSE");
    assert!(fixture.call("x", Value::Null).await.is_err(), "and the next one is served");
}

#[tokio::test]
async fn a_bridge_that_cannot_be_written_to_is_told() {
    let fixture = Fixture::new(settings(), |_| Reply::Nothing).await;
    fs::remove_dir_all(fixture.fake.execute()).unwrap();
    fs::write(fixture.fake.execute(), "no folder").unwrap();
    for _ in 0..20 {
        // More often than there are places: none is lost.
        assert_eq!(fixture.code("x").await, "E_INTERNAL");
    }
}

#[tokio::test]
async fn leftovers_of_a_server_that_died_are_removed_and_others_kept() {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions { claims: false, ..HostOptions::default() };
    let fake = FakeHost::with_options(folder.path(), options, |_| Reply::Nothing);
    let leave = |name: &str, client: &str, files: &[&str], old: bool| {
        let job = fake.execute().join(name);
        fs::create_dir(&job).unwrap();
        fs::write(job.join("command.json"), json!({"clientId": client}).to_string()).unwrap();
        files.iter().for_each(|file| fs::write(job.join(file), "").unwrap());
        if old {
            let past = SystemTime::now() - Duration::from_hours(1);
            fs::File::open(&job).unwrap().set_modified(past).unwrap();
        }
        job
    };
    let gone = [
        leave("finished", "termbridge-1", &["claimed.json", "done"], true),
        leave("unclaimed", "termbridge-1", &[], true),
        leave("cancelled", "termbridge-1", &["claimed.json", "cancel"], true),
    ];
    let kept = [
        leave("running", "termbridge-1", &["claimed.json"], true),
        leave("young", "termbridge-1", &["claimed.json", "done"], false),
        leave("foreign", "cli-1", &["claimed.json", "done"], true),
    ];
    let bridge = EditorBridge::default();
    bridge.discover(folder.path()).await.unwrap().expect("a host");
    until("the leftovers are gone", || gone.iter().all(|job| !job.exists())).await;
    assert!(kept.iter().all(|job| job.join("command.json").exists()));
}

/// A pipe where the answer should be would hold up whoever opens it.
#[cfg(unix)]
#[tokio::test]
async fn a_pipe_is_no_answer() {
    let fixture = Fixture::new(settings(), |_| {
        Reply::Custom(Box::new(|job: &Job| {
            for name in ["response.json", "events.ndjson"] {
                let made = std::process::Command::new("mkfifo").arg(job.folder.join(name)).status();
                assert!(made.expect("mkfifo").success());
            }
            job.write("done", "");
        }))
    })
    .await;
    let answer = limited(fixture.host.call("x", json!({}), LIMIT, |_| {})).await;
    assert_eq!(answer.expect_err("no answer").code(), "E_NO_RESPONSE");
}
