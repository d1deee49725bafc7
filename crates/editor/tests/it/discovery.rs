//! Which bridge serves a workspace.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use termbridge_editor::{EditorBridge, Liveness, Settings};
use termbridge_testkit::{FakeHost, HostOptions, Reply};

use crate::support::{Fixture, LIMIT, limited, settings};

fn serve(workspace: &Path, name: &'static str) -> FakeHost {
    let options = HostOptions { bridge_id: name.into(), ..HostOptions::default() };
    FakeHost::with_options(workspace, options, move |_| Reply::Data(name.into()))
}

async fn who(bridge: &EditorBridge, workspace: &Path) -> Option<String> {
    let host = bridge.discover(workspace).await.expect("discovery")?;
    let answer = limited(host.call("who", Value::Null, LIMIT, |_| {})).await.expect("answers");
    assert_eq!(host.info().bridge_id, answer.data.as_str().expect("a name"));
    answer.data.as_str().map(str::to_owned)
}

#[tokio::test]
async fn the_nearest_living_host_serves() {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("packages/app");
    let deep = inner.join("src/deep");
    fs::create_dir_all(&deep).unwrap();
    let bridge = EditorBridge::new(Settings::default());
    assert!(bridge.discover(&deep).await.unwrap().is_none());
    let first = serve(outer.path(), "extHost-outer");
    assert_eq!(who(&bridge, &deep).await.as_deref(), Some("extHost-outer"));
    let second = serve(&inner, "extHost-inner");
    assert_eq!(who(&bridge, &deep).await.as_deref(), Some("extHost-inner"));
    assert_eq!(who(&bridge, outer.path()).await.as_deref(), Some("extHost-outer"));
    second.age(Duration::from_secs(31));
    assert_eq!(
        who(&bridge, &deep).await.as_deref(),
        Some("extHost-outer"),
        "the inner one is gone"
    );
    first.age(Duration::from_secs(31));
    assert!(bridge.discover(&deep).await.unwrap().is_none());
    let found = bridge.survey(&deep).await.unwrap();
    let stale = found.iter().all(|found| matches!(found.liveness, Liveness::Stale(_)));
    assert!(stale && found.len() == 2, "{found:?}");
    assert_eq!(found[0].info.as_ref().unwrap().bridge_id, "extHost-inner");
}

/// A cloned repository chooses what its files are.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_host_file_that_is_no_file_is_no_bridge() {
    let folder = tempfile::tempdir().unwrap();
    let bridge = folder.path().join(".vsc-bridge");
    fs::create_dir_all(bridge.join("execute")).unwrap();
    fs::write(bridge.join("host.lock"), "").unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for target in [Path::new("/dev/zero"), Path::new("/dev/ptmx"), Path::new("/dev/stdin"), &pipe] {
        std::os::unix::fs::symlink(target, bridge.join("host.json")).unwrap();
        let found = limited(EditorBridge::default().survey(folder.path())).await.unwrap();
        assert!(found.is_empty(), "{}: {found:?}", target.display());
        fs::remove_file(bridge.join("host.json")).unwrap();
    }
}

#[tokio::test]
async fn why_there_is_none_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let bridge = EditorBridge::default();
    let error = bridge.find(folder.path()).await.expect_err("none");
    assert_eq!(error.code(), "E_BRIDGE_NOT_FOUND");
    assert!(error.hint().unwrap().contains("native"));
    let error = bridge.find(&folder.path().join("missing")).await.expect_err("none");
    assert_eq!(error.code(), "E_INVALID_PATH");
    let host = serve(folder.path(), "extHost-x");
    host.age(Duration::from_secs(40));
    let error = bridge.find(folder.path()).await.expect_err("stale");
    assert_eq!(error.code(), "E_BRIDGE_UNAVAILABLE");
    assert!(error.to_string().contains("40 s old"), "{error}");
}

#[tokio::test]
async fn a_folder_without_its_parts_is_no_bridge() {
    let folder = tempfile::tempdir().unwrap();
    let bridge = EditorBridge::default();
    let own = folder.path().join(".vsc-bridge");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("host.json"), "{}").unwrap();
    assert!(bridge.survey(folder.path()).await.unwrap().is_empty(), "no execute folder");
    fs::create_dir(own.join("execute")).unwrap();
    assert_eq!(bridge.survey(folder.path()).await.unwrap().len(), 1);
    fs::remove_file(own.join("host.json")).unwrap();
    assert!(bridge.survey(folder.path()).await.unwrap().is_empty(), "no host.json");
}

