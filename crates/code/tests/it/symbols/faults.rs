//! What goes wrong with a server, and that the next call works again.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use termbridge_code::CodeError;
use termbridge_code::symbols::{CallSite, Direction, Navigation, SymbolRef};

use super::fake::{SOURCE, all_run, fake, gone, with_programs};
use super::project::{LIMIT, named};

#[tokio::test]
async fn a_server_is_kept_and_ends_with_all_it_started() {
    let project = fake();
    for _ in 0..2 {
        let found = project.references(LIMIT).await.expect("found");
        assert_eq!(found.locations[0].text, "func one() {}");
    }
    let [processes] = &project.processes()[..] else { panic!("{:?}", project.log()) };
    assert!(all_run(processes));
    // What it asked was answered: settings with nothing, an edit and the unknown with a refusal.
    project.logged("answer [null, null]").await;
    project.logged(r#"answer {"applied": false, "failureReason": "not asked for"}"#).await;
    project.logged(r#"answer {"code": -32601, "message": "not supported"}"#).await;
    project.servers.shutdown().await;
    gone(processes).await;
    project.references(LIMIT).await.expect("another was started");
    let processes = project.processes().pop().expect("a server");
    // Dropped, with its folder kept for the log.
    let folder = project.folder;
    drop(project.servers);
    gone(&processes).await;
    drop(folder);
}

#[tokio::test]
async fn a_server_that_dies_is_started_again() {
    let project = fake();
    for how in ["die", "garbage", "not json", "huge"] {
        project.behave(how);
        let error = project.references(LIMIT).await.expect_err("no answer");
        assert_eq!(error.code(), "E_INTERNAL", "{how}: {error}");
        let expected = if how == "die" { "the last words" } else { "does not speak LSP" };
        assert!(error.to_string().contains(expected), "{how}: {error}");
        project.behave("");
        project.references(LIMIT).await.expect("found again");
    }
    let processes = project.processes();
    assert_eq!(processes.len(), 5);
    gone(&processes[0]).await;
    gone(&processes[1]).await;
}

#[tokio::test]
async fn a_request_without_an_answer_is_cancelled_and_the_server_kept() {
    let project = fake();
    project.references(LIMIT).await.expect("found");
    project.behave("silent");
    let error = project.references(Duration::from_millis(300)).await.expect_err("no answer");
    let expected = "gopls did not answer textDocument/references within 300 ms";
    assert_eq!((error.code(), error.to_string().as_str()), ("E_TIMEOUT", expected));
    project.logged("$/cancelRequest").await;
    // A caller that goes away cancels too.
    tokio::select! {
        answer = project.references(LIMIT) => panic!("it is silent: {answer:?}"),
        () = project.logged_times("textDocument/references", 3) => {}
    }
    project.logged_times("$/cancelRequest", 2).await;
    project.behave("");
    project.references(LIMIT).await.expect("found");
    assert_eq!(project.processes().len(), 1);
    assert_eq!(project.times_logged("$/cancelRequest"), 2);
}

#[tokio::test]
async fn a_server_that_does_not_start_in_time_is_ended() {
    let project = fake();
    project.behave("slow start");
    let error = project.references(Duration::from_millis(800)).await.expect_err("no start");
    assert_eq!(error.code(), "E_TIMEOUT");
    project.behave("");
    project.references(LIMIT).await.expect("found");
    if let [first, _] = &project.processes()[..] {
        gone(first).await;
    }
}

#[tokio::test]
async fn a_server_that_does_not_read_holds_nobody_up() {
    let project = fake();
    project.behave("deaf");
    for round in 0..3 {
        let error = project.references(Duration::from_millis(500)).await.expect_err("no answer");
        assert_eq!(error.code(), "E_TIMEOUT");
        // More than the pipe holds, many times.
        for number in 0..40 {
            let text = format!("{SOURCE}// {round}{}\n", "x".repeat(100_000));
            project.write(&format!("c{number}.go"), &text);
        }
    }
    // It was given up.
    project.behave("");
    project.references(LIMIT).await.expect("found");
    assert_eq!(project.processes().len(), 2);
}

#[tokio::test]
async fn answers_that_make_no_sense_are_no_panic() {
    let project = fake();
    project.behave("too early");
    project.references(LIMIT).await.expect("asked again");
    project.behave("nonsense");
    let error = project.references(LIMIT).await.expect_err("unreadable");
    assert!(error.to_string().contains("answered textDocument/references unreadably"), "{error}");
    project.behave("elsewhere");
    let found = project.references(LIMIT).await.expect("found");
    assert_eq!(found.total, 3);
    assert_eq!(found.locations[2].path, "/nowhere/x.go");
    assert_eq!(found.locations[2].text, "");
}

#[tokio::test]
async fn callers_are_found_without_a_call_hierarchy() {
    let project = fake();
    let which = named("b.go", "one");
    let outgoing = project.servers.calls(&which, Direction::Outgoing, LIMIT).await;
    assert_eq!(outgoing.expect_err("not offered").code(), "E_UNSUPPORTED_CAPABILITY");
    // The declaration, which this server always names, is no call.
    let incoming = project.servers.calls(&which, Direction::Incoming, LIMIT).await;
    let two = CallSite { name: "two".to_owned(), path: "b.go".to_owned(), line: 3 };
    assert_eq!(incoming.expect("callers").calls, [two]);
    let implementations =
        project.servers.navigate(&which, Navigation::Implementations, LIMIT).await;
    assert_eq!(implementations.expect_err("not offered").code(), "E_UNSUPPORTED_CAPABILITY");
}

#[tokio::test]
async fn a_bad_rename_changes_nothing() {
    let project = fake();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let outside = elsewhere.path().canonicalize().expect("a path").join("x.go");
    std::fs::write(&outside, SOURCE).expect("written");
    let good = project.change(Path::new("a.go"), 1);
    for (bad, reason) in [
        (project.change(&outside, 1), "outside the workspace"),
        (project.change(Path::new("b.go"), 99), "not within its 4 lines"),
        (project.change(Path::new("none.go"), 1), "no such file"),
        (json!({"kind": "delete", "uri": "file:///x"}), "it would delete"),
    ] {
        let edit = json!({"documentChanges": [good.clone(), bad]});
        let error = project.rename_with(edit).await.expect_err(reason);
        assert!(error.to_string().contains(reason), "{reason}: {error}");
        assert_eq!(project.text("a.go"), SOURCE);
        assert_eq!(project.text("b.go"), SOURCE);
    }
    assert_eq!(std::fs::read_to_string(&outside).expect("a text"), SOURCE);
    let nothing = project.rename_with(json!(null)).await.expect_err("nothing");
    assert_eq!(nothing.code(), "E_INVALID_PARAMS");
    let good = json!({"documentChanges": [good, project.change(Path::new("b.go"), 1)]});
    project.rename_with(good).await.expect("renames");
    assert!(project.text("b.go").contains("func three() {}"));
    // Nothing was left beside the files.
    let entries = project.folder.path().read_dir().expect("a folder").flatten();
    assert!(
        !entries.into_iter().any(|entry| entry.file_name().to_string_lossy().ends_with(".tmp"))
    );
}

#[tokio::test]
async fn a_proxy_without_its_server_is_none() {
    let proxy =
        "#!/bin/sh\necho \"error: Unknown binary 'rust-analyzer' in toolchain\" >&2\nexit 1\n";
    let project = with_programs(&[("rust-analyzer", proxy)]);
    project.write("src/lib.rs", "fn one() {}\n");
    let ask = |path: &'static str| {
        let (servers, which) = (project.servers.clone(), named(path, "one"));
        async move { servers.navigate(&which, Navigation::References, LIMIT).await }
    };
    let error = ask("src/lib.rs").await.expect_err("no server");
    let CodeError::NoLanguageServer { language, looked, install } = &error else {
        panic!("{error}")
    };
    assert_eq!(
        (language.as_str(), install.as_str()),
        ("Rust", "rustup component add rust-analyzer")
    );
    assert!(looked.contains("Unknown binary 'rust-analyzer'"), "{looked}");
    // Without any program, what was looked for is named.
    let error = ask("a.go").await.expect_err("no server");
    assert_eq!(error.code(), "E_NO_LANGUAGE_SERVER");
    assert!(error.to_string().contains("no gopls in PATH"), "{error}");
    assert_eq!(error.hint(), "install one with: go install golang.org/x/tools/gopls@latest");
}

#[tokio::test]
async fn a_server_that_only_builds_is_read_and_not_trusted_with_a_rename() {
    let project = with_programs(&[("rust-analyzer", include_str!("fake_server.py"))]);
    project.write("a.rs", SOURCE);
    project.behave("building");
    let (which, short) = (named("a.rs", "one"), Duration::from_secs(2));
    let found = project.servers.navigate(&which, Navigation::References, short).await;
    let found = found.expect("found");
    assert_eq!(found.total, 2);
    let doing = "(Building compile-time-deps: serde)";
    let incomplete = found.incomplete.expect("it is told");
    assert!(incomplete.contains(&format!("rust-analyzer still builds {doing}")), "{incomplete}");
    let error = project.servers.rename(&which, "three", short).await.expect_err("not ready");
    assert_eq!(error.code(), "E_TIMEOUT");
    assert!(error.to_string().contains(doing), "{error}");
    assert_eq!(project.text("a.rs"), SOURCE);
}

#[tokio::test]
async fn what_is_asked_wrongly_is_told() {
    let project = fake();
    project.write("a.txt", "one\n");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let outside = elsewhere.path().join("x.go");
    std::fs::write(&outside, SOURCE).expect("written");
    for which in [
        SymbolRef::Node("function:a.go".to_owned()),
        SymbolRef::Node("one".to_owned()),
        named("a.go", " "),
        named("a.txt", "one"),
        named(outside.to_str().expect("a path"), "one"),
    ] {
        let error = project.servers.navigate(&which, Navigation::References, LIMIT).await;
        assert_eq!(error.expect_err("wrong").code(), "E_INVALID_PARAMS", "{which:?}");
    }
    let both = SymbolRef::from_arguments(Some("a".into()), None, Some("b".to_owned()));
    assert_eq!(both.expect_err("both").code(), "E_INVALID_PARAMS");
}

#[tokio::test]
async fn a_server_that_nobody_asks_ends() {
    let mut project = fake();
    project.servers = project.servers.clone().idle_limit(Duration::from_millis(400));
    project.references(LIMIT).await.expect("found");
    let processes = project.processes().pop().expect("a server");
    gone(&processes).await;
    project.references(LIMIT).await.expect("found");
    assert_eq!(project.processes().len(), 2);
}

#[tokio::test]
async fn the_oldest_of_too_many_servers_ends() {
    let project = fake();
    std::fs::remove_file(project.path("go.mod")).expect("removed");
    let ask = |number: usize| {
        let folder = format!("m{number}");
        let which = named(&format!("{folder}/a.go"), "one");
        project.write(&format!("{folder}/go.mod"), "module demo\n");
        project.write(&format!("{folder}/a.go"), SOURCE);
        let servers = project.servers.clone();
        async move {
            servers.navigate(&which, Navigation::References, LIMIT).await.expect("found");
        }
    };
    for number in 0..5 {
        ask(number).await;
    }
    // Each works in its own folder, and writes there of itself.
    let processes = |number: usize| -> Vec<u32> {
        let log = project.text(&format!("m{number}/log"));
        let line = log.lines().next().expect("a line").to_owned();
        line.split(' ').skip(1).map(|number| number.parse().expect("a number")).collect()
    };
    gone(&processes(0)).await;
    assert!((1..5).all(|number| all_run(&processes(number))));
    // Many at once wait for each other.
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..6 {
        tasks.spawn(ask(number));
    }
    tasks.join_all().await;
    project.servers.shutdown().await;
}
