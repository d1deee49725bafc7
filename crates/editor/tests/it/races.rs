//! Several hosts, several clients, one folder.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};
use termbridge_editor::EditorBridge;
use termbridge_testkit::{FakeHost, HostOptions, Reply};

use crate::support::{Fixture, LIMIT, limited, patient};

#[tokio::test]
async fn two_hosts_claim_and_one_runs() {
    let fixture = Fixture::new(patient(), |_| Reply::Data("first".into())).await;
    let options =
        HostOptions { bridge_id: "extHost-2".into(), owner: false, ..HostOptions::default() };
    let second =
        FakeHost::with_options(fixture.folder.path(), options, |_| Reply::Data("second".into()));
    for _ in 0..300 {
        let answer = fixture.call("x", json!({})).await.expect("answers");
        assert!(answer.data == "first" || answer.data == "second");
    }
    let ran: Vec<String> = fixture.fake.ran().into_iter().chain(second.ran()).collect();
    assert_eq!(ran.len(), 300, "each once");
    assert_eq!(ran.iter().collect::<HashSet<_>>().len(), 300);
}

#[tokio::test]
async fn clients_do_not_get_each_others_answers() {
    let fixture = Fixture::new(patient(), |job| Reply::Data(job.param("n").clone())).await;
    let others: Vec<Arc<EditorBridge>> =
        (0..4).map(|_| Arc::new(EditorBridge::new(patient()))).collect();
    let mut tasks = Vec::new();
    for (number, bridge) in others.into_iter().enumerate() {
        let host = bridge.discover(fixture.folder.path()).await.unwrap().expect("a host");
        tasks.push(tokio::spawn(async move {
            let _bridge = bridge;
            for round in 0..100 {
                let n = json!([number, round]);
                let answer = host.call("n", json!({"n": n}), LIMIT, |_| {}).await.expect("answers");
                assert_eq!(answer.data, n);
            }
        }));
    }
    for task in tasks {
        limited(task).await.unwrap();
    }
    assert_eq!(fixture.fake.ran().len(), 400);
    fixture.empty().await;
}

#[tokio::test]
async fn taken_back_or_run_but_never_both() {
    // The pickup ends while the host is about to claim: whoever creates the claim has it.
    let fast = termbridge_editor::Settings { pickup: std::time::Duration::ZERO, ..patient() };
    let fixture = Fixture::new(fast, |_| Reply::Data(Value::Null)).await;
    let mut ran = 0;
    for _ in 0..300 {
        match fixture.call("x", json!({})).await {
            Ok(_) => ran += 1,
            Err(error) => assert_eq!(error.code(), "E_PICKUP_TIMEOUT"),
        }
    }
    assert_eq!(fixture.fake.ran().len(), ran);
    fixture.empty().await;
}