#[cfg(unix)]
#[tokio::test]
async fn links_out_of_the_workspace_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let _host = serve(elsewhere.path(), "extHost-x");
    let target = elsewhere.path().join(".vsc-bridge");
    std::os::unix::fs::symlink(target, folder.path().join(".vsc-bridge")).unwrap();
    assert!(EditorBridge::default().discover(folder.path()).await.unwrap().is_none());
}

#[cfg(unix)]
#[tokio::test]
async fn a_bridge_of_someone_else_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let _host = serve(folder.path(), "extHost-x");
    let work = folder.path().join("work");
    fs::create_dir(&work).unwrap();
    if std::os::unix::fs::chown(folder.path().join(".vsc-bridge"), Some(12_345), None).is_err() {
        // Only root can give files away.
        return;
    }
    let bridge = EditorBridge::default();
    assert!(bridge.discover(&work).await.unwrap().is_none());
    let error = bridge.find(&work).await.expect_err("untrusted");
    assert_eq!(error.code(), "E_BRIDGE_UNAVAILABLE");
    // The same owner as the workspace: a container that sees a user's files.
    std::os::unix::fs::chown(&work, Some(12_345), None).unwrap();
    assert!(bridge.discover(&work).await.unwrap().is_some());
}

#[tokio::test]
async fn a_torn_host_file_hides_no_living_host() {
    let fixture = Fixture::new(settings(), |_| Reply::Data(json!(1))).await;
    fs::write(fixture.host.bridge().join("host.json"), "{\"bridgeId\":\"ext").unwrap();
    let found = EditorBridge::default().survey(fixture.folder.path()).await.unwrap();
    assert!(found[0].liveness.is_live() && found[0].info.is_none());
    assert!(fixture.call("x", Value::Null).await.is_ok());
}

#[tokio::test]
async fn a_host_that_died_since_is_not_called() {
    let fixture = Fixture::new(settings(), |_| Reply::Data(json!(1))).await;
    fixture.fake.age(Duration::from_secs(31));
    assert_eq!(fixture.code("x").await, "E_BRIDGE_UNAVAILABLE");
    fixture.empty().await;
    assert!(!fixture.host.liveness().await.unwrap().is_live());
}

#[tokio::test]
async fn a_clock_ahead_of_ours_is_alive() {
    let fixture = Fixture::new(settings(), |_| Reply::Data(json!(1))).await;
    let host = fs::File::options().write(true).open(fixture.host.bridge().join("host.json"));
    let ahead = std::time::SystemTime::now() + Duration::from_hours(1);
    host.unwrap().set_modified(ahead).unwrap();
    assert!(fixture.call("x", Value::Null).await.is_ok());
}

/// A number of a process that has ended.
#[cfg(target_os = "linux")]
fn ended_pid() -> u32 {
    let mut child = std::process::Command::new("true").spawn().expect("a process");
    let pid = child.id();
    child.wait().expect("it ends");
    pid
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_closed_editor_is_noticed_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let bridge = EditorBridge::default();
    let _host = serve(folder.path(), "extHost-x");
    assert!(bridge.discover(folder.path()).await.unwrap().is_some());
    let file = folder.path().join(".vsc-bridge/host.json");
    let mut info: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let living = info.clone();
    info["pid"] = json!(ended_pid());
    fs::write(&file, info.to_string()).unwrap();
    assert!(bridge.discover(folder.path()).await.unwrap().is_none(), "its process is gone");
    let error = bridge.find(folder.path()).await.expect_err("closed");
    assert_eq!(error.code(), "E_BRIDGE_UNAVAILABLE");
    assert!(error.to_string().contains("was closed"), "{error}");
    // In a container processes have other numbers, and the workspace mostly has another name.
    info["workspace"] = json!("/workspaces/app");
    fs::write(&file, info.to_string()).unwrap();
    assert!(bridge.discover(folder.path()).await.unwrap().is_some());
    fs::write(&file, living.to_string()).unwrap();
    assert!(bridge.discover(folder.path()).await.unwrap().is_some());
    fs::remove_file(folder.path().join(".vsc-bridge/host.lock")).unwrap();
    assert!(bridge.discover(folder.path()).await.unwrap().is_none(), "its lock is gone");
}
