//! Calls that go well, and scripts that fail in their own words.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use termbridge_editor::{BridgeError, EventKind, Settings};
use termbridge_testkit::Reply;

use crate::support::{Fixture, LIMIT, entries, limited, patient};

#[tokio::test]
async fn a_script_gets_its_arguments_and_its_result_comes_back() {
    let seen = Arc::new(Mutex::new(Value::Null));
    let command = Arc::clone(&seen);
    let fixture = Fixture::new(patient(), move |job| {
        *command.lock().unwrap() = job.command.clone();
        Reply::Data(json!({"breakpoint": {"line": job.param("line")}}))
    })
    .await;
    let params = json!({"path": "ä/main.py", "line": 12});
    let answer = fixture.call("breakpoint.set", params.clone()).await.expect("answers");
    assert_eq!(answer.data, json!({"breakpoint": {"line": 12}}));
    assert_eq!(answer.kind, "success");
    assert_eq!(answer.editor_context, Some(json!({"activeFile": "main.py"})));
    let command = seen.lock().unwrap().clone();
    assert_eq!(command["version"], 1);
    assert_eq!(command["scriptName"], "breakpoint.set");
    assert_eq!(command["params"], params);
    assert_eq!(command["timeout"], LIMIT.as_millis() as u64);
    assert_eq!(command["id"], answer.meta.request_id.as_str());
    assert!(command["clientId"].as_str().unwrap().starts_with("termbridge-"));
    assert!(command["createdAt"].as_str().unwrap().ends_with('Z'));
    assert_eq!(entries(&fixture.fake.execute()), 0, "the folder is removed before the answer");
}

#[cfg(unix)]
#[tokio::test]
async fn what_we_write_is_for_this_user_only() {
    use std::os::unix::fs::PermissionsExt;

    let fixture = Fixture::new(patient(), |job| {
        let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        Reply::Data(json!([mode(&job.folder), mode(&job.folder.join("command.json"))]))
    })
    .await;
    let answer = fixture.call("x", Value::Null).await.expect("answers");
    assert_eq!(answer.data, json!([0o700, 0o600]));
}

#[tokio::test]
async fn progress_arrives_in_order_and_before_the_answer() {
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let gone = Mutex::new(gone);
    let fixture = Fixture::new(patient(), move |job| {
        job.progress(0, 10, "one");
        // Only when the client has heard of it: progress is not kept for the end.
        gone.lock().unwrap().recv().unwrap();
        job.say("{\"ts\":2,\"seq\":1,\"type\":\"lo");
        job.say("g\",\"level\":\"info\",\"text\":\"two\"}\nnot an event\n");
        job.say("{\"ts\":2,\"seq\":2,\"type\":\"warn\",\"text\":\"three\"}");
        Reply::Data(Value::Null)
    })
    .await;
    let mut events = Vec::new();
    let call = fixture.host.call("slow", json!({}), LIMIT, |event| {
        if event.seq == 0 {
            go.send(()).unwrap();
        }
        events.push((event.kind, event.message().unwrap_or_default().to_owned(), event.pct));
    });
    limited(call).await.expect("answers");
    let expected = [
        (EventKind::Progress, "one".to_owned(), Some(10.0)),
        (EventKind::Log, "two".to_owned(), None),
        (EventKind::Warn, "three".to_owned(), None),
    ];
    assert_eq!(events, expected);
}

#[tokio::test]
async fn the_scripts_own_error_passes_unchanged() {
    let fixture = Fixture::new(patient(), |_| {
        Reply::Error("E_MY_OWN_CODE", "in its own words", json!({"line": 3}))
    })
    .await;
    let error = fixture.call("debug.evaluate", json!({})).await.expect_err("fails");
    assert_eq!((error.code(), error.to_string()), ("E_MY_OWN_CODE", "in its own words".into()));
    let BridgeError::Script(script) = error else { panic!("{error:?}") };
    assert_eq!(script.details, json!({"line": 3}));
}

#[tokio::test]
async fn a_code_that_the_published_extension_buries_is_found() {
    let fixture = Fixture::new(patient(), |_| {
        Reply::Error("E_INTERNAL", "E_NO_SESSION: No active debug session", Value::Null)
    })
    .await;
    assert_eq!(fixture.code("debug.evaluate").await, "E_NO_SESSION");
}

#[tokio::test]
async fn large_data_comes_from_its_own_file() {
    let fixture = Fixture::new(patient(), |_| Reply::Data("x".repeat(3 << 20).into())).await;
    let answer = fixture.call("debug.get-variable", json!({})).await.expect("answers");
    assert_eq!(answer.data.as_str().map(str::len), Some(3 << 20));
}

#[tokio::test]
async fn works_where_nothing_is_noticed() {
    let blind = Settings { notices: false, ..patient() };
    let fixture = Fixture::new(blind, |job| {
        job.progress(0, 50, "half");
        Reply::Data(job.param("n").clone())
    })
    .await;
    for n in 0..10 {
        let mut heard = 0;
        let call = fixture.host.call("x", json!({"n": n}), LIMIT, |_| heard += 1);
        assert_eq!(limited(call).await.expect("answers").data, n);
        assert_eq!(heard, 1);
    }
    fixture.empty().await;
}

#[tokio::test]
async fn arguments_are_an_object() {
    let fixture = Fixture::new(patient(), |_| Reply::Data(Value::Null)).await;
    let error = fixture.call("x", json!([1])).await.expect_err("fails");
    assert_eq!(error.code(), "E_INVALID_PARAMS");
    assert!(fixture.fake.ran().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_share_a_host() {
    let fixture = Fixture::new(patient(), |job| Reply::Data(job.param("n").clone())).await;
    let calls: Vec<_> = (0..40)
        .map(|n| {
            let host = fixture.host.clone();
            tokio::spawn(async move { host.call("n", json!({"n": n}), LIMIT, |_| {}).await })
        })
        .collect();
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(limited(call).await.unwrap().expect("answers").data, n);
    }
}
